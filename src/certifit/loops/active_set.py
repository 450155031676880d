r"""The lasso on a Gram matrix by active sets: exact, with an inverse that is updated instead of factorised.

In the notation of `certifit.loops.coordinate`: q = Aᵀ(y − A w), strengths l1 and l2 per coordinate. On the
set S with given signs the solution is a linear system; a coefficient that would change its sign leaves S, a zero
coefficient with |q| > l1 enters. The inverse of H = G_SS + diag(l2_S) follows by updates of low
rank.
"""

from __future__ import annotations

import numpy as np

from certifit.loops._jit import njit
from certifit.loops._tiers import tiered

_DOT = {"reassoc", "contract"}
DONE, DEPENDENT, LIMIT, DRIFT = 0, 1, 2, 3
BATCH = 16  # columns that enter in one pass over the inverse


@njit(nogil=True, fastmath=_DOT)
def _times(inv, k, v, out):
    """out = inv v; rows of the (symmetric) inverse that meet a zero of v are never read when most of v is zero."""
    used = 0
    for i in range(k):
        used += v[i] != 0.0
    if 4 * used < k:
        for j in range(k):
            out[j] = 0.0
        for i in range(k):
            t = v[i]
            if t != 0.0:
                row = inv[i]
                for j in range(k):
                    out[j] += t * row[j]
        return
    for i in range(k):
        total = 0.0
        row = inv[i]
        for j in range(k):
            total += row[j] * v[j]
        out[i] = total


def _mirror(A):
    for i in range(1, len(A)):
        A[i, :i] = A[:i, i]


@tiered(lambda A: 1e-8 * A.size, _mirror)
@njit(nogil=True)
def mirror(A):
    """Copy the upper triangle to the lower one."""
    for i in range(len(A)):
        for j in range(i):
            A[i, j] = A[j, i]


@njit(nogil=True, fastmath=_DOT)
def _all_times(inv, k, columns, count, Z):
    """Z[c] = inv columns[c]: one pass over the inverse serves all columns."""
    for i in range(k):
        row = inv[i]
        for c in range(count):
            column = columns[c]
            total = 0.0
            for j in range(k):
                total += row[j] * column[j]
            Z[c, i] = total


@njit(nogil=True)
def _independent(schur, count, kept, L):
    """Cholesky of the Schur complement, leaving out what depends on earlier columns; how many are kept."""
    n = 0
    for c in range(count):
        for e in range(n):
            t = schur[c, kept[e]]
            for f in range(e):
                t -= L[n, f] * L[e, f]
            L[n, e] = t / L[e, e]
        left = schur[c, c]
        for f in range(n):
            left -= L[n, f] * L[n, f]
        if left > 1e-11 * schur[count, c]:
            L[n, n] = np.sqrt(left)
            kept[n] = c
            n += 1
    return n


@njit(nogil=True)
def enter(inv, k, columns, H, count, Z, V, kept):
    """Border the inverse of order k by up to ``count`` columns (rows H_jS of ``columns``; H their own block).

    Those that depend on the others are left out; ``kept`` lists the rest, whose number is returned.
    """
    _all_times(inv, k, columns, count, Z)
    schur, L = np.empty((count + 1, count)), np.zeros((count, count))
    for c in range(count):
        schur[count, c] = H[c, c]
        for e in range(count):
            t = H[c, e]
            for j in range(k):
                t -= columns[c, j] * Z[e, j]
            schur[c, e] = t
    n = _independent(schur, count, kept, L)
    inner = np.zeros((n, n))  # the inverse of the Schur complement, through that of L
    for e in range(n):
        x = np.zeros(n)
        x[e] = 1.0
        for i in range(n):
            for f in range(i):
                x[i] -= L[i, f] * x[f]
            x[i] /= L[i, i]
        for i in range(n - 1, -1, -1):
            for f in range(i + 1, n):
                x[i] -= L[f, i] * x[f]
            x[i] /= L[i, i]
        for i in range(n):
            inner[i, e] = x[i]
    for c in range(n):
        for i in range(k):
            t = 0.0
            for e in range(n):
                t += inner[c, e] * Z[kept[e], i]
            V[c, i] = t
    for i in range(k):
        row = inv[i]
        for c in range(n):
            t, z = V[c, i], Z[kept[c]]
            for j in range(k):
                row[j] += t * z[j]
            row[k + c] = -t
            inv[k + c, i] = -t
    for c in range(n):
        for e in range(n):
            inv[k + c, k + e] = inner[c, e]
    return n


@njit(nogil=True)
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


@njit(nogil=True)
def _copy(v, out, m):  # assigning a slice takes two seconds to compile, for its messages about shapes
    for j in range(m):
        out[j] = v[j]


@njit(nogil=True)
def _difference(v, u, m):
    out = np.empty(m)
    for j in range(m):
        out[j] = v[j] - u[j]
    return out


@njit(nogil=True)
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
            if p < 0:  # the whole step: no slope is left
                qs[j] = l1[j] * signs[j] + l2[j] * w[j]
            else:
                qs[j] -= t * (slope[i] - l2[j] * step[i])
        if p < 0:
            break
        w[S[p]] = 0.0
        signs[S[p]] = 0.0
        leave(inv, k, p, S)
        k -= 1
        changes += 1
    return k, changes


@njit(nogil=True, fastmath=_DOT)
def _correct(G, q, m, move, signs, inside):
    """q −= G move on the rows off the support (on it, if ``inside``)."""
    for i in range(m):
        if (signs[i] != 0.0) == inside:
            row = G[i]
            total = 0.0
            for j in range(m):
                total += row[j] * move[j]
            q[i] -= total


