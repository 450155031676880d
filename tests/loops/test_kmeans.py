"""Loops of k-means against a few lines of NumPy."""

from itertools import pairwise

import numpy as np
import pytest

from certifit.certificates.clustering import sorted_sums
from certifit.loops import kmeans


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    return X, X[:4].copy(), rng.integers(1, 4, size=80).astype(float)


def test_assignment_and_its_bounds(rows):
    X, C, _ = rows
    labels, upper, lower = np.full(80, -1, dtype=np.int32), np.empty(80), np.empty(80)
    assert kmeans.assign(X, np.ascontiguousarray(C.T), 0, 80, labels, upper, lower) == 80
    D = np.sqrt(((X[:, None] - C[None]) ** 2).sum(axis=2))
    assert np.array_equal(labels, D.argmin(axis=1))
    assert np.allclose(upper, np.sort(D, axis=1)[:, 0])
    assert np.allclose(lower, np.sort(D, axis=1)[:, 1])
    for step in (0.01, 0.3):
        moved = C + step * np.random.default_rng(1).normal(size=C.shape)
        drift = np.sqrt(((moved - C) ** 2).sum(axis=1)) * (1 + 1e-12)
        kmeans.reassign(X, moved, np.ascontiguousarray(moved.T), drift, np.zeros(4), 0, 80, labels, upper, lower)
        C, D = moved, np.sqrt(((X[:, None] - moved[None]) ** 2).sum(axis=2))
        assert np.array_equal(labels, D.argmin(axis=1))
        assert np.all(upper >= np.sort(D, axis=1)[:, 0] * (1 - 1e-12))
        assert np.all(lower <= np.sort(D, axis=1)[:, 1] * (1 + 1e-12))


def test_sums_and_own_distances(rows):
    X, C, w = rows
    labels = np.arange(80, dtype=np.int32) % 4
    sums, total, out = np.zeros((4, 3)), np.zeros(4), np.empty(80)
    kmeans.cluster_sums(X, w, labels, 0, 80, sums, total)
    assert np.allclose(total, [w[labels == c].sum() for c in range(4)])
    assert np.allclose(sums, [w[labels == c] @ X[labels == c] for c in range(4)])
    before, after = labels.copy(), (labels + (np.arange(80) % 3 == 0)).astype(np.int32) % 4
    changed, weight = sums.copy(), total.copy()
    kmeans.change_sums(X, w, before, after, changed, weight)
    assert np.array_equal(before, after)
    assert np.array_equal(weight, [w[after == c].sum() for c in range(4)])
    assert np.allclose(changed, [w[after == c] @ X[after == c] for c in range(4)])
    kmeans.own_distances(X, C, labels, 0, 80, out)
    assert np.allclose(out, ((X - C[labels]) ** 2).sum(axis=1))


def test_every_move_lowers_the_cost_and_the_last_pass_finds_none(rows):
    X, _, w = rows
    labels = np.arange(80, dtype=np.int32) % 4

    def state():
        C = np.array([np.average(X[labels == c], axis=0, weights=w[labels == c]) for c in range(4)])
        return C, float(w @ ((X - C[labels]) ** 2).sum(axis=1))

    C, before = state()
    total = np.array([w[labels == c].sum() for c in range(4)])
    count, upper, lower = np.bincount(labels), np.full(80, np.inf), np.zeros(80)
    for _ in range(100):
        moved = kmeans.move_rows(X, w, labels, C, np.ascontiguousarray(C.T), total, count, upper, lower)
        exact, after = state()
        assert np.allclose(C, exact)
        assert after < before or moved == 0
        before = after
        if moved == 0:
            break
    assert moved == 0
    D = ((X[:, None] - C[None]) ** 2).sum(axis=2)
    for i in range(80):
        a = labels[i]
        gain = w[i] * total[a] / (total[a] - w[i]) * D[i, a]
        assert all(gain <= w[i] * total[b] / (total[b] + w[i]) * D[i, b] * (1 + 1e-9) for b in range(4) if b != a)


def test_intervals_and_potentials_against_quadratic_programming():
    rng = np.random.default_rng(4)
    x, w = rng.normal(size=40), rng.integers(0, 3, size=40).astype(float)
    _, W, L, Q = sorted_sums(x, w)

    def cost(i, j):
        return 0.0 if W[j] <= W[i] else max(Q[j] - Q[i] - (L[j] - L[i]) ** 2 / (W[j] - W[i]), 0.0)

    table = np.full((6, 41), np.inf)
    table[0, 0] = 0.0
    for part in range(1, 6):
        table[part] = [min(table[part - 1, i] + cost(i, j) for i in range(j + 1)) for j in range(41)]
    borders, best = kmeans.intervals(W, L, Q, 5)
    assert np.allclose(best, table[1:, 40])
    assert sum(cost(a, b) for a, b in pairwise(borders)) == pytest.approx(best[-1])
    pi = kmeans.potentials(W, L, Q, 0.3)
    for j in range(1, 41):
        assert pi[j] == pytest.approx(min(pi[i] + cost(i, j) + 0.3 for i in range(j)))
