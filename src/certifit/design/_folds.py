"""Rows and the folds that cut them: one table that every way of sharing work across folds takes.

Three things let folds share work. Where each fold trains on all rows that it does not test, what is summed over its
training rows is the total minus its own (`FoldSums`, `FoldMoments`). Rows that all folds treat alike form a cell, and
sums over cells serve every fold (`FoldTable.cells`). And held-out rows are scored for all settings at once
(`FoldTable.scores`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from operator import iadd, sub
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from certifit._types import Array, Matrix
from certifit.design._gram_pass import GramSum, many_products

Fold = tuple[Array, Array]

_ROWS = 2048  # rows per block: a block of a hundred columns stays in cache
_NUMBERS = 1 << 17  # numbers of a copied block that stays in a core's cache
_CANCELLED = 1e-6  # fraction of a column's size that training rows must keep after the subtraction
_CELLS = 64  # more kinds of rows than this are not worth while


@dataclass(frozen=True)
class Cells:
    """Rows in the order of their cells: cell c holds rows ``order[ends[c]:ends[c + 1]]``.

    ``factor`` (folds, cells) tells how much a row counts in a fold.
    """

    order: Array
    ends: Array
    factor: Array


@dataclass(frozen=True)
class FoldTable:
    """All rows with their targets and weights, and the folds that train and test on them.

    Attributes
    ----------
    X : (n, d) array or CSR matrix (or what a user gave, before it is read)
    y : (n,) or (n, t) array
    folds : list of (train, test)
        Row numbers. Folds may overlap, leave rows out, and train on a row more than once.
    weights : (n,) array, default=None
    groups : (n,) int array, default=None
    factors : (folds, groups) array, default=None
        In fold k a row of group g counts ``factors[k, g]`` times its weight (class weights).

    Examples
    --------
    >>> folds = [(np.array([1, 3]), np.array([0, 2])), (np.array([0, 2]), np.array([1, 3]))]
    >>> table = FoldTable(np.arange(4.0)[:, None], np.arange(4.0), folds)
    >>> table.number, table.in_fold(0)
    (array([0, 1, 0, 1]), array([0., 1., 0., 1.]))
    >>> cells = table.cells()
    >>> cells.order, cells.ends, cells.factor.tolist()
    (array([0, 2, 1, 3]), array([0, 2, 4]), [[0.0, 1.0], [1.0, 0.0]])
    """

    X: Matrix
    y: Any
    folds: Sequence[Fold]
    weights: Array | None = None
    groups: Array | None = None
    factors: Array | None = None

    @cached_property
    def n(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0]) if hasattr(self.X, "shape") else len(self.X)

    @cached_property
    def complementary(self) -> bool:
        """Whether every fold trains, once each, on exactly the rows that it does not test."""
        seen = np.empty(self.n, dtype=bool)
        for train, test in self.folds:
            seen[:] = False
            seen[train] = seen[test] = True
            if len(train) + len(test) != self.n or not seen.all():
                return False
        return True

    @cached_property
    def number(self) -> Array | None:
        """The fold that tests each row, where every row is tested once and trains in all other folds; else None."""
        if not self.complementary or sum(len(test) for _, test in self.folds) != self.n:
            return None
        number = np.full(self.n, -1)
        for k, (_, test) in enumerate(self.folds):
            number[test] = k
        return number if np.all(number >= 0) else None

    def in_fold(self, k: int) -> Array:
        """How much each row counts in training fold k: 0 for rows that it does not train on."""
        count = np.bincount(self.folds[k][0], minlength=self.n).astype(float)
        if self.groups is not None and self.factors is not None:
            count = count * self.factors[k][self.groups]
        return count if self.weights is None else count * self.weights

    def training(self, k: int) -> tuple[Matrix, Array, Array | None]:
        """Rows, targets and weights that fold k trains on."""
        train = self.folds[k][0]
        return self.X[train], self.y[train], None if self.weights is None else self.weights[train]

    def tested(self, k: int) -> Matrix:
        """Rows that fold k tests."""
        return self.X[rows_of(self.folds[k][1])]

    def scores(self, k: int, coef: Array, offset: Array) -> Array:
        """Scores (a, rows, t) of fold k's test rows by ``coef`` (a, t, d) and ``offset`` (a, t)."""
        a, t, d = coef.shape
        scores = np.asarray(self.tested(k) @ coef.reshape(a * t, d).T).T + offset.reshape(a * t, 1)
        return scores.reshape(a, t, -1).transpose(0, 2, 1)

    def cells(self) -> Cells | None:
        """Rows by the way that the folds treat them; None when there are too many ways."""
        kind = np.zeros((self.n, len(self.folds) + 1), dtype=np.int64)
        for k, (train, _) in enumerate(self.folds):
            kind[:, k] = np.bincount(train, minlength=self.n)
        if self.groups is not None:
            kind[:, -1] = self.groups
        # One number per kind; that no two kinds share a number is checked.
        code = kind @ np.random.default_rng(0).integers(1, 2**40, size=kind.shape[1])
        _, first, cell = np.unique(code, return_index=True, return_inverse=True)
        if len(first) > _CELLS or not np.array_equal(kind[first][cell], kind):
            return None
        rank = np.argsort(np.argsort(first))  # cells in the order in which they appear
        cell, first = rank[cell], np.sort(first)
        factor = kind[first, :-1].T.astype(float)
        if self.groups is not None and self.factors is not None:
            factor *= self.factors[:, self.groups[first]]
        return Cells(np.argsort(cell, kind="stable"), np.append(0, np.cumsum(np.bincount(cell))), factor)


