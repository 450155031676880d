"""Newton's method on all folds and strengths at once: the minima that fits alone find."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certifit.design import FoldTable
from certifit.losses import Logistic, SquaredHinge
from certifit.solvers.newton_folds import newton_folds, suits


def _table(seed, n=60, d=3, weighted=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, size=d) + rng.normal(size=d)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    folds = [(np.arange(n) % 3 != k, np.arange(n) % 3 == k) for k in range(3)]
    weights = rng.integers(0, 3, size=n).astype(float) if weighted else None
    return FoldTable(X, y, [(np.flatnonzero(a), np.flatnonzero(b)) for a, b in folds], weights)


@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge()])
@pytest.mark.parametrize("fit_intercept", [True, False])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), weighted=st.booleans())
def test_the_gradient_vanishes(loss, fit_intercept, seed, weighted):
    table, strengths = _table(seed, weighted=weighted), np.array([10.0, 0.1, 1e-3])
    coef, offset = newton_folds(table, loss, strengths, fit_intercept=fit_intercept, tol=1e-12)
    for k in range(3):
        s = table.in_fold(k)
        for m, strength in enumerate(strengths):
            slope = s * loss.slope(table.X @ coef[k, m] + offset[k, m], table.y)
            size = np.abs(table.X).T @ np.abs(s) + 1.0
            assert np.abs(slope @ table.X + strength * coef[k, m]) / size == pytest.approx(0.0, abs=1e-6)
            assert abs(slope.sum()) / (s.sum() + 1.0) == pytest.approx(0.0, abs=1e-6) or not fit_intercept
            assert fit_intercept or offset[k, m] == 0.0


def test_only_small_problems_with_a_penalty():
    table = _table(0)
    assert newton_folds(table, Logistic(), np.array([0.0])) is None
    assert not suits(FoldTable(np.ones((3, 500)), np.ones(3), []))
    assert not suits(FoldTable(np.broadcast_to(1.0, (10**6, 20)), np.ones(3), []))
