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

from certifit._trace import continued
from certifit._types import Array
from certifit.design import Coordinates, PseudoInverse, cholesky, pseudo_inverse
from certifit.losses import Loss, Softmax
from certifit.parallel import one_thread, sum_over_rows
from certifit.solvers._driver import drive
from certifit.solvers._solution import Solution

ON_A_SHARE = "newton on a share of rows"
_BLOCK = 2048  # rows per block of a Hessian
_TINY = 1e-30  # curvatures below it are dropped: products of denormal numbers are a hundred times slower
_MEMORY = 12  # pairs kept by the quasi-Newton gear
_PATIENCE = 25  # quasi-Newton steps before full Newton takes over


@dataclass(frozen=True)
class Objective:
    """The sum that is minimised, as a function of coordinates θ (p, K)."""

    columns: Coordinates
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

    def evaluate(self, theta: Array) -> tuple[float, Array, Array]:
        """The objective, the scores (n, K) and the gradient (p, K), in one pass over X."""
        X, sparse = self.columns.design.X, self.columns.design.is_sparse
        w, shift = self.columns.outward(theta)
        Z = np.empty((len(self.y), self.outputs))

        def work(rows: slice) -> tuple[float, Array, Array]:
            A = X if sparse else X[rows]
            z = A @ w + shift
            if self.offset is not None:
                z += self.offset[rows, None]
            Z[rows] = z
            with np.errstate(over="ignore"):
                values, slopes = self.loss.value_slope(self._pointwise(z), self.y[rows])
            slopes, s = slopes.reshape(z.shape), self.weights[rows]
            return float(s @ values), A.T @ (slopes * s[:, None]), s @ slopes

        data, top, total = work(slice(0, len(Z))) if sparse else sum_over_rows(work, X.shape)
        return data + self._penalty(theta), Z, self._pulled(self.columns.gathered(top, total), theta)

    def _penalty(self, theta: Array) -> float:
        return 0.5 * float(self.ridge @ np.square(theta - self.prior).sum(axis=1))

    def _pulled(self, G: Array, theta: Array) -> Array:
        """The gradient with the penalty's part."""
        return G + self.ridge[:, None] * (theta - self.prior)

    def _pointwise(self, Z: Array) -> Array:
        return Z if isinstance(self.loss, Softmax) else Z[:, 0]

    def value(self, Z: Array, theta: Array) -> tuple[float, Array]:
        """The objective, and the slopes of the losses (n, K), which come with it for nothing."""
        with np.errstate(over="ignore"):
            values, slopes = self.loss.value_slope(self._pointwise(Z), self.y)
        data = float(self.weights @ values)
        return data + self._penalty(theta), slopes.reshape(Z.shape)

    def gradient(self, slopes: Array, theta: Array) -> Array:
        return self._pulled(self.columns.product_t(slopes * self.weights[:, None]), theta)

    def some(self, rows: Array) -> Objective:
        """The same problem on evenly spread rows with larger weights."""
        factor = self.weights.sum() / max(self.weights[rows].sum(), 1e-300)
        offset = None if self.offset is None else self.offset[rows]
        return replace(
            self,
            columns=self.columns.some(rows),
            y=self.y[rows],
            weights=factor * self.weights[rows],
            offset=offset,
        )

    def hessian(self, Z: Array) -> Array:
        """(pK, pK), in class-major order."""
        p, K = self.columns.width, self.outputs
        work = self._curved if K == 1 else self._curved_softmax
        H = sum_over_rows(lambda rows: (work(rows, Z[rows]),), (len(self.y), p * K), _BLOCK if K == 1 else _BLOCK // 4)[
            0
        ]
        H[np.diag_indices_from(H)] += np.tile(self.ridge, K)
        return H

    def _curved(self, rows: slice, Z: Array) -> Array:
        h = self.weights[rows] * self.loss.curvature(Z[:, 0], self.y[rows])
        h[h < _TINY] = 0.0
        A = self.columns.rows(rows) * np.sqrt(h)[:, None]
        return A.T @ A

    def _curved_softmax(self, rows: slice, Z: Array) -> Array:
        """Blocks Aᵀ diag(s p_k (δ_kl − p_l)) A."""
        A, s = self.columns.rows(rows), self.weights[rows]
        p, K = A.shape[1], Z.shape[1]
        P = self.loss.value_slope(Z, self.y[rows])[1] + Softmax.one_hot(self.y[rows], K)
        P[P < _TINY] = 0.0
        wide = ((np.sqrt(s)[:, None] * P)[:, :, None] * A[:, None, :]).reshape(len(A), -1)
        H = -(wide.T @ wide)
        for k in range(K):
            B = A * np.sqrt(s * P[:, k])[:, None]
            H[k * p : (k + 1) * p, k * p : (k + 1) * p] += B.T @ B
        return H

    def left(self, G: Array, D: Array) -> float:
        """How much is left to gain: half the squared Newton decrement; for softmax the duality gap, which is proved."""
        hold = self.ridge > 0
        if self.outputs == 1 or not np.any(hold):
            return decrement(G, D)
        part = -0.5 * D * G
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


def decrement(G: Array, D: Array) -> float:
    """Half the squared Newton decrement of the step D."""
    return -0.5 * float(np.sum(D * G))


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
    with one_thread():  # what is large runs on threads of its own
        return _minimise(objective, start, tol, max_iter, time_budget, trace, metric)