def rows_of(index: Array) -> Array | slice:
    """A slice in place of consecutive row numbers: views instead of copies."""
    if len(index) and index[-1] - index[0] == len(index) - 1 and np.all(np.diff(index) == 1):
        return slice(int(index[0]), int(index[-1]) + 1)
    return index


class Mergeable(Protocol):
    """What is summed over rows: sums of parts add up to the whole, and a part can be taken away again."""

    def __add__(self, other: Any, /) -> Any: ...
    def __sub__(self, other: Any, /) -> Any: ...


S = TypeVar("S", bound=Mergeable)
Rows = Array | slice


class FoldSums(Generic[S]):
    """What is summed over each fold's training rows, from one pass over all rows where the folds allow it.

    Parameters
    ----------
    table : FoldTable
    tally : callable
        Sums over the given rows.
    trusted : callable, default=None
        ``trusted(rest, total)``: whether a difference kept digits enough; if not, the training rows are summed.
    walk : callable, default=map
        How the folds' own sums are computed (`side_by_side`: on all cores).

    Attributes
    ----------
    shared : bool
        Whether training rows are summed as the total minus the fold's own.

    Examples
    --------
    >>> rows = np.arange(4)
    >>> table = FoldTable(rows[:, None], rows, [(rows[2:], rows[:2]), (rows[:2], rows[2:])])
    >>> sums = FoldSums(table, lambda r: table.y[r].sum())
    >>> int(sums.training(0)), int(sums.total)
    (5, 6)
    """

    def __init__(
        self,
        table: FoldTable,
        tally: Callable[[Rows], S],
        trusted: Callable[[S, S], bool] | None = None,
        walk: Callable[[Callable[[Rows], S], Sequence[Array]], Iterable[S]] = map,
    ) -> None:
        self.table, self.tally, self.trusted = table, tally, trusted
        trained, tested = (sum(len(fold[part]) for fold in table.folds) for part in (0, 1))
        extra = 0 if table.number is not None else table.n
        self.shared = table.complementary and tested + extra <= trained
        self.own = list(walk(tally, [test for _, test in table.folds])) if self.shared else []

    @cached_property
    def total(self) -> S:
        """Sums over all rows."""
        if not self.own or self.table.number is None:
            return self.tally(slice(None))
        first, *others = self.own
        # What was added up once can take the rest: fresh memory of that size takes longer than the sums.
        return reduce(iadd, others[1:], first + others[0]) if others else first

    def training(self, k: int, less: Callable[[S, S], S] = sub) -> S:
        """Sums over the training rows of fold k; ``less`` takes those of its other rows from the total."""
        if self.shared:
            rest: S = less(self.total, self.own[k])
            if self.trusted is None or self.trusted(rest, self.total):
                return rest
        return self.tally(self.table.folds[k][0])


