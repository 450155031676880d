"""Problems whose minimum is known by hand, for every solver that can take them.

Where a penalty is smooth in Λ the trick is to choose the minimiser and read the strength off the equation
dF/dw = 0; the other minima are closed formulas.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from certifit._objective import Objective
from certifit.design import as_design
from certifit.losses import Absolute, Exponential, Hinge, Logistic, Loss, Poisson, Squared, SquaredHinge
from certifit.regularizers import L1, ElasticMix, NonNegative, PNorm, Regularizer, SquaredL2, Zero
from certifit.solvers import Options, Solution, Task
from certifit.solvers.choose import METHODS, Method


@dataclass(frozen=True)
class Known:
    """A task with its minimiser (w, b) and its minimum, as the objective states it (F/S)."""

    name: str
    task: Task
    w: np.ndarray
    b: float
    value: float


def _known(name: str, loss: Loss, penalty: Regularizer, strength: float, X, y, w, b, total: float) -> Known:
    X = np.asarray(X, dtype=float)
    task = Task(Objective(loss, penalty, strength), as_design(X), np.asarray(y, dtype=float))
    return Known(name, task, np.atleast_1d(np.asarray(w, dtype=float)), b, total / len(X))


# Three points: slope 4.5/2, mean 19/6, spread of y 61/6.
LINE = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.5])
# Eight rows at x = ±1: six agree with the sign of x, two do not.
SIDES = np.repeat([1.0, -1.0], 4)[:, None], np.array([1, 1, 1, -1, 1, -1, -1, -1.0])
# Columns that are orthogonal, centred and of length two; Xᵀy = 4ŵ.
CROSS = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]), np.array([3.0, -1.0])


def _line(name: str, factor: float, penalty: Regularizer, strength: float, w: float) -> Known:
    X, y = LINE
    fit = factor * (61 / 6 - 2 * w * 4.5 + 2 * w * w)
    total = fit + strength * float(penalty.value(np.array([w])))
    return _known(name, Squared(factor), penalty, strength, X, y, w, 19 / 6 - w, total)


def _sides(loss: Loss, penalty: Regularizer, w: float, strength: float | None = None) -> Known:
    """Minimised at b = 0 by symmetry; the strength makes w the minimiser where it is not given."""
    X, y = SIDES
    at, ones = np.array([w]), np.ones(1)
    slope = float((6 * loss.slope(at, ones) + 2 * loss.slope(at, -ones))[0])
    if strength is None:
        strength = -slope / (1.0 if isinstance(penalty, L1) else float(penalty.gradient(at)[0]))
    total = 6 * float(loss.value(at, ones)[0]) + 2 * float(loss.value(at, -ones)[0])
    total += strength * float(penalty.value(at))
    return _known(f"{loss.name} and {penalty.name}", loss, penalty, strength, X, y, w, 0.0, total)


def _cross() -> Known:
    """Squared loss with the length of w as penalty: n‖w − ŵ‖² + Λ‖w‖ shrinks ŵ along itself."""
    X, best = CROSS
    length, strength = float(np.linalg.norm(best)), 4.0
    w = best * (1 - strength / (8 * length))
    total = 4 * float(np.sum((w - best) ** 2)) + strength * float(np.linalg.norm(w))
    return _known("squared and length", Squared(), PNorm(2.0), strength, X, X @ best, w, 0.0, total)


PROBLEMS = [
    _line("least squares", 1.0, Zero(), 0.0, 2.25),
    _line("ridge", 1.0, SquaredL2(), 1.0, 1.5),
    _line("ridge towards 3", 1.0, SquaredL2(1.0, (3.0,)), 1.0, 2.5),
    _line("lasso", 0.5, L1(), 1.5, 1.5),
    _line("elastic net", 0.5, ElasticMix(0.5), 1.5, 3.75 / 2.75),
    _line("w ≥ 0", 1.0, NonNegative(SquaredL2()), 1.0, 1.5),
    _cross(),
    _sides(Logistic(), Zero(), np.log(3.0), 0.0),
    _sides(Logistic(), SquaredL2(0.5), 0.5),
    _sides(Logistic(), L1(), 0.5),
    _sides(Exponential(), Zero(), 0.5 * np.log(3.0), 0.0),
    _sides(Exponential(), SquaredL2(0.5), 0.25),
    _sides(SquaredHinge(), SquaredL2(0.5), 0.25),
    _sides(Hinge(), SquaredL2(0.5), 0.5, 8.0),
    _known("median", Absolute(), Zero(), 0.0, np.arange(5.0)[:, None], [0, 1, 2, 3, 90], 1.0, 0.0, 86.0),
    _known("median and l1", Absolute(), L1(), 2.0, SIDES[0], 3 * SIDES[0][:, 0], 3.0, 0.0, 6.0),
    _known("median and length", Absolute(), PNorm(2.0), 2.0, SIDES[0], 3 * SIDES[0][:, 0], 3.0, 0.0, 6.0),
]

POISSON = Known(
    "poisson in two groups",
    Task(Objective(Poisson(), Zero(), 0.0), as_design(np.array([[0.0], [0], [1], [1]])), np.array([1.0, 3, 5, 7])),
    np.array([np.log(3.0)]),
    np.log(2.0),
    float("nan"),
)
"""Both groups meet their means, 2 and 6."""

PAIRS = [
    (m, k) for k in PROBLEMS for m in METHODS if m.fits(k.task.objective.loss, k.task.objective.regularizer, False)
]
PAIR_NAMES = [f"{m.name}: {k.name}" for m, k in PAIRS]


def solve(method: Method, known: Known, tol: float = 1e-10) -> Solution:
    """By a method of the table, with limits that keep tests quick."""
    limit = {"sgd": 400, "proximal": 5000, "splitting": 20_000, "gradient_descent": 20_000}
    return method.run(known.task, Options(tol, limit.get(method.name), random_state=0))


def twice(task: Task, copies: np.ndarray) -> tuple[Task, Task]:
    """The same rows weighted by integers, and as so many copies."""
    rows = np.repeat(np.arange(len(task.y)), copies)
    again = replace(task, design=as_design(task.design.X[rows]), y=task.y[rows])
    return replace(task, weights=copies.astype(float)), again
