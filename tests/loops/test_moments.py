"""Compiled moments and scores against a few lines of NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certifit.loops import moments


def plain(X, code, weight, K):
    total = np.bincount(code, weights=weight, minlength=K)
    mean = np.stack([np.average(X[code == c], axis=0, weights=weight[code == c]) for c in range(K)])
    scatter = np.stack([(weight[code == c, None] * (X[code == c] - mean[c]) ** 2).sum(axis=0) for c in range(K)])
    return total, mean, scatter


def run(X, code, weight, K, pieces=1):
    total, (mean, rest, scatter) = np.zeros(K), np.zeros((3, K, X.shape[1]))
    for rows in np.array_split(np.arange(len(X)), pieces):
        part = slice(rows[0], rows[-1] + 1)
        moments.class_moments(X[part], code[part], weight[part], total, mean, rest, scatter)
    return total, mean, scatter


@given(st.integers(0, 10_000), st.sampled_from([0.0, 1e3, -1e8]), st.booleans(), st.integers(1, 5))
def test_class_moments_are_those_of_numpy(seed, shift, weighted, pieces):
    rng = np.random.default_rng(seed)
    n, d, K = int(rng.integers(6, 6000)), int(rng.integers(1, 5)), 3
    X = shift + rng.normal(size=(n, d))
    code = rng.permutation(np.arange(n) % K)
    weight = rng.integers(1, 4, n).astype(float) if weighted else np.ones(n)
    got = run(X, code, weight if weighted else np.zeros(0), K, pieces)
    long = plain(X.astype(np.longdouble), code, weight, K)
    for a, b in zip(got, long):
        np.testing.assert_allclose(a, b.astype(float), rtol=1e-12, atol=1e-14)


def test_columns_far_from_zero_keep_their_variance():
    rng = np.random.default_rng(0)
    X = 1e8 + rng.normal(size=(50_000, 2))
    total, _, scatter = run(X, np.zeros(len(X), dtype=np.int64), np.zeros(0), 1)
    exact = X.astype(np.longdouble).var(axis=0).astype(float)
    np.testing.assert_allclose(scatter[0] / total[0], exact, rtol=1e-13)


def test_a_first_row_far_away_costs_few_digits():
    X = np.concatenate([[1e6], np.random.default_rng(1).normal(size=5000)])[:, None]
    total, _, scatter = run(X, np.zeros(len(X), dtype=np.int64), np.zeros(0), 1)
    exact = float(X.astype(np.longdouble).var())
    assert scatter[0, 0] / total[0] == pytest.approx(exact, rel=1e-11)


def test_plain_python_needs_no_vector_registers(monkeypatch):
    """As on a new installation, where a small table is read before anything is compiled."""
    rng = np.random.default_rng(2)
    X, code = rng.normal(size=(90, 17)), np.arange(90) % 3
    expected = plain(X, code, np.ones(90), 3)
    monkeypatch.setattr(moments.class_moments, "pays", lambda *asked: False)
    for a, b in zip(run(X, code, np.zeros(0), 3), expected):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


def test_nan_is_not_swallowed():
    X = np.array([[1.0, 2.0], [np.nan, 3.0], [2.0, 5.0]])
    _, mean, scatter = run(X, np.zeros(3, dtype=np.int64), np.zeros(0), 1)
    assert not np.isfinite(mean[0, 0])
    assert not np.isfinite(scatter[0, 0])
    assert np.isfinite(scatter[0, 1])


def test_missing_cells_are_skipped():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 3))
    X[rng.random(X.shape) < 0.3] = np.nan
    code = rng.integers(0, 2, 200)
    total, mean, scatter = np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 3))
    moments.class_moments_missing(X, code, np.zeros(0), total, mean, scatter)
    for c in range(2):
        part = X[code == c]
        np.testing.assert_allclose(total[c], (~np.isnan(part)).sum(axis=0))
        np.testing.assert_allclose(mean[c], np.nanmean(part, axis=0), rtol=1e-12)
        np.testing.assert_allclose(scatter[c] / total[c], np.nanvar(part, axis=0), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scores_and_labels(dtype):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50, 4)).astype(dtype)
    mean, half, constant = rng.normal(size=(3, 4)), rng.random((3, 4)), rng.normal(size=3)
    out, labels = np.zeros((50, 3)), np.zeros(50, dtype=np.int64)
    moments.gaussian_scores(X, mean, half, constant, out)
    want = constant - (half * (X[:, None, :].astype(float) - mean) ** 2).sum(axis=2)
    np.testing.assert_allclose(out, want, rtol=1e-12)
    assert moments.gaussian_labels(X, mean, half, constant, labels) == 0
    assert labels.tolist() == want.argmax(axis=1).tolist()
    X[0, 0] = np.nan
    assert moments.gaussian_labels(X, mean, half, constant, labels) == 1


@given(st.integers(0, 10_000), st.sampled_from([np.float64, np.float32]), st.integers(1, 5))
def test_labels_of_many_columns(seed, dtype, K):
    """Whole vectors of rows and columns, parts of them and overlaps: no row is left out, and none counted twice."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 70)), int(rng.integers(1, 40))
    X = rng.normal(size=(n, d)).astype(dtype)
    mean, half, constant = rng.normal(size=(K, d)), rng.random((K, d)), rng.normal(size=K)
    labels = np.full(n, -7)
    gone = rng.random(n) < 0.1
    X[gone, rng.integers(0, d)] = rng.choice([np.nan, np.inf, -np.inf])
    assert moments.gaussian_labels(X, mean, half, constant, labels) == gone.sum()
    score = constant - (half * (X[~gone, None, :].astype(float) - mean) ** 2).sum(axis=2)
    assert labels[~gone].tolist() == score.argmax(axis=1).tolist()
    assert not labels[gone].any()


