"""The last digits of a soft-margin dual: Newton steps on its free multipliers.

Sequential minimal optimisation finds quickly which multipliers stand at a bound, and slowly the last digits of the
others. Once the bounds are right these solve a linear system,

    K_ff d + δ1 = −(F_f + b),  Σd = 0,

so one Cholesky factor replaces thousands of pair steps. Multipliers that the step carries past a bound stop there and
leave the system; points at a bound that want to leave it join. A step counts only if the duality gap, computed from
fresh numbers, falls.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from certifit._types import Array
from certifit.design import Blocks, cholesky
from certifit.loops import smo as loops
from certifit.solvers._box_dual import Box, MakeBlocks
from certifit.solvers.balance import balance

MOST_FREE = 2000  # free multipliers up to which the system is solved
_ROUNDS, _PATIENCE = 20, 3  # Newton steps in all, and without half the gap: each lowers the dual, not always the gap
_CUT_WORK = 3e8  # flops spent on systems within one Newton step, of which there are at least _FEWEST
_FEWEST, _MOST = 10, 300
_LIFT = 1e-14  # share of the largest diagonal entry that is added: kernels of few columns have flat directions
_PAIR_STEPS = 200  # between two Newton steps
_NEAR = 0.1  # margin error up to which a point may come to matter
_CHUNK = 4096


@dataclass(frozen=True)
class Polished:
    """β, its gradient Kβ − p, the offset and the gap."""

    beta: Array
    gradient: Array
    offset: float
    gap: float


def polish(make: MakeBlocks, box: Box, start: Polished, least: float, dtype: npt.DTypeLike = np.float64) -> Polished:
    """β with a duality gap near rounding, from one that is nearly optimal; the start where nothing was gained.

    Only points near their margin (and the free ones) are looked at in double precision; the gradient of the others,
    whose multipliers stand at a bound, is brought up to date once at the end in the precision of ``dtype``.

    Parameters
    ----------
    make : callable
        ``make(dtype)`` gives the Gram matrix by blocks in that precision.
    box : Box
    start : Polished
        A feasible β with its gradient.
    least : float
        Gap below which there is nothing left to do.

    Examples
    --------
    >>> from certifit.design import blocks
    >>> from certifit.kernels import Linear
    >>> p, beta = np.array([-1.0, 1.0]), np.array([-0.499, 0.499])
    >>> box = Box(p, np.array([-9.0, 0.0]), np.array([0.0, 9.0]))
    >>> start = Polished(beta, np.array([1.0, -0.004]), 0.0, 9.0)
    >>> found = polish(lambda dtype: blocks(Linear(), np.array([[0.0], [2.0]]), dtype), box, start, 1e-15)
    >>> found.beta.tolist(), found.offset
    ([-0.5, 0.5], -1.0)
    """
    gram = make(np.float64)
    free = (start.beta > box.lo) & (start.beta < box.hi)
    near = np.flatnonzero(free | (np.abs(start.gradient + start.offset) <= _NEAR))
    if not 0 < np.count_nonzero(free) <= MOST_FREE or len(near) < 2:
        return start
    F, used = start.gradient.copy(), np.flatnonzero(start.beta)
    F[near] = _products(gram, near, used, start.beta[used]) - box.linear[near]
    at = replace(start, gradient=F)
    offset, gap = box.offset_and_gap(at.beta, F)
    at = best = replace(at, offset=offset, gap=gap)
    idle = 0
    for _ in range(_ROUNDS):
        after = _round(gram, box, at, near) if best.gap > least and idle < _PATIENCE else None
        if after is None:
            break
        at, idle = after, idle + 1
        if at.gap < best.gap:
            idle = 0 if at.gap < 0.5 * best.gap else idle
            best = at
    return _completed(make(dtype), box, start, best, near) if best.gap < gap else start


def _completed(gram: Blocks, box: Box, start: Polished, at: Polished, near: Array) -> Polished:
    """The gradient of the other points, brought up to date; the start where one of them turns out to matter."""
    far = np.ones(len(at.beta), dtype=bool)
    far[near] = False
    moved = np.flatnonzero(at.beta != start.beta)
    if not far.any() or not len(moved):
        return at
    F = at.gradient.copy()
    F[far] = (start.gradient + gram.combine(moved, (at.beta - start.beta)[moved]))[far]
    offset, gap = box.offset_and_gap(at.beta, F)
    return Polished(at.beta, F, offset, gap) if gap < start.gap else start


def _products(gram: Blocks, here: Array, used: Array, weights: Array) -> Array:
    """Σₖ weightsₖ K[usedₖ, here]."""
    total = np.zeros(len(here))
    for k in range(0, len(used), _CHUNK):
        total += weights[k : k + _CHUNK] @ gram.block(used[k : k + _CHUNK], here)
    return total


def _round(gram: Blocks, box: Box, at: Polished, near: Array) -> Polished | None:
    """One Newton step on the points that are free or want to be, and some pair steps after it."""
    work = _working_set(box, at)
    if not 1 < len(work) <= MOST_FREE:
        return None
    lo, hi = box.lo[work], box.hi[work]
    K = np.asarray(gram.block(work, work), dtype=float)
    moved = _newton(K, at.beta[work], at.gradient[work], lo, hi)
    if moved is None:
        return None
    f = at.gradient[work] + K @ (moved - at.beta[work])
    loops.solve_block(K, f, moved, lo, hi, 0.0, _PAIR_STEPS)
    beta = at.beta.copy()
    beta[work] = moved
    beta = balance(beta, np.maximum(np.abs(box.lo), np.abs(box.hi)))
    changed = np.flatnonzero(beta != at.beta)
    F = at.gradient.copy()
    F[near] += _products(gram, near, changed, (beta - at.beta)[changed])
    return Polished(beta, F, *box.offset_and_gap(beta, F))


def _working_set(box: Box, at: Polished) -> Array:
    """Free multipliers, and those at a bound that want to leave it."""
    r = at.gradient + at.offset
    wants = ((at.beta <= box.lo) & (r < 0.0)) | ((at.beta >= box.hi) & (r > 0.0))
    free = (at.beta > box.lo) & (at.beta < box.hi)
    return np.flatnonzero((free | wants) & (box.hi > box.lo))


def _newton(K: Array, beta: Array, F: Array, lo: Array, hi: Array) -> Array | None:
    """The minimiser of the quadratic over the working set, as far as the bounds allow."""
    beta, F = beta.copy(), F.copy()
    size = max(float(np.abs(np.diagonal(K)).max(initial=0.0)), 1e-300)
    inside = np.arange(len(beta))
    for _ in range(int(np.clip(_CUT_WORK / len(beta) ** 3, _FEWEST, _MOST))):
        if len(inside) < 2:
            break
        # With Σd = 0 a constant added to K changes nothing; it is what the offset adds to the rank.
        part = K[np.ix_(inside, inside)] + size
        part[np.diag_indices(len(inside))] += _LIFT * size
        factor = cholesky(part)
        if factor is None:
            return None
        ones, pull = factor.solve(np.ones(len(inside))), factor.solve(F[inside])
        if not ones.sum() > 0.0:
            return None
        step = (pull.sum() / ones.sum()) * ones - pull
        target = beta[inside] + step
        over = (target < lo[inside]) | (target > hi[inside])
        if not np.any(over):
            beta[inside] = target
            return beta
        length = _first_bound(beta[inside], step, lo[inside], hi[inside])
        moved = np.clip(beta[inside] + length * step, lo[inside], hi[inside])
        F += K[:, inside] @ (moved - beta[inside])
        beta[inside] = moved
        # All that the whole step carries past a bound and that are there now, or nearly, leave the system.
        ends = np.where(step < 0.0, lo[inside], hi[inside])
        gone = over & (np.abs(moved - ends) <= 1e-12 * np.maximum(np.abs(ends), hi[inside] - lo[inside]))
        beta[inside[gone]] = ends[gone]
        if not np.any(gone):
            break
        inside = inside[~gone]
    return beta


def _first_bound(beta: Array, step: Array, lo: Array, hi: Array) -> float:
    """How much of the step can be made until the first multiplier meets its bound."""
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(step > 0.0, (hi - beta) / step, np.where(step < 0.0, (lo - beta) / step, np.inf))
    return float(np.clip(np.nanmin(reach), 0.0, 1.0))
