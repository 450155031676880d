"""Large products of dense matrices, a range of rows or columns at a time, side by side on the cores."""

from __future__ import annotations

import numpy as np

from certifit._types import Array
from certifit.parallel import one_thread, side_by_side, sum_over_rows

_STRIPES = 8  # ranges that are multiplied on their own: a fixed number, so that rounding is always the same
_LARGE = 1 << 26  # products of two numbers below which threads do not pay
_LONG = 1 << 22  # numbers of a matrix from which on reading it takes longer than threads take to wake up


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
    if B.size * A.shape[1] <= _LARGE and A.size < _LONG:
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
