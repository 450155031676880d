"""k-d tree: build by medians; and the scan of all leaves for distances that have no shortcut. The search is in
`neighbors_leaves`.

Conventions. The *reduced* distance of metric ``code`` with feature weights w and power p, summed in the
order of the features, without fused operations:

    0  Σ wⱼ (xⱼ − qⱼ)²      1  Σ wⱼ |xⱼ − qⱼ|      2  max wⱼ |xⱼ − qⱼ|      3  Σ wⱼ |xⱼ − qⱼ|ᵖ

Neighbours are ordered by (reduced distance, row number). The tree is perfect: node i has children 2i+1 and
2i+2, and the leaves, all on one level, hold equally many rows up to one. Every node keeps the box of its
rows. The distance to a box is computed with the same operations in the same order as the distance to a
point, so rounding, being monotone, never lifts it above the distance to a point inside: pruning needs no
safety margin (code 3, whose power function is not known to be monotone, gets one from the caller: ``trust``
< 1).

``group_q`` and ``group_x``: a query never meets rows of its own group (itself, or its fold); −1 meets all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from certifit._types import Array, Matrix
from certifit.loops._jit import njit

_UNCOUNTED: dict[str, Any] = {"_nrt": False}
_jit: Any = njit(nogil=True)
# Inner functions neither allocate nor slice, and go without Numba's reference counts: those are atomic
# operations on
# memory that all threads share, and cost more than the arithmetic here (twice the time of a whole search).
_inner: Any = njit(nogil=True, **_UNCOUNTED)


@_inner
def _swap(P: Array, rows: Array, i: int, j: int) -> None:
    for c in range(P.shape[1]):
        P[i, c], P[j, c] = P[j, c], P[i, c]
    rows[i], rows[j] = rows[j], rows[i]


@_inner
def _select(P: Array, rows: Array, left: int, right: int, m: int, c: int) -> None:
    """Reorder rows left..right (inclusive) so that column c at m is in its sorted place (quickselect)."""
    while right > left:
        mid = (left + right) >> 1
        if P[mid, c] < P[left, c]:
            _swap(P, rows, mid, left)
        if P[right, c] < P[left, c]:
            _swap(P, rows, right, left)
        if P[right, c] < P[mid, c]:
            _swap(P, rows, right, mid)
        pivot = P[mid, c]
        i, j = left, right
        while i <= j:
            while P[i, c] < pivot:
                i += 1
            while pivot < P[j, c]:
                j -= 1
            if i <= j:
                _swap(P, rows, i, j)
                i += 1
                j -= 1
        if m <= j:
            right = j
        elif m >= i:
            left = i
        else:
            return


@_jit
def grow(
    P: Array, rows: Array, box: Array, axis: Array, cut: Array, node: int, start: int, stop: int, bottom: int
) -> None:
    """Build the tree below ``node`` on rows start..stop, down to nodes numbered ``bottom`` or more.

    Permutes P (rows × features) and ``rows`` alike; fills the boxes (node, 0 low / 1 high, feature), the
    split axis and the cut of each inner node. Called for the top first, then for each subtree, on as many
    threads.
    """
    d = P.shape[1]
    stack = np.empty((64, 3), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2] = node, start, stop
    top = 1
    while top > 0:
        top -= 1
        node, start, stop = stack[top, 0], stack[top, 1], stack[top, 2]
        for c in range(d):
            box[node, 0, c] = P[start, c]
            box[node, 1, c] = P[start, c]
        for i in range(start + 1, stop):
            for c in range(d):
                v = P[i, c]
                box[node, 0, c] = min(box[node, 0, c], v)
                box[node, 1, c] = max(box[node, 1, c], v)
        if node >= bottom or node >= len(axis):
            continue
        widest, best = 0, -1.0
        for c in range(d):
            spread = box[node, 1, c] - box[node, 0, c]
            if spread > best:
                widest, best = c, spread
        m = (start + stop) >> 1
        _select(P, rows, start, stop - 1, m, widest)
        axis[node] = widest
        cut[node] = P[m, widest]
        stack[top, 0], stack[top, 1], stack[top, 2] = 2 * node + 2, m, stop
        stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 2] = 2 * node + 1, start, m
        top += 2


@_jit
def pack(P: Array, starts: Array, leaves: Array) -> None:
    """Lay out each leaf's rows feature by feature, padded by infinity: one leaf is one vectorised sweep."""
    for leaf in range(len(starts) - 1):
        count = starts[leaf + 1] - starts[leaf]
        for c in range(P.shape[1]):
            for i in range(leaves.shape[2]):
                leaves[leaf, c, i] = P[starts[leaf] + i, c] if i < count else np.inf


@_jit
def locate(Q: Array, axis: Array, cut: Array, leaf_of: Array, start: int, stop: int) -> None:
    """The leaf whose cell holds each query: neighbours in this order share their way through the tree."""
    inner = len(axis)
    for i in range(start, stop):
        node = 0
        while node < inner:
            node = 2 * node + 1 + (Q[i, axis[node]] >= cut[node])
        leaf_of[i] = node - inner


