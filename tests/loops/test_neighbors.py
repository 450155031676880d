"""Each neighbour loop against a few lines of NumPy or rational numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certifit.loops import neighbors_brute, neighbors_integers, neighbors_order, neighbors_tree
from certifit.nearest._tree import KDTree

NONE = np.empty(0, np.int64)


def reduced(X, q, w, code, p):
    gap = np.abs(X - q)
    terms = {0: w * gap**2, 1: w * gap, 2: w * gap, 3: w * gap**p}[code]
    return terms.max(axis=1) if code == 2 else terms.sum(axis=1)


def flat(X, leaf):
    starts = np.append(np.arange(0, len(X), leaf), len(X))
    leaves = np.empty((len(starts) - 1, X.shape[1], leaf))
    neighbors_tree.pack(X, starts, leaves)
    return leaves, starts


@pytest.mark.parametrize("code", [0, 1, 2, 3])
@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_scan_and_distances(code, d):
    rng = np.random.default_rng(d)
    X, Q, w = rng.normal(size=(37, d)), rng.normal(size=(6, d)), rng.uniform(0.5, 2, d)
    leaves, starts = flat(X, 8)
    values, found = np.empty((6, 5)), np.empty((6, 5), np.int64)
    neighbors_tree.scan(Q, 0, 6, leaves, np.arange(37), starts, w, code, 3.0, NONE, NONE, values, found)
    out = np.empty((6, 37))
    neighbors_tree.distances(Q, np.ascontiguousarray(X.T)[None], w, code, 3.0, out)
    for i, q in enumerate(Q):
        D = reduced(X, q, w, code, 3.0)
        np.testing.assert_allclose(out[i], D, rtol=1e-14)
        np.testing.assert_array_equal(found[i], np.argsort(D)[:5])


def test_grow_makes_a_tree_of_medians_with_tight_boxes():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(61, 2))
    P, rows = X.copy(), np.arange(61)
    box, axis, cut = np.empty((7, 2, 2)), np.empty(3, np.int64), np.empty(3)
    neighbors_tree.grow(P, rows, box, axis, cut, 0, 0, 61, 3)
    np.testing.assert_array_equal(P, X[rows])
    assert sorted(rows) == list(range(61))
    for node, (s, e) in {0: (0, 61), 1: (0, 30), 2: (30, 61), 3: (0, 15), 6: (45, 61)}.items():
        np.testing.assert_array_equal(box[node], [P[s:e].min(axis=0), P[s:e].max(axis=0)])
    assert P[:30, axis[0]].max() <= cut[0] <= P[30:, axis[0]].min()


@pytest.mark.parametrize("code", [0, 1, 2, 3])
@pytest.mark.parametrize("d", [1, 3, 6])
@pytest.mark.parametrize("kind", ["normal", "ties", "copies", "far"])
def test_search_of_a_tree(code, d, kind):
    """Near queries share a walk, far ones and those with too few rows at home walk alone; ties by row number."""
    rng = np.random.default_rng(d)
    X, Q, w = rng.normal(size=(700, d)), rng.normal(size=(90, d)), rng.uniform(0.5, 2, d)
    if kind in ("ties", "copies"):
        X, Q, w = np.round(X * (kind == "ties")), np.round(Q), np.ones(d)
    Q[:4] *= 20.0 if kind == "far" else 1.0
    group_q, group_x = rng.integers(-1, 3, size=90), rng.integers(0, 3, size=700)
    tree = KDTree.build(X, 4 if kind == "normal" else 24, 1)
    D = np.array([reduced(X, q, w, code, 3.0) for q in Q])
    for own, theirs in ((NONE, NONE), (group_q, group_x)):
        if len(own):
            D[(own[:, None] == theirs[None]) & (own[:, None] >= 0)] = np.inf
        for k in (1, 9, 60):
            values, found = tree.query(Q, k, w, code, 3.0, own, theirs, 1)
            wanted = np.argsort(D, axis=1, kind="stable")[:, :k]
            np.testing.assert_array_equal(found, wanted)
            np.testing.assert_allclose(values, np.take_along_axis(D, wanted, axis=1), rtol=1e-13)


def test_search_fills_up_where_too_few_rows_may_be_met():
    X = np.arange(40.0)[:, None]
    group_q, group_x = np.array([1, -1]), (np.arange(40) >= 3).astype(int)
    values, found = KDTree.build(X, 8, 1).query(X[:2], 5, np.ones(1), 0, 2.0, group_q, group_x, 1)
    assert found.tolist() == [[0, 1, 2, 40, 40], [1, 0, 2, 3, 4]]
    assert values[0].tolist() == [0.0, 1.0, 4.0, np.inf, np.inf]


def test_pick_breaks_ties_by_column_and_skips_its_group():
    D = np.array([[3.0, 1.0, 2.0, 1.0], [0.0, 0.0, 0.0, 0.0]])
    values, found = np.empty((2, 3)), np.empty((2, 3), np.int64)
    neighbors_brute.pick(D, 0, NONE, NONE, values, found)
    assert found.tolist() == [[1, 3, 2], [0, 1, 2]]
    neighbors_brute.pick(D, 0, np.array([1, 0]), np.arange(4), values, found)
    assert found.tolist() == [[3, 2, 0], [1, 2, 3]]


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_sift_keeps_every_row_that_could_be_near(real):
    rng = np.random.default_rng(2)
    X, Q, k = rng.normal(size=(700, 4)), rng.normal(size=(5, 4)), 6
    hat = X.astype(real)
    norms, e_x, e_q = (hat * hat).sum(axis=1), np.full(700, 1e-3, real), np.full(5, 1e-3, real)
    heap, limit = np.full((5, k), np.inf, real), np.full(5, np.inf, real)
    rows, lows, counts = np.empty((5, 20), np.int32), np.empty((5, 20), real), np.zeros(5, np.int64)
    values, found = np.empty((5, k)), np.empty((5, k), np.int64)
    shift, w = (Q * Q).sum(axis=1), np.ones(4)
    for s in range(0, 700, 350):
        G = np.ascontiguousarray(2 * Q.astype(real) @ hat[s : s + 350].T)
        neighbors_brute.sift(
            G, 5, 350, 0, s, norms, e_x, e_q, shift, 1.0, 1e-3, real(2e-3), np.empty(128, real), Q, X, w,
            NONE, NONE, heap, limit, rows, lows, counts, counts.copy(), values, found,
        )  # fmt: skip
    settled = neighbors_brute.keep(5, limit, rows, lows, counts)
    neighbors_brute.settle(Q, 0, X, w, rows, counts, values, found)
    assert 5 * k <= settled < 100
    D = ((Q[:, None] - X[None]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(found, np.argsort(D, axis=1)[:, :k])


def whole_scan(Q, X, k, width, first, group_q=NONE, group_x=NONE, capacity=40):
    """Call the scan of integers on small matrices; returns candidates, their number and the bounds."""
    loops = neighbors_integers
    height, d = loops.WIDE * loops.LANES, Q.shape[1] // 2
    n, m = -(-len(X) // height) * height, -(-len(Q) // loops.TALL) * loops.TALL
    A, B = np.zeros((n, 2 * d), np.int16), np.zeros((m, 2 * d), np.int16)
    A[: len(X)], B[: len(Q)] = X, Q
    panels = np.ascontiguousarray(A.view(np.int32).reshape(-1, loops.LANES, d).transpose(0, 2, 1)).reshape(
        -1, loops.LANES * d
    )
    starts = np.full(n, loops.NOWHERE, np.int32)
    starts[: len(X)] = -((X.astype(int) ** 2).sum(axis=1) + 1) // 2
    bounds = np.full(m, 2**31 - 1, np.int32)
    bounds[: len(Q)] = loops.NOWHERE + 1
    squares, widths = (B.astype(int) ** 2).sum(axis=1).astype(float), np.full(m, width)
    rows, scores, counts = np.empty((m, capacity), np.int32), np.empty((m, capacity), np.int32), np.zeros(m, np.int64)
    group_x = np.append(group_x, np.full(n - len(group_x), -1)) if len(group_x) else group_x
    loops.scan(
        B.view(np.int32), m, 0, panels, d, starts, squares, widths, group_q, group_x, first, 4,
        np.empty((loops.TALL, 2 * height), np.int32), np.empty((loops.TALL, height), np.int32),
        np.zeros(loops.TALL, np.uint32), np.full((m, k), loops.NOWHERE, np.int32), bounds, rows, scores, counts,
    )  # fmt: skip
    return rows[: len(Q)], counts[: len(Q)]


@pytest.mark.skipif(not neighbors_integers.AVAILABLE, reason="this processor multiplies no pairs of 16-bit integers")
@pytest.mark.parametrize("first", [0, 8])
@pytest.mark.parametrize("most", [3, 40, 1000])
def test_scan_of_whole_numbers_keeps_every_row_that_could_be_near(first, most):
    rng, k, width = np.random.default_rng(most), 5, 0.5
    X, Q = rng.integers(-most, most + 1, size=(530, 6)), rng.integers(-most, most + 1, size=(21, 6))
    group_x, group_q = rng.integers(0, 3, size=530), rng.integers(-1, 3, size=21)
    for own, theirs in ((NONE, NONE), (group_q, group_x)):
        rows, counts = whole_scan(Q, X, k, width, first, own, theirs, capacity=600)
        D = np.sqrt(((Q[:, None] - X[None]) ** 2).sum(axis=2).astype(float))
        if len(own):
            D[(own[:, None] == theirs[None]) & (own[:, None] >= 0)] = np.inf
        reach = np.sort(D, axis=1)[:, k - 1] + width
        for i in range(len(Q)):
            kept = set(rows[i, : counts[i]].tolist())
            assert len(kept) == counts[i]
            assert kept >= set(np.flatnonzero(D[i] <= reach[i]).tolist())
            assert np.all(D[i, sorted(kept)] <= np.sqrt((reach[i] + 1) ** 2 + 8))


@pytest.mark.skipif(not neighbors_integers.AVAILABLE, reason="this processor multiplies no pairs of 16-bit integers")
def test_scan_of_whole_numbers_gives_up_on_a_crowd():
    X = np.zeros((200, 2), int)
    X[:5] = 100
    rows, counts = whole_scan(np.array([[0, 0], [100, 100]]), X, 3, 0.1, 0)
    assert counts[0] == -1
    assert sorted(rows[1, : counts[1]]) == [0, 1, 2, 3, 4]


floats = st.floats(-1e6, 1e6, allow_subnormal=False).filter(lambda v: v == 0 or abs(v) > 1e-60)
points = st.lists(st.one_of(floats, st.sampled_from([0.0, 0.1, 0.2, 0.3, 1e8, 1e8 + 1e-7])), min_size=3, max_size=3)


@given(points, points, points, points.map(lambda v: [abs(t) % 3 + 0.1 for t in v]), st.sampled_from([0, 1, 2]))
def test_compare_is_exact(q, a, b, w, code):
    X, Q = np.array([a, b]), np.array([q])

    def exact(x):
        gaps = [abs(Fraction(s) - Fraction(t)) for s, t in zip(x, q)]
        terms = [Fraction(c) * g * (g if code == 0 else 1) for c, g in zip(w, gaps)]
        return max(terms) if code == 2 else sum(terms)

    sign = neighbors_order.compare(Q, 0, X, 0, 1, np.array(w), code, np.empty(200))
    assert sign == (exact(a) > exact(b)) - (exact(a) < exact(b))


def test_settle_sorts_what_rounding_mixed_up():
    # The same three squares summed in three orders: equal numbers, unequal floats.
    rng, D = np.random.default_rng(0), np.zeros(3)
    while len(set(D)) == 1:
        a, b, c = rng.uniform(size=3)
        X = np.array([[a, b, c], [b, c, a], [c, a, b]])
        D = np.array([(u * u + v * v) + t * t for u, v, t in X])
    order = np.argsort(D)[None]
    values, found = D[order], order.copy()
    neighbors_order.settle(np.zeros((1, 3)), X, np.ones(3), 0, 1e-14, values, found, np.empty(200))
    assert found.tolist() == [[0, 1, 2]]
    assert np.all(np.diff(values) >= 0)
