"""Shared work of convex GLMs: scores of all folds and all α together (see `certifit.model_selection`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from sklearn.base import clone

from certifit._types import Answers, Array, BaseEstimator, Grid
from certifit.losses import FamilyLoss, Loss
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
from certifit.solvers.smooth_folds import smooth_folds


def null_level(reader: FamilyLoss, y: Array, weights: Array) -> float:
    """The score of the null model: every mean the overall mean (kept off the ends of what is possible)."""
    mean = float(weights @ y / weights.sum())
    if reader.family == "binomial":
        mean = min(max(mean, 1e-3), 1 - 1e-3)
    elif reader.family != "gaussian":
        mean = max(mean, 1e-6)
    return float(np.ravel(reader.parts[1].link(np.array([mean])))[0])


def glm_answers(
    model: BaseEstimator, loss: Loss, reader: FamilyLoss, table: FoldTable, grid: Grid, response: tuple[str, ...]
) -> FoldAnswers:
    """Predicted means of every grid point on each fold."""
    require(response == ("predict",), "the score needs more than predictions")
    plain = model.time_budget is None and model.max_iter >= 50 and not model.trace
    require(plain, "time_budget, trace and few iterations belong to one fit")
    require(loss.self_concordant, "the curvature of the loss changes too quickly to share work")
    models = models_of(model, grid, {"alpha", "l1_ratio", "fit_intercept", "tol"})
    require(all(m.l1_ratio * m.alpha == 0 for m in models), "an l1 penalty is fitted one by one")
    read = read_table(table)
    require(read.y.ndim == 1, "several targets are fitted one by one")

    def scores(where: Sequence[int]) -> Iterator[Answers]:
        coef, offset = _coefficients([models[i] for i in where], loss, reader, read)
        for k in range(len(read.folds)):
            values = read.scores(k, coef[k][:, None], offset[k][:, None])[:, :, 0]
            yield {"predict": reader.parts[1].inverse(values)}

    groups = group_grid(models, lambda m: m.fit_intercept)
    return assemble(grid, [(where, scores(where)) for _, where in groups])


def _coefficients(
    models: Sequence[BaseEstimator], loss: Loss, reader: FamilyLoss, table: FoldTable
) -> tuple[Array, Array]:
    alphas, which = np.unique([float(m.alpha) for m in models], return_inverse=True)
    weights = np.ones(table.n) if table.weights is None else table.weights
    sums = np.array([weights[train].sum() for train, _ in table.folds])
    tol = min(models[0].tol ** 2, 1e-10)
    found = smooth_folds(
        table, loss, np.outer(sums, alphas), fit_intercept=models[0].fit_intercept,
        level=null_level(reader, table.y, weights), tol=tol,
    )  # fmt: skip
    if found is None:
        raise CannotShare("the folds have too little in common")
    coef, offset = found.coef, found.intercept
    for k, a in zip(*np.nonzero(~(found.gap <= tol))):
        alone = clone(models[0]).set_params(alpha=alphas[a])
        try:
            alone.fit(*table.training(k))
        except ValueError as error:
            raise CannotShare("a fit fails") from error
        coef[k, a], offset[k, a] = alone.coef_, alone.intercept_
    return coef[:, which].astype(table.X.dtype), offset[:, which].astype(table.X.dtype)
