"""Smoothed Newton for linear soft-margin machines with an unpenalised offset.

Minimise ½‖w‖² + Σ costᵢ φ(yᵢ(w·xᵢ + b)). The squared hinge is solved by Newton steps with exact line search; only
rows with margin below 1 enter the Hessian. For the hinge its corner is rounded over a width h; at the optimum of the
rounded problem α = −cost·φₕ′ is feasible for the true dual and the duality gap is Σ cost·h·a(1 − a) over the rows in
the rounded part, about h² of them all. So a few widths suffice, each begun where the last one ended, and as h falls
the Hessian has ever fewer rows. Where these are fewer than the columns, the Newton step is found through a system of
their number.

Sparse rows with so many columns that no system can be formed are swept over by dual coordinate descent where the loss
has a corner; a step costs the numbers of one row (Hsieh et al. 2008, A dual coordinate descent method for large-scale
linear SVM). The offset is the multiplier of Σβ = 0: an augmented Lagrangian, ½ room (Σβ)², keeps it near between looks
at the gap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from certifit._types import Array, Matrix
from certifit.design import cholesky
from certifit.loops import linear_svc as loops
from certifit.losses import Loss, best_offset, get_loss
from certifit.solvers._driver import drive
from certifit.solvers._solution import Solution
from certifit.solvers._task import DEFAULT, Options
from certifit.solvers.balance import balance

DENSE = 1500  # columns, or rows in the Hessian, up to which their system is solved; else conjugate gradients
_MANY = 100  # columns from which on it may be a system of the rows
_SPARSE = 400  # rows of one, where they are sparse: conjugate gradients cost little then
_ROWS = 1 << 14  # rows of the Hessian product handled at a time
_ROUNDING = 1e-3  # of the objective: a larger gap is never a matter of rounding
_NARROWING = 0.2  # how far the rounded corner narrows at once
_SWEEPS, _EVERY, _LOOKS = 20, 10, 100  # sweeps between two looks at the gap, which of them is over all rows; looks
LOSSES = {"hinge": 0, "squared_hinge": 1, "epsilon_insensitive": 2, "squared_epsilon_insensitive": 3}


@dataclass(frozen=True)
class LinearMachine:
    """w, b, multipliers β (yα for labels), and the gap between their objective values."""

    coef: Array
    intercept: float
    beta: Array
    gap: float


class _Corner:
    """The problem with its corner rounded: (w, b), scores, multipliers, curvatures and objective values."""

    def __init__(self, X: Matrix, y: Array, cost: Array, loss: Loss, offset: bool) -> None:
        self.X, self.y, self.cost, self.offset = X, y, cost, offset
        self.code, self.tube = LOSSES[loss.name], float(loss.params().get("epsilon", 0.0))
        self.squared = self.code % 2 == 1
        self.w, self.b = np.zeros(X.shape[1]), 0.0
        self.z = np.zeros(X.shape[0])
        self.beta, self.curvature = np.empty_like(self.z), np.empty_like(self.z)

    def look(self, h: float) -> None:
        smooth, true, total, square, skew = loops.at(
            self.z, self.y, self.cost, self.tube, h, self.code, self.beta, self.curvature
        )
        self.v = np.asarray(self.X.T @ self.beta).ravel()
        half = 0.5 * float(self.w @ self.w)
        self.smooth, self.primal = smooth + half, true + half
        self.skew = -skew if self.offset else 0.0
        self.gradient = np.append(self.w - self.v, self.skew)
        # What rounding the corner alone costs: the gap that remains at this width.
        self.rounded = 0.0 if self.squared else h * (total - square)
        # P − D = rounded + ½‖w − v‖² − b Σβ; balancing removes the last term at the price of moving multipliers of
        # rows near the corner (within h of it, when there are any) by what the sum was off.
        price = min(h, 1e-2) if np.any(self.curvature) else 1.0
        self.gap = self.rounded + 0.5 * float(np.sum((self.w - self.v) ** 2)) + price * abs(self.skew)

    def direction(self) -> Array:
        """Newton direction over (w, b) and the predicted decrease (twice)."""
        rows = np.flatnonzero(self.curvature)
        k = self.curvature[rows]
        d = len(self.w)
        step = np.zeros(d + 1)
        if not len(rows):  # the offset, which has no penalty of its own, has no curvature: any small one will do
            last = self.gradient[-1] / (1e-8 * self.cost.sum()) if self.offset else 0.0
            return -np.append(self.gradient[:-1], last)
        if d >= _MANY and len(rows) <= min(d, _SPARSE if scipy.sparse.issparse(self.X) else DENSE):
            return self._through_rows(self.X[rows], k)
        if d > DENSE:
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
        H[d, d] += 1e-12 * H[d, d]
        step[:size] = -newton_step(H[:size, :size], self.gradient[:size])
        return step

    def _through_rows(self, X: Matrix, k: Array) -> Array:
        """The direction from fewer rows than columns: with A = √k X, u = (I + AAᵀ)⁻¹(b√k − Ag) gives w = −g − Aᵀu.

        b is such that Σ√k u cancels the gradient of the offset.
        """
        root, g = np.sqrt(k), self.gradient[:-1]
        A = X.multiply(root[:, None]).tocsr() if scipy.sparse.issparse(X) else X * root[:, None]
        G = A @ A.T
        G = G.toarray() if scipy.sparse.issparse(G) else G
        G[np.diag_indices_from(G)] += 1.0
        heavy, pulled = newton_step(G, np.column_stack([root, np.asarray(A @ g).ravel()])).T
        b = (root @ pulled - self.gradient[-1]) / (root @ heavy) if self.offset else 0.0
        return np.append(-g - np.asarray(A.T @ (b * heavy - pulled)).ravel(), b)

    def move(self, step: Array, h: float) -> bool:
        """Exact line search along the step; whether anything moved."""
        dz = np.asarray(self.X @ step[:-1]).ravel() + step[-1]
        dw = step[:-1]
        at_zero, square = float(self.w @ dw), float(dw @ dw)

        def slope(t: float) -> tuple[float, float]:
            first, second = loops.slope_along(self.z, dz, self.y, self.cost, self.tube, h, self.code, t)
            return first + at_zero + t * square, second + square

        t = root(slope)
        if t <= 0.0:
            return False
        self.w, self.b = self.w + t * dw, self.b + t * float(step[-1])
        self.z += t * dz
        return True

    def machine(self) -> LinearMachine:
        """The machine as it stands: multipliers balanced exactly, and the gap that is left."""
        beta = self.beta.copy()
        if self.offset:
            beta = balance(beta, np.full_like(beta, np.inf) if self.squared else self.cost)
        alpha = np.abs(beta)
        v = np.asarray(self.X.T @ beta).ravel()
        gain = float(self.y @ beta) - self.tube * float(alpha.sum()) if self.code >= 2 else float(alpha.sum())
        dual = gain - 0.5 * float(v @ v)
        if self.squared:
            used = alpha > 0
            dual -= 0.25 * float(np.sum(alpha[used] ** 2 / self.cost[used]))
        return LinearMachine(self.w.copy(), self.b, beta, self.primal - dual)


def newton_step(H: Array, g: Array) -> Array:
    """H⁻¹g; zeros where numbers have overflowed."""
    if not (np.all(np.isfinite(H)) and np.all(np.isfinite(g))):  # an overflow: LAPACK may never return from it
        return np.zeros_like(g)
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


def root(slope: Callable[[float], tuple[float, float]]) -> float:
    """The step length where an increasing slope that is negative at 0 vanishes: Newton kept inside a bracket."""
    low, high, t = 0.0, np.inf, 1.0
    start, _ = slope(0.0)
    if not start < 0.0:
        return 0.0
    width, fallen = np.inf, 0.0  # by at least so much, by convexity, the objective is lower at `low`
    for _ in range(100):
        first, second = slope(t)
        # Past the minimum a slope that is small beside the first one may still have undone all that was gained.
        if abs(first) <= 1e-3 * abs(start) and first * (t - low) <= 0.5 * fallen:
            return t
        if first < 0:
            fallen -= first * (t - low)
            low = t
        else:
            high = t
        guess = t - first / second if second > 0 else np.inf
        # Where the curvature jumps Newton can creep along the bracket: unless it halves, it is halved.
        creeping, width = high - low > 0.5 * width, high - low
        inside = low < guess < high and not (creeping and high < np.inf)
        t = guess if inside else (2.0 * low + 1.0 if high == np.inf else 0.5 * (low + high))
        if high < np.inf and high - low <= 1e-14 * high:
            break
    else:
        t = low  # the slope there is still negative: the objective falls all the way
    return t


def linear_svc(
    X: Matrix,
    y: Array,
    cost: Array,
    target: float,
    options: Options = DEFAULT,
    *,
    loss: str | Loss = "hinge",
    offset: bool = True,
    excess: float = np.inf,
) -> Solution:
    """Solve until the duality gap is at most ``target`` (in units of ½‖w‖² + Σ cost·loss).

    y holds −1.0 and +1.0, or real numbers of about that size for the losses outside a tube; ``cost`` is C ≥ 0 of each
    row. ``loss`` is "hinge", "squared_hinge", `EpsilonInsensitive` or `SquaredEpsilonInsensitive`; ``offset`` tells
    whether there is an (unpenalised) offset. Besides, the gap is to be at most the fraction ``excess`` of the
    objective, as far as rounding allows. ``value`` is a `LinearMachine`; ``stats`` holds ``steps``, Newton's, of which
    there are at most ``max_iter`` of the options.

    Examples
    --------
    >>> X, y = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    >>> found = linear_svc(X, y, np.ones(2), 1e-9)
    >>> found.value.coef.round(6), found.status
    (array([1.]), 'converged')
    """
    corner = _Corner(X, y, cost, get_loss(loss), offset)
    if scipy.sparse.issparse(X) and X.shape[1] > DENSE and not corner.squared:
        found = _by_sweeps(corner, get_loss(loss), target, excess, options)
        if found.converged or found.status == "time_budget":
            return found
        corner = _Corner(X, y, cost, get_loss(loss), offset)
    descent = Descent(corner, target, excess, options.limit(1000))
    return descended(descent, options.time_budget, options.trace)


@dataclass(frozen=True)
class _Swept:
    """What is known after some sweeps."""

    objective: float
    gap: float
    step: float  # sweeps so far
    best: LinearMachine


def _by_sweeps(corner: _Corner, loss: Loss, target: float, excess: float, options: Options) -> Solution:
    """Dual coordinate descent over the rows of the corner; ``value`` is the best machine on the way."""
    X, y, cost, rng = corner.X.tocsr().astype(float), corner.y, corner.cost, np.random.default_rng(0)
    size = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    room = float(size[cost > 0.0].mean()) if corner.offset and np.any(cost > 0.0) else 0.0
    given = X.data, X.indices, X.indptr, y, cost, corner.tube, corner.code == 0, size, room
    beta, spare, near = np.zeros(len(y)), [np.empty(len(y)), np.empty(len(y))], np.zeros(1)

    def look(sweeps: float, best: LinearMachine | None) -> _Swept:
        corner.w = np.asarray(X.T @ beta).ravel()
        corner.z = np.asarray(X @ corner.w).ravel()
        corner.b = float(best_offset(loss, corner.z, y, cost)) if corner.offset else 0.0
        corner.z += corner.b
        true = loops.at(corner.z, y, cost, corner.tube, 1.0, corner.code, *spare)[1]
        corner.primal, corner.beta = true + 0.5 * float(corner.w @ corner.w), beta
        fresh = corner.machine()
        best = fresh if best is None or fresh.gap < best.gap else best
        return _Swept(corner.primal, best.gap, sweeps, best)

    def advance(at: _Swept) -> _Swept:
        w = corner.w.copy()
        for k in range(_SWEEPS):  # most of them over what is inside its box: the rest seldom moves
            rows = np.flatnonzero((beta != 0.0) & (np.abs(beta) < cost)) if k % _EVERY else np.arange(len(y))
            near[0] = loops.dual_sweep(*given, rng.permutation(rows), beta, w, near[0])
        near[0] += room * float(beta.sum())  # the multiplier moves on
        return look(at.step + _SWEEPS, at.best)

    def finished(before: _Swept, after: _Swept) -> bool:
        return after.gap <= min(target, excess * after.objective)

    run = drive(look(0, None), advance, finished, _LOOKS, options.time_budget, options.trace)
    at: _Swept = run.state
    stats = run.stats | {"steps": int(at.step), "gap": at.gap, "method": "dual coordinate descent"}
    return Solution(at.best, run.status, stats)


def descended(descent: Descent, time_budget: float | None, trace: bool, start: Look | None = None) -> Solution:
    """Drive a descent to its end; ``value`` is the best machine on the way."""
    run = drive(descent.look(start or Look()), descent.advance, descent.finished, np.inf, time_budget, trace,
                events=lambda at: [{"width": at.width}], check_start=True)  # fmt: skip
    at: Look = run.state
    assert at.best is not None
    stats = run.stats | {"steps": int(at.step), "gap": at.best.gap, "method": "smoothed newton"}
    return Solution(at.best, run.status, stats)


@dataclass(frozen=True)
class Look:
    """What is known at one width of the corner, and the best machine so far."""

    objective: float = np.inf
    gap: float = np.inf
    step: float = 0  # Newton steps made
    width: float = 1.0
    stalled: int = 0
    least: float = np.inf  # smallest gap at the end of a width
    best: LinearMachine | None = None


class Corner(Protocol):
    """A problem whose corners are rounded over a width, as `Descent` sees it."""

    squared: bool  # no corner: the width has no meaning
    primal: float  # objective without rounding
    smooth: float  # and with it
    gap: float
    rounded: float  # the part of the gap that is due to the width
    gradient: Array

    def look(self, h: float) -> None: ...
    def direction(self) -> Array: ...
    def move(self, step: Array, h: float) -> bool: ...
    def machine(self) -> LinearMachine: ...


class Descent:
    """Newton steps at one width of the corner, then the next."""

    def __init__(self, corner: Corner, target: float, excess: float, max_steps: int) -> None:
        self.corner, self.most, self.excess, self.max_steps = corner, target, excess, max_steps

    @property
    def target(self) -> float:
        """The gap to reach: at most a number, and at most a fraction of the objective as it stands."""
        return min(self.most, self.excess * self.corner.primal) if self.excess < np.inf else self.most

    def look(self, at: Look) -> Look:
        self.corner.look(at.width)
        gap, best = self.corner.gap, at.best
        if best is None or gap < 0.5 * best.gap or gap <= self.target:
            fresh = self.corner.machine()
            best = fresh if best is None or fresh.gap < best.gap else best
        return replace(at, objective=self.corner.primal, gap=gap, best=best)

    def advance(self, at: Look) -> Look:
        corner, h, steps, stalled, least = self.corner, at.width, at.step, at.stalled, at.least
        # The gap has two parts: what rounding the corner costs, and what is left to descend at this width.
        there = at.gap - corner.rounded <= max(0.3 * corner.rounded, 0.1 * self.target)
        if corner.squared or not there:
            steps += 1
            step = corner.direction()
            there = not corner.move(step, h) or -float(step @ corner.gradient) <= 1e-15 * abs(corner.smooth)
        if there:
            # Close to the optimum of this width: aim the next one at the target, but not too far at once.
            stalled = stalled + 1 if at.gap > 0.9 * least or h < 1e-14 else 0
            least = min(least, at.gap)
            if not corner.squared:
                h *= float(np.clip(np.sqrt(0.5 * self.target / max(corner.rounded, 1e-300)), _NARROWING, 0.5))
        return self.look(replace(at, step=steps, width=h, stalled=stalled, least=least))

    def finished(self, before: Look, after: Look) -> str:
        assert after.best is not None
        # Without a corner Newton's method ends quadratically: one step more brings the last digits, and certain labels.
        one_more = self.corner.squared and before.gap > self.target and after.best.gap > 1e-9 * self.corner.primal
        if after.best.gap <= self.target and not one_more:
            return "converged"
        enough = "converged" if after.best.gap <= self.most else ""
        if after.step >= self.max_steps:
            return enough or "max_iter"
        if after.stalled < 3:
            return ""
        return enough or ("precision" if after.best.gap <= _ROUNDING * self.corner.primal else "no improvement")
