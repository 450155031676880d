"""Sequential minimal optimisation on blocks of violators.

Minimise ½ βᵀKβ − pᵀβ subject to Σβ = 0 and lo ≤ β ≤ hi, the dual of the soft-margin machine (p = y, β = y∘α) and of
regression with a tube; F is the gradient Kβ − p, and −b the level at which F changes sides. Three nested sets keep the
work small:

- *all* n points, whose F is brought up to date once a round;
- the *active* points: free ones, and those at a bound that are near to wanting to leave it (shrinking);
- the *block*: the worst violators among them, solved to a fraction of the violation by pair steps in compiled code
  on its own small Gram matrix.

Only points whose β changed need a row of the Gram matrix, and that against the active points; rows are computed as
blocks of a matrix product in single precision where the asked gap allows it. A round ends when the violation among
the active points has fallen by a factor; the fit ends when the duality gap, with the best offset, is small.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from certifit._trace import Trace, TraceRow, continued
from certifit._types import Array, Record
from certifit.design import Blocks
from certifit.loops import smo as loops
from certifit.parallel import one_thread
from certifit.solvers._box_dual import Box, BoxDual, DualState, MakeBlocks, SolvedDual
from certifit.solvers._driver import DriveEnd, drive
from certifit.solvers._solution import Solution
from certifit.solvers._task import DEFAULT, Options
from certifit.solvers.polish import polish

_BLOCK, _LARGEST_BLOCK = 1024, 4096
_INNER, _ROUND = 0.5, 0.3  # fraction of the violation left by a block, and by a round
_STEPS_PER_POINT, _FEWEST = 20, 10_000  # in a block: few points take many steps before a look at them is worth it
_LONG_ROUND = (
    500_000,
    1000,
)  # pair steps, and for each point: more is a fight with rounding, or an all but flat Gram matrix
_COARSE = 100  # times the target: where Newton steps take over
_PROBE = 128  # points whose gradient is recomputed in double precision before a fit in single precision ends
_WATCHED = 500  # points up to which a trace has every pair step


def smo(
    make: MakeBlocks,
    box: Box,
    target: float,
    options: Options = DEFAULT,
    *,
    single: bool = False,
    shrinking: bool = True,
    rounded: float | None = None,
    start: Array | None = None,
) -> Solution:
    """Solve the dual until the duality gap is at most ``target``, in units of ½‖w‖² + Σ cost·loss.

    ``make(dtype)`` gives the Gram matrix by blocks in that precision; with ``single`` it begins in single precision,
    and double precision takes over if that proves too coarse. The problem is `Box.of_labels` for the hinge,
    `Box.of_tube` for regression. ``start`` is β inside its box and balanced; None is zero. At the end of
    ``time_budget`` (seconds) or ``max_iter`` (pair steps) the best so far is returned. With ``shrinking`` points that
    will probably stay at their bound are set aside between rounds. Once the target is reached, Newton steps on the free
    points (`polish`) go on to the gap ``rounded``; None: they do not. A ``trace`` has every round, and every pair step
    (i, j, their α before and after, whether one was clipped at a bound) where there are at most 500 points.

    ``value`` is a `SolvedDual`; ``stats`` holds ``steps`` (pair steps).

    Examples
    --------
    >>> from certifit.design import blocks
    >>> from certifit.kernels import Linear
    >>> X, y = np.array([[0.0], [2.0]]), np.array([-1.0, 1.0])
    >>> box = Box.of_labels(y, np.ones(2))
    >>> found = smo(lambda dtype: blocks(Linear(), X, dtype), box, 1e-9, Options(trace=True))
    >>> found.value.beta.tolist(), found.status, found.trace[1].clipped
    ([-0.5, 0.5], 'converged', False)
    """
    deadline = np.inf if options.time_budget is None else time.perf_counter() + options.time_budget
    most = np.inf if options.max_iter is None else options.max_iter
    dual = _BlockDual(make(np.float32 if single else np.float64), box, target, deadline, most, shrinking)
    dual.watched = options.trace and len(dual.lo) <= _WATCHED
    if start is not None:
        dual.beta = start.copy()
        dual.F = dual.gradient()
    way = _Way(dual, options.time_budget is not None, options.trace)
    with one_thread():
        found = None
        if rounded is not None:  # Newton steps are the cheaper ones from quite far away
            dual.target = _COARSE * target
            found = way.polished(make, way.descent(), rounded)
            dual.target, dual.fresh_gap = target, np.inf
            if way.status == "converged" and found.gap > target:
                dual.beta, dual.F, found = found.beta.copy(), found.gradient.copy(), None
        if found is None:
            found = way.descent()
            if single and way.status == "converged" and not _precise(make, dual):
                dual.to_double(make(np.float64))
                found = way.descent()
            if rounded is not None:
                found = way.polished(make, found, rounded)
    status = "converged" if found.gap <= target else way.status
    stats = way.run.stats | {
        "trace": way.rows, "n_iter": way.n_iter, "steps": dual.steps, "gap": found.gap, "method": "smo",
    }  # fmt: skip
    return Solution(found, status, stats)


class _Way:
    """The legs of a descent: rounds of pair steps and, between them, Newton steps; with one trace for all."""

    def __init__(self, dual: _BlockDual, limited: bool, trace: bool) -> None:
        self.dual, self.limited, self.trace = dual, limited, trace
        self.rows, self.n_iter, self.gap = Trace(), 0, np.inf
        self.run: DriveEnd

    @property
    def status(self) -> str:
        return self.run.status

    def descent(self) -> SolvedDual:
        """Rounds of pair steps until the dual's target or a limit is reached."""
        dual = self.dual
        left = dual.deadline - time.perf_counter() if self.limited else None
        dual.pairs = []
        self.run = drive(dual.look(self.gap), dual.advance, dual.finished, np.inf, left, self.trace,
                         events=_PairSteps(dual) if dual.watched else _rounds, check_start=True)  # fmt: skip
        self.rows = continued(self.rows, self.run.trace[1:]) if self.rows else self.run.trace
        self.n_iter, self.gap = self.n_iter + self.run.n_iter, self.run.state.gap
        return SolvedDual(dual.beta, dual.F, self.run.state.offset, self.gap)

    def polished(self, make: MakeBlocks, found: SolvedDual, rounded: float) -> SolvedDual:
        """The machine after Newton steps on its free points, where they lower the gap."""
        if self.status not in ("converged", "precision") or found.gap <= rounded:
            return found
        start = found
        if not self.dual.exact:  # in single precision nothing was balanced yet
            start = replace(start, beta=self.dual.box.balanced(found.beta))
        end = polish(make, self.dual.box, start, rounded, self.dual.gram.dtype)
        if end is start:
            return found
        if self.trace:
            objective = self.run.state.objective - found.gap + end.gap
            self.rows = continued(self.rows, [TraceRow(1, objective, end.gap, np.nan, 0.0)])
        return end


