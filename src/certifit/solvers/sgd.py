"""Stochastic gradient descent with averaging."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from certifit._types import Array
from certifit.design import Coordinates
from certifit.losses import Squared
from certifit.solvers._driver import drive
from certifit.solvers._separable import separable
from certifit.solvers._solution import Solution
from certifit.solvers._task import Options, Task


@dataclass(frozen=True)
class _Pass:
    w: Array
    b: float
    average: Array
    average_b: float
    count: float
    objective: float  # of the averages, as is the gap
    gap: float
    step: float


class _Passes:
    """The mean objective in centred and scaled columns, one row at a time."""

    def __init__(self, task: Task, step: float | None, random_state: int | np.random.Generator | None) -> None:
        self.task, objective = task, task.objective
        n, d = task.design.shape
        self.columns = Coordinates.of(task.design, task.s, objective.fit_intercept)
        self.A = np.ascontiguousarray(self.columns.rows(slice(None))[:, :d])
        part = separable(objective.regularizer)
        assert part is not None
        lam, unit = objective.strength / n, self.columns.unit
        self.l1, self.l2, self.centre = lam * part.l1 / unit, lam * part.l2 / unit**2, part.centre(d) * unit
        self.step = self._first_step() if step is None else step
        self.decay = 0.5 * float(self.l2.min()) if d and objective.loss.smooth else 0.0
        self.rng = np.random.default_rng(random_state)

    def _first_step(self) -> float:
        """From the curvature and the length of rows; for kinks, from the spread of the targets."""
        loss, y = self.task.objective.loss, self.task.y
        bound, length = loss.curvature_bound, float(np.max(np.einsum("ij,ij->i", self.A, self.A))) + 1.0
        eta = 1.0 / (length * (bound if np.isfinite(bound) else 1.0))
        if not np.isfinite(bound) and loss.targets == "real":
            eta *= max(float(np.mean(np.abs(y - np.median(y)))) * np.sqrt(length), 1e-300)
        return eta

    def raw(self, w: Array, b: float) -> tuple[Array, float]:
        theta = np.append(w, b) if self.columns.fit_intercept else w
        W, offset = self.columns.raw(theta[:, None])
        return W[0], float(offset[0])

    def judged(self, w: Array, b: float) -> tuple[float, float]:
        """The objective and its proved gap."""
        full, at = self.raw(w, b)
        with np.errstate(over="ignore", invalid="ignore"):
            value = self.task.value(full, at)
            floor = self.task.bound(full, self.task.best_intercept(full))
        return value, value - floor if np.isfinite(floor) else np.inf

    def first(self) -> _Pass:
        zero = np.zeros(self.A.shape[1])
        b = self.task.best_intercept(zero)
        return _Pass(zero, b, zero, b, 0.0, *self.judged(zero, b), self.step)

    def advance(self, s: _Pass) -> _Pass:
        from certifit.loops.sgd import sgd_pass  # compiled code loads on first use

        w, average, loss, n = s.w.copy(), s.average.copy(), self.task.objective.loss, len(self.A)
        b, average_b, count = sgd_pass(
            self.A, self.task.y, self.rng.permutation(n), loss.sgd_code,
            loss.factor if isinstance(loss, Squared) else 1.0, w, s.b, average, s.average_b, self.l1, self.l2,
            self.centre, self.columns.fit_intercept, self.step, self.decay, s.count, float(n),
        )  # fmt: skip
        slower = 1.0 + self.decay * self.step * count if self.decay > 0 else np.sqrt(1.0 + count)
        return _Pass(w, b, average, average_b, count, *self.judged(average, average_b), self.step / slower)


def sgd(task: Task, options: Options, step: float | None = None) -> Solution:
    r"""Minimise F one row at a time; the answer is the average of the iterates (Polyak and Juditsky 1992).

    Rows, which have no weights, are drawn without replacement in each pass; a step follows the slope of one row's loss
    and then the prox of the penalty. Columns are centred and scaled inside; the first step comes from the curvature and
    the length of rows unless it is given. Stops when the gap of the averaged iterate is at most tol times the null
    model, else after ``max_iter`` passes; SGD is cheap at the start and slow at the end, and the certificate tells how
    far it came.

    Examples
    --------
    >>> from certifit.design import as_design
    >>> from certifit._objective import Objective
    >>> from certifit.regularizers import SquaredL2
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.5])
    >>> task = Task(Objective(Squared(), SquaredL2(), 0.3), as_design(X), y)
    >>> found = sgd(task, Options(tol=1e-3, max_iter=2000, random_state=0))
    >>> found.status, round(float(found.value[0][0]), 1)
    ('converged', 2.0)
    """
    passes = _Passes(task, step, options.random_state)
    first = passes.first()
    null = max(first.objective, 1e-300)
    run = drive(
        first,
        passes.advance,
        lambda before, after: after.gap <= options.tol * null,
        options.limit(1000),
        options.time_budget,
        options.trace,
    )
    stats = {**run.stats, "method": "sgd", "gap": run.state.gap, "relative_gap": run.state.gap / null}
    return Solution(passes.raw(run.state.average, run.state.average_b), run.status, stats)
