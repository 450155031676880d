"""Roads to the leading eigenvectors of a covariance: d × d, n × n, singular values, or a random start.

Convention: variances fall; rows of ``vectors`` are orthonormal; the entry of largest size in each is positive.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
from scipy.sparse.linalg import LinearOperator, svds

from certifit._types import Array, Matrix
from certifit.decomposition._covariance import Covariance
from certifit.parallel import one_thread


@dataclass(frozen=True)
class Spectrum:
    """Leading variances and directions, with the variance of the whole."""

    mean: Array
    variances: Array
    vectors: Array
    total: float


def choose_solver(shape: tuple[int, int], n_components: Any, sparse: bool) -> str:
    """The road that ``svd_solver="auto"`` takes."""
    n, d = shape
    small = min(n, d)
    if sparse:
        return "covariance_eigh" if d <= 1000 else "arpack"
    if d <= 1000 and n >= 10 * d:
        return "covariance_eigh"
    if max(n, d) <= 500 or n_components == "mle":
        return "full"
    few = isinstance(n_components, (int, np.integer)) and 1 <= n_components < 0.8 * small
    if few and small > 1000 and n_components <= 0.1 * small:
        return "randomized"
    if few:
        return "covariance_eigh" if d <= n else "gram_eigh"
    return "full"


def turn(vectors: Array) -> Array:
    """Signs that do not depend on the road: the largest entry of each row is positive."""
    if vectors.size == 0:
        return vectors
    top = np.take_along_axis(vectors, np.argmax(np.abs(vectors), axis=1)[:, None], axis=1)
    return vectors * np.where(top < 0, -1.0, 1.0)


def by_covariance(s: Covariance, count: int | None = None) -> Spectrum:
    """Eigenvectors of the d × d matrix; ``count`` leading ones, or all."""
    d = len(s.mean)
    C = s.scatter / (s.total - 1.0)
    if d > 400 and count is not None and 0 < count < d:
        values, vectors = scipy.linalg.eigh(C, subset_by_index=[d - count, d - 1], check_finite=False)
    elif d > 400:
        values, vectors = np.linalg.eigh(C)
    else:  # small: on one thread, for a second one would go on spinning while the caller reads X
        with one_thread():
            values, vectors = np.linalg.eigh(C)
    values = np.maximum(values[::-1], 0.0)
    return Spectrum(s.mean, values, turn(vectors[:, ::-1].T), float(np.trace(C)))


def _centred(X: Matrix) -> tuple[Array, Array]:
    """x − mean as dense rows, and the mean."""
    X = np.asarray(X, dtype=float)
    shift = X[0]
    mean = shift + (X - shift).mean(axis=0)
    T = X - mean
    T -= T.mean(axis=0)
    return T, mean


def by_gram(X: Matrix) -> Spectrum:
    """Eigenvectors of the n × n matrix of inner products, carried over: uₖ = Tᵀvₖ/‖Tᵀvₖ‖."""
    T, mean = _centred(X)
    values, vectors = scipy.linalg.eigh(T @ T.T / (len(T) - 1.0), check_finite=False)
    values = np.maximum(values[::-1], 0.0)
    size = np.sqrt(values * (len(T) - 1.0))
    rows = (vectors[:, ::-1].T @ T) / np.where(size > 0, size, 1.0)[:, None]
    # Directions of (nearly) no variance are lost in rounding: any that complete the others will do.
    Q, R = np.linalg.qr(rows.T)
    signs = np.where(np.diag(R) < 0, -1.0, 1.0)
    return Spectrum(mean, values, turn((Q * signs).T), float(values.sum()))


def by_svd(X: Matrix) -> Spectrum:
    """Singular vectors of the centred rows: the most accurate road."""
    T, mean = _centred(X)
    _, S, Vt = scipy.linalg.svd(T, full_matrices=False, check_finite=False)
    values = S**2 / (len(T) - 1.0)
    return Spectrum(mean, values, turn(Vt), float(values.sum()))


class _Centred:
    """Products with X − mean without filling the zeros of a sparse X."""

    def __init__(self, X: Matrix) -> None:
        self.sparse, self.freedom = scipy.sparse.issparse(X), X.shape[0] - 1.0
        if self.sparse:
            self.X, self.mean = X, np.asarray(X.mean(axis=0), dtype=float).ravel()
            squares = float(X.multiply(X).sum()) - X.shape[0] * float(self.mean @ self.mean)
        else:
            self.X, self.mean = _centred(X)
            squares = float(np.einsum("ij,ij->", self.X, self.X))
        self.variance = max(squares, 0.0) / self.freedom

    def times(self, B: Array) -> Array:
        out = np.asarray(self.X @ B)
        return out - self.mean @ B if self.sparse else out

    def transposed(self, B: Array) -> Array:
        out = np.asarray(self.X.T @ B)
        return out - np.multiply.outer(self.mean, B.sum(axis=0)) if self.sparse else out


def by_random_start(X: Matrix, count: int, oversamples: int, power: int, rng: np.random.RandomState) -> Spectrum:
    """Subspace iteration from random directions (Halko, Martinsson, Tropp 2011), orthonormalised at every step.

    The components are the best ones within the subspace that was found, so that the variances are those of the scores.
    """
    op = _Centred(X)
    n, d = X.shape
    Q = rng.standard_normal((d, min(count + oversamples, n, d)))
    for _ in range(power + 1):
        Q, _ = np.linalg.qr(op.times(Q))
        Q, _ = np.linalg.qr(op.transposed(Q))
    _, S, Wt = scipy.linalg.svd(op.times(Q), full_matrices=False)
    return Spectrum(op.mean, S[:count] ** 2 / op.freedom, turn(Wt[:count] @ Q.T), op.variance)


def by_lanczos(X: Matrix, count: int, tol: float, rng: np.random.RandomState) -> Spectrum:
    """ARPACK's Lanczos iteration on the centred rows."""
    op = _Centred(X)
    linear = LinearOperator(X.shape, matvec=op.times, rmatvec=op.transposed, dtype=float)
    _, S, Vt = svds(linear, k=count, tol=tol, v0=rng.uniform(-1, 1, min(X.shape)))
    order = np.argsort(-S)
    return Spectrum(op.mean, S[order] ** 2 / op.freedom, turn(Vt[order]), op.variance)
