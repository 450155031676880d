"""Descent on the dual of a soft-margin machine: what single fits (`smo`) and folds (`svc_folds`) have in common.

Minimise ½ βᵀKβ − pᵀβ subject to Σβ = 0 and lo ≤ β ≤ hi (`Box`); F is the gradient Kβ − p, and −b the level at which F
changes sides. An iteration is a round of compiled pair steps; the descent ends when the duality gap, with the
best offset, is small, or when rounding allows no more.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from certifit._types import Array
from certifit.design import Blocks
from certifit.loops import smo as loops
from certifit.solvers.balance import balance

MakeBlocks = Callable[[npt.DTypeLike], Blocks]
"""The Gram matrix by blocks in a given precision."""

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


def best_offsets(F: Array, lo: Array, hi: Array, level: float = 0.0) -> tuple[float, float]:
    """Ends of the interval of offsets b that minimise Σ costᵢ max(0, −yᵢ(Fᵢ + b)): a weighted median of −F.

    Examples
    --------
    >>> best_offsets(np.array([-1.0, 1.0]), np.array([0.0, -1.0]), np.array([1.0, 0.0]))
    (-1.0, 1.0)
    """
    order = np.argsort(F, kind="stable")
    cost = (hi - lo)[order]
    # Rising t = −b past F_k turns end lo_k into hi_k; the slope changes sign where the sum of ends crosses Σβ.
    total = np.cumsum(cost) + (lo.sum() - level)
    k = int(np.searchsorted(total, -1e-12 * cost.sum()))
    k = min(k, len(F) - 1)
    t = float(F[order[k]])
    after = k + 1
    flat = abs(total[k]) <= 1e-12 * cost.sum() and after < len(F)
    return (-float(F[order[after]]) if flat else -t), -t


@dataclass(frozen=True)
class Box:
    """The problem: minimise ½ βᵀKβ − pᵀβ subject to Σβ = total and lo ≤ β ≤ hi, where 0 is in each box.

    Labels −1/+1 with costs make p = y (`Box.of_labels`); real targets y with a tube of width ε make two boxes a point,
    one for each side of the tube (`Box.of_tube`). One class alone (`Box.of_one_class`) has a total that is not zero.

    Examples
    --------
    >>> Box.of_tube(np.array([2.0]), np.ones(1), 0.5)
    Box(linear=array([1.5, 2.5]), lo=array([ 0., -1.]), hi=array([1., 0.]), total=0.0)
    """

    linear: Array
    lo: Array
    hi: Array
    total: float = 0.0

    @classmethod
    def of_labels(cls, y: Array, cost: Array) -> Box:
        """Of the hinge: β = y∘α with 0 ≤ α ≤ cost."""
        return cls(y, *boxes(y, cost))

    @classmethod
    def of_tube(cls, y: Array, cost: Array, width: float) -> Box:
        """Of the ε-insensitive loss: β = (α, −α*), each point twice; once where there is no tube."""
        if width == 0.0:
            return cls(y, -cost, cost)
        zero = np.zeros_like(cost)
        return cls(np.concatenate([y - width, y + width]), np.concatenate([zero, -cost]), np.concatenate([cost, zero]))

    @classmethod
    def of_one_class(cls, cost: Array, nu: float) -> Box:
        """Of one class: 0 ≤ β ≤ cost, which add up to the share ν of the costs."""
        zero = np.zeros_like(cost)
        return cls(zero, zero, cost, nu * float(cost.sum()))

    @property
    def cost(self) -> Array:
        """The length of each box."""
        return self.hi - self.lo

    def balanced(self, beta: Array) -> Array:
        """The β nearby whose exact sum is zero; where it is another number, no proof asks for it exactly."""
        if self.total != 0.0:
            return np.clip(beta, self.lo, self.hi)
        return balance(beta, np.maximum(np.abs(self.lo), np.abs(self.hi)))

    def offset_and_gap(self, beta: Array, F: Array) -> tuple[float, float]:
        """The best offset and the duality gap with it."""
        offset = 0.5 * sum(best_offsets(F, self.lo, self.hi, self.total))
        return offset, loops.gap_at(F, beta, self.lo, self.hi, offset)


@dataclass(frozen=True)
class SolvedDual:
    """A solved dual: β, its gradient Kβ − p, offset and gap."""

    beta: Array
    gradient: Array
    offset: float
    gap: float


class BoxDual(ABC):
    """A dual under way: boxes, β and F; a leaf says how a round descends and where K comes from."""

    def __init__(self, box: Box, beta: Array, F: Array, target: float) -> None:
        self.box, self.beta, self.F, self.target = box, beta, F, target
        self.linear, self.lo, self.hi, self.cost = box.linear, box.lo, box.hi, box.cost
        used = np.flatnonzero(self.cost)
        self.trained = slice(None) if len(used) == len(beta) else used
        self.steps, self.max_steps = 0, np.inf
        self.exact = True  # whether the end is looked at again with a fresh gradient
        self.fresh_gap = np.inf  # when that was last done
        self.laboured = 0  # rounds that were cut short: a fit has only so many of them

    @abstractmethod
    def gradient(self) -> Array:
        """Kβ − p, computed anew."""

    @abstractmethod
    def descend(self, at: DualState) -> None:
        """A round: β, F and ``steps`` change in place."""

    def refresh(self) -> None:
        """Many small updates have left their rounding in Σβ and in the gradient: both are made anew."""
        self.beta = self.box.balanced(self.beta)
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
        offset = 0.5 * sum(best_offsets(self.F[part], self.lo[part], self.hi[part], self.box.total))
        gap = loops.gap_at(self.F, self.beta, self.lo, self.hi, offset)
        dual = 0.5 * float(self.beta @ (self.linear - self.F))
        stalled = stalled + 1 if gap > 0.99 * before else 0
        violation = max(0.0, high - low)
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
