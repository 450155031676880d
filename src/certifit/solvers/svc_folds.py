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
from certifit.solvers.balance import balance
from certifit.solvers.smo import best_offsets

_LARGEST = 2048  # points of a block; beyond it either the worst violators or, if nearly all matter, the whole matrix
_ROUND = 0.1  # fraction of the violation left by a round
_STEPS_PER_POINT = 20


@dataclass
class FoldMachine:
    """β, Kβ and the offset of one machine; ``steps`` pair steps were made, "rounding" ended it if not ``solved``."""

    beta: Array
    product: Array
    offset: float
    gap: float
    steps: int
    solved: bool


def machine_path(
    K: Array,
    y: Array,
    weight: Array,
    costs: Sequence[float] | Array,
    tol: float,
    others: Sequence[FoldMachine] | None = None,
) -> list[FoldMachine]:
    """The machine of every cost (rising), each to a duality gap of ``tol`` times what the null model pays.

    Parameters
    ----------
    K : (n, n) array
        Kernel values.
    y : (n,) array of −1.0 and +1.0
    weight : (n,) array, ≥ 0
        The cost of row i is ``costs[c] * weight[i]``; 0 for rows that do not train.
    costs : sequence of float
        Rising.
    tol : float
    others : list of FoldMachine, default=None
        Solutions for the same costs on other rows, as seeds.

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
        found.append(_solve(K, y, limit, beta, product, tol * cost * null, room))
    return found


def _stretched(m: FoldMachine, y: Array, ratio: float) -> tuple[Array, Array]:
    """s·β for the s in [1, ratio] of largest dual value s·yᵀβ − ½ s² βᵀKβ."""
    square = float(m.beta @ m.product)
    s = float(np.clip(float(m.beta @ y) / square, 1.0, ratio)) if square > 0 else ratio
    return s * m.beta, s * m.product


def _exchanged(K: Array, m: FoldMachine, y: Array, limit: Array) -> tuple[Array, Array]:
    """Another fold's β on these rows: those that left go to zero, those that came and violate go to their cost."""
    beta = np.clip(m.beta, np.where(y > 0, 0.0, -limit), np.where(y > 0, limit, 0.0))
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


def _solve(K: Array, y: Array, limit: Array, beta: Array, product: Array, target: float, room: Array) -> FoldMachine:
    lo, hi = np.where(y > 0, 0.0, -limit), np.where(y > 0, limit, 0.0)
    beta, trained = np.clip(beta, lo, hi), np.flatnonzero(limit)
    F, steps, stalled, before, fresh = product - y, 0, 0, np.inf, False
    while True:
        low, high = loops.violation(F, beta, lo, hi)
        offset = float(np.mean(best_offsets(F[trained], lo[trained], hi[trained])))
        gap = float(loops.gap_at(F, beta, lo, hi, offset)[0])
        stalled = stalled + 1 if gap > 0.99 * before else 0
        before = gap
        if gap <= target or stalled >= 20 or high - low <= 1e-15 * (1.0 + abs(offset)):
            if fresh:
                return FoldMachine(beta, F + y, offset, gap, steps, bool(gap <= target))
            # Many small updates have left their rounding in Σβ and in the gradient: look again with fresh ones.
            beta = balance(beta, limit)
            used = np.flatnonzero(beta)
            F = -y
            loops.add_rows(K, used, beta[used], F)
            fresh, before, stalled = True, np.inf, 0
            continue
        fresh = False
        steps += _round(K, F, beta, lo, hi, offset, high - low, room)


def _round(K: Array, F: Array, beta: Array, lo: Array, hi: Array, offset: float, violation: float, room: Array) -> int:
    """Pair steps on the points that are free or near to leaving their bound; F and β change in place."""
    r = F + offset
    slack = np.where(beta <= lo, r, np.where(beta >= hi, -r, -np.inf))
    active = np.flatnonzero((slack < violation) & (hi > lo))
    eps = _ROUND * violation
    if len(active) > _LARGEST:
        steps, _ = loops.solve_block(K, F, beta, lo, hi, eps, _STEPS_PER_POINT * len(active))
        return int(steps)
    part = room[: len(active) ** 2].reshape(len(active), len(active))
    loops.cut(K, active, active, part)
    f, b = F[active], beta[active]
    old = b.copy()
    steps, _ = loops.solve_block(part, f, b, lo[active], hi[active], eps, _STEPS_PER_POINT * len(active))
    changed = np.flatnonzero(b != old)
    beta[active] = b
    loops.add_rows(K, active[changed], (b - old)[changed], F)
    return int(steps)
