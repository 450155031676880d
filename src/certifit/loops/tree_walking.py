"""Walking down grown trees, adding up from their leaves, and finding their weakest links.

A tree is a set of arrays over its nodes in an order where children come after their parent: ``left``,
``right`` (−1 in a leaf), ``feature``, ``threshold`` (x ≤ threshold goes left), ``missing_left``, and for a
categorical question ``group``, the row of ``bits`` that holds the categories going left (−1 for a numeric
question).
"""

from __future__ import annotations

import heapq
from typing import Any, NamedTuple

import numpy as np

from certifit._types import Array
from certifit.loops._jit import njit
from certifit.loops._tiers import tiered


class Questions(NamedTuple):
    """The arrays that decide which way a row goes."""

    left: Array
    right: Array
    feature: Array
    threshold: Array
    missing_left: Array
    group: Array
    bits: Array


@njit(nogil=True, error_model="numpy")
def _step(q: Questions, node: int, v: float) -> int:
    """The child that a row with value v at the node's column goes to."""
    if np.isnan(v):
        go = q.missing_left[node] != 0
    elif q.group[node] >= 0:
        code = np.int64(v)
        go = (q.bits[q.group[node], code >> 6] >> (code & 63)) & 1 != 0
    else:
        go = v <= q.threshold[node]
    return q.left[node] if go else q.right[node]


@tiered(lambda X, q, out: 2e-6 * len(X) * np.log2(len(q.left) + 1))
@njit(nogil=True, error_model="numpy")
def apply(X: Array, q: Questions, out: Array) -> None:
    """The leaf of each row."""
    for i in range(X.shape[0]):
        node = 0
        while q.left[node] >= 0:
            node = _step(q, node, X[i, q.feature[node]])
        out[i] = node


@tiered(lambda X, q, collapse, alphas, out: 2e-6 * len(X) * (np.log2(len(q.left) + 1) + len(alphas)))
@njit(nogil=True, error_model="numpy")
def apply_many(X: Array, q: Questions, collapse: Array, alphas: Array, out: Array) -> None:
    """out[i, g]: the leaf of row i in the tree pruned at alphas[g] (rising); one walk serves them all."""
    for i in range(X.shape[0]):
        node = 0
        for g in range(len(alphas) - 1, -1, -1):
            while collapse[node] > alphas[g]:
                node = _step(q, node, X[i, q.feature[node]])
            out[i, g] = node


@tiered(lambda X, q, collapse, alphas, guess, y, w, loss, out: 1e-5 * len(X) * np.log2(len(q.left) + 1))
@njit(nogil=True, error_model="numpy")
def add_losses(
    X: Array, q: Questions, collapse: Array, alphas: Array, guess: Array, y: Array, w: Array, loss: int, out: Array
) -> None:
    """Add Σ w·loss and Σ w·loss² of the trees pruned at rising alphas to out[0] and out[1].

    ``loss`` is 0 (wrong or right), 1 (absolute) or 2 (squared). A row changes its leaf at most as often as
    its way is long: it is entered as differences out[:, g] − out[:, g − 1], to be summed up by the caller.
    """
    for i in range(X.shape[0]):
        node, high = 0, len(alphas)
        while high > 0:
            low = np.searchsorted(alphas[:high], collapse[node])
            e = abs(guess[node] - y[i])
            if loss == 0:
                e = 1.0 if e > 0.0 else 0.0
            elif loss == 2:
                e = e * e
            if low < high:
                out[0, low] += w[i] * e
                out[0, high] -= w[i] * e
                out[1, low] += w[i] * e * e
                out[1, high] -= w[i] * e * e
            high = low
            if q.left[node] < 0:
                break
            node = _step(q, node, X[i, q.feature[node]])


@tiered(lambda X, q, starts, nodes: 2e-6 * len(X) * np.log2(len(q.left) + 1))
@njit(nogil=True, error_model="numpy")
def paths(X: Array, q: Questions, starts: Array, nodes: Array) -> None:
    """The nodes that each row passes; nodes[starts[i]:starts[i + 1]]. With no room in nodes: only counts."""
    for i in range(X.shape[0]):
        node, count = 0, 0
        while True:
            if len(nodes) > 0:
                nodes[starts[i] + count] = node
            count += 1
            if q.left[node] < 0:
                break
            node = _step(q, node, X[i, q.feature[node]])
        if len(nodes) == 0:
            starts[i + 1] = starts[i] + count


@tiered(lambda parent, sums: 4e-7 * sums.size)
@njit(nogil=True, error_model="numpy")
def add_up(parent: Array, sums: Array) -> None:
    """Add each node's row of sums to its parent's, from the last node to the first."""
    for node in range(len(parent) - 1, 0, -1):
        for k in range(sums.shape[1]):
            sums[parent[node], k] += sums[node, k]


