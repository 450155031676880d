"""Loops of k-means: assignment with bounds, sums per cluster, single-row moves, and intervals of sorted rows.

Bounds (Hamerly 2010): ``upper[i]`` is at least the distance of row i to its own centre and ``lower[i]`` at most that to
any other. When centres move, the one grows and the other shrinks by how far; while upper < lower the row stays without
a distance being computed. A margin of 1e-12 covers rounding, so the answer is that of the plain algorithm. Ties go to
the lower index. Centres are also passed transposed (d, k): sums then run over centres side by side.
"""

from __future__ import annotations

import numpy as np

from certifit.loops._jit import njit
from certifit.loops._tiers import tiered

_MARGIN = 1e-12
_DOT = {"reassoc", "contract"}


@njit(nogil=True, fastmath=_DOT)
def _distance(X, i, C, c):
    total = 0.0
    for j in range(X.shape[1]):
        gap = X[i, j] - C[c, j]
        total += gap * gap
    return np.sqrt(total)


@njit(nogil=True, fastmath={"contract"})
def _distances(X, i, T, out):
    """Squared distances of row i to all centres; T (d, k) holds the centres as columns."""
    for c in range(T.shape[1]):
        out[c] = 0.0
    for j in range(T.shape[0]):
        x = X[i, j]
        for c in range(T.shape[1]):
            gap = x - T[j, c]
            out[c] += gap * gap


@njit(nogil=True)
def _two_nearest(out):
    best, first, second = 0, out[0], np.inf
    for c in range(1, out.shape[0]):
        if out[c] < first:
            second, first, best = first, out[c], c
        elif out[c] < second:
            second = out[c]
    return best, first, second


@tiered(lambda X, T, first, last, labels, upper, lower: 3e-7 * (last - first) * T.size)
@njit(nogil=True)
def assign(X, T, first, last, labels, upper, lower):
    """Nearest centre of rows first..last, with fresh bounds; how many labels changed."""
    out = np.empty(T.shape[1])
    changed = 0
    for i in range(first, last):
        _distances(X, i, T, out)
        c, one, two = _two_nearest(out)
        changed += labels[i] != c
        labels[i] = c
        upper[i] = np.sqrt(one)
        lower[i] = np.sqrt(two)
    return changed


@tiered(lambda X, C, T, drift, half, first, last, labels, upper, lower: 1e-7 * (last - first) * (T.size + 20))
@njit(nogil=True)
def reassign(X, C, T, drift, half, first, last, labels, upper, lower):
    """The same after centres moved by ``drift``; ``half`` is half the distance to the nearest other centre."""
    most, next_most, which = 0.0, 0.0, -1
    for c in range(drift.shape[0]):
        if drift[c] > most:
            next_most, most, which = most, drift[c], c
        elif drift[c] > next_most:
            next_most = drift[c]
    out = np.empty(T.shape[1])
    changed = 0
    for i in range(first, last):
        c = labels[i]
        u = (upper[i] + drift[c]) * (1.0 + _MARGIN)
        low = (lower[i] - (next_most if c == which else most)) * (1.0 - _MARGIN)
        m = max(low, half[c])
        if u < m:
            upper[i], lower[i] = u, low
            continue
        u = _distance(X, i, C, c) * (1.0 + _MARGIN)
        if u < m:
            upper[i], lower[i] = u, low
            continue
        _distances(X, i, T, out)
        best, one, two = _two_nearest(out)
        changed += best != c
        labels[i] = best
        upper[i] = np.sqrt(one)
        lower[i] = np.sqrt(two)
    return changed


@tiered(lambda X, weights, labels, first, last, sums, total: 4e-7 * (last - first) * X.shape[1])
@njit(nogil=True)
def cluster_sums(X, weights, labels, first, last, sums, total):
    """Add rows first..last, weighted, to the sums (k, d) and weights (k,) of their clusters."""
    for i in range(first, last):
        c = labels[i]
        w = weights[i]
        total[c] += w
        for j in range(X.shape[1]):
            sums[c, j] += w * X[i, j]


