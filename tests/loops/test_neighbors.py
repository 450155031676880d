"""Each neighbour loop against a few lines of NumPy or rational numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certifit.loops import neighbors_brute, neighbors_order, neighbors_tree

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
    settled = neighbors_brute.finish(5, 0, Q, X, w, limit, rows, lows, counts, values, found)
    assert 5 * k <= settled < 100
    D = ((Q[:, None] - X[None]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(found, np.argsort(D, axis=1)[:, :k])


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
