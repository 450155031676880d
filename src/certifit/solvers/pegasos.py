"""Pegasos: stochastic gradient descent for the soft margin, with a dual solution from the rows that were short.

Minimise λ/2·‖w‖² + mean hinge. Step t uses η = 1/(λt), so that w(t) = θ/(λt) with θ a sum of ±x; the offset is the
weight of a column of ones while walking, and the best one for w when it is judged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from certifit._types import Array
from certifit.loops import pegasos as loops
from certifit.solvers._box_dual import best_offsets, boxes
from certifit.solvers._driver import drive
from certifit.solvers._solution import Solution
from certifit.solvers.balance import balance


class Walk:
    """One machine under way: θ, the sum of iterates and the number of visits."""

    def __init__(self, columns: int) -> None:
        self.t = 0
        self.theta, self.total = np.zeros(columns + 1), np.zeros(columns + 1)

    def visit(self, X: Array, y: Array, order: Array, lam: float, pad: float, counts: Array) -> None:
        """One pass in the given order; ``counts`` grow by one for rows that are short of margin."""
        self.t = loops.passes(X, y, order, lam, pad, self.t, self.theta, self.total, counts)

    def mean(self, lam: float, average: bool) -> Array:
        """The mean of the iterates, or the last one; the offset comes last."""
        return self.total / self.t if average else self.theta / (lam * self.t)


@dataclass(frozen=True)
class PegasosPlan:
    """How to walk; names and meanings are those of the estimator."""

    alpha: float
    max_iter: int
    average: bool = True
    fit_intercept: bool = True
    trace: bool = False


@dataclass(frozen=True)
class Walked:
    """Weights, offset and multipliers β = yα after a pass; the objective is λ/2·‖w‖² + mean hinge."""

    w: Array
    b: float
    beta: Array
    objective: float
    gap: float
    step: float  # 1/(λt)


def shares(y: Array, cost: Array, counts: Array, passes: int, offset: bool) -> Array:
    """β of the dual: the fraction of visits at which a row was short, in units of its cost."""
    beta = y * cost * np.minimum(counts / passes, 1.0)
    return balance(beta, cost) if offset else beta


def pegasos(
    X: Array, y: Array, order: Callable[[], Array], target: float, plan: PegasosPlan, time_budget: float | None = None
) -> Solution:
    """Passes over the rows until the duality gap, in units of ½‖w‖² + Σ hinge/(λn), is at most ``target``.

    ``order`` gives the order of the rows of the next pass. ``value`` is `Walked`; ``stats["walk"]`` can go on from
    there.

    Examples
    --------
    >>> X, y = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    >>> found = pegasos(X, y, lambda: np.arange(2), 0.1, PegasosPlan(0.1, 500))
    >>> found.status, bool(np.all(y * (X @ found.value.w + found.value.b) > 0))
    ('converged', True)
    """
    lam, n = plan.alpha, len(y)
    walk, counts, cost = Walk(X.shape[1]), np.zeros(n, dtype=np.int64), np.full(n, 1.0 / (lam * n))
    lo, hi = boxes(y, cost)
    passes = 0

    def look(w: Array, step: float) -> Walked:
        scores = X @ w
        b = float(np.mean(best_offsets(scores - y, lo, hi))) if plan.fit_intercept else 0.0
        beta = shares(y, cost, counts, max(passes, 1), plan.fit_intercept)
        primal = 0.5 * float(w @ w) + float(cost @ np.maximum(0.0, 1.0 - y * (scores + b)))
        v = X.T @ beta
        gap = primal - float(np.abs(beta).sum()) + 0.5 * float(v @ v)
        return Walked(w, b, beta, lam * primal, lam * gap, step)

    def advance(at: Walked) -> Walked:
        nonlocal passes
        walk.visit(X, y, order(), lam, float(plan.fit_intercept), counts)
        passes += 1
        return look(walk.mean(lam, plan.average)[:-1], 1.0 / (lam * walk.t))

    first = look(np.zeros(X.shape[1]), np.nan)
    run = drive(first, advance, lambda a, b: b.gap <= lam * target, plan.max_iter, time_budget, plan.trace)
    return Solution(run.state, run.status, run.stats | {"walk": walk, "gap": run.state.gap, "method": "pegasos"})
