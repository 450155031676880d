"""Claims that were once false without any forger: what honest fits state now is proved by the exact checker, or they say why not."""

import warnings

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LinearRegression as Theirs

from certifit import certify, scale
from certifit.glm import GLM
from certifit.linear_model import LinearModel, LinearRegression, Ridge
from certifit.neighbors import KNeighborsClassifier
from tests.attacks.siege import refused_by_checker, sealed


def test_zero_is_far_from_the_best_where_columns_are_equal():
    x = np.arange(4.0)
    X, y = np.column_stack([x, x]), 2.0 * x
    model = Theirs(fit_intercept=False).fit(X, y)
    model.coef_ = np.zeros(2)
    c = certify(model, X, y)
    assert c.holds
    assert c.gap >= np.mean(y**2)
    assert refused_by_checker(c, X, y, None) is None


@pytest.mark.parametrize("seed", range(30))
def test_gaps_at_collinear_columns_without_an_offset(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(7, 3)) * 10.0 ** rng.integers(-5, 6)
    X[:, 2] = X[:, 0] * rng.choice([1.0, 1 / 3, -0.7]) + X[:, 1] * rng.choice([0.0, 0.1])
    y = rng.normal(size=7)
    c = LinearRegression(fit_intercept=False).fit(X, y).certificate_
    assert c.holds
    assert refused_by_checker(c, X, y, None) is None


@pytest.mark.filterwarnings("ignore:Stopped by")
@pytest.mark.parametrize(("family", "link"), [("poisson", "log"), ("gamma", "log"), ("binomial", "logit")])
def test_rows_that_are_fitted_to_their_last_digit(family, link):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(int(rng.integers(3, 12)), 1))
        z = 1e-3 * X[:, 0] * rng.normal() + 1e-3 * rng.normal()
        y = 1.0 / (1.0 + np.exp(-z)) if family == "binomial" else np.exp(z)
        c = GLM(family, link, tol=1e-10).fit(X, y).certificate_
        assert not c.holds or refused_by_checker(c, X, y, None) is None, seed


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine", "minkowski"])
def test_neighbours_among_subnormal_rows(metric):
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, size=(12, 2)) * 5e-324
    y = np.arange(12) % 2
    c = KNeighborsClassifier(2, metric=metric, p=3).fit(X, y).certificate_for(X[:3])
    assert c.holds
    assert refused_by_checker(c, X, y, None) is None


@pytest.mark.parametrize("y", [[0.3, 0.5, 0.9, 0.1], [1.0, np.nan, 0.0, 1.0], [1, 1, 1, 1]])
def test_labels_that_a_loss_is_not_for_are_refused_when_fitting(y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match=r"\w{3}"):
            LinearModel("hinge", "l2").fit(np.arange(8.0).reshape(4, 2), y)


def test_more_columns_than_the_checker_eliminates_in_whole_numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 102))
    y = X @ rng.normal(size=102) + rng.normal(size=120)
    c = LinearRegression().fit(X, y).certificate_
    assert c.holds
    assert refused_by_checker(c, X, y, None) is None
    other = sealed(c, {**c.evidence, "coef": 0.5 * c.evidence["coef"]})
    assert "is stated as" in refused_by_checker(other, X, y, None)


def test_more_columns_than_that_in_partitions():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 102)), rng.normal(size=120)
    table = pa.table({**{f"x{j}": column for j, column in enumerate(X.T)}, "y": y})
    c = scale.fit(Ridge(), table, target="y", engine="serial").certificate_
    assert c.holds
    assert refused_by_checker(c, X, y, None) is None
