"""Crammer and Singer's machine: all classes in one problem, with liblinear's penalised offset."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from certifit._types import Array, Matrix, Record
from certifit.certificates import Data
from certifit.losses import MulticlassHinge
from certifit.regularizers import SquaredL2
from certifit.solvers import Options, Solution
from certifit.solvers.crammer_singer import crammer_singer
from certifit.solvers.dual import dual_point, evidence_of
from certifit.solvers.linear_svc import linear_svc
from certifit.svm._evidence import hinge_objective
from certifit.svm._labels import Labelled, machine_labels


def padded(X: Matrix, scale: float | None) -> Matrix:
    """X with a constant column beside it, whose weight is liblinear's offset; X itself without one.

    Examples
    --------
    >>> padded(np.zeros((2, 1)), 3.0).tolist()
    [[0.0, 3.0], [0.0, 3.0]]
    """
    if scale is None:
        return X
    column = np.full((X.shape[0], 1), scale)
    return scipy.sparse.hstack([X, column]).tocsr() if scipy.sparse.issparse(X) else np.hstack([X, column])


@dataclass(frozen=True)
class Together:
    """A machine of all classes: coefficients, offsets, shares of the dual solution, its gap, and how it was found."""

    coef: Array
    intercept: Array
    shares: Array
    gap: float
    found: Solution


def solve_together(X: Matrix, lab: Labelled, scale: float | None, options: Options) -> Together:
    """Fit all classes at once; two classes are one ordinary machine, w₁ = −w₀ = w/2.

    ``scale`` is the constant column of the offset; None for a machine without.

    Examples
    --------
    >>> from certifit.svm._labels import labelled
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    >>> machine = solve_together(X, labelled(X, y, None, None, 1.0, "LinearSVC"), 1.0, Options(1e-9))
    >>> machine.coef.round(4).tolist(), machine.gap < 1e-8
    ([[1.0]], True)
    """
    rows = padded(X, scale)
    if len(lab.classes) == 2:
        # ½(‖w₀‖² + ‖w₁‖²) = ¼‖w‖²: half of ½‖w‖² + Σ 2C·hinge.
        cost, tol = 2.0 * lab.cost, options.tol
        signs, target = machine_labels(lab.codes, 2)[0], tol * float(cost.sum())
        found = linear_svc(rows, signs, cost, target, options, offset=False, excess=tol)
        W, shares, gap = found.value.coef[None, :], -0.5 * found.value.beta[:, None], 0.5 * found.value.gap
    else:
        found = crammer_singer(rows, lab.codes, lab.cost, options)
        W, gap = found.value.coef, found.value.gap
        shares = found.value.beta / np.where(lab.cost > 0.0, lab.cost, 1.0)[:, None]
    offset = np.zeros(len(W)) if scale is None else scale * W[:, -1]
    return Together(W if scale is None else W[:, :-1], offset, shares, gap, found)


def together_evidence(
    lab: Labelled, data: Data, scale: float | None, coef: Array, intercept: Array, shares: Array
) -> Record:
    """Evidence for anybody's machine (``coef``, ``intercept``) of all classes, with the dual solution of ours.

    ``shares`` (n, K) are those of `solve_together`; (n, 1) multipliers for two classes.
    """
    two = len(lab.classes) == 2
    options = {"fit_intercept": scale is not None, "padding": scale}
    loss = "hinge" if two else MulticlassHinge.name
    objective = hinge_objective(lab.classes, lab.class_cost, loss, "rest", SquaredL2(0.25 if two else 0.5), **options)
    dual = shares if two else dual_point(objective, data, coef, intercept, slopes=shares)
    return evidence_of(objective, coef, intercept) | {"dual": dual}
