"""Shared work of the linear models: scores of all folds and grid points together (see `certifit.model_selection`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils import compute_class_weight

from certifit._types import Answers, Array, BaseEstimator, Grid
from certifit.losses import Logistic
from certifit.resampling import (
    CannotShare,
    FoldAnswers,
    FoldTable,
    assemble,
    group_grid,
    is_number,
    models_of,
    read_table,
    require,
    require_shared,
)
from certifit.solvers._task import Options
from certifit.solvers.coordinate import is_tall
from certifit.solvers.ridge_folds import ridge_folds

if TYPE_CHECKING:
    from certifit.solvers.logistic_folds import Coefficients
    from certifit.solvers.newton_folds import FoldMinima

_FINEST = 1e-13  # the smallest gap worth asking for
_LARGE = 200  # columns below which a path is solved nearly exactly, whatever the tolerance: it costs next to nothing
_SMALL = 1e-9
_LOGISTIC = {"penalty", "C", "l1_ratio", "fit_intercept", "class_weight", "prior", "threshold", "costs", "tol"}
_LOGISTIC |= {"dual", "intercept_scaling", "random_state", "verbose", "n_jobs", "solver"}  # without effect


class _Point(NamedTuple):
    alpha: float
    other: Any  # what points must share: fit_intercept, or l1_ratio


def _points(model: BaseEstimator, grid: Grid, name: str, default: Any) -> list[_Point]:
    """α and the other parameter of each point."""
    require_shared(model, grid, {"alpha", name})
    found = [_Point(p.get("alpha", getattr(model, "alpha", 0.0)), p.get(name, default)) for p in grid]
    require(all(is_number(p.alpha) and p.alpha >= 0 for p in found), "an alpha is not a number ≥ 0")
    return found


def ridge_answers(model: BaseEstimator, table: FoldTable, grid: Grid, response: tuple[str, ...]) -> FoldAnswers:
    """Predictions of least squares or ridge for every α on each fold."""
    require(not model.positive, "positive=True has no closed form")
    require(response == ("predict",), "the score needs more than predictions")
    points = _points(model, grid, "fit_intercept", model.fit_intercept)
    require(all(isinstance(p.other, bool) for p in points), "fit_intercept is not a bool")
    read = read_table(table)
    require(read.y.ndim == 1 or read.y.shape[1] > 1, "one target in two dimensions is fitted fold by fold")
    targets = replace(read, y=read.y.reshape(read.n, -1))

    def scores(fit_intercept: bool, where: Sequence[int]) -> Iterator[Answers]:
        alphas = np.array([points[i].alpha for i in where], dtype=float)
        for k, found in enumerate(ridge_folds(targets, alphas, fit_intercept)):
            values = targets.scores(k, *found)
            yield {"predict": values[:, :, 0] if read.y.ndim == 1 else values}

    groups = group_grid(points, lambda p: p.other)
    return assemble(grid, [(where, scores(flag, where)) for flag, where in groups])


def lasso_answers(model: BaseEstimator, table: FoldTable, grid: Grid, response: tuple[str, ...]) -> FoldAnswers:
    """Predictions of a lasso or elastic net for every α on each fold."""
    plain = not (model.warm_start or model.time_budget is not None or model.trace)
    require(plain, "warm_start, time_budget and trace belong to one fit")
    require(response == ("predict",), "the score needs more than predictions")
    points = _points(model, grid, "l1_ratio", model._ratio())
    valid = all(is_number(p.other) and 0.0 < p.other <= 1.0 and p.alpha > 0.0 for p in points)
    require(valid, "alpha or l1_ratio lies outside what is shared")
    read = read_table(table)
    require(read.y.ndim == 1, "several targets are fitted one by one")
    if not all(is_tall(len(train), read.X.shape[1]) for train, _ in read.folds):
        return _lasso_paths(model, read, grid, points)
    from certifit.solvers.lasso_folds import LassoFolds  # searches need it, single fits do not

    known = LassoFolds(read, model.fit_intercept)
    tol = max(model.tol if read.X.shape[1] >= _LARGE else min(model.tol, _SMALL), _FINEST)

    def scores(ratio: float, where: Sequence[int]) -> Iterator[Answers]:
        alphas = np.array([points[i].alpha for i in where], dtype=float)
        for k, (coef, offset) in enumerate(known.paths(alphas, ratio, model.positive, tol)):
            yield {"predict": read.scores(k, coef[:, None], offset[:, None])[:, :, 0]}

    def refit(chosen: Any) -> Any:
        same = chosen.fit_intercept == known.fit_intercept
        return chosen._fit(table.X, table.y, table.weights, gram=known.gram() if same else None)

    groups = group_grid(points, lambda p: float(p.other))
    return assemble(grid, [(where, scores(ratio, where)) for ratio, where in groups], refit=refit)


def _lasso_paths(model: BaseEstimator, table: FoldTable, grid: Grid, points: Sequence[_Point]) -> FoldAnswers:
    """Wide data: each fold's path on its own."""
    from certifit.solvers.lasso_folds import path_of_fold, squared_with

    options = Options(model.tol, model.max_iter or 1_000_000)

    def scores(ratio: float, where: Sequence[int]) -> Iterator[Answers]:
        alphas = np.array([points[i].alpha for i in where], dtype=float)
        objective = squared_with(ratio, model.positive, model.fit_intercept)
        for k in range(len(table.folds)):
            coef, offset, gap = path_of_fold(table, k, objective, alphas, options)
            require(gap <= max(model.tol, _SMALL), "a fit stops short of its tolerance")
            yield {"predict": table.scores(k, coef[:, None], offset[:, None])[:, :, 0]}

    groups = group_grid(points, lambda p: float(p.other))
    parts = [(where, scores(ratio, where)) for ratio, where in groups]
    return assemble(grid, parts, passes=len(groups) * len(table.folds))


