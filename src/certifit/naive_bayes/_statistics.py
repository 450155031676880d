"""What naive Bayes learns of the data: sums per class that can be added and taken apart again.

`ClassMoments` and `ClassCounts` are the sufficient statistics. They are computed in one read of the rows,
merged with ``+`` (more data) and reduced with ``-`` (a fold left out), so that cross-validation reads the data once.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import scipy.sparse

from certifit._types import Array, Matrix
from certifit.design import look
from certifit.loops import moments
from certifit.parallel import ranges, side_by_side

_NO_WEIGHT = np.zeros(0)
_SMALL = 1 << 20  # cells below which threads do not pay
_STRIPES = 8  # ranges of rows that are summed on their own: a fixed number, so that rounding is always the same


@dataclass(frozen=True)
class ClassMoments:
    """Per class: weight (K,), mean (K, d), and Σ w (x − mean)² (K, d).

    Examples
    --------
    >>> X, y = np.array([[1.0], [3.0], [10.0]]), np.array([0, 0, 1])
    >>> ClassMoments.of(X, y, 2).mean.ravel().tolist()
    [2.0, 10.0]
    """

    total: Array
    mean: Array
    scatter: Array

    @classmethod
    def of(cls, X: Array, codes: Array, K: int, weight: Array | None = None) -> ClassMoments:
        """Statistics of rows X whose classes are ``codes``."""
        X = X if X.flags.c_contiguous else np.ascontiguousarray(X)
        running = _Running(X, codes, K, weight)
        stripes = ranges(len(X), _STRIPES if X.size > _SMALL and len(X) > _STRIPES * 8 * K else 1)
        if len(stripes) == 1:
            running.take(0, 0, len(X))
        else:
            side_by_side(lambda stripe: running.take(stripe, *stripes[stripe]), range(len(stripes)))
        return running.merged()

    @classmethod
    def with_fingerprint(
        cls, X: Array, codes: Array, K: int, weight: Array | None = None
    ) -> tuple[ClassMoments, int | None]:
        """The same, and `certifit.design.fingerprint` of X from the same read (None where X is too small to mind)."""
        if X.size <= _SMALL or not X.flags.c_contiguous:
            return cls.of(X, codes, K, weight), None
        running = _Running(X, codes, K, weight)
        moments.class_moments.pays(X, *[None] * 6)  # whether to compile is a matter of all rows, not of the first piece
        found, _ = look(X, running.take)
        return running.merged(), found

    @classmethod
    def of_cells(cls, X: Array, codes: Array, K: int, weight: Array | None = None) -> ClassMoments:
        """Statistics of the cells that are not NaN: ``total`` is then (K, d)."""
        if not np.isnan(X).any():
            plain = cls.of(X, codes, K, weight)
            return cls(np.repeat(plain.total[:, None], X.shape[1], axis=1), plain.mean, plain.scatter)
        d = X.shape[1]
        out = cls(np.zeros((K, d)), np.zeros((K, d)), np.zeros((K, d)))
        moments.class_moments_missing(
            np.ascontiguousarray(X),
            codes,
            _NO_WEIGHT if weight is None else weight,
            out.total,
            out.mean,
            out.scatter,
        )
        return out

    @property
    def weight(self) -> Array:
        """The weight behind each mean, as a matrix."""
        return self.total if self.total.ndim == 2 else self.total[:, None]

    def __add__(self, other: ClassMoments) -> ClassMoments:
        share = other.weight / _or_one(self.weight + other.weight)
        step = other.mean - self.mean
        between = self.weight * share * step**2
        return ClassMoments(self.total + other.total, self.mean + step * share, self.scatter + other.scatter + between)

    def __sub__(self, part: ClassMoments) -> ClassMoments:
        left = self.weight - part.weight
        mean = self.mean + (self.mean - part.mean) * (part.weight / _or_one(left))
        between = left * part.weight / _or_one(self.weight) * (mean - part.mean) ** 2
        scatter = np.maximum(self.scatter - part.scatter - between, 0.0)
        return ClassMoments(self.total - part.total, mean, scatter)

    def keep(self, classes: Array) -> ClassMoments:
        """Only some classes."""
        return ClassMoments(self.total[classes], self.mean[classes], self.scatter[classes])

    @property
    def class_total(self) -> Array:
        """Weight per class."""
        return self.total

    @property
    def variance(self) -> Array:
        """Variance per class and column (zero for a class without rows)."""
        return self.scatter / _or_one(self.weight)

    @property
    def column_variance(self) -> Array:
        """Variance of each column over all rows: within plus between the classes."""
        share = self.weight / _or_one(self.weight.sum(axis=0))
        centre = np.take_along_axis(self.mean, np.argmax(self.weight + 0 * self.mean, axis=0)[None, :], axis=0)
        offset = np.where(self.weight > 0, self.mean - centre, 0.0)
        spread = offset - (share * offset).sum(axis=0)
        with np.errstate(over="ignore"):
            return np.asarray((share * (self.variance + spread**2)).sum(axis=0))

    @property
    def column_mean(self) -> Array:
        """Mean of each column over all rows."""
        share = self.weight / _or_one(self.weight.sum(axis=0))
        return np.asarray((share * self.mean).sum(axis=0))


class _Running:
    """Class moments under way: each stripe of rows is summed on its own, and its rows may come in pieces."""

    def __init__(self, X: Array, codes: Array, K: int, weight: Array | None) -> None:
        self.X, self.codes, self.K = X, codes, K
        self.weight = _NO_WEIGHT if weight is None else weight
        self.stripes: dict[int, tuple[Array, Array]] = {}

    def take(self, stripe: int, first: int, last: int) -> None:
        """Add rows first to last to a stripe."""
        if stripe not in self.stripes:
            self.stripes[stripe] = np.zeros(self.K), np.zeros((3, self.K, self.X.shape[1]))
        total, (mean, rest, scatter) = self.stripes[stripe]
        rows = slice(first, last)
        moments.class_moments(self.X[rows], self.codes[rows], self.weight[rows], total, mean, rest, scatter)

    def merged(self) -> ClassMoments:
        """The moments of all rows, put together in their order."""
        parts = (ClassMoments(total, mean, scatter) for _, (total, (mean, _, scatter)) in sorted(self.stripes.items()))
        with np.errstate(invalid="ignore", over="ignore"):  # what is not finite is refused by the caller
            return reduce(operator.add, parts)


def _or_one(weight: Array) -> Array:
    """Weights to divide by: nothing over nothing is nothing."""
    return np.where(weight > 0, weight, 1.0)


@dataclass(frozen=True)
class ClassCounts:
    """Per class: weight (K,) and weighted counts of each cell (K, m).

    With ``sizes`` the cells are the categories of each feature, side by side, and more may be seen later.

    Examples
    --------
    >>> a = ClassCounts.of_categories(np.array([[0], [1]]), np.array([0, 0]), 1, np.array([2]))
    >>> b = ClassCounts.of_categories(np.array([[2]]), np.array([0]), 1, np.array([3]))
    >>> (a + b).cells.tolist()
    [[1.0, 1.0, 1.0]]
    """

    class_total: Array
    cells: Array
    sizes: Array | None = None

    @classmethod
    def of(cls, X: Matrix, codes: Array, K: int, weight: Array | None = None) -> ClassCounts:
        """Column sums per class of a dense or sparse table of counts."""
        n = X.shape[0]
        w = np.ones(n) if weight is None else weight
        members = scipy.sparse.csr_array((w, (codes, np.arange(n))), shape=(K, n))
        cells = members @ X
        cells = np.asarray(cells.toarray() if scipy.sparse.issparse(cells) else cells, dtype=float)
        return cls(_class_weights(codes, K, weight), cells)

    @classmethod
    def of_categories(cls, X: Array, codes: Array, K: int, sizes: Array, weight: Array | None = None) -> ClassCounts:
        """Counts of category numbers; negative numbers are missing cells."""
        start = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        cells = np.zeros((K, int(np.sum(sizes))))
        rows = np.ascontiguousarray(X, dtype=np.int64)
        moments.category_counts(rows, codes, _NO_WEIGHT if weight is None else weight, start, cells)
        return cls(_class_weights(codes, K, weight), cells, np.asarray(sizes))

    @property
    def by_feature(self) -> list[Array]:
        """One (K, size) table per categorical feature."""
        assert self.sizes is not None
        return np.split(self.cells, np.cumsum(self.sizes)[:-1], axis=1) if len(self.sizes) else []

    def _widened(self, sizes: Array | None) -> Array:
        """The counts with room for more categories."""
        if sizes is None or self.sizes is None or np.array_equal(sizes, self.sizes):
            return self.cells
        parts = [np.pad(t, ((0, 0), (0, int(m) - t.shape[1]))) for t, m in zip(self.by_feature, sizes)]
        return np.hstack(parts)

    def __add__(self, other: ClassCounts) -> ClassCounts:
        sizes = None
        if self.sizes is not None and other.sizes is not None:
            sizes = np.maximum(self.sizes, other.sizes)
        total = self.class_total + other.class_total
        return ClassCounts(total, self._widened(sizes) + other._widened(sizes), sizes)

    def __sub__(self, part: ClassCounts) -> ClassCounts:
        return ClassCounts(self.class_total - part.class_total, self.cells - part._widened(self.sizes), self.sizes)

    def keep(self, classes: Array) -> ClassCounts:
        """Only some classes."""
        return ClassCounts(self.class_total[classes], self.cells[classes], self.sizes)


def _class_weights(codes: Array, K: int, weight: Array | None) -> Array:
    """Weight of each class."""
    return np.bincount(codes, weights=weight, minlength=K).astype(float)


@dataclass(frozen=True)
class MixedStatistics:
    """Moments of the numeric columns and counts of the others; missing cells left out of both."""

    class_total: Array
    numbers: ClassMoments
    categories: ClassCounts

    @classmethod
    def of(
        cls, numbers: Array, categories: Array, codes: Array, K: int, sizes: Array, weight: Array | None = None
    ) -> MixedStatistics:
        """Statistics of numeric columns with NaN, and of category numbers with −1, where cells are missing."""
        counts = ClassCounts.of_categories(categories, codes, K, sizes, weight)
        return cls(counts.class_total, ClassMoments.of_cells(numbers, codes, K, weight), counts)

    def __add__(self, other: MixedStatistics) -> MixedStatistics:
        return self._joined(other, operator.add)

    def __sub__(self, part: MixedStatistics) -> MixedStatistics:
        return self._joined(part, operator.sub)

    def _joined(self, other: MixedStatistics, merge: Callable[[Any, Any], Any]) -> MixedStatistics:
        return MixedStatistics(
            merge(self.class_total, other.class_total),
            merge(self.numbers, other.numbers),
            merge(self.categories, other.categories),
        )

    def keep(self, classes: Array) -> MixedStatistics:
        """Only some classes."""
        return MixedStatistics(self.class_total[classes], self.numbers.keep(classes), self.categories.keep(classes))