@tiered(lambda X, weights, before, labels, sums, total: 2e-7 * X.shape[0] + 4e-7 * X.size)
@njit(nogil=True)
def change_sums(X, weights, before, labels, sums, total):
    """Take rows whose label changed from the sums and weights of their old cluster to those of the new one."""
    for i in range(X.shape[0]):
        a, b = before[i], labels[i]
        if a != b:
            w = weights[i]
            total[a] -= w
            total[b] += w
            for j in range(X.shape[1]):
                x = w * X[i, j]
                sums[a, j] -= x
                sums[b, j] += x
            before[i] = b


@tiered(lambda X, C, labels, first, last, out: 4e-7 * (last - first) * X.shape[1])
@njit(nogil=True, fastmath=_DOT)
def own_distances(X, C, labels, first, last, out):
    """Squared distance of rows first..last to the centres of their labels."""
    for i in range(first, last):
        c = labels[i]
        total = 0.0
        for j in range(X.shape[1]):
            gap = X[i, j] - C[c, j]
            total += gap * gap
        out[i] = total


@njit(nogil=True)
def _move(X, i, s, a, b, C, T, total, drift):
    """Row i goes from cluster a to b: both means and weights follow."""
    out_of, into = total[a] - s, total[b] + s
    gone, come = 0.0, 0.0
    for j in range(C.shape[1]):
        step = (C[a, j] - X[i, j]) * (s / out_of)
        C[a, j] += step
        gone += step * step
        step = (X[i, j] - C[b, j]) * (s / into)
        C[b, j] += step
        come += step * step
        T[j, a] = C[a, j]
        T[j, b] = C[b, j]
    total[a], total[b] = out_of, into
    drift[a] += np.sqrt(gone)
    drift[b] += np.sqrt(come)


@njit(nogil=True)
def _least(v):  # NumPy's method takes a second to compile
    least = np.inf
    for c in range(len(v)):
        least = min(least, v[c])
    return least


@tiered(lambda X, weights, labels, C, T, total, count, upper, lower: 2e-7 * len(X) * (T.size + 20))
@njit(nogil=True)
def move_rows(X, weights, labels, C, T, total, count, upper, lower):
    """One pass of Hartigan and Wong's moves over all rows; how many moved.

    ``count`` (k,) counts rows with weight; the only one of a cluster stays. Bounds hold for the centres at the start
    of the pass; within it, centres have moved by at most ``drift``.
    """
    n, k = X.shape[0], C.shape[0]
    out, drift = np.empty(k), np.zeros(k)
    moved, furthest, least = 0, 0.0, _least(total)
    for i in range(n):
        s, a = weights[i], labels[i]
        if s <= 0.0 or count[a] < 2 or total[a] <= s:  # beside its weight the others' vanish
            continue
        u, low = (upper[i] + drift[a]) * (1.0 + _MARGIN), (lower[i] - furthest) * (1.0 - _MARGIN)
        leave = total[a] / (total[a] - s)
        if low > 0.0 and leave * u * u < least / (least + s) * low * low:
            continue
        _distances(X, i, T, out)
        gain, best, two = 0.0, -1, np.inf
        for b in range(k):
            if b != a:
                two = min(two, out[b])
                better = leave * out[a] - total[b] / (total[b] + s) * out[b]
                if better > gain:
                    gain, best = better, b
        if best >= 0 and gain > 1e-12 * leave * out[a]:
            _move(X, i, s, a, best, C, T, total, drift)
            labels[i] = best
            count[a] -= 1
            count[best] += 1
            moved += 1
            furthest = max(furthest, max(drift[a], drift[best]))
            least = _least(total)
            upper[i], lower[i] = np.inf, 0.0  # looked at again in the next pass
        else:
            # As of the start of the pass: what has happened since is added again at its end.
            upper[i] = np.sqrt(out[a]) * (1.0 + _MARGIN)
            lower[i] = np.sqrt(two) * (1.0 - _MARGIN)
    for i in range(n):
        upper[i] += drift[labels[i]]
        lower[i] -= furthest
    return moved