def logistic_answers(model: BaseEstimator, table: FoldTable, grid: Grid, response: tuple[str, ...]) -> FoldAnswers:
    """Answers of logistic regression for every grid point on each fold."""
    require(set(response) <= {"predict", "predict_proba", "decision_function"}, "the score needs other predictions")
    plain = model.time_budget is None and model.max_iter >= 50 and not model.trace
    require(plain, "time_budget, trace and few iterations belong to one fit")
    models = models_of(model, grid, _LOGISTIC)
    read = read_table(table, labels=True, sparse=True)
    classes, code = np.unique(read.y, return_inverse=True)
    read = replace(read, y=code)
    seen = all(np.all(np.bincount(code, read.in_fold(k), len(classes)) > 0) for k in range(len(read.folds)))
    require(len(classes) > 1 and seen, "a fold trains without one of the classes")

    starts: list[tuple[Any, Array, Array]] = []

    def scores(where: Sequence[int]) -> Iterator[Answers]:
        mine = [models[i] for i in where]
        found, which = _logistic(mine, read, classes)
        if found.whole is not None:
            starts.extend(zip(mine, found.whole[0][which], found.whole[1][which]))
        kind = read.X.dtype
        for k in range(len(read.folds)):
            values = read.scores(k, found.coef[k, which].astype(kind), found.intercept[k, which].astype(kind))
            values = values[:, :, 0] if len(classes) == 2 else values
            yield {name: np.array([m._answer(name, s, classes) for m, s in zip(mine, values)]) for name in response}

    def refit(chosen: Any) -> Any:
        near = ((W, b) for m, W, b in starts if m._penalty() == chosen._penalty())
        return chosen._fit(table.X, table.y, table.weights, next(near, None))

    groups = group_grid(models, lambda m: (m._penalty()[1], m.fit_intercept, m.tol, m.class_weight, m.prior))
    return assemble(grid, [(where, scores(where)) for _, where in groups], refit=refit)


def nested_logistic_answers(
    model: BaseEstimator, tables: Sequence[FoldTable], grid: Grid, widths: Sequence[int], response: tuple[str, ...]
) -> FoldAnswers:
    """The same where each fold has a table of its own, and each grid point uses so many of its first columns."""
    require(set(response) <= {"predict", "predict_proba", "decision_function"}, "the score needs other predictions")
    models = models_of(model, grid, {"C"})
    plain = model.time_budget is None and model.max_iter >= 50 and not model.trace
    require(plain and model.class_weight is None and model.prior is None and model._penalty()[1] == 0, "not plain")
    read = [read_table(table, labels=True) for table in tables]
    classes = np.unique(read[0].y)
    seen = all(len(np.unique(table.y[table.in_fold(0) > 0])) == 2 for table in read)
    require(len(classes) == 2 and seen, "two classes are needed in each fold")
    signs = [replace(table, y=np.where(table.y == classes[1], 1.0, -1.0)) for table in read]
    from certifit.solvers.newton_folds import newton_tables  # searches need it, single fits do not

    strengths, flag = np.array([m._penalty()[0] for m in models]), model.fit_intercept
    found = newton_tables(
        signs, Logistic(), strengths, np.array(widths), fit_intercept=flag, tol=model.tol**2 / 10
    )  # fmt: skip
    if found is None:
        raise CannotShare("the tables are too large for all folds at once")

    def answers(found: FoldMinima) -> Iterator[Answers]:
        for table, coef, offset in zip(read, found.coef, found.offset):
            values = table.scores(0, coef[:, None], offset[:, None])[:, :, 0]
            yield {name: np.array([m._answer(name, s, classes) for m, s in zip(models, values)]) for name in response}

    return assemble(grid, [(list(range(len(grid))), answers(found))], passes=len(tables))


def _logistic(models: Sequence[BaseEstimator], table: FoldTable, classes: Array) -> tuple[Coefficients, Array]:
    """Fits of models that differ in their strength (or what only answers depend on) alone, and each one's strength."""
    one = models[0]
    ratio = one._penalty()[1]
    weigh = partial(compute_class_weight, one.class_weight, classes=classes)
    trained = [table.training(k) for k in range(len(table.folds))] if one.class_weight is not None else []
    if trained:
        factors = np.array([weigh(y=classes[code], sample_weight=s) for _, code, s in trained])
        table = replace(table, groups=table.y, factors=factors)
    strengths, which = np.unique([m._penalty()[0] for m in models], return_inverse=True)
    from certifit.solvers.logistic_folds import logistic_folds  # searches need it, single fits do not

    found = logistic_folds(
        table, strengths, ratio, fit_intercept=one.fit_intercept,
        prior=one._read_prior(len(classes), table.X.shape[1], ratio), tol=one.tol**2 / 10,
    )  # fmt: skip
    if found is None:
        raise CannotShare("each fold is quicker on its own, or one has no optimum")
    return found, which
