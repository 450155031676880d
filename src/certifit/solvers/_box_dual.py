"""Descent on the dual of a soft-margin machine: what single fits (`smo`) and folds (`svc_folds`) have in common.

Minimise ½ βᵀKβ − yᵀβ subject to Σβ = 0 and lo ≤ β ≤ hi, with β = y∘α; F is the gradient Kβ − y, and −b the level at
which F changes sides. An iteration is a round of compiled pair steps; the descent ends when the duality gap, with the
best offset, is small, or when rounding allows no more.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from certifit._types import Array
from certifit.loops import smo as loops
from certifit.solvers.balance import balance

_PATIENCE = 20  # rounds without a smaller gap
_LABOURS = 60  # rounds that were cut short


@dataclass(frozen=True)
class DualState:
    """What a look at all points tells; β and F themselves change in place."""

    objective: float  # of the primal
    gap: float
    step: float  # pair steps so far
    offset: float
    violation: float
    stalled: int = 0
    refreshed: bool = False


def boxes(y: Array, cost: Array) -> tuple[Array, Array]:
    """lo and hi of β = y∘α with 0 ≤ α ≤ cost."""
    return np.where(y > 0, 0.0, -cost), np.where(y > 0, cost, 0.0)


def best_offsets(F: Array, lo: Array, hi: Array) -> tuple[float, float]:
    """Ends of the interval of offsets b that minimise Σ costᵢ max(0, −yᵢ(Fᵢ + b)): a weighted median of −F.

    Examples
    --------
    >>> best_offsets(np.array([-1.0, 1.0]), np.array([0.0, -1.0]), np.array([1.0, 0.0]))
    (-1.0, 1.0)
    """
    order = np.argsort(F, kind="stable")
    cost = (hi - lo)[order]
    # Rising t = −b past F_k turns end lo_k into hi_k; the slope changes sign where the sum of ends crosses zero.
    total = np.cumsum(cost) + lo.sum()
    k = int(np.searchsorted(total, -1e-12 * cost.sum()))
    k = min(k, len(F) - 1)
    t = float(F[order[k]])
    after = k + 1
    flat = abs(total[k]) <= 1e-12 * cost.sum() and after < len(F)
    return (-float(F[order[after]]) if flat else -t), -t


class BoxDual(ABC):
    """A dual under way: boxes, β and F; a leaf says how a round descends and where K comes from."""

    def __init__(self, y: Array, cost: Array, beta: Array, F: Array, target: float) -> None:
        self.y, self.cost, self.beta, self.F, self.target = y, cost, beta, F, target
        self.lo, self.hi = boxes(y, cost)
        used = np.flatnonzero(cost)
        self.trained = slice(None) if len(used) == len(cost) else used
        self.steps, self.max_steps = 0, np.inf
        self.exact = True  # whether the end is looked at again with a fresh gradient
        self.fresh_gap = np.inf  # when that was last done
        self.laboured = 0  # rounds that were cut short: a fit has only so many of them

    @abstractmethod
    def gradient(self) -> Array:
        """Kβ − y, computed anew."""

    @abstractmethod
    def descend(self, at: DualState) -> None:
        """A round: β, F and ``steps`` change in place."""

    def refresh(self) -> None:
        """Many small updates have left their rounding in Σβ and in the gradient: both are made anew."""
        self.beta = balance(self.beta, self.cost)
        self.F = self.gradient()

    def look(self, before: float, stalled: int = 0) -> DualState:
        """Offset, gap and violation; at the end a second time, with fresh numbers."""
        at = self._glance(before, stalled, False)
        if self.exact and self._ended(at):
            self.refresh()
            at = self._glance(np.inf, 0, True)
            if not at.gap < 0.99 * self.fresh_gap:  # no better than the last time: rounding has the last word
                at = replace(at, stalled=_PATIENCE)
            self.fresh_gap = at.gap
        return at

    def _glance(self, before: float, stalled: int, refreshed: bool) -> DualState:
        low, high = loops.violation(self.F, self.beta, self.lo, self.hi)
        part = self.trained
        offset = float(np.mean(best_offsets(self.F[part], self.lo[part], self.hi[part])))
        gap = float(loops.gap_at(self.F, self.beta, self.lo, self.hi, offset)[0])
        dual = 0.5 * float(self.beta @ (self.y - self.F))
        stalled = stalled + 1 if gap > 0.99 * before else 0
        violation = max(0.0, float(high - low))
        return DualState(dual + gap, gap, float(self.steps), offset, violation, stalled, refreshed)

    def _ended(self, at: DualState) -> bool:
        flat = at.violation <= 1e-15 * (1.0 + abs(at.offset))
        return at.gap <= self.target or at.stalled >= _PATIENCE or flat or self.laboured >= _LABOURS

    def advance(self, at: DualState) -> DualState:
        """One round, then a look."""
        self.descend(at)
        return self.look(at.gap, at.stalled)

    def finished(self, before: DualState, after: DualState) -> str:
        """The status at the end, else nothing."""
        if self._ended(after):
            return "converged" if after.gap <= self.target else "precision"
        return "max_iter" if self.steps >= self.max_steps else ""
