r"""Logistic and softmax regression on every fold and for every strength.

Which road: two classes on a small table, or with nearly as many columns as rows (where Hessians differ from fold to
fold), take Newton steps, all problems at once (`newton_folds`). On a larger one with an l2 penalty and many rows a
column they move together (`smooth_folds`). Softmax, sparse rows, weak penalties on many columns and folds that have
little in common start at the optimum for all rows and take its Hessian as their metric. An l1 part goes along the path
of each fold, strongest penalty first. Where a problem starts never matters: each ends when its own gap is small.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from certifit._objective import Objective
from certifit._types import Array
from certifit.design import Coordinates, FoldTable, as_design
from certifit.losses import Logistic, Softmax
from certifit.regularizers import Zero, mix_of_norms
from certifit.solvers._smooth_sum import SmoothSum, l1_weights
from certifit.solvers._task import Options, Task
from certifit.solvers.newton import minimise, nearby_metric
from certifit.solvers.newton_folds import newton_folds
from certifit.solvers.proximal_newton import minimise_l1
from certifit.solvers.smooth import null_value, solve_smooth, symmetric
from certifit.solvers.smooth_folds import smooth_folds


class Coefficients(NamedTuple):
    """Coefficients (folds, m, K or 1, d) and offsets (folds, m, K or 1) of all folds and strengths.

    ``whole``, where it is known, holds those of all rows, (m, K or 1, d) and (m, K or 1): a start for fits of them.
    """

    coef: Array
    intercept: Array
    whole: tuple[Array, Array] | None = None


_BORROWED = 1e-3  # of the tolerance, for steps in a borrowed metric
_TALL = 4  # rows a column from which the Hessians of the folds are much alike
_FEW = 40_000  # numbers of a table up to which every problem takes its own Newton steps, all at once
_PROVED = 1e-6  # gap of an l1 fit as a fraction of the null model: it is of first order in the error, and overstates it


def logistic_folds(
    table: FoldTable,
    strengths: Array,
    l1_ratio: float = 0.0,
    *,
    fit_intercept: bool = True,
    prior: Array | None = None,
    tol: float = 1e-9,
) -> Coefficients | None:
    """Coefficients and offsets for every fold and strength Λ; None where fits alone are the better road.

    The targets of the table are the classes 0..K−1 (and, with class weights as factors, its groups); the prior has K
    rows, or one. It stops within the fraction ``tol`` of the null model's loss.

    Examples
    --------
    >>> folds = [(np.arange(4), np.arange(4, 6)), (np.arange(2, 6), np.arange(2))]
    >>> code = np.array([0, 1, 0, 0, 1, 1])
    >>> table = FoldTable(np.arange(6.0)[:, None], code, folds)
    >>> logistic_folds(table, np.array([1.0, 0.1])).coef[:, :, 0, 0].round(4).tolist()
    [[-0.2597, -0.5034], [0.9583, 2.6511]]
    """
    if l1_ratio > 0:
        if _outputs(table) > 2 or np.any(strengths == 0):
            return None
        return _along_the_path(table, strengths, l1_ratio, fit_intercept, tol)
    tall = table.X.shape[0] >= _TALL * table.X.shape[1] or bool(np.any(strengths == 0))
    if _outputs(table) == 2 and prior is None and (table.X.size <= _FEW or not tall):
        few = newton_folds(
            _signed(table), Logistic(), strengths, fit_intercept=fit_intercept, tol=tol, whole_first=True
        )
        if few is not None:
            whole = None if few.whole is None else (few.whole[0][:, None], few.whole[1][:, None])
            return Coefficients(few.coef[:, :, None], few.offset[:, :, None], whole)
    if _outputs(table) == 2 and isinstance(table.X, np.ndarray) and tall:
        found = _together(table, strengths, fit_intercept, prior, tol)
        if found is not None:
            return found
    return None if np.any(strengths == 0) else _from_all_rows(table, strengths, fit_intercept, prior, tol)


def _together(
    table: FoldTable, strengths: Array, fit_intercept: bool, prior: Array | None, tol: float
) -> Coefficients | None:
    signs = _signed(table)
    if table.factors is None or np.all(table.factors == table.factors[0]):  # the same in all folds: fewer cells
        weights = table.weights
        if table.factors is not None and not np.all(table.factors == 1.0):
            weights = table.factors[0][table.y] * (1.0 if weights is None else weights)
        signs = replace(signs, groups=None, factors=None, weights=weights)
    found = smooth_folds(
        signs, Logistic(), np.tile(strengths, (len(table.folds), 1)), fit_intercept=fit_intercept,
        prior=None if prior is None else prior[0], tol=tol,
    )  # fmt: skip
    if found is None:
        return None
    coef, intercept = found.coef[:, :, None], found.intercept[:, :, None]
    for j, m in zip(*np.nonzero(~(found.gap <= tol))):
        if strengths[m] == 0:
            return None  # perhaps there is no optimum: a fit finds out
        s = table.in_fold(j)
        task = _task(table, strengths[m], 0.0, prior, fit_intercept)
        alone = solve_smooth(replace(task, weights=s).used(), Options(tol))
        if not alone.converged:
            return None
        coef[j, m], intercept[j, m] = alone.value
    return Coefficients(coef, intercept)


def _signed(table: FoldTable) -> FoldTable:
    return replace(table, y=np.where(table.y == 1, 1.0, -1.0))


def _outputs(table: FoldTable) -> int:
    return int(table.y.max()) + 1


def _task(table: FoldTable, strength: float, l1_ratio: float, prior: Array | None, fit_intercept: bool) -> Task:
    """The sum over all rows, unweighted, for one strength Λ."""
    outputs, penalty = _outputs(table), mix_of_norms(l1_ratio, prior=prior) if strength > 0 else Zero()
    loss, classes = (Logistic(), None) if outputs == 2 else (Softmax(), tuple(range(outputs)))
    objective = Objective(loss, penalty, float(strength), fit_intercept, classes=classes, stated="sum")
    y = np.where(table.y == 1, 1.0, -1.0) if outputs == 2 else table.y
    return Task(objective, as_design(table.X), y)


def _tables(table: FoldTable, m: int) -> Coefficients:
    K = 1 if _outputs(table) == 2 else _outputs(table)
    return Coefficients(np.empty((len(table.folds), m, K, table.X.shape[1])), np.empty((len(table.folds), m, K)))


def _from_all_rows(
    table: FoldTable, strengths: Array, fit_intercept: bool, prior: Array | None, tol: float
) -> Coefficients | None:
    """Every fold from the optimum of all rows, with the metric there."""
    weights = [table.in_fold(j) for j in range(len(table.folds))]
    mean = np.mean(weights, axis=0)
    columns = Coordinates.of(as_design(table.X), mean, fit_intercept)
    found = _tables(table, len(strengths))
    theta, metric = np.zeros((columns.width, found.coef.shape[2])), None
    for m in np.argsort(-strengths, kind="stable"):
        task = _task(table, strengths[m], 0.0, prior, fit_intercept)
        pilot = SmoothSum.of(replace(task, weights=mean), columns)
        metric = None if metric is None else nearby_metric(pilot, theta)
        theta = minimise(pilot, theta, 1e3 * tol * null_value(replace(task, weights=mean)), metric=metric).value
        metric = nearby_metric(pilot, theta)
        for j, s in enumerate(weights):
            own = replace(task, weights=s)
            null = null_value(own)
            # Steps in a borrowed metric gain digits one by one, where Newton's own last step doubles them.
            reached = minimise(replace(pilot, weights=s), theta, _BORROWED * tol * null, metric=metric)
            if not reached.converged and reached.stats["gap"] > tol * null:
                return None
            found.coef[j, m], found.intercept[j, m] = symmetric(own, *columns.raw(reached.value))
    return found


def _along_the_path(
    table: FoldTable, strengths: Array, l1_ratio: float, fit_intercept: bool, tol: float
) -> Coefficients | None:
    """Two classes with an l1 part: each fold's path, strongest penalty first, each point with its duality gap."""
    found = _tables(table, len(strengths))
    for j in range(len(table.folds)):
        own = replace(_task(table, 1.0, l1_ratio, None, fit_intercept), weights=table.in_fold(j)).used()
        columns, null = Coordinates.of(own.design, own.s, fit_intercept), null_value(own)
        theta = np.zeros((columns.width, 1))
        for m in np.argsort(-strengths, kind="stable"):
            task = replace(own, objective=replace(own.objective, strength=strengths[m]))
            f, kappa = SmoothSum.of(task, columns), l1_weights(task, columns)
            theta = minimise_l1(f, kappa, theta, tol * null * min(tol, 1e-3)).value
            W, b = columns.raw(theta)
            if not task.value(W[0], b[0]) - task.bound(W[0], b[0]) <= _PROVED * null:
                return None
            found.coef[j, m], found.intercept[j, m] = W, b
    return found
