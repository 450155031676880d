"""Loops of kernel density: a k-d tree, and sums between bounds at one point after another.

A node of weight S whose rows lie at distances in [a, b] adds between S·K(b/h) and S·K(a/h). All kernels but the top hat
are convex functions of the squared euclidean distance, of which a node knows the mean s: by Jensen's inequality it adds
at least S·K(√s/h), and at most what the chord from a² to b² has at s. The widest node is opened until the bounds are as
near as was asked. Distances and values of K are taken outward by more than their rounding. To reach densities far below
the smallest float, exponential kernels are divided by K at the nearest row (``shift``).

Codes: kernels gaussian 0, tophat 1, epanechnikov 2, exponential 3, linear 4, cosine 5; distances euclidean 0,
manhattan 1, chebyshev 2. Nodes are numbered as in a heap: the children of k are 2k + 1 and 2k + 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from certifit.loops._jit import njit
from certifit.loops._tiers import tiered


@tiered(lambda X, weights, order, n_levels: 1e-6 * X.size * n_levels)
@njit(nogil=True)
def build(X, weights, order, n_levels):
    """Boxes (nodes, d), weights, row ranges and moments of a balanced tree; ``order`` is sorted in place.

    The moments are those about the middle of the box: the weighted means of x − m and of ‖x − m‖².
    """
    nodes = 2**n_levels - 1
    n, d = X.shape
    low, high = np.empty((nodes, d)), np.empty((nodes, d))
    total, start, stop = np.zeros(nodes), np.zeros(nodes, dtype=np.int64), np.zeros(nodes, dtype=np.int64)
    first, second = np.zeros((nodes, d)), np.zeros(nodes)
    stop[0] = n
    for k in range(nodes):
        a, b = start[k], stop[k]
        for j in range(d):
            low[k, j], high[k, j] = np.inf, -np.inf
        for i in range(a, b):
            row = order[i]
            total[k] += weights[row]
            for j in range(d):
                low[k, j] = min(low[k, j], X[row, j])
                high[k, j] = max(high[k, j], X[row, j])
        if total[k] > 0.0:
            for i in range(a, b):
                row = order[i]
                for j in range(d):
                    gap = X[row, j] - 0.5 * (low[k, j] + high[k, j])
                    first[k, j] += weights[row] * gap
                    second[k] += weights[row] * gap * gap
            first[k] /= total[k]
            second[k] /= total[k]
        if 2 * k + 2 < nodes:
            widest, wide = 0, -1.0
            for j in range(d):
                if high[k, j] - low[k, j] > wide:
                    widest, wide = j, high[k, j] - low[k, j]
            order[a:b] = order[a:b][np.argsort(X[order[a:b], widest])]
            middle = (a + b) // 2
            start[2 * k + 1], stop[2 * k + 1] = a, middle
            start[2 * k + 2], stop[2 * k + 2] = middle, b
    return low, high, total, start, stop, first, second


@njit(nogil=True)
def _add(metric, sofar, gap):
    if metric == 0:
        return sofar + gap * gap
    if metric == 1:
        return sofar + gap
    return max(sofar, gap)


@njit(nogil=True)
def _reach(metric, x, low, high, k):
    """Smallest and largest distance of x to the box of node k."""
    near, far = 0.0, 0.0
    for j in range(x.shape[0]):
        below, above = low[k, j] - x[j], x[j] - high[k, j]
        near = _add(metric, near, max(max(below, above), 0.0))
        far = _add(metric, far, max(abs(low[k, j] - x[j]), abs(high[k, j] - x[j])))
    if metric == 0:
        return np.sqrt(near), np.sqrt(far)
    return near, far


@njit(nogil=True)
def _value(kernel, u, shift):
    """K(u), of exponential kernels divided by e^shift."""
    if kernel == 0:
        return np.exp(-0.5 * u * u - shift)
    if kernel == 3:
        return np.exp(-u - shift)
    if u >= 1.0:
        return 0.0
    if kernel == 1:
        return 1.0
    if kernel == 2:
        return 1.0 - u * u
    if kernel == 4:
        return 1.0 - u
    return np.cos(0.5 * np.pi * u)


@njit(nogil=True)
def _between(kernel, near, far, h, shift, d):
    """Bounds of K over distances in [near, far], outward by more than rounding."""
    slack = (d + 16.0) * 2.3e-16
    u, v = near / h * (1.0 - slack), far / h * (1.0 + slack)
    most, least = _value(kernel, u, shift), _value(kernel, v, shift)
    if kernel == 0 or kernel == 3:
        # The exponent is a difference of two rounded numbers: its error is some units of the larger one.
        size = 1.0 + abs(shift) + (v * v if kernel == 0 else v)
        grow = 1e-15 * size
        if grow > 0.5:
            return 0.0, np.inf if most > 0.0 else 1e-300
        most = min(most, 1.0)  # no row is nearer than the one whose K is e^shift
        return max(least * (1.0 - grow) - 1e-300, 0.0), most * (1.0 + 2.0 * grow) + 1e-300
    if most == 0.0 and u >= 1.0:
        return 0.0, 0.0
    return max(least * (1.0 - 1e-15) - 1e-15, 0.0), min(most * (1.0 + 1e-15) + 1e-15, 1.0)


@njit(nogil=True)
def _mean_square(x, low, high, first, second, rows, k):
    """The mean squared distance of x to the rows of node k, and more than its error."""
    square, cross, radius = 0.0, 0.0, 0.0
    for j in range(x.shape[0]):
        middle = 0.5 * (low[k, j] + high[k, j])
        gap, half = x[j] - middle, max(high[k, j] - middle, middle - low[k, j])
        square += gap * gap
        cross += gap * first[k, j]
        radius += half * half
    # Every term is at most (‖x − m‖ + radius)² ≤ 2(‖x − m‖² + radius²), and sums over the rows lose a unit a row.
    slack = (rows + 4.0 * x.shape[0] + 32.0) * 5e-16 * (square + radius)
    return square - 2.0 * cross + second[k], slack


@njit(nogil=True)
def _convex(kernel, near, far, mean, slack, h, shift, d):
    """Bounds of the mean of K over distances in [near, far] with this mean square: Jensen below, the chord above."""
    least, most = _between(kernel, near, far, h, shift, d)
    out = (d + 16.0) * 2.3e-16  # as `_between` moves distances, so that the chord stands on what was bounded there
    a, b = (near * (1.0 - out)) ** 2, (far * (1.0 + out)) ** 2
    if kernel == 0 or kernel == 3:  # K is at most e^shift from the nearest row on, so the chord begins no nearer
        nearest = h * (np.sqrt(-2.0 * shift) if kernel == 0 else -shift)
        a = max(a, (nearest * (1.0 + out)) ** 2)
    if not (b > a and b + mean + slack < np.inf and most < np.inf):
        return least, most
    s = np.sqrt(min(max(mean + slack, a), b))
    least = max(least, _between(kernel, s, s, h, shift, d)[0])
    end = _between(kernel, far, far, h, shift, d)[1]
    share = (mean - slack - a - 1e-15 * b) / (b - a) * (1.0 - 1e-15)
    if share > 0.0 and end < most:
        most = (most - (most - end) * min(share, 1.0)) * (1.0 + 1e-15)
    return least, max(least, most)


@njit(nogil=True)
def _push(width, node, low, high, size, w, k, a, b):
    i = size
    while i > 0 and width[(i - 1) // 2] < w:
        p = (i - 1) // 2
        width[i], node[i], low[i], high[i] = width[p], node[p], low[p], high[p]
        i = p
    width[i], node[i], low[i], high[i] = w, k, a, b
    return size + 1


@njit(nogil=True)
def _pop(width, node, low, high, size):
    """Take the widest away: the last one sinks from the top."""
    size -= 1
    w, k, a, b = width[size], node[size], low[size], high[size]
    i = 0
    while True:
        c = 2 * i + 1
        if c >= size:
            break
        if c + 1 < size and width[c + 1] > width[c]:
            c += 1
        if width[c] <= w:
            break
        width[i], node[i], low[i], high[i] = width[c], node[c], low[c], high[c]
        i = c
    if size > 0:
        width[i], node[i], low[i], high[i] = w, k, a, b
    return size


@njit(nogil=True)
def _nearest(X, start, stop, low, high, x, metric, stack):
    """Distance to the nearest row."""
    best, size, nodes = np.inf, 1, start.shape[0]
    stack[0] = 0
    while size > 0:
        size -= 1
        k = stack[size]
        if stop[k] <= start[k] or _reach(metric, x, low, high, k)[0] >= best:
            continue
        if 2 * k + 2 < nodes:
            one, two = 2 * k + 1, 2 * k + 2
            if _reach(metric, x, low, high, one)[0] < _reach(metric, x, low, high, two)[0]:
                one, two = two, one
            stack[size], stack[size + 1] = one, two
            size += 2
            continue
        for i in range(start[k], stop[k]):
            total = 0.0
            for j in range(x.shape[0]):
                total = _add(metric, total, abs(X[i, j] - x[j]))
            best = min(best, np.sqrt(total) if metric == 0 else total)
    return best


@njit(nogil=True)
def _leaf(X, weights, a, b, x, kernel, metric, h, shift):
    """Bounds of the sum over rows a..b."""
    least, most = 0.0, 0.0
    for row in range(a, b):
        total = 0.0
        for j in range(x.shape[0]):
            total = _add(metric, total, abs(X[row, j] - x[j]))
        distance = np.sqrt(total) if metric == 0 else total
        if kernel == 0 or kernel == 3:
            # One exponential serves both ends: moving u by its slack moves the exponent by at most twice that times u².
            u = distance / h
            size = 1.0 + abs(shift) + (u * u if kernel == 0 else u)
            grow = (1e-15 + (x.shape[0] + 16.0) * 5e-16) * size
            if grow < 0.1:
                value = weights[row] * _value(kernel, u, shift)
                least += max(value * (1.0 - grow) - weights[row] * 1e-300, 0.0)
                most += value * (1.0 + 2.0 * grow) + weights[row] * 1e-300
                continue
        p, q = _between(kernel, distance, distance, h, shift, x.shape[0])
        least += weights[row] * p
        most += weights[row] * q
    return least, most


@njit(nogil=True)
def _sum(v, size):  # NumPy's method takes two seconds to compile, for its messages about axes
    total = 0.0
    for i in range(size):
        total += v[i]
    return total


def _in_numpy(X, weights, tree, points, first, last, kernel, metric, h, atol, rtol, out):
    """As `query`, every row of X looked at (the bounds of `_between`, on arrays)."""
    slack = (X.shape[1] + 16.0) * 2.3e-16
    lost = 4.0 * len(X) * 1.2e-16
    for q in range(first, last):
        gaps = np.abs(X - points[q])
        u = (np.sqrt((gaps * gaps).sum(axis=1)), gaps.sum(axis=1), gaps.max(axis=1))[metric] / h
        near, far = u * (1.0 - slack), u * (1.0 + slack)
        shift = 0.0
        if kernel in (0, 3):
            shift = -0.5 * u.min() ** 2 if kernel == 0 else -u.min()
            power = (lambda v: -0.5 * v * v) if kernel == 0 else np.negative
            grow = 1e-15 * (1.0 + abs(shift) + (far * far if kernel == 0 else far))
            unknown = grow > 0.5
            least = np.maximum(np.exp(power(far) - shift) * (1.0 - grow) - 1e-300, 0.0)
            most = np.exp(power(near) - shift) * (1.0 + 2.0 * grow) + 1e-300
            least, most = np.where(unknown, 0.0, least), np.where(unknown & (most > 1e-300), np.inf, most)
        else:
            K: Any = {
                1: np.ones_like,
                2: lambda v: 1.0 - v * v,
                4: lambda v: 1.0 - v,
                5: lambda v: np.cos(0.5 * np.pi * v),
            }
            least = np.where(far >= 1.0, 0.0, np.maximum(K[kernel](far) * (1.0 - 1e-15) - 1e-15, 0.0))
            most = np.where(near >= 1.0, 0.0, np.minimum(K[kernel](near) * (1.0 + 1e-15) + 1e-15, 1.0))
        out[q] = shift, weights @ least * (1.0 - lost), weights @ most * (1.0 + lost)


@tiered(
    lambda X, weights, tree, points, first, last, kernel, metric, h, atol, rtol, out: (
        (last - first) * (2e-4 + 1e-8 * X.size)
    ),
    _in_numpy,
)
@njit(nogil=True)
def query(X, weights, tree, points, first, last, kernel, metric, h, atol, rtol, out):
    """Rows (shift, lower, upper) of ``out`` for points first..last: sums of K divided by e^shift.

    X and weights in the order of the tree; ``atol`` is in units of the sum of K. Stops where
    upper − lower ≤ rtol·lower + atol.
    """
    low, high, total, start, stop, first_moment, second = tree
    nodes, n = start.shape[0], X.shape[0]
    convex = metric == 0 and kernel != 1 and (atol > 0.0 or rtol > 0.0)
    width, node = np.empty(nodes + 1), np.empty(nodes + 1, dtype=np.int64)
    least, most, stack = np.empty(nodes + 1), np.empty(nodes + 1), np.empty(nodes + 1, dtype=np.int64)
    for q in range(first, last):
        x = points[q]
        shift = 0.0
        if kernel == 0 or kernel == 3:
            u = _nearest(X, start, stop, low, high, x, metric, stack) / h
            shift = -0.5 * u * u if kernel == 0 else -u
        near, far = _reach(metric, x, low, high, 0)
        a, b = _between(kernel, near, far, h, shift, x.shape[0])
        allowed = min(atol * np.exp(-shift), 1e300) if atol > 0.0 else 0.0
        done_low, done_high = 0.0, 0.0
        size = _push(width, node, least, most, 0, total[0] * (b - a), 0, total[0] * a, total[0] * b)
        open_low, open_high = total[0] * a, total[0] * b
        while size > 0 and width[0] > 0.0:
            if done_high + open_high - done_low - open_low <= rtol * (done_low + open_low) + allowed:
                # Running sums have lost digits: add up what is open again before believing them.
                open_low, open_high = _sum(least, size), _sum(most, size)
                if done_high + open_high - done_low - open_low <= rtol * (done_low + open_low) + allowed:
                    break
            k, a, b = node[0], least[0], most[0]
            size = _pop(width, node, least, most, size)
            open_low, open_high = open_low - a, open_high - b
            if 2 * k + 2 >= nodes:
                a, b = _leaf(X, weights, start[k], stop[k], x, kernel, metric, h, shift)
                done_low, done_high = done_low + a, done_high + b
                continue
            for c in (2 * k + 1, 2 * k + 2):
                if stop[c] > start[c]:
                    near, far = _reach(metric, x, low, high, c)
                    if convex:
                        mean, slack = _mean_square(x, low, high, first_moment, second, stop[c] - start[c], c)
                        a, b = _convex(kernel, near, far, mean, slack, h, shift, x.shape[0])
                    else:
                        a, b = _between(kernel, near, far, h, shift, x.shape[0])
                    a, b = total[c] * a, total[c] * b
                    size = _push(width, node, least, most, size, b - a, c, a, b)
                    open_low, open_high = open_low + a, open_high + b
        slack = 4.0 * n * 1.2e-16
        out[q, 0] = shift
        out[q, 1] = (done_low + _sum(least, size)) * (1.0 - slack)
        out[q, 2] = (done_high + _sum(most, size)) * (1.0 + slack)


@njit(nogil=True)
def leave_one_out(X, weights, tree, first, last, kernel, metric, bandwidths, out):
    """Σ_{j≠i} sⱼ K(‖xᵢ − xⱼ‖/h) for rows first..last and every bandwidth, in one search of the tree for each row.

    Rows are in the order of the tree and bandwidths rise: a node is left out for those too small to reach it, where
    each of its rows would add an exact zero. Each distance is computed once.
    """
    low, high, start, stop = tree[0], tree[1], tree[3], tree[4]
    nodes, count = start.shape[0], bandwidths.shape[0]
    most = 39.0 if kernel == 0 else 746.0 if kernel == 3 else 1.0  # K is zero beyond, in floats
    stack = np.empty(128, dtype=np.int64)
    for i in range(first, last):
        stack[0], size = 0, 1
        while size > 0:
            size -= 1
            k = stack[size]
            near = _reach(metric, X[i], low, high, k)[0] * (1.0 - 1e-12)
            if stop[k] == start[k] or near > most * bandwidths[count - 1]:
                continue
            if 2 * k + 2 < nodes:
                stack[size], stack[size + 1] = 2 * k + 2, 2 * k + 1
                size += 2
                continue
            least = 0
            while near > most * bandwidths[least]:
                least += 1
            for j in range(start[k], stop[k]):
                if j != i:
                    total = 0.0
                    for c in range(X.shape[1]):
                        total = _add(metric, total, abs(X[i, c] - X[j, c]))
                    distance = np.sqrt(total) if metric == 0 else total
                    for m in range(least, count):
                        out[i, m] += weights[j] * _value(kernel, distance / bandwidths[m], 0.0)


def warm() -> None:
    """Compile for float64."""
    X, w = np.arange(8.0).reshape(4, 2), np.ones(4)
    order = np.arange(4)
    tree = build(X, w, order, 1)
    query(X[order], w[order], tree, X, 0, 4, 0, 0, 1.0, 0.0, 0.0, np.empty((4, 3)))
    leave_one_out(X[order], w[order], tree, 0, 4, 0, 0, np.ones(1), np.zeros((4, 1)))
