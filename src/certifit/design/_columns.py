r"""Columns as coordinate solvers see them: weighted, centred, and gathered a few at a time.

The matrix in question is A = √S (X − 1 mᵀ), with S the weights and m the weighted column means (zero without an
offset). It is never formed as a whole; only the gathered columns are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse

from certifit._types import Array
from certifit.design._design import Design
from certifit.design._linalg import powers_of_two
from certifit.design._products import transposed_product

_DENSE = 40_000_000  # entries up to which gathered sparse columns are made dense
_GATHERED = 2_000  # columns that a working set is expected to hold
_THIN = 0.05  # share of numbers other than zero up to which columns are best left sparse


@dataclass(frozen=True)
class CentredColumns:
    """A = √S (X − 1 mᵀ), by products and gathered columns.

    Examples
    --------
    >>> from certifit.design import as_design
    >>> A = CentredColumns.of(as_design(np.array([[1.0, 0.0], [3.0, 2.0]])), None, True)
    >>> A.correlate(np.array([-1.0, 1.0]))
    array([2., 2.])
    """

    design: Design
    root: Array | None  # √s, None for ones
    mean: Array | None  # None without an offset
    total: float  # Σ s

    @classmethod
    def of(cls, design: Design, weights: Array | None, centre: bool) -> CentredColumns:
        total = float(design.shape[0] if weights is None else weights.sum())
        mean = design.column_means(weights) if centre else None
        return cls(design, None if weights is None else np.sqrt(weights), mean, total)

    @property
    def shape(self) -> tuple[int, int]:
        return self.design.shape

    def target(self, y: Array) -> tuple[Array, float]:
        """√s (y − mean), and the mean."""
        s = 1.0 if self.root is None else self.root
        centre = 0.0 if self.mean is None else float(np.sum(s * s * y) / self.total)
        return s * (y - centre), centre

    def correlate(self, R: Array) -> Array:
        """Aᵀ R for one residual or several (n, k)."""
        flat = R.reshape(len(R), -1)
        SR = flat if self.root is None else flat * self.root[:, None]
        Q = self.design.product_t(SR)
        if self.mean is not None:
            Q = Q - np.outer(self.mean, SR.sum(axis=0))
        return Q.reshape(-1, *R.shape[1:])

    def product(self, W: Array) -> Array:
        """A W for one vector of coefficients or several (d, k)."""
        Z = self.design.product(W)
        if self.mean is not None:
            Z = Z - self.mean @ W
        if self.root is not None:
            Z = Z * (self.root if Z.ndim == 1 else self.root[:, None])
        return Z

    @cached_property
    def thin(self) -> bool:
        """Whether few numbers are not zero, and no mean dwarfs a spread, so that sparse columns lose no digits."""
        X = self.design.X
        if not self.design.is_sparse or X.nnz > _THIN * X.shape[0] * X.shape[1]:
            return False
        s = np.ones(X.shape[0]) if self.root is None else self.root**2
        squares = np.asarray(X.multiply(X).T @ s).ravel()
        return self.mean is None or bool(np.all(self.total * self.mean**2 <= 0.5 * squares))

    def gather(self, which: Array, thin: bool = False) -> Block:
        """The columns ``which`` of A, scaled by powers of two to a norm near one; ``thin`` ones stay sparse."""
        n, d = self.shape
        X = self.design.X
        mean = np.zeros(len(which)) if self.mean is None else self.mean[which]
        if not self.design.is_sparse or (n * min(d, _GATHERED) <= _DENSE and not thin):
            D = np.asfortranarray(X[:, which].toarray() if self.design.is_sparse else X[:, which])
            if self.mean is not None:
                D -= mean
            if self.root is not None:
                D *= self.root[:, None]
            scale = powers_of_two(np.sqrt(np.einsum("ij,ij->j", D, D)))
            D /= scale
            return Block(D, None, None, scale, self.total)
        part = self.design.by_column[:, which]
        root = np.ones(n) if self.root is None else self.root
        squares = np.asarray(part.multiply(part).T @ root**2).ravel() - self.total * mean**2
        scale = powers_of_two(np.sqrt(np.maximum(squares, 0.0)))
        part = (part @ scipy.sparse.diags_array(1.0 / scale)).tocsc()
        return Block(part, root, mean / scale, scale, self.total)


@dataclass(frozen=True)
class Block:
    """Gathered columns, divided by ``scale``; dense, or sparse with the centring kept apart."""

    values: Any
    root: Array | None
    mean: Array | None
    scale: Array
    total: float
    spare: Array | None = None  # the larger array of which dense values are the first columns

    @property
    def is_sparse(self) -> bool:
        return bool(scipy.sparse.issparse(self.values))

    def product(self, W: Array) -> Array:
        if self.root is None or self.mean is None:
            return np.asarray(self.values @ W)
        out = self.values @ W - self.mean @ W
        return np.asarray(self.root * out if out.ndim == 1 else self.root[:, None] * out)

    def correlate(self, R: Array) -> Array:
        if self.root is None or self.mean is None:
            return self.values.T @ R if self.is_sparse else transposed_product(self.values, R)
        SR = self.root * R if R.ndim == 1 else self.root[:, None] * R
        return np.asarray(
            self.values.T @ SR - (np.outer(self.mean, SR.sum(axis=0)) if R.ndim > 1 else self.mean * SR.sum())
        )

    def cross(self, other: Block) -> Array:
        """selfᵀ other."""
        if self.root is None or self.mean is None or other.mean is None:
            if self is other or self.is_sparse:
                return np.asarray(self.values.T @ other.values)  # NumPy calls syrk for this pattern
            return transposed_product(self.values, other.values)
        weighted = scipy.sparse.diags_array(self.root**2) @ other.values
        return np.asarray((self.values.T @ weighted).toarray()) - self.total * np.outer(self.mean, other.mean)

    def join(self, other: Block) -> Block:
        """Both, side by side; dense columns are appended in place while there is room, so drop ``self`` afterwards."""
        scale = np.concatenate([self.scale, other.scale])
        if self.root is None or self.mean is None or other.mean is None:
            n, m, k = len(self.values), len(self.scale), len(scale)
            spare = self.spare
            if spare is None or spare.shape[1] < k:
                spare = np.empty((n, max(2 * k, min(_GATHERED, _DENSE // max(n, 1)))), order="F")
                spare[:, :m] = self.values
            spare[:, m:k] = other.values
            return Block(spare[:, :k], None, None, scale, self.total, spare)
        values = scipy.sparse.hstack([self.values, other.values], format="csc")
        return Block(values, self.root, np.concatenate([self.mean, other.mean]), scale, self.total)
