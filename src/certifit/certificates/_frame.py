"""Coordinates and factors in which a quadratic form can be bounded rigorously."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse

from certifit._types import Array, Matrix
from certifit.certificates._ball import UNIT, Ball, dot_t, gamma, to_float


def rounded(x: Ball) -> Ball:
    """An exact ball as floats, rounded once."""
    mid = to_float(x.mid)
    return Ball(mid, 2 * UNIT * np.abs(mid))


@dataclass(frozen=True)
class Frame:
    """Coordinates in which the columns are centred and of size about one; all changes are exact."""

    A: Matrix  # columns X − c, then ones if there is an offset (as rounded)
    root: Array  # √s
    centre: Array  # c
    scale: Array  # D, powers of two
    fit_intercept: bool

    @classmethod
    def of(cls, X: Matrix, weights: Array, fit_intercept: bool) -> Frame:
        n, d = X.shape
        total = weights.sum()
        centre = np.zeros(d)
        if scipy.sparse.issparse(X):  # centring would fill the zeros; the ones column does without
            A: Matrix = scipy.sparse.hstack([X, np.ones((n, 1))], format="csr") if fit_intercept else X
            size = np.sqrt(np.asarray(A.multiply(A).T @ weights).ravel())
        else:
            if fit_intercept and total > 0:
                with np.errstate(over="ignore"):
                    centre = np.nan_to_num(weights @ X / total, posinf=0.0, neginf=0.0)
            A = np.empty((n, d + fit_intercept))
            np.subtract(X, centre, out=A[:, :d])
            A[:, d:] = 1.0
            size = np.array([scipy.linalg.norm(c, check_finite=False) for c in (np.sqrt(weights)[:, None] * A).T])
        with np.errstate(divide="ignore"):
            scale = np.where(size > 0, 2.0 ** np.round(np.log2(np.where(size > 0, size, 1.0))), 1.0)
        return cls(A, np.sqrt(weights), centre, scale, fit_intercept)

    def matrix(self) -> Array:
        """√s A D⁻¹, dense; every entry has a relative error of at most 4u."""
        A = self.A.toarray() if scipy.sparse.issparse(self.A) else self.A
        return self.root[:, None] * A / self.scale

    def half_gradient(self, residual: Ball, weights: Array, X: Matrix) -> Ball:
        """D⁻¹Aᵀ S r, with the rounding of A itself (an exact residual gives q rounded once)."""
        rho = residual * weights
        if residual.exact:
            q = dot_t(X, rho)
            if self.fit_intercept:
                total = rho.sum()
                q = Ball(np.append((q - total * self.centre).mid, total.mid))
            q = q / self.scale
            return rounded(q)
        q = dot_t(self.A, rho)
        extra = 2 * UNIT * to_float(dot_t(abs(self.A), Ball(rho.magnitude)).upper)
        return Ball(q.mid, q.rad + extra) / self.scale

    def coordinates(self, w: Array, b: float) -> Array:
        """θ = D·(w, b + c·w), as floats (used for sizes only)."""
        theta = np.append(w, b + self.centre @ w) if self.fit_intercept else w
        return theta * self.scale


@dataclass(frozen=True)
class Factor:
    """T with ‖TᵀHT − I‖ ≤ ε < 1."""

    T: Array
    epsilon: float


def gram_factor(B: Array, ridge: Array) -> Factor | None:
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
    wrong = gamma(n + 12) * float(np.trace(G)) * 1.01 + 2 * UNIT * float(np.abs(H).sum())
    rounding = gamma(2 * p + 4) * float(np.linalg.norm(np.abs(T.T) @ np.abs(H) @ np.abs(T)))
    epsilon = float(np.linalg.norm(M - np.eye(p))) + rounding + wrong * float(size**2) * 1.01
    return Factor(T, epsilon) if epsilon < 0.5 else None


def qr_factor(B: Array, ridge: Array) -> Factor | None:
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
        slack = gamma(p + 12) * float(np.linalg.norm(np.abs(B) @ np.abs(T)))
        size = float(np.linalg.norm(Q))
        epsilon = float(np.linalg.norm(Q.T @ Q - np.eye(p))) + gamma(len(B) + 4) * size**2
        epsilon += 2 * size * slack + slack**2
    return Factor(T, epsilon) if epsilon < 0.5 else None
