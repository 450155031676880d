"""All folds and strengths at once: the sums, the proofs, and what is left to fits alone."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from certifit.design import FoldTable
from certifit.losses import Binomial, GammaLog, Logistic, Poisson, Squared, TweedieLog
from certifit.solvers._fold_cells import CellRows, evaluate, longest, look, values
from certifit.solvers.smooth_folds import smooth_folds

LOSSES = {
    "logistic": (Logistic(), lambda z, rng: np.where(rng.random(len(z)) < 1 / (1 + np.exp(-z)), 1.0, -1.0)),
    "binomial": (Binomial(), lambda z, rng: rng.random(len(z))),
    "poisson": (Poisson(), lambda z, rng: rng.poisson(np.exp(z)).astype(float)),
    "gamma": (GammaLog(), lambda z, rng: rng.gamma(2.0, np.exp(z) / 2.0) + 1e-3),
    "tweedie": (TweedieLog(1.5), lambda z, rng: rng.poisson(np.exp(z)).astype(float)),
    "squared": (Squared(0.5), lambda z, rng: z + rng.normal(size=len(z))),
}


def _problem(name, n=120, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1.0, 0.2, 3.0][:d] + 1.0
    loss, draw = LOSSES[name]
    y = draw(0.4 * (X - 1.0) @ np.array([1.0, 2.0, -0.3][:d]), rng)
    number = rng.integers(0, 4, size=n)
    folds = [(np.flatnonzero(number != k), np.flatnonzero(number == k)) for k in range(4)]
    return X, y, loss, folds, rng


def _total(theta, X, y, s, loss, strength, fit_intercept):
    z = X @ theta[:3] + (theta[3] if fit_intercept else 0.0)
    return s @ loss.value(z, y) + 0.5 * strength * theta[:3] @ theta[:3]


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_against_plain_numpy(name, weighted):
    X, y, loss, _, rng = _problem(name)
    s = rng.random(len(y)) if weighted else None
    weights = np.ones(len(y)) if s is None else s
    rows = CellRows(X, y, s, loss, np.array([0, 50, 50, 120]))
    theta = 0.1 * rng.normal(size=(5, 3))
    at = look(rows, theta[0])
    G, r = evaluate(rows, theta, np.array([at.z, at.z + 1.0]), np.array([0, 0, 1, 1, 1]), np.ones((5, 3), dtype=bool))
    assert longest(rows, np.eye(3)) == pytest.approx(np.linalg.norm(X, axis=1).max())
    for c, part in enumerate((slice(0, 50), slice(50, 50), slice(50, 120))):
        z, w = X[part] @ theta.T, weights[part]
        assert values(rows, theta[0])[c] == pytest.approx(w @ loss.value(z[:, 0], y[part]))
        assert at.value[c] == pytest.approx(w @ loss.value(z[:, 0], y[part]))
        h = w * loss.curvature(z[:, 0], y[part])
        assert at.H[c] == pytest.approx((X[part] * h[:, None]).T @ X[part])
        for i in range(5):
            assert G[c, i] == pytest.approx((w * loss.slope(z[:, i], y[part])) @ X[part])
            assert r[c, i] == pytest.approx(np.abs(z[:, i] - z[:, 0] - (i > 1)).max(initial=0.0))


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_gap_is_proved(name, fit_intercept):
    X, y, loss, folds, rng = _problem(name)
    s = rng.random(len(y))
    strengths = np.outer([1.0, 1.1, 0.9, 1.0], [100.0, 3.0, 0.1])
    found = smooth_folds(FoldTable(X, y, folds, s), loss, strengths, fit_intercept=fit_intercept)
    proved = np.isfinite(found.gap)
    assert proved.mean() > 0.8
    assert np.all(found.gap[proved] <= 1e-10)
    for j, m in zip(*np.nonzero(proved)):
        train = folds[j][0]
        parts = X[train], y[train], s[train], loss, strengths[j, m], fit_intercept
        theta = np.append(found.coef[j, m], found.intercept[j, m])
        best = minimize(_total, theta, args=parts, method="BFGS", options={"gtol": 1e-9}).fun
        assert _total(theta, *parts) <= best + 1e-10 * abs(_total(np.zeros(4), *parts)) + 1e-9


def test_far_folds_and_no_optimum_are_left_to_fits_alone():
    X = np.r_[np.arange(6.0), 1000.0 + np.arange(6.0)][:, None]
    y = np.where(np.arange(12) > 5, 1.0, -1.0)
    folds = [(np.arange(1, 12), np.array([0])), (np.arange(11), np.array([11]))]
    found = smooth_folds(FoldTable(X, y, folds), Logistic(), np.zeros((2, 1)))
    assert np.all(np.isinf(found.gap))
