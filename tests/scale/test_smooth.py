"""Logistic regression and generalized linear models in passes: equal bits, the optimum in memory, and proof."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from certifit import scale
from certifit.exceptions import NoOptimumError
from certifit.glm import GLM, Tweedie
from certifit.linear_model import LogisticRegression, PoissonRegressor
from tests.scale.tables import LAW, PARTITIONINGS, arrays, assert_same, partitioned, shuffled, table

MODELS = [
    (LogisticRegression(), "two"),
    (LogisticRegression(C=0.1, class_weight="balanced", fit_intercept=False), "two"),
    (LogisticRegression(), "three"),
    (LogisticRegression(C=5.0, fit_intercept=False), "three"),
    (GLM("poisson", alpha=0.01), "counts"),
    (GLM("gaussian", alpha=0.1, l1_ratio=0.5), "real"),
    (GLM(Tweedie(1.5), alpha=0.1), "counts"),
    (PoissonRegressor(alpha=0.5), "counts"),
]


@pytest.mark.parametrize(("model", "target"), MODELS, ids=str)
@LAW
@given(seed=st.integers(0, 2**20))
def test_every_partitioning_gives_the_same_bits(model, target, seed):
    t = table(seed, 120, 3, target)
    fits = []
    for k, parts in enumerate(PARTITIONINGS):
        source = partitioned(shuffled(t, seed + k), parts)
        fits.append(scale.fit(model, source, target="y", engine="serial"))
    assert_same(fits)
    assert scale.verify(fits[-1], source, target="y", engine="serial").holds
    X, y = arrays(t)
    ordinary = clone(model).fit(X, y)
    assert np.allclose(fits[0].coef_, ordinary.coef_, rtol=1e-4, atol=1e-4 * np.abs(ordinary.coef_).max())
    certificate = fits[0].certificate_
    assert certificate.holds
    assert certificate.relative_gap < 1e-8
    assert certificate.value <= ordinary.certificate_.value * (1.0 + 1e-9) + 1e-12
    assert certificate.bound <= ordinary.certificate_.value


def test_maximum_likelihood_is_proved_and_separable_classes_are_refused():
    t = table(7, 150, 3, "two")
    assert scale.fit(LogisticRegression(C=np.inf), partitioned(t, 3), target="y", engine="serial").certificate_.holds
    x = t["x0"].to_numpy()
    apart = t.set_column(t.column_names.index("y"), "y", [np.where(x > np.median(x), "yes", "no")])
    with pytest.raises(NoOptimumError):
        scale.fit(LogisticRegression(C=np.inf), partitioned(apart, 3), target="y", engine="serial")


def test_a_fit_that_stopped_early_proves_what_it_reached():
    t = table(8, 150, 3, "two")
    with pytest.warns(UserWarning, match="stopped after 1 passes"):
        model = scale.fit(LogisticRegression(max_iter=1), partitioned(t, 3), target="y", engine="serial")
    best = scale.fit(LogisticRegression(), partitioned(t, 3), target="y", engine="serial").certificate_
    certificate = model.certificate_
    if certificate.holds:
        assert certificate.value - certificate.gap <= best.value


def test_what_cannot_be_done_in_passes_is_refused_with_a_way_out():
    t = partitioned(table(9, 60, 3, "two"), 2)
    with pytest.raises(TypeError, match=r"scale\.sample"):
        scale.fit(LogisticRegression(l1_ratio=1.0), t, target="y", engine="serial")
    with pytest.raises(TypeError, match="not convex"):
        scale.fit(GLM("gamma"), partitioned(table(9), 2), target="x0", engine="serial")