class FoldMoments:
    r"""Moments :math:`M = \sum_i s_i (z_i, r_i, 1)(z_i, r_i, 1)^\top` of rows and targets (n, t) around a common point.

    Any point near the mean loses nothing and keeps small numbers small.

    Parameters
    ----------
    table : FoldTable
        Dense rows and targets (n, t).
    fit_intercept : bool
        Whether the common point is near the mean; else it is 0.
    walk : callable, default=map
        As in `FoldSums`.

    Examples
    --------
    >>> rows = np.arange(4.0)
    >>> split = [(np.array([2, 3]), np.array([0, 1])), (np.array([0, 1]), np.array([2, 3]))]
    >>> FoldMoments(FoldTable(rows[:, None], rows[:, None], split), False).training(0)
    array([[13., 13.,  5.],
           [13., 13.,  5.],
           [ 5.,  5.,  2.]])
    """

    def __init__(self, table: FoldTable, fit_intercept: bool, walk: Any = map) -> None:
        X, Y = table.X, table.y
        some = slice(None, None, max(1, table.n // 1000))
        self.table, self.fit_intercept = table, fit_intercept
        self.shift = X[some].mean(axis=0, dtype=float) if fit_intercept else np.zeros(X.shape[1])
        self.target_shift = Y[some].mean(axis=0) if fit_intercept else np.zeros(Y.shape[1])
        self._compiled = X.dtype.kind == "f" and many_products(*X.shape)
        self._rooms = GramSum.rooms(len(table.folds), X.shape[1] + Y.shape[1]) if self._compiled else []
        self.sums = FoldSums(table, self._tally, _trusted, walk)

    def training(self, k: int, room: Array | None = None) -> Array:
        """M of the training rows of fold k; ``room``: memory that it may be written to."""
        return np.asarray(self.sums.training(k, partial(np.subtract, out=room)))

    def offset(self, coef: Array, mean: Array, target: Array) -> Array:
        """Offsets of ``coef`` (..., t, d), given ``mean`` and ``target``, those of the shifted rows and targets."""
        if not self.fit_intercept:
            return np.zeros(coef.shape[:-1])
        return np.asarray(target + self.target_shift - coef @ (mean + self.shift))

    def _tally(self, rows: Rows) -> Array:
        X, Y, weights = self.table.X, self.table.y, self.table.weights
        index = np.arange(len(X))[rows] if isinstance(rows, slice) else rows
        if self._compiled:
            return self._by_loop(index)
        d, t = X.shape[1], Y.shape[1]
        total: Array | None = None  # zeros of that size would take longer to touch than a product to add
        # Columns lie as they do in X: to copy them the other way round takes longer than to read them.
        buffer = np.empty((min(_ROWS, max(len(index), 1)), d + t + 1), order="F" if X.flags.f_contiguous else "C")
        for i in range(0, len(index), _ROWS):
            part = rows_of(index[i : i + _ROWS])
            block = buffer[: len(index[i : i + _ROWS])]
            np.subtract(X[part], self.shift, out=block[:, :d])
            np.subtract(Y[part], self.target_shift, out=block[:, d:-1])
            block[:, -1] = 1.0
            if weights is not None:
                block *= np.sqrt(weights[part])[:, None]
            product: Array = block.T @ block
            total = product if total is None else np.add(total, product, out=total)
        return np.zeros((d + t + 1, d + t + 1)) if total is None else total

    def _by_loop(self, index: Array) -> Array:
        """The same by the compiled loop, which needs rows that lie one after the other."""
        X, d = self.table.X, self.table.X.shape[1]
        R = self.table.y[index] - self.target_shift
        weights = np.empty(0) if self.table.weights is None else self.table.weights[index]
        room, step = self._rooms.pop() if self._rooms else None, max(16, _NUMBERS // d)
        sums = GramSum(self.shift, R.shape[1], len(weights) > 0, room=room)
        block = np.empty((min(step, len(index)), d))
        for i in range(0, len(index), step):
            part = slice(i, i + step)
            some = X[rows_of(index[part])]
            np.copyto(block[: len(some)], some)
            sums.add(block[: len(some)], R[part], weights[part])
        return sums.whole()


def _trusted(rest: Array, total: Array) -> bool:
    """A fold that holds nearly all of a column's size would leave only rounding of it."""
    return bool(np.all(np.diag(rest) >= _CANCELLED * np.diag(total)))
