"""The perceptron: passes over the rows, a step at every mistake.

s(w·x + b) ≤ 0 is a mistake; then w ← w + ηsx, b ← b + ηs. Without a penalty a pass without mistakes is the end,
and a state (w, b) that comes back at the end of a pass, with the rows always in the same order, will come back for
ever: the period is noticed and reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from certifit._types import Array, Matrix
from certifit.exceptions import DivergenceError
from certifit.solvers._driver import drive
from certifit.solvers._solution import Solution


@dataclass(frozen=True)
class PassPlan:
    """How to go over the data; names and meanings are those of the estimator."""

    fit_intercept: bool = True
    max_iter: int = 1000
    tol: float | None = 1e-3
    n_iter_no_change: int = 5
    shuffle: bool = True
    seed: int = 1
    up: float = 1.0  # step at a mistake on a positive row
    down: float = 1.0  # step at a mistake on a negative row
    eta0: float = 1.0
    alpha: float = 0.0  # ridge penalty; none when zero
    time_budget: float | None = None
    validation: Array | None = None  # mask of rows kept aside

    @property
    def shrink(self) -> float:
        """What a row's visit multiplies the weights by."""
        return max(0.0, 1.0 - self.eta0 * self.alpha)


@dataclass(frozen=True)
class Pass:
    """The perceptron after a pass: weights, loss (its mean is the objective), order of rows, positions of mistakes.

    ``order`` and ``positions`` are overwritten by the next pass.
    """

    w: Array
    b: float
    loss: float
    objective: float
    step: float
    number: int
    order: Array
    positions: Array
    gap: float = np.nan

    @property
    def mistaken(self) -> Array:
        """The rows that were wrong, in the order of the visits."""
        return self.order[self.positions]


OnPass = Callable[[Pass], None]


@dataclass(frozen=True)
class Learned:
    """Weights, offset, times each row was wrong, passes made, and the period after which it repeats (0: none seen)."""

    w: Array
    b: float
    times: Array
    passes: int
    period: int = 0

    @property
    def mistakes(self) -> int:
        return int(self.times.sum())


class _Stop:
    """scikit-learn's rule: the loss (or validation score) must improve by tol once in so many passes."""

    def __init__(self, plan: PassPlan, rows: int) -> None:
        self.plan, self.rows = plan, rows
        self.best = np.inf if plan.validation is None else -np.inf
        self.idle = 0

    def __call__(self, loss: float, score: float | None) -> bool:
        if self.plan.tol is None:
            return False
        if score is None:
            poor = loss > self.best - self.plan.tol * self.rows
            self.best = min(self.best, loss)
        else:
            poor = score < self.best + self.plan.tol
            self.best = max(self.best, score)
        self.idle = self.idle + 1 if poor else 0
        return self.idle >= self.plan.n_iter_no_change


class _Returning:
    """Brent's search for a state that comes back, one comparison per pass."""

    def __init__(self) -> None:
        self.state: Array | None = None
        self.since, self.limit = 0, 1

    def period(self, w: Array, b: float) -> int:
        state = np.append(w, b)
        if self.state is not None and np.array_equal(state, self.state):
            return self.since + 1
        self.since += 1
        if self.state is None or self.since == self.limit:
            self.state, self.since, self.limit = state, 0, 2 * self.limit
        return 0


def run_perceptron(
    X: Matrix, s: Array, w: Array, b: float, plan: PassPlan, on_pass: OnPass | None = None, trace: bool = False
) -> Solution:
    """Make passes over (X, s) from the start (w, b) until one of the reasons in `Plan` to stop; ``value`` is `Learned`.

    The status is "converged" (a pass without mistakes), "no improvement", "max_iter", "time_budget" or "cycle". A trace
    has one row per mistake.

    Examples
    --------
    >>> X, s = np.array([[1.0, 2.0], [2.0, -1.0], [-1.0, -1.0]]), np.array([1.0, -1.0, -1.0])
    >>> r = run_perceptron(X, s, np.zeros(2), 0.0, PassPlan(shuffle=False))
    >>> r.value.w.tolist(), r.value.mistakes, r.status
    ([-1.0, 3.0], 2, 'converged')
    """
    walk = _Passes(X, s, plan, on_pass)
    none = np.zeros(0, dtype=np.int64)
    first = Pass(np.array(w, dtype=float), float(b), 0.0, 0.0, plan.eta0, 0, none, none)
    events = _mistakes(X, s, plan, first)
    run = drive(first, walk.advance, walk.finished, plan.max_iter, plan.time_budget, trace, events=events)
    if run.status == "diverged":
        raise DivergenceError("The perceptron's weights overflowed: scale the columns of X or lower eta0.")
    learned = Learned(run.state.w, run.state.b, walk.times, run.n_iter, walk.period)
    return Solution(learned, "cycle" if walk.period else run.status, run.stats | {"method": "perceptron"})


