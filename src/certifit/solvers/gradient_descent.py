"""Gradient descent with a fixed or decaying step, for any differentiable f."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from certifit._types import Array
from certifit.exceptions import DivergenceError
from certifit.solvers._driver import drive
from certifit.solvers._solution import Solution
from certifit.solvers._task import Options, Task

_PATIENCE = 5  # rises in a row after which a too large step is named


@dataclass(frozen=True)
class _Descent:
    theta: Array
    slope: Array
    objective: float
    step: float
    iteration: int
    rises: int
    curvature: float  # largest seen of (g₁−g₀)·(θ₁−θ₀)/‖θ₁−θ₀‖²: a lower bound on L
    gap: float
    foreseen: float = 0.0  # the fall that the slope before the step foretold


def gradient_descent(
    f: Callable[[Array], float],
    grad: Callable[[Array], Array],
    theta0: Array,
    step: float | str | Callable[[int], float] = 0.1,
    tol: float = 1e-8,
    *,
    max_iter: int = 10_000,
    time_budget: float | None = None,
    trace: bool = False,
    lower_bound: Callable[[Array], float] | None = None,
) -> Solution:
    r"""Minimise f by steps :math:`\theta_{t+1} = \theta_t - \eta_t \nabla f(\theta_t)` until |Δf| < tol.

    A small |Δf| does not prove that f is near its minimum; give ``lower_bound`` (a function of θ that never exceeds
    min f, such as a dual value) to stop by f − lower_bound ≤ tol instead, which does.

    For convex f whose gradient has Lipschitz constant L and a step η ≤ 1/L, f decreases at every step and
    :math:`f(\theta_t) - f^* \le \lVert\theta_0-\theta^*\rVert^2 / (2\eta t)`. A step above 2/L diverges: this is
    detected, and the error suggests the largest step that the gradients seen so far would allow.

    Parameters
    ----------
    f, grad : callable
        The function and its gradient.
    theta0 : array
        Start.
    step : float > 0, callable or "backtracking", default=0.1
        η, or a function of the iteration t = 1, 2, ... for decaying steps such as ``lambda t: 1 / t``; "backtracking"
        tries twice the last step and halves it until f falls by at least η‖∇f‖²/2 (no L is needed).
    tol : float ≥ 0, default=1e-8
    max_iter : int ≥ 1, default=10000
    time_budget : float, default=None
        Seconds.
    trace : bool, default=False
        Record objective, gap, step, θ and the decrease predicted by the gradient (η‖∇f‖²) of every iteration in
        ``solution.trace``; `certifit.plot.descent` draws it.
    lower_bound : callable, default=None

    Returns
    -------
    Solution
        ``value`` is θ; ``stats`` holds the objective, the number of iterations and the curvature seen.

    Raises
    ------
    DivergenceError
        When the step is too large.

    Examples
    --------
    >>> s = gradient_descent(lambda t: float(t @ t), lambda t: 2 * t, np.array([3.0]), step=0.25, tol=1e-12)
    >>> s.status, abs(float(s.value[0])) < 1e-5
    ('converged', True)
    """
    fixed = step if isinstance(step, (int, float)) else None
    if (fixed is None and not callable(step) and step != "backtracking") or (
        fixed is not None and not 0 < fixed < np.inf
    ):
        raise ValueError(f"step must be a positive number, a function or 'backtracking', got {step}.")
    if tol < 0:
        raise ValueError(f"tol must not be negative, got {tol}.")

    def gap(theta: Array, objective: float) -> float:
        return np.nan if lower_bound is None else objective - lower_bound(theta)

    def advance(s: _Descent) -> _Descent:
        t = s.iteration + 1
        eta = float(step(t)) if callable(step) else _fitting(f, s) if fixed is None else float(fixed)
        with np.errstate(over="ignore", invalid="ignore"):
            theta = s.theta - eta * s.slope
            objective = float(f(theta))
            slope = np.asarray(grad(theta), dtype=float)
            moved = theta - s.theta
            length = float(moved @ moved)
            bend = float((slope - s.slope) @ moved) / length if length > 0 else 0.0
        rises = s.rises + 1 if objective > s.objective else 0
        seen = max(s.curvature, bend) if np.isfinite(bend) else s.curvature
        if rises >= _PATIENCE and eta * seen > 2.0 and fixed is not None:
            raise DivergenceError(_too_large(eta, seen))
        foreseen = eta * float(s.slope @ s.slope)
        return _Descent(theta, slope, objective, eta, t, rises, seen, gap(theta, objective), foreseen)

    def finished(a: _Descent, b: _Descent) -> bool:
        return b.gap <= tol if lower_bound is not None else abs(b.objective - a.objective) < tol

    theta = np.atleast_1d(np.asarray(theta0, dtype=float)).copy()
    value = float(f(theta))
    if not np.isfinite(value):
        raise ValueError("f is not finite at theta0: start elsewhere.")
    first = _Descent(theta, np.asarray(grad(theta), dtype=float), value, 0.0, 0, 0, 0.0, gap(theta, value))
    events = lambda s: ({"theta": s.theta.copy(), "foreseen": s.foreseen},)  # noqa: E731
    run = drive(first, advance, finished, max_iter, time_budget, trace, events=events)
    if run.status == "diverged":
        raise DivergenceError(_too_large(run.state.step if fixed is None else float(fixed), run.state.curvature))
    stats = {**run.stats, "method": "gradient descent", "objective": run.state.objective}
    stats |= {"gap": run.state.gap, "curvature": run.state.curvature}
    return Solution(run.state.theta, run.status, stats)


def _fitting(f: Callable[[Array], float], s: _Descent) -> float:
    """Armijo's rule: the largest of 2η, η, η/2, … by which f falls at least half as far as its slope foretells."""
    eta, foretold = 2.0 * s.step if s.step > 0 else 1.0, float(s.slope @ s.slope)
    with np.errstate(over="ignore", invalid="ignore"):
        # A fall below the rounding of f cannot be seen: any step that small will do.
        while eta * foretold > 1e-16 * abs(s.objective):
            if float(f(s.theta - eta * s.slope)) <= s.objective - 0.5 * eta * foretold:
                break
            eta *= 0.5
    return eta


