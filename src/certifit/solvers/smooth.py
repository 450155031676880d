r"""Newton's method for smooth losses with a squared-norm penalty (or none), dense or sparse, one or many scores.

.. math:: \min_{W, b}\ \sum_i s_i\,L(x_i W + b,\ y_i) + \tfrac12\sum_j \rho_j\lVert W_j - W_{0j}\rVert^2

It runs in centred and scaled coordinates, so that badly scaled columns cost nothing, and in two gears:

- few rows: Newton steps with the full Hessian and a line search on the scores (which costs no pass over X);
- many rows: a share of the rows gives a start and a Hessian that is good to some ten per cent; with it as metric,
  limited-memory quasi-Newton steps need a full gradient each and gain one or two digits per step. If that stalls, full
  Newton steps take over.

It stops when the Newton decrement says that the objective is within ``tol`` of its minimum.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from certifit._types import Array
from certifit.design import Design, cholesky, one_thread, pseudo_inverse
from certifit.losses import Loss, Softmax
from certifit.solvers._driver import drive
from certifit.solvers._solution import Solution

_BLOCK = 2048  # rows per block of a Hessian
_TINY = 1e-30  # curvatures below it are dropped: products of denormal numbers are a hundred times slower
_MEMORY = 12  # pairs kept by the quasi-Newton gear
_PATIENCE = 25  # quasi-Newton steps before full Newton takes over


@dataclass(frozen=True)
class Columns:
    """X centred and scaled without a copy (or with one, where means dwarf the spread); with an offset, ones last."""

    design: Design
    mean: Array
    scale: Array
    fit_intercept: bool

    @classmethod
    def of(cls, design: Design, weights: Array, fit_intercept: bool) -> Columns:
        # Any centre and scale will do, so evenly spread rows are enough to find them.
        rows = slice(None, None, max(1, design.shape[0] // 4096))
        s, X = weights[rows], design.X[rows]
        if not s.sum() > 0:
            s, X = weights, design.X
        total = s.sum()
        mean = np.asarray(X.T @ s) / total if fit_intercept else np.zeros(design.shape[1])
        square = np.asarray((X.multiply(X) if design.is_sparse else np.square(X)).T @ s).ravel() / total
        spread = np.sqrt(np.maximum(square - mean**2, 0.0))
        if not design.is_sparse and np.any(np.abs(mean) > 1e3 * spread):
            centred = design.X - mean
            spread = np.sqrt(weights @ np.square(centred) / weights.sum())
            scale = np.where(spread > 0, spread, 1.0)
            return cls(Design(centred / scale), np.zeros_like(mean), np.ones_like(mean), fit_intercept)._remember(
                mean, scale
            )
        return cls(design, mean, np.where(spread > 1e-150, spread, 1.0), fit_intercept)

    # What `raw` needs when the columns were copied: the original centre and scale.
    _centre: Any = None
    _unit: Any = None

    def _remember(self, mean: Array, scale: Array) -> Columns:
        return replace(self, _centre=mean, _unit=scale)

    @property
    def unit(self) -> Array:
        """One unit of a coordinate is 1/unit of the raw coefficient."""
        return self.scale if self._unit is None else self._unit

    @property
    def centre(self) -> Array:
        """What was subtracted from the raw columns."""
        return self.mean if self._unit is None else self._centre

    @property
    def width(self) -> int:
        return self.design.shape[1] + self.fit_intercept

    def product(self, theta: Array) -> Array:
        """(n, K) scores of (p, K) coordinates."""
        d = self.design.shape[1]
        w = theta[:d] / self.scale[:, None]
        shift = -(self.mean @ w)
        if self.fit_intercept:
            shift = shift + theta[d]
        return self.design.product(w) + shift

    def product_t(self, R: Array) -> Array:
        """(p, K) from (n, K)."""
        total = R.sum(axis=0)
        top = (self.design.product_t(R) - np.outer(self.mean, total)) / self.scale[:, None]
        return np.vstack([top, total]) if self.fit_intercept else top

    def rows(self, index: Any) -> Array:
        """Dense block of rows, ones last."""
        X = self.design.X[index]
        A = ((X.toarray() if self.design.is_sparse else X) - self.mean) / self.scale
        return np.column_stack([A, np.ones(len(A))]) if self.fit_intercept else A

    def raw(self, theta: Array) -> tuple[Array, Array]:
        """Coefficients (K, d) and offsets (K,) in the user's units."""
        d = self.design.shape[1]
        W = theta[:d] / self.unit[:, None]
        b = theta[d] - self.centre @ W if self.fit_intercept else np.zeros(theta.shape[1])
        return W.T.copy(), np.asarray(b)

    def inward(self, W: Array, b: Array) -> Array:
        """Coordinates of (K, d) coefficients and (K,) offsets."""
        top = (W * self.unit).T
        return np.vstack([top, b + W @ self.centre]) if self.fit_intercept else top


