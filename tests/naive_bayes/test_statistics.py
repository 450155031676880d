"""Sufficient statistics: sums of the rows, whichever way they are put together or taken apart."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from certifit.design import _fingerprint, fingerprint
from certifit.naive_bayes import _statistics
from certifit.naive_bayes._statistics import ClassCounts, ClassMoments, MixedStatistics

SEEDS = st.integers(0, 2**32 - 1)


def rows(seed, n=40, d=3, K=3):
    rng = np.random.default_rng(seed)
    return rng.normal(5.0, 2.0, (n, d)), rng.integers(0, K, n), rng.uniform(0.1, 2.0, n)


def same(a, b, names):
    for name in names:
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-9, atol=1e-9)


@given(SEEDS)
def test_moments_are_those_of_numpy(seed):
    X, codes, w = rows(seed)
    found = ClassMoments.of(X, codes, 3, w)
    for c in range(3):
        mine = codes == c
        if mine.any():
            mean = np.average(X[mine], axis=0, weights=w[mine])
            np.testing.assert_allclose(found.mean[c], mean, rtol=1e-12)
            np.testing.assert_allclose(found.scatter[c], w[mine] @ (X[mine] - mean) ** 2, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found.column_mean, np.average(X, axis=0, weights=w), rtol=1e-12)
    spread = np.average((X - np.average(X, axis=0, weights=w)) ** 2, axis=0, weights=w)
    np.testing.assert_allclose(found.column_variance, spread, rtol=1e-10)


@given(SEEDS, st.integers(1, 39))
def test_parts_add_up_and_come_off_again(seed, cut):
    X, codes, w = rows(seed)
    whole = ClassMoments.of(X, codes, 3, w)
    first, rest = (ClassMoments.of(X[s], codes[s], 3, w[s]) for s in (slice(cut), slice(cut, None)))
    same(first + rest, whole, ("total", "mean", "scatter"))
    left = whole - first
    np.testing.assert_allclose(left.total, rest.total, atol=1e-9)
    there = rest.total > 1e-6
    np.testing.assert_allclose(left.mean[there], rest.mean[there], rtol=1e-6)


def test_stripes_of_a_large_table_change_nothing(monkeypatch):
    X, codes, w = rows(0, n=4000)
    X[:, 1] += 1e8  # where a careless merge would lose the variance
    alone = ClassMoments.of(X, codes, 3, w)
    monkeypatch.setattr(_statistics, "_SMALL", 100)
    striped = ClassMoments.of(X, codes, 3, w)
    same(striped, alone, ("total", "mean", "scatter"))
    X[17, 2] = np.nan
    assert not np.isfinite(ClassMoments.of(X, codes, 3).scatter).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(1000, 1), (1000, 3), (40_000, 3), (40_000, 20), (5000, 81), (6, 30_001)])
def test_the_fingerprint_comes_from_the_same_read(monkeypatch, shape, dtype):
    """Whether NumPy reads a small X or compiled loops a large one, in rows shorter or longer than a piece."""
    rng = np.random.default_rng(2)
    X, codes = rng.normal(size=shape).astype(dtype), np.arange(shape[0]) % 3
    w = rng.uniform(0.5, 2.0, shape[0])
    monkeypatch.setattr(_statistics, "_SMALL", 100)
    for name, size in (("_LARGE", 10_000), ("_LOADED", 10_000), ("_PART", 1 << 14), ("_PIECE", 1 << 12)):
        monkeypatch.setattr(_fingerprint, name, size)
    found, mark = ClassMoments.with_fingerprint(X, codes, 3, w)
    assert mark == fingerprint(X)
    same(found, ClassMoments.of(X, codes, 3, w), ("total", "mean", "scatter"))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_counts_are_sums_of_rows(form):
    X = np.random.default_rng(1).integers(0, 5, (30, 4)).astype(float)
    _, codes, w = rows(1, n=30)
    found = ClassCounts.of(form(X), codes, 3, w)
    np.testing.assert_allclose(found.cells, [w[codes == c] @ X[codes == c] for c in range(3)])
    np.testing.assert_allclose(found.class_total, [w[codes == c].sum() for c in range(3)])


@given(SEEDS)
def test_categories_seen_later_widen_the_table(seed):
    rng = np.random.default_rng(seed)
    X, codes = rng.integers(-1, 4, (20, 2)), rng.integers(0, 2, 20)
    sizes = np.array([4, 4])
    whole = ClassCounts.of_categories(X, codes, 2, sizes)
    small = X[:10].max(axis=0, initial=0) + 1
    parts = ClassCounts.of_categories(X[:10], codes[:10], 2, small) + ClassCounts.of_categories(
        X[10:], codes[10:], 2, sizes
    )
    np.testing.assert_array_equal(parts.cells, whole.cells)
    for j, table in enumerate(whole.by_feature):
        expected = [[np.sum((X[:, j] == v) & (codes == c)) for v in range(4)] for c in range(2)]
        np.testing.assert_array_equal(table, expected)


def test_missing_cells_are_left_out_of_mixed_statistics():
    X, codes, _ = rows(2, n=20)
    X[3, 0] = X[7, 2] = np.nan
    found = MixedStatistics.of(X, np.full((20, 1), -1), codes, 3, np.array([2]))
    for c in range(3):
        np.testing.assert_allclose(found.numbers.mean[c], np.nanmean(X[codes == c], axis=0))
    assert found.categories.cells.sum() == 0.0
    assert found.keep(np.array([True, False, True])).class_total.shape == (2,)