def _too_large(eta: float, curvature: float) -> str:
    if curvature * eta > 1e4:  # f is steeper the farther it went astray: what was seen there is no advice for the start
        return f"The step is too large and f rises: try η = {eta / 10:.3g}, or step='backtracking'."
    if curvature > 0:
        allowed = f"2/L = {2 / curvature:.3g}; try {1 / curvature:.3g}"
        return f"The step is too large and f rises: η = {eta:.3g} exceeds {allowed}."
    return f"f overflowed with step η = {eta:.3g}; try a smaller step."


def descend(task: Task, options: Options) -> Solution:
    """Gradient descent on F, stopped when the duality gap is at most tol of the null model (|ΔF| without a penalty).

    Without a step or a start of the user's, w descends with the step 1/L and the best offset for each w, on losses of
    bounded curvature. Otherwise θ = (w, b) descends as a whole from the start (zero), with the given step or, where
    none is given, by backtracking.

    Examples
    --------
    >>> from certifit.design import as_design
    >>> from certifit.losses import Squared
    >>> from certifit._objective import Objective
    >>> from certifit.regularizers import SquaredL2
    >>> task = Task(Objective(Squared(), SquaredL2(), 1.0), as_design(np.arange(3.0)[:, None]), np.array([1, 3, 5.5]))
    >>> descend(task, Options(tol=1e-12)).value[0].round(5)
    array([1.5])
    """
    objective, d = task.objective, task.design.shape[1]
    bounded = bool(np.isfinite(objective.loss.curvature_bound))
    if options.step is not None or options.start is not None or not bounded:
        return _descend_whole(task, options)
    smooth = (objective.loss.curvature_bound * _largest_eigenvalue(task) + objective.convexity) / task.unit

    # The offset is optimal for each w at hand: descent runs on w alone, on centred columns.
    def value(w: Array) -> float:
        return task.value(w, task.best_intercept(w))

    def slope(w: Array) -> Array:
        return task.slope(w, task.best_intercept(w)) + task.lam * objective.regularizer.gradient(w)

    found = _run(task, options, value, slope, np.zeros(d), 1.0 / smooth if smooth > 0 else 1.0)
    return Solution((found.value, task.best_intercept(found.value)), found.status, found.stats | {"smoothness": smooth})


def _descend_whole(task: Task, options: Options) -> Solution:
    """θ = (w, b) by θ − η∇J(θ), as it is done by hand."""
    objective, d = task.objective, task.design.shape[1]
    offset = objective.fit_intercept
    start = np.zeros(d + offset) if options.start is None else np.ravel(np.asarray(options.start, dtype=float))
    if start.shape != (d + offset,) or not np.all(np.isfinite(start)):
        parts = f"{d} coefficients and the offset" if offset else f"{d} coefficients"
        raise ValueError(f"start must contain {d + offset} finite numbers ({parts}); it has shape {start.shape}.")

    def parts_of(theta: Array) -> tuple[Array, float]:
        return (theta[:-1], float(theta[-1])) if offset else (theta, 0.0)

    def slope(theta: Array) -> Array:
        w, b = parts_of(theta)
        slopes = objective.slope(task.scores(w, b), task.y, task.s) / task.unit
        pull = task.design.product_t(slopes) + task.lam * objective.regularizer.gradient(w)
        return np.append(pull, slopes.sum()) if offset else pull

    step = "backtracking" if options.step is None else options.step
    found = _run(task, options, lambda t: task.value(*parts_of(t)), slope, start, step, d)
    return Solution(parts_of(found.value), found.status, found.stats)


def _run(
    task: Task,
    options: Options,
    value: Callable[[Array], float],
    slope: Callable[[Array], Array],
    start: Array,
    step: float | str,
    columns: int | None = None,
) -> Solution:
    """The descent, stopped by the dual bound at w (the first ``columns`` numbers of θ) where there is a penalty."""

    def bound(theta: Array) -> float:
        w = theta[:columns]
        return task.bound(w, task.best_intercept(w))

    return gradient_descent(
        value,
        slope,
        start,
        step,
        options.tol * task.null(),
        max_iter=options.limit(100_000),
        time_budget=options.time_budget,
        trace=options.trace,
        lower_bound=bound if task.objective.strength > 0 else None,
    )


def _largest_eigenvalue(task: Task) -> float:
    """A bound on λ_max of the centred XᵀSX: its trace for wide X, else the exact value."""
    design, d = task.design, task.design.shape[1]
    mean = design.column_means(task.weights) if task.objective.fit_intercept else np.zeros(d)
    if d > 2000:
        square = design.X.multiply(design.X) if design.is_sparse else design.X**2
        return float((square.T @ task.s).sum() - task.total * (mean @ mean))
    gram = design.gram(task.weights) - task.total * np.outer(mean, mean)
    return float(np.linalg.eigvalsh(gram)[-1] * (1 + 1e-10)) if d else 0.0
