"""The last digits of a soft-margin dual: Newton steps on its free multipliers.

Sequential minimal optimisation finds quickly which multipliers stand at a bound, and slowly the last digits of the
others. Once the bounds are right these solve a linear system,

    K_ff d + δ1 = −F_f,  Σd = 0,

so one Cholesky factor replaces thousands of pair steps. Which bounds are right is found in three ways, over the few
multipliers that are free or want to be. Pair steps among these alone cost next to nothing. The bold way (primal-dual
active sets) solves the system, puts every multiplier that the step carries past a bound there, frees every one that
wants to leave, and solves again; it ends after a few systems or not at all, and then more pair steps bring it nearer.
The sure way goes to the first bound only, gives up the multipliers that stand there, and frees others once no bound is
in the way: every step lowers the dual. A kernel of low rank has flat directions, along which a step is very long and
always ends at a bound. The answer counts only if the duality gap falls.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.linalg.lapack import dpotrf, dpotrs

from certifit._types import Array
from certifit.design import Blocks
from certifit.loops import smo as loops
from certifit.solvers._box_dual import Box, MakeBlocks, SolvedDual

MOST_FREE = 2000  # free multipliers up to which the system is solved
_ROUNDS, _PATIENCE = 30, 4  # working sets in all, and without half the gap: each lowers the dual, not always the gap
_STILL = 1e-6  # share of the gap by which a round must lower the dual, or the gap itself by a hundredth
_BOLD = 8  # systems after which the bold way has failed
_SURE_WORK = 1e9  # flops spent on systems the sure way within a round, of which there are at least _FEWEST
_FEWEST, _MOST = 5, 400
_LIFT = 1e-14  # fraction of the largest diagonal entry that is added: kernels of few columns have flat directions
_AT_BOUND = 1e-13  # fraction of its box by which a multiplier may miss a bound and still stand at it
_TRIES = 4  # pair steps and the bold way, in turns
_NARROWER, _STEPS_PER_POINT = 0.003, 100  # share of the violation that pair steps among few leave, and their limit
_FINE = 1e-9  # violation, relative to the gradient, below which pair steps only fight with rounding
_LAST_STEPS = 200  # pair steps after the sure way, whose budget may end anywhere
_FEW = 1 << 19  # kernel values below which all points are looked at
_WIDENINGS = 5  # how often points that come to matter are added to those looked at
_DOUBT = 10.0  # times the largest error of the coarse gradient: points that close to their margin are looked at


def polish(
    make: MakeBlocks, box: Box, start: SolvedDual, least: float, dtype: npt.DTypeLike = np.float64
) -> SolvedDual:
    """β with a duality gap near rounding, from one that is nearly optimal; the start where nothing was gained.

    Only points near their margin (and the free ones) are looked at in double precision; the gradient of the others,
    whose multipliers stand at a bound, is brought up to date in the precision ``dtype`` of the start's gradient and of
    pair steps. Those that come to matter are then looked at, too. ``make(dtype)`` gives the Gram matrix by blocks;
    below the gap ``least`` there is nothing left to do.

    Examples
    --------
    >>> from certifit.design import blocks
    >>> from certifit.kernels import Linear
    >>> p, beta = np.array([-1.0, 1.0]), np.array([-0.499, 0.499])
    >>> box = Box(p, np.array([-9.0, 0.0]), np.array([0.0, 9.0]))
    >>> start = SolvedDual(beta, np.array([1.0, 0.996]), 0.0, 9.0)
    >>> found = polish(lambda dtype: blocks(Linear(), np.array([[0.0], [2.0]]), dtype), box, start, 1e-15)
    >>> found.beta.tolist(), found.offset
    ([-0.5, 0.5], -1.0)
    """
    gram, coarse = make(np.float64), make(dtype)
    near = _near(box, start, few=0 if coarse.dtype != gram.dtype else _FEW)
    if np.count_nonzero(_free(box, start.beta)) > MOST_FREE or np.count_nonzero(near) < 2:
        return start
    at, fresh, doubt = start, near, 0.0
    for _ in range(_WIDENINGS):
        F, used, here = at.gradient.copy(), np.flatnonzero(at.beta), np.flatnonzero(fresh)
        if coarse.dtype != gram.dtype:
            F[here] = gram.combine(used, at.beta[used], here) - box.linear[here]
        doubt = max(doubt, _DOUBT * float(np.abs(F - at.gradient).max()))  # what the coarse precision leaves open
        at = _descent(gram, box, _judged(box, at.beta, F), np.flatnonzero(near), least, dtype)
        at = _completed(coarse, box, start, at, ~near)
        fresh = ~near & (_moving(box, at) | (np.abs(at.gradient + at.offset) <= doubt))
        if not fresh.any():
            break
        near = near | fresh
    return at if at.gap < start.gap else start


def _free(box: Box, beta: Array) -> Array:
    return np.logical_and(*_room(box, beta))


def _room(box: Box, beta: Array) -> tuple[Array, Array]:
    """Which multipliers may rise and which may fall; balancing leaves some a rounding away from their bound."""
    slack = _AT_BOUND * box.cost + 4.0 * float(np.spacing(np.abs(beta).max(initial=0.0)))
    return box.hi - beta > slack, beta - box.lo > slack


def _judged(box: Box, beta: Array, F: Array) -> SolvedDual:
    return SolvedDual(beta, F, *box.offset_and_gap(beta, F))


def _near(box: Box, at: SolvedDual, few: int) -> Array:
    """Points whose gradient may come to matter: a mask."""
    if len(at.beta) * np.count_nonzero(at.beta) <= few:
        return np.ones(len(at.beta), dtype=bool)
    r, free = np.abs(at.gradient + at.offset), _free(box, at.beta)
    return np.asarray(free | (r <= 3.0 * r[free].max(initial=0.0)))


def _completed(gram: Blocks, box: Box, start: SolvedDual, at: SolvedDual, far: Array) -> SolvedDual:
    """The same β with the gradient of the far points brought up to date."""
    moved = np.flatnonzero(at.beta != start.beta)
    if not far.any() or not len(moved):
        return at
    F = at.gradient.copy()
    others = np.flatnonzero(far)
    F[others] = start.gradient[others] + gram.combine(moved, (at.beta - start.beta)[moved], others)
    return _judged(box, at.beta, F)


def _descent(gram: Blocks, box: Box, at: SolvedDual, near: Array, least: float, dtype: npt.DTypeLike) -> SolvedDual:
    """The best of several working sets, one after the other."""
    best, idle = at, 0
    for _ in range(_ROUNDS):
        after = _round(gram, box, at, near, dtype) if best.gap > least and idle < _PATIENCE else None
        if after is None:
            break
        fell = 0.5 * float((at.beta - after.beta) @ (at.gradient + after.gradient))
        if after.gap > 0.99 * at.gap and fell <= _STILL * at.gap:  # only points that are not looked at can help
            break
        at, idle = after, idle + 1
        if at.gap < best.gap:
            idle = 0 if at.gap < 0.5 * best.gap else idle
            best = at
    return best


def _moving(box: Box, at: SolvedDual) -> Array:
    """Free multipliers, and those at a bound that are part of a pair that could move: a mask."""
    rise, fall = _room(box, at.beta)
    low, high = at.gradient[rise].min(initial=np.inf), at.gradient[fall].max(initial=-np.inf)
    return np.asarray((rise & fall) | (rise & (at.gradient < high)) | (fall & (at.gradient > low)))


def _round(gram: Blocks, box: Box, at: SolvedDual, near: Array, dtype: npt.DTypeLike) -> SolvedDual | None:
    """The best β over the multipliers that are free or want to be."""
    work = near[_moving(box, at)[near]]
    if not 1 < len(work) <= MOST_FREE:
        return None
    K = np.asarray(gram.block(work, work), dtype=float)
    part = _Part(K, at.beta[work], at.gradient[work], box.lo[work], box.hi[work])
    moved = part.solved(dtype)
    beta = at.beta.copy()
    beta[work] = moved
    beta = box.balanced(beta)
    changed = np.flatnonzero(beta != at.beta)
    F = at.gradient.copy()
    F[near] += gram.combine(changed, (beta - at.beta)[changed], near)
    return _judged(box, beta, F)


@dataclass(frozen=True)
class _Part:
    """The dual over a working set: the Gram matrix there, β, its gradient and the bounds."""

    K: Array
    beta: Array
    F: Array
    lo: Array
    hi: Array

    @cached_property
    def size(self) -> float:
        """The largest entry of the diagonal."""
        return max(float(np.abs(np.diagonal(self.K)).max(initial=0.0)), 1e-300)

    def step(self, F: Array, inside: Array, total: float = 0.0) -> tuple[Array, float] | None:
        """Newton step of the multipliers inside, whose sum changes by ``total``, and the level that F reaches."""
        # With a constant added to K only the level changes; it is what the offset adds to the rank.
        part = self.K[np.ix_(inside, inside)] + self.size
        part.flat[:: len(inside) + 1] += _LIFT * self.size
        factor, failed = dpotrf(part, lower=1, clean=0)
        if failed:
            return None
        ones, pull = dpotrs(factor, np.column_stack([np.ones(len(inside)), F[inside]]), lower=1)[0].T
        if not (ones.sum() > 0.0 and np.all(np.isfinite(pull))):
            return None
        level = (pull.sum() + total) / ones.sum()
        return level * ones - pull, level - self.size * total

    def outward(self, beta: Array, r: Array, slack: float = 0.0) -> Array:
        """Which multipliers at a bound want to leave it, where F lies r above its level."""
        return ((beta <= self.lo) & (r < -slack)) | ((beta >= self.hi) & (r > slack))

    def solved(self, dtype: npt.DTypeLike) -> Array:
        """The best β over the working set."""
        beta, F = self.beta.copy(), self.F.copy()
        K, level = np.ascontiguousarray(self.K, dtype=dtype), np.inf  # the precision that the loop is compiled for
        for _ in range(_TRIES):
            low, high = loops.violation(F, beta, self.lo, self.hi)
            if not high - low < 0.5 * level:
                break
            level = high - low
            if level > _FINE * float(np.abs(F).max()):
                loops.solve_block(K, F, beta, self.lo, self.hi, _NARROWER * level, _STEPS_PER_POINT * len(beta))
                F = self.F + self.K @ (beta - self.beta)
            moved = self.boldly(beta, F)
            if moved is not None:
                return moved
        beta = self.surely(beta, F)
        F = self.F + self.K @ (beta - self.beta)
        loops.solve_block(K, F, beta, self.lo, self.hi, 0.0, _LAST_STEPS)
        return beta

    def boldly(self, start: Array, F: Array) -> Array | None:
        """Primal-dual active sets; None where they do not settle."""
        beta, F = start.copy(), F.copy()
        inside, before = (beta > self.lo) & (beta < self.hi), len(beta)
        for _ in range(_BOLD):
            here = np.flatnonzero(inside)
            found = self.step(F, here, -float(beta.sum() - start.sum())) if len(here) > 1 else None
            if found is None:
                return None
            step, level = found
            change = np.zeros_like(beta)
            change[here] = step
            target = np.clip(beta + change, self.lo, self.hi)
            over = target != beta + change
            F += self.K @ (target - beta)
            beta = target
            wants = ~inside & self.outward(beta, F - level)
            changes = np.count_nonzero(over) + np.count_nonzero(wants)
            if changes == 0:
                return np.asarray(beta)
            if changes >= before:  # it runs in circles, or from far away
                return None
            before = changes
            inside = (inside & ~over) | wants
        return None

    def surely(self, beta: Array, F: Array) -> Array:
        """As far as steps to the first bound lead within the budget."""
        beta, F = beta.copy(), F.copy()
        inside, freed, settled = np.ones(len(beta), dtype=bool), np.zeros(len(beta), dtype=bool), beta
        for _ in range(int(np.clip(_SURE_WORK / len(beta) ** 3, _FEWEST, _MOST))):
            here = np.flatnonzero(inside)
            if not len(here):
                break
            found = self.step(F, here) if len(here) > 1 else (np.zeros(len(here)), float(F[here].mean()))
            if found is None:
                break
            step, level = found
            length = _first_bound(beta[here], step, self.lo[here], self.hi[here])
            moved = np.clip(beta[here] + length * step, self.lo[here], self.hi[here])
            if length < 1.0:  # what stands at the bound that it is pushed to, or nearly, leaves the system
                ends = np.where(step < 0.0, self.lo[here], self.hi[here])
                room = np.maximum(np.abs(ends), self.hi[here] - self.lo[here])
                gone = (step != 0.0) & (np.abs(moved - ends) <= 1e-12 * room)
                moved[gone] = ends[gone]
                inside[here[gone]] = False
            F += self.K[:, here] @ (moved - beta[here])
            beta[here] = moved
            if length < 1.0:
                if not gone.any():
                    break
                continue
            wants = ~inside & self.outward(beta, F - level)
            if not wants.any():
                break
            if freed.any() and np.array_equal(beta, settled):  # all that were freed came back: one at a time
                wants &= np.abs(F - level) >= np.abs(F - level)[wants].max()
            inside, freed, settled = inside | wants, wants, beta.copy()
        return beta


def _first_bound(beta: Array, step: Array, lo: Array, hi: Array) -> float:
    """How much of the step can be made until the first multiplier meets its bound."""
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(step > 0.0, (hi - beta) / step, np.where(step < 0.0, (lo - beta) / step, np.inf))
    return float(np.clip(np.nanmin(reach), 0.0, 1.0))
