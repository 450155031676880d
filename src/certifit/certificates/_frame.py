"""Coordinates and factors in which a quadratic form can be bounded rigorously, whatever the units of the data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse

from certifit._types import Array, Matrix
from certifit.certificates._ball import ETA, UNIT, Ball, dot_t, gamma, shifted, times_power, to_float

_LIGHT = -900  # rows whose weight is below 2^−900 of the largest are left out of H, which only makes H smaller
_FAINT = 2.0**-400  # a column this small after scaling has lost digits to underflow: no factor


def rounded(x: Ball) -> Ball:
    """An exact ball as floats, rounded once."""
    mid = to_float(x.mid)
    return Ball(mid, np.where(x.mid == 0, 0.0, 2 * UNIT * np.abs(mid) + ETA))


@dataclass(frozen=True)
class Frame:
    """Coordinates θ = D(w, b + c·w), D = 2^power, in which √s(X − c, 1)D⁻¹ has columns of size about one.

    Scaling by powers of two is exact, and is done column by column before anything is multiplied, so that tables in
    units of 1e-300 or 1e300 neither vanish nor overflow.
    """

    A: Matrix  # columns (X − c)·2^−level, rounded once, then ones if there is an offset
    level: Array  # of the columns of A
    root: Array  # √s·2^−half, zero for rows that are too light to count
    half: int
    centre: Array  # c
    power: Array
    fit_intercept: bool

    @classmethod
    def of(cls, X: Matrix, weights: Array, fit_intercept: bool, ridge: float = 0.0) -> Frame:
        """The frame of these rows; ``ridge`` is the curvature that a penalty adds to each of the d columns."""
        n, d = X.shape
        top = float(np.max(weights, initial=0.0))
        half = int(np.frexp(top)[1]) // 2
        root = np.sqrt(np.ldexp(np.where(weights < np.ldexp(top, _LIGHT), 0.0, weights), -2 * half))
        centre = np.zeros(d)
        level = np.zeros(d + fit_intercept, dtype=int)
        if scipy.sparse.issparse(X):  # centring would fill the zeros; the ones column does without
            level[:d] = _exponents(np.asarray(abs(X).max(axis=0).toarray()).ravel())
            data = np.ldexp(X.data, -level[X.indices])
            A: Matrix = scipy.sparse.csr_matrix((data, X.indices, X.indptr), shape=X.shape)
            A = scipy.sparse.hstack([A, np.ones((n, 1))], format="csr") if fit_intercept else A
            size = np.asarray(np.sqrt(A.multiply(A).T @ np.square(root))).ravel()
        else:
            square = np.square(root)
            if fit_intercept and square.sum() > 0:
                centre = np.nan_to_num(square / square.sum() @ X, nan=0.0, posinf=0.0, neginf=0.0)
            A = np.ones((n, d + fit_intercept))
            np.subtract(X, centre, out=A[:, :d])
            level[:d] = _exponents(np.abs(A[:, :d]).max(axis=0, initial=0.0))
            A[:, :d] = times_power(A[:, :d], -level[:d])
            size = np.array([scipy.linalg.norm(column, check_finite=False) for column in (root[:, None] * A).T])
        power = level + half + _exponents(size * np.sqrt(0.5))
        if ridge > 0.0:
            power[:d] = np.maximum(power[:d], int(np.frexp(ridge)[1]) // 2)
        return cls(A, level, root, half, centre, power, fit_intercept)

    def matrix(self) -> Array:
        """√s A D⁻¹, dense; every entry has a relative error of at most 4u (NaN where underflow took more)."""
        A = self.A.toarray() if scipy.sparse.issparse(self.A) else self.A
        B = self.root[:, None] * A
        small = np.flatnonzero(np.abs(B).max(axis=0, initial=0.0) < _FAINT)
        found = times_power(B, self.level + self.half - self.power)
        found[:, small[np.any((A[:, small] != 0.0) & (self.root > 0.0)[:, None], axis=0)]] = np.nan
        return found

    def ridge(self, strength: float) -> Array:
        """The diagonal D⁻²·strength on the columns, zero on the offset."""
        found = np.ldexp(strength, -2 * self.power)
        found[len(self.centre) :] = 0.0
        return found

    def half_gradient(self, residual: Ball, weights: Array, X: Matrix) -> Ball:
        """D⁻¹Aᵀ S r, with the rounding of A itself (an exact residual gives q rounded once)."""
        rho = residual * weights
        if residual.exact:
            q = dot_t(X, rho)
            if self.fit_intercept:
                total = rho.sum()
                q = Ball(np.append((q - total * self.centre).mid, total.mid))
            return rounded(shifted(q, -self.power))
        q = dot_t(self.A, rho)
        size = rho.magnitude
        extra = 2 * UNIT * to_float(dot_t(abs(self.A), Ball(size)).upper) + ETA * (1.0 + float(size.sum()))
        return shifted(Ball(q.mid, q.rad + extra), self.level - self.power)


def _exponents(size: Array) -> Array:
    """e with size about 2^e (0 where the size is zero or not a number)."""
    return np.where(np.isfinite(size) & (size > 0), np.frexp(size)[1], 0).astype(int)


@dataclass(frozen=True)
class Factor:
    """T with ‖TᵀHT − I‖ ≤ ε < 1."""

    T: Array
    epsilon: float


def factor_of(frame: Frame, strength: float = 0.0) -> Factor | None:
    """T for H = D⁻¹(AᵀSA + strength)D⁻¹, cheaply where the condition number allows, else by QR; None: no T."""
    B, ridge = frame.matrix(), frame.ridge(strength)
    if not np.all(np.isfinite(B)):
        return None
    return _gram_factor(B, ridge) or _qr_factor(B, ridge)


def _gram_factor(B: Array, ridge: Array) -> Factor | None:
    """T from a Cholesky factor of the Gram matrix: cheap, for condition numbers up to about 1e6."""
    n, p = B.shape
    G = B.T @ B
    H = G + np.diag(ridge)
    try:
        T = scipy.linalg.solve_triangular(np.linalg.cholesky(H), np.eye(p), lower=True).T
    except (np.linalg.LinAlgError, ValueError):
        return None
    M = T.T @ H @ T
    size = np.linalg.norm(T)
    # |BᵀB − G| ≤ γ|B|ᵀ|B| entrywise, whose norm is at most that of the diagonal's outer product.
    wrong = gamma(n + 12) * float(np.trace(G)) * 1.01 + 2 * UNIT * float(np.abs(H).sum()) + n * p * ETA
    rounding = gamma(2 * p + 4) * float(np.linalg.norm(np.abs(T.T) @ np.abs(H) @ np.abs(T)))
    epsilon = float(np.linalg.norm(M - np.eye(p))) + rounding + wrong * float(size**2) * 1.01
    return Factor(T, epsilon) if epsilon < 0.5 else None


def _qr_factor(B: Array, ridge: Array) -> Factor | None:
    """T from a QR factor of B itself: for condition numbers up to about 1e14."""
    p = B.shape[1]
    if np.any(ridge > 0):
        B = np.vstack([B, np.diag(np.sqrt(ridge))])
    if B.shape[0] < p:
        return None
    R = np.linalg.qr(B, mode="r")
    if not np.all(np.isfinite(R)) or np.any(np.diag(R) == 0.0):
        return None
    with np.errstate(all="ignore"):
        T = scipy.linalg.solve_triangular(R, np.eye(p), check_finite=False)
        Q = B @ T
        slack = gamma(p + 12) * float(np.linalg.norm(np.abs(B) @ np.abs(T))) + B.size * ETA * float(np.abs(T).sum())
        size = float(np.linalg.norm(Q))
        epsilon = float(np.linalg.norm(Q.T @ Q - np.eye(p))) + gamma(len(B) + 4) * size**2
        epsilon += 2 * size * slack + slack**2
    return Factor(T, epsilon) if epsilon < 0.5 else None
