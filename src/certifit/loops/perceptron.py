"""Compiled passes of the perceptron.

Letters: X rows, s labels −1/+1, w weights, b offset. A mistake is s(w·x + b) ≤ 0; it moves w by step·s·x and b by
step·s (b only with an offset), where the step is ``up`` for s > 0 and ``down`` for s < 0. Every pass writes the
positions of its mistakes into ``log``, counts them by row in ``times``, and returns (number of mistakes, offset,
Σ max(0, −s(w·x + b))).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from certifit._types import Array
from certifit.loops._jit import njit


@njit(fastmath={"reassoc", "contract"})
def _dot(x: Array, w: Array) -> float:  # summed in any order: threefold faster than left to right
    total = 0.0
    for j in range(w.shape[0]):
        total += x[j] * w[j]
    return total


@njit(fastmath={"reassoc", "contract"})
def _row_dot(X: Array, i: int, w: Array) -> float:  # half the time of `_dot`: no view of the row is made
    total = 0.0
    for j in range(w.shape[0]):
        total += X[i, j] * w[j]
    return total


@njit()
def shuffle(order: Array, seed: int) -> None:
    """Fisher-Yates with Marsaglia's 32-bit xorshift; the same permutations as scikit-learn's for a seed."""
    state = np.uint32(seed)
    if state == np.uint32(0):
        state = np.uint32(1)
    n = order.shape[0]
    for i in range(n - 1):
        state ^= np.uint32(state << np.uint32(13))
        state ^= np.uint32(state >> np.uint32(17))
        state ^= np.uint32(state << np.uint32(5))
        j = i + np.int64(state & np.uint32(0x7FFFFFFF)) % (n - i)
        order[i], order[j] = order[j], order[i]


@njit()
def dense_pass(
    X: Array, s: Array, order: Array, w: Array, b: float, up: float, down: float, offset: bool, log: Array, times: Array
) -> Any:
    """One pass over dense rows in the given order."""
    mistakes, loss = 0, 0.0
    for t in range(order.shape[0]):
        i = order[t]
        score = s[i] * (_row_dot(X, i, w) + b)
        if score <= 0.0:
            loss -= score
            times[i] += 1
            step = up if s[i] > 0 else -down
            for j in range(w.shape[0]):
                w[j] += step * X[i, j]
            if offset:
                b += step
            log[mistakes] = t
            mistakes += 1
    return mistakes, b, loss


@njit()
def shrinking_pass(
    X: Array,
    s: Array,
    order: Array,
    w: Array,
    b: float,
    up: float,
    down: float,
    offset: bool,
    log: Array,
    times: Array,
    shrink: float,
    alpha: float,
) -> Any:
    """One pass with the weights multiplied by ``shrink`` at every row (ridge penalty); the loss includes it."""
    mistakes, loss = 0, 0.0
    for t in range(order.shape[0]):
        i = order[t]
        score = s[i] * (_row_dot(X, i, w) + b)
        loss += 0.5 * alpha * _dot(w, w)
        for j in range(w.shape[0]):
            w[j] *= shrink
        if score <= 0.0:
            loss -= score
            times[i] += 1
            step = up if s[i] > 0 else -down
            for j in range(w.shape[0]):
                w[j] += step * X[i, j]
            if offset:
                b += step
            log[mistakes] = t
            mistakes += 1
    return mistakes, b, loss


@njit()
def sparse_pass(
    values: Array,
    columns: Array,
    starts: Array,
    s: Array,
    order: Array,
    w: Array,
    b: float,
    up: float,
    down: float,
    offset: bool,
    log: Array,
    times: Array,
    shrink: float,
    alpha: float,
) -> Any:
    """One pass over sparse rows (CSR); the weights are kept as size·w, so that shrinking them costs nothing."""
    mistakes, loss, size = 0, 0.0, 1.0
    square = _dot(w, w) if alpha > 0.0 else 0.0
    for t in range(order.shape[0]):
        i = order[t]
        product = 0.0
        for k in range(starts[i], starts[i + 1]):
            product += values[k] * w[columns[k]]
        product *= size
        score = s[i] * (product + b)
        if alpha > 0.0:
            loss += 0.5 * alpha * square
            size *= shrink
            square *= shrink * shrink
            if size < 1e-9:  # before it underflows
                for j in range(w.shape[0]):
                    w[j] *= size
                size = 1.0
        if score <= 0.0:
            loss -= score
            times[i] += 1
            step = up if s[i] > 0 else -down
            length = 0.0
            for k in range(starts[i], starts[i + 1]):
                w[columns[k]] += step * values[k] / size
                length += values[k] * values[k]
            square += 2.0 * step * product * shrink + step * step * length
            if offset:
                b += step
            log[mistakes] = t
            mistakes += 1
    if size != 1.0:
        for j in range(w.shape[0]):
            w[j] *= size
    return mistakes, b, loss


@njit(fastmath={"reassoc", "contract"})
def joint_passes(X: Array, y: Array, W: Array, passes: int) -> Any:
    """Many-class perceptron: the best wrong class pays, the right one gains. True when a pass is clean."""
    for _ in range(passes):
        clean = True
        for i in range(X.shape[0]):
            x, own = X[i], y[i]
            right, wrong, best = _dot(x, W[own]), -1, -np.inf
            for k in range(W.shape[0]):
                if k != own:
                    score = _dot(x, W[k])
                    if score > best:
                        wrong, best = k, score
            if right <= best:
                clean = False
                for j in range(X.shape[1]):
                    W[own, j] += x[j]
                    W[wrong, j] -= x[j]
        if clean:
            return True
    return False


def warm() -> None:
    """Compile every loop for the types in use."""
    s, order, (log, times) = np.array([1.0, -1.0]), np.array([0, 1]), np.zeros((2, 2), dtype=np.int64)
    shuffle(order, 1)
    for dtype in (np.float64, np.float32):
        X = np.eye(2, dtype=dtype)
        dense_pass(X, s, order, np.zeros(2), 0.0, 1.0, 1.0, True, log, times)
        shrinking_pass(X, s, order, np.zeros(2), 0.0, 1.0, 1.0, True, log, times, 0.9, 0.1)
        starts, columns = np.array([0, 1, 2], dtype=np.int32), np.array([0, 1], dtype=np.int32)
        values = np.ones(2, dtype=dtype)
        sparse_pass(values, columns, starts, s, order, np.zeros(2), 0.0, 1.0, 1.0, True, log, times, 1.0, 0.0)
    joint_passes(np.eye(2), np.array([0, 1]), np.zeros((2, 2)), 1)