# -- one dimension ------------------------------------------------------------------------------------
@njit(nogil=True)
def _cost(W, L, Q, i, j):
    """Σ s(t − mean)² of sorted rows i..j − 1, from running sums."""
    w = W[j] - W[i]
    if w <= 0.0:
        return 0.0
    m = L[j] - L[i]
    return max(Q[j] - Q[i] - m * m / w, 0.0)


@njit(nogil=True)
def _layer(W, L, Q, before, after, cut, lo, hi):
    """after[j] = min over i ≤ j of before[i] + cost(i, j): where the minimum is grows with j, so halve and halve."""
    stack = np.empty((64, 4), dtype=np.int64)
    stack[0] = np.array([lo, hi, 0, hi])
    top = 1
    while top > 0:
        top -= 1
        left, right, first, last = stack[top]
        if left > right:
            continue
        j = (left + right) // 2
        best, where = np.inf, first
        for i in range(first, min(last, j) + 1):
            value = before[i] + _cost(W, L, Q, i, j)
            if value < best:
                best, where = value, i
        after[j] = best
        cut[j] = where
        stack[top] = np.array([left, j - 1, first, where])
        stack[top + 1] = np.array([j + 1, right, where, last])
        top += 2


@tiered(lambda W, L, Q, k: 3e-6 * k * len(W) * np.log2(len(W) + 1))
@njit(nogil=True)
def intervals(W, L, Q, k):
    """Borders (k + 1,) of the best partition of sorted rows into k intervals, and the best costs for 1..k."""
    n = W.shape[0] - 1
    cuts = np.zeros((k, n + 1), dtype=np.int32)
    best = np.empty(k)
    before, after = np.full(n + 1, np.inf), np.empty(n + 1)
    before[0] = 0.0
    for part in range(k):
        _layer(W, L, Q, before, after, cuts[part], 0, n)
        before, after = after, before
        best[part] = before[n]
    borders = np.empty(k + 1, dtype=np.int64)
    borders[k] = n
    for part in range(k - 1, -1, -1):
        borders[part] = cuts[part, borders[part + 1]]
    return borders, best


@tiered(lambda W, L, Q, price: 5e-7 * len(W) ** 2)
@njit(nogil=True)
def potentials(W, L, Q, price):
    """πⱼ = min over i < j of πᵢ + cost(i, j) + price, π₀ = 0: lengths of shortest paths."""
    n = W.shape[0] - 1
    pi = np.empty(n + 1)
    pi[0] = 0.0
    for j in range(1, n + 1):
        best = np.inf
        for i in range(j - 1, -1, -1):
            cost = _cost(W, L, Q, i, j)
            best = min(best, pi[i] + cost + price)
        pi[j] = best
    return pi


def warm() -> None:
    """Compile for float64."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 5.0], [5.0, 6.0]])
    C = X[[0, 2]].copy()
    T, labels = np.ascontiguousarray(C.T), np.zeros(4, dtype=np.int32)
    upper, lower, ones, out = np.empty(4), np.empty(4), np.ones(4), np.empty(4)
    assign(X, T, 0, 4, labels, upper, lower)
    reassign(X, C, T, np.zeros(2), np.zeros(2), 0, 4, labels, upper, lower)
    sums, total = np.zeros((2, 2)), np.zeros(2)
    cluster_sums(X, ones, labels, 0, 4, sums, total)
    change_sums(X, ones, labels.copy(), labels, sums, total)
    own_distances(X, C, labels, 0, 4, out)
    move_rows(X, ones, labels, C, T, total, np.array([2, 2]), upper, lower)
    run = np.arange(5.0)
    intervals(run, run, run, 2)
    potentials(run, run, run, 1.0)
