"""Soft-margin machines on many folds and costs, from one Gram matrix that is there in full.

All machines see all n rows: a row that does not train (it is tested, or belongs to a third class) has the box
lo = hi = 0. The gradient Kβ − y then holds the decisions of the rows tested, and no row is ever moved or copied.

Two seeds are tried, and the one of larger dual value taken: the solution for the next smaller cost, stretched by the
factor that suits it best; and that of an earlier fold for the same cost, the rows that left replaced by those that
came. Every machine is brought to its own duality gap, so no seed shows in the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from certifit._types import Array
from certifit.loops import smo as loops
from certifit.solvers._box_dual import Box, BoxDual, DualState, boxes
from certifit.solvers._driver import drive
from certifit.solvers.balance import balance

_LARGEST = 2048  # points of a block; beyond it either the worst violators or, if nearly all matter, the whole matrix
_ROUND = 0.03  # fraction of the violation left by a round
_STEPS_PER_POINT = 20
_PATIENCE = 3  # rounds without a smaller gap, of those that run without a look
_COARSE = 1e-6  # a gap of this size is far above what pair steps leave of rounding in the gradient


@dataclass
class FoldMachine:
    """β, Kβ, offset and gap of one machine, the pair steps made and why they ended."""

    beta: Array
    product: Array
    offset: float
    gap: float
    steps: int
    status: str

    @property
    def solved(self) -> bool:
        """Whether the gap asked for was reached, rather than the limit of rounding."""
        return self.status == "converged"


def machine_path(
    K: Array,
    y: Array,
    weight: Array,
    costs: Sequence[float] | Array,
    tol: float,
    others: Sequence[FoldMachine] | None = None,
) -> list[FoldMachine]:
    """The machine of every cost (rising), each to a duality gap of ``tol`` times the null model's loss.

    K are kernel values, y holds −1.0 and +1.0; the cost of row i is ``costs[c] * weight[i]``, 0 for rows that do not
    train. ``others`` are solutions for the same costs on other rows, as seeds.

    Examples
    --------
    >>> K = np.array([[0.0, 0.0], [0.0, 1.0]])
    >>> path = machine_path(K, np.array([-1.0, 1.0]), np.ones(2), [0.5, 10.0], 1e-9)
    >>> [m.beta.round(6).tolist() for m in path]
    [[-0.5, 0.5], [-2.0, 2.0]]
    """
    found: list[FoldMachine] = []
    room = np.empty(min(_LARGEST, len(y)) ** 2, K.dtype)  # fresh memory for every block would cost as much as a block
    null = 2.0 * min(weight[y > 0].sum(), weight[y < 0].sum())
    for c, cost in enumerate(costs):
        limit = cost * weight
        seeds = [_stretched(found[-1], y, cost / costs[c - 1])] if found else []
        if others is not None:
            seeds.append(_exchanged(K, others[c], y, limit))
        seeds = seeds or [(np.zeros(len(y)), np.zeros(len(y)))]
        beta, product = max(seeds, key=lambda s: float(s[0] @ (y - 0.5 * s[1])))
        dual = _StoredDual(K, y, limit, beta, product, tol * cost * null, room)
        dual.exact = tol < _COARSE
        found.append(_solved(dual))
    return found


def _stretched(m: FoldMachine, y: Array, ratio: float) -> tuple[Array, Array]:
    """s·β for the s in [1, ratio] of largest dual value s·yᵀβ − ½ s² βᵀKβ."""
    square = float(m.beta @ m.product)
    s = float(np.clip(float(m.beta @ y) / square, 1.0, ratio)) if square > 0 else ratio
    return s * m.beta, s * m.product


def _exchanged(K: Array, m: FoldMachine, y: Array, limit: Array) -> tuple[Array, Array]:
    """Another fold's β on these rows: those that left go to zero, those that came and violate go to their cost."""
    beta = np.clip(m.beta, *boxes(y, limit))
    came = (m.beta == 0) & (limit > 0) & (y * (m.product + m.offset) < 1.0)
    excess = float(beta.sum())
    for side in (-1.0, 1.0) if excess > 0 else (1.0, -1.0):
        # First the side that lacks mass, then as much of the other; worst violators first.
        rows = np.flatnonzero(came & (y == side))
        rows = rows[np.argsort(side * m.product[rows], kind="stable")]
        wanted = abs(excess) if side * excess < 0 else 0.0
        filled = np.minimum(limit[rows], np.maximum(0.0, wanted - (np.cumsum(limit[rows]) - limit[rows])))
        beta[rows] = side * filled
        excess = float(beta.sum())
    if excess != 0.0:
        beta = balance(beta, limit)
    changed = np.flatnonzero(beta != m.beta)
    product = m.product.copy()
    loops.add_rows(K, changed, (beta - m.beta)[changed], product)
    return beta, product


def _solved(dual: _StoredDual) -> FoldMachine:
    offset, gap = dual.rush()
    if gap <= dual.target and not dual.exact:
        return FoldMachine(dual.beta, dual.F + dual.linear, offset, gap, dual.steps, "converged")
    run = drive(dual.look(np.inf), dual.advance, dual.finished, np.inf, check_start=True)
    at: DualState = run.state
    return FoldMachine(dual.beta, dual.F + dual.linear, at.offset, at.gap, dual.steps, run.status)


class _StoredDual(BoxDual):
    """Rounds on the points that are free or near to leaving their bound, cut out of a matrix that is there in full."""

    def __init__(
        self, K: Array, y: Array, limit: Array, beta: Array, product: Array, target: float, room: Array
    ) -> None:
        super().__init__(Box.of_labels(y, limit), beta, product - y, target)
        self.beta = np.clip(beta, self.lo, self.hi)
        self.K, self.room = K, room

    def gradient(self) -> Array:
        F, used = -self.linear, np.flatnonzero(self.beta)
        loops.add_rows(self.K, used, self.beta[used], F)
        return F

    def rush(self) -> tuple[float, float]:
        """Compiled rounds until the gap asked for; offset and gap, which is infinite where that is still to be seen."""
        if self.K.dtype != np.float64:
            return 0.0, np.inf
        steps, offset, gap = loops.rounds(
            self.K, self.F, self.beta, self.lo, self.hi, self.target, _ROUND, _STEPS_PER_POINT, _LARGEST, _PATIENCE,
            self.room,
        )  # fmt: skip
        self.steps += int(steps)
        return offset, gap

    def descend(self, at: DualState) -> None:
        r = self.F + at.offset
        slack = np.where(self.beta <= self.lo, r, np.where(self.beta >= self.hi, -r, -np.inf))
        active = np.flatnonzero((slack < at.violation) & (self.hi > self.lo))
        eps, most = _ROUND * at.violation, _STEPS_PER_POINT * len(active)
        if len(active) > _LARGEST:
            self.steps += int(loops.solve_block(self.K, self.F, self.beta, self.lo, self.hi, eps, most)[0])
            return
        part = self.room[: len(active) ** 2].reshape(len(active), len(active))
        loops.cut(self.K, active, active, part)
        f, b = self.F[active], self.beta[active]
        old = b.copy()
        self.steps += int(loops.solve_block(part, f, b, self.lo[active], self.hi[active], eps, most)[0])
        changed = np.flatnonzero(b != old)
        self.beta[active] = b
        loops.add_rows(self.K, active[changed], (b - old)[changed], self.F)