class _BlockDual(BoxDual):
    """Rounds of blocks of violators among the active points."""

    def __init__(
        self, gram: Blocks, box: Box, target: float, deadline: float, max_steps: float, shrinking: bool
    ) -> None:
        super().__init__(box, np.zeros(len(box.lo)), -box.linear.astype(float), target)
        self.gram, self.deadline, self.max_steps, self.shrinking = gram, deadline, max_steps, shrinking
        self.exact = gram.dtype != np.float32
        self.room = np.empty(min(gram.n, _LARGEST_BLOCK) ** 2, gram.dtype)  # of the blocks; untouched memory is free
        self.watched = False
        self.pairs: list[Array] = []  # of the last round: i, j and β before and after, if watched

    def to_double(self, gram: Blocks) -> None:
        """Go on in double precision."""
        self.gram, self.exact = gram, True
        self.room = np.empty(len(self.room), gram.dtype)
        self.F = self.gradient()

    def gradient(self) -> Array:
        used = np.flatnonzero(self.beta)
        return self.gram.combine(used, self.beta[used]) - self.linear

    def over(self) -> bool:
        """Whether time or pair steps are used up."""
        return time.perf_counter() > self.deadline or self.steps >= self.max_steps

    def descend(self, at: DualState) -> None:
        """Choose the active points, descend on them, and bring the gradient of the others up to date."""
        self.pairs = []
        r = self.F + at.offset
        slack = np.where(self.beta <= self.lo, r, np.where(self.beta >= self.hi, -r, -np.inf))
        active = np.flatnonzero(slack < at.violation)
        eps = _ROUND * at.violation
        if not self.shrinking or len(active) > 0.8 * len(r):
            self._blocks(self.gram, np.arange(len(r)), self.F, self.beta, eps)
            return
        F, beta = self.F[active], self.beta[active]
        old = beta.copy()
        self._blocks(self.gram.take(active), active, F, beta, eps)
        self.beta[active] = beta
        changed = np.flatnonzero(beta != old)
        if len(changed):
            rest = np.ones(len(r), dtype=bool)
            rest[active] = False
            outside = np.flatnonzero(rest)
            # The changed points come first, the points outside after them: one product serves.
            both = self.gram.take(np.concatenate([active[changed], outside]))
            update = both.combine(np.arange(len(changed)), (beta - old)[changed])
            self.F[outside] += update[len(changed) :]
        self.F[active] = F

    def _blocks(self, gram: Blocks, active: Array, F: Array, beta: Array, eps: float) -> None:
        """Blocks of the worst violators until the violation is at most eps; F and β change in place."""
        lo, hi = (self.lo, self.hi) if len(active) == len(self.lo) else (self.lo[active], self.hi[active])
        everything, last = np.arange(len(F)), self.steps + max(_LONG_ROUND[0], _LONG_ROUND[1] * len(F))
        while True:
            rising, falling = loops.sides(F, beta, lo, hi)
            low, high = loops.ends(rising, falling)
            gap = high - low
            if gap <= eps or not np.isfinite(gap) or self.over():
                return
            if self.steps >= last:
                self.laboured += 1
                return
            block = everything if len(F) <= _BLOCK else _worst(rising, falling)
            f, b = F[block], beta[block]
            old = b.copy()
            K = gram.block(block, block, self.room)
            most = int(min(max(_STEPS_PER_POINT * len(block), _FEWEST), max(1, self.max_steps - self.steps)))
            problem = (K, f, b, lo[block], hi[block], max(_INNER * gap, 0.5 * eps), most)
            self.steps += self._pair_steps(problem, active[block])
            changed = np.flatnonzero(b != old)
            if not len(changed):
                return
            beta[block] = b
            if len(block) == len(F):
                F[block] = f  # the block may hold every point in another order
            else:
                F += gram.combine(block[changed], (b - old)[changed])

    def _pair_steps(self, problem: tuple[Any, ...], rows: Array) -> int:
        if not self.watched:
            return int(loops.solve_block(*problem)[0])
        log = np.empty((problem[-1], 6))
        steps = int(loops.solve_block(*problem, log)[0])
        log[:steps, :2] = rows[log[:steps, :2].astype(int)]
        self.pairs.append(log[:steps])
        return steps


