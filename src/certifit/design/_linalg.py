"""Factorisations of small matrices.

NumPy and SciPy each bring a BLAS with threads of its own, and on few cores the idle threads of the one (they spin for a
while) slow the other down tenfold. Large products go through NumPy; what is small goes through here, on one thread.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.linalg.lapack import dpocon, dpotrf, dtrtri

from certifit._types import Array
from certifit.parallel import one_thread

OVERFLOW = "Floating-point under-/overflow occurred in the fit: rescale columns and weights first."


@dataclass(frozen=True)
class Cholesky:
    """H = C Cᵀ with its reciprocal condition number (an estimate, in the 1-norm).

    Examples
    --------
    >>> H = np.array([[4.0, 2.0], [2.0, 3.0]])
    >>> cholesky(H).solve(np.array([8.0, 7.0]))
    array([1.25, 1.5 ])
    """

    C: Array
    rcond: float

    def solve(self, b: Array) -> Array:
        """H⁻¹ b."""
        with one_thread():
            return np.asarray(scipy.linalg.cho_solve((self.C, True), b, check_finite=False))

    def inverse_root(self) -> Array:
        """T with H⁻¹ = T Tᵀ."""
        with one_thread():
            return np.asarray(dtrtri(self.C, lower=1)[0].T)


def cholesky(H: Array) -> Cholesky | None:
    """The factor of a symmetric matrix, or None when it is not positive definite."""
    with one_thread():
        C, info = dpotrf(H, lower=1, clean=1)
        if info != 0 or not np.all(np.isfinite(C)):
            return None
        return Cholesky(C, float(dpocon(C, np.abs(H).sum(axis=0).max(initial=0.0), uplo="L")[0]))


def lifted_cholesky(H: Array, *, lift: tuple[float, ...], least: float = 0.0) -> Cholesky | None:
    """The factor of H with as little ridge, in units of its diagonal, as it takes; None where none is enough.

    ``lift`` is what to try, smallest first; ``least`` the share of a diagonal entry that its pivot must keep.

    Examples
    --------
    >>> H = np.ones((2, 2))
    >>> lifted_cholesky(H, lift=(0.0,), least=1e-13) is None
    True
    >>> lifted_cholesky(H, lift=(0.0, 1e-6), least=1e-13).C.shape
    (2, 2)
    """
    size = np.maximum(np.diag(H), 1e-300)
    for extra in lift:
        found = cholesky(H + np.diag(extra * size) if extra else H)
        if found is not None and (least == 0.0 or np.min(np.diag(found.C) ** 2 / size) > least):
            return found
    return None


@dataclass(frozen=True)
class PseudoInverse:
    """H⁺ of a symmetric positive semi-definite matrix: steps of least length where H is flat."""

    vectors: Array
    values: Array

    def solve(self, b: Array) -> Array:
        """H⁺ b."""
        return self.vectors @ ((self.vectors.T @ b) / self.values)


def pseudo_inverse(H: Array) -> PseudoInverse:
    """Eigenvalues below rounding count as zero."""
    if not np.all(np.isfinite(H)):  # LAPACK would never come back
        raise ValueError(OVERFLOW)
    with one_thread():
        values, vectors = scipy.linalg.eigh(H, check_finite=False)
    keep = values > len(H) * 1e-14 * max(float(values[-1]), 1e-300)
    return PseudoInverse(vectors[:, keep], values[keep])


def powers_of_two(size: Array) -> Array:
    """The nearest powers of two, by which scaling is exact; 1 where a size is zero or not finite.

    Examples
    --------
    >>> powers_of_two(np.array([0.9, 3.1, 0.0]))
    array([1., 4., 1.])
    """
    usable = (size > 0) & np.isfinite(size)
    return np.where(usable, 2.0 ** np.round(np.log2(np.where(usable, size, 1.0))), 1.0)
