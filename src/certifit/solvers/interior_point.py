r"""Losses with one kink (absolute, hinge, perceptron) and coordinatewise penalties, by a primal–dual interior point.

.. math:: \sum_i s_i L(w\cdot x_i + b,\ y_i) + \Lambda\,(a\lVert w\rVert_1 + \tfrac c2\lVert w - w_0\rVert^2),\qquad
          L(z) = \max_{u\in[\mathrm{lo},\mathrm{hi}]} u(z - k)

Every term with a kink, of the loss and of the 1-norm alike, has a multiplier u in a box; the Newton system is one of
size d + 1 (or n, when that is smaller). With c = 0 this is a linear programme, else a quadratic one. The steps are
Mehrotra's predictor and corrector (1992).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from certifit._types import Array
from certifit.design import Cholesky, Design, cholesky
from certifit.losses import Loss
from certifit.parallel import one_thread
from certifit.regularizers import Regularizer
from certifit.solvers._driver import drive
from certifit.solvers._separable import separable
from certifit.solvers._solution import Solution

_BACK = 0.995  # share of the way to the boundary


@dataclass(frozen=True)
class _State:
    w: Array
    b: float
    u: Array  # multipliers of the rows
    p: Array
    m: Array
    v: Array  # multipliers of the coordinates (empty without kinks there)
    e: Array
    f: Array
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
        return np.where(np.isinf(self.high), 1.0, self.high - u), np.where(np.isinf(self.low), 1.0, u - self.low)

    @property
    def count(self) -> int:
        return int(np.isfinite(self.high).sum() + np.isfinite(self.low).sum())


class _Program:
    """The scaled problem: columns of norm one around their means, targets of size one."""

    def __init__(
        self, X: Array, y: Array, loss: Loss, regularizer: Regularizer, lam: float, s: Array, fit_intercept: bool
    ) -> None:
        part = separable(regularizer)
        assert part is not None
        n, d = X.shape
        self.fit_intercept, self.total = fit_intercept, float(s.sum())
        self.mean = s @ X / self.total if fit_intercept else np.zeros(d)
        A = X - self.mean
        size = np.sqrt(np.einsum("ij,ij->j", A, A) / n)
        self.scale = np.where(size > 0, 2.0 ** np.round(np.log2(np.where(size > 0, size, 1.0))), 1.0)
        self.A = A / self.scale
        k = loss.conjugate(np.ones(n), y)  # the conjugate of a one-kink loss is k·u
        self.shift = float(np.median(k)) if fit_intercept else 0.0
        spread = float(np.mean(np.abs(k - self.shift)))
        self.unit = spread if spread > 0 else 1.0
        low, high = loss.domain(y)
        self.rows = _Kinks((k - self.shift) / self.unit, s * low, s * high)
        strength = lam * self.total
        l1 = strength * part.l1 / self.scale
        bounded = part.l1 > 0.0 or part.positive
        bottom = np.full(d, -np.inf) if part.positive else -l1
        self.coordinates = _Kinks(np.zeros(d), bottom, l1) if bounded else _Kinks(*(np.zeros(0),) * 3)
        self.ridge = strength * part.l2 * self.unit / self.scale**2
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

    def start(self) -> _State:
        d = self.A.shape[1]
        w, b = np.zeros(d), 0.0
        n = len(self.rows.k)
        u = np.where(np.isfinite(self.rows.low + self.rows.high), 0.5 * (self.rows.low + self.rows.high), 0.0)
        p, m = np.ones(n), np.ones(n)
        c = self.coordinates
        v = np.where(np.isinf(c.low), np.minimum(c.high - 1.0, 0.0), 0.0)
        e, f = np.ones(len(c.k)), np.where(np.isinf(c.low), 0.0, 1.0)
        return self._state(w, b, u, p, m, v, e, f, 1.0)

    def _state(
        self, w: Array, b: float, u: Array, p: Array, m: Array, v: Array, e: Array, f: Array, step: float
    ) -> _State:
        rd, rb, r1, r2 = self.residuals(w, b, u, p, m, v, e, f)
        high, low = self.rows.room(u)
        top, bottom = self.coordinates.room(v)
        gap = float(p @ high + m @ low + e @ top + f @ bottom)
        size = max(float(np.abs(rd).max(initial=0.0)), abs(rb)) / max(self.total, 1.0)
        off = max(float(np.abs(r1).max(initial=0.0)), float(np.abs(r2).max(initial=0.0)), size)
        return _State(w, b, u, p, m, v, e, f, self.objective(w, b), gap, step, off)

    def residuals(
        self, w: Array, b: float, u: Array, p: Array, m: Array, v: Array, e: Array, f: Array
    ) -> tuple[Array, float, Array, Array]:
        rd = self.ridge * (w - self.centre) + self.A.T @ u + (v if len(v) else 0.0)
        rb = float(u.sum()) if self.fit_intercept else 0.0
        r1 = self.A @ w + b - self.rows.k - p + m
        return rd, rb, r1, (w - e + f if len(v) else np.zeros(0))

    def advance(self, s: _State) -> _State:
        high, low = self.rows.room(s.u)
        top, bottom = self.coordinates.room(s.v)
        rows = s.p / high + s.m / low
        coordinates = s.e / top + s.f / bottom
        solve = _factorised(self.A, rows, self.ridge + (1.0 / coordinates if len(s.v) else 0.0), self.fit_intercept)
        rd, rb, r1, r2 = self.residuals(s.w, s.b, s.u, s.p, s.m, s.v, s.e, s.f)
        lower, finite = np.isfinite(self.rows.low), np.isfinite(self.coordinates.low)

        def move(mu: float, second: tuple[Array, ...] | None) -> tuple[Any, ...]:
            c1, c2 = mu - s.p * high, np.where(lower, mu - s.m * low, 0.0)
            c3, c4 = mu - s.e * top, np.where(finite, mu - s.f * bottom, 0.0)
            if second is not None:
                du, dp, dm, dv, de, df = second
                c1, c2, c3, c4 = c1 + dp * du, c2 - dm * du, c3 + de * dv, c4 - df * dv
            g = r1 - c1 / high + c2 / low
            h = r2 - c3 / top + c4 / bottom
            right = -rd - (h / coordinates if len(s.v) else 0.0)
            dw, db, du = solve(right, -rb, g)
            dp, dm = (c1 + s.p * du) / high, (c2 - s.m * du) / low
            dv = (dw + h) / coordinates if len(s.v) else np.zeros(0)
            de, df = (c3 + s.e * dv) / top, (c4 - s.f * dv) / bottom
            return dw, db, du, dp, dm, dv, de, df

        count = self.rows.count + self.coordinates.count
        mu = s.gap / max(count, 1)
        _, _, du, dp, dm, dv, de, df = move(0.0, None)
        t, r = self._longest(s, du, dp, dm, dv, de, df, 1.0)
        high2, low2 = self.rows.room(s.u + r * du)
        top2, bottom2 = self.coordinates.room(s.v + r * dv)
        ahead = float((s.p + t * dp) @ high2 + (s.m + t * dm) @ low2 + (s.e + t * de) @ top2 + (s.f + t * df) @ bottom2)
        sigma = (ahead / max(count, 1) / mu) ** 3 if mu > 0 else 0.0
        dw, db, du, dp, dm, dv, de, df = move(sigma * mu, (du, dp, dm, dv, de, df))
        t, r = self._longest(s, du, dp, dm, dv, de, df, _BACK)
        if np.any(self.ridge > 0):  # primal and dual share the quadratic term: one step for both
            t = r = min(t, r)
        return self._state(
            s.w + t * dw, s.b + t * db, s.u + r * du, s.p + t * dp, s.m + t * dm, s.v + r * dv, s.e + t * de,
            s.f + t * df, min(t, r),
        )  # fmt: skip

    def _longest(
        self, s: _State, du: Array, dp: Array, dm: Array, dv: Array, de: Array, df: Array, share: float
    ) -> tuple[float, float]:
        """The largest primal and dual steps that keep everything positive."""
        high, low = self.rows.room(s.u)
        top, bottom = self.coordinates.room(s.v)
        finite, lower = np.isfinite(self.coordinates.low), np.isfinite(self.rows.low)
        upper = np.isfinite(self.rows.high)
        t = min(_reach(s.p, dp), _reach(s.m[lower], dm[lower]), _reach(s.e, de), _reach(s.f[finite], df[finite]))
        r = min(_reach(high[upper], -du[upper]), _reach(low[lower], du[lower]), _reach(top, -dv))
        r = min(r, _reach(bottom[finite], dv[finite]))
        return min(1.0, share * t), min(1.0, share * r)


def _ends(slope: Array, z: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return np.where(z == 0.0, 0.0, slope * z)


def _reach(x: Array, dx: Array) -> float:
    falling = dx < 0.0
    return float(np.min(-x[falling] / dx[falling], initial=np.inf))


def _factorised(A: Array, rows: Array, diagonal: Array, offset: bool):  # type: ignore[no-untyped-def]
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
    """The factor of H, with as little ridge as it takes."""
    size = np.maximum(np.diag(H), 1e-300)
    for extra in (1e-15, 1e-12, 1e-9, 1e-6):
        found = cholesky(H + np.diag(extra * size))
        if found is not None:
            return found
    return Cholesky(np.diag(np.sqrt(size)), 0.0)


def solve_kinked(
    design: Design,
    y: Array,
    loss: Loss,
    regularizer: Regularizer,
    lam: float,
    weights: Array | None = None,
    *,
    fit_intercept: bool = True,
    tol: float = 1e-8,
    max_iter: int = 200,
    time_budget: float | None = None,
    trace: bool = False,
) -> Solution:
    """Fit a loss with one kink; ``value`` = (w, b), ``stats["dual"]`` the multipliers u of the rows.

    Stops when primal and dual agree to ``tol`` of the null model.

    Examples
    --------
    >>> from certifit.design import as_design
    >>> from certifit.losses import Absolute
    >>> from certifit.regularizers import Zero
    >>> X, y = np.arange(5.0)[:, None], np.array([0.0, 1.0, 2.0, 3.0, 90.0])
    >>> w, b = solve_kinked(as_design(X), y, Absolute(), Zero(), 0.0).value
    >>> round(float(w[0]), 6)
    1.0
    """
    began = time.perf_counter()
    s = np.ones(len(y)) if weights is None else weights
    keep = s > 0
    X = design.dense()
    program = _Program(X[keep], y[keep], loss, regularizer, lam, s[keep], fit_intercept)
    first = program.start()
    null = max(first.objective, 1e-300)

    def finished(before: _State, after: _State) -> bool:
        return (after.gap <= tol * null and after.infeasible <= tol) or after.step < 1e-9

    run = drive(first, program.advance, finished, max_iter, time_budget, trace)
    best: _State = run.state
    w, b = _vertex(program, _snapped(program, best, tol * null), best.b)
    full, b = program.raw(w, b)
    u = np.zeros(len(y))
    u[keep] = best.u / s[keep]
    status = run.status if run.status != "converged" or best.gap <= 10 * tol * null else "precision"
    stats = {**run.stats, "method": "interior point", "dual": u, "relative_gap": best.gap / null}
    stats["gap"] = best.gap * program.unit / program.total
    stats["seconds"] = time.perf_counter() - began
    return Solution((full, b), status, stats)


def _snapped(program: _Program, s: _State, slack: float) -> Array:
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
