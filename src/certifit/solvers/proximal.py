"""Proximal gradient with momentum (FISTA), for smooth losses and any penalty that has a prox."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from certifit._types import Array
from certifit.solvers._driver import drive
from certifit.solvers._solution import Solution
from certifit.solvers._task import Options, Task

_LOOK = 10  # iterations between two looks at the gap, which costs as much as a step


@dataclass(frozen=True)
class _Momentum:
    w: Array
    ahead: Array  # the point with momentum
    momentum: float
    objective: float
    gap: float
    step: float
    iteration: int
    bound: float  # best lower bound on the minimum so far


def proximal_descent(task: Task, options: Options) -> Solution:
    r"""Minimise F by :math:`w \leftarrow \mathrm{prox}_{\eta\Lambda R}(v - \eta\nabla)`, v the point with momentum.

    The offset is the best one for each w. The step η is found by backtracking, and momentum restarts when F rises
    (Beck and Teboulle 2009; O'Donoghue and Candès 2015). Stops when the best lower bound by duality leaves a gap of at
    most tol times the null model; without a penalty, when F no longer falls by tol² of it.

    Examples
    --------
    >>> from certifit.design import as_design
    >>> from certifit.losses import Squared
    >>> from certifit._objective import Objective
    >>> from certifit.regularizers import PNorm
    >>> X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]]), np.array([1.0, 3.0, 5.5])
    >>> found = proximal_descent(Task(Objective(Squared(), PNorm(2.0), 1.5), as_design(X), y), Options(tol=1e-10))
    >>> found.status, found.value[0].round(4)
    ('converged', array([1.8763, 0.1565]))
    """
    regularizer, lam, null = task.objective.regularizer, task.lam, task.null()

    def fit(w: Array) -> tuple[float, float]:
        b = task.best_intercept(w)
        return task.fit_at(task.scores(w, b)), b

    def advance(s: _Momentum) -> _Momentum:
        value, b = fit(s.ahead)
        g = task.slope(s.ahead, b)
        eta = s.step * 1.1
        for _ in range(100):
            w = regularizer.prox(s.ahead - eta * g, eta * lam)
            move = w - s.ahead
            now, _ = fit(w)
            if now <= value + float(g @ move) + float(move @ move) / (2 * eta) + 1e-15 * abs(value):
                break
            eta *= 0.5
        objective = now + lam * float(regularizer.value(w))
        t = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * s.momentum**2))
        ahead = w + (s.momentum - 1.0) / t * (w - s.w)
        if objective > s.objective:
            t, ahead = 1.0, w
        bound = s.bound
        if s.iteration % _LOOK == 0 and lam > 0:
            bound = max(bound, task.bound(w, task.best_intercept(w)))
        return _Momentum(w, ahead, t, objective, max(objective - bound, 0.0), eta, s.iteration + 1, bound)

    def finished(before: _Momentum, after: _Momentum) -> bool:
        if lam > 0:
            return after.gap <= options.tol * null
        return 0.0 <= before.objective - after.objective <= options.tol**2 * null

    zero = np.zeros(task.design.shape[1])
    first = _Momentum(zero, zero, 1.0, null, np.inf, _first_step(task), 0, -np.inf)
    run = drive(first, advance, finished, options.limit(200_000), options.time_budget, options.trace)
    w = run.state.w
    stats = {**run.stats, "method": "proximal", "gap": run.state.gap, "relative_gap": run.state.gap / null}
    return Solution((w, task.best_intercept(w)), run.status, stats)


def _first_step(task: Task) -> float:
    """1/(curvature × sum of squared row lengths): never too large by more than backtracking mends."""
    X = task.design.X
    square = X.multiply(X).sum(axis=1) if task.design.is_sparse else np.einsum("ij,ij->i", X, X)
    size = float(task.s @ np.asarray(square).ravel()) / task.unit
    bound = task.objective.loss.curvature_bound
    return 1.0 / max(size * (bound if np.isfinite(bound) else 1.0), 1e-300)
