"""Dual coordinate descent for Crammer and Singer's machine (Keerthi et al. 2008), a row at a time.

With W = Σ cᵢ(e_y − pᵢ)xᵢᵀ the best p of one row, all others held, is the projection of p + (Wx + [k ≠ y])/(c‖x‖²) onto
the simplex. Rows are stored sparsely: ``begin``, ``column``, ``value`` as in SciPy's CSR.
"""

from __future__ import annotations

import numpy as np

from certifit.loops._jit import njit


@njit()
def project(v):
    """Move v to the nearest point of the simplex, in place (Michelot: cut what is below the level until nothing is)."""
    top = v[0]
    for k in range(1, len(v)):
        top = max(top, v[k])
    count, level = len(v) + 1, -np.inf
    while True:
        total, kept = 0.0, 0
        for k in range(len(v)):
            if v[k] - top > level:
                total += v[k] - top
                kept += 1
        if kept >= count or kept == 0:  # rounding may bring back what was cut: it would go on for ever
            break
        count, level = kept, (total - 1.0) / kept
    for k in range(len(v)):
        v[k] = max(v[k] - top - level, 0.0)


@njit()
def sweeps(begin, column, value, code, cost, square, order, passes, often, W, P):
    """Visit the rows ``passes`` times; W (d, K) and P (n, K) change in place.

    A row whose p has not moved by more than rounding is passed over until a multiple of ``often`` comes.
    """
    K = W.shape[1]
    v, quiet = np.empty(K), np.zeros(len(code), dtype=np.bool_)
    for turn in range(passes):
        for i in order:
            if cost[i] == 0.0 or square[i] == 0.0 or (quiet[i] and turn % often != 0):
                continue
            for k in range(K):
                v[k] = 0.0 if k == code[i] else 1.0
            for at in range(begin[i], begin[i + 1]):
                for k in range(K):
                    v[k] += value[at] * W[column[at], k]
            scale, moved = 1.0 / (cost[i] * square[i]), 0.0
            for k in range(K):
                v[k] = P[i, k] + scale * v[k]
            project(v)
            for k in range(K):
                v[k] -= P[i, k]
                moved = max(moved, abs(v[k]))
                P[i, k] += v[k]
            quiet[i] = moved <= 1e-15
            if moved > 0.0:
                for at in range(begin[i], begin[i + 1]):
                    for k in range(K):
                        W[column[at], k] -= cost[i] * v[k] * value[at]


def warm() -> None:
    """Compile for double precision."""
    begin, column, code = np.array([0, 1, 2], dtype=np.int32), np.zeros(2, dtype=np.int32), np.array([0, 1])
    P = np.eye(2)
    sweeps(begin, column, np.array([1.0, -1.0]), code, np.ones(2), np.ones(2), code, 2, 10, np.zeros((1, 2)), P)
