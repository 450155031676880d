"""One face for dense and sparse matrices, and their first and second moments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse

from certifit._types import Array, Matrix
from certifit.design._gram_pass import GramBeside, compiled_loop_suits, gram_pass
from certifit.design._products import product, transposed_product
from certifit.parallel import sum_over_rows

_ROWS = 4096  # rows handled at a time
_FEW = 1 << 20  # numbers up to which single precision saves too little
_TINY = 1e-25  # mean squares below which single precision loses digits to underflow
_NUMBERS = 1 << 17  # of single precision that are widened at a time: they stay in a cache


@dataclass(frozen=True)
class Moments:
    """Weighted first and second moments of columns (and targets): mergeable, so folds can share one pass."""

    total: float  # Σ sᵢ
    mean: Array  # weighted column means (zeros when not centring)
    gram: Array  # Σ sᵢ (xᵢ − mean)(xᵢ − mean)ᵀ
    target_mean: Array
    cross: Array  # Σ sᵢ (xᵢ − mean)(yᵢ − target_mean)ᵀ
    target_squares: Array  # Σ sᵢ (yᵢ − target_mean)²


@dataclass(frozen=True)
class GramSums:
    """Sums over rows without weights, and the targets they were taken with."""

    target_mean: Array
    R: Array  # targets less their mean
    parts: tuple[Array, Array, Array]  # XᵀX, XᵀR and the sums of the columns


class MomentSums:
    """What `Design.moments` sums over rows without weights, taken along by the read that validates X (see `look`).

    ``taken`` is what to hand to `Design.moments` after that read, or to `Design.rough_moments` where rows are in single
    precision; None where X is small or lies otherwise in memory.

    Examples
    --------
    >>> MomentSums(True).begin(np.eye(2), np.ones(2)) is None
    True
    """

    def __init__(self, centre: bool) -> None:
        self.centre = centre
        self._sums: GramBeside | None = None

    def begin(self, X: Array, y: Array) -> GramBeside | None:
        """What reads rows of X beside `look`; y has one target a row, or several."""
        if X.shape[0] < X.shape[1] or not compiled_loop_suits(X):
            return None
        Y = np.asarray(y, dtype=float).reshape(len(y), -1)
        self._mean = _target_mean(Y, None, float(len(Y)), self.centre)
        self._sums = GramBeside(X, Y - self._mean, dtype=X.dtype.type)
        return self._sums

    @property
    def taken(self) -> GramSums | None:
        return None if self._sums is None else GramSums(self._mean, self._sums.R, self._sums.parts())


@dataclass(frozen=True)
class Design:
    """X with its products; rows may be dense or CSR, always float64 (`Narrow` keeps float32 ones until they are used).

    Examples
    --------
    >>> design = as_design(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> design.product(np.array([1.0, 1.0]))
    array([3., 7.])
    """

    X: Matrix

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.X.shape
        return n, d

    @property
    def stored(self) -> Array:
        """Dense rows as they lie in memory."""
        return np.asarray(self.X)

    @property
    def narrow_rows(self) -> Array | None:
        """Rows in single precision one after the other in memory, for loops that read them as they are; else None."""
        return None

    @property
    def is_sparse(self) -> bool:
        return bool(scipy.sparse.issparse(self.X))

    @cached_property
    def by_column(self) -> Matrix:
        """Sparse X, column by column."""
        return self.X.tocsc().astype(float, copy=False)

    def take(self, index: Array | slice) -> Matrix:
        """Some rows of X."""
        return self.X[index]

    def some(self, index: Array | slice) -> Design:
        """A design of some rows, stored as all of them are."""
        return Design(self.X[index])

    def product(self, w: Array) -> Array:
        """X w."""
        return np.asarray(self.X @ w) if self.is_sparse else product(self.X, w)

    def product_t(self, r: Array) -> Array:
        """Xᵀ r."""
        if self.is_sparse:
            return np.asarray(self.X.T @ r)
        return transposed_product(self.X, r)

    def dense(self) -> Array:
        """X as a dense array (a copy only when it is sparse)."""
        return np.asarray(self.X.toarray() if self.is_sparse else self.X)

    def column_means(self, weights: Array | None = None) -> Array:
        """Weighted means of the columns."""
        n = self.shape[0]
        w = np.ones(n) if weights is None else weights
        return np.asarray(self.product_t(w) / w.sum())

    def centred(self, mean: Array, root: Array | None = None) -> Array:
        """Dense √s (X − mean), a fresh array."""
        A = self.dense() - mean
        if root is not None:
            A *= root[:, None]
        return A

    def gram(self, weights: Array | None = None) -> Array:
        """XᵀSX."""
        if self.is_sparse:
            W = self.X if weights is None else self.X.multiply(weights[:, None]).tocsr()
            return np.asarray((self.X.T @ W).toarray())
        return gram_pass(self.stored, None, weights)[0]

    def moments(self, Y: Array, weights: Array | None, centre: bool, taken: GramSums | None = None) -> Moments:
        """First and second moments with the targets Y (n, t); one pass for the Gram matrix, unless it was ``taken``.

        Means are removed algebraically (G − S m mᵀ) unless they dwarf the spread of a column, where that would
        cancel; then the rows are shifted before they are multiplied.
        """
        n, d = self.shape
        total = float(n if weights is None else weights.sum())
        target_mean = _target_mean(Y, weights, total, centre) if taken is None else taken.target_mean
        R = Y - target_mean if taken is None else taken.R
        WR = R if weights is None else R * weights[:, None]
        if self.is_sparse:
            s = np.ones(n) if weights is None else weights
            gram, cross, sums = self.gram(weights), self.product_t(WR), self.product_t(s)
        else:
            gram, cross, sums = gram_pass(self.stored, R, weights) if taken is None else taken.parts
        squares = np.einsum("it,it->t", R, WR)
        if not centre:
            return Moments(total, np.zeros(d), gram, target_mean, cross, squares)
        mean, raw = sums / total, np.diag(gram)
        gram = gram - total * np.outer(mean, mean)
        if np.any(np.diag(gram) < 1e-4 * raw):
            gram, cross = self._shifted(mean, R, weights)
        else:
            cross = cross - np.outer(mean, WR.sum(axis=0))
        return Moments(total, mean, gram, target_mean, cross, squares)

    def rough_moments(self, Y: Array, centre: bool, taken: GramSums | None = None) -> Moments | None:
        """Moments with the digits of single precision, at its speed, for those who refine what they make of them.

        None where rows are not in single precision, are few, or have numbers or means too large or too small for it.
        """
        return None

    def _shifted(self, mean: Array, R: Array, weights: Array | None) -> tuple[Array, Array]:
        """Moments of shifted rows, block by block."""
        if not self.is_sparse:
            return gram_pass(self.stored, R, weights, mean)[:2]

        def work(i: slice) -> tuple[Array, Array]:
            block = self.X[i].toarray() - mean
            heavy = block if weights is None else block * weights[i, None]
            return block.T @ heavy, heavy.T @ R[i]

        gram, cross = sum_over_rows(work, self.shape, _ROWS)
        return gram, cross


class Narrow(Design):
    """Dense rows in single precision: read as they are, half the bytes, and widened a block at a time.

    Every product is formed in double precision; only what asks for all of ``X`` makes a copy of it.

    Examples
    --------
    >>> Narrow(np.ones((2, 1), dtype=np.float32)).product_t(np.array([1.0, 2.0]))
    array([3.])
    """

    rows: Array

    def __init__(self, rows: Array) -> None:
        object.__setattr__(self, "rows", rows)

    @property
    def stored(self) -> Array:
        return self.rows

    @property
    def narrow_rows(self) -> Array | None:
        """As in `Design`."""
        return self.rows if self.rows.flags.c_contiguous and self.rows.size > _FEW else None

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows.shape

    @property
    def is_sparse(self) -> bool:
        return False

    @cached_property
    def X(self) -> Array:
        return self.rows.astype(float)

    def take(self, index: Array | slice) -> Array:
        """Some rows, in double precision."""
        return self.rows[index].astype(float)

    def some(self, index: Array | slice) -> Design:
        """As in `Design`."""
        return Narrow(self.rows[index])

    def product(self, w: Array) -> Array:
        """X w."""
        out = np.empty((self.shape[0], *w.shape[1:]))

        def work(rows: slice) -> tuple[()]:
            np.matmul(self.take(rows), w, out=out[rows])
            return ()

        sum_over_rows(work, self.shape, self._block)
        return out

    def product_t(self, r: Array) -> Array:
        """Xᵀ r."""
        return np.asarray(sum_over_rows(lambda rows: (self.take(rows).T @ r[rows],), self.shape, self._block)[0])

    def moments(self, Y: Array, weights: Array | None, centre: bool, taken: GramSums | None = None) -> Moments:
        """As in `Design`; the sums that were taken are rough ones, and of no use here."""
        return super().moments(Y, weights, centre)

    def rough_moments(self, Y: Array, centre: bool, taken: GramSums | None = None) -> Moments | None:
        """As in `Design`."""
        n, d = self.shape
        if n * d <= _FEW:
            return None
        if taken is None:
            target_mean = _target_mean(Y, None, float(n), centre)
            taken = GramSums(target_mean, Y - target_mean, gram_pass(self.rows, Y - target_mean, rough=True))
        gram, cross, sums = taken.parts
        mean, raw = sums / n if centre else np.zeros(d), np.diag(gram)
        gram = gram - n * np.outer(mean, mean)
        kept = np.diag(gram) > 0.5 * raw
        if not (np.all(np.isfinite(gram)) and np.all(np.isfinite(cross)) and np.all(kept & (raw > _TINY * n))):
            return None
        return Moments(float(n), mean, gram, taken.target_mean, cross, np.einsum("it,it->t", taken.R, taken.R))

    @property
    def _block(self) -> int:
        return max(64, _NUMBERS // max(1, self.shape[1]))


def _target_mean(Y: Array, weights: Array | None, total: float, centre: bool) -> Array:
    """The means of the targets; zeros when not centring."""
    if not centre:
        return np.zeros(Y.shape[1])
    return Y.mean(axis=0) if weights is None else weights @ Y / total


def as_design(X: Matrix) -> Design:
    """X (dense or sparse, any float or integer dtype) as a Design."""
    if isinstance(X, np.ndarray) and X.dtype == np.float32 and X.size > _NUMBERS:
        return Narrow(X)
    if scipy.sparse.issparse(X):
        return Design(X.tocsr().astype(float, copy=False))
    return Design(np.asarray(X, dtype=float))
