"""Tables with folds: who is tested where, cells of rows, and sums of training rows from one pass."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import KFold, RepeatedKFold, ShuffleSplit

from certifit.design import FoldMoments, FoldSums, FoldTable, _folds
from certifit.loops.gram import LANES
from certifit.parallel import side_by_side

SPLITTERS = {
    "partition": KFold(4),
    "shuffled": KFold(3, shuffle=True, random_state=0),
    "repeated": RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    "overlapping": ShuffleSplit(3, test_size=0.3, random_state=0),
    "leaving rows out": ShuffleSplit(3, test_size=0.3, train_size=0.4, random_state=0),
}


def _table(name, n=40, d=3, weighted=False, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 100.0
    weights = rng.integers(0, 3, size=n).astype(float) if weighted else None
    return FoldTable(X, X[:, :2] - rng.normal(size=(n, 2)), list(SPLITTERS[name].split(X)), weights)


def test_numbers_only_of_a_partition():
    X = np.zeros((10, 1))
    split = list(KFold(5).split(X))
    assert FoldTable(X, None, split).number.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert FoldTable(X, None, split[:-1]).number is None
    assert FoldTable(X, None, split[:-1]).complementary
    every = np.arange(10)
    for strange in (
        [(a[1:], b) for a, b in split],
        [(np.append(a[1:], a[-1]), b) for a, b in split],
        [(every[:5], every[:5]), (every[5:], every[5:])],
    ):
        assert FoldTable(X, None, strange).number is None
        assert not FoldTable(X, None, strange).complementary


def test_cells_are_rows_that_every_fold_treats_alike():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 2, size=40)
    folds = [(rng.integers(0, 40, size=30), np.arange(5)), (np.arange(10, 40), np.arange(10))]
    factors = np.array([[1.0, 2.0], [0.5, 3.0]])
    table = FoldTable(np.zeros((40, 1)), groups, folds, None, groups, factors)
    cells = table.cells()
    assert sorted(cells.order) == list(range(40))
    for k in range(2):
        assert np.array_equal(np.repeat(cells.factor[k], np.diff(cells.ends)), table.in_fold(k)[cells.order])
    each = [(np.delete(np.arange(99), i), np.array([i])) for i in range(99)]
    assert FoldTable(np.zeros((99, 1)), None, each).cells() is None


@pytest.mark.parametrize("name", SPLITTERS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("walk", [map, side_by_side])
def test_moments_of_training_rows(name, weighted, walk):
    table = _table(name, weighted=weighted)
    for fit_intercept in (True, False):
        moments = FoldMoments(table, fit_intercept, walk)
        for k in range(len(table.folds)):
            X, Y, s = table.training(k)
            A = np.column_stack([X - moments.shift, Y - moments.target_shift, np.ones(len(X))])
            plain = A.T @ (A if s is None else A * s[:, None])
            np.testing.assert_allclose(moments.training(k), plain, rtol=1e-10, atol=1e-9)


def test_one_pass_only_where_it_is_the_shorter_way():
    assert FoldSums(_table("partition"), lambda rows: 0).shared
    assert FoldSums(_table("repeated"), lambda rows: 0).shared
    assert not FoldSums(_table("leaving rows out"), lambda rows: 0).shared
    one = FoldTable(np.zeros((10, 1)), None, [(np.arange(8), np.array([8, 9]))])
    assert not FoldSums(one, lambda rows: 0).shared  # all rows and the tested ones are more than the training rows


@given(st.integers(0, 2**31), st.sampled_from(sorted(SPLITTERS)))
def test_whole_numbers_are_summed_exactly(seed, name):
    table = _table(name)
    values = np.random.default_rng(seed).integers(-1000, 1000, size=table.n)
    sums = FoldSums(table, lambda rows: values[rows].sum())
    assert sums.total == values.sum()
    for k, (train, _) in enumerate(table.folds):
        assert sums.training(k) == values[train].sum()


def test_scores_of_held_out_rows():
    table = _table("shuffled")
    rng = np.random.default_rng(1)
    coef, offset = rng.normal(size=(5, 2, 3)), rng.normal(size=(5, 2))
    for k, (_, test) in enumerate(table.folds):
        plain = np.einsum("atd,nd->ant", coef, table.X[test]) + offset[:, None]
        np.testing.assert_allclose(table.scores(k, coef, offset), plain)


def test_moments_do_not_depend_on_how_rows_lie():
    rng = np.random.default_rng(11)
    X, Y, weights = rng.normal(size=(40, 5)) + 3.0, rng.normal(size=(40, 1)), rng.uniform(1.0, 2.0, size=40)
    split = [(np.arange(20, 40), np.arange(20)), (np.arange(20), np.arange(20, 40))]
    by_rows, by_columns = (
        FoldMoments(FoldTable(A, Y, split, weights), True).training(0) for A in (X, np.asfortranarray(X))
    )
    np.testing.assert_allclose(by_columns, by_rows, rtol=1e-12, atol=1e-12)


@pytest.mark.skipif(not LANES, reason="the compiled loop needs AVX-512 or AVX2")
@pytest.mark.parametrize("name", SPLITTERS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["float64", "float32", "by columns"])
def test_moments_by_the_compiled_loop(monkeypatch, name, weighted, kind):
    """Large tables are summed by the loop; the sums of one fold may be written over those of another."""
    monkeypatch.setattr(_folds, "many_products", lambda n, d: True)
    monkeypatch.setattr(_folds, "_NUMBERS", 100)  # several blocks
    table = _table(name, weighted=weighted)
    X = (
        np.asfortranarray(table.X)
        if kind == "by columns"
        else table.X.astype("float32" if kind == "float32" else float)
    )
    table = replace(table, X=X)
    moments = FoldMoments(table, True, map)
    room = np.empty((X.shape[1] + table.y.shape[1] + 1,) * 2)
    for k in range(len(table.folds)):
        rows, Y, s = table.training(k)
        A = np.column_stack([rows - moments.shift, Y - moments.target_shift, np.ones(len(rows))])
        plain = A.T @ (A if s is None else A * s[:, None])
        np.testing.assert_allclose(moments.training(k, room), plain, rtol=1e-10, atol=1e-9)
