"""Brute force for the euclidean distance: sift blocks of a matrix product, settle the few that remain
directly.

With centred and scaled rows x̂ and queries q̂, rounded to the working precision (unit u), the product gives
‖x̂‖² − 2x̂·q̂, which orders the rows like the distance but has lost digits to cancellation. What is proved
(`certifit.nearest._brute` has the constants): the true squared distance minus ‖q̂‖² lies between
lo − e_q/2 and lo + e_x + e_q/2, where lo = fl(n_x − g), g = fl(2x̂·q̂), n_x = ‖x̂‖²(1 − ε), e_x and e_q of
order ε‖x̂‖² and ε‖q̂‖². A row whose lo exceeds the k-th smallest lo + e_x + e_q is certainly not among the
nearest k. All others are *candidates*: their distances are computed from differences of the data as given,
in double precision, summed in the order of the features (the convention of `neighbors_tree`), and ordered by
(distance, row number).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from certifit._types import Array, Matrix
from certifit.loops._jit import njit
from certifit.loops._tiers import tiered

_UNCOUNTED: dict[str, Any] = {"_nrt": False}
_jit: Any = njit(nogil=True)
# No allocation, no slices, no reference counts: see neighbors_tree.
_inner: Any = njit(nogil=True, **_UNCOUNTED)
_counting: Any = njit(nogil=True, **_UNCOUNTED, fastmath={"reassoc"})

_COARSE, _FINE = 128, 16  # entries looked at together: first many, then few, then one by one


@_inner
def _push(heap: Array, i: int, value: float) -> None:
    """Replace the largest of row i's heap by a smaller value."""
    k = heap.shape[1]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= k:
            break
        if child + 1 < k and heap[i, child + 1] > heap[i, child]:
            child += 1
        if heap[i, child] <= value:
            break
        heap[i, at] = heap[i, child]
        at = child
    heap[i, at] = value


@_counting
def _any_within(norms: Array, first_x: int, G: Array, i: int, start: int, end: int, top: float) -> bool:
    """Whether any of these entries is a candidate.

    Counted in single precision (exact: there are few), without branches and without signed indices (which
    might count from the end): this way it vectorises, and takes a ninth of the plain loop's time.
    """
    count = np.float32(0.0)
    first, row = np.uint64(first_x), np.uint64(i)
    for j in range(np.uint64(start), np.uint64(end)):
        count += np.float32(1.0) if norms[first + j] - G[row, j] <= top else np.float32(0.0)
    return bool(count > 0)


@_inner
def _first_limit(
    norms: Array, first_x: int, G: Array, i: int, n_x: int, slack: float, lanes: Array, heap: Array
) -> float:
    """A bound on the k-th smallest upper value from the least of every lane of columns: k lanes hold k
    rows.
    """
    width = np.uint64(len(lanes))
    first, row = np.uint64(first_x), np.uint64(i)
    for c in range(width):
        lanes[c] = np.inf
    for s in range(np.uint64(0), np.uint64(n_x) - width + np.uint64(1), width):
        for c in range(width):
            low = norms[first + s + c] - G[row, s + c]
            lanes[c] = low if low < lanes[c] else lanes[c]
    for c in range(len(lanes)):
        if lanes[c] < heap[i, 0]:
            _push(heap, i, lanes[c])
    top = heap[i, 0]
    for j in range(heap.shape[1]):
        heap[i, j] = np.inf
    return top + slack


@_inner
def _offer(values: Array, found: Array, at: int, v: float, row: int) -> None:
    """Insert into the sorted list of query ``at`` if it belongs there."""
    k = values.shape[1]
    if v < values[at, k - 1] or (v == values[at, k - 1] and row < found[at, k - 1]):
        j = k - 1
        while j > 0 and (values[at, j - 1] > v or (values[at, j - 1] == v and found[at, j - 1] > row)):
            values[at, j], found[at, j] = values[at, j - 1], found[at, j - 1]
            j -= 1
        values[at, j], found[at, j] = v, row