class _Passes:
    """Passes over the rows, and what ends them."""

    def __init__(self, X: Matrix, s: Array, plan: PassPlan, on_pass: OnPass | None) -> None:
        self.X, self.s, self.plan, self.on_pass = X, s, plan, on_pass
        n = X.shape[0]
        self.order, self.log, self.times = np.arange(n), np.empty(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        self.train = n if plan.validation is None else int(np.sum(~plan.validation))
        self.stop, self.returning, self.period = _Stop(plan, self.train), _Returning(), 0

    def advance(self, at: Pass) -> Pass:
        from certifit.loops import perceptron as loops  # compiled code loads on first use

        plan, w = self.plan, at.w.copy()
        if plan.shuffle:
            loops.shuffle(self.order, plan.seed)
        todo = self.order if plan.validation is None else self.order[~plan.validation[self.order]]
        mistakes, b, loss = _one_pass(self.X, self.s, todo, w, at.b, plan, self.log, self.times)
        if not (np.isfinite(b) and np.all(np.isfinite(w))):
            loss = np.inf
        mean = loss / max(self.train, 1)
        after = Pass(w, float(b), loss, mean, plan.eta0, at.number + 1, todo, self.log[:mistakes])
        if self.on_pass is not None:
            self.on_pass(after)
        return after

    def finished(self, before: Pass, after: Pass) -> str:
        if len(after.positions) == 0 and self.plan.alpha == 0.0:
            return "converged"
        kept = self.plan.validation
        score = None if kept is None else _accuracy(self.X[kept], self.s[kept], after)
        if self.stop(after.loss, score):
            return "no improvement"
        if not self.plan.shuffle and not self.period:
            self.period = self.returning.period(after.w, after.b)
        return ""


def _one_pass(
    X: Matrix, s: Array, order: Array, w: Array, b: float, plan: PassPlan, log: Array, times: Array
) -> tuple[int, float, float]:
    from certifit.loops import perceptron as loops

    steps = (plan.up, plan.down, plan.fit_intercept, log, times)
    found: tuple[int, float, float]
    if scipy.sparse.issparse(X):
        found = loops.sparse_pass(X.data, X.indices, X.indptr, s, order, w, b, *steps, plan.shrink, plan.alpha)
    elif plan.alpha > 0.0:
        found = loops.shrinking_pass(X, s, order, w, b, *steps, plan.shrink, plan.alpha)
    else:
        found = loops.dense_pass(X, s, order, w, b, *steps)
    return found


def _accuracy(X: Matrix, s: Array, at: Pass) -> float:
    return float(np.mean(np.where(X @ at.w + at.b > 0, 1.0, -1.0) == s))


def _mistakes(X: Matrix, s: Array, plan: PassPlan, first: Pass) -> Callable[[Pass], Iterator[dict[str, Any]]]:
    """The mistakes of each pass with the weights before and after, by walking the logged ones again."""
    begin, count = first, 0

    def rows(at: Pass) -> Iterator[dict[str, Any]]:
        nonlocal begin, count
        w, b, visited = begin.w, begin.b, 0
        for position, i in zip(at.positions, at.mistaken):
            x = X[[i]].toarray()[0] if scipy.sparse.issparse(X) else X[i]
            step = plan.up if s[i] > 0 else -plan.down
            w = w * plan.shrink ** float(position - visited)
            after, offset = plan.shrink * w + step * x, b + step * plan.fit_intercept
            count += 1
            yield {
                "iteration": count, "step": abs(step), "sweep": at.number, "row": int(i), "label": int(s[i]),
                "score": float(x @ w + b), "before": w, "after": after, "intercept_before": b,
                "intercept_after": offset,
            }  # fmt: skip
            w, b, visited = after, offset, int(position) + 1
        begin = at

    return rows
