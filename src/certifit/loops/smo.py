"""Inner loops of sequential minimal optimisation.

The problem, for β = y∘α: minimise ½ βᵀKβ − yᵀβ  subject to  Σβ = 0, lo ≤ β ≤ hi, with F = Kβ − y its gradient.
A pair (i, j) moves mass t from j to i: i may rise (βᵢ < hiᵢ), j may fall (βⱼ > loⱼ), and the move helps as long
as Fᵢ < Fⱼ. Optimal when no pair helps: max over fallers of F ≤ min over risers of F; −b lies between the two.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_TINY = 1e-12


@njit(cache=True, fastmath={"reassoc", "contract"})
def solve_block(K, F, beta, lo, hi, eps, max_steps):
    """Pair steps on one block with second-order choice of j; β and F change in place.

    Returns the number of steps and the violation max F(fallers) − min F(risers) at the start.
    """
    q = len(F)
    first = 0.0
    diag = np.empty(q)
    for k in range(q):
        diag[k] = K[k, k]
    for step in range(max_steps):
        i, top = -1, -np.inf
        for k in range(q):
            if beta[k] < hi[k] and -F[k] > top:
                top = -F[k]
                i = k
        if i < 0:
            return step, first
        # Second order: of all fallers the one whose pair step lowers the objective most.
        row, base, diag_i = K[i], -top, diag[i]
        j, best, worst = -1, 0.0, -np.inf
        for k in range(q):
            if beta[k] > lo[k]:
                gain = F[k] - base
                worst = max(worst, gain)
                if gain > 0.0:
                    eta = max(diag_i + diag[k] - 2.0 * row[k], _TINY)
                    score = gain * gain / eta
                    if score > best:
                        best = score
                        j = k
        if step == 0:
            first = worst
        if worst <= eps or j < 0:
            return step, first
        eta = max(diag_i + diag[j] - 2.0 * row[j], _TINY)
        t = min((F[j] - F[i]) / eta, hi[i] - beta[i], beta[j] - lo[j])
        # Land exactly on a bound that is reached: whether a variable is free is decided by equality.
        if t == hi[i] - beta[i]:
            beta[i] = hi[i]
        else:
            beta[i] += t
        if t == beta[j] - lo[j]:
            beta[j] = lo[j]
        else:
            beta[j] -= t
        other = K[j]
        for k in range(q):
            F[k] += t * (row[k] - other[k])
    return max_steps, first


@njit(cache=True)
def violation(F, beta, lo, hi):
    """Smallest F among those that may rise, largest among those that may fall."""
    low, high = np.inf, -np.inf
    for k in range(len(F)):
        if beta[k] < hi[k] and F[k] < low:
            low = F[k]
        if beta[k] > lo[k] and F[k] > high:
            high = F[k]
    return low, high


@njit(cache=True)
def gap_at(F, beta, lo, hi, b):
    """Duality gap Σ costᵢ max(0, −yᵢ(Fᵢ + b)) + βᵢ(Fᵢ + b), and its slopes to the left and right in b."""
    total, left, right = 0.0, 0.0, 0.0
    for k in range(len(F)):
        r = F[k] + b
        end = hi[k] if r < 0.0 else lo[k]  # the end of [lo, hi] that a subgradient of the loss asks for
        total += (beta[k] - end) * r
        left += beta[k] - (hi[k] if r <= 0.0 else lo[k])
        right += beta[k] - (hi[k] if r < 0.0 else lo[k])
    return total, left, right


def warm() -> None:
    """Compile for both widths of kernel blocks."""
    F, beta, lo, hi = -np.ones(2), np.zeros(2), np.array([0.0, -1.0]), np.array([1.0, 0.0])
    F[1] = 1.0
    for dtype in (np.float32, np.float64):
        solve_block(np.eye(2, dtype=dtype), F.copy(), beta.copy(), lo, hi, 1e-3, 10)
    violation(F, beta, lo, hi)
    gap_at(F, beta, lo, hi, 0.0)