@_inner
def _settle(
    Q: Array, at: int, X: Array, w: Array, rows: Array, i: int, count: int, values: Array, found: Array,
) -> None:  # fmt: skip
    """The nearest of row i's candidates by direct differences, sorted into values[at], found[at].

    Four rows at a time: each sum keeps its order, and the processor need not wait for one before the next.
    """
    for j in range(values.shape[1]):
        values[at, j], found[at, j] = np.inf, len(X)
    for t in range(0, count, 4):
        last = count - 1
        r0, r1, r2, r3 = (
            rows[i, t],
            rows[i, min(t + 1, last)],
            rows[i, min(t + 2, last)],
            rows[i, min(t + 3, last)],
        )
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for c in range(Q.shape[1]):
            x, v = Q[at, c], w[c]
            a0, a1, a2, a3 = X[r0, c] - x, X[r1, c] - x, X[r2, c] - x, X[r3, c] - x
            s0 += v * (a0 * a0)
            s1 += v * (a1 * a1)
            s2 += v * (a2 * a2)
            s3 += v * (a3 * a3)
        _offer(values, found, at, s0, r0)
        if t + 1 < count:
            _offer(values, found, at, s1, r1)
        if t + 2 < count:
            _offer(values, found, at, s2, r2)
        if t + 3 < count:
            _offer(values, found, at, s3, r3)


@_inner
def _thin(
    Q: Array, at: int, X: Array, w: Array, rows: Array, lows: Array, i: int, count: int, limit: Array, heap: Array,
    shift: float, scale: float, slack: float, spent: Array, values: Array, found: Array,
) -> int:  # fmt: skip
    """Make room among row i's candidates: drop what the limit excludes, else keep only the k that are
    nearest.
    """
    kept = 0
    for t in range(count):
        if lows[i, t] <= limit[i]:
            rows[i, kept], lows[i, kept] = rows[i, t], lows[i, t]
            kept += 1
    k = heap.shape[1]
    if 2 * kept > rows.shape[1]:  # a crowd closer together than the product can tell
        _settle(Q, at, X, w, rows, i, kept, values, found)
        spent[i] += kept
        kept = 0
        for j in range(k):
            if found[at, j] < len(X):
                rows[i, kept] = found[at, j]
                kept += 1
        if kept == k:
            top = scale * values[at, k - 1] - shift
            top += slack * (abs(top) + shift)
            for j in range(k):
                heap[i, j] = min(heap[i, j], top)
            limit[i] = min(limit[i], top)
            for t in range(k):
                lows[i, t] = -np.inf
    return kept


@_inner
def _admit(
    G: Array, i: int, start: int, end: int, at: int, first_x: int, norms: Array, e_x: Array, error: float, shift:
    float, scale: float, slack: float, Q: Matrix, X: Matrix, w: Array, group: int, group_x: Array, heap: Array, limit:
    Array, rows: Array, lows: Array, counts: Array, spent: Array, values: Array, found: Array,
) -> None:  # fmt: skip
    """Take in the candidates among columns start..end of row i."""
    capacity = rows.shape[1]
    for j in range(start, end):
        low = norms[first_x + j] - G[i, j]
        if low <= limit[i] and not (group >= 0 and group_x[first_x + j] == group):
            if counts[i] == capacity:
                counts[i] = _thin(
                    Q, at, X, w, rows, lows, i, capacity, limit, heap, shift, scale, slack,
                    spent, values, found,
                )  # fmt: skip
            rows[i, counts[i]], lows[i, counts[i]] = first_x + j, low
            counts[i] += 1
            high = low + e_x[first_x + j] + error
            if high < heap[i, 0]:
                _push(heap, i, high)
                limit[i] = min(limit[i], heap[i, 0])


