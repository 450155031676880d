r"""Losses with one kink (absolute, hinge, perceptron) and coordinatewise penalties, by a primal–dual interior point.

.. math:: \sum_i s_i L(w\cdot x_i + b,\ y_i) + \Lambda\,(a\lVert w\rVert_1 + \tfrac c2\lVert w - w_0\rVert^2),\qquad
          L(z) = \max_{u\in[\mathrm{lo},\mathrm{hi}]} u(z - k)

Every term with a kink, of the loss and of the 1-norm alike, has a multiplier u in a box; the Newton system is one of
size d + 1 (or n, when that is smaller). With c = 0 this is a linear programme, else a quadratic one. The steps are
Mehrotra's predictor and corrector (1992).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg

from certifit._types import Array
from certifit.design import Cholesky, lifted_cholesky, powers_of_two
from certifit.parallel import one_thread
from certifit.solvers._driver import drive
from certifit.solvers._separable import separable
from certifit.solvers._solution import Solution
from certifit.solvers._task import Options, Task

_BACK = 0.995  # fraction of the way to the boundary


class _Point(NamedTuple):
    """Coefficients, offset, multipliers and slacks; also a step between two points."""

    w: Array
    b: float
    u: Array  # multipliers of the rows
    p: Array
    m: Array
    v: Array  # multipliers of the coordinates (empty without kinks there)
    e: Array
    f: Array

    def moved(self, by: _Point, t: float, r: float) -> _Point:
        """A primal step of length t and a dual one of length r."""
        return _Point(
            self.w + t * by.w,
            self.b + t * by.b,
            self.u + r * by.u,
            self.p + t * by.p,
            self.m + t * by.m,
            self.v + r * by.v,
            self.e + t * by.e,
            self.f + t * by.f,
        )


@dataclass(frozen=True)
class _Interior:
    at: _Point
    objective: float
    gap: float
    step: float
    infeasible: float


@dataclass(frozen=True)
class _Kinks:
    """Rows (or coordinates) with their kinks and boxes; an end may be infinite."""

    k: Array
    low: Array
    high: Array

    def room(self, u: Array) -> tuple[Array, Array]:
        """How far u is from either end; never less than the rounding of the interval, which may have closed it."""
        width = self.high - self.low
        least = np.where(np.isfinite(width), width, 1.0) * 2.0**-60
        high, low = np.maximum(self.high - u, least), np.maximum(u - self.low, least)
        return np.where(np.isinf(self.high), 1.0, high), np.where(np.isinf(self.low), 1.0, low)

    @property
    def count(self) -> int:
        return int(np.isfinite(self.high).sum() + np.isfinite(self.low).sum())


class _Program:
    """The scaled problem: columns of norm one around their means, targets of size one."""

    def __init__(self, task: Task) -> None:
        objective, X, s = task.objective, task.design.dense(), task.s
        part = separable(objective.regularizer)
        assert part is not None
        n, d = X.shape
        self.fit_intercept, self.total = objective.fit_intercept, task.total
        self.mean = s @ X / self.total if self.fit_intercept else np.zeros(d)
        A = X - self.mean
        self.scale = powers_of_two(np.sqrt(np.einsum("ij,ij->j", A, A) / n))
        self.A = A / self.scale
        k = objective.loss.conjugate(np.ones(n), task.y)  # the conjugate of a one-kink loss is k·u
        self.shift = float(np.median(k)) if self.fit_intercept else 0.0
        spread = float(np.mean(np.abs(k - self.shift)))
        self.unit = spread if spread > 0 else 1.0
        self.stated = max(self.unit / task.unit, 1e-300)  # from values here to those of the task; not zero by underflow
        low, high = objective.loss.domain(task.y)
        self.rows = _Kinks((k - self.shift) / self.unit, s * low, s * high)
        l1 = objective.strength * part.l1 / self.scale
        bounded = part.l1 > 0.0 or part.positive
        bottom = np.full(d, -np.inf) if part.positive else -l1
        self.coordinates = _Kinks(np.zeros(d), bottom, l1) if bounded else _Kinks(*(np.zeros(0),) * 3)
        self.ridge = objective.strength * part.l2 * self.unit / self.scale**2
        self.centre = part.centre(d) * self.scale / self.unit

    def objective(self, w: Array, b: float) -> float:
        z = self.A @ w + b - self.rows.k
        fit = float(np.sum(np.maximum(_ends(self.rows.high, z), _ends(self.rows.low, z))))
        bend = 0.5 * float(self.ridge @ (w - self.centre) ** 2)
        size = float(self.coordinates.high @ np.abs(w)) if len(self.coordinates.k) else 0.0
        return fit + bend + size

    def raw(self, w: Array, b: float) -> tuple[Array, float]:
        full = w * self.unit / self.scale
        return full, b * self.unit + self.shift - float(self.mean @ full)

    def start(self) -> _Interior:
        n, d = self.A.shape
        u = np.where(np.isfinite(self.rows.low + self.rows.high), 0.5 * (self.rows.low + self.rows.high), 0.0)
        c = self.coordinates
        v = np.where(np.isinf(c.low), np.minimum(c.high - 1.0, 0.0), 0.0)
        e, f = np.ones(len(c.k)), np.where(np.isinf(c.low), 0.0, 1.0)
        return self._judged(_Point(np.zeros(d), 0.0, u, np.ones(n), np.ones(n), v, e, f), 1.0)

    def _judged(self, x: _Point, step: float) -> _Interior:
        rd, rb, r1, r2 = self.residuals(x)
        size = max(float(np.abs(rd).max(initial=0.0)), abs(rb)) / max(self.total, 1.0)
        off = max(float(np.abs(r1).max(initial=0.0)), float(np.abs(r2).max(initial=0.0)), size)
        return _Interior(x, self.objective(x.w, x.b) * self.stated, self._complement(x) * self.stated, step, off)

    def _complement(self, x: _Point) -> float:
        """Σ slack × room: the gap of a feasible point."""
        high, low = self.rows.room(x.u)
        top, bottom = self.coordinates.room(x.v)
        return float(x.p @ high + x.m @ low + x.e @ top + x.f @ bottom)

    def residuals(self, x: _Point) -> tuple[Array, float, Array, Array]:
        rd = self.ridge * (x.w - self.centre) + self.A.T @ x.u + (x.v if len(x.v) else 0.0)
        rb = float(x.u.sum()) if self.fit_intercept else 0.0
        r1 = self.A @ x.w + x.b - self.rows.k - x.p + x.m
        return rd, rb, r1, (x.w - x.e + x.f if len(x.v) else np.zeros(0))

    def advance(self, s: _Interior) -> _Interior:
        """Mehrotra's step: a predictor towards the optimum tells how much to centre, a corrector bends the way."""
        newton = self._newton(s.at)
        count = max(self.rows.count + self.coordinates.count, 1)
        mu = self._complement(s.at) / count
        ahead = newton(0.0, None)
        t, r = self._longest(s.at, ahead, 1.0)
        sigma = (self._complement(s.at.moved(ahead, t, r)) / count / mu) ** 3 if mu > 0 else 0.0
        step = newton(sigma * mu, ahead)
        t, r = self._longest(s.at, step, _BACK)
        if np.any(self.ridge > 0):  # primal and dual share the quadratic term: one step for both
            t = r = min(t, r)
        return self._judged(s.at.moved(step, t, r), min(t, r))

    def _newton(self, x: _Point) -> Callable[[float, _Point | None], _Point]:
        """The step to a point with complementarity μ, with the second-order terms of a step that was tried."""
        high, low = self.rows.room(x.u)
        top, bottom = self.coordinates.room(x.v)
        rows, coordinates = x.p / high + x.m / low, x.e / top + x.f / bottom
        solve = _factorised(self.A, rows, self.ridge + (1.0 / coordinates if len(x.v) else 0.0), self.fit_intercept)
        rd, rb, r1, r2 = self.residuals(x)
        lower, finite = np.isfinite(self.rows.low), np.isfinite(self.coordinates.low)

        def move(mu: float, second: _Point | None) -> _Point:
            c1, c2 = mu - x.p * high, np.where(lower, mu - x.m * low, 0.0)
            c3, c4 = mu - x.e * top, np.where(finite, mu - x.f * bottom, 0.0)
            if second is not None:
                c1, c2 = c1 + second.p * second.u, c2 - second.m * second.u
                c3, c4 = c3 + second.e * second.v, c4 - second.f * second.v
            g, h = r1 - c1 / high + c2 / low, r2 - c3 / top + c4 / bottom
            right = -rd - (h / coordinates if len(x.v) else 0.0)
            dw, db, du = solve(right, -rb, g)
            dv = (dw + h) / coordinates if len(x.v) else np.zeros(0)
            dp, dm = (c1 + x.p * du) / high, (c2 - x.m * du) / low
            return _Point(dw, db, du, dp, dm, dv, (c3 + x.e * dv) / top, (c4 - x.f * dv) / bottom)

        return move

    def _longest(self, x: _Point, step: _Point, share: float) -> tuple[float, float]:
        """The largest primal and dual steps that keep everything positive."""
        high, low = self.rows.room(x.u)
        top, bottom = self.coordinates.room(x.v)
        lower, upper = np.isfinite(self.rows.low), np.isfinite(self.rows.high)
        finite = np.isfinite(self.coordinates.low)
        t = min(_reach(x.p, step.p), _reach(x.m[lower], step.m[lower]))
        t = min(t, _reach(x.e, step.e), _reach(x.f[finite], step.f[finite]))
        r = min(_reach(high[upper], -step.u[upper]), _reach(low[lower], step.u[lower]), _reach(top, -step.v))
        r = min(r, _reach(bottom[finite], step.v[finite]))
        return min(1.0, share * t), min(1.0, share * r)


