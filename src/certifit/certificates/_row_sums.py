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


def longest_chain(n: int, rows: int) -> int:
    """How many roundings a term of a sum over n rows meets at most, its product included, in blocks of ``rows``.

    Additions in a run, over the runs and what is left of a block, and over the blocks; and the product itself.
    """
    return min(rows, _RUN) + (rows // _RUN + 1) + (n // max(1, rows) + 1) + 1


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
        n, t = len(b), math.prod(b.mid.shape[1:])
        self.n, self.b, self.shape = n, b.mid.reshape(n, t), (width, *b.mid.shape[1:])
        self.known = np.broadcast_to(b.rad, b.mid.shape).reshape(n, t)
        self.chain = longest_chain(n, min(n, rows)) + 2
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
            self.rad += np.abs(A, out=room).T @ (shares(np.abs(b), self.chain) + self.known[part])

    def finish(self, lengths: Array | None = None, known: Array | None = None) -> Ball:
        """The sums of all rows; ``lengths`` are upper bounds of the lengths of the columns.

        Then v, the sum of γ|b| and of the radii, is no longer than the lengths of both together; ``known`` are upper
        bounds of the latter (one for each column of b), where the radii themselves are not at hand.
        """
        rad = self.rad
        if lengths is not None:
            known = columns_lengths(self.known) if known is None else known
            rad = np.multiply.outer(lengths, gamma(self.chain) * columns_lengths(self.b) + known + self.n * ETA)
        rad = rounded_up(rad * (1.0 + 2 * gamma(self.n + 2)) + self.n * ETA)
        return Ball(self.mid.reshape(self.shape), rad.reshape(self.shape))


def columns_lengths(A: Array) -> Array:
    """Upper bounds of the lengths of a few columns; a square loses no more than ETA to underflow.

    Examples
    --------
    >>> columns_lengths(np.array([[3.0, 3e200], [4.0, 4e200]])).tolist()[0] < 5.000001
    True
    """
    n = len(A)
    with np.errstate(over="ignore"):
        squares = np.array([column @ column for column in A.T])
    found = np.sqrt(squares * (1.0 + 2 * gamma(n + 2)) + n * ETA)
    if not np.all(np.isfinite(squares)):  # of large numbers: n times the square of the largest is enough
        found = np.minimum(found, math.sqrt(n) * np.abs(A).max(axis=0, initial=0.0))
    return np.asarray(found * (1.0 + 4 * UNIT))


def run_chain(n: int) -> int:
    """How many roundings a number meets at most in `run_sum` of n numbers."""
    return n if n <= _RUN else _RUN + run_chain(n // _RUN + n % _RUN)


def run_sum(b: Ball) -> Ball:
    """The sum of the numbers b, (n,), in runs of runs: so no number meets more than a few hundred roundings.

    Examples
    --------
    >>> float(run_sum(Ball(np.ones(1000))).mid)
    1000.0
    """
    sums = b.mid
    while len(sums) > _RUN:
        cut = len(sums) // _RUN * _RUN
        sums = np.append(sums[:cut].reshape(-1, _RUN).sum(axis=1), sums[cut:])
    lost = gamma(run_chain(len(b))) * float(np.abs(b.mid).sum()) + float(np.broadcast_to(b.rad, b.shape).sum())
    return Ball(sums.sum(), rounded_up(np.asarray(lost * (1.0 + 2 * gamma(len(b) + 2)))))


def block_sums(blocks: Iterable[tuple[slice, Array]], b: Ball, width: int) -> Ball:
    """Aᵀ @ b with its rounding bound, for an exact A that comes in the blocks of `row_blocks`."""
    sums = BlockSums(b, width, rows_of_block(width))
    room = np.empty((min(len(b), rows_of_block(width)), width))
    for part, A in blocks:
        sums.add(part, A, room[: len(A)])
    return sums.finish()
