"""Mean and covariance in one read, mergeable.

Rows are taken in blocks, shifted by the mean of the first rows and multiplied by BLAS (NumPy knows AᵀA for what it is
and does half the work), so that columns such as 10⁸ ± 1 keep their digits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from certifit._types import Array, Matrix

_ENTRIES = 1 << 18  # entries of X per block: small enough to stay in cache between shift and product


@dataclass(frozen=True)
class Covariance:
    """Number of rows, mean (d,) and Σ (x − mean)(x − mean)ᵀ (d, d).

    Attributes
    ----------
    total : float
        Number of rows (or their weight).
    mean : (d,) array
    scatter : (d, d) array

    Examples
    --------
    >>> a, b = Covariance.of(np.array([[1.0], [2.0]])), Covariance.of(np.array([[6.0]]))
    >>> (a + b).scatter.item(), (a + b).mean.item()
    (14.0, 3.0)
    """

    total: float
    mean: Array
    scatter: Array

    @classmethod
    def of(cls, X: Matrix) -> Covariance:
        """Statistics of rows X."""
        n, d = X.shape
        if scipy.sparse.issparse(X):  # centred afterwards: shifting would fill the zeros
            X = X.astype(float)
            mean = np.asarray(X.mean(axis=0)).ravel()
            return cls(float(n), mean, (X.T @ X).toarray() - n * np.outer(mean, mean))
        shift = np.asarray(X[: min(n, 512)].mean(axis=0, dtype=float))
        rows = max(64, _ENTRIES // d)
        product, sums, block = np.zeros((d, d)), np.zeros(d), np.empty((min(rows, n), d))
        for start in range(0, n, rows):
            part = block[: min(rows, n - start)]
            with np.errstate(invalid="ignore", over="ignore"):  # shows in the result, where it is reported
                np.subtract(X[start : start + rows], shift, out=part)
                sums += part.sum(axis=0)
                product += part.T @ part
        step = sums / n
        with np.errstate(invalid="ignore", over="ignore"):
            return cls(float(n), shift + step, product - n * np.outer(step, step))

    def __add__(self, other: Covariance) -> Covariance:
        total = self.total + other.total
        step = other.mean - self.mean
        between = (self.total * other.total / total) * np.outer(step, step)
        return Covariance(total, self.mean + step * (other.total / total), self.scatter + other.scatter + between)

    def __sub__(self, part: Covariance) -> Covariance:
        total = self.total - part.total
        mean = self.mean + (self.mean - part.mean) * (part.total / total)
        step = mean - part.mean
        between = (total * part.total / self.total) * np.outer(step, step)
        return Covariance(total, mean, self.scatter - part.scatter - between)