def scaled_root(columns: Columns, h: Array) -> tuple[Array | None, float]:
    """T with (Aᵀ diag(h) A)⁻¹ = T Tᵀ for the coordinates' columns A, and the reciprocal condition number."""
    G = np.zeros((columns.width, columns.width))
    for i in range(0, len(h), _BLOCK):
        part = slice(i, min(i + _BLOCK, len(h)))
        A = columns.rows(part) * np.sqrt(h[part])[:, None]
        G += A.T @ A
    root = np.sqrt(np.maximum(np.diag(G), 1e-300))
    factor = cholesky(G / np.outer(root, root))
    if factor is None or factor.rcond < 1e-13:
        return None, 0.0
    return factor.inverse_root() / root[:, None], factor.rcond


@dataclass(frozen=True)
class Objective:
    """The sum that is minimised, as a function of coordinates θ (p, K)."""

    columns: Columns
    y: Array
    weights: Array
    loss: Loss
    ridge: Array  # (p,), in coordinates; zero for the offset
    prior: Array  # (p, K), in coordinates
    offset: Array | None = None

    @property
    def outputs(self) -> int:
        return self.prior.shape[1]

    def scores(self, theta: Array) -> Array:
        Z = self.columns.product(theta)
        return Z if self.offset is None else Z + self.offset[:, None]

    def _pointwise(self, Z: Array) -> Array:
        return Z if isinstance(self.loss, Softmax) else Z[:, 0]

    def value(self, Z: Array, theta: Array) -> tuple[float, Array]:
        """The objective, and the slopes of the losses (n, K), which come with it for nothing."""
        with np.errstate(over="ignore"):
            values, slopes = self.loss.value_slope(self._pointwise(Z), self.y)
        data = float(self.weights @ values)
        return data + 0.5 * float(self.ridge @ np.square(theta - self.prior).sum(axis=1)), slopes.reshape(Z.shape)

    def gradient(self, slopes: Array, theta: Array) -> Array:
        R = slopes * self.weights[:, None]
        return self.columns.product_t(R) + self.ridge[:, None] * (theta - self.prior)

    def hessian(self, Z: Array, rows: Array | None = None, factor: float = 1.0) -> Array:
        """(pK, pK) Hessian from all or some rows (times ``factor``); class-major order."""
        p, K, n = self.columns.width, self.outputs, len(self.y)
        index = np.arange(n) if rows is None else rows
        H = np.zeros((p * K, p * K))
        for i in range(0, len(index), _BLOCK):
            part = index[i : i + _BLOCK]
            block = slice(part[0], part[-1] + 1) if rows is None else part
            A, s = self.columns.rows(block), factor * self.weights[block]
            if K == 1:
                h = s * self.loss.curvature(Z[block, 0], self.y[block])
                h[h < _TINY] = 0.0
                A = A * np.sqrt(h)[:, None]
                H += A.T @ A
                continue
            P = self.loss.value_slope(Z[block], self.y[block])[1] + Softmax.one_hot(self.y[block], K)
            P[P < _TINY] = 0.0
            wide = (np.sqrt(s)[:, None, None] * P[:, :, None] * A[:, None, :]).reshape(len(A), -1)
            H -= wide.T @ wide
            with one_thread():  # many small products: waiting for a second thread costs more than it brings
                for k in range(K):
                    B = A * np.sqrt(s * P[:, k])[:, None]
                    H[k * p : (k + 1) * p, k * p : (k + 1) * p] += B.T @ B
        H[np.diag_indices_from(H)] += np.tile(self.ridge, K)
        return H

    def left(self, G: Array, D: Array) -> float:
        """How much is left to gain: half the squared Newton decrement; for softmax the duality gap, which is proved."""
        part = -0.5 * D * G
        if self.outputs > 1 and np.any(self.ridge > 0):
            hold = self.ridge > 0
            part[hold] = 0.5 * np.square(G[hold]) / self.ridge[hold, None]
        return float(np.sum(part))

    def metric(self, H: Array) -> Any:
        """The Hessian ready to be solved with; where it is flat (dependent columns), steps have least length."""
        size = np.maximum(np.diag(H), 1e-300)
        p, K = self.columns.width, self.outputs
        if K > 1:
            flat = np.kron(np.full((K, K), 1.0 / K), np.eye(p))
            H = H + flat * np.tile(np.where(self.ridge > 0, 0.0, size.reshape(K, p).mean(axis=0)), K)
        root = np.sqrt(np.maximum(np.diag(H), 1e-300))
        scaled = H / np.outer(root, root)
        factor = cholesky(scaled)
        return (pseudo_inverse(scaled) if factor is None or factor.rcond < 1e-13 else factor), root


