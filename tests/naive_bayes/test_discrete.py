"""Complement naive Bayes: scikit-learn's weights, proved from the counts of the other classes."""

import numpy as np
import pytest
import scipy.sparse
import sklearn.naive_bayes
from hypothesis import given, settings
from hypothesis import strategies as st

from certifit import certify
from certifit.certificates import Data, issue
from certifit.naive_bayes import ComplementNB


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([1.0, 0.01, (0.5, 1.0, 2.0)]), st.booleans())
def test_scikit_learn_finds_the_same(seed, norm, alpha, weighted):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 5, size=(40, 3)), np.array(["a", "b", "c"])[rng.permutation(40) % 3]
    alpha, w = np.asarray(alpha) if isinstance(alpha, tuple) else alpha, rng.random(40) if weighted else None
    ours, theirs = (m(alpha=alpha, norm=norm).fit(X, y, w) for m in (ComplementNB, sklearn.naive_bayes.ComplementNB))
    for name in ("feature_log_prob_", "feature_all_", "feature_count_", "class_count_", "class_log_prior_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), atol=1e-12)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-12)
    assert ours.certificate_.verify(X, y, w)
    pieces = ComplementNB(alpha=alpha, norm=norm)
    for part in (slice(0, 15), slice(15, 40)):
        pieces.partial_fit(X[part], y[part], np.unique(y), None if w is None else w[part])
    np.testing.assert_allclose(pieces.feature_log_prob_, ours.feature_log_prob_, atol=1e-12)
    assert pieces.certify(scipy.sparse.csr_array(X), y, w).holds


def test_a_weight_that_is_off_is_not_proved():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 5, size=(40, 3)), rng.integers(0, 2, 40)
    true = ComplementNB().fit(X, y).certificate_
    for factor in (1 + 1e-6, 1 - 1e-6):
        forged = {**true.evidence, "feature_weights": true.evidence["feature_weights"] * factor}
        assert not issue("complement-counts", Data.of(X, y), forged).holds
    assert not issue("complement-counts", Data.of(X, y), {**true.evidence, "norm": True}).holds
    assert not true.verify(X, 1 - y)
    with pytest.raises(ValueError, match="Negative values"):
        ComplementNB().fit(X - 10.0, y)


def test_one_column_has_the_whole_of_the_counts():
    """Its share is 1 and its weight 0, which is proved; any other weight is not."""
    rng = np.random.default_rng(1)
    X, y, w = rng.integers(0, 5, size=(40, 1)), rng.integers(0, 3, 40), rng.random(40)
    for model in (ComplementNB(), sklearn.naive_bayes.ComplementNB()):
        assert certify(model.fit(X, y, w), X, y, w).holds
    true = ComplementNB().fit(X, y).certificate_
    assert not issue(
        "complement-counts", Data.of(X, y), {**true.evidence, "feature_weights": np.full((3, 1), 1e-6)}
    ).holds
