"""Sums over the rows of a table with their rounding bounds, block by block: Aᵀb for balls b."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import scipy.sparse

from certifit._types import Array, Numeric
from certifit.certificates._ball import ETA, UNIT, Ball, ball, dot, gamma, is_exact, rationals, rounded_up, shares
from certifit.certificates._blocks import row_blocks, rows_of_block

_RUN = 64  # rows that are added up first in a long sum of rows


def dot_t(A: Numeric, b: Numeric) -> Ball:
    """Aᵀ @ b for an exact A (array or sparse), with its rounding bound.

    Parameters
    ----------
    A : array or sparse matrix of shape (n, d)
    b : array or Ball of shape (n,)

    Examples
    --------
    >>> dot_t(np.array([[1.0, 2.0], [3.0, 4.0]]), np.ones(2)).mid.tolist()
    [4.0, 6.0]
    """
    if is_exact(A) or (isinstance(b, Ball) and b.exact):
        return dot(rationals(A).T, b)
    b = ball(b)
    if not scipy.sparse.issparse(A):
        return block_sums(((part, A[part]) for part in row_blocks(*A.shape)), b, A.shape[1])
    n, inner = A.shape[0], np.broadcast_to(shares(np.abs(b.mid), A.shape[0] + 2) + b.rad, b.mid.shape)
    return Ball(A.T @ b.mid, rounded_up(abs(A).T @ inner * (1.0 + 2 * gamma(n + 2)) + n * ETA))


def sum_slack(n: int) -> float:
    """The relative error of Σ w t over n rows, of Σ w |t|, where each t comes from up to three roundings itself."""
    return gamma(n + 4) * (1.0 + 2 * gamma(n + 4)) * (1.0 + 16 * UNIT)


class BlockSums:
    """Aᵀ @ b with its rounding bound, for an exact A whose blocks of `row_blocks` come one after the other.

    Sums of a few rows come first, then those of a block, which makes the longest chain of additions, and so the bound,
    shorter. What is unknown of b and lost by rounding comes to |A|ᵀv for some v ≥ 0; from the lengths of the columns,
    where they are known, ‖Aⱼ‖‖v‖ bounds that without another product.

    Parameters
    ----------
    b : Ball of shape (n,) or (n, t)
    width : int
        Columns of A.
    rows : int
        The most rows of a block.
    """

    def __init__(self, b: Ball, width: int, rows: int) -> None:
        n, step, t = len(b), min(len(b), rows), math.prod(b.mid.shape[1:])
        self.n, self.b = n, b.mid.reshape(n, t)
        # Additions in a run, over the runs and what is left of a block, and over the blocks; and the product itself.
        k = min(step, _RUN) + (step // _RUN + 1) + (n // max(1, step) + 1) + 1
        inner = np.abs(b.mid)  # `shares` and the radius, in place: memory taken anew is what takes time
        some = inner != 0.0
        inner *= gamma(k + 2)
        np.add(inner, ETA, out=inner, where=some)
        inner += b.rad
        self.inner, self.shape = inner.reshape(n, t), (width, *b.mid.shape[1:])
        self.mid, self.rad = (np.zeros((width, t)) for _ in range(2))

    def add(self, part: slice, A: Array, room: Array | None = None) -> None:
        """Take in the rows ``part``; |A| is written to ``room``, None where lengths of columns are known at the end."""
        b, whole = self.b[part], len(A) // _RUN
        cut = whole * _RUN
        found = A[cut:].T @ b[cut:]
        if whole:
            runs = b[:cut].reshape(whole, _RUN, b.shape[1]).swapaxes(1, 2) @ A[:cut].reshape(whole, _RUN, A.shape[1])
            found += runs.sum(axis=0).T
        self.mid += found
        if room is not None:
            self.rad += np.abs(A, out=room).T @ self.inner[part]

    def finish(self, lengths: Array | None = None) -> Ball:
        """The sums of all rows; ``lengths`` are upper bounds of the lengths of the columns."""
        rad = self.rad
        if lengths is not None:
            v = np.sqrt(np.einsum("ij,ij->j", self.inner, self.inner) + self.n * ETA)
            rad = np.multiply.outer(lengths, v)
        rad = rounded_up(rad * (1.0 + 2 * gamma(self.n + 2)) + self.n * ETA)
        return Ball(self.mid.reshape(self.shape), rad.reshape(self.shape))


def block_sums(blocks: Iterable[tuple[slice, Array]], b: Ball, width: int) -> Ball:
    """Aᵀ @ b with its rounding bound, for an exact A that comes in the blocks of `row_blocks`."""
    sums = BlockSums(b, width, rows_of_block(width))
    room = np.empty((min(len(b), rows_of_block(width)), width))
    for part, A in blocks:
        sums.add(part, A, room[: len(A)])
    return sums.finish()
