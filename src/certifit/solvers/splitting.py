"""Alternating directions (ADMM): losses with a kink together with any penalty that has a prox."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from certifit._types import Array
from certifit.design import Design, cholesky
from certifit.losses import best_offset
from certifit.problem import Problem
from certifit.solvers._driver import drive
from certifit.solvers._solution import Solution

_LOOK = 20
_RELAX = 1.6


@dataclass(frozen=True)
class _State:
    z: Array
    v: Array
    a: Array  # scaled multipliers of z = Xw + b
    c: Array  # scaled multipliers of v = w
    rho: float
    objective: float
    gap: float
    step: float
    iteration: int
    bound: float
    dual: Array
    best: Array
    lowest: float


def split_descent(
    problem: Problem, tol: float = 1e-6, max_iter: int = 50_000, time_budget: float | None = None, trace: bool = False
) -> Solution:
    r"""Minimise J by splitting scores and coefficients off: :math:`z = Xw + b`, :math:`v = w`.

    Each step solves one least-squares problem (factorised once per step size) and two proxes. Stops when the best
    value and the best lower bound by duality are within tol of the null model; ``stats["dual"]`` are its multipliers.

    Examples
    --------
    >>> from certifit.design import as_design
    >>> from certifit.losses import Absolute
    >>> from certifit.regularizers import PNorm
    >>> X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]]), np.array([1.0, 3.0, 5.5])
    >>> found = split_descent(Problem(as_design(X), y, Absolute(), PNorm(2.0), 0.1, None, True), tol=1e-7)
    >>> found.status, found.value[0].round(3)
    ('converged', array([2.25, 0.25]))
    """
    full, keep = problem, problem.s > 0
    if not np.all(keep):  # rows without weight take no part
        problem = replace(problem, design=Design(problem.design.X[keep]), y=problem.y[keep], weights=problem.s[keep])
    X, y, s, S = problem.design.dense(), problem.y, problem.s, problem.total
    n, d = X.shape
    mean = s @ X / S if problem.fit_intercept else np.zeros(d)
    size = float(np.sqrt(np.mean((X - mean) ** 2))) or 1.0
    A = (X - mean) / size
    B = np.hstack([A, np.ones((n, 1))]) if problem.fit_intercept else A
    inner = B.T @ B
    inner[np.arange(d), np.arange(d)] += 1.0
    factor = cholesky(inner + 1e-12 * np.eye(len(inner)))
    assert factor is not None
    kink = problem.loss.conjugate(np.ones(n), y)
    low, high = problem.loss.domain(y)
    null_b = best_offset(problem.loss, np.zeros(n), y, s) if problem.fit_intercept else 0.0
    null = max(problem.objective(np.zeros(d), null_b), 1e-300)

    def prox_loss(t: Array, rho: float) -> Array:
        left = t - kink
        return kink + left - np.clip(left * rho, s / S * low, s / S * high) / rho

    def prox_penalty(v: Array, rho: float) -> Array:
        return problem.regularizer.prox(v / size, problem.lam / (rho * size * size)) * size

    def advance(st: _State) -> _State:
        right = B.T @ (st.z - st.a)
        right[:d] += st.v - st.c
        theta = factor.solve(right)
        score, w = B @ theta, theta[:d]
        score_r = _RELAX * score + (1 - _RELAX) * st.z
        w_r = _RELAX * w + (1 - _RELAX) * st.v
        z, v = prox_loss(score_r + st.a, st.rho), prox_penalty(w_r + st.c, st.rho)
        a, c = st.a + score_r - z, st.c + w_r - v
        rho, bound, dual, best, lowest = st.rho, st.bound, st.dual, st.best, st.lowest
        if st.iteration % _LOOK == 0:
            value = problem.objective(v / size, problem.best_intercept(v / size))
            if value < lowest:
                best, lowest = v / size, value
            u = np.clip(rho * a * S / s, low, high)
            floor, u = _lower_bound(problem, u)
            if floor > bound:
                bound, dual = floor, u
            primal = float(np.sqrt(np.sum((score - z) ** 2) + np.sum((w - v) ** 2)))
            change = float(np.sqrt(np.sum((z - st.z) ** 2) + np.sum((v - st.v) ** 2)))
            if st.iteration < 5000 and (primal > 10 * change or change > 10 * primal):
                factor_ = 2.0 if primal > change else 0.5
                rho, a, c = rho * factor_, a / factor_, c / factor_
        gap = max(lowest - bound, 0.0)
        return _State(z, v, a, c, rho, lowest, gap, rho, st.iteration + 1, bound, dual, best, lowest)

    zero = np.zeros(d)
    rho0 = 1.0 / (n * max(float(np.mean(np.abs(kink - np.median(kink)))), 1e-12))
    first = _State(
        np.full(n, null_b), zero, np.zeros(n), zero, rho0, null, np.inf, 0.0, 0, -np.inf, np.zeros(n), zero, null
    )
    run = drive(first, advance, lambda before, after: after.gap <= tol * null, max_iter, time_budget, trace)
    w = run.state.best
    stats = {**run.stats, "method": "splitting", "gap": run.state.gap, "relative_gap": run.state.gap / null}
    dual = np.zeros(len(full.y))
    dual[keep] = run.state.dual
    return Solution((w, problem.best_intercept(w)), run.status, stats | {"dual": dual})


def _lower_bound(problem: Problem, u: Array) -> tuple[float, Array]:
    """The dual value of multipliers inside their boxes, repaired to sum to zero and shrunk into the dual ball."""
    beta = problem.s * u
    if problem.fit_intercept:
        excess = float(beta.sum())
        low, high = problem.loss.domain(problem.y)
        room = beta - problem.s * low if excess > 0 else problem.s * high - beta
        if not room.sum() > abs(excess):
            return -np.inf, u
        beta = beta - excess * room / room.sum()
    if problem.lam == 0.0:
        return -np.inf, u
    v = -problem.design.product_t(beta) / (problem.lam * problem.total)
    shrink = min(1.0, 1.0 / max(float(problem.regularizer.gauge(v)), 1e-300))
    beta, v = beta * shrink, v * shrink
    kink = problem.loss.conjugate(np.ones(len(u)), problem.y)
    value = -float(beta @ kink) / problem.total - problem.lam * float(problem.regularizer.conjugate(v))
    return value, beta / problem.s
