"""Mean and covariance in one read, mergeable.

Rows are shifted by the mean of the first ones where that is far from zero, so that columns such as 10⁸ ± 1 keep their
digits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from certifit._types import Array, Matrix
from certifit.design import GramBeside, compiled_loop_suits, gram_pass, look

_FIRST = 512  # rows that tell where the columns lie


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
        n = X.shape[0]
        if scipy.sparse.issparse(X):  # centred afterwards: shifting would fill the zeros
            X = X.astype(float)
            mean = np.asarray(X.mean(axis=0)).ravel()
            return cls(float(n), mean, (X.T @ X).toarray() - n * np.outer(mean, mean))
        shift = _origin(X)
        with np.errstate(invalid="ignore", over="ignore"):
            return cls._around(shift, n, gram_pass(X, shift=shift))

    @classmethod
    def with_fingerprint(cls, X: Matrix) -> tuple[Covariance, int | None]:
        """The same, and `certifit.design.fingerprint` of X from the same read (None where X is small, or sparse)."""
        if scipy.sparse.issparse(X) or not compiled_loop_suits(X):
            return cls.of(X), None
        shift = _origin(X)
        sums = GramBeside(X, np.empty((len(X), 0)), shift)
        found, _ = look(X, sums.take, folds=True)
        return cls._around(shift, len(X), sums.parts()), found

    @classmethod
    def _around(cls, shift: Array | None, n: int, found: tuple[Array, Array, Array]) -> Covariance:
        """From the sums of `gram_pass` around a point near the mean."""
        product, _, sums = found
        with np.errstate(invalid="ignore", over="ignore"):  # shows in the result, where it is reported
            step = sums / n
            mean = step if shift is None else shift + step
            return cls(float(n), mean, product - n * np.outer(step, step))

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


def _origin(X: Array) -> Array | None:
    """The mean of the first rows; None where it is less than the spread, so that centring afterwards costs no digit."""
    first = np.asarray(X[:_FIRST], dtype=float)
    with np.errstate(invalid="ignore", over="ignore"):
        mean, spread = first.mean(axis=0), first.std(axis=0)
    return mean if np.any(np.abs(mean) > spread) else None
