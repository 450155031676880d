"""Smoothed Newton for linear soft-margin machines with an unpenalised offset.

Minimise ½‖w‖² + Σ costᵢ φ(yᵢ(w·xᵢ + b)). The squared hinge is solved by Newton steps with exact line search; only
rows with margin below 1 enter the Hessian. For the hinge its corner is rounded over a width h; at the optimum of the
rounded problem α = −cost·φₕ′ is feasible for the true dual and the duality gap is Σ cost·h·a(1 − a) over the rows in
the rounded part, about h² of them all. So a few widths suffice, each begun where the last one ended, and as h falls
the Hessian has ever fewer rows.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from certifit._types import Array, Matrix
from certifit.design import cholesky
from certifit.loops import linear_svc as loops
from certifit.solvers.balance import balance

_DENSE = 1500  # columns up to which the Hessian is formed; conjugate gradients beyond
_ROWS = 1 << 14  # rows of the Hessian product handled at a time
_NARROWING = 0.2  # how far the rounded corner narrows at once
LOSSES = {"hinge": 0, "squared_hinge": 1}


@dataclass
class LinearMachine:
    """w, b, multipliers β = yα, and the gap between their objective values."""

    coef: Array
    intercept: float
    beta: Array
    gap: float
    status: str  # "solved", "time", "steps" or "rounding"
    steps: int
    trace: list[dict[str, float]] = field(default_factory=list)


class _State:
    """Where the iteration stands: (w, b), scores, multipliers, curvatures and objective values."""

    def __init__(self, X: Matrix, y: Array, cost: Array, code: int, offset: bool) -> None:
        self.X, self.y, self.cost, self.code, self.offset = X, y, cost, code, offset
        self.w, self.b = np.zeros(X.shape[1]), 0.0
        self.z = np.zeros(X.shape[0])
        self.alpha, self.curvature = np.empty_like(self.z), np.empty_like(self.z)

    def look(self, h: float) -> None:
        smooth, true, total, square, skew = loops.at(
            self.z, self.y, self.cost, h, self.code, self.alpha, self.curvature
        )
        self.v = np.asarray(self.X.T @ (self.alpha * self.y)).ravel()
        half = 0.5 * float(self.w @ self.w)
        self.smooth, self.primal = smooth + half, true + half
        self.skew = -skew if self.offset else 0.0
        self.gradient = np.append(self.w - self.v, self.skew)
        # What rounding the corner alone costs: the gap that remains at this width.
        self.rounded = 0.0 if self.code == 1 else h * (total - square)
        # P − D = rounded + ½‖w − v‖² − b Σyα; balancing removes the last term at the price of moving multipliers of
        # rows near the corner (within h of it, when there are any) by what the sum was off.
        price = min(h, 1e-2) if np.any(self.curvature) else 1.0
        self.gap = self.rounded + 0.5 * float(np.sum((self.w - self.v) ** 2)) + price * abs(self.skew)

    def direction(self) -> Array:
        """Newton direction over (w, b) and the predicted decrease (twice)."""
        rows = np.flatnonzero(self.curvature)
        k = self.curvature[rows]
        d = len(self.w)
        step = np.zeros(d + 1)
        if d > _DENSE:
            step[:] = _by_conjugate_gradients(self.X[rows], k, self.gradient, self.offset)
            return step
        H = np.zeros((d + 1, d + 1))
        for i in range(0, len(rows), _ROWS):
            part, weight = self.X[rows[i : i + _ROWS]], k[i : i + _ROWS]
            if scipy.sparse.issparse(part):
                H[:d, :d] += (part.T @ part.multiply(weight[:, None]).tocsr()).toarray()
            else:
                scaled = part * np.sqrt(weight)[:, None]
                H[:d, :d] += scaled.T @ scaled
            H[:d, d] += np.asarray(part.T @ weight).ravel()
        H[d, :d] = H[:d, d]
        H[d, d] = k.sum()
        H[np.arange(d), np.arange(d)] += 1.0
        size = d + 1 if self.offset else d
        # The offset has no penalty of its own: with no row in the rounded part its curvature is zero.
        H[d, d] += 1e-12 * H[d, d] + (1e-8 * self.cost.sum() if not len(rows) else 0.0)
        step[:size] = -_solve(H[:size, :size], self.gradient[:size])
        return step

    def move(self, step: Array, h: float) -> bool:
        """Exact line search along the step; whether anything moved."""
        dz = np.asarray(self.X @ step[:-1]).ravel() + step[-1]
        dw = step[:-1]
        at_zero, square = float(self.w @ dw), float(dw @ dw)

        def slope(t: float) -> tuple[float, float]:
            first, second = loops.slope_along(self.z, dz, self.y, self.cost, h, self.code, t)
            return first + at_zero + t * square, second + square

        t = _root(slope)
        if t <= 0.0:
            return False
        self.w, self.b = self.w + t * dw, self.b + t * float(step[-1])
        self.z += t * dz
        return True


def _solve(H: Array, g: Array) -> Array:
    factor = cholesky(H)
    return np.asarray(np.linalg.lstsq(H, g, rcond=None)[0] if factor is None else factor.solve(g))


def _by_conjugate_gradients(X: Matrix, k: Array, g: Array, offset: bool) -> Array:
    def product(p: Array) -> Array:
        u = k * (np.asarray(X @ p[:-1]).ravel() + p[-1])
        last = u.sum() + 1e-12 * k.sum() * p[-1] if offset else p[-1]
        return np.append(p[:-1] + np.asarray(X.T @ u).ravel(), last)

    if not offset:
        g = np.append(g[:-1], 0.0)
    operator = scipy.sparse.linalg.LinearOperator((len(g), len(g)), matvec=product)
    step, _ = scipy.sparse.linalg.cg(operator, -g, rtol=1e-3, maxiter=200)
    return step if offset else np.append(step[:-1], 0.0)


def _root(slope: Any) -> float:
    """The step length where an increasing slope that is negative at 0 vanishes: Newton kept inside a bracket."""
    low, high, t = 0.0, np.inf, 1.0
    start, _ = slope(0.0)
    if not start < 0.0:
        return 0.0
    for _ in range(60):
        first, second = slope(t)
        if abs(first) <= 1e-3 * abs(start):
            return t
        if first < 0:
            low = t
        else:
            high = t
        guess = t - first / second if second > 0 else np.inf
        t = guess if low < guess < high else (2.0 * low + 1.0 if high == np.inf else 0.5 * (low + high))
        if high - low <= 1e-14 * high:
            break
    return t


def linear_svc(
    X: Matrix,
    y: Array,
    cost: Array,
    target: float,
    *,
    loss: str = "hinge",
    offset: bool = True,
    max_steps: int = 1000,
    time_budget: float | None = None,
    trace: bool = False,
) -> LinearMachine:
    """Solve until the duality gap is at most ``target`` (in units of ½‖w‖² + Σ cost·loss).

    Parameters
    ----------
    X : matrix of rows, dense or sparse
    y : array of −1.0 and +1.0
    cost : array
        C of each row (≥ 0).
    loss : {"hinge", "squared_hinge"}
    offset : bool
        Whether there is an (unpenalised) offset.
    """
    start = time.perf_counter()
    state = _State(X, y, cost, LOSSES[loss], offset)
    h, status, steps, stalled, least = 1.0, "", 0, 0, np.inf
    best: LinearMachine | None = None
    records: list[dict[str, float]] = []
    while not status:
        state.look(h)
        gap, seconds = state.gap, time.perf_counter() - start
        if trace:
            records.append({"objective": state.primal, "gap": gap, "step": steps, "width": h, "seconds": seconds})
        if best is None or gap < 0.5 * best.gap or gap <= target:
            fresh = _finish(state)
            best = fresh if best is None or fresh.gap < best.gap else best
        if best.gap <= target:
            status = "solved"
        elif steps >= max_steps or stalled >= 3:
            status = "steps" if steps >= max_steps else "rounding"
        elif time_budget is not None and seconds > time_budget:
            status = "time"
        else:
            # The gap has two parts: what rounding the corner costs, and what is left to descend at this width.
            there = gap - state.rounded <= max(0.3 * state.rounded, 0.1 * target)
            if state.code == 1 or not there:
                steps += 1
                step = state.direction()
                there = not state.move(step, h) or -float(step @ state.gradient) <= 1e-15 * abs(state.smooth)
            if there:
                # Close to the optimum of this width: aim the next one at the target, but not too far at once.
                stalled = stalled + 1 if gap > 0.9 * least or h < 1e-14 else 0
                least = min(least, gap)
                if state.code == 0:
                    h *= float(np.clip(np.sqrt(0.5 * target / max(state.rounded, 1e-300)), _NARROWING, 0.5))
    assert best is not None
    best.status, best.steps, best.trace = status, steps, records
    return best


def _finish(state: _State) -> LinearMachine:
    """The machine as it stands: multipliers balanced exactly, and the gap that is left."""
    beta = state.alpha * state.y
    if state.offset:
        room = state.cost if state.code == 0 else np.full_like(beta, np.inf)
        beta = balance(beta, room)
    alpha = np.abs(beta)
    v = np.asarray(state.X.T @ beta).ravel()
    dual = float(alpha.sum()) - 0.5 * float(v @ v)
    if state.code == 1:
        used = alpha > 0
        dual -= 0.25 * float(np.sum(alpha[used] ** 2 / state.cost[used]))
    return LinearMachine(state.w.copy(), state.b, beta, state.primal - dual, "", 0)
