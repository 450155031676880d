"""Coordinates in which units and origins of columns do not matter: centred, scaled, ones last."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from certifit._types import Array
from certifit.design._design import Design
from certifit.design._gram_pass import compiled_gram, compiled_loop_suits
from certifit.design._linalg import cholesky
from certifit.parallel import by_ranges, sum_over_rows

_BLOCK = 2048  # rows per block of a weighted Gram matrix
_SOME = 4096  # rows that are enough to find a centre and a scale
_SMALL = 1e-70  # units below it, or above its inverse, are taken off the rows before these are multiplied


@dataclass(frozen=True)
class Coordinates:
    """Rows (x − centre)/unit without a copy of X, followed by 1 where there is an offset.

    Scores are A θ with A the matrix of these rows and θ of shape (p, K). Where means dwarf the spread of a column, the
    rows are copied after all, so that no digits are lost: ``mean`` and ``scale`` are what is still to be taken off the
    rows of the design, the centre and unit or nothing.

    Examples
    --------
    >>> from certifit.design import as_design
    >>> A = Coordinates.of(as_design(np.array([[1.0], [3.0]])), np.ones(2), True)
    >>> A.rows(slice(None))
    array([[-1.,  1.],
           [ 1.,  1.]])
    >>> A.raw(np.array([[2.0], [5.0]]))
    (array([[2.]]), array([1.]))
    """

    design: Design
    mean: Array
    scale: Array
    fit_intercept: bool
    centre: Array  # what was subtracted from the raw columns
    unit: Array  # and what they were divided by
    ready: bool = False  # whether the rows of the design are those of A, ones included
    many: bool = False  # whether they are some of so many that compiled loops are used in any case

    @classmethod
    def of(cls, design: Design, weights: Array, fit_intercept: bool) -> Coordinates:
        """Centre and scale from evenly spread rows: any will do."""
        rows = slice(None, None, max(1, design.shape[0] // _SOME))
        s, X = weights[rows], design.take(rows)
        if not s.sum() > 0:
            s, X = weights, design.X
        d, total = design.shape[1], s.sum()
        mean = np.asarray(X.T @ s) / total if fit_intercept else np.zeros(d)
        top = np.ones(d)
        with np.errstate(over="ignore"):
            square = _squares(X, s) / total
        if not np.all(np.isfinite(square)):  # beyond 1e154: measured in units of the largest entry
            size = abs(X).max(axis=0)
            top = np.maximum(size.toarray().ravel() if design.is_sparse else size, 1.0)
            square = _squares(X.multiply(1.0 / top).tocsr() if design.is_sparse else X / top, s) / total
        spread = top * np.sqrt(np.maximum(square - (mean / top) ** 2, 0.0))
        if not design.is_sparse and np.any(np.abs(mean) > 1e3 * spread):
            centred = design.X - mean
            spread = np.sqrt(weights @ np.square(centred) / weights.sum())
            unit = np.where(spread > 0, spread, 1.0)
            return cls(Design(centred / unit), np.zeros(d), np.ones(d), fit_intercept, mean, unit)
        unit = np.where(spread > 1e-150, spread, 1.0)
        return cls(design, mean, unit, fit_intercept, mean, unit)

    @property
    def width(self) -> int:
        """p: columns, and one for the offset."""
        return self.design.shape[1] + self.fit_intercept

    def outward(self, theta: Array) -> tuple[Array, Array]:
        """Coefficients (d, K) and offsets (K,) for the rows of the design."""
        d = self.design.shape[1]
        w = theta[:d] / self.scale[:, None]
        shift = -(self.mean @ w)
        return w, (shift + theta[d] if self.fit_intercept else shift)

    def product(self, theta: Array) -> Array:
        """(n, K) scores of (p, K) coordinates."""
        w, shift = self.outward(theta)
        return self.design.product(w) + shift

    def product_t(self, R: Array) -> Array:
        """(p, K) from (n, K)."""
        return self.gathered(self.design.product_t(R), R.sum(axis=0))

    def gathered(self, top: Array, total: Array) -> Array:
        """(p, K) from XᵀR and the column sums of R."""
        top = (top - np.outer(self.mean, total)) / self.scale[:, None]
        return np.vstack([top, total]) if self.fit_intercept else top

    def rows(self, index: Array | slice, out: Array | None = None) -> Array:
        """Dense block of rows, ones last; ``out`` is memory for it."""
        X = self.design.take(index)
        if self.ready and out is None:
            return np.asarray(X)
        A = np.empty((X.shape[0], self.width)) if out is None else out
        inner = A[:, : X.shape[1]]
        if self.ready:
            inner[...] = X
            return A
        A[:, X.shape[1] :] = 1.0
        np.subtract(X.toarray() if self.design.is_sparse else X, self.mean, out=inner)
        inner /= self.scale
        return A

    def some(self, index: Array) -> Coordinates:
        """The same coordinates on some of the rows: centred, scaled and with their ones once and for all."""
        if self.design.is_sparse:
            return replace(self, design=Design(self.design.X[index]))
        A = np.empty((len(index), self.width))

        def fill(first: int, last: int) -> None:
            self.rows(index[first:last], A[first:last])

        by_ranges(fill, len(index), _BLOCK)
        nothing, ones = np.zeros(A.shape[1]), np.ones(A.shape[1])
        many = self.many or compiled_loop_suits(self.design.stored)
        return Coordinates(Design(A), nothing, ones, False, nothing, ones, ready=True, many=many)

    def taken(self, index: Array) -> Coordinates:
        """The same coordinates on some of the rows, which are copied as they are, for loops that centre as they read.

        With few rows of many a product is multiplied by the compiled loop, too.
        """
        return replace(self, design=self.design.some(index), many=True)

    def among(self, keep: Array) -> Coordinates:
        """The same rows with some of their coordinates: ``keep`` (p,) says which, the offset always among them."""
        columns = np.flatnonzero(keep[: self.design.shape[1]])
        X = self.design.X[:, columns] if self.design.is_sparse else self.design.X.take(columns, axis=1)
        mean, scale, centre, unit = (part[columns] for part in (self.mean, self.scale, self.centre, self.unit))
        return replace(self, design=Design(X), mean=mean, scale=scale, centre=centre, unit=unit)

    def raw(self, theta: Array) -> tuple[Array, Array]:
        """Coefficients (K, d) and offsets (K,) in the user's units."""
        d = self.design.shape[1]
        W = theta[:d] / self.unit[:, None]
        b = theta[d] - self.centre @ W if self.fit_intercept else np.zeros(theta.shape[1])
        return W.T.copy(), np.asarray(b)

    def inward(self, W: Array, b: Array) -> Array:
        """Coordinates of (K, d) coefficients and (K,) offsets."""
        top = (W * self.unit).T
        return np.vstack([top, b + W @ self.centre]) if self.fit_intercept else top

    def padded(self, values: Array) -> Array:
        """Values (d,) or (d, K) of the columns, with zeros for the offset."""
        return np.concatenate([values, np.zeros((self.width - len(values), *values.shape[1:]))])

    def gram(self, h: Array, rough: bool = False) -> Array:
        """Aᵀ diag(h) A for h ≥ 0 (n,); where rows are many, the loop that multiplies them needs no scaled copies.

        Rows of single precision are multiplied in it where a ``rough`` product is enough.
        """
        d = self.design.shape[1]
        usual = np.all((self.scale > _SMALL) & (self.scale < 1.0 / _SMALL))
        if self.design.is_sparse or not (usual and (self.many or compiled_loop_suits(self.design.stored))):

            def work(rows: slice) -> tuple[Array]:
                A = self.rows(rows) * np.sqrt(h[rows])[:, None]
                return (A.T @ A,)

            return np.asarray(sum_over_rows(work, (len(h), self.width), _BLOCK)[0])
        G = np.empty((self.width, self.width))
        narrow = rough and self.design.stored.dtype == np.float32
        dtype = np.float32 if narrow else np.float64
        inner, _, sums = compiled_gram(self.design.stored, None, h, self.mean, dtype)
        G[:d, :d] = inner / np.outer(self.scale, self.scale)
        if self.fit_intercept:
            G[:d, d] = G[d, :d] = sums / self.scale
            G[d, d] = h.sum()
        return G

    def squares(self, h: Array) -> Array:
        """The diagonal of `gram`."""
        if self.design.is_sparse:  # about the mean, of rows that are not centred
            inner, total = _squares(self.design.X, h), h.sum()
            sums = np.asarray(self.design.X.T @ h).ravel()
            inner = np.maximum(inner - 2.0 * self.mean * sums + self.mean**2 * total, 0.0) / self.scale**2
            return np.append(inner, total) if self.fit_intercept else inner
        return np.asarray(
            sum_over_rows(lambda rows: (h[rows] @ np.square(self.rows(rows)),), (len(h), self.width), _BLOCK)[0]
        )

    def inverse_root(self, h: Array) -> Array | None:
        """T with (Aᵀ diag(h) A)⁻¹ = T Tᵀ; None where the columns depend on each other."""
        G = self.gram(h)
        root = np.sqrt(np.maximum(np.diag(G), 1e-300))
        factor = cholesky(G / np.outer(root, root))
        if factor is None or factor.rcond < 1e-13:
            return None
        return np.asarray(factor.inverse_root() / root[:, None])


def _squares(X: Array, s: Array) -> Array:
    """Σ sᵢ xᵢⱼ² of each column, dense or sparse."""
    return np.asarray((np.square(X) if isinstance(X, np.ndarray) else X.multiply(X)).T @ s).ravel()
