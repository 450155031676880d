"""Shared work of `LinearSVC` with the squared hinge: every fold and cost of a small table at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from sklearn.utils import compute_class_weight

from certifit._types import Answers, Array, BaseEstimator, Grid
from certifit.losses import SquaredHinge
from certifit.resampling import (
    CannotShare,
    FoldAnswers,
    FoldTable,
    assemble,
    group_grid,
    models_of,
    read_table,
    require,
)
from certifit.solvers.newton_folds import newton_folds
from certifit.svm._labels import machine_labels

_TOL = 1e-10


def linear_svc_answers(model: BaseEstimator, table: FoldTable, grid: Grid, response: tuple[str, ...]) -> FoldAnswers:
    """Labels and decisions for every grid point on each fold."""
    require(set(response) <= {"predict", "decision_function"}, "the score needs other predictions")
    plain = model.time_budget is None and model.max_iter >= 50 and not model.trace
    require(model.multi_class == "ovr", "all classes in one problem: each point is solved alone")
    require(model.penalty == "l2", "the l1 penalty has corners: each point is solved alone")
    require(plain, "time_budget, trace and few iterations belong to one fit")
    models = models_of(model, grid, {"C", "class_weight", "fit_intercept", "tol", "dual", "random_state"})
    require(all(m.loss == "squared_hinge" for m in models), "the hinge has corners: each point is solved alone")
    read = read_table(table, labels=True, dtype=np.float64, order="C")
    classes, code = np.unique(read.y, return_inverse=True)
    read = replace(read, y=code)
    seen = all(np.all(np.bincount(code, read.in_fold(k), len(classes)) > 0) for k in range(len(read.folds)))
    require(len(classes) > 1 and seen, "a fold trains without one of the classes")

    def scores(where: Sequence[int]) -> Iterator[Answers]:
        coef, offset = _machines([models[i] for i in where], read, classes)
        for k in range(len(read.folds)):
            values = read.scores(k, coef[k], offset[k])
            two = len(classes) == 2
            labels = classes[(values[:, :, 0] > 0).astype(int) if two else values.argmax(axis=2)]
            yield {"predict": labels, "decision_function": values[:, :, 0] if two else values}

    groups = group_grid(models, lambda m: (m.fit_intercept, m.class_weight))
    return assemble(grid, [(where, scores(where)) for _, where in groups])


def _machines(models: Sequence[BaseEstimator], table: FoldTable, classes: Array) -> tuple[Array, Array]:
    """Coefficients (folds, points, machines, d) and offsets of models that differ in C alone."""
    one, found = models[0], []
    if one.class_weight is not None:
        trained = [table.training(k) for k in range(len(table.folds))]
        factors = [
            compute_class_weight(one.class_weight, classes=classes, y=classes[code], sample_weight=s)
            for _, code, s in trained
        ]
        table = replace(table, groups=table.y, factors=np.array(factors))
    strengths = np.array([1.0 / m.C for m in models])
    for signs in machine_labels(table.y, len(classes)):
        machine = newton_folds(
            replace(table, y=signs), SquaredHinge(), strengths, fit_intercept=one.fit_intercept, tol=_TOL
        )
        if machine is None:
            raise CannotShare("the table is too large for all folds at once")
        found.append(machine)
    return np.stack([f.coef for f in found], axis=2), np.stack([f.offset for f in found], axis=2)
