"""Alternating directions (ADMM): losses with a kink together with any penalty that has a prox."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from certifit._types import Array
from certifit.design import cholesky
from certifit.solvers._driver import drive
from certifit.solvers._solution import Solution
from certifit.solvers._task import Options, Task

_LOOK = 20
_RELAX = 1.6
_SETTLED = 5000  # iterations after which the penalty parameter stays as it is


@dataclass(frozen=True)
class _Split:
    z: Array
    v: Array
    a: Array  # scaled multipliers of z = Xw + b
    c: Array  # scaled multipliers of v = w
    rho: float
    objective: float  # of the best point so far
    gap: float
    step: float
    iteration: int
    bound: float
    dual: Array
    best: Array


class _Splitting:
    """Columns centred and scaled by one number, and the two proxes."""

    def __init__(self, task: Task) -> None:
        self.task, fit_intercept = task, task.objective.fit_intercept
        X, s = task.design.dense(), task.s
        n, d = X.shape
        mean = s @ X / task.total if fit_intercept else np.zeros(d)
        self.size = float(np.sqrt(np.mean((X - mean) ** 2))) or 1.0
        self.B = np.hstack([(X - mean) / self.size, np.ones((n, int(fit_intercept)))])
        inner = self.B.T @ self.B
        inner[np.arange(d), np.arange(d)] += 1.0
        factor = cholesky(inner + 1e-12 * np.eye(len(inner)))
        assert factor is not None
        self.factor = factor
        self.kink = task.objective.loss.conjugate(np.ones(n), task.y)
        self.low, self.high = task.objective.box(task.y, s)

    def first(self) -> _Split:
        task, n = self.task, len(self.B)
        zero = np.zeros(task.design.shape[1])
        b = task.best_intercept(zero)
        spread = max(float(np.mean(np.abs(self.kink - np.median(self.kink)))), 1e-12)
        rho = task.total / task.unit / (n * spread)
        null = task.null()
        return _Split(np.full(n, b), zero, np.zeros(n), zero, rho, null, np.inf, 0.0, 0, -np.inf, np.zeros(n), zero)

    def advance(self, st: _Split) -> _Split:
        d, unit = len(st.v), self.task.unit
        right = self.B.T @ (st.z - st.a)
        right[:d] += st.v - st.c
        theta = self.factor.solve(right)
        score, w = self.B @ theta, theta[:d]
        score_r, w_r = _RELAX * score + (1 - _RELAX) * st.z, _RELAX * w + (1 - _RELAX) * st.v
        left = score_r + st.a - self.kink
        z = self.kink + left - np.clip(left * st.rho, self.low / unit, self.high / unit) / st.rho
        penalty = self.task.objective.regularizer
        v = penalty.prox((w_r + st.c) / self.size, self.task.lam / (st.rho * self.size**2)) * self.size
        after = replace(st, z=z, v=v, a=st.a + score_r - z, c=st.c + w_r - v, step=st.rho, iteration=st.iteration + 1)
        if st.iteration % _LOOK == 0:
            after = self.looked(after)
            primal = float(np.sqrt(np.sum((score - z) ** 2) + np.sum((w - v) ** 2)))
            change = float(np.sqrt(np.sum((z - st.z) ** 2) + np.sum((v - st.v) ** 2)))
            if st.iteration < _SETTLED and (primal > 10 * change or change > 10 * primal):
                by = 2.0 if primal > change else 0.5
                after = replace(after, rho=st.rho * by, a=after.a / by, c=after.c / by)
        return after

    def looked(self, st: _Split) -> _Split:
        """With the value at this point and the bound of its multipliers, where they are better than what was known."""
        w = st.v / self.size
        value = self.task.value(w, self.task.best_intercept(w))
        if value < st.objective:
            st = replace(st, best=w, objective=value)
        floor, u = self.task.bound_of(np.clip(st.rho * st.a * self.task.unit, self.low, self.high))
        if floor > st.bound:
            st = replace(st, bound=floor, dual=u)
        return replace(st, gap=max(st.objective - st.bound, 0.0))


def split_descent(task: Task, options: Options) -> Solution:
    r"""Minimise F by splitting scores and coefficients off: :math:`z = Xw + b`, :math:`v = w`.

    Each step solves one least-squares problem (factorised once) and two proxes. Stops when the best value and the best
    lower bound by duality are within tol of the null model; ``stats["dual"]`` are its multipliers.

    Examples
    --------
    >>> from certifit.design import as_design
    >>> from certifit.losses import Absolute
    >>> from certifit._objective import Objective
    >>> from certifit.regularizers import PNorm
    >>> X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]]), np.array([1.0, 3.0, 5.5])
    >>> found = split_descent(Task(Objective(Absolute(), PNorm(2.0), 0.3), as_design(X), y), Options(tol=1e-7))
    >>> found.status, found.value[0].round(3)
    ('converged', array([2.25, 0.25]))
    """
    method = _Splitting(task.used())
    first = method.first()
    limit = options.tol * first.objective
    run = drive(
        first,
        method.advance,
        lambda before, after: after.gap <= limit,
        options.limit(100_000),
        options.time_budget,
        options.trace,
    )
    found: _Split = run.state
    dual = np.zeros(len(task.y))
    dual[task.s > 0] = found.dual
    stats = {**run.stats, "method": "splitting", "gap": found.gap, "relative_gap": found.gap / first.objective}
    return Solution((found.best, task.best_intercept(found.best)), run.status, stats | {"dual": dual})
