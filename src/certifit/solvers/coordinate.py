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
from dataclasses import dataclass, field

import numpy as np

from certifit._trace import Trace
from certifit._types import Array
from certifit.design import Columns, Design
from certifit.parallel import one_thread
from certifit.solvers._driver import Run, drive
from certifit.solvers._gram_descent import Active, GramState, Penalty, descend_gram
from certifit.solvers._residual_descent import descend_residual
from certifit.solvers._solution import Solution
from certifit.solvers._working_set import FullSet, WorkingSet, full_set

_FULL = 4000  # columns up to which the whole Gram matrix may be formed
_NARROW = 300  # columns below which it always is, where rows abound
_STRONG = 6.0  # a strength above this share ÷ d of the largest useful one uses few columns
_CAP = 7000  # columns of the largest Gram matrix of a working set
_EXACT = 1e-9
_INNER = 0.2  # share of the tolerance granted to the work inside a working set
_BLOCK = 8  # strengths that share one product with X
_GROWTH = 0.7  # columns that may join before a solve, as a multiple of the support
_STEPS = 12  # and by at most so many of them
_ROUGH = 0.01  # gap (share of the null model) at which the steps of that approach end
_CONTINUE = 0.5  # a single small strength is approached by steps of at most this ratio


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
    design: Design,
    y: Array,
    strengths: Array,
    ratio: float = 1.0,
    weights: Array | None = None,
    *,
    fit_intercept: bool = True,
    positive: bool = False,
    tol: float = 1e-4,
    max_iter: int = 1000,
    start: Array | None = None,
    gram: bool | Array | None = None,
    random_state: int | np.random.Generator | None = None,
    time_budget: float | None = None,
    trace: bool = False,
) -> Solution:
    r"""Fit for each α of ``strengths`` (largest first is fastest), Λ₁ = αρS and Λ₂ = α(1−ρ)S with S = Σ sᵢ.

    Parameters
    ----------
    design : Design of shape (n, d)
    y : (n,) array
    strengths : (k,) array > 0
        α.
    ratio : float in (0, 1], default=1.0
        ρ; 1 is the lasso.
    weights : (n,) array, default=None
    fit_intercept, positive : bool
    tol : float > 0, default=1e-4
        Stop when the duality gap is at most tol times the objective of the null model.
    max_iter : int ≥ 1, default=1000
        Rounds (looks at all of X) per block of strengths; a handful is usual.
    start : (d,) array, default=None
        Coefficients to begin with.
    gram : bool or (d, d) array, default=None
        Whether to form the whole Gram matrix (of weighted, centred columns), or that matrix; None decides by size.
    random_state : default=None
        If given, coordinates are visited in random order.
    time_budget : float, default=None
        Seconds.
    trace : bool, default=False

    Returns
    -------
    Solution
        ``value`` = (coef (k, d), intercept (k,)); ``stats`` holds ``gap`` (of the mean objective, per strength),
        ``relative_gap``, ``dual_scale``, ``n_iter`` (rounds per strength) and ``method``.

    Examples
    --------
    >>> from certifit.design import as_design
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0.0, 1.0, 2.0, 3.0])
    >>> W = solve_coordinate(as_design(X), y, np.array([0.25])).value[0]
    >>> np.round(np.ravel(W), 6).tolist()
    [0.8]
    """
    began = time.perf_counter()
    if weights is not None and not np.all(weights > 0):
        keep = weights > 0
        design, y, weights = Design(design.X[keep]), y[keep], weights[keep]
    if weights is not None and np.all(weights == weights[0]):
        weights = None if weights[0] == 1.0 else weights
    task = _Task(Columns.of(design, weights, fit_intercept), y, ratio, positive, tol, random_state, gram, strengths)
    with one_thread():  # of the many small products; large ones run on threads of our own
        path = task.run(np.asarray(strengths, dtype=float), start, max_iter, time_budget, trace)
    total = task.columns.total
    stats = {
        "method": task.method,
        "gap": path.gaps / total,
        "relative_gap": path.gaps / path.null if path.null > 0 else np.zeros(len(path.gaps)),
        "dual_scale": path.scales,
        "n_iter": path.rounds,
        "seconds": time.perf_counter() - began,
        "trace": path.trace,
    }
    return Solution((path.coef.T, path.intercept), path.status, stats)


