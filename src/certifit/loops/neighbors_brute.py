"""Brute force for the euclidean distance: sift blocks of a matrix product, settle the few that remain directly.

With centred and scaled rows x̂ and queries q̂, rounded to the working precision (unit u), the product gives
‖x̂‖² − 2x̂·q̂, which orders the rows like the distance but has lost digits to cancellation. What is proved
(`certifit.neighbors._brute` has the constants): the true squared distance minus ‖q̂‖² lies between
lo − e_q/2 and lo + e_x + e_q/2, where lo = fl(n_x − g), g = fl(2x̂·q̂), n_x = ‖x̂‖²(1 − ε), e_x and e_q of order
ε‖x̂‖² and ε‖q̂‖². A row whose lo exceeds the k-th smallest lo + e_x + e_q is certainly not among the nearest k.
All others are *candidates*: their distances are computed from differences of the data as given, in double
precision, summed in the order of the features (the convention of `neighbors_tree`), and ordered by
(distance, row number).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

_jit = njit(cache=True, nogil=True)
# No allocation, no slices, no reference counts: see neighbors_tree.
_inner = njit(cache=True, nogil=True, _nrt=False)

_STRIDE = 64


@_inner
def _push(heap: Any, i: int, value: float) -> None:
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


@_inner
def _direct(Q: Any, at: int, X: Any, row: int, w: Any) -> float:
    total = 0.0
    for c in range(Q.shape[1]):
        gap = X[row, c] - Q[at, c]
        total += w[c] * (gap * gap)
    return total


@_inner
def _settle(
    Q: Any, at: int, X: Any, w: Any, rows: Any, i: int, count: int, values: Any, found: Any,
) -> None:  # fmt: skip
    """The nearest of row i's candidates by direct differences, sorted into values[at], found[at]."""
    k = values.shape[1]
    for j in range(k):
        values[at, j], found[at, j] = np.inf, len(X)
    for t in range(count):
        row = rows[i, t]
        v = _direct(Q, at, X, row, w)
        if v > values[at, k - 1] or (v == values[at, k - 1] and row > found[at, k - 1]):
            continue
        j = k - 1
        while j > 0 and (values[at, j - 1] > v or (values[at, j - 1] == v and found[at, j - 1] > row)):
            values[at, j], found[at, j] = values[at, j - 1], found[at, j - 1]
            j -= 1
        values[at, j], found[at, j] = v, row


@_inner
def _thin(
    Q: Any, at: int, X: Any, w: Any, rows: Any, lows: Any, i: int, count: int, limit: Any, heap: Any, shift: float,
    scale: float, slack: float, values: Any, found: Any,
) -> int:  # fmt: skip
    """Make room among row i's candidates: drop what the limit excludes, else keep only the k that are nearest."""
    kept = 0
    for t in range(count):
        if lows[i, t] <= limit[i]:
            rows[i, kept], lows[i, kept] = rows[i, t], lows[i, t]
            kept += 1
    k = heap.shape[1]
    if 2 * kept > rows.shape[1]:  # a crowd closer together than the product can tell
        _settle(Q, at, X, w, rows, i, kept, values, found)
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
def sift(
    G: Any, n_q: int, n_x: int, first_q: int, first_x: int, norms: Any, e_x: Any, e_q: Any, shift: Any, scale: float,
    slack: float, Q: Any, X: Any, w: Any, group_q: Any, group_x: Any, heap: Any, limit: Any, rows: Any, lows: Any,
    counts: Any, values: Any, found: Any,
) -> None:  # fmt: skip
    """Take in one block G of 2x̂·q̂ (queries × rows); state per query: heap, limit, candidates and their number."""
    capacity = rows.shape[1]
    for i in range(n_q):
        at = first_q + i
        group = group_q[at] if len(group_q) > 0 else -1
        top = limit[i]
        error = e_q[at]
        for s in range(0, n_x, _STRIDE):
            end = min(s + _STRIDE, n_x)
            hits = 0
            for j in range(s, end):
                hits += norms[first_x + j] - G[i, j] <= top
            if hits > 0:
                for j in range(s, end):
                    low = norms[first_x + j] - G[i, j]
                    if low <= top and not (group >= 0 and group_x[first_x + j] == group):
                        if counts[i] == capacity:
                            limit[i] = top
                            counts[i] = _thin(
                                Q, at, X, w, rows, lows, i, capacity, limit, heap, shift[at], scale, slack, values, found
                            )
                            top = limit[i]
                        rows[i, counts[i]], lows[i, counts[i]] = first_x + j, low
                        counts[i] += 1
                        high = low + e_x[first_x + j] + error
                        if high < heap[i, 0]:
                            _push(heap, i, high)
                            top = min(top, heap[i, 0])
        limit[i] = top


@_inner
def finish(
    n_q: int, first_q: int, Q: Any, X: Any, w: Any, limit: Any, rows: Any, lows: Any, counts: Any, values: Any,
    found: Any,
) -> int:  # fmt: skip
    """Settle what is left of every query of the block; returns how many candidates that were."""
    total = 0
    for i in range(n_q):
        kept = 0
        for t in range(counts[i]):
            if lows[i, t] <= limit[i]:
                rows[i, kept] = rows[i, t]
                kept += 1
        _settle(Q, first_q + i, X, w, rows, i, kept, values, found)
        total += kept
    return total


@_inner
def pick(D: Any, first_q: int, group_q: Any, group_x: Any, values: Any, found: Any) -> None:
    """The smallest entries of each row of D, by (value, column), into rows first_q.. of ``values`` and ``found``."""
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
            np.zeros((3, 3), real), 3, 3, 0, 0, small, small, small, np.zeros(3), 1.0, 1e-3, X, X, w, none, none,
            heap, limit, rows, lows, counts, values, found,
        )  # fmt: skip
        finish(3, 0, X, X, w, limit, rows, lows, counts, values, found)
    pick(X, 0, none, none, values, found)
