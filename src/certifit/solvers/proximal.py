"""Proximal gradient with momentum (FISTA), for smooth losses and any penalty that has a prox."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from certifit._types import Array
from certifit.design import as_design
from certifit.solvers._driver import drive
from certifit.solvers._separable import separable
from certifit.solvers._solution import Solution
from certifit.solvers._task import Options, Task

_LOOK = 10  # iterations between two looks at the gap, which costs as much as a step
_PATIENCE = 5000  # iterations in which the gap has to fall by a hundredth


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
    mark: float  # the gap when it last fell by a hundredth
    since: int  # iterations since then


def proximal_descent(task: Task, options: Options) -> Solution:
    r"""Minimise F by :math:`w \leftarrow \mathrm{prox}_{\eta\Lambda R}(v - \eta\nabla)`, v the point with momentum.

    The offset is the best one for each w. The step η is found by backtracking, and momentum restarts when F rises
    (Beck and Teboulle 2009; O'Donoghue and Candès 2015). Where the penalty splits into coordinates every column has a
    step of its own, in proportion to one over its squared length, and with an offset columns are taken about their
    means: units and origin cost no iterations. Stops when the best lower bound by duality leaves a gap of at most tol
    times the null model; without a penalty, when F no longer falls by tol² of it; and where rounding lets the gap fall
    no further.

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
    given, task = task, _about_means(task)
    regularizer, lam, null = task.objective.regularizer, task.lam, task.null()
    scale = _column_steps(task)

    def fit(w: Array) -> tuple[float, float]:
        b = task.best_intercept(w)
        return task.fit_at(task.scores(w, b)), b

    def advance(s: _Momentum) -> _Momentum:
        value, b = fit(s.ahead)
        g = task.slope(s.ahead, b)
        eta = s.step * 1.1
        for _ in range(100):
            h: Any = eta * scale  # one number, or one for each column
            w = regularizer.prox(s.ahead - h * g, h * lam)
            move = w - s.ahead
            now, _ = fit(w)
            length = float(np.sum(np.square(move) / np.maximum(h, 1e-300)))
            if now <= value + float(g @ move) + 0.5 * length + 1e-15 * abs(value):
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
        gap = max(objective - bound, 0.0)
        mark, since = (gap, 0) if gap < 0.99 * s.mark else (s.mark, s.since + 1)
        return _Momentum(w, ahead, t, objective, gap, eta, s.iteration + 1, bound, mark, since)

    def finished(before: _Momentum, after: _Momentum) -> str | bool:
        if lam > 0:
            enough = after.gap <= options.tol * null
            return enough or ("precision" if after.since >= _PATIENCE or after.step == 0.0 else "")
        return 0.0 <= before.objective - after.objective <= options.tol**2 * null

    zero = np.zeros(task.design.shape[1])
    first = _Momentum(zero, zero, 1.0, null, np.inf, _first_step(task, scale), 0, -np.inf, np.inf, 0)
    run = drive(first, advance, finished, options.limit(200_000), options.time_budget, options.trace)
    w = run.state.w
    stats = {**run.stats, "method": "proximal", "gap": run.state.gap, "relative_gap": run.state.gap / null}
    return Solution((w, given.best_intercept(w)), run.status, stats)


def _column_steps(task: Task) -> Array | float:
    """One over the squared length of every column where the penalty splits into coordinates, else one step for all."""
    if separable(task.objective.regularizer) is None:
        return 1.0
    lengths = _lengths(task)
    usual = (lengths > 0) & np.isfinite(lengths)
    return np.where(usual, 1.0 / np.where(usual, lengths, 1.0), 1.0)


def _about_means(task: Task) -> Task:
    """The same problem with dense columns about their means, which only moves the offset."""
    if not task.objective.free or task.design.is_sparse:
        return task
    with np.errstate(all="ignore"):
        means = (task.s @ task.design.X) / task.s.sum()
    return replace(task, design=as_design(task.design.X - means)) if np.all(np.isfinite(means)) else task


def _lengths(task: Task) -> Array:
    """Weighted squared lengths of the columns."""
    X = task.design.X
    with np.errstate(all="ignore"):
        return np.asarray(task.s @ (X.multiply(X).tocsr() if task.design.is_sparse else np.square(X))).ravel()


def _first_step(task: Task, scale: Array | float) -> float:
    """1/(curvature × sum of squared lengths): never too large by more than backtracking mends."""
    with np.errstate(all="ignore"):
        size = float(np.sum(_lengths(task) * scale)) / task.unit
    bound = task.objective.loss.curvature_bound
    return 1.0 / max(size * (bound if np.isfinite(bound) else 1.0), 1e-300)