@tiered(lambda left, right, weight, mean, spread: 3e-6 * len(left))
@njit(nogil=True, error_model="numpy")
def merge_moments(left: Array, right: Array, weight: Array, mean: Array, spread: Array) -> None:
    """Weight, mean and Σ weight (y − mean)² of inner nodes from their children (Chan et al. 1983)."""
    for node in range(len(left) - 1, -1, -1):
        a, b = left[node], right[node]
        if a < 0:
            continue
        w = weight[a] + weight[b]
        gap = mean[b] - mean[a]
        weight[node] = w
        mean[node] = mean[a] + gap * (weight[b] / w)
        spread[node] = spread[a] + spread[b] + gap * gap * (weight[a] * weight[b] / w)


@tiered(lambda left, right, cost, alphas, leaves, costs: 1e-5 * len(left))
@njit(nogil=True, error_model="numpy")
def weakest_links(left: Array, right: Array, cost: Array, alphas: Array, leaves: Array, costs: Array) -> Any:
    """Prune the weakest link until the root is left.

    ``cost`` is each node's share of the cost as a leaf. Returns the number of trees in the sequence and
    ``collapse``: node t asks its question in the tree for α exactly when α < collapse[t]. A link is worth
    g(t) = (cost(t) − cost of its leaves) / (leaves − 1); pruning the least one only raises those above it,
    so a heap with stale entries finds each next one in O(log n).
    """
    n = len(left)
    t: Any
    parent = np.full(n, -1)
    size = np.ones(n, np.int64)
    branch = cost.copy()
    collapse = np.full(n, -1.0)
    inner = left >= 0
    heap: Any = [(np.inf, np.int64(0))]
    heap.pop()
    for t in range(n - 1, -1, -1):
        if inner[t]:
            parent[left[t]] = parent[right[t]] = t
            size[t] = size[left[t]] + size[right[t]]
            branch[t] = branch[left[t]] + branch[right[t]]
            heap.append(((cost[t] - branch[t]) / (size[t] - 1), np.int64(t)))
    heapq.heapify(heap)
    count, alpha = 1, 0.0
    alphas[0], leaves[0], costs[0] = 0.0, size[0], branch[0]
    while inner[0]:
        g, t = heapq.heappop(heap)
        if not inner[t]:
            continue
        now = (cost[t] - branch[t]) / (size[t] - 1)
        if now > g:
            heapq.heappush(heap, (now, t))
            continue
        # Links whose worth agrees to rounding fall together.
        if g > alpha * (1.0 + 1e-12) + 1e-15 * cost[0]:
            alpha = g
            count += 1
        _fell(left, right, inner, collapse, t, alpha)
        lost_size, lost_cost = size[t] - 1, cost[t] - branch[t]
        up = t
        while up >= 0:
            size[up] -= lost_size
            branch[up] += lost_cost
            up = parent[up]
        size[t], branch[t] = 1, cost[t]
        alphas[count - 1], leaves[count - 1], costs[count - 1] = alpha, size[0], branch[0]
    return count, collapse


@njit(nogil=True, error_model="numpy")
def _fell(left: Array, right: Array, inner: Array, collapse: Array, t: int, alpha: float) -> None:
    """Node t becomes a leaf at α, and what is still standing below it with it."""
    stack = [t]
    while len(stack) > 0:
        node = stack.pop()
        if inner[node]:
            inner[node] = False
            collapse[node] = alpha
            stack.append(left[node])
            stack.append(right[node])


def warm() -> None:
    """Compile everything for the types in use."""
    left, right = np.array([1, -1, -1]), np.array([2, -1, -1])
    q = Questions(
        left,
        right,
        np.zeros(3, np.int64),
        np.full(3, 0.5),
        np.zeros(3, np.uint8),
        np.full(3, -1),
        np.zeros((1, 1), np.int64),
    )
    cost = np.array([1.0, 0.25, 0.25])
    count, collapse = weakest_links(left, right, cost, np.zeros(2), np.zeros(2, np.int64), np.zeros(2))
    for dtype in (np.float32, np.float64):
        X = np.array([[0], [1]], dtype)
        apply(X, q, np.zeros(2, np.int64))
        apply_many(X, q, collapse, np.zeros(count), np.zeros((2, count), np.int64))
        out = np.zeros((2, count + 1))
        add_losses(X, q, collapse, np.zeros(count), np.ones(3), np.ones(2), np.ones(2), 2, out)
        starts = np.zeros(3, np.int64)
        paths(X, q, starts, np.zeros(0, np.int64))
        paths(X, q, starts, np.zeros(starts[-1], np.int64))
    add_up(np.array([-1, 0, 0]), np.ones((3, 2)))
    merge_moments(left, right, np.ones(3), np.zeros(3), np.zeros(3))
