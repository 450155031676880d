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
    decisions.evaluate(*decisions.take_rows(*args, rows), r[rows], 0.8, V, 0, n, out)
    assert np.allclose(out, Q.max(axis=1))
    once = decisions.evaluate_often(*decisions.take_rows(*args, rows), r[rows], 0.8, V, 1)
    assert np.allclose(once, out)
    twice = decisions.evaluate_often(*decisions.take_rows(*args, rows), r[rows], 0.8, V, 2)
    assert np.allclose(twice, r[rows] + 0.8 * (P[rows] @ once))
    U, W = V.copy(), V.copy()
    decisions.sweep_in_place(*args, r, first, 0.8, U, np.arange(n)[::-1].copy(), rows)
    for s in range(n)[::-1]:
        W[s] = (r + 0.8 * (P @ W))[s * a : s * a + a].max()
    assert np.allclose(U, W)
