"""Stochastic gradient descent with averaging."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from certifit._types import Array
from certifit.losses import Squared
from certifit.problem import Problem
from certifit.solvers._driver import drive
from certifit.solvers._separable import separable
from certifit.solvers._solution import Solution


@dataclass(frozen=True)
class _State:
    w: Array
    b: float
    average: Array
    average_b: float
    count: float
    objective: float
    gap: float
    step: float
    best: tuple[Array, float]


def sgd(
    problem: Problem,
    tol: float = 1e-4,
    max_iter: int = 200,
    time_budget: float | None = None,
    trace: bool = False,
    *,
    step: float | None = None,
    random_state: int | np.random.Generator | None = None,
) -> Solution:
    r"""Minimise J one row at a time; the answer is the average of the iterates (Polyak and Juditsky 1992).

    Rows are drawn without replacement in each pass; a step follows the slope of one row's loss and then the prox of
    the penalty. Columns are centred and scaled inside. Stops when the gap of the averaged iterate is at most tol times
    the null model, else after ``max_iter`` passes; SGD is cheap at the start and slow at the end, and the certificate
    tells how far it came.

    Parameters
    ----------
    problem : Problem
        Unweighted: the order of rows has no weights.
    tol : float > 0, default=1e-4
    max_iter : int ≥ 1, default=200
        Passes.
    time_budget : float, default=None
    trace : bool, default=False
    step : float, default=None
        First step; from the curvature and the length of rows when None.
    random_state : default=None

    Examples
    --------
    >>> from certifit.design import as_design
    >>> from certifit.losses import Squared
    >>> from certifit.regularizers import SquaredL2
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.5])
    >>> found = sgd(Problem(as_design(X), y, Squared(), SquaredL2(), 0.1, None, True), 1e-3, 2000, random_state=0)
    >>> found.status, round(float(found.value[0][0]), 1)
    ('converged', 2.0)
    """
    from certifit.loops.sgd import sgd_pass  # compiled code loads on first use

    part = separable(problem.regularizer)
    assert part is not None
    X, y = problem.design.dense(), problem.y
    n, d = X.shape
    mean = X.mean(axis=0) if problem.fit_intercept else np.zeros(d)
    A = X - mean
    size = np.sqrt(np.mean(A * A, axis=0))
    scale = np.where(size > 0, size, 1.0)
    A = np.ascontiguousarray(A / scale)
    l1, l2 = problem.lam * part.l1 / scale, problem.lam * part.l2 / scale**2
    centre = part.centre(d) * scale
    factor = problem.loss.factor if isinstance(problem.loss, Squared) else 1.0
    bound = problem.loss.curvature_bound
    length = float(np.max(np.einsum("ij,ij->i", A, A))) + 1.0
    eta = step if step is not None else 1.0 / (length * (bound if np.isfinite(bound) else 1.0))
    if step is None and not np.isfinite(bound) and problem.loss.targets == "real":
        eta *= max(float(np.mean(np.abs(y - np.median(y)))) * np.sqrt(length), 1e-300)
    decay = 0.5 * float(l2.min()) if d and problem.loss.smooth else 0.0
    rng = np.random.default_rng(random_state)
    code = problem.loss.sgd_code

    def raw(w: Array, b: float) -> tuple[Array, float]:
        full = w / scale
        return full, b - float(mean @ full) if problem.fit_intercept else 0.0

    def judged(w: Array, b: float) -> tuple[float, float]:
        full, at = raw(w, b)
        with np.errstate(over="ignore", invalid="ignore"):
            value = problem.objective(full, at)
            best = problem.best_intercept(full)
            floor = problem.dual_value(full, best) if problem.lam > 0 else -np.inf
        return value, value - floor if np.isfinite(floor) else np.inf

    def advance(s: _State) -> _State:
        w, average = s.w.copy(), s.average.copy()
        b, average_b, count = sgd_pass(
            A, y, rng.permutation(n), code, factor, w, s.b, average, s.average_b, l1, l2, centre,
            problem.fit_intercept, eta, decay, s.count, float(n),
        )  # fmt: skip
        value, gap = judged(average, average_b)
        best = (average, average_b) if value <= s.objective or s.count == 0 else s.best
        now = eta / (1.0 + decay * eta * count) if decay > 0 else eta / np.sqrt(1.0 + count)
        return _State(w, b, average, average_b, count, value, gap, now, best)

    zero = np.zeros(d)
    start_b = problem.best_intercept(zero) if problem.fit_intercept else 0.0
    value, gap = judged(zero, start_b)
    null = max(value, 1e-300)
    first = _State(zero, start_b, zero, start_b, 0.0, value, gap, eta, (zero, start_b))
    run = drive(first, advance, lambda before, after: after.gap <= tol * null, max_iter, time_budget, trace)
    stats = {**run.stats, "method": "sgd", "gap": run.state.gap, "relative_gap": run.state.gap / null}
    return Solution(raw(run.state.average, run.state.average_b), run.status, stats)