@_inner
def sift(
    G: Array, n_q: int, n_x: int, first_q: int, first_x: int, norms: Array, e_x: Array, e_q: Array, shift: Array,
    scale: float, slack: float, most: float, lanes: Array, Q: Matrix, X: Matrix, w: Array, group_q: Array, group_x:
    Array, heap: Array, limit: Array, rows: Array, lows: Array, counts: Array, spent: Array, values: Array, found:
    Array,
) -> None:  # fmt: skip
    """Take in one block G of 2x̂·q̂ (queries × rows); state per query: heap, limit, candidates and their
    number.

    ``most`` is the largest of e_x; ``lanes`` is room for the first guess at the limit; ``spent``
    counts the rows settled on the way.
    """
    for i in range(n_q):
        at = first_q + i
        group = group_q[at] if len(group_q) > 0 else -1
        if first_x == 0 and group < 0 and heap.shape[1] <= len(lanes) <= n_x:
            limit[i] = _first_limit(norms, 0, G, i, n_x, most + e_q[at], lanes, heap)
        for s in range(0, n_x, _COARSE):
            stop = min(s + _COARSE, n_x)
            if _any_within(norms, first_x, G, i, s, stop, limit[i]):
                for t in range(s, stop, _FINE):
                    end = min(t + _FINE, n_x)
                    if _any_within(norms, first_x, G, i, t, end, limit[i]):
                        _admit(
                            G, i, t, end, at, first_x, norms, e_x, e_q[at], shift[at], scale, slack, Q, X, w,
                            group, group_x, heap, limit, rows, lows, counts, spent, values, found,
                        )  # fmt: skip


@_inner
def keep(n_q: int, limit: Array, rows: Array, lows: Array, counts: Array) -> int:
    """Drop every query's candidates beyond its limit; returns how many are left in all."""
    total = 0
    for i in range(n_q):
        kept = 0
        for t in range(counts[i]):
            if lows[i, t] <= limit[i]:
                rows[i, kept] = rows[i, t]
                kept += 1
        counts[i] = kept
        total += kept
    return total


@tiered(lambda Q, first_q, X, w, rows, counts, values, found: 5e-7 * Q.shape[1] * max(0, counts.sum()))
@_inner
def settle(
    Q: Matrix, first_q: int, X: Matrix, w: Array, rows: Array, counts: Array, values: Array, found: Array
) -> None:
    """The nearest of every query's candidates into rows first_q.. of ``values`` and ``found``."""
    for i in range(len(counts)):
        _settle(Q, first_q + i, X, w, rows, i, counts[i], values, found)


@_inner
def pick(D: Array, first_q: int, group_q: Array, group_x: Array, values: Array, found: Array) -> None:
    """The smallest entries of each row of D, by (value, column), into rows first_q.. of ``values`` and
    ``found``.
    """
    k = values.shape[1]
    for i in range(D.shape[0]):
        at = first_q + i
        group = group_q[at] if len(group_q) > 0 else -1
        for j in range(k):
            values[at, j], found[at, j] = np.inf, D.shape[1]
        for col in range(D.shape[1]):
            v = D[i, col]
            if v < values[at, k - 1] or (v == values[at, k - 1] and col < found[at, k - 1]):
                if group >= 0 and group_x[col] == group:
                    continue
                j = k - 1
                while j > 0 and values[at, j - 1] > v:
                    values[at, j], found[at, j] = values[at, j - 1], found[at, j - 1]
                    j -= 1
                values[at, j], found[at, j] = v, col


def warm() -> None:
    """Call every loop once, so that it is compiled and cached."""
    X, w, none = np.array([[0.0], [1.0], [2.0]]), np.ones(1), np.empty(0, np.int64)
    values, found = np.empty((3, 2)), np.empty((3, 2), np.int64)
    for real in (np.float32, np.float64):
        small = np.zeros(3, real)
        heap, limit = np.full((3, 2), np.inf, real), np.full(3, np.inf, real)
        rows, lows, counts = np.empty((3, 4), np.int32), np.empty((3, 4), real), np.zeros(3, np.int64)
        sift(
            np.zeros((3, 3), real), 3, 3, 0, 0, small, small, small, np.zeros(3), 1.0, 1e-3, real(0), small,
            X, X, w, none, none, heap, limit, rows, lows, counts, counts.copy(), values, found,
        )  # fmt: skip
        keep(3, limit, rows, lows, counts)
        settle(X, 0, X, w, rows, counts, values, found)
    pick(X, 0, none, none, values, found)
