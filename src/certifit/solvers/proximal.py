"""Proximal gradient with momentum (FISTA), for smooth losses and any penalty that has a prox."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from certifit._types import Array
from certifit.problem import Problem
from certifit.solvers._driver import drive
from certifit.solvers._solution import Solution

_LOOK = 10  # iterations between two looks at the gap, which costs as much as a step


@dataclass(frozen=True)
class _State:
    w: Array
    ahead: Array  # the point with momentum
    momentum: float
    objective: float
    gap: float
    step: float
    iteration: int
    bound: float  # best lower bound on min J so far


def proximal_descent(
    problem: Problem, tol: float = 1e-6, max_iter: int = 100_000, time_budget: float | None = None, trace: bool = False
) -> Solution:
    r"""Minimise J by :math:`w \leftarrow \mathrm{prox}_{\eta\lambda R}(v - \eta\nabla)`, v the point with momentum.

    The offset is the best one for each w. The step η is found by backtracking, and momentum restarts when J rises
    (Beck and Teboulle 2009; O'Donoghue and Candès 2015). Stops when the best lower bound by duality leaves a gap of at
    most tol times the null model; without a penalty, when J no longer falls by tol² of it.

    Examples
    --------
    >>> from certifit.design import as_design
    >>> from certifit.losses import Squared
    >>> from certifit.regularizers import PNorm
    >>> X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]]), np.array([1.0, 3.0, 5.5])
    >>> found = proximal_descent(Problem(as_design(X), y, Squared(), PNorm(2.0), 0.5, None, True), tol=1e-10)
    >>> found.status, found.value[0].round(4)
    ('converged', array([1.8763, 0.1565]))
    """
    d = problem.design.shape[1]
    zero = np.zeros(d)
    null = max(problem.objective(zero, problem.best_intercept(zero)), 1e-300)

    def fit(w: Array) -> tuple[float, float]:
        b = problem.best_intercept(w)
        z = problem.scores(w, b)
        with np.errstate(over="ignore"):
            return float(problem.s @ problem.loss.value(z, problem.y)) / problem.total, b

    def slope(w: Array, b: float) -> Array:
        u = problem.s * problem.loss.slope(problem.scores(w, b), problem.y) / problem.total
        return problem.design.product_t(u)

    def advance(s: _State) -> _State:
        value, b = fit(s.ahead)
        g = slope(s.ahead, b)
        eta = s.step * 1.1
        for _ in range(100):
            w = problem.regularizer.prox(s.ahead - eta * g, eta * problem.lam)
            move = w - s.ahead
            now, _ = fit(w)
            if now <= value + float(g @ move) + float(move @ move) / (2 * eta) + 1e-15 * abs(value):
                break
            eta *= 0.5
        objective = now + problem.lam * float(problem.regularizer.value(w))
        t = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * s.momentum**2))
        ahead = w + (s.momentum - 1.0) / t * (w - s.w)
        if objective > s.objective:
            t, ahead = 1.0, w
        bound = s.bound
        if s.iteration % _LOOK == 0 and problem.lam > 0:
            bound = max(bound, problem.dual_value(w, problem.best_intercept(w)))
        return _State(w, ahead, t, objective, max(objective - bound, 0.0), eta, s.iteration + 1, bound)

    def finished(before: _State, after: _State) -> bool:
        if problem.lam > 0:
            return after.gap <= tol * null
        return 0.0 <= before.objective - after.objective <= tol * tol * null

    first = _State(zero, zero, 1.0, null, np.inf, _first_step(problem), 0, -np.inf)
    run = drive(first, advance, finished, max_iter, time_budget, trace)
    w = run.state.w
    stats = {**run.stats, "method": "proximal", "gap": run.state.gap, "relative_gap": run.state.gap / null}
    return Solution((w, problem.best_intercept(w)), run.status, stats)


def _first_step(problem: Problem) -> float:
    """1/(curvature × mean squared row length): never too large by more than backtracking mends."""
    X = problem.design.X
    square = X.multiply(X).sum(axis=1) if problem.design.is_sparse else np.einsum("ij,ij->i", X, X)
    size = float(problem.s @ np.asarray(square).ravel()) / problem.total
    bound = problem.loss.curvature_bound
    return 1.0 / max(size * (bound if np.isfinite(bound) else 1.0), 1e-300)
