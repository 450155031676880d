"""Sweeps against a few lines of NumPy."""

import numpy as np
import scipy.sparse as sp

from certifit.loops import decisions


def test_sweeps_are_bellmans_operator():
    rng = np.random.default_rng(0)
    n, a = 7, 3
    P = sp.csr_matrix(rng.random((n * a, n)) * (rng.random((n * a, n)) < 0.5))
    r, first, V = rng.normal(size=n * a), np.arange(0, n * a + 1, a), rng.normal(size=n)
    args = (P.indptr, P.indices, P.data)
    Q = (r + 0.8 * (P @ V)).reshape(n, a)
    out, rows = np.empty(n), np.empty(n, dtype=np.int64)
    decisions.sweep(*args, r, first, 0.8, V, 0, n, out, rows)
    assert np.allclose(out, Q.max(axis=1))
    assert np.array_equal(rows, np.arange(n) * a + Q.argmax(axis=1))
    U, W = V.copy(), V.copy()
    decisions.sweep_in_place(*args, r, first, 0.8, U, np.arange(n)[::-1].copy(), rows)
    for s in range(n)[::-1]:
        W[s] = (r + 0.8 * (P @ W))[s * a : s * a + a].max()
    assert np.allclose(U, W)


def _held(P, rows, gamma, longest):
    """The rows of a policy as `hold_rows` leaves them; ``longest`` gives the room of each state."""
    n = len(rows)
    ends = np.cumsum(longest).astype(np.uint64)
    own = (ends - longest.astype(np.uint64), ends, np.zeros(ends[-1], np.uint32), np.zeros(ends[-1], np.float32))
    held, scale = np.full(n, -1), np.zeros(n, np.float32)
    args = (P.indptr.view("u4"), P.indices.view("u4"), P.data, gamma)
    decisions.hold_rows(*args, rows, 0, n, held, scale, *own)
    return args, held, scale, own


def test_sweeps_of_a_policy_add_up_the_powers_of_its_matrix():
    rng = np.random.default_rng(1)
    n, a, gamma = 9, 3, 0.8
    P = sp.csr_matrix(rng.random((n * a, n)) * (rng.random((n * a, n)) < 0.5) + 0.01 * np.eye(n).repeat(a, axis=0))
    P = sp.csr_matrix(P / P.sum(axis=1))
    longest = np.maximum.reduceat(np.diff(P.indptr), np.arange(0, n * a, a))
    rows = np.arange(n) * a + rng.integers(a, size=n)
    args, held, scale, own = _held(P, rows, gamma, longest)
    d = rng.normal(size=n).astype(np.float32)
    for step in range(2):
        mine = gamma * P[rows].toarray()
        assert np.allclose(scale, 1 / (1 - np.diag(mine)), rtol=1e-6)
        out = np.empty(n, np.float32)
        decisions.evaluate(*own, d, d, 0, n, out)
        assert np.allclose(out, d + mine @ d, atol=1e-6)
        assert np.allclose(decisions.evaluate_often(*own, d, 2), d + mine @ (d + mine @ d), atol=1e-6)
        exact = np.linalg.solve(np.eye(n) - mine, d)
        assert np.allclose(decisions.solve_often(scale, *own, d, gamma, 20), exact, atol=1e-4)
        if step == 0:  # another policy in the same place: only the rows that differ are fetched
            rows = rows.copy()
            rows[::2] = np.arange(0, n, 2) * a + rng.integers(a, size=len(rows[::2]))
            decisions.hold_rows(*args, rows, 0, n, held, scale, *own)
            assert np.array_equal(held, rows)