@njit(nogil=True)
def _update(G, q, w, m, l1, l2, S, k, signs, held):
    """Bring q up to date after w moved away from ``held``, by the cheaper of two ways.

    With a small support all rows are updated column by column. With a large one only the rows off the support are
    computed; on it the slopes are zero by construction (and checked at the end). True when all rows are exact.
    """
    if 2 * k <= m:
        for j in range(m):
            move = w[j] - held[j]
            if move != 0.0:
                row = G[j]
                for i in range(m):
                    q[i] -= row[i] * move
                held[j] = w[j]
        return True
    _correct(G, q, m, _difference(w, held, m), signs, False)
    for i in range(k):
        j = S[i]
        q[j] = l1[j] * signs[j] + l2[j] * w[j]
    _copy(w, held, m)
    return False


@njit(nogil=True)
def _off(q, w, l1, l2, S, k, signs):
    """The largest slope left on the support, in units of l1."""
    worst = 0.0
    for i in range(k):
        j = S[i]
        worst = max(worst, abs(q[j] - l1[j] * signs[j] - l2[j] * w[j]) / l1[j])
    return worst


@njit(nogil=True)
def _admit(G, q, m, l1, l2, positive, S, k, inv, signs, floor, tol, work):
    """Let in the coefficients at zero whose reach is above the floor, a batch at a time; the new order of S."""
    columns, Z, V, H, kept, batch = work
    count = 0
    for j in range(m + 1):
        if j < m and signs[j] == 0.0:
            reach = (q[j] if positive else abs(q[j])) / l1[j] - 1.0
            if reach >= floor and reach > tol:
                batch[count] = j
                count += 1
        if count == len(batch) or (j == m and count > 0):
            count = min(count, inv.shape[0] - k)
            for c in range(count):
                for i in range(k):
                    columns[c, i] = G[batch[c], S[i]]
                for e in range(count):
                    H[c, e] = G[batch[c], batch[e]]
                H[c, c] += l2[batch[c]]
            n = enter(inv, k, columns, H, count, Z, V, kept) if count > 0 else 0
            for c in range(n):
                j_in = batch[kept[c]]
                S[k] = j_in
                signs[j_in] = np.sign(q[j_in])
                k += 1
            count = 0
    return k


@tiered(lambda G, q, w, m, l1, l2, positive, S, k, inv, tol, limit: 1e-4 * m + 5e-6 * m * (k + 1))
@njit(nogil=True)
def active_set(G, q, w, m, l1, l2, positive, S, k, inv, tol, limit):
    """Solve to |q| ≤ l1(1 + tol) off the support; w, q, S and inv change in place.

    Returns the order of S, the number of changes, and how it ended: DONE, DEPENDENT (a column that should enter
    depends on the others), LIMIT, or DRIFT (the inverse has lost its digits: build it again).
    """
    signs, held, true_w, true_q = np.zeros(m), np.empty(m), np.empty(m), np.empty(m)
    qs, slope, step, before = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    _copy(w, held, m)
    _copy(w, true_w, m)
    _copy(q, true_q, m)
    _copy(q, qs, m)
    work = (
        np.empty((BATCH, m)), np.empty((BATCH, m)), np.empty((BATCH, m)), np.empty((BATCH, BATCH)),
        np.empty(BATCH, dtype=np.int64), np.empty(BATCH, dtype=np.int64),
    )  # fmt: skip
    for i in range(k):
        signs[S[i]] = np.sign(w[S[i]])
    changes, drift, single, status = 0, 0, False, LIMIT
    while changes < limit:
        _copy(w, before, m)
        k, more = _settle(q, w, l1, l2, positive, S, k, inv, signs, qs, slope, step, limit)
        changes += more
        moved = 0.0
        for j in range(m):
            moved = max(moved, abs(w[j] - before[j]))
        exact = _update(G, q, w, m, l1, l2, S, k, signs, held)
        if exact:
            _copy(w, true_w, m)
            _copy(q, true_q, m)
        worst = 0.0
        for j in range(m):
            if signs[j] == 0.0:
                worst = max(worst, (q[j] if positive else abs(q[j])) / l1[j] - 1.0)
        if worst <= tol and not exact:  # all seems done: now the slopes on the support, from where all was exact
            _correct(G, true_q, m, _difference(w, true_w, m), signs, True)
            for i in range(k):
                q[S[i]] = true_q[S[i]]
            _copy(w, true_w, m)
            _copy(q, true_q, m)
            exact = True
        _copy(q, qs, m)
        if exact and _off(q, w, l1, l2, S, k, signs) > 0.1 * tol:  # once more with the true slopes: refinement
            drift += 1
            if drift > 8 or not _off(q, w, l1, l2, S, k, signs) < 1e3:
                status = DRIFT
                break
            continue
        drift = 0
        if worst <= tol:
            status = DONE
            break
        size = k
        k = _admit(G, q, m, l1, l2, positive, S, k, inv, signs, worst * (0.999999 if single else 0.3), tol, work)
        changes += k - size
        if k == size:
            status = DEPENDENT
            break
        single = moved == 0.0  # nothing moved since: let only the most violating one in
    return k, changes, status


def warm() -> None:
    """Compile."""
    mirror(np.eye(2))
    A = np.array([[1.0, 0.5], [0.0, 1.0], [2.0, 1.0]])
    G = np.ascontiguousarray(A.T @ A)
    q, w = A.T @ np.array([1.0, 2.0, 3.0]), np.zeros(2)
    active_set(
        G, q, w, 2, np.full(2, 0.1), np.zeros(2), False, np.zeros(2, dtype=np.int64), 0, np.zeros((2, 2)), 1e-9, 9
    )