def _solve(metric: Any, G: Array) -> Array:
    """H⁻¹G for G of shape (p, K), H in class-major order."""
    factor, root = metric
    return (factor.solve(G.T.ravel() / root) / root).reshape(G.shape[::-1]).T


@dataclass(frozen=True)
class _State:
    theta: Array
    Z: Array
    G: Array
    objective: float
    gap: float  # half the squared Newton decrement, in the metric at hand
    step: float
    direction: Array
    pairs: deque[tuple[Array, Array, float]]
    metric: Any
    stalled: bool = False


def minimise(
    objective: Objective,
    start: Array,
    tol: float,
    max_iter: int = 100,
    time_budget: float | None = None,
    trace: bool = False,
    metric: Any = None,
) -> Solution:
    """Minimise to within ``tol`` (an absolute amount); ``value`` is θ.

    ``stats`` holds ``n_iter``, ``gap`` (estimated, in the units of the objective), ``method`` and ``trace``. With a
    ``metric`` (see `nearby_metric`) from a problem near by, the start is taken as good and the steps are quasi-Newton.
    """
    n = len(objective.y)
    share = _share(objective)
    sampled = n > 3 * share or metric is not None
    theta = start
    if sampled and metric is None:
        theta = _from_a_share(objective, theta, share)
    first = _first(objective, theta, _rows(n, share) if sampled else None, metric)
    run = drive(
        first,
        _quasi_newton(objective) if sampled else _newton(objective),
        lambda a, b: b.gap <= tol or b.stalled,
        _PATIENCE if sampled else max_iter,
        time_budget,
        trace,
    )
    n_iter, rows, state, status = run.n_iter, run.trace, run.state, run.status
    # The share's Hessian only estimates the decrement: where it did not get there, the full one decides.
    if sampled and not state.gap <= tol and status != "time_budget":
        second = drive(
            _first(objective, state.theta, None),
            _newton(objective),
            lambda a, b: b.gap <= tol or b.stalled,
            max_iter,
            time_budget,
            trace,
        )
        state, status, n_iter = second.state, second.status, n_iter + second.n_iter
        rows = rows + [
            r._replace(iteration=r.iteration + run.n_iter, seconds=r.seconds + run.seconds) for r in second.trace[1:]
        ]
    state = _last(objective, state)
    stats = {"n_iter": max(1, n_iter), "seconds": run.seconds, "trace": rows, "gap": state.gap, "scores": state.Z}
    stats |= {"method": "newton on a share of rows" if sampled else "newton", "stalled": state.stalled}
    return Solution(state.theta, status, stats)


