r"""Smooth losses with an elastic mix of norms: which start, which stopping point, which of Newton's methods.

.. math:: \min_{W,b}\ \sum_i s_i\,L(Wx_i + b + o_i, y_i)
          + \Lambda\big(\rho\lVert W\rVert_1 + \tfrac{1-\rho}2\lVert W - W_0\rVert^2\big)

Logistic and softmax regression and generalized linear models are this problem; W has one row, or one for each class.
"""

from __future__ import annotations

import numpy as np

from certifit._types import Array
from certifit.losses import Logistic, Softmax
from certifit.parallel import one_thread
from certifit.solvers._separable import separable
from certifit.solvers._smooth_sum import SmoothSum, l1_weights
from certifit.solvers._solution import Solution
from certifit.solvers._task import Options, Task
from certifit.solvers.existence import near_optimum
from certifit.solvers.newton import minimise
from certifit.solvers.proximal_newton import minimise_l1


def solve_smooth(
    task: Task,
    options: Options,
    start: tuple[Array, Array] | None = None,
    *,
    null: float | None = None,
    ask_existence: bool = False,
    witness: bool = False,
) -> Solution:
    """Fit a smooth loss with a penalty of norms (l1, squared l2, or a mix); ``value`` = (W (K, d), b (K,)).

    ``tol`` is the fraction of the null model's loss that may be left to gain; ``null`` is that loss (as the objective
    is stated), where the caller knows. Without a penalty, ``ask_existence`` asks whether an optimum surely exists:
    ``stats["exists"]`` is then True, False, or None where that was too much work. With ``witness``,
    ``stats["witness"]`` is a (W, b) whose slopes prove a gap about as small as that of the fit.

    Examples
    --------
    >>> from certifit.design import as_design
    >>> from certifit._objective import Objective
    >>> from certifit.regularizers import SquaredL2
    >>> X, y = np.array([[-1.0], [0.5], [-0.2], [2.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> found = solve_smooth(Task(Objective(Logistic(), SquaredL2(0.5), 0.4), as_design(X), y), Options(tol=1e-12))
    >>> found.status, found.value[0].round(4)
    ('converged', array([[0.7682]]))
    """
    with one_thread():  # what is large runs on threads of its own, beside which those of a BLAS would go on spinning
        return _solve(task, options, start, null, ask_existence, witness)


def _solve(
    task: Task,
    options: Options,
    start: tuple[Array, Array] | None,
    null: float | None,
    ask_existence: bool,
    witness: bool,
) -> Solution:
    objective, part = task.objective, separable(task.objective.regularizer)
    assert part is not None
    f = SmoothSum.of(task)
    theta = f.columns.inward(*(_null_model(task) if start is None else start))
    null = null_value(task) if null is None else null
    target = options.tol * null
    if objective.strength * part.l1 > 0:
        # The gap of an l1 problem is of first order in the error, the model's promise of second, so far smaller.
        found = minimise_l1(f, l1_weights(task, f.columns), theta, target * min(options.tol, 1e-3), options)
        left = np.sqrt(found.stats["gap"] / null)
    else:
        found = minimise(f, theta, target, options, witness=witness)
        left = found.stats["gap"] / null
    stats = found.stats | {"target": target, "relative_gap": left}
    if ask_existence:
        stats["exists"] = True if objective.strength > 0 else near_optimum(f, found.value)
    if witness:
        stats["witness"] = f.columns.raw(stats.get("witness", found.value))
    return Solution(symmetric(task, *f.columns.raw(found.value)), found.status, stats)


def solve_newton(task: Task, options: Options) -> Solution:
    """`solve_smooth` for one score a row; ``value`` = (w, b)."""
    found = solve_smooth(task, options)
    return Solution((found.value[0][0], float(found.value[1][0])), found.status, found.stats)


def symmetric(task: Task, W: Array, b: Array) -> tuple[Array, Array]:
    """Equal shifts of all classes change nothing: take the symmetric one."""
    if len(W) == 1:
        return W, b
    W = W - W.mean(axis=0) if task.objective.strength == 0 else W
    return W, (b - b.mean() if task.objective.fit_intercept else b)


def _null_model(task: Task) -> tuple[Array, Array]:
    """W = 0 with the best offset; for class probabilities b = 0 is as good a start and costs nothing to find."""
    W, b = np.zeros((task.outputs, task.design.shape[1])), np.zeros(task.outputs)
    if not isinstance(task.objective.loss, (Logistic, Softmax)):
        b[0] = task.best_intercept(W[0])
    return W, b


def null_value(task: Task) -> float:
    """Loss of the null model, as the objective is stated; for labels the entropy of the class shares.

    Examples
    --------
    >>> from certifit.design import as_design
    >>> from certifit._objective import Objective
    >>> from certifit.regularizers import Zero
    >>> task = Task(Objective(Logistic(), Zero(), 0.0), as_design(np.zeros((4, 1))), np.array([-1.0, 1.0, 1.0, -1.0]))
    >>> round(null_value(task), 6)
    0.693147
    """
    loss = task.objective.loss
    if not isinstance(loss, (Logistic, Softmax)) or task.offset is not None:
        return task.null()
    total, per = task.total, task.total / task.unit
    outputs = max(task.outputs, 2)
    if not task.objective.fit_intercept:
        return per * float(np.log(outputs))
    if isinstance(loss, Softmax):
        share = np.bincount(task.y, task.s, outputs) / total
    else:
        share = np.array([task.s @ (task.y <= 0), task.s @ (task.y > 0)]) / total
    share = share[share > 0]
    return max(-per * float(share @ np.log(share)), 1e-300)