def _ends(slope: Array, z: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return np.where(z == 0.0, 0.0, slope * z)


def _reach(x: Array, dx: Array) -> float:
    falling = dx < 0.0
    return float(np.min(-x[falling] / dx[falling], initial=np.inf))


def _factorised(
    A: Array, rows: Array, diagonal: Array, offset: bool
) -> Callable[[Array, float, Array], tuple[Array, float, Array]]:
    """Solver of D dw + Aᵀdu = r, 1ᵀdu = ρ (with an offset), du = (A dw + db + g)/Σ."""
    n, d = A.shape
    if d <= n or not np.all(diagonal > 0):
        weight = 1.0 / rows
        B = np.hstack([A, np.ones((n, 1))]) if offset else A
        H = (B * weight[:, None]).T @ B
        H[np.arange(d), np.arange(d)] += diagonal
        C = _factor(H)

        def narrow(r: Array, rho: float, g: Array) -> tuple[Array, float, Array]:
            right = np.append(r, rho) if offset else r
            x = C.solve(right - B.T @ (weight * g))
            return x[:d], float(x[d]) if offset else 0.0, weight * (B @ x + g)

        return narrow
    K = (A / diagonal) @ A.T
    K[np.arange(n), np.arange(n)] += rows
    C = _factor(K)

    def wide(r: Array, rho: float, g: Array) -> tuple[Array, float, Array]:
        base = C.solve(A @ (r / diagonal) + g)
        db = 0.0
        if offset:
            ones = C.solve(np.ones(n))
            db = (rho - float(base.sum())) / float(ones.sum())
            base = base + db * ones
        return (r - A.T @ base) / diagonal, db, base

    return wide


def _factor(H: Array) -> Cholesky:
    """The factor of H; that of its diagonal where rounding has eaten the rest."""
    found = lifted_cholesky(H, lift=(1e-15, 1e-12, 1e-9, 1e-6))
    return Cholesky(np.diag(np.sqrt(np.maximum(np.diag(H), 1e-300))), 0.0) if found is None else found


def solve_kinked(task: Task, options: Options) -> Solution:
    """Fit a loss with one kink; ``value`` = (w, b), ``stats["dual"]`` the multipliers u of the rows.

    Stops when primal and dual agree to ``tol`` of the null model.

    Examples
    --------
    >>> from certifit.design import as_design
    >>> from certifit.losses import Absolute
    >>> from certifit._objective import Objective
    >>> from certifit.regularizers import Zero
    >>> X, y = np.arange(5.0)[:, None], np.array([0.0, 1.0, 2.0, 3.0, 90.0])
    >>> w, b = solve_kinked(Task(Objective(Absolute(), Zero(), 0.0), as_design(X), y), Options()).value
    >>> round(float(w[0]), 6)
    1.0
    """
    began = time.perf_counter()
    part, tol = task.used(), options.tol
    program = _Program(part)
    first = program.start()
    null = max(first.objective, 1e-300)

    def finished(before: _Interior, after: _Interior) -> bool:
        return (after.gap <= tol * null and after.infeasible <= tol) or after.step < 1e-9

    run = drive(first, program.advance, finished, options.limit(200), options.time_budget, options.trace)
    best: _Interior = run.state
    w, b = _vertex(program, _snapped(program, best.at, tol * null / program.stated), best.at.b)
    u = np.zeros(len(task.y))
    u[task.s > 0] = best.at.u / part.s
    status = run.status if run.status != "converged" or best.gap <= 10 * tol * null else "precision"
    stats = {**run.stats, "method": "interior point", "dual": u, "gap": best.gap, "relative_gap": best.gap / null}
    stats["seconds"] = time.perf_counter() - began
    return Solution(program.raw(w, b), status, stats)


def _snapped(program: _Program, s: _Point, slack: float) -> Array:
    """Coefficients at a kink are zero: set them so where that costs nothing."""
    if len(s.v) == 0:
        return s.w
    top, bottom = program.coordinates.room(s.v)
    inside = (s.e + s.f < 1e-3 * np.minimum(top, bottom) / np.maximum(program.coordinates.high, 1e-300)) & (
        np.abs(s.w) <= 1e-5 * max(float(np.abs(s.w).max(initial=0.0)), 1e-300)
    )
    w = np.where(inside, 0.0, s.w)
    if np.any(np.isinf(program.coordinates.low)):
        w = np.maximum(w, 0.0)
    return w if program.objective(w, s.b) <= program.objective(s.w, s.b) + slack else s.w


def _vertex(program: _Program, w: Array, b: float) -> tuple[Array, float]:
    """A linear programme ends at a vertex: as many rows met exactly as coefficients are free; kept if no worse."""
    if np.any(program.ridge > 0):
        return w, b
    free = np.flatnonzero(w)
    B = program.A[:, free]
    if program.fit_intercept:
        B = np.hstack([B, np.ones((len(B), 1))])
    k = B.shape[1]
    if not 0 < k <= len(B):
        return w, b
    off = np.abs(program.A @ w + b - program.rows.k)
    # Rows that are nearly met come first, and of these the independent ones.
    size = off + 1e-12 * max(float(off.max()), 1e-300)
    near = np.argsort(size)[: 4 * k + 20]
    with one_thread():
        order = scipy.linalg.qr((B[near] / size[near, None]).T, mode="economic", pivoting=True, check_finite=False)[2]
    rows = near[order[:k]]
    try:
        x = np.linalg.solve(B[rows], program.rows.k[rows])
    except np.linalg.LinAlgError:
        return w, b
    trial = np.zeros_like(w)
    trial[free] = x[: len(free)]
    at = float(x[-1]) if program.fit_intercept else 0.0
    if np.any(np.isinf(program.coordinates.low)) and np.any(trial < 0):
        return w, b
    return (trial, at) if program.objective(trial, at) <= program.objective(w, b) else (w, b)