def test_of_equal_scores_the_first_class_wins():
    for d in (3, 20):
        labels = np.full(50, -7)
        assert moments.gaussian_labels(np.ones((50, d)), np.zeros((3, d)), np.ones((3, d)), np.zeros(3), labels) == 0
        assert not labels.any()


def test_labels_in_plain_python(monkeypatch):
    rng = np.random.default_rng(4)
    X, (mean, half), constant = rng.normal(size=(40, 17)), rng.random((2, 3, 17)), rng.normal(size=3)
    labels = np.zeros((2, 40), dtype=np.int64)
    moments.gaussian_labels(X, mean, half, constant, labels[0])
    monkeypatch.setattr(moments.gaussian_labels, "pays", lambda *asked: False)
    moments.gaussian_labels(X, mean, half, constant, labels[1])
    assert (labels[0] == labels[1]).all()


def test_category_counts():
    X = np.array([[0, 1], [1, -1], [1, 0]])
    out = np.zeros((2, 4))
    moments.category_counts(X, np.array([0, 0, 1]), np.array([1.0, 2.0, 3.0]), np.array([0, 2]), out)
    assert out.tolist() == [[1.0, 2.0, 0.0, 1.0], [0.0, 3.0, 3.0, 0.0]]


@given(st.integers(0, 10_000), st.sampled_from([np.float64, np.float32]), st.integers(1, 20), st.integers(1, 5))
def test_moments_of_many_columns(seed, dtype, K, pieces):
    """Whole vectors of columns and parts of them, few and many classes, some without a row: as in longer precision."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(5, 5000)), int(rng.integers(1, 80))
    X = (1e3 + rng.normal(size=(n, d))).astype(dtype)
    code = rng.integers(0, K, n)
    total, mean, scatter = run(X, code, np.zeros(0), K, pieces)
    assert total.tolist() == np.bincount(code, minlength=K).tolist()
    for c in range(K):
        rows = X[code == c].astype(np.longdouble)
        if len(rows):
            np.testing.assert_allclose(mean[c], rows.mean(axis=0).astype(float), rtol=1e-14)
            np.testing.assert_allclose(scatter[c], rows.var(axis=0).astype(float) * len(rows), rtol=1e-11, atol=1e-12)
        else:
            assert not np.any([mean[c], scatter[c]])


def test_unbounded_numbers_show_in_any_column():
    """NaN and infinity reach the sums of their own column and class, and no others."""
    for bad in (np.nan, np.inf):
        for j in range(11):
            X = np.ones((40, 11))
            X[17, j] = bad
            code = np.arange(40) % 2
            _, mean, scatter = run(X, code, np.zeros(0), 2)
            assert (np.isfinite(scatter) == ((np.arange(11) != j) | (np.arange(2) != 1)[:, None])).all()
            assert not np.isfinite(mean[1, j])
