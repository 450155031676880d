r"""Lasso and elastic net, one strength or a whole path, by working sets and coordinate descent.

.. math:: \tfrac12\sum_i s_i(y_i - w\cdot x_i - b)^2 + \Lambda_1\lVert w\rVert_1 + \tfrac12\Lambda_2\lVert w\rVert^2

Rows are weighted and centred once; b follows from w. With d ≪ n one pass makes the Gram matrix, and everything else
is work of size d. Otherwise a working set of columns grows until the others provably do not matter: its Gram matrix
grows with it, and each round ends with one product Xᵀr, which gives both the next columns and the duality gap that
stops the solver. Neighbouring strengths of a path share that product. Columns in a working set are scaled to norm
one (by powers of two), so that units do not matter; the penalty stays in the units of X.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np

from certifit._trace import Trace
from certifit._types import Array
from certifit.design import OVERFLOW, CentredColumns
from certifit.losses import Squared
from certifit.parallel import one_thread
from certifit.solvers._driver import DriveEnd, drive
from certifit.solvers._gram_descent import Active, GramState, Penalty, descend_gram
from certifit.solvers._residual_descent import Descended, descend_residual
from certifit.solvers._separable import separable
from certifit.solvers._solution import Solution
from certifit.solvers._task import Options, Task
from certifit.solvers._working_set import FullSet, WorkingSet, full_set

_FULL = 4000  # columns up to which the whole Gram matrix may be formed
_NARROW = 300  # columns below which it always is, where rows abound
_STRONG = 6.0  # a strength above this share ÷ d of the largest useful one uses few columns
_CAP = 7000  # columns of the largest Gram matrix of a working set
_EXACT = 1e-9
_INNER = 0.2  # fraction of the tolerance granted to the work inside a working set
_BLOCK = 8  # strengths that share one product with X
_GROWTH = 0.7  # columns that may join before a solve, as a multiple of the support
_STEPS = 12  # and by at most so many of them
_ROUGH = 0.01  # gap (fraction of the null model) at which the steps of that approach end
_BESIDE = 0.25  # gap of a solve that only serves to choose columns, as a fraction of the residual's share
_DEEPER = 1e-3  # of the tolerance of one fit: sweeps over sparse columns cost little, and Gram matrices leave no gap
_CONTINUE = 0.35  # a single small strength is approached by steps of at most this ratio


@dataclass
class _Round:
    """One look at the whole problem for a block of strengths: what the driver sees is the worst of them."""

    objective: float
    gap: float
    step: float  # columns in the working set
    states: list[GramState]
    gaps: Array
    correlations: Array  # (d, B), in raw units
    scales: Array  # dual point = scale × residual
    sweeps: int = 0


@dataclass
class Path:
    """What was found: coefficients (d, k), offsets (k,), gaps of S·P (k,), dual factors, rounds and sweeps."""

    coef: Array
    intercept: Array
    gaps: Array
    scales: Array
    rounds: Array
    status: str
    null: float
    trace: Trace = field(default_factory=Trace)


def solve_coordinate(
    task: Task, options: Options, *, start: Array | None = None, gram: bool | Array | None = None
) -> Solution:
    """Squared loss with a 1-norm or an elastic mix: `coordinate_path` for the objective's own strength.

    Minimises Σ sᵢ (yᵢ − w·xᵢ − b)² + Λ(ρ‖w‖₁ + ½(1−ρ)‖w‖²). ``value`` = (w, b); the figures of ``stats`` are plain
    numbers.

    Parameters
    ----------
    task : Task
    options : Options
    start : (d,) array, default=None
        Coefficients to begin with.
    gram : bool or (d, d) array, default=None
        As in `coordinate_path`.

    Examples
    --------
    >>> from certifit.design import as_design
    >>> from certifit._objective import Objective
    >>> from certifit.losses import Squared
    >>> from certifit.regularizers import L1
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0.0, 1.0, 2.0, 3.0])
    >>> w, b = solve_coordinate(Task(Objective(Squared(0.5), L1(), 1.0), as_design(X), y), Options()).value
    >>> w.round(6).tolist(), round(b, 6)
    ([0.8], 0.3)
    """
    found = coordinate_path(task, options, np.array([task.objective.strength]), start=start, gram=gram)
    stats = {k: v[0].item() if isinstance(v, np.ndarray) else v for k, v in found.stats.items()}
    return Solution((found.value[0][0], float(found.value[1][0])), found.status, stats)


def coordinate_path(
    task: Task,
    options: Options,
    strengths: Array,
    *,
    start: Array | None = None,
    gram: bool | Array | None = None,
) -> Solution:
    r"""Fit for each Λ of ``strengths`` (k,) > 0 (largest first is fastest) in place of the objective's own.

    The task has a squared loss with a 1-norm or an elastic mix, with or without w ≥ 0. ``max_iter`` limits the rounds
    (looks at all of X) per block of strengths: a handful is usual. With a ``random_state`` coordinates are visited in
    random order. ``start`` (d,) are coefficients to begin with. ``gram`` tells whether to form the whole Gram matrix
    (of weighted, centred columns), or is that matrix; None decides by size.

    ``value`` = (coef (k, d), intercept (k,)); ``stats`` holds, per strength, ``gap`` and ``relative_gap`` (to the null
    model), ``dual_scale`` and ``n_iter`` (rounds), and ``method``.

    Examples
    --------
    >>> from certifit.design import as_design
    >>> from certifit._objective import Objective
    >>> from certifit.losses import Squared
    >>> from certifit.regularizers import L1
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0.0, 1.0, 2.0, 3.0])
    >>> task = Task(Objective(Squared(0.5), L1(), 0.0), as_design(X), y)
    >>> coordinate_path(task, Options(), np.array([4.0, 1.0])).value[0].round(6)
    array([[0.2],
           [0.8]])
    """
    began = time.perf_counter()
    search = _Search(task.used(), options, np.asarray(strengths, dtype=float), gram)
    with one_thread():  # of the many small products; large ones run on threads of our own
        path = search.run(start)
    stats = {
        "method": search.method,
        "gap": path.gaps * search.double / task.unit,
        "relative_gap": path.gaps / path.null if path.null > 0 else np.zeros(len(path.gaps)),
        "dual_scale": path.scales,
        "n_iter": path.rounds,
        "seconds": time.perf_counter() - began,
        "trace": path.trace,
    }
    return Solution((path.coef.T, path.intercept), path.status, stats)


class _Search:
    """One target with everything that the rounds share."""

    def __init__(self, task: Task, options: Options, strengths: Array, gram: bool | Array | None) -> None:
        part, loss = separable(task.objective.regularizer), task.objective.loss
        assert part is not None
        assert isinstance(loss, Squared)
        self.double = 2.0 * loss.factor  # here the loss is half the squared residual
        self.l1, self.l2, self.positive = part.l1 / self.double, part.l2 / self.double, part.positive
        self.options, self.strengths, self.tol = options, strengths, options.tol
        self.columns = CentredColumns.of(task.design, task.weights, task.objective.fit_intercept)
        y = np.asarray(task.y, dtype=float)
        self.target, self.centre = self.columns.target(y)
        self.null = 0.5 * float(self.target @ self.target)
        self.stated = self.double / task.unit  # from values here to those of the task
        self.rng = None if options.random_state is None else np.random.default_rng(options.random_state)
        n, d = self.columns.shape
        self.correlation = self.columns.correlate(self.target)  # of the current residual, for choosing columns
        self.active = Active()
        self.cut = False  # whether columns that should have joined the working set were left for the next look
        self.set: WorkingSet
        self.thin = False  # whether sweeps over sparse columns cost less than any Gram matrix
        if isinstance(gram, np.ndarray):
            self.set = FullSet.of(self.columns, gram)
        else:
            whole = (is_tall(n, d) and not self._few()) if gram is None else (gram and d <= _CAP)
            self.thin = not whole and gram is None and self.columns.thin
            self.set = (full_set(self.columns, y) if whole else None) or WorkingSet(self.columns)
        self.method = "coordinate descent, Gram" if self.set.whole else "coordinate descent, working set"

    # -- strengths -----------------------------------------------------------------------------------
    def penalty(self, strength: float, scale: Array) -> Penalty:
        return Penalty(strength * self.l1 / scale, strength * self.l2 / scale**2, self.positive)

    def _few(self) -> bool:
        """Whether so few columns will be used that the Gram matrix of all of them would be the larger work."""
        top = float(np.max(self.reach(self.correlation), initial=0.0))
        d = self.columns.shape[1]
        return d >= _NARROW and self.l1 * float(np.min(self.strengths)) >= _STRONG / d * top

    def reach(self, Q: Array) -> Array:
        return np.maximum(Q, 0.0) if self.positive else np.abs(Q)

    # -- the path ------------------------------------------------------------------------------------
    def run(self, start: Array | None) -> Path:
        options, strengths = self.options, self.strengths
        d, k = self.columns.shape[1], len(strengths)
        path = Path(np.zeros((d, k)), np.zeros(k), np.zeros(k), np.ones(k), np.zeros(k, dtype=int), "converged", 0.0)
        path.null = self.null
        end = None if options.time_budget is None else time.perf_counter() + options.time_budget
        if self.thin:
            return self._centred(self._along(path, start, end))
        state = self._first(start)
        blocks = _blocks(strengths, self._width())
        if start is None and not self.set.whole and k:
            state = self._approach(state, float(strengths[0]))
        for block in blocks:
            left = None if end is None else max(end - time.perf_counter(), 1e-9)
            run = self._block(strengths[block], state, left)
            done: _Round = run.state
            state = done.states[-1]
            self.correlation = done.correlations[:, -1]
            for i, at in enumerate(block):
                path.coef[:, at] = self.set.raw(done.states[i].w)
            path.gaps[block], path.scales[block], path.rounds[block] = done.gaps, done.scales, run.n_iter
            path.trace = path.trace + run.trace
            exhausted = self._exhausted(done)
            if run.status != "converged" and not exhausted:
                path.status = run.status
            if exhausted:
                for at in block:
                    self._residual(path, at, self.tol, None if end is None else max(end - time.perf_counter(), 1e-9))
                state = self._first(path.coef[:, block[-1]])
        return self._centred(path)

    def _centred(self, path: Path) -> Path:
        """With the offsets."""
        mean = self.columns.mean
        if mean is not None:
            path.intercept = self.centre - mean @ path.coef
        return path

    def _width(self) -> int:
        n = self.columns.shape[0]
        return int(np.clip(20_000_000 // max(n, 1), 1, 32)) if self.set.whole else _BLOCK

    def _first(self, start: Array | None) -> GramState:
        """The state at given coefficients (or zero), with their columns in the working set."""
        if start is None:  # the residual is the target, whose correlations are known
            q = self.correlation[self.set.which] / self.set.scale
            return GramState(np.zeros(self.set.size), q, float(self.target @ self.target))
        if np.any(start):
            self.set.include(np.flatnonzero(start))
            w = self.set.scaled(np.asarray(start, dtype=float))
        else:
            w = np.zeros(self.set.size)
        r = self.target - self.set.product(w)
        if np.any(w) and not self.set.whole:  # columns that join later are correlated with this residual
            self.correlation = self.columns.correlate(r)
        return GramState(w, self.set.correlate(r), float(r @ r))

    def _approach(self, state: GramState, strength: float) -> GramState:
        """From zero towards a small strength by a few loosely solved steps, each with its own look at X."""
        top = float(np.max(self.reach(self.correlation), initial=0.0)) / self.l1
        if not np.isfinite(top / strength):
            raise ValueError(OVERFLOW)
        steps = int(np.ceil(np.log(max(top / strength, 1.0)) / -np.log(_CONTINUE))) - 1
        for a in np.geomspace(top, strength, min(steps, _STEPS) + 2)[1:-1] if steps > 0 else []:
            state = self._widen(state, float(a))
            self._inner(state, float(a), _ROUGH, loose=True)
            r = self.target - self.set.product(state.w)
            self.correlation = self.columns.correlate(r)
            state = GramState(state.w, self.set.correlate(r), float(r @ r))
            if self.set.size > _CAP // 2:
                break
        return state

    def _widen(self, state: GramState, strength: float) -> GramState:
        """Add the columns whose correlation is near the level that counts (a strong rule, cut to a sane number)."""
        if self.set.whole:
            return state
        reach = self.reach(self.correlation)
        limit = int(max(100, _GROWTH * np.count_nonzero(state.w)))
        wanted = self.set.missing(np.flatnonzero(reach >= 0.9 * self.l1 * strength))
        self.cut = len(wanted) > limit
        if self.cut:
            wanted = wanted[np.argpartition(-reach[wanted], limit)[:limit]]
        return self._include(state, np.sort(wanted))

    def _include(self, state: GramState, which: Array) -> GramState:
        room = _CAP - self.set.size
        which = which[: max(room, 0)]
        if len(which) == 0:
            return state
        self.set.include(which)
        extra = self.correlation[which] / self.set.scale[-len(which) :]
        return GramState(np.concatenate([state.w, np.zeros(len(which))]), np.concatenate([state.q, extra]), state.r2)

    def _exhausted(self, done: _Round) -> bool:
        return self.set.size >= _CAP and not done.gap <= self.tol and not self.set.whole

    # -- one block ------------------------------------------------------------------------------------
    def _block(self, strengths: Array, state: GramState, left: float | None) -> DriveEnd:
        state = self._widen(state, float(strengths[-1]) if len(strengths) > 1 else float(strengths[0]))
        states, sweeps = [], 0
        single = len(strengths) == 1
        rough = self._rough(state, _ROUGH) if single else 0.0
        for a in strengths:
            state = state.copy()
            sweeps += self._inner(state, float(a), max(_INNER * self.tol, rough), jump=single, loose=rough > 0.0)
            states.append(state)
        first = self._look(strengths, states, sweeps)

        def advance(at: _Round) -> _Round:
            return self._again(strengths, at)

        def finished(before: _Round, after: _Round) -> bool:
            return after.gap <= self.tol or self._stuck(before, after)

        trace = self.options.trace
        if first.gap <= self.tol:
            run = drive(first, lambda s: s, lambda a, b: True, 1, left, trace)
        else:
            run = drive(first, advance, finished, self.options.limit(1000), left, trace)
        return run if run.state.gap <= self.tol or run.status != "converged" else _as_stuck(run)

    def _stuck(self, before: _Round, after: _Round) -> bool:
        """Nothing new to add and no progress: rounding allows no more."""
        level = after.objective >= before.objective * (1.0 - 1e-13)
        return after.step == before.step and after.gap >= 0.99 * before.gap and level

    def _inner(self, state: GramState, strength: float, share: float, jump: bool = False, loose: bool = False) -> int:
        """Solve on the working set to this fraction of the null model (all columns at hand: exactly)."""
        share = min(share, _EXACT) if self.set.whole else share
        penalty = self.penalty(strength, self.set.scale)
        return descend_gram(
            self.set.gram, state, penalty, share * self.null, 2.5 * share, self.active, self.rng, jump, loose
        )

    def _rough(self, state: GramState, share: float) -> float:
        """How exact a solve must be that only serves to choose columns: its error shall be small beside the residual.

        0 where the next solve is no such one, or so many columns are used that the residual hangs on each of them.
        """
        if not self.cut or 2 * np.count_nonzero(state.w) > self.columns.shape[0]:
            return 0.0
        return min(share, _BESIDE * 0.5 * state.r2 / self.null)

    def _again(self, strengths: Array, at: _Round) -> _Round:
        """Add what violates, and solve again those strengths that are not there yet."""
        open_ = np.flatnonzero(at.gaps > self.tol * self.null)
        states = list(at.states)
        if not self.set.whole:
            which = self._violators(strengths, at, open_)
            if len(which):
                self.set.include(which)
                scale = self.set.scale[-len(which) :]
                for b, s in enumerate(states):
                    q = np.concatenate([s.q, at.correlations[which, b] / scale])
                    states[b] = GramState(np.concatenate([s.w, np.zeros(len(which))]), q, s.r2)
        states = [s.copy() for s in states]
        sweeps, grown = at.sweeps, self.set.size - at.step
        for b in open_.tolist():
            rough = self._rough(states[b], 0.1 * at.gap) if len(states) == 1 else 0.0
            share, jump = max(0.1 * _INNER * self.tol, rough), grown > 0.2 * at.step
            sweeps += self._inner(states[b], float(strengths[b]), share, jump, loose=rough > 0.0)
        return self._look(strengths, states, sweeps)

    def _violators(self, strengths: Array, at: _Round, open_: Array) -> Array:
        levels = self.l1 * strengths[open_]
        share = np.max(self.reach(at.correlations[:, open_]) / levels, axis=1)
        which = self.set.missing(np.flatnonzero(share > 1.0))
        near = self.set.missing(np.flatnonzero((share > 0.95) & (share <= 1.0)))
        limit = max(200, self.set.size)
        self.cut = len(which) > limit
        if self.cut:
            which = which[np.argpartition(-share[which], limit)[:limit]]
        elif len(near):
            order = np.argsort(-share[near])[: max(50, len(which))]
            which = np.concatenate([which, near[order]])
        return np.sort(which)[: max(_CAP - self.set.size, 0)]

    def _look(self, strengths: Array, states: list[GramState], sweeps: int) -> _Round:
        """True residuals, correlations with every column, and the gaps they prove."""
        W = np.stack([s.w for s in states], axis=1)
        R = self.target[:, None] - self.set.product(W)
        Q = self.columns.correlate(R)
        q = self.set.restrict(Q, R)
        gaps, scales, objectives = np.empty(len(strengths)), np.empty(len(strengths)), np.empty(len(strengths))
        everything = np.ones(self.columns.shape[1])
        fresh = []
        for b, a in enumerate(strengths):
            r2 = float(R[:, b] @ R[:, b])
            w = self.set.raw(states[b].w)
            penalty = self.penalty(float(a), everything)
            gaps[b], scales[b] = penalty.gap(w, Q[:, b], r2)
            objectives[b] = 0.5 * r2 + penalty.value(w)
            fresh.append(GramState(states[b].w, np.ascontiguousarray(q[:, b]), r2))
        share = float(np.max(gaps)) / self.null if self.null > 0 else 0.0
        objective = float(np.max(objectives)) * self.stated
        return _Round(objective, share, float(self.set.size), fresh, gaps, Q, scales, sweeps)

    # -- without a Gram matrix ---------------------------------------------------------------------------
    def _residual(self, path: Path, at: int, tol: float, left: float | None) -> None:
        """Finish one strength in residual form."""
        self.method = "coordinate descent, residual"
        penalty = self.penalty(float(self.strengths[at]), np.ones(self.columns.shape[1]))
        options = replace(self.options, time_budget=left, max_iter=None)
        run = descend_residual(self.columns, self.target, path.coef[:, at], penalty, tol * self.null, options)
        found: Descended = run.state
        path.coef[:, at], path.gaps[at], path.scales[at] = found.w, found.gap, found.scale
        path.rounds[at] += max(1, run.n_iter)
        rows = [r._replace(objective=r.objective * self.stated, gap=r.gap / self.null) for r in run.trace]
        path.trace = path.trace + Trace(rows)
        if found.gap > self.tol * self.null:
            path.status = run.status

    def _along(self, path: Path, start: Array | None, end: float | None) -> Path:
        """All strengths in residual form, each from where the one before it ended."""
        before = np.zeros(len(path.coef)) if start is None else np.asarray(start, dtype=float)
        tol = self.tol * (_DEEPER if len(self.strengths) == 1 else 1.0)
        for at in range(len(self.strengths)):
            path.coef[:, at] = before
            self._residual(path, at, tol, None if end is None else max(end - time.perf_counter(), 1e-9))
            before = path.coef[:, at]
        return path


def is_tall(n: int, d: int) -> bool:
    """Whether one Gram matrix of all columns serves the fit, which is then exact up to rounding."""
    return d <= _FULL and n >= 2 * d


def _as_stuck(run: DriveEnd) -> DriveEnd:
    return DriveEnd(run.state, "precision", run.n_iter, run.seconds, run.trace)


def _blocks(strengths: Array, width: int) -> list[Array]:
    """Consecutive strengths, at most ``width`` at a time and spanning no more than a factor of two."""
    blocks: list[list[int]] = []
    for i, a in enumerate(strengths):
        if blocks and len(blocks[-1]) < width and 0.5 <= a / strengths[blocks[-1][0]] <= 2.0:
            blocks[-1].append(i)
        else:
            blocks.append([i])
    return [np.array(b) for b in blocks]
