r"""Evidence of Bayesian linear regression in spectral coordinates: O(d) per evaluation after one decomposition.

Model: y = Φw + noise, noise ~ N(0, 1/α), w ~ N(0, I/λ); Gamma(α₁, α₂) and Gamma(λ₁, λ₂) priors on α and λ. Rows are
weighted (weight k is k copies), columns and y are centred when there is an offset. With Φ = U diag(s) Vᵀ, z = Uᵀy:

.. math:: \log p(y \mid \alpha, \lambda) = \tfrac12\Big[d\log\lambda + n\log\alpha - \alpha\,\mathrm{sse}
          - \lambda\lVert w\rVert^2 - \sum_k\log(\lambda + \alpha s_k^2) - (d - r)\log\lambda - n\log 2\pi\Big].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.optimize

from certifit._types import Array
from certifit.solvers import Solution, drive

_ROWS = 4096  # of a block: it stays in a cache while it is reduced
_FIXED_POINT_STEPS = 30  # of MacKay's, before a quasi-Newton method takes over


class Hyper(NamedTuple):
    """Parameters of the Gamma priors on α and λ."""

    alpha_1: float
    alpha_2: float
    lambda_1: float
    lambda_2: float


@dataclass(frozen=True)
class Spectral:
    """Data in the coordinates where the posterior is diagonal."""

    V: Array  # (r, d) right singular vectors
    s: Array  # (r,) singular values
    z: Array  # (r,) Uᵀy
    outside: float  # squared length of y outside the span
    n: float  # total weight
    d: int

    @classmethod
    def of(cls, Phi: Array, y: Array, weight: Array | None) -> Spectral:
        """Rows are first reduced to a triangle with the same singular values, (Φ | y) = Q R: a block at a time."""
        n, d = Phi.shape
        R: Any = np.empty((0, d + 1))
        step = max(_ROWS, 4 * d)
        for first in range(0, n, step):
            part = slice(first, first + step)
            rows = np.column_stack([Phi[part], y[part]])
            if weight is not None:
                rows *= np.sqrt(weight[part])[:, None]
            R = np.linalg.qr(np.vstack([R, rows]), mode="r")
        U, s, V = scipy.linalg.svd(R[:, :d], full_matrices=False, check_finite=False)
        z = U.T @ R[:, d]
        rest = R[:, d] - U @ z
        total = float(n) if weight is None else float(weight.sum())
        return cls(V, s, z, float(rest @ rest), total, d)

    def fit(self, alpha: float, lam: float) -> tuple[Array, float, float, float]:
        """Coefficients (spectral), their squared length, the squared error, and the effective parameters γ."""
        ratio = lam / alpha
        c = self.s * self.z / (self.s**2 + ratio)
        miss = self.z * (ratio / (self.s**2 + ratio))
        gamma = float(np.sum(alpha * self.s**2 / (lam + alpha * self.s**2)))
        return c, float(c @ c), float(miss @ miss) + self.outside, gamma

    def log_evidence(self, alpha: float, lam: float) -> float:
        """log p(y | α, λ)."""
        _, size, sse, _ = self.fit(alpha, lam)
        logdet = float(np.sum(np.log(lam + alpha * self.s**2))) + (self.d - len(self.s)) * np.log(lam)
        constant = self.d * np.log(lam) + self.n * np.log(alpha) - self.n * np.log(2 * np.pi)
        return float(0.5 * (constant - alpha * sse - lam * size - logdet))

    def log_posterior(self, alpha: float, lam: float, h: Hyper) -> float:
        """log evidence plus the log priors of α and λ (up to their constants): what is maximised."""
        prior = h.lambda_1 * np.log(lam) - h.lambda_2 * lam + h.alpha_1 * np.log(alpha) - h.alpha_2 * alpha
        return self.log_evidence(alpha, lam) + float(prior)

    def slope(self, alpha: float, lam: float, h: Hyper) -> Array:
        """Derivative of `log_posterior` by log α and log λ."""
        _, size, sse, gamma = self.fit(alpha, lam)
        by_alpha = 0.5 * (self.n - gamma - alpha * sse) + h.alpha_1 - h.alpha_2 * alpha
        by_lam = 0.5 * (gamma - lam * size) + h.lambda_1 - h.lambda_2 * lam
        return np.array([by_alpha, by_lam])

    def covariance(self, alpha: float, lam: float) -> Array:
        """The posterior covariance (λI + αΦᵀΦ)⁻¹."""
        full = (self.V.T / (lam + alpha * self.s**2)) @ self.V
        if len(self.s) < self.d:  # directions without data keep the prior
            full = full + (np.eye(self.d) - self.V.T @ self.V) / lam
        return (full + full.T) / 2


class Precisions(NamedTuple):
    """α and λ, the log posterior there, and how many steps led there."""

    alpha: float
    lam: float
    objective: float
    steps: int = 0
    polished: bool = False
    gap: float = np.nan
    step: float = np.nan


def maximise_evidence(
    data: Spectral,
    h: Hyper,
    start: tuple[float, float],
    free: tuple[bool, bool],
    tol: float,
    max_iter: int,
    time_budget: float | None = None,
) -> Solution:
    """MacKay's fixed-point steps, then quasi-Newton in (log α, log λ) where those crawl; fixed ones stay.

    ``value`` is `Precisions`; the trace has the columns ``alpha`` and ``lambda``, and its objective rises.
    """
    which = np.array(free)

    def advance(at: Precisions) -> Precisions:
        if at.steps >= _FIXED_POINT_STEPS:
            return _polish(data, at, h, which, max_iter - at.steps)
        _, size, sse, gamma = data.fit(at.alpha, at.lam)
        alpha, lam = at.alpha, at.lam
        if free[1]:
            lam = (gamma + 2 * h.lambda_1) / max(size + 2 * h.lambda_2, 1e-300)
        if free[0]:
            alpha = max(data.n - gamma + 2 * h.alpha_1, 1e-300) / max(sse + 2 * h.alpha_2, 1e-300)
        return Precisions(alpha, lam, data.log_posterior(alpha, lam, h), at.steps + 1)

    def finished(before: Precisions, after: Precisions) -> str:
        if np.all(np.abs(data.slope(after.alpha, after.lam, h)[which]) <= tol * data.n):
            return "converged"
        if after.steps >= max_iter:
            return "max_iter"
        return "precision" if after.polished else ""

    first = Precisions(*start, data.log_posterior(*start, h))
    run = drive(
        first, advance, finished, max_iter, time_budget, True,
        events=lambda at: [{"iteration": at.steps, "alpha": at.alpha, "lambda": at.lam}], check_start=True,
    )  # fmt: skip
    return Solution(run.state, run.status, run.stats | {"n_iter": run.state.steps, "method": "evidence maximisation"})


def _polish(data: Spectral, at: Precisions, h: Hyper, which: Array, steps: int) -> Precisions:
    base = np.log([at.alpha, at.lam])

    def point(t: Array) -> tuple[float, float]:
        x = base.copy()
        x[which] = np.clip(t, -200.0, 200.0)
        return float(np.exp(x[0])), float(np.exp(x[1]))

    def slope(t: Array) -> Array:
        return -data.slope(*point(t), h)[which] / data.n

    def score(t: Array) -> float:
        return -data.log_posterior(*point(t), h) / data.n

    # Values settle near √(machine precision) of the maximum; solving for a zero slope gives the other digits.
    climb: Any = scipy.optimize.minimize(score, base[which], jac=slope, method="BFGS", options={"maxiter": steps})
    settle: Any = scipy.optimize.root(slope, climb.x, method="hybr", options={"xtol": 1e-14})
    chosen = at.alpha, at.lam
    best = np.linalg.norm(slope(base[which]))
    for t in (climb.x, settle.x):
        if np.linalg.norm(slope(t)) <= best and score(t) <= score(base[which]) + 1e-9:
            best = np.linalg.norm(slope(t))
            chosen = point(t)
    return Precisions(*chosen, data.log_posterior(*chosen, h), at.steps + int(climb.nit), True)