def _minimise(
    objective: Objective,
    start: Array,
    tol: float,
    max_iter: int,
    time_budget: float | None,
    trace: bool,
    metric: Any,
) -> Solution:
    n = len(objective.y)
    share = _share(objective)
    sampled = n > 3 * share or metric is not None
    if metric is not None:
        first = _first(objective, start, metric)
    else:
        first = _after_a_share(objective, start, share) if sampled else _first(objective, start)
    if sampled and isinstance(first.metric[0], PseudoInverse):
        # A rare column may be constant on the share: what the share calls flat need not be flat on all rows.
        sampled, first = False, _first(objective, first.theta)
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
            _first(objective, state.theta),
            _newton(objective),
            lambda a, b: b.gap <= tol or b.stalled,
            max_iter,
            time_budget,
            trace,
        )
        state, status, n_iter = second.state, second.status, n_iter + second.n_iter
        rows = continued(rows, second.trace[1:])
    state = _last(objective, state)
    stats = {"n_iter": max(1, n_iter), "seconds": run.seconds, "trace": rows, "gap": state.gap, "scores": state.Z}
    stats |= {"method": ON_A_SHARE if sampled else "newton", "stalled": state.stalled}
    return Solution(state.theta, status, stats)


def _share(objective: Objective) -> int:
    """Rows that are enough for a start and a metric."""
    size = objective.columns.width * objective.outputs
    return max(4000, 25 * size // max(1, objective.outputs - 1))


def nearby_metric(objective: Objective, theta: Array) -> Any:
    """The metric at θ, from a share of the rows where there are many, for problems near by."""
    n, share = len(objective.y), _share(objective)
    return _metric(objective.some(_rows(n, share)) if n > 3 * share else objective, theta)


def _rows(n: int, share: int) -> Array:
    return np.linspace(0, n - 1, share).astype(int)


def _after_a_share(objective: Objective, start: Array, share: int) -> _State:
    """A rough solution on a share of the rows, whose Hessian becomes the metric for all of them."""
    part = objective.some(_rows(len(objective.y), share))
    metric = _metric(part.some(_rows(share, share // 4)), start)  # fewer rows are enough for the first Hessian
    if isinstance(metric[0], PseudoInverse):  # unless they leave a direction flat that the share does not
        metric = _metric(part, start)
    state = _first(part, start, metric)
    target = 1e-3 * abs(state.objective)
    state = drive(state, _quasi_newton(part), lambda a, b: b.gap <= target or b.stalled, 30).state
    return _first(objective, state.theta, part.metric(part.hessian(state.Z)))


def _metric(objective: Objective, theta: Array) -> Any:
    return objective.metric(objective.hessian(objective.scores(theta)))


def _first(objective: Objective, theta: Array, metric: Any = None) -> _State:
    value, Z, G = objective.evaluate(theta)
    measure = objective.left if metric is None else decrement
    metric = metric or objective.metric(objective.hessian(Z))
    D = -_solve(metric, G)
    return _State(theta, Z, G, value, measure(G, D), 0.0, D, deque(maxlen=_MEMORY), metric)


def _search(objective: Objective, s: _State) -> tuple[Array, Array, Array, float, float]:
    """The whole step, or backtracking on the scores, which costs no pass over X."""
    slope = float(np.sum(s.direction * s.G))
    theta = s.theta + s.direction
    value, Z, G = objective.evaluate(theta)
    if np.isfinite(value) and value <= s.objective + 1e-4 * slope:
        return theta, Z, G, value, 1.0
    dZ, t = Z - s.Z, 0.5
    for _ in range(60):
        theta, Z = s.theta + t * s.direction, s.Z + t * dZ
        value, slopes = objective.value(Z, theta)
        if np.isfinite(value) and value <= s.objective + 1e-4 * t * slope:
            return theta, Z, objective.gradient(slopes, theta), value, t
        t *= 0.5
    return s.theta, s.Z, s.G, s.objective, 0.0


def _last(objective: Objective, s: _State) -> _State:
    """The next step is known already: taking it costs one pass and squares what is left of the gap."""
    theta, Z, G, value, t = _search(objective, s)
    return s if t == 0.0 else replace(s, theta=theta, Z=Z, G=G, objective=value)


def _newton(objective: Objective) -> Any:
    def advance(s: _State) -> _State:
        theta, Z, G, value, t = _search(objective, s)
        if t == 0.0:  # rounding: no further decrease can be seen
            return replace(s, stalled=True)
        metric = objective.metric(objective.hessian(Z))
        D = -_solve(metric, G)
        return _State(theta, Z, G, value, objective.left(G, D), t, D, s.pairs, metric)

    return advance


def _quasi_newton(objective: Objective) -> Any:
    def advance(s: _State) -> _State:
        theta, Z, G, value, t = _search(objective, s)
        if t == 0.0:
            return replace(s, stalled=True)
        step, change = theta - s.theta, G - s.G
        bend = float(np.sum(step * change))
        if bend > 0:
            s.pairs.append((step, change, 1.0 / bend))
        D = -_two_loops(s.metric, s.pairs, G)
        return _State(theta, Z, G, value, decrement(G, D), t, D, s.pairs, s.metric)

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