def _rounds(at: DualState) -> Iterator[dict[str, Any]]:
    """What a trace says of a round beside the common columns."""
    yield {"pairs": int(at.step)}


class _PairSteps:
    """Rows of a trace with every pair step, its dual value and gap, by walking the logged ones again."""

    def __init__(self, dual: _BlockDual) -> None:
        self.dual, self.count = dual, 0
        self.beta, self.F = dual.beta.copy(), dual.F.copy()
        every = np.arange(len(dual.lo))
        self.K = dual.gram.block(every, every).astype(float)

    def __call__(self, at: DualState) -> Iterator[dict[str, Any]]:
        dual = self.dual
        for i, j, *values in (row for part in dual.pairs for row in part):
            yield self._move(int(i), int(j), *values)
        self.beta, self.F = dual.beta.copy(), dual.F.copy()
        if at.refreshed or not dual.pairs:
            yield {"iteration": self.count, "step": np.nan}

    def _move(self, i: int, j: int, i_before: float, j_before: float, i_after: float, j_after: float) -> Record:
        dual = self.dual
        self.beta[[i, j]] = i_after, j_after
        self.F += (i_after - i_before) * self.K[i] + (j_after - j_before) * self.K[j]
        _, gap = dual.box.offset_and_gap(self.beta, self.F)
        self.count += 1
        ends = [v in (float(dual.lo[k]), float(dual.hi[k])) for k, v in ((i, i_after), (j, j_after))]
        value = 0.5 * float(self.beta @ (dual.linear - self.F))
        return {
            "iteration": self.count, "objective": value + gap, "gap": gap, "step": i_after - i_before, "dual": value,
            "i": i, "j": j, "alpha_i_before": abs(i_before), "alpha_j_before": abs(j_before),
            "alpha_i": abs(i_after), "alpha_j": abs(j_after), "clipped": any(ends),
        }  # fmt: skip


def _worst(rising: Array, falling: Array) -> Array:
    """The worst violators of both sides; room for all free points where they are few enough."""
    free = int(np.count_nonzero(loops.movable(rising) & loops.movable(falling)))
    half = int(min(len(rising), _LARGEST_BLOCK, max(_BLOCK, 1.3 * free))) // 2
    first = _least(rising, half)
    falling[first] = np.inf
    return np.concatenate([first, _least(falling, half)])


def _least(side: Array, count: int) -> Array:
    """Which points have the least numbers of a side, of those that may move."""
    found = np.argpartition(side, count - 1)[:count]
    return found[loops.movable(side[found])]


def _precise(make: MakeBlocks, dual: BoxDual) -> bool:
    """Whether single precision was good enough: some gradients recomputed in double precision tell."""
    used = np.flatnonzero(dual.beta)
    probe = np.unique(np.linspace(0, len(dual.lo) - 1, _PROBE).astype(int))
    some = make(np.float64).take(np.concatenate([probe, used]))
    width, total = len(probe), np.zeros(len(probe))
    for k in range(0, len(used), 4096):
        stop = min(len(used), k + 4096)
        K = some.block(np.arange(width), np.arange(width + k, width + stop))
        total += K @ dual.beta[used[k:stop]]
    error = np.abs(total - dual.linear[probe] - dual.F[probe])
    # The gap moves by at most cost·|error| a row, and at most where the row matters; the offset is free.
    return bool(error.mean() * dual.cost.sum() <= dual.target)
