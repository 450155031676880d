"""The nearest class centre: scikit-learn's answers, and centres that are proved."""

import numpy as np
import pytest
import scipy.sparse
import sklearn.neighbors
from hypothesis import given, settings
from hypothesis import strategies as st

from certifit.certificates import Data, issue
from certifit.neighbors import NearestCentroid


@settings(max_examples=20, deadline=None)
@given(
    st.integers(0, 10**6), st.sampled_from(["euclidean", "manhattan"]), st.sampled_from([None, 0.3, 5.0]),
    st.sampled_from(["uniform", "empirical", (0.2, 0.3, 0.5)]), st.booleans(),
)  # fmt: skip
def test_scikit_learn_finds_the_same(seed, metric, shrink, priors, sparse):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 3
    X[X < -1] = 0.0
    priors = list(priors) if isinstance(priors, tuple) else priors
    ours, theirs = (m(metric, shrink_threshold=shrink, priors=priors).fit(X, y)
                    for m in (NearestCentroid, sklearn.neighbors.NearestCentroid))  # fmt: skip
    if sparse:
        ours.fit(scipy.sparse.csr_array(X), y)
    for name in ("centroids_", "deviations_", "within_class_std_dev_", "class_prior_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), atol=1e-12)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    if metric == "euclidean":
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-9)
    assert hasattr(ours, "predict_proba") == (metric == "euclidean")
    assert ours.certificate_.verify(X, y)


def test_a_centre_off_its_class_is_not_proved():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(21, 2)), np.array(["a", "b", "c"])[np.arange(21) % 3]
    for metric in ("euclidean", "manhattan"):
        true = NearestCentroid(metric).fit(X, y).certificate_
        for step in (1e-6, -1e-6):
            moved = true.evidence["centres"] + np.array([[step, 0.0], [0.0, 0.0], [0.0, 0.0]])
            assert not issue("class-centres", Data.of(X, y), {**true.evidence, "centres": moved}).holds
        assert not true.verify(X, np.roll(y, 1))


def test_what_scikit_learn_refuses_is_refused():
    X, y = np.ones((6, 2)), np.arange(6) % 2
    with pytest.raises(ValueError, match="zero variance"):
        NearestCentroid().fit(X, y)
    X[0, 0] = 2.0
    with pytest.raises(ValueError, match="greater than one"):
        NearestCentroid().fit(X, np.zeros(6))
    with pytest.warns(UserWarning, match="zero standard deviation"):
        NearestCentroid().fit(X, y)
    with pytest.raises(ValueError, match="non-negative"):
        NearestCentroid(priors=[-1.0, 2.0]).fit(X, y)
