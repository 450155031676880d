"""Ridge on all folds and penalties at once, against direct fits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, RepeatedKFold, ShuffleSplit

from certifit.design import FoldTable
from certifit.solvers import ridge_folds as module
from certifit.solvers.ridge_folds import ridge_folds

ALPHAS = np.array([1e-3, 1.0, 30.0])


def _check(X, Y, split, alphas=ALPHAS, weights=None, fit_intercept=True, tol=1e-9):
    found = list(ridge_folds(FoldTable(X, Y, split, weights), alphas, fit_intercept))
    assert len(found) == len(split)
    for (train, test), (coef, offset) in zip(split, found):
        for a, alpha in enumerate(alphas):
            w = None if weights is None else weights[train]
            direct = Ridge(alpha, fit_intercept=fit_intercept, solver="svd").fit(X[train], Y[train], w)
            ours = X[test] @ coef[a].T + offset[a]
            theirs = direct.predict(X[test]).reshape(ours.shape)
            assert np.abs(ours - theirs).max() <= tol * (1 + np.abs(theirs).max())


@given(st.integers(0, 2**31), st.booleans(), st.booleans(), st.integers(1, 2))
def test_equals_direct_fits(seed, weighted, fit_intercept, targets):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 4)) * 10.0 ** rng.uniform(-2, 2, size=4) + rng.normal(size=4)
    Y = rng.normal(size=(40, targets)) + X[:, :1]
    weights = rng.uniform(0.1, 3.0, size=40) if weighted else None
    split = list(KFold(4, shuffle=True, random_state=seed % 1000).split(X))
    _check(X, Y, split, weights=weights, fit_intercept=fit_intercept)


@pytest.mark.parametrize("splitter", [ShuffleSplit(3, random_state=0), RepeatedKFold(n_splits=3, n_repeats=2)])
def test_folds_that_are_no_partition(splitter):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(50, 3)), rng.normal(size=(50, 1))
    split = list(splitter.split(X))
    assert FoldTable(X, Y, split).number is None
    _check(X, Y, split)


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(30, 80)), rng.normal(size=(30, 2))
    _check(X, Y, list(KFold(3).split(X)))
    _check(X, Y, list(KFold(3).split(X)), weights=rng.uniform(0.5, 2, size=30))


def test_a_far_away_mean_costs_no_digits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) + 1e6
    Y = (X - 1e6) @ rng.normal(size=(3, 1)) + 5.0
    found = list(ridge_folds(FoldTable(X, Y, list(KFold(5).split(X))), np.array([0.0])))
    for coef, offset in found:
        assert np.abs(X @ coef[0].T + offset[0] - Y).max() < 1e-7


def test_ill_conditioned_columns_take_the_careful_road(monkeypatch):
    x = np.linspace(0, 1, 120)
    X = np.vander(x, 10, increasing=True)[:, 1:]
    Y = np.sin(7 * x)[:, None]
    called = []
    direct = module._direct
    monkeypatch.setattr(module, "_direct", lambda *args: called.append(1) or direct(*args))
    split = list(KFold(4, shuffle=True, random_state=0).split(X))
    found = list(ridge_folds(FoldTable(X, Y, split), np.array([0.0])))
    assert called
    for (train, test), (coef, offset) in zip(split, found):
        A = np.column_stack([X[train], np.ones(len(train))])
        exact = np.linalg.lstsq(A, Y[train], rcond=1e-16)[0]
        ours = X[test] @ coef[0].T + offset[0]
        assert np.abs(ours - np.column_stack([X[test], np.ones(len(test))]) @ exact).max() < 1e-6


def test_a_fold_that_holds_nearly_all_of_a_column_does_not_cancel():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 2)), rng.normal(size=(60, 1))
    X[3, 0] = 1e9  # total minus this fold would lose the column
    _check(X, Y, list(KFold(6).split(X)), np.array([0.1]), tol=1e-6)


def test_constant_columns():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 3)), rng.normal(size=(40, 1))
    X[:, 1] = 7.0
    _check(X, Y, list(KFold(4).split(X)))
    coef, _ = next(iter(ridge_folds(FoldTable(X, Y, list(KFold(4).split(X))), np.array([0.0]))))
    assert np.all(np.isfinite(coef))


def test_weak_penalties_on_dependent_columns_need_no_fit_of_their_own(monkeypatch):
    """Levels that sum to one, steps that hardly occur: G is nearly singular, and the rows themselves give the digits."""
    monkeypatch.setattr(module, "_direct", lambda *args: pytest.fail("fitted one by one"))
    rng = np.random.default_rng(0)
    levels = np.eye(5)[rng.integers(5, size=3_000)]
    x = rng.normal(size=(3_000, 1))
    X = np.hstack([levels, x, x + 1e-6 * rng.normal(size=x.shape), levels * x])
    Y = x**2 + levels[:, :1] + rng.normal(size=(3_000, 1))
    split = list(KFold(3).split(X))
    _check(X, Y, split, np.array([1e-3, 0.1, 10.0]))
    _check(X, Y, split, np.array([1e-3, 0.1, 10.0]), weights=rng.uniform(0.1, 2.0, size=3_000))
    _check(X, Y, split, np.array([1e-3, 0.1, 10.0]), fit_intercept=False)
