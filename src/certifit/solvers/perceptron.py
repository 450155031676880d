"""The perceptron: passes over the rows, a step at every mistake.

s(w·x + b) ≤ 0 is a mistake; then w ← w + ηsx, b ← b + ηs. Without a penalty a pass without mistakes is the end,
and a state (w, b) that comes back at the end of a pass, with the rows always in the same order, will come back for
ever: the period is noticed and reported.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse

from certifit._errors import DivergenceError
from certifit._types import Array

OnPass = Callable[[int, Array, Array], None]
"""Called after each pass with its number, the order of its rows, and the positions of its mistakes."""


@dataclass(frozen=True)
class Plan:
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


@dataclass
class Run:
    """Outcome: weights, offset, passes made, mistakes per row, and why it ended."""

    w: Array
    b: float
    times: Array
    passes: int = 0
    status: str = "passes used up"
    period: int = 0  # passes after which the state repeats; 0 when it was not seen to
    records: list[tuple[int, float]] = field(default_factory=list)  # mistakes and mean loss of each pass

    @property
    def mistakes(self) -> int:
        return int(self.times.sum())


class _Stop:
    """scikit-learn's rule: the loss (or validation score) must improve by tol once in so many passes."""

    def __init__(self, plan: Plan, rows: int) -> None:
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


def run_perceptron(X: Any, s: Array, w: Array, b: float, plan: Plan, on_pass: OnPass | None = None) -> Run:
    """Make passes over (X, s) from the start (w, b) until one of the reasons in `Plan` to stop.

    Examples
    --------
    >>> X, s = np.array([[1.0, 2.0], [2.0, -1.0], [-1.0, -1.0]]), np.array([1.0, -1.0, -1.0])
    >>> r = run_perceptron(X, s, np.zeros(2), 0.0, Plan(shuffle=False))
    >>> r.w.tolist(), r.mistakes, r.status
    ([-1.0, 3.0], 2, 'a pass without mistakes')
    """
    from certifit.loops import perceptron as loops  # compiled code loads on first use

    n = X.shape[0]
    run = Run(np.array(w, dtype=float), float(b), np.zeros(n, dtype=np.int64))
    order, log = np.arange(n), np.empty(n, dtype=np.int64)
    train = n if plan.validation is None else int(np.sum(~plan.validation))
    stop, returning = _Stop(plan, train), _Returning()
    begun = time.perf_counter()
    for _ in range(plan.max_iter):
        if plan.shuffle:
            loops.shuffle(order, plan.seed)
        todo = order if plan.validation is None else order[~plan.validation[order]]
        mistakes, run.b, loss = _one_pass(X, s, todo, run, plan, log)
        if not (np.isfinite(run.b) and np.all(np.isfinite(run.w))):
            raise DivergenceError(
                "The perceptron's weights left the finite numbers: scale the columns of X or lower eta0."
            )
        rows = todo[log[:mistakes]]
        run.times[rows] += 1
        run.passes += 1
        run.records.append((int(mistakes), float(loss) / max(train, 1)))
        if on_pass is not None:
            on_pass(run.passes, todo, log[:mistakes].copy())
        if mistakes == 0 and plan.alpha == 0.0:
            run.status = "a pass without mistakes"
            break
        if stop(loss, None if plan.validation is None else _score(X, s, run, plan.validation)):
            run.status = "no improvement"
            break
        if plan.time_budget is not None and time.perf_counter() - begun > plan.time_budget:
            run.status = "time used up"
            break
        if not plan.shuffle and not run.period:
            run.period = returning.period(run.w, run.b)
    if run.period:
        run.status = "it repeats itself"
    return run


def _one_pass(X: Any, s: Array, order: Array, run: Run, plan: Plan, log: Array) -> tuple[int, float, float]:
    from certifit.loops import perceptron as loops

    steps = (plan.up, plan.down, plan.fit_intercept, log)
    shrink = max(0.0, 1.0 - plan.eta0 * plan.alpha)
    if scipy.sparse.issparse(X):
        return loops.sparse_pass(X.data, X.indices, X.indptr, s, order, run.w, run.b, *steps, shrink, plan.alpha)
    if plan.alpha > 0.0:
        return loops.shrinking_pass(X, s, order, run.w, run.b, *steps, shrink, plan.alpha)
    return loops.dense_pass(X, s, order, run.w, run.b, *steps)


def _score(X: Any, s: Array, run: Run, rows: Array) -> float:
    """Accuracy on the rows kept aside."""
    return float(np.mean(np.where(X[rows] @ run.w + run.b > 0, 1.0, -1.0) == s[rows]))
