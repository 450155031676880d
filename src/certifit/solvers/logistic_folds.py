r"""Logistic and softmax regression on every fold and for every strength.

Which road: two classes with an l2 penalty move all together (`smooth_folds`). Softmax, sparse rows and folds that have
little in common start at the optimum for all rows and take its Hessian as their metric. An l1 part goes along the path
of each fold, strongest penalty first. Where a problem starts never matters: each ends when its own gap is small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from certifit._types import Array
from certifit.design import Coordinates, as_design
from certifit.losses import Logistic, Softmax
from certifit.objective import Objective
from certifit.regularizers import Zero, mix_of_norms
from certifit.solvers._smooth_sum import SmoothSum, l1_weights
from certifit.solvers._task import Options, Task
from certifit.solvers.newton import minimise, nearby_metric
from certifit.solvers.proximal_newton import minimise_l1
from certifit.solvers.smooth import null_value, solve_smooth, symmetric
from certifit.solvers.smooth_folds import smooth_folds

Coefficients = tuple[Array, Array]
_BORROWED = 1e-12
_PROVED = 1e-6  # gap of an l1 fit as a share of the null model: it is of first order in the error, and overstates it


@dataclass(frozen=True)
class FoldRows:
    """Rows and labels with the weights that each fold gives them.

    Attributes
    ----------
    X : (n, d) array or CSR matrix
    code : (n,) int array
        Classes 0..K−1.
    outputs : int
        K.
    folds : list of (train, test)
    weights : (n,) array or None
    factors : (folds, K) array
        Class weights in each fold.
    """

    X: Any
    code: Array
    outputs: int
    folds: Sequence[tuple[Array, Array]]
    weights: Array | None
    factors: Array

    def task(self, strength: float, l1_ratio: float, prior: Array | None, fit_intercept: bool) -> Task:
        """The sum over all rows, unweighted, for one strength Λ."""
        two, penalty = self.outputs == 2, mix_of_norms(l1_ratio, prior=prior) if strength > 0 else Zero()
        loss, classes = (Logistic(), None) if two else (Softmax(), tuple(range(self.outputs)))
        objective = Objective(loss, penalty, float(strength), fit_intercept, classes=classes, stated="sum")
        return Task(objective, as_design(self.X), np.where(self.code == 1, 1.0, -1.0) if two else self.code)

    def of_fold(self, j: int) -> Array:
        """Weights of all rows in fold j, zero for rows that it does not train on."""
        s = np.bincount(self.folds[j][0], minlength=len(self.code)) * self.factors[j][self.code]
        return s if self.weights is None else s * self.weights


def logistic_folds(
    rows: FoldRows,
    strengths: Array,
    l1_ratio: float = 0.0,
    *,
    fit_intercept: bool = True,
    prior: Array | None = None,
    tol: float = 1e-9,
) -> Coefficients | None:
    """Coefficients (folds, m, K or 1, d) and offsets for every strength; None where fits alone are the better road.

    Parameters
    ----------
    rows : FoldRows
    strengths : (m,) array ≥ 0
        Λ.
    l1_ratio : float in [0, 1]
    prior : (K or 1, d) array, default=None
    tol : float
        Stop within this share of the null model's loss.

    Examples
    --------
    >>> folds = [(np.arange(4), np.arange(4, 6)), (np.arange(2, 6), np.arange(2))]
    >>> code = np.array([0, 1, 0, 0, 1, 1])
    >>> rows = FoldRows(np.arange(6.0)[:, None], code, 2, folds, None, np.ones((2, 2)))
    >>> coef, intercept = logistic_folds(rows, np.array([1.0, 0.1]))
    >>> coef[:, :, 0, 0].round(4).tolist()
    [[-0.2597, -0.5034], [0.9583, 2.6511]]
    """
    if l1_ratio > 0:
        if rows.outputs > 2 or np.any(strengths == 0):
            return None
        return _along_the_path(rows, strengths, l1_ratio, fit_intercept, tol)
    if rows.outputs == 2 and isinstance(rows.X, np.ndarray):
        found = _together(rows, strengths, fit_intercept, prior, tol)
        if found is not None:
            return found
    return None if np.any(strengths == 0) else _from_all_rows(rows, strengths, fit_intercept, prior, tol)


def _together(
    rows: FoldRows, strengths: Array, fit_intercept: bool, prior: Array | None, tol: float
) -> Coefficients | None:
    y = np.where(rows.code == 1, 1.0, -1.0)
    same = bool(np.all(rows.factors == rows.factors[0]))
    weights = rows.weights
    if same and not np.all(rows.factors == 1.0):
        weights = rows.factors[0][rows.code] * (1.0 if weights is None else weights)
    found = smooth_folds(
        rows.X, y, Logistic(), rows.folds, np.tile(strengths, (len(rows.folds), 1)),
        weights=weights, groups=None if same else rows.code, factors=None if same else rows.factors,
        fit_intercept=fit_intercept, prior=None if prior is None else prior[0], tol=min(tol, 1e-10),
    )  # fmt: skip
    if found is None:
        return None
    coef, intercept = found.coef[:, :, None], found.intercept[:, :, None]
    for j, m in zip(*np.nonzero(~(found.gap <= tol))):
        if strengths[m] == 0:
            return None  # perhaps there is no optimum: a fit finds out
        s = rows.of_fold(j)
        task = rows.task(strengths[m], 0.0, prior, fit_intercept)
        alone = solve_smooth(replace(task, weights=s).used(), Options(tol))
        if not alone.converged:
            return None
        coef[j, m], intercept[j, m] = alone.value
    return coef, intercept


def _tables(rows: FoldRows, m: int) -> Coefficients:
    K = 1 if rows.outputs == 2 else rows.outputs
    return np.empty((len(rows.folds), m, K, rows.X.shape[1])), np.empty((len(rows.folds), m, K))


def _from_all_rows(
    rows: FoldRows, strengths: Array, fit_intercept: bool, prior: Array | None, tol: float
) -> Coefficients | None:
    """Every fold from the optimum of all rows, with the metric there."""
    weights = [rows.of_fold(j) for j in range(len(rows.folds))]
    mean = np.mean(weights, axis=0)
    columns = Coordinates.of(as_design(rows.X), mean, fit_intercept)
    coef, intercept = _tables(rows, len(strengths))
    theta, metric = np.zeros((columns.width, coef.shape[2])), None
    for m in np.argsort(-strengths, kind="stable"):
        task = rows.task(strengths[m], 0.0, prior, fit_intercept)
        pilot = SmoothSum.of(replace(task, weights=mean), columns)
        metric = None if metric is None else nearby_metric(pilot, theta)
        theta = minimise(pilot, theta, 1e3 * tol * null_value(replace(task, weights=mean)), metric=metric).value
        metric = nearby_metric(pilot, theta)
        for j, s in enumerate(weights):
            own = replace(task, weights=s)
            null = null_value(own)
            # Steps in a borrowed metric gain digits one by one, where Newton's own last step doubles them.
            found = minimise(replace(pilot, weights=s), theta, min(tol, _BORROWED) * null, metric=metric)
            if not found.converged and found.stats["gap"] > tol * null:
                return None
            coef[j, m], intercept[j, m] = symmetric(own, *columns.raw(found.value))
    return coef, intercept


def _along_the_path(
    rows: FoldRows, strengths: Array, l1_ratio: float, fit_intercept: bool, tol: float
) -> Coefficients | None:
    """Two classes with an l1 part: each fold's path, strongest penalty first, each point with its duality gap."""
    coef, intercept = _tables(rows, len(strengths))
    for j in range(len(rows.folds)):
        own = replace(rows.task(1.0, l1_ratio, None, fit_intercept), weights=rows.of_fold(j)).used()
        columns, null = Coordinates.of(own.design, own.s, fit_intercept), null_value(own)
        theta = np.zeros((columns.width, 1))
        for m in np.argsort(-strengths, kind="stable"):
            task = replace(own, objective=replace(own.objective, strength=strengths[m]))
            f, kappa = SmoothSum.of(task, columns), l1_weights(task, columns)
            theta = minimise_l1(f, kappa, theta, tol * null * min(tol, 1e-3)).value
            W, b = columns.raw(theta)
            if not task.value(W[0], b[0]) - task.bound(W[0], b[0]) <= _PROVED * null:
                return None
            coef[j, m], intercept[j, m] = W, b
    return coef, intercept