class _Task:
    """One target with everything that the rounds share."""

    def __init__(
        self,
        columns: Columns,
        y: Array,
        ratio: float,
        positive: bool,
        tol: float,
        random_state: int | np.random.Generator | None,
        gram: bool | Array | None,
        strengths: Array,
    ) -> None:
        self.columns, self.ratio, self.positive, self.tol = columns, ratio, positive, tol
        self.target, self.centre = columns.target(np.asarray(y, dtype=float))
        self.null = 0.5 * float(self.target @ self.target)
        self.rng = None if random_state is None else np.random.default_rng(random_state)
        n, d = columns.shape
        self.correlation = columns.correlate(self.target)  # of the current residual, for choosing columns
        self.active = Active()
        self.set: WorkingSet
        if isinstance(gram, np.ndarray):
            self.set = FullSet.of(columns, gram)
        else:
            whole = (is_tall(n, d) and not self._few(strengths)) if gram is None else (gram and d <= _CAP)
            self.set = (full_set(columns, y) if whole else None) or WorkingSet(columns)
        self.method = "coordinate descent, Gram" if self.set.whole else "coordinate descent, working set"

    # -- strengths -----------------------------------------------------------------------------------
    def penalty(self, alpha: float, scale: Array) -> Penalty:
        total = self.columns.total
        l1 = alpha * self.ratio * total / scale
        return Penalty(l1, alpha * (1.0 - self.ratio) * total / scale**2, self.positive)

    def _few(self, strengths: Array) -> bool:
        """Whether so few columns will be used that the Gram matrix of all of them would be the larger work."""
        top = float(np.max(self.reach(self.correlation), initial=0.0))
        d = self.columns.shape[1]
        return d >= _NARROW and self.level(float(np.min(strengths))) >= _STRONG / d * top

    def reach(self, Q: Array) -> Array:
        return np.maximum(Q, 0.0) if self.positive else np.abs(Q)

    def level(self, alpha: float) -> float:
        return alpha * self.ratio * self.columns.total

    # -- the path ------------------------------------------------------------------------------------
    def run(self, alphas: Array, start: Array | None, max_iter: int, time_budget: float | None, trace: bool) -> Path:
        d, k = self.columns.shape[1], len(alphas)
        path = Path(np.zeros((d, k)), np.zeros(k), np.zeros(k), np.ones(k), np.zeros(k, dtype=int), "converged", 0.0)
        path.null = self.null
        end = None if time_budget is None else time.perf_counter() + time_budget
        state = self._first(start)
        blocks = _blocks(alphas, self._width())
        if start is None and not self.set.whole and k:
            state = self._approach(state, float(alphas[0]))
        for block in blocks:
            left = None if end is None else max(end - time.perf_counter(), 1e-9)
            run = self._block(alphas[block], state, max_iter, left, trace)
            done: _Round = run.state
            state = done.states[-1]
            self.correlation = done.correlations[:, -1]
            for i, at in enumerate(block):
                path.coef[:, at] = self.set.raw(done.states[i].w)
            path.gaps[block], path.scales[block], path.rounds[block] = done.gaps, done.scales, run.n_iter
            path.trace = path.trace + run.trace
            if run.status != "converged":
                path.status = run.status
            if self._exhausted(done):
                self._residual(path, alphas, block, end)
                state = self._first(path.coef[:, block[-1]])
        mean = self.columns.mean
        if mean is not None:
            path.intercept = self.centre - mean @ path.coef
        return path

    def _width(self) -> int:
        n = self.columns.shape[0]
        return int(np.clip(20_000_000 // max(n, 1), 1, 32)) if self.set.whole else _BLOCK

    def _first(self, start: Array | None) -> GramState:
        """The state at given coefficients (or zero), with their columns in the working set."""
        if start is not None and np.any(start):
            self.set.include(np.flatnonzero(start))
            w = self.set.scaled(np.asarray(start, dtype=float))
        else:
            w = np.zeros(self.set.size)
        r = self.target - self.set.product(w)
        return GramState(w, self.set.correlate(r), float(r @ r))

    def _approach(self, state: GramState, alpha: float) -> GramState:
        """From zero towards a small strength by a few loosely solved steps, each with its own look at X."""
        top = float(np.max(self.reach(self.correlation), initial=0.0)) / (self.ratio * self.columns.total)
        steps = int(np.ceil(np.log(max(top / alpha, 1.0)) / -np.log(_CONTINUE))) - 1
        for a in np.geomspace(top, alpha, min(steps, _STEPS) + 2)[1:-1] if steps > 0 else []:
            state = self._widen(state, float(a))
            self._inner(state, float(a), _ROUGH, loose=True)
            r = self.target - self.set.product(state.w)
            self.correlation = self.columns.correlate(r)
            state = GramState(state.w, self.set.correlate(r), float(r @ r))
            if self.set.size > _CAP // 2:
                break
        return state

    def _widen(self, state: GramState, alpha: float) -> GramState:
        """Add the columns whose correlation is near the level that counts (a strong rule, cut to a sane number)."""
        if self.set.whole:
            return state
        reach = self.reach(self.correlation)
        limit = int(max(100, _GROWTH * np.count_nonzero(state.w)))
        wanted = self.set.missing(np.flatnonzero(reach >= 0.9 * self.level(alpha)))
        if len(wanted) > limit:
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
    def _block(self, alphas: Array, state: GramState, max_iter: int, left: float | None, trace: bool) -> Run:
        state = self._widen(state, float(alphas[-1]) if len(alphas) > 1 else float(alphas[0]))
        states, sweeps = [], 0
        for a in alphas:
            state = state.copy()
            sweeps += self._inner(state, float(a), _INNER * self.tol, jump=len(alphas) == 1)
            states.append(state)
        first = self._look(alphas, states, sweeps)

        def advance(at: _Round) -> _Round:
            return self._again(alphas, at)

        def finished(before: _Round, after: _Round) -> bool:
            return after.gap <= self.tol or self._stuck(before, after)

        if first.gap <= self.tol:
            run = drive(first, lambda s: s, lambda a, b: True, 1, left, trace)
        else:
            run = drive(first, advance, finished, max_iter, left, trace)
        return run if run.state.gap <= self.tol or run.status != "converged" else _as_stuck(run)

    def _stuck(self, before: _Round, after: _Round) -> bool:
        """Nothing new to add and no progress: rounding allows no more."""
        return after.step == before.step and after.gap >= 0.99 * before.gap and after.objective >= before.objective

    def _inner(self, state: GramState, alpha: float, share: float, jump: bool = False, loose: bool = False) -> int:
        """Solve on the working set to this share of the null model (all columns at hand: exactly, it costs little)."""
        share = min(share, _EXACT) if self.set.whole else share
        penalty = self.penalty(alpha, self.set.scale)
        return descend_gram(
            self.set.gram, state, penalty, share * self.null, 2.5 * share, self.active, self.rng, jump, loose
        )

    def _again(self, alphas: Array, at: _Round) -> _Round:
        """Add what violates, and solve again those strengths that are not there yet."""
        open_ = np.flatnonzero(at.gaps > self.tol * self.null)
        states = list(at.states)
        if not self.set.whole:
            which = self._violators(alphas, at, open_)
            if len(which):
                self.set.include(which)
                scale = self.set.scale[-len(which) :]
                for b, s in enumerate(states):
                    q = np.concatenate([s.q, at.correlations[which, b] / scale])
                    states[b] = GramState(np.concatenate([s.w, np.zeros(len(which))]), q, s.r2)
        states = [s.copy() for s in states]
        sweeps, grown = at.sweeps, self.set.size - at.step
        for b in open_.tolist():
            sweeps += self._inner(states[b], float(alphas[b]), 0.1 * _INNER * self.tol, jump=grown > 0.2 * at.step)
        return self._look(alphas, states, sweeps)

    def _violators(self, alphas: Array, at: _Round, open_: Array) -> Array:
        levels = np.array([self.level(float(a)) for a in alphas[open_]])
        share = np.max(self.reach(at.correlations[:, open_]) / levels, axis=1)
        which = self.set.missing(np.flatnonzero(share > 1.0))
        near = self.set.missing(np.flatnonzero((share > 0.95) & (share <= 1.0)))
        limit = max(200, self.set.size)
        if len(which) > limit:
            which = which[np.argpartition(-share[which], limit)[:limit]]
        elif len(near):
            order = np.argsort(-share[near])[: max(50, len(which))]
            which = np.concatenate([which, near[order]])
        return np.sort(which)[: max(_CAP - self.set.size, 0)]

    def _look(self, alphas: Array, states: list[GramState], sweeps: int) -> _Round:
        """True residuals, correlations with every column, and the gaps they prove."""
        W = np.stack([s.w for s in states], axis=1)
        R = self.target[:, None] - self.set.product(W)
        Q = self.columns.correlate(R)
        q = self.set.restrict(Q, R)
        gaps, scales, objectives = np.empty(len(alphas)), np.empty(len(alphas)), np.empty(len(alphas))
        everything = np.ones(self.columns.shape[1])
        fresh = []
        for b, a in enumerate(alphas):
            r2 = float(R[:, b] @ R[:, b])
            w = self.set.raw(states[b].w)
            penalty = self.penalty(float(a), everything)
            gaps[b], scales[b] = penalty.gap(w, Q[:, b], r2)
            objectives[b] = 0.5 * r2 + penalty.value(w)
            fresh.append(GramState(states[b].w, np.ascontiguousarray(q[:, b]), r2))
        share = float(np.max(gaps)) / self.null if self.null > 0 else 0.0
        objective = float(np.max(objectives)) / self.columns.total
        return _Round(objective, share, float(self.set.size), fresh, gaps, Q, scales, sweeps)

    # -- too many columns for a Gram matrix --------------------------------------------------------------
    def _residual(self, path: Path, alphas: Array, block: Array, end: float | None) -> None:
        """Finish a block whose working set outgrew the largest Gram matrix, in residual form."""
        self.method = "coordinate descent, residual"
        for at in block:
            penalty = self.penalty(float(alphas[at]), np.ones(self.columns.shape[1]))
            found = descend_residual(
                self.columns, self.target, path.coef[:, at], penalty, self.tol * self.null, self.rng, end
            )
            path.coef[:, at], path.gaps[at], path.scales[at] = found.w, found.gap, found.scale
            path.rounds[at] += found.rounds
            path.status = "converged" if found.gap <= self.tol * self.null else "max_iter"


def is_tall(n: int, d: int) -> bool:
    """Whether one Gram matrix of all columns serves the fit, which is then exact up to rounding."""
    return d <= _FULL and n >= 2 * d


def _as_stuck(run: Run) -> Run:
    return Run(run.state, "precision", run.n_iter, run.seconds, run.trace)


def _blocks(alphas: Array, width: int) -> list[Array]:
    """Consecutive strengths, at most ``width`` at a time and spanning no more than a factor of two."""
    blocks: list[list[int]] = []
    for i, a in enumerate(alphas):
        if blocks and len(blocks[-1]) < width and 0.5 <= a / alphas[blocks[-1][0]] <= 2.0:
            blocks[-1].append(i)
        else:
            blocks.append([i])
    return [np.array(b) for b in blocks]
