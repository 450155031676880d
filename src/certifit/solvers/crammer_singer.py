r"""Dual sweeps and smoothed Newton for Crammer and Singer's machine: all classes in one problem.

.. math:: \min_W\ \tfrac12\lVert W\rVert^2 + \sum_i c_i\,[\max_k(w_k\cdot x_i + [k \ne y_i]) - w_{y_i}\cdot x_i]

The largest of K numbers t is max p·t over the simplex; with −½h‖p‖² beside it, p is the projection of t/h onto the
simplex, and the corners are rounded over a width h. As for two classes (`certifit.solvers.linear_svc`), p of the
rounded problem is feasible for the true dual, and a few widths suffice. Only rows in which two classes or more share p
enter the Hessian. Before it, sweeps of dual coordinate descent go as far as they are quick, which for well-scaled
columns and ordinary tolerances is all the way. There is no free offset: liblinear's is a constant column of X.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg

from certifit._trace import Trace
from certifit._types import Array, Matrix
from certifit.loops import crammer_singer as loops
from certifit.parallel import one_thread
from certifit.solvers._driver import drive
from certifit.solvers._solution import Solution
from certifit.solvers._task import DEFAULT, Options
from certifit.solvers.linear_svc import DENSE, Descent, LinearMachine, Look, descended, newton_step, root

_SWEEPS = 25  # between two looks at the gap
_FEW = 40  # Newton's method takes over when more looks than these are to come at the rate of the last one
_WIDTH = 4.0  # its first width, in units of the gap that is left for each row, relative to its cost


class _Corners:
    """The problem with its corners rounded: W as one long vector, scores, multipliers and objective values."""

    squared = False

    def __init__(self, X: Matrix, codes: Array, cost: Array, classes: int) -> None:
        self.X, self.codes, self.cost = X, codes, cost
        self.own = np.asarray(codes[:, None] == np.arange(classes), dtype=float)
        self.w, self.z = np.zeros((classes, X.shape[1])), np.zeros((X.shape[0], classes))

    def _shares(self, z: Array, h: float) -> tuple[Array, Array]:
        """z + [k ≠ y] and its p, the projection of it over h onto the simplex."""
        asked = z + (1.0 - self.own)
        lead = (asked - asked.max(axis=1, keepdims=True)) / h
        down = -np.sort(-lead, axis=1)
        level = (np.cumsum(down, axis=1) - 1.0) / np.arange(1, z.shape[1] + 1)
        count = np.count_nonzero(down > level, axis=1)
        return asked, np.maximum(lead - level[np.arange(len(z)), count - 1][:, None], 0.0)

    def look(self, h: float) -> None:
        """Everything that is known at this width."""
        self.h = h
        asked, self.p = self._shares(self.z, h)
        self.beta = self.cost[:, None] * (self.p - self.own)
        self.v = -np.asarray(self.X.T @ self.beta).T
        half = 0.5 * float(np.sum(self.w**2))
        largest, mean = asked.max(axis=1), np.einsum("ik,ik->i", self.p, asked)
        own = np.einsum("ik,ik->i", self.own, self.z)
        self.primal = half + float(self.cost @ (largest - own))
        bent = mean - 0.5 * h * np.einsum("ik,ik->i", self.p, self.p)
        self.smooth = half + float(self.cost @ (bent - own))
        self.rounded = float(self.cost @ (largest - mean))
        self.gradient = (self.w - self.v).ravel()
        self.gap = self.rounded + 0.5 * float(self.gradient @ self.gradient)

    def _curved(self) -> tuple[Array, Array, Array]:
        """Rows that enter the Hessian, which classes share them, and cost over width."""
        shared = self.p > 0.0
        rows = np.flatnonzero((shared.sum(axis=1) > 1) & (self.cost > 0.0))
        return rows, shared[rows].astype(float), self.cost[rows] / self.h

    def direction(self) -> Array:
        """The Newton direction."""
        K, d = self.w.shape
        rows, A, k = self._curved()
        X, many = self.X[rows], A.sum(axis=1)
        if K * d > DENSE:
            return self._by_conjugate_gradients(X, A, k, many)
        H = np.zeros((K, d, K, d))
        for i in range(K):
            for j in range(i, K):
                both = np.flatnonzero(A[:, i] * A[:, j])
                weight = k[both] * (float(i == j) - 1.0 / many[both])
                part = X[both]
                scaled = part.multiply(weight[:, None]) if scipy.sparse.issparse(part) else part * weight[:, None]
                block = part.T @ scaled
                H[i, :, j] = block.toarray() if scipy.sparse.issparse(block) else block
                H[j, :, i] = H[i, :, j].T
        H = H.reshape(K * d, K * d)
        H[np.arange(K * d), np.arange(K * d)] += 1.0
        return -newton_step(H, self.gradient)

    def _by_conjugate_gradients(self, X: Matrix, A: Array, k: Array, many: Array) -> Array:
        K, d = self.w.shape

        def product(p: Array) -> Array:
            Y = np.asarray(X @ p.reshape(K, d).T)
            Y = k[:, None] * A * (Y - (np.einsum("ik,ik->i", A, Y) / many)[:, None])
            return np.asarray(p.ravel() + np.asarray(X.T @ Y).T.ravel())

        operator = scipy.sparse.linalg.LinearOperator((K * d, K * d), matvec=product)
        return np.asarray(scipy.sparse.linalg.cg(operator, -self.gradient, rtol=1e-3, maxiter=200)[0])

    def move(self, step: Array, h: float) -> bool:
        """Exact line search along the step; whether anything moved."""
        dw = step.reshape(self.w.shape)
        dz = np.asarray(self.X @ dw.T)
        at_zero, square = float(np.sum(self.w * dw)), float(step @ step)

        def slope(t: float) -> tuple[float, float]:
            _, p = self._shares(self.z + t * dz, h)
            A = np.where(p > 0.0, dz, 0.0)
            inside = np.einsum("ik,ik->i", A, A) - A.sum(axis=1) ** 2 / np.count_nonzero(p, axis=1)
            first = float(self.cost @ np.einsum("ik,ik->i", p - self.own, dz))
            return first + at_zero + t * square, float(self.cost @ inside) / h + square

        t = root(slope)
        if t <= 0.0:
            return False
        self.w = self.w + t * dw
        self.z = self.z + t * dz
        return True

    def start(self, W: Array) -> None:
        """Go on from W."""
        self.w, self.z = W.copy(), np.asarray(self.X @ W.T)

    def machine(self) -> LinearMachine:
        """The machine as it stands, with its gap."""
        return LinearMachine(self.w.copy(), 0.0, self.beta, self.gap)


@dataclass(frozen=True)
class _Swept:
    """Where the sweeps stand; ``step`` counts them."""

    best: LinearMachine
    shares: Array
    objective: float
    step: int

    @property
    def gap(self) -> float:
        return self.best.gap


class _Sweeps:
    """Dual coordinate descent from W = 0, until it is there or slow."""

    def __init__(self, corners: _Corners, tol: float) -> None:
        self.corners, self.tol, self.null = corners, tol, float(corners.cost.sum())
        stored = scipy.sparse.csr_array(corners.X)
        self.rows = stored.indptr, stored.indices, stored.data
        self.square = np.asarray(stored.multiply(stored).sum(axis=1)).ravel()
        self.order = np.random.default_rng(0).permutation(len(corners.codes))  # sorted classes are a bad order

    def start(self) -> _Swept:
        c = self.corners
        p = c.own.copy()
        nowhere = self.square == 0.0  # a row of zeros has no score: another class costs it least
        p[nowhere] = np.roll(c.own[nowhere], 1, axis=1)
        return self._judged(np.zeros_like(c.w), p, 0)

    def advance(self, at: _Swept) -> _Swept:
        c = self.corners
        W, p = np.ascontiguousarray(at.best.coef.T), at.shares.copy()
        loops.sweeps(*self.rows, c.codes, c.cost, self.square, self.order, _SWEEPS, 5, W, p)
        return self._judged(W.T, p, at.step + _SWEEPS)

    def _judged(self, W: Array, p: Array, step: int) -> _Swept:
        c = self.corners
        z, beta = np.asarray(c.X @ W.T), c.cost[:, None] * (p - c.own)
        asked, own = z + (1.0 - c.own), np.einsum("ik,ik->i", c.own, z)
        off, largest = W + np.asarray(c.X.T @ beta).T, asked.max(axis=1)
        primal = 0.5 * float(np.sum(W**2)) + float(c.cost @ (largest - own))
        short = np.maximum(largest - np.einsum("ik,ik->i", p, asked), 0.0)
        gap = float(c.cost @ short) + 0.5 * float(np.sum(off**2))
        return _Swept(LinearMachine(W, 0.0, beta, gap), p, primal, step)

    def there(self, at: _Swept) -> bool:
        return at.gap <= self.tol * min(self.null, at.objective)

    def finished(self, before: _Swept, after: _Swept) -> str:
        if self.there(after):
            return "converged"
        if self.corners.w.size > DENSE or after.step <= 2 * _SWEEPS:
            return ""
        slow = after.gap * (after.gap / before.gap) ** _FEW > self.tol * min(self.null, after.objective)
        return "no improvement" if slow else ""


def crammer_singer(
    X: Matrix,
    codes: Array,
    cost: Array,
    options: Options = DEFAULT,
) -> Solution:
    """Solve until the gap is at most ``tol`` of the null model and, as far as rounding allows, of the objective.

    ``codes`` are the classes 0 … K − 1, ``cost`` is C ≥ 0 of each row; ``max_iter`` counts sweeps, and then Newton
    steps. ``value`` is a `LinearMachine` with ``coef`` (K, d) and ``beta`` (n, K), the slopes of the losses times cost.

    Examples
    --------
    >>> X, codes = np.array([[-1.0, 1.0], [0.0, 1.0], [1.0, 1.0]]), np.arange(3)
    >>> found = crammer_singer(X, codes, np.full(3, 100.0), Options(1e-9))
    >>> (X @ found.value.coef.T).argmax(axis=1), found.status
    (array([0, 1, 2]), 'converged')
    """
    began, tol, max_steps, trace = time.perf_counter(), options.tol, options.limit(1000), options.trace
    rows, back = _turned(X)
    corners = _Corners(rows, codes, cost, int(codes.max()) + 1)
    sweeps = _Sweeps(corners, tol)
    run = drive(
        sweeps.start(), sweeps.advance, sweeps.finished, math.ceil(max_steps / _SWEEPS), options.time_budget, trace
    )
    at: _Swept = run.state
    best, status, stats = at.best, run.status, run.stats | {"steps": at.step, "gap": at.gap}
    if status == "no improvement":
        corners.start(best.coef)
        descent = Descent(corners, tol * sweeps.null, tol, max_steps)
        width = min(1.0, _WIDTH * at.gap / sweeps.null)
        left = None if options.time_budget is None else max(options.time_budget + began - time.perf_counter(), 0.0)
        with one_thread():  # many small products
            found = descended(descent, left, trace, Look(width=width, best=best))
        best, status = found.value, found.status
        stats = found.stats | {"steps": at.step + found.stats["steps"], "trace": Trace([*run.trace, *found.trace])}
    machine = replace(best, coef=best.coef if back is None else best.coef @ back)
    return Solution(machine, status, stats | {"method": "dual sweeps and smoothed newton"})


def _turned(X: Matrix) -> tuple[Matrix, Array | None]:
    """A wide table in the coordinates of its rows, which turn neither products nor lengths, and the way back."""
    if scipy.sparse.issparse(X) or X.shape[0] >= X.shape[1]:
        return X, None
    with one_thread():
        Q, R = scipy.linalg.qr(X.T, mode="economic", check_finite=False)
    return np.ascontiguousarray(R.T), Q.T
