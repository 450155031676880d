"""Largest margin as the nearest points of two convex hulls, by blocks of violators and a final polish.

The hulls of separable classes are apart, and half their distance is the largest margin; if they meet, no hyperplane
separates. Either way the problem is bounded, unlike the hard-margin dual itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from certifit._types import Array
from certifit.design import Blocks
from certifit.loops import hulls as loops
from certifit.solvers._driver import drive
from certifit.solvers._solution import Solution
from certifit.solvers._task import DEFAULT, Options
from certifit.solvers.balance import balance

_BLOCK = 1500
_NEGLIGIBLE = 3e-8  # hulls nearer than this fraction of the radius cannot be told from meeting ones


@dataclass(frozen=True)
class Hulls:
    """β = y∘μ scaled so that the least margin is 1 (separable), offset, and both bounds of the margin."""

    beta: Array
    offset: float
    reached: float
    widest: float


@dataclass(frozen=True)
class _Look:
    """Distance of the current points of the hulls, and the margin of the hyperplane between them."""

    objective: float  # the margin reached
    gap: float
    step: float  # moves of mass so far
    norm: float
    half: float
    level: float
    widest: float
    stalled: int = 0
    best: float = np.inf


class _NearestPoints:
    """Two points of the hulls on their way to each other: μ and the gradient G."""

    def __init__(self, gram: Blocks, y: Array, tol: float, max_steps: int) -> None:
        self.gram, self.y, self.tol, self.max_steps, self.steps = gram, y, tol, max_steps, 0
        self.radius = float(np.sqrt(max(float(gram.diagonal().max()), 0.0)))
        first = [int(np.flatnonzero(y == side)[0]) for side in (1.0, -1.0)]
        self.mu = np.zeros(len(y))
        self.mu[first] = 1.0
        self.refresh()

    def refresh(self) -> None:
        used = np.flatnonzero(self.mu)
        self.G = self.y * self.gram.combine(used, (self.y * self.mu)[used])

    def look(self, stalled: int = 0, best: float = np.inf) -> _Look:
        norm = float(np.sqrt(max(0.0, float(self.mu @ self.G))))
        plus, minus = self.G[self.y > 0].min(), -self.G[self.y < 0].min()
        half = 0.5 * float(plus - minus)
        reached = half / norm if norm > 0 else 0.0
        gap, level = 0.5 * norm - reached, 0.5 * float(plus + minus)
        return _Look(reached, gap, float(self.steps), norm, half, level, 0.5 * norm, stalled, best)

    def advance(self, at: _Look) -> _Look:
        eps = max(1e-16 * self.radius**2, 0.2 * min(self.tol, 1.0) * at.norm**2)
        self.steps += max(1, self.descend(eps, self.max_steps - self.steps))
        self.refresh()
        return self.look(at.stalled + 1 if at.gap > 0.999 * at.best else 0, min(at.best, at.gap))

    def finished(self, before: _Look, after: _Look) -> str:
        if after.widest <= _NEGLIGIBLE * self.radius:
            return "not separable"
        if after.gap <= self.tol * after.widest:
            return "converged"
        if self.steps >= self.max_steps:
            return "max_iter"
        return "precision" if after.stalled > 50 else ""

    def descend(self, eps: float, most: int) -> int:
        G, mu, y = self.G, self.mu, self.y
        block = np.arange(len(y))
        if len(y) > _BLOCK:
            part = [np.flatnonzero(y == side) for side in (1.0, -1.0)]
            low = [rows[np.argsort(G[rows])[: _BLOCK // 4]] for rows in part]
            heavy = np.flatnonzero(mu)
            heavy = heavy[np.argsort(-G[heavy])[: _BLOCK // 2]]
            block = np.unique(np.concatenate([*low, heavy]))
        g, m = G[block], mu[block]
        steps, _ = loops.nearest_points(
            self.gram.block(block, block).astype(np.float64), y[block], m, g, eps, min(most, 50 * len(block))
        )
        changed = np.flatnonzero(m != mu[block])
        delta = (m - mu[block])[changed]
        mu[block] = m
        if len(block) == len(y):
            self.G = g
        elif len(changed):
            rows = block[changed]
            self.G = G + y * self.gram.combine(rows, delta * y[rows])
        return int(steps)


def nearest_hulls(
    gram: Blocks,
    y: Array,
    options: Options = DEFAULT,
) -> Solution:
    """Solve until the margin is within ``tol`` (relatively) of the largest, or the hulls are seen to meet.

    y holds −1.0 and +1.0; the status is "not separable" when the hulls meet, ``value`` is `Hulls`, ``stats`` holds
    ``steps``.

    Examples
    --------
    >>> from certifit.design import blocks
    >>> from certifit.kernels import Linear
    >>> X, y = np.array([[0.0], [1.0], [3.0]]), np.array([-1.0, -1.0, 1.0])
    >>> found = nearest_hulls(blocks(Linear(), X), y, Options(1e-9))
    >>> round(found.value.reached, 6), found.status
    (1.0, 'converged')
    """
    points = _NearestPoints(gram, y, options.tol, options.limit(1_000_000))
    limits = np.inf, options.time_budget, options.trace
    run = drive(points.look(), points.advance, points.finished, *limits, check_start=True)
    stats = run.stats | {"steps": points.steps, "gap": run.state.gap, "method": "nearest points of hulls"}
    return Solution(_scaled(points, run.state, run.status), run.status, stats)


def _scaled(points: _NearestPoints, at: _Look, status: str) -> Hulls:
    """From nearest points to a hyperplane with least margin 1; polished where the active rows allow it."""
    y = points.y
    if status == "not separable" or at.half <= 0:
        return Hulls(balance(y * points.mu, np.ones(len(y))), 0.0, 0.0, at.widest)
    beta, offset, reached = y * points.mu / at.half, -at.level / at.half, at.objective
    polished = _polish(points, beta)
    if polished is not None and polished[2] >= reached:
        beta, offset, reached = polished
    return Hulls(balance(beta, np.full(len(y), np.inf)), offset, reached, at.widest)


def _polish(points: _NearestPoints, beta: Array) -> tuple[Array, float, float] | None:
    """Solve the equations y(f + b) = 1 on the support exactly; kept only if multipliers stay positive."""
    y = points.y
    used = np.flatnonzero(beta)
    if len(used) > 1500:
        return None
    n = len(used)
    M = np.zeros((n + 1, n + 1))
    M[:n, :n] = points.gram.block(used, used)
    M[:n, n], M[n, :n] = 1.0, 1.0
    if not np.all(np.isfinite(M)):  # LAPACK may never return from it
        return None
    solution = np.linalg.lstsq(M, np.append(y[used], 0.0), rcond=None)[0]
    if np.any(solution[:n] * y[used] < 0):
        return None
    new = np.zeros(len(y))
    new[used] = solution[:n]
    scores = points.gram.combine(used, solution[:n])
    least = float(np.min(y * (scores + solution[n])))
    norm = float(np.sqrt(max(0.0, float(new[used] @ scores[used]))))
    if not (least > 0 and norm > 0):
        return None
    return new / least, float(solution[n]) / least, least / norm
