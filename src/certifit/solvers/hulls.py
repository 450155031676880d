"""Largest margin as the nearest points of two convex hulls, by blocks of violators and a final polish.

The hulls of separable classes are apart, and half their distance is the largest margin; if they meet, no hyperplane
separates. Either way the problem is bounded, unlike the hard-margin dual itself.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from certifit._types import Array
from certifit.design import Blocks
from certifit.loops import hulls as loops
from certifit.solvers.balance import balance

_BLOCK = 1500
_NEGLIGIBLE = 3e-8  # hulls nearer than this share of the radius cannot be told from meeting ones


@dataclass
class Hulls:
    """β = y∘μ scaled so that the least margin is 1 (separable), offset, and both bounds of the margin."""

    beta: Array
    offset: float
    reached: float
    widest: float
    status: str  # "solved", "meeting", "time", "steps" or "rounding"
    steps: int
    trace: list[dict[str, float]] = field(default_factory=list)


class _State:
    def __init__(self, gram: Blocks, y: Array) -> None:
        self.gram, self.y = gram, y
        first = [int(np.flatnonzero(y == side)[0]) for side in (1.0, -1.0)]
        self.mu = np.zeros(len(y))
        self.mu[first] = 1.0
        self.refresh()

    def refresh(self) -> None:
        used = np.flatnonzero(self.mu)
        self.G = self.y * self.gram.combine(used, (self.y * self.mu)[used])

    def look(self) -> None:
        """Distance of the current points, and the margin of the hyperplane between them."""
        self.norm = float(np.sqrt(max(0.0, float(self.mu @ self.G))))
        plus, minus = self.G[self.y > 0].min(), -self.G[self.y < 0].min()
        self.half = 0.5 * float(plus - minus)
        self.level = 0.5 * float(plus + minus)
        self.reached = self.half / self.norm if self.norm > 0 else 0.0
        self.widest = 0.5 * self.norm

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
    tol: float,
    *,
    max_steps: int = 1_000_000,
    time_budget: float | None = None,
    trace: bool = False,
) -> Hulls:
    """Solve until the margin is within ``tol`` (relatively) of the largest, or the hulls are seen to meet.

    Parameters
    ----------
    gram : Blocks
    y : array of −1.0 and +1.0
    tol : float
    """
    start, steps, status, stalled = time.perf_counter(), 0, "", 0
    state = _State(gram, y)
    radius = float(np.sqrt(max(float(gram.diagonal().max()), 0.0)))
    records: list[dict[str, float]] = []
    best = np.inf
    while not status:
        state.look()
        gap = state.widest - state.reached
        if trace:
            seconds = time.perf_counter() - start
            records.append({"objective": state.reached, "gap": gap, "step": steps, "seconds": seconds})
        if state.widest <= _NEGLIGIBLE * radius:
            status = "meeting"
        elif gap <= tol * state.widest:
            status = "solved"
        elif steps >= max_steps:
            status = "steps"
        elif time_budget is not None and time.perf_counter() - start > time_budget:
            status = "time"
        elif stalled > 50:
            status = "rounding"
        else:
            eps = max(1e-16 * radius**2, 0.2 * min(tol, 1.0) * state.norm**2)
            steps += max(1, state.descend(eps, max_steps - steps))
            state.refresh()
            stalled = stalled + 1 if gap > 0.999 * best else 0
            best = min(best, gap)
    return _scaled(state, status, steps, records)


def _scaled(state: _State, status: str, steps: int, records: list[dict[str, float]]) -> Hulls:
    """From nearest points to a hyperplane with least margin 1; polished where the active rows allow it."""
    y = state.y
    if status == "meeting" or state.half <= 0:
        return Hulls(
            balance(y * state.mu, np.ones(len(y))), 0.0, 0.0, state.widest, status or "meeting", steps, records
        )
    beta, offset = y * state.mu / state.half, -state.level / state.half
    reached = state.reached
    polished = _polish(state, beta)
    if polished is not None:
        b, o, r = polished
        if r >= reached:
            beta, offset, reached = b, o, r
    beta = balance(beta, np.full(len(y), np.inf))
    return Hulls(beta, offset, reached, state.widest, status, steps, records)


def _polish(state: _State, beta: Array) -> tuple[Array, float, float] | None:
    """Solve the equations y(f + b) = 1 on the support exactly; kept only if multipliers stay positive."""
    y = state.y
    used = np.flatnonzero(beta)
    if len(used) > 1500:
        return None
    n = len(used)
    M = np.zeros((n + 1, n + 1))
    M[:n, :n] = state.gram.block(used, used)
    M[:n, n], M[n, :n] = 1.0, 1.0
    solution = np.linalg.lstsq(M, np.append(y[used], 0.0), rcond=None)[0]
    if np.any(solution[:n] * y[used] < 0):
        return None
    new = np.zeros(len(y))
    new[used] = solution[:n]
    scores = state.gram.combine(used, solution[:n])
    least = float(np.min(y * (scores + solution[n])))
    norm = float(np.sqrt(max(0.0, float(new[used] @ scores[used]))))
    if not (least > 0 and norm > 0):
        return None
    return new / least, float(solution[n]) / least, least / norm
