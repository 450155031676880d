r"""Proximal Newton for smooth losses with an l1 part.

.. math:: \min_\theta\ f(\theta) + \sum_j \kappa_j|\theta_j|

Each step minimises the quadratic model of f plus the exact l1 part by coordinate descent on the Hessian (compiled,
p × p work only), then searches along the way to it. The decrease that the model promises is what is left to gain,
and falls quadratically.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from certifit._types import Array
from certifit.solvers._driver import drive
from certifit.solvers._solution import Solution
from certifit.solvers.smooth import Objective


@dataclass(frozen=True)
class _State:
    theta: Array
    Z: Array
    objective: float
    gap: float  # decrease promised by the model: an estimate of what is left
    step: float
    direction: Array
    promise: float
    stalled: bool = False


def minimise_l1(
    objective: Objective,
    kappa: Array,
    start: Array,
    tol: float,
    max_iter: int = 100,
    time_budget: float | None = None,
    trace: bool = False,
) -> Solution:
    """Minimise to within about ``tol`` (an absolute amount); ``kappa`` (p, K) are the l1 weights in coordinates."""

    def advance(s: _State) -> _State:
        dZ = objective.columns.product(s.direction)
        t = 1.0
        for _ in range(50):
            theta, Z = s.theta + t * s.direction, s.Z + t * dZ
            value, slopes = objective.value(Z, theta)
            value += float(np.sum(kappa * np.abs(theta)))
            if np.isfinite(value) and value <= s.objective - 1e-4 * t * s.promise:
                return _model(objective, kappa, theta, Z, slopes, value, t)
            t *= 0.5
        return replace(s, stalled=True)

    Z = objective.scores(start)
    value, slopes = objective.value(Z, start)
    value += float(np.sum(kappa * np.abs(start)))
    first = _model(objective, kappa, start, Z, slopes, value, 0.0)
    run = drive(first, advance, lambda a, b: b.stalled or b.gap <= max(tol, _floor(b)), max_iter, time_budget, trace)
    state = run.state
    if state.gap <= _floor(state):  # no line search can see a decrease so small, and none is needed
        state = replace(state, theta=state.theta + state.direction)
    elif not state.stalled:  # the next step is known already
        state = advance(state)
    stats = {**run.stats, "n_iter": max(1, run.n_iter), "gap": state.gap, "method": "proximal newton"}
    return Solution(state.theta, run.status, stats)


def _floor(s: _State) -> float:
    """A promise that is lost in the rounding of the objective; the step behind it squares what is left."""
    return 1e-15 * abs(s.objective)


def _model(objective: Objective, kappa: Array, theta: Array, Z: Array, slopes: Array, value: float, t: float) -> _State:
    """Minimise the model at θ: direction, and the decrease it promises."""
    from certifit.loops.coordinate import cd_gram

    G = objective.gradient(slopes, theta)
    H = objective.hessian(Z)
    w = theta.T.ravel().copy()
    g, l1 = G.T.ravel(), kappa.T.ravel()
    lift = 1e-12 * np.maximum(np.diag(H), 1e-300)  # flat directions (equal shifts of all classes) stay put
    H[np.diag_indices_from(H)] += lift
    q = -g.copy()
    size = float(np.abs(g).max(initial=0.0)) + 1e-300
    order: Any = np.arange(len(w))
    cd_gram(np.ascontiguousarray(H), q, w, len(w), l1, np.zeros_like(w), False, order, 10_000, 1e-13 * np.sqrt(size))
    D = w.reshape(theta.shape[::-1]).T - theta
    promise = -float(np.sum(G * D) + np.sum(kappa * (np.abs(theta + D) - np.abs(theta))))
    return _State(theta, Z, value, max(promise, 0.0), t, D, max(promise, 0.0))
