"""Sums over rows, a block at a time, side by side on the cores.

Each thread works with a BLAS of one thread: on few cores that beats a BLAS that brings threads of its own, and nothing
spins while others work. What a sum adds up to does not depend on the number of threads.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import copy_context
from functools import cache
from typing import Any

import joblib
import numpy as np

from certifit._types import Array
from certifit.design._linalg import one_thread

_STRIPES = 8  # ranges of rows that are summed on their own: a fixed number, so that rounding is always the same
_SMALL = 1 << 20  # numbers below which threads do not pay
_LARGE = 1 << 28  # products of two numbers below which they do not pay for a matrix product
_NAME = "certifit-rows"


@cache
def threads() -> int:
    """How many threads to use: the cores at hand, or fewer where OMP_NUM_THREADS says so."""
    asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    cores = int(joblib.cpu_count())
    return min(cores, int(asked)) if asked.isdigit() and int(asked) > 0 else cores


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max(1, threads() - 1), thread_name_prefix=_NAME)


os.register_at_fork(after_in_child=_pool.cache_clear)  # a child process has none of its parent's threads


def sum_over_rows(
    work: Callable[[slice], tuple[Any, ...]], shape: tuple[int, int], block: int | None = None
) -> tuple[Any, ...]:
    """The sums of what ``work(rows)`` returns over blocks of the rows of a matrix of this shape.

    Examples
    --------
    >>> X = np.arange(6.0).reshape(3, 2)
    >>> sum_over_rows(lambda rows: (float(X[rows].sum()), len(X[rows])), X.shape)
    (15.0, 3)
    """
    n, d = shape
    if n * d <= _SMALL:
        with one_thread():
            return work(slice(0, n))
    size = block or max(1024, 1_500_000 // max(d, 1))
    edges = np.linspace(0, n, _STRIPES + 1).astype(int)

    def stripe(k: int) -> tuple[Any, ...]:
        total: tuple[Any, ...] = ()
        for i in range(edges[k], edges[k + 1], size):
            total = _add(total, work(slice(i, min(i + size, edges[k + 1]))))
        return total

    total: tuple[Any, ...] = ()
    with one_thread():
        for part in _map(stripe, range(_STRIPES)):
            total = _add(total, part)
    return total


def side_by_side(work: Callable[[Any], Any], tasks: Sequence[Any]) -> list[Any]:
    """``[work(t) for t in tasks]``, each on one core; what a task gives does not depend on how many cores there are.

    Examples
    --------
    >>> side_by_side(lambda k: k * k, range(4))
    [0, 1, 4, 9]
    """
    with one_thread():
        return _map(work, tasks)


def product(A: Array, B: Array) -> Array:
    """A B for dense A (n, d) and B (d,) or (d, k); large ones by ranges of rows.

    Examples
    --------
    >>> product(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 1.0]))
    array([3., 7.])
    """
    if A.shape[0] * B.size <= _LARGE:
        with one_thread():
            return np.asarray(A @ B)
    out = np.empty((A.shape[0], *B.shape[1:]))
    edges = np.linspace(0, A.shape[0], _STRIPES + 1).astype(int)

    def stripe(k: int) -> None:
        rows = slice(edges[k], edges[k + 1])
        np.matmul(A[rows], B, out=out[rows])

    side_by_side(stripe, range(_STRIPES))
    return out


def transposed_product(A: Array, B: Array) -> Array:
    """Aᵀ B for dense A (n, d) and B (n,) or (n, k); large ones by ranges of columns (of rows, where A lies by rows).

    Examples
    --------
    >>> transposed_product(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 1.0]))
    array([4., 6.])
    """
    if B.size * A.shape[1] <= _LARGE:
        with one_thread():
            return np.asarray(A.T @ B)
    if A.strides[0] > A.strides[1]:
        return np.asarray(sum_over_rows(lambda rows: (A[rows].T @ B[rows],), A.shape)[0])
    out = np.empty((A.shape[1], *B.shape[1:]))
    edges = np.linspace(0, A.shape[1], _STRIPES + 1).astype(int)

    def stripe(k: int) -> None:
        columns = slice(edges[k], edges[k + 1])
        np.matmul(A[:, columns].T, B, out=out[columns])

    side_by_side(stripe, range(_STRIPES))
    return out


def _map(work: Callable[[Any], Any], tasks: Sequence[Any]) -> list[Any]:
    """``[work(t) for t in tasks]``, shared by the caller and the pool (a thread of the pool does all alone)."""
    helpers = min(threads(), len(tasks)) - 1
    if helpers < 1 or threading.current_thread().name.startswith(_NAME):
        return [work(t) for t in tasks]
    done: list[Any] = [None] * len(tasks)
    left = iter(range(len(tasks)))  # next() on it is atomic

    def loop() -> None:
        for k in left:
            done[k] = work(tasks[k])

    # NumPy's errstate holds in the other threads too.
    others = [_pool().submit(copy_context().run, loop) for _ in range(helpers)]
    try:
        loop()
    finally:
        deque(left, maxlen=0)  # after an error nothing more is begun
        wait(others)
    for other in others:
        other.result()
    return done


def _add(total: tuple[Any, ...], part: tuple[Any, ...]) -> tuple[Any, ...]:
    """Term by term; the arrays of ``total`` are overwritten."""
    if not (total and part):
        return total or part
    return tuple(np.add(a, b, out=a) if isinstance(a, np.ndarray) else a + b for a, b in zip(total, part))
