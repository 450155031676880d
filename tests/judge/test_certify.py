"""certify judges anybody's least squares and ridge."""

import numpy as np
import pytest
import sklearn.linear_model as sk

import certifit as cf
from certifit.linear_model import LinearRegression, Ridge


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    return X, X @ rng.normal(size=5) + rng.normal(size=80), rng.uniform(0.5, 2, 80)


@pytest.mark.parametrize("make", [sk.LinearRegression, sk.Ridge, LinearRegression, Ridge])
def test_good_models_get_a_small_gap(data, make):
    X, y, w = data
    for weights in (None, w):
        c = cf.certify(make().fit(X, y, weights), X, y, weights)
        assert c.holds
        assert c.relative_gap < 1e-12
        assert c.verify(X, y, weights).holds


def test_exact_rigor(data):
    X, y, _ = data
    for make in (sk.LinearRegression, sk.Ridge):
        c = cf.certify(make().fit(X[:20], y[:20]), X[:20], y[:20], rigor="exact")
        assert c.holds
        assert c.rigor == "exact"
        assert c.verify(X[:20], y[:20]).holds


def test_a_poor_solver_is_found_out(data):
    X, y, _ = data
    poor = sk.Ridge(alpha=1.0, solver="sag", tol=0.1, max_iter=1, random_state=0)
    with pytest.warns(UserWarning, match="max_iter"):
        poor.fit(X, y)
    c = cf.certify(poor, X, y)
    assert c.relative_gap > 1e-6
    assert c.claim.startswith("sklearn Ridge: at most")
    best = cf.certify(Ridge(1.0).fit(X, y), X, y)
    assert c.value - best.value <= c.gap * (1 + 1e-9)


def test_sklearnex(data):
    module = pytest.importorskip("sklearnex.linear_model", reason="the peer is in the extra bench")
    X, y, _ = data
    c = cf.certify(module.Ridge().fit(X, y), X, y)
    assert c.holds
    assert "Ridge" in c.claim


def test_several_targets_penalties_and_constraints(data):
    X, y, _ = data
    Y = np.column_stack([y, -2 * y])
    assert cf.certify(sk.Ridge(np.array([1.0, 5.0])).fit(X, Y), X, Y).relative_gap < 1e-12
    assert cf.certify(sk.Ridge(positive=True, tol=1e-12).fit(X, y), X, y).relative_gap < 1e-6
    assert cf.certify(sk.LinearRegression(positive=True).fit(X, y), X, y).relative_gap < 1e-10
    assert cf.certify(sk.LinearRegression(fit_intercept=False).fit(X, y), X, y).relative_gap < 1e-12


def test_dependent_columns(data):
    X, y, _ = data
    X = np.column_stack([X, X[:, 0]])
    c = cf.certify(sk.LinearRegression().fit(X, y), X, y)
    assert c.holds
    assert c.relative_gap < 1e-9


def test_unknown_models_are_refused_with_a_list(data):
    from sklearn.cluster import DBSCAN

    with pytest.raises(TypeError, match=r"does not know the objective of DBSCAN; it knows .*Ridge"):
        cf.certify(DBSCAN(), *data[:2])
