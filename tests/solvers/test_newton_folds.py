"""Newton's method on all folds and strengths at once: the minima that fits alone find."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certifit.design import FoldTable
from certifit.losses import Logistic, SquaredHinge
from certifit.solvers.newton_folds import _paying, _problems, _product, newton_folds, newton_tables, suits


def _table(seed, n=60, d=3, weighted=False, decades=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-decades, decades + 1, size=d) + rng.normal(size=d)
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
    coef, offset, _ = newton_folds(table, loss, strengths, fit_intercept=fit_intercept, tol=1e-12)
    for k in range(3):
        s = table.in_fold(k)
        for m, strength in enumerate(strengths):
            slope = s * loss.slope(table.X @ coef[k, m] + offset[k, m], table.y)
            size = np.abs(table.X).T @ np.abs(s) + 1.0
            assert np.abs(slope @ table.X + strength * coef[k, m]) / size == pytest.approx(0.0, abs=1e-6)
            assert abs(slope.sum()) / (s.sum() + 1.0) == pytest.approx(0.0, abs=1e-6) or not fit_intercept
            assert fit_intercept or offset[k, m] == 0.0


@pytest.mark.parametrize(("n", "d"), [(60, 150), (300, 120)])
def test_many_columns_go_without_hessians_to_the_same_minima(n, d):
    """The steps are inexact; where they end is not."""
    loss = Logistic()
    table, strengths = _table(3, n=n, d=d, weighted=True, decades=1), np.array([100.0, 1.0, 1e-2])
    coef, offset, _ = newton_folds(table, loss, strengths, tol=1e-11)
    for k in range(3):
        s = table.in_fold(k)
        for m, strength in enumerate(strengths):
            slope = s * loss.slope(table.X @ coef[k, m] + offset[k, m], table.y)
            size = np.abs(table.X).T @ np.abs(s) + 1.0
            assert np.abs(slope @ table.X + strength * coef[k, m]) / size == pytest.approx(0.0, abs=1e-6)
            assert abs(slope.sum()) / s.sum() == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("bending", [20, 90])
def test_hessians_of_few_rows_and_of_all_are_the_same_sums(bending):
    rng = np.random.default_rng(0)
    X, y, bends = rng.normal(size=(90, 24)), np.ones(90), rng.random((3, 90)) * (np.arange(90) < bending)
    problems = _paying(_problems(X, y, SquaredHinge(), 1e-9), np.ones((3, 90)), np.ones((3, 24)))
    np.testing.assert_allclose(problems._hessians(bends), np.einsum("bn,ni,nj->bij", bends, X, X), atol=1e-12)


def test_a_penalty_too_weak_for_conjugate_gradients_is_left_to_others():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3)) @ rng.normal(size=(3, 140)) + 1e-6 * rng.normal(size=(150, 140))
    y = np.where(rng.random(150) < 0.5, 1.0, -1.0)
    table = FoldTable(X, y, [(np.arange(100), np.arange(100, 150))])
    assert newton_folds(table, Logistic(), np.array([1e-12])) is None


def test_only_small_problems_with_a_penalty():
    table = _table(0)
    assert newton_folds(table, Logistic(), np.array([0.0])) is None
    assert not suits(FoldTable(np.ones((3, 500)), np.ones(3), []), SquaredHinge())
    assert not suits(FoldTable(np.broadcast_to(1.0, (10_000, 500)), np.ones(3), []), Logistic())
    assert not suits(FoldTable(np.broadcast_to(1.0, (10**6, 20)), np.ones(3), []), Logistic())


def test_a_rough_search_in_single_precision_comes_as_near_as_it_was_asked():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 150)), np.where(rng.random(120) < 0.5, 1.0, -1.0)
    folds = [(np.arange(80), np.arange(80, 120)), (np.arange(40, 120), np.arange(40))]
    table, strengths = FoldTable(X, y, folds), np.array([30.0, 1.0])
    rough = newton_folds(table, Logistic(), strengths, tol=1e-5)
    fine = newton_folds(table, Logistic(), strengths, tol=1e-12)
    assert rough is not None
    assert fine is not None
    for k, (train, _) in enumerate(folds):
        for m, strength in enumerate(strengths):
            values = [
                np.logaddexp(0.0, -y[train] * (X[train] @ w[k, m] + b[k, m])).sum() + strength / 2 * w[k, m] @ w[k, m]
                for w, b in (rough[:2], fine[:2])
            ]
            assert values[1] <= values[0] <= values[1] + 1e-5 * len(train)


@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge()])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_tables_of_their_own_reach_the_minima_of_their_first_columns(loss, fit_intercept):
    tables = [replace(t, folds=t.folds[:1]) for t in (_table(seed, d=4, weighted=True) for seed in (1, 2, 3))]
    strengths, widths = np.array([3.0, 0.1, 0.1]), np.array([4, 2, 4])
    found = newton_tables(tables, loss, strengths, widths, fit_intercept=fit_intercept, tol=1e-13)
    for k, table in enumerate(tables):
        for m, (strength, width) in enumerate(zip(strengths, widths)):
            first = replace(table, X=table.X[:, :width])
            alone = newton_folds(first, loss, np.array([strength]), fit_intercept=fit_intercept, tol=1e-13)
            assert found.coef[k, m, :width] == pytest.approx(alone.coef[0, 0], rel=1e-6)
            assert not found.coef[k, m, width:].any()
            assert found.offset[k, m] == pytest.approx(alone.offset[0, 0], rel=1e-6, abs=1e-9)


def test_folds_that_begin_at_the_minimum_of_all_rows_end_where_others_do():
    table, strengths = _table(5, weighted=True), np.array([10.0, 0.1])
    plain = newton_folds(table, Logistic(), strengths, tol=1e-13)
    found = newton_folds(table, Logistic(), strengths, tol=1e-13, whole_first=True)
    assert found.coef == pytest.approx(plain.coef, rel=1e-6)
    every = replace(table, folds=[(np.arange(table.n), np.arange(0))])
    whole = newton_folds(every, Logistic(), strengths, tol=1e-13)
    assert found.whole[0] == pytest.approx(whole.coef[0], rel=1e-6)
    assert found.whole[1] == pytest.approx(whole.offset[0], rel=1e-6)


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("k", range(1, 10))
def test_rows_are_multiplied_alike_one_by_one_or_padded(k, alone, monkeypatch):
    monkeypatch.setattr("certifit.solvers.newton_folds._one_by_one", lambda: alone)
    rng = np.random.default_rng(k)
    rows, matrix = rng.normal(size=(k, 7)), rng.normal(size=(7, 5))
    np.testing.assert_allclose(_product(rows, matrix), rows @ matrix, rtol=1e-13, atol=1e-14)


def test_wide_problems_end_at_the_same_minima_by_the_compiled_loop_or_in_numpy(monkeypatch):
    rng = np.random.default_rng(6)
    X, rows = rng.normal(size=(50, 120)), np.arange(50)
    y = np.where(X[:, 0] + rng.normal(size=50) > 0, 1.0, -1.0)
    table = FoldTable(X, y, [(rows[rows % 3 != k], rows[rows % 3 == k]) for k in range(3)])
    monkeypatch.setattr("certifit.solvers.newton_folds._LOADED", 0)
    monkeypatch.setattr("certifit.solvers.newton_folds._LARGE", 0)
    loop = newton_folds(table, Logistic(), np.array([1.0, 0.1]), tol=1e-12)
    monkeypatch.setattr("certifit.solvers.newton_folds._LOADED", np.inf)
    monkeypatch.setattr("certifit.solvers.newton_folds._LARGE", np.inf)
    plain = newton_folds(table, Logistic(), np.array([1.0, 0.1]), tol=1e-12)
    np.testing.assert_allclose(loop.coef, plain.coef, atol=1e-7)
