"""Newton's method with backtracking, for smooth losses with a squared-norm penalty or none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from certifit._types import Array
from certifit.design import cholesky
from certifit.problem import Problem
from certifit.solvers._driver import drive
from certifit.solvers._solution import Solution

_PATIENCE = 40  # halvings of a step


@dataclass(frozen=True)
class _State:
    theta: Array  # (w, b) in scaled, centred columns
    objective: float
    gap: float
    step: float
    decrement: float  # half of gᵀH⁻¹g: what the quadratic model still promises


class _Scaled:
    """The problem in centred columns of spread one: units of columns do not matter to Newton's method."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.s, self.total = problem, problem.s, problem.total
        X = problem.design.dense()
        self.mean = self.s @ X / self.total if problem.fit_intercept else np.zeros(X.shape[1])
        A = X - self.mean
        size = np.sqrt(self.s @ (A * A) / self.total)
        self.scale = np.where(size > 0, size, 1.0)
        self.A = np.hstack([A / self.scale, np.ones((len(X), 1 if problem.fit_intercept else 0))])
        self.d = X.shape[1]
        self.bend = problem.lam * problem.regularizer.convexity / self.scale**2

    def raw(self, theta: Array) -> tuple[Array, float]:
        w = theta[: self.d] / self.scale
        return w, float(theta[self.d] - self.mean @ w) if self.problem.fit_intercept else 0.0

    def value(self, theta: Array) -> float:
        w, _ = self.raw(theta)
        with np.errstate(over="ignore"):
            fit = float(self.s @ self.problem.loss.value(self.A @ theta, self.problem.y)) / self.total
        return fit + self.problem.lam * float(self.problem.regularizer.value(w))

    def derivatives(self, theta: Array) -> tuple[Array, Array]:
        z, y, loss = self.A @ theta, self.problem.y, self.problem.loss
        w, _ = self.raw(theta)
        g = self.A.T @ (self.s * loss.slope(z, y)) / self.total
        g[: self.d] += self.problem.lam * self.problem.regularizer.gradient(w) / self.scale
        H = (self.A * (self.s * loss.curvature(z, y))[:, None]).T @ self.A / self.total
        H[np.arange(self.d), np.arange(self.d)] += self.bend
        return g, H


def newton(
    problem: Problem, tol: float = 1e-8, max_iter: int = 100, time_budget: float | None = None, trace: bool = False
) -> Solution:
    r"""Minimise J by steps :math:`-H^{-1}\nabla J`, halved until J falls enough (Armijo).

    With λ > 0 it stops when the duality gap is at most tol times the null model, without when ½gᵀH⁻¹g is.

    Examples
    --------
    >>> from certifit.design import as_design
    >>> from certifit.losses import Logistic
    >>> from certifit.regularizers import SquaredL2
    >>> X, y = np.array([[-1.0], [0.5], [-0.2], [2.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> found = newton(Problem(as_design(X), y, Logistic(), SquaredL2(0.5), 0.1, None, True), tol=1e-12)
    >>> found.status, round(float(found.value[0][0]), 4)
    ('converged', 0.7682)
    """
    scaled = _Scaled(problem)
    theta = np.zeros(scaled.A.shape[1])
    if problem.fit_intercept:
        theta[scaled.d] = problem.best_intercept(np.zeros(scaled.d))
    null = max(scaled.value(theta), 1e-300)

    def gap(at: Array, objective: float) -> float:
        if problem.lam == 0.0:
            return np.nan
        w, _ = scaled.raw(at)
        b = problem.best_intercept(w)
        return max(min(objective, problem.objective(w, b)) - problem.dual_value(w, b), 0.0)

    def advance(s: _State) -> _State:
        g, H = scaled.derivatives(s.theta)
        step = -_solve(H, g)
        promise = float(-g @ step)
        t, value = 1.0, np.inf
        for _ in range(_PATIENCE):
            value = scaled.value(s.theta + t * step)
            if value <= s.objective - 1e-4 * t * promise:
                break
            t *= 0.5
        else:
            t, value = 0.0, s.objective
        after = s.theta + t * step
        return _State(after, value, gap(after, value), t, 0.5 * promise)

    def finished(before: _State, after: _State) -> bool:
        small = after.decrement <= tol * null and after.step == 1.0
        return after.step == 0.0 or (small if np.isnan(after.gap) else after.gap <= tol * null)

    first = _State(theta, null, gap(theta, null), 0.0, np.inf)
    run = drive(first, advance, finished, max_iter, time_budget, trace)
    w, b = scaled.raw(run.state.theta)
    stats = {**run.stats, "method": "newton", "gap": run.state.gap, "relative_gap": run.state.gap / null}
    return Solution((w, b), run.status, stats | {"decrement": run.state.decrement})


def _solve(H: Array, g: Array) -> Array:
    """H⁻¹g, with a little ridge where H is singular (flat directions do not matter)."""
    size = np.maximum(np.diag(H), 1e-300)
    for extra in (0.0, 1e-12, 1e-9, 1e-6, 1e-3):
        factor = cholesky(H + np.diag(extra * size + (1e-300 if extra else 0.0)))
        if factor is not None:
            return factor.solve(g)
    return g / size
