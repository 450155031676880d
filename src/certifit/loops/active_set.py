r"""The lasso on a Gram matrix by active sets: exact, with an inverse that is updated instead of factorised.

In the notation of `certifit.loops.coordinate`: q = Aᵀ(y − A w), strengths l1 and l2 per coordinate. On the
set S with given signs the solution is a linear system; a coefficient that would change its sign leaves S, a zero
coefficient with |q| > l1 enters. The inverse of H = G_SS + diag(l2_S) follows by one rank-one update per change.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_DOT = {"reassoc", "contract"}
DONE, DEPENDENT, LIMIT, DRIFT = 0, 1, 2, 3


@njit(cache=True, fastmath=_DOT)
def _times(inv, k, v, out):
    for i in range(k):
        total = 0.0
        row = inv[i]
        for j in range(k):
            total += row[j] * v[j]
        out[i] = total


@njit(cache=True)
def enter(inv, k, column, diagonal, z):
    """Border the inverse of order k by a new column (H_Sj) and H_jj; False when they depend on the others."""
    _times(inv, k, column, z)
    left = diagonal
    for i in range(k):
        left -= column[i] * z[i]
    if not left > 1e-11 * diagonal:
        return False
    for i in range(k):
        t = z[i] / left
        row = inv[i]
        for j in range(k):
            row[j] += t * z[j]
        row[k] = -t
    for j in range(k):
        inv[k, j] = -z[j] / left
    inv[k, k] = 1.0 / left
    return True


@njit(cache=True)
def leave(inv, k, p, S):
    """Take position p out of the inverse of order k (the last position moves there)."""
    last = k - 1
    if p != last:
        for j in range(k):
            inv[p, j], inv[last, j] = inv[last, j], inv[p, j]
        for i in range(k):
            inv[i, p], inv[i, last] = inv[i, last], inv[i, p]
        S[p], S[last] = S[last], S[p]
    pivot = inv[last, last]
    for i in range(last):
        t = inv[i, last] / pivot
        row, end = inv[i], inv[last]
        for j in range(last):
            row[j] -= t * end[j]


@njit(cache=True)
def _settle(q, w, l1, l2, positive, S, k, inv, signs, qs, slope, step, budget):
    """Newton on S until no sign changes; returns the new order of S and the changes made."""
    changes = 0
    while k > 0 and changes < budget:
        for i in range(k):
            j = S[i]
            slope[i] = qs[j] - l1[j] * signs[j] - l2[j] * w[j]
        _times(inv, k, slope, step)
        t, p = 1.0, -1
        for i in range(k):
            j = S[i]
            if (w[j] + step[i]) * signs[j] < 0.0:
                at = -w[j] / step[i]
                if at < t or p < 0:
                    t, p = max(at, 0.0), i
        for i in range(k):
            j = S[i]
            w[j] += t * step[i]
            qs[j] -= t * (slope[i] - l2[j] * step[i])
        if p < 0:
            break
        w[S[p]] = 0.0
        signs[S[p]] = 0.0
        leave(inv, k, p, S)
        k -= 1
        changes += 1
    return k, changes


@njit(cache=True)
def active_set(G, q, w, m, l1, l2, positive, S, k, inv, tol, limit):
    """Solve to |q| ≤ l1(1 + tol) off the support; w, q, S and inv change in place.

    Returns the order of S, the number of changes, and how it ended: DONE, DEPENDENT (a column that should enter
    depends on the others), LIMIT, or DRIFT (the inverse has lost its digits: build it again).
    """
    signs, held = np.zeros(m), w[:m].copy()
    qs, slope, step, column = q[:m].copy(), np.empty(m), np.empty(m), np.empty(m)
    z = np.empty(m)
    for i in range(k):
        signs[S[i]] = np.sign(w[S[i]])
    changes, drift, single, status = 0, 0, False, LIMIT
    while changes < limit:
        k, more = _settle(q, w, l1, l2, positive, S, k, inv, signs, qs, slope, step, limit)
        changes += more
        moved = 0.0
        for j in range(m):
            move = w[j] - held[j]
            if move != 0.0:
                moved = max(moved, abs(move))
                for i in range(m):
                    q[i] -= G[j, i] * move
                held[j] = w[j]
        off = 0.0
        for i in range(k):
            j = S[i]
            size = abs(q[j] - l1[j] * signs[j] - l2[j] * w[j]) / l1[j]
            off = max(off, size)
        for j in range(m):
            qs[j] = q[j]
        if off > 0.1 * tol:  # once more with the true slopes: refinement
            drift += 1
            if drift > 8 or not off < 1e3:
                status = DRIFT
                break
            continue
        drift = 0
        worst = 0.0
        for j in range(m):
            if signs[j] == 0.0:
                reach = (q[j] if positive else abs(q[j])) / l1[j] - 1.0
                worst = max(worst, reach)
        if worst <= tol:
            status = DONE
            break
        floor = worst * (0.999999 if single else 0.3)
        entered, barred = 0, 0
        for j in range(m):
            if signs[j] != 0.0:
                continue
            reach = (q[j] if positive else abs(q[j])) / l1[j] - 1.0
            if reach < floor or reach <= tol or k >= inv.shape[0]:
                continue
            for i in range(k):
                column[i] = G[j, S[i]]
            if not enter(inv, k, column, G[j, j] + l2[j], z):
                barred += 1
                continue
            S[k] = j
            signs[j] = np.sign(q[j])
            k += 1
            entered += 1
        changes += entered
        if entered == 0:
            status = DEPENDENT
            break
        single = moved == 0.0  # nothing moved since: let only the most violating one in
    return k, changes, status


def warm() -> None:
    """Compile."""
    A = np.array([[1.0, 0.5], [0.0, 1.0], [2.0, 1.0]])
    G = np.ascontiguousarray(A.T @ A)
    q, w = A.T @ np.array([1.0, 2.0, 3.0]), np.zeros(2)
    active_set(
        G, q, w, 2, np.full(2, 0.1), np.zeros(2), False, np.zeros(2, dtype=np.int64), 0, np.zeros((2, 2)), 1e-9, 9
    )