def _share(objective: Objective) -> int:
    """Rows that are enough for a start and a metric."""
    size = objective.columns.width * objective.outputs
    return max(4000, 25 * size // max(1, objective.outputs - 1))


def nearby_metric(objective: Objective, theta: Array) -> Any:
    """The metric at θ, from a share of the rows where there are many, for problems near by."""
    n, share = len(objective.y), _share(objective)
    rows = _rows(n, share) if n > 3 * share else None
    factor = 1.0 if rows is None else n / share
    return objective.metric(objective.hessian(objective.scores(theta), rows, factor))


def _rows(n: int, share: int) -> Array:
    return np.linspace(0, n - 1, share).astype(int)


def _from_a_share(objective: Objective, start: Array, share: int) -> Array:
    """A rough solution of the same problem on evenly spread rows with larger weights."""
    rows = _rows(len(objective.y), share)
    c = objective.columns
    factor = objective.weights.sum() / max(objective.weights[rows].sum(), 1e-300)
    columns = replace(c, design=Design(c.design.X[rows]))
    offset = None if objective.offset is None else objective.offset[rows]
    part = replace(
        objective, columns=columns, y=objective.y[rows], weights=factor * objective.weights[rows], offset=offset
    )
    first = _first(part, start, None)
    target = 1e-3 * abs(first.objective)
    return drive(first, _quasi_newton(part), lambda a, b: b.gap <= target or b.stalled, 30).state.theta


def _first(objective: Objective, theta: Array, rows: Array | None, metric: Any = None) -> _State:
    Z = objective.scores(theta)
    value, slopes = objective.value(Z, theta)
    G = objective.gradient(slopes, theta)
    factor = 1.0 if rows is None else len(objective.y) / len(rows)
    if metric is None:
        metric = objective.metric(objective.hessian(Z, rows, factor))
    D = -_solve(metric, G)
    return _State(theta, Z, G, value, objective.left(G, D), 0.0, D, deque(maxlen=_MEMORY), metric)


def _search(objective: Objective, s: _State) -> tuple[Array, Array, Array, float, float]:
    """Backtracking on the scores: no pass over X but the one for the direction."""
    dZ = objective.columns.product(s.direction)
    slope = float(np.sum(s.direction * s.G))
    t = 1.0
    for _ in range(60):
        theta, Z = s.theta + t * s.direction, s.Z + t * dZ
        value, slopes = objective.value(Z, theta)
        if np.isfinite(value) and value <= s.objective + 1e-4 * t * slope:
            return theta, Z, slopes, value, t
        t *= 0.5
    return s.theta, s.Z, s.Z, s.objective, 0.0


def _last(objective: Objective, s: _State) -> _State:
    """The next step is known already: taking it costs one product and squares what is left of the gap."""
    theta, Z, _, value, t = _search(objective, s)
    return s if t == 0.0 else replace(s, theta=theta, Z=Z, objective=value)


def _newton(objective: Objective) -> Any:
    def advance(s: _State) -> _State:
        theta, Z, slopes, value, t = _search(objective, s)
        if t == 0.0:  # rounding: no further decrease can be seen
            return replace(s, stalled=True)
        G = objective.gradient(slopes, theta)
        metric = objective.metric(objective.hessian(Z))
        D = -_solve(metric, G)
        return _State(theta, Z, G, value, objective.left(G, D), t, D, s.pairs, metric)

    return advance


def _quasi_newton(objective: Objective) -> Any:
    def advance(s: _State) -> _State:
        theta, Z, slopes, value, t = _search(objective, s)
        if t == 0.0:
            return replace(s, stalled=True)
        G = objective.gradient(slopes, theta)
        step, change = theta - s.theta, G - s.G
        bend = float(np.sum(step * change))
        if bend > 0:
            s.pairs.append((step, change, 1.0 / bend))
        D = -_two_loops(s.metric, s.pairs, G)
        return _State(theta, Z, G, value, objective.left(G, D), t, D, s.pairs, s.metric)

    return advance


def _two_loops(metric: Any, pairs: deque[tuple[Array, Array, float]], G: Array) -> Array:
    """The L-BFGS recursion with H⁻¹ of the share as its start."""
    q, weights = G.copy(), []
    for step, change, rho in reversed(pairs):
        a = rho * float(np.sum(step * q))
        weights.append(a)
        q -= a * change
    q = _solve(metric, q)
    for (step, change, rho), a in zip(pairs, reversed(weights)):
        q += (a - rho * float(np.sum(change * q))) * step
    return q
