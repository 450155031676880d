"""The search against rational numbers on adversarial data, and against other libraries on tame data."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from certifit.nearest import _brute, _integers
from certifit.nearest._metrics import Metric
from certifit.nearest._search import Index, choose_method

DATA = {
    "normal": lambda rng, n, d: rng.normal(size=(n, d)),
    "whole": lambda rng, n, d: rng.integers(0, 3, size=(n, d)).astype(float),
    "tenths": lambda rng, n, d: rng.integers(0, 4, size=(n, d)) * 0.1,
    "offset": lambda rng, n, d: 1e8 + rng.normal(size=(n, d)) * 1e-3,
    "last digits": lambda rng, n, d: 1e8 + rng.integers(0, 5, size=(n, d)) * 1.5e-8,
    "huge": lambda rng, n, d: rng.normal(size=(n, d)) * 1e200,
    "tiny": lambda rng, n, d: rng.normal(size=(n, d)) * 1e-200,
    "copies": lambda rng, n, d: np.repeat(rng.normal(size=(5, d)), n // 5, axis=0),
    "clusters": lambda rng, n, d: rng.integers(0, 3, size=(n, 1)) * 1e6 + rng.normal(size=(n, d)) * 1e-4,
}


ARITHMETICS = ["integers", "floats"] if _integers.AVAILABLE else ["floats"]


@pytest.fixture(params=ARITHMETICS)
def arithmetic(request, monkeypatch):
    """Brute force in either arithmetic."""
    monkeypatch.setattr(_integers, "AVAILABLE", request.param == "integers")
    return request.param


def truth(X, q, w, name):
    def value(x):
        gaps = [abs(Fraction(a) - Fraction(b)) for a, b in zip(x, q)]
        terms = [Fraction(c) * g * (g if name == "euclidean" else 1) for c, g in zip(w, gaps)]
        return max(terms) if name == "chebyshev" else sum(terms)

    values = [value(x) for x in X]
    return sorted(range(len(X)), key=lambda i: (values[i], i))


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
@pytest.mark.parametrize("algorithm", ["brute", "kd_tree"])
def test_exact_order_on_adversarial_data(data, metric, algorithm):
    rng = np.random.default_rng(0)
    for d in (1, 3, 6):
        X = DATA[data](rng, 60, d)
        Q = np.vstack([X[:2], DATA[data](rng, 60, d)[:2]])
        for w in (None, rng.uniform(0.1, 2, d)):
            index = Index(X, Metric(metric, weights=w), algorithm, leaf_size=4)
            for k in (1, 7, 60):
                distances, rows = index.query(Q, k)
                assert np.all(np.diff(distances, axis=1) >= 0)
                for q, found in zip(Q, rows):
                    assert found.tolist() == truth(X, q, np.ones(d) if w is None else w, metric)[:k]


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 12), st.sampled_from(["euclidean", "manhattan"]))
def test_tree_and_brute_force_agree(seed, d, k, metric):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(80, d)), int(rng.integers(0, 3)))
    Q = np.round(rng.normal(size=(30, d)), 1)
    answers = [Index(X, Metric(metric), a, 5).query(Q, k) for a in ("brute", "kd_tree")]
    np.testing.assert_array_equal(answers[0][1], answers[1][1])
    np.testing.assert_array_equal(answers[0][0], answers[1][0])


@pytest.mark.parametrize(("d", "k"), [(2, 1), (3, 10), (8, 40), (30, 5)])
def test_against_scipy(d, k, arithmetic):
    rng = np.random.default_rng(d)
    X, Q = rng.normal(size=(3000, d)), rng.normal(size=(700, d))
    wanted, rows = cKDTree(X).query(Q, k=k)
    for algorithm in ("brute", "kd_tree"):
        distances, found = Index(X, Metric(), algorithm).query(Q, k)
        np.testing.assert_allclose(distances, wanted.reshape(distances.shape), rtol=1e-12)
        np.testing.assert_array_equal(found, rows.reshape(found.shape))
    Q = Q[:60]
    wanted, rows = cKDTree(X).query(Q, k=k, p=3)
    for algorithm in ("brute", "kd_tree"):
        distances, found = Index(X, Metric("minkowski", 3.0), algorithm).query(Q, k)
        np.testing.assert_allclose(distances, wanted.reshape(distances.shape), rtol=1e-12)


def test_threads_change_nothing(arithmetic):
    rng = np.random.default_rng(3)
    X, Q = np.round(rng.normal(size=(3000, 3)), 2), np.round(rng.normal(size=(1500, 3)), 2)
    for algorithm in ("brute", "kd_tree"):
        one, four = (Index(X, Metric(), algorithm, n_jobs=j).query(Q, 8) for j in (1, 4))
        np.testing.assert_array_equal(one[0], four[0])
        np.testing.assert_array_equal(one[1], four[1])


@pytest.mark.parametrize("data", [*DATA, "outlier", "heavy tails"])
def test_both_arithmetics_find_what_the_tree_finds(arithmetic, data):
    more = {
        "outlier": lambda rng, n, d: np.where(np.arange(n)[:, None] == 17, 1e12, rng.normal(size=(n, d))),
        "heavy tails": lambda rng, n, d: rng.standard_cauchy(size=(n, d)) ** 3,
    }
    rng = np.random.default_rng(1)
    for d in (1, 2, 5, 33):
        X, Q = (({**DATA, **more})[data](rng, n, d) for n in (320, 80))
        Q[:3] = X[:3]
        Q[3] *= 50.0
        folds_x, folds_q = rng.integers(0, 4, size=320), rng.integers(-1, 4, size=80)
        for w in (None, rng.uniform(0.01, 3, d)):
            brute, tree = (Index(X, Metric(weights=w), a) for a in ("brute", "kd_tree"))
            for k, groups in ((1, ()), (20, ()), (7, (folds_q, folds_x))):
                wanted, found = tree.query(Q, k, *groups), brute.query(Q, k, *groups)
                np.testing.assert_array_equal(found[1], wanted[1])
                np.testing.assert_array_equal(found[0], wanted[0])


@pytest.mark.skipif(not _integers.AVAILABLE, reason="this processor multiplies no pairs of 16-bit integers")
@given(st.integers(0, 10**6), st.integers(1, 40))
def test_the_bound_on_whole_numbers_holds(seed, d):
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.integers(-3, 4, size=d)
    X, w = rng.normal(size=(40, d)) * scale + 5, rng.uniform(0.1, 3, d)
    Q = rng.uniform(X.min(axis=0), X.max(axis=0), size=(9, d))
    whole = _integers.Integers.prepare(X, w)
    hats, errors = [], []
    for A in (X, Q):
        hat, squares, error = _integers._rounded((A - whole.centre) * whole.root)
        hat = hat[:, :d].astype(int)
        np.testing.assert_array_equal(squares, (hat**2).sum(axis=1))
        hats.append(hat)
        errors.append(error)
    assert errors[0].max() == whole.error
    assert np.sqrt((hats[0] ** 2).sum(axis=1)).max() <= 2**14
    true = np.sqrt((((Q[:, None] - X[None]) * whole.root) ** 2).sum(axis=2))
    rounded = np.sqrt(((hats[1][:, None] - hats[0][None]) ** 2).sum(axis=2).astype(float))
    assert np.all(np.abs(true - rounded) <= errors[1][:, None] + whole.error)


def test_double_precision_takes_over_where_single_cannot_tell():
    rng = np.random.default_rng(4)
    X = rng.integers(0, 2, size=(2000, 1)) * 1e5 + rng.normal(size=(2000, 20)) * 1e-2
    index = Index(X, Metric(), "brute")
    _, rows = index.query(X[:400], 3)
    assert {"single", "double"} <= set(vars(index._brute))
    np.testing.assert_array_equal(rows, cKDTree(X).query(X[:400], k=3)[1])


@given(st.integers(0, 10**6), st.integers(1, 40))
def test_the_bound_on_the_product_holds(seed, d):
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.integers(-3, 4, size=d)
    X, Q, w = rng.normal(size=(40, d)) * scale + 5, rng.normal(size=(9, d)) * scale, np.ones(d)
    true = ((Q[:, None] - X[None]) ** 2).sum(axis=2)
    for real in (np.float32, np.float64):
        b = _brute.Brute.prepare(X, w, real)
        q = ((Q - b.centre) * b.scale).astype(real)
        B2 = np.einsum("ij,ij->i", q, q, dtype=float)[:, None]
        low = (b.norms - (2 * q) @ b.hat.T).astype(float)
        error = b.epsilon * B2 + 1e-30
        assert np.all(low - error <= true * b.scale**2 - B2)
        assert np.all(low + b.e_x + error >= true * b.scale**2 - B2)


def test_far_queries_and_tiny_sets():
    X = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])
    distances, rows = Index(X, Metric()).query(np.array([[1e300, 1e300]]), 2)
    assert rows.tolist() == [[1, 0]]
    np.testing.assert_allclose(distances, 2**0.5 * 1e300)
    for size in (1e6, 1e12, 1e30, 1e150):  # beyond what single precision can hold
        rng = np.random.default_rng(0)
        A, far = rng.normal(size=(300, 3)), rng.normal(size=(3, 3)) * size
        near = Index(A, Metric(), "kd_tree").query(far, 4)[1]
        np.testing.assert_array_equal(Index(A, Metric(), "brute").query(far, 4)[1], near)
        if size < 1e12:
            assert near[0].tolist() == truth(A, far[0], np.ones(3), "euclidean")[:4]
    assert Index(X[:1], Metric(), "kd_tree").query(X, 1)[1].tolist() == [[0], [0], [0]]


def test_cosine_agrees_with_its_definition():
    rng = np.random.default_rng(5)
    X, Q = rng.normal(size=(50, 4)), rng.normal(size=(10, 4))
    X[7] = 0.0
    X[20] = 2 * X[3]
    distances, rows = Index(X, Metric("cosine")).query(Q, 50)
    with np.errstate(invalid="ignore"):
        wanted = 1 - Q @ X.T / np.linalg.norm(X, axis=1) / np.linalg.norm(Q, axis=1)[:, None]
    wanted[:, 7] = 1.0
    np.testing.assert_allclose(distances, np.take_along_axis(wanted, rows, axis=1), atol=1e-14)
    at = [r.tolist().index(3) for r in rows]
    assert all(r[i + 1] == 20 for r, i in zip(rows, at))  # parallel rows tie: the lower number first


def test_memory_does_not_grow_with_queries_times_rows(arithmetic):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(4000, 20))
    Index(X, Metric(), "brute").query(X[:100], 5)

    def peak(m):
        Q = rng.normal(size=(m, 20))
        tracemalloc.start()
        Index(X, Metric(), "brute", n_jobs=1).query(Q, 5)
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    assert peak(8000) - peak(1000) < 7000 * 4000  # a byte per pair would already be more


@given(st.integers(0, 10**6))
def test_one_search_answers_every_fold(seed):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(60, 2)), 1)
    folds = np.sort(rng.integers(0, 4, size=60))
    distances, rows = Index(X, Metric()).query(X, 9, folds, folds)
    for f in range(4):
        test, train = folds == f, np.flatnonzero(folds != f)
        D, found = Index(X[train], Metric(), "brute").query(X[test], 9)
        np.testing.assert_array_equal(rows[test], train[found])
        np.testing.assert_array_equal(distances[test], D)


def test_folds_larger_than_what_is_left():
    X, folds = np.arange(4.0)[:, None], np.array([0, 0, 0, 1])
    distances, rows = Index(X, Metric()).query(X, 3, folds, folds)
    assert rows.tolist() == [[3, 4, 4], [3, 4, 4], [3, 4, 4], [2, 1, 0]]
    assert np.isinf(distances[0, 1])


def test_choice_by_size(arithmetic):
    assert choose_method("auto", Metric(), 100_000, 3) == "kd_tree"
    assert choose_method("auto", Metric(), 40_000, 6) == ("brute" if arithmetic == "integers" else "kd_tree")
    assert choose_method("auto", Metric(), 20_000, 64) == "brute"
    assert choose_method("auto", Metric("manhattan"), 1000, 10) == "kd_tree"
    with pytest.raises(ValueError, match="kd_tree"):
        choose_method("kd_tree", Metric("cosine"), 10, 2)
