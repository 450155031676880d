"""Conjugate gradients for Newton steps of many problems that share their rows, without a Hessian.

Problem b asks for the s of (Xᵀ diag(h_b) X + diag(ridge_b)) s = −g_b, preconditioned by the diagonal. A row is
multiplied by all directions, and weighed back into all sums, while it is in the nearest cache: one read of X a turn
serves all problems, where two matrix products with few rows read it twice.
"""

from __future__ import annotations

import numpy as np

from certifit.loops._jit import njit
from certifit.loops._tiers import tiered

_TURN = 2e-10  # seconds for each number of X and problem that a turn takes in NumPy
_USUAL = 20  # turns


@njit(nogil=True, fastmath={"reassoc", "contract"})
def _add_products(X, h, D, going, total):
    """total_b += Xᵀ diag(h_b) X d_b for the problems that go on, four rows at a time."""
    n, p = X.shape
    zero = np.zeros(1, X.dtype)[0]  # a plain 0.0 would have single precision summed in double
    whole = n - n % 4
    for i in range(0, whole, 4):
        x0, x1, x2, x3 = X[i], X[i + 1], X[i + 2], X[i + 3]
        for b in going:
            d, into = D[b], total[b]
            z0 = z1 = z2 = z3 = zero
            for j in range(p):
                z0 += x0[j] * d[j]
                z1 += x1[j] * d[j]
                z2 += x2[j] * d[j]
                z3 += x3[j] * d[j]
            z0, z1, z2, z3 = z0 * h[b, i], z1 * h[b, i + 1], z2 * h[b, i + 2], z3 * h[b, i + 3]
            for j in range(p):
                into[j] += (z0 * x0[j] + z1 * x1[j]) + (z2 * x2[j] + z3 * x3[j])
    for i in range(whole, n):
        x = X[i]
        for b in going:
            d, into, z = D[b], total[b], zero
            for j in range(p):
                z += x[j] * d[j]
            z *= h[b, i]
            for j in range(p):
                into[j] += z * x[j]


@njit(nogil=True, fastmath={"reassoc", "contract"})
def _dot(a, b):
    total = np.zeros(1, a.dtype)[0]
    for j in range(len(a)):
        total += a[j] * b[j]
    return total


@tiered(lambda X, h, ridge, scale, g, share, turns, step, rest: _TURN * _USUAL * X.size * len(g))
@njit(nogil=True, fastmath={"contract"})
def conjugate_gradients(X, h, ridge, scale, g, share, turns, step, rest):
    """Steps (problems, p) and what they leave, −g − Hs, of which rᵀ diag(scale) r is at most ``share`` of the start's.

    X is (n, p), h (problems, n), ridge and scale (problems, p); scale is the inverse of the Hessian's diagonal. False
    where a problem needs more than so many turns.
    """
    k, p = g.shape
    D, HD = np.empty_like(g), np.empty_like(g)
    size, enough, going, left = np.empty(k, g.dtype), np.empty(k, g.dtype), np.arange(k), k
    for b in range(k):
        for j in range(p):
            step[b, j], rest[b, j] = 0.0, -g[b, j]
            D[b, j] = scale[b, j] * rest[b, j]
        size[b] = _dot(rest[b], D[b])
        enough[b] = share * size[b]
    for _ in range(turns + 1):
        m = 0
        for a in range(left):
            b = going[a]
            if size[b] > enough[b]:  # not where it is no number either
                going[m] = b
                m += 1
        left = m
        if left == 0:
            return True
        for b in going[:left]:
            for j in range(p):
                HD[b, j] = ridge[b, j] * D[b, j]
        _add_products(X, h, D, going[:left], HD)
        for b in going[:left]:
            t = size[b] / _dot(D[b], HD[b])
            for j in range(p):
                step[b, j] += t * D[b, j]
                rest[b, j] -= t * HD[b, j]
                HD[b, j] = scale[b, j] * rest[b, j]
            before, size[b] = size[b], _dot(rest[b], HD[b])
            for j in range(p):
                D[b, j] = HD[b, j] + size[b] / before * D[b, j]
    return False


def warm() -> None:
    """Compile for both precisions."""
    for dtype in (np.float64, np.float32):
        one = np.ones((1, 1), dtype)
        conjugate_gradients(one, one, one, 0.5 * one, one, 0.1, 1, one.copy(), one.copy())
