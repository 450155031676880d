r"""Logistic and softmax regression: which problem, which solver.

.. math:: \min_{W,b}\ \sum_i s_i\,L(Wx_i + b, y_i)
          + \Lambda\big(\rho\lVert W\rVert_1 + \tfrac{1-\rho}2\lVert W - W_0\rVert^2\big)

L is the logistic loss of −1/+1 for two classes (one row of W) and softmax otherwise.
"""

from __future__ import annotations

import numpy as np

from certifit._types import Array
from certifit.design import Coordinates, Design
from certifit.losses import Logistic, Softmax
from certifit.solvers._solution import Solution
from certifit.solvers.existence import near_optimum
from certifit.solvers.proximal_newton import minimise_l1
from certifit.solvers.smooth import Objective, minimise


def solve_logistic(
    design: Design,
    code: Array,
    outputs: int,
    weights: Array,
    *,
    strength: float,
    l1_ratio: float = 0.0,
    prior: Array | None = None,
    fit_intercept: bool = True,
    start: tuple[Array, Array] | None = None,
    tol: float = 1e-9,
    max_iter: int = 100,
    time_budget: float | None = None,
    trace: bool = False,
) -> Solution:
    """Fit class codes 0..K−1; ``value`` = (W (K or 1, d), b).

    Parameters
    ----------
    design : Design
    code : (n,) int array
    outputs : int
        Number of classes.
    weights : (n,) array
    strength : float ≥ 0
        Λ.
    l1_ratio : float in [0, 1]
    prior : (K or 1, d) array, default=None
    start : (W, b), default=None
        Where to begin.
    tol : float
        Stop within this share of what the null model pays.

    ``stats["exists"]`` says whether an optimum surely exists; None where that was too much work to see.
    """
    columns = Coordinates.of(design, weights, fit_intercept)
    objective = logistic_objective(columns, code, outputs, weights, strength * (1.0 - l1_ratio), prior)
    K = objective.outputs
    begin = np.zeros((columns.width, K)) if start is None else columns.inward(*start)
    target = tol * null_value(code, outputs, weights, fit_intercept)
    if strength * l1_ratio > 0:
        kappa = l1_weights(columns, strength * l1_ratio, K)
        # The gap of an l1 problem is of first order in the error, so the model's promise must be far smaller.
        solution = minimise_l1(objective, kappa, begin, target * min(tol, 1e-3), max_iter, time_budget, trace)
    else:
        solution = minimise(objective, begin, target, max_iter, time_budget, trace)
    exists = True if strength > 0 else near_optimum(objective, solution.value)
    W, b = symmetric(*columns.raw(solution.value), fit_intercept, strength)
    stats = {k: v for k, v in solution.stats.items() if k != "scores"}
    return Solution((W, b), solution.status, stats | {"target": target, "exists": exists})


def logistic_objective(
    columns: Coordinates, code: Array, outputs: int, weights: Array, ridge: float, prior: Array | None
) -> Objective:
    """The smooth part of the sum: one score for two classes, else one per class."""
    K, d, unit = 1 if outputs == 2 else outputs, columns.design.shape[1], columns.unit
    y = np.where(code == 1, 1.0, -1.0) if K == 1 else code
    centre = np.zeros((columns.width, K))
    if prior is not None:
        centre[:d] = (prior * unit).T
    pull = np.append(ridge / unit**2, np.zeros(columns.width - d))
    return Objective(columns, y, weights, Logistic() if K == 1 else Softmax(), pull, centre)


def l1_weights(columns: Coordinates, strength: float, outputs: int) -> Array:
    """Weights (p, K) of the absolute coordinates."""
    pad = np.zeros(columns.width - columns.design.shape[1])
    return np.repeat(np.append(strength / columns.unit, pad)[:, None], outputs, axis=1)


def symmetric(W: Array, b: Array, fit_intercept: bool, strength: float) -> tuple[Array, Array]:
    """Equal shifts of all classes change nothing: take the symmetric one."""
    if len(W) == 1:
        return W, b
    return (W - W.mean(axis=0) if strength == 0 else W), (b - b.mean() if fit_intercept else b)


def null_value(code: Array, outputs: int, weights: Array, fit_intercept: bool) -> float:
    """What the null model pays: the entropy of the class shares, or log K without an offset."""
    total = float(weights.sum())
    if not fit_intercept:
        return total * float(np.log(outputs))
    share = np.bincount(code, weights, outputs) / total
    share = share[share > 0]
    return max(-total * float(share @ np.log(share)), 1e-300)