@_inner
def _add_feature(leaves: Array, leaf: int, c: int, x: float, v: float, code: int, p: float, out: Array) -> None:
    """One more term of the distance for every row of a leaf."""
    L = leaves.shape[2]
    if code == 0:
        for i in range(L):
            gap = leaves[leaf, c, i] - x
            out[i] += v * (gap * gap)
    elif code == 1:
        for i in range(L):
            out[i] += v * abs(leaves[leaf, c, i] - x)
    elif code == 2:
        for i in range(L):
            out[i] = max(out[i], v * abs(leaves[leaf, c, i] - x))
    else:
        for i in range(L):
            out[i] += v * abs(leaves[leaf, c, i] - x) ** p


@_inner
def _leaf_distances(leaves: Array, leaf: int, q: Array, w: Array, code: int, p: float, worst: float, out: Array) -> int:
    """Distances to the rows of a leaf, and how many are at most ``worst`` (padding may be counted)."""
    L, d = leaves.shape[2], len(q)
    hits = 0
    # Arrays might overlap for all the compiler knows: the query in scalars is what lets it vectorise.
    if code == 0 and d == 2:
        x, y, u, v = q[0], q[1], w[0], w[1]
        for i in range(L):
            a, b = leaves[leaf, 0, i] - x, leaves[leaf, 1, i] - y
            total = u * (a * a) + v * (b * b)
            out[i] = total
            hits += total <= worst
    elif code == 0 and d == 3:
        x, y, z, u, v, t = q[0], q[1], q[2], w[0], w[1], w[2]
        for i in range(L):
            a, b, c = leaves[leaf, 0, i] - x, leaves[leaf, 1, i] - y, leaves[leaf, 2, i] - z
            total = u * (a * a) + v * (b * b) + t * (c * c)
            out[i] = total
            hits += total <= worst
    else:
        for i in range(L):
            out[i] = 0.0
        for j in range(d):
            _add_feature(leaves, leaf, j, q[j], w[j], code, p, out)
        for i in range(L):
            hits += out[i] <= worst
    return hits  # a single way out: Numba then drops the reference counting of the arrays


@_inner
def _visit(
    leaves: Array, leaf: int, rows: Array, starts: Array, buffer: Array, q: Array, w: Array, code: int, p: float, group:
    int, group_x: Array, mine: Array, near: Array,
) -> None:  # fmt: skip
    """Offer the rows of one leaf to the sorted list of the nearest."""
    last = len(mine) - 1
    worst = mine[last]
    hits = _leaf_distances(leaves, leaf, q, w, code, p, worst, buffer)
    start = starts[leaf]
    for i in range(starts[leaf + 1] - start if hits > 0 else 0):
        v = buffer[i]
        if v <= worst:
            row = rows[start + i]
            if v == worst and row > near[last]:
                continue
            if group >= 0 and group_x[row] == group:
                continue
            j = last
            while j > 0 and (mine[j - 1] > v or (mine[j - 1] == v and near[j - 1] > row)):
                mine[j] = mine[j - 1]
                near[j] = near[j - 1]
                j -= 1
            mine[j] = v
            near[j] = row
            worst = mine[last]


@_jit
def scan(
    Q: Array, first: int, last: int, leaves: Array, rows: Array, starts: Array, w: Array, code: int, p: float, group_q:
    Array, group_x: Array, values: Array, found: Array,
) -> None:  # fmt: skip
    """As `search`, looking at every leaf."""
    d, k = Q.shape[1], values.shape[1]
    buffer, q, mine, near = np.empty(leaves.shape[2]), np.empty(d), np.empty(k), np.empty(k, np.int64)
    for at in range(first, last):
        q[:] = Q[at]
        mine[:] = np.inf
        near[:] = len(rows)
        group = group_q[at] if len(group_q) > 0 else -1
        for leaf in range(len(starts) - 1):
            _visit(leaves, leaf, rows, starts, buffer, q, w, code, p, group, group_x, mine, near)
        values[at] = mine
        found[at] = near


@_jit
def distances(Q: Array, X: Matrix, w: Array, code: int, p: float, out: Array) -> None:
    """All reduced distances of queries Q to X, laid out as (1, features, rows)."""
    for i in range(len(Q)):
        _leaf_distances(X, 0, Q[i], w, code, p, 0.0, out[i])


def warm() -> None:
    """Call every loop once, so that it is compiled and cached."""
    P = np.array([[0.0], [1.0], [2.0], [3.0]])
    rows = np.arange(4)
    box, axis, cut = np.empty((3, 2, 1)), np.empty(1, np.int64), np.empty(1)
    grow(P, rows, box, axis, cut, 0, 0, 4, 3)
    for node, start in ((1, 0), (2, 2)):
        grow(P, rows, box, axis, cut, node, start, start + 2, 3)
    starts, leaves = np.array([0, 2, 4]), np.empty((2, 1, 2))
    pack(P, starts, leaves)
    leaf_of = np.empty(4, np.int64)
    locate(P, axis, cut, leaf_of, 0, 4)
    w, none = np.ones(1), np.empty(0, np.int64)
    values, found = np.full((4, 2), np.inf), np.full((4, 2), 4)
    scan(P, 0, 4, leaves, rows, starts, w, 0, 2.0, none, none, values, found)
    distances(P, np.ascontiguousarray(P.T)[None], w, 0, 2.0, np.empty((4, 4)))
