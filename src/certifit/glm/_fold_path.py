"""Shared work of convex GLMs: all folds and all α together (see `certifit.model_selection`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_array

from certifit._sklearn import check_sample_weight
from certifit._types import Array
from certifit.losses import FamilyLoss, Loss
from certifit.resampling import CannotShare, Fold
from certifit.solvers.smooth_folds import smooth_folds


def null_level(reader: FamilyLoss, y: Array, weights: Array) -> float:
    """The score of the null model: every mean the overall mean (kept off the ends of what is possible)."""
    mean = float(weights @ y / weights.sum())
    if reader.family == "binomial":
        mean = min(max(mean, 1e-3), 1 - 1e-3)
    elif reader.family != "gaussian":
        mean = max(mean, 1e-6)
    return float(np.ravel(reader.parts[1].link(np.array([mean])))[0])


def glm_fold_path(
    model: Any,
    loss: Loss,
    reader: FamilyLoss,
    X: Any,
    y: Any,
    folds: Sequence[Fold],
    grid: Sequence[Mapping[str, Any]],
    response: tuple[str, ...],
    sample_weight: Any,
) -> Iterator[dict[str, Array]] | None:
    """Predicted means of every grid point on each fold; None for what is better met one fit at a time."""
    if response != ("predict",) or any(
        not set(point) <= {"alpha", "l1_ratio", "fit_intercept", "tol"} for point in grid
    ):
        return None
    if model.time_budget is not None or model.max_iter < 50 or model.trace or not loss.self_concordant:
        return None
    try:
        models = [clone(model).set_params(**point) for point in grid]
        for m in models:
            m._validate_params()
        X = check_array(X, dtype=[np.float64, np.float32])
        y = np.asarray(check_array(y, ensure_2d=False, dtype="numeric"), dtype=float)
        weights = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    except (TypeError, ValueError):
        return None  # a fit says what is wrong
    if y.ndim != 1 or len(y) != len(X) or any(m.l1_ratio * m.alpha > 0 for m in models):
        return None
    given = None if sample_weight is None else weights
    return _predictions(models, loss, reader, X, y, folds, weights, given)


def _predictions(
    models: Sequence[Any],
    loss: Loss,
    reader: FamilyLoss,
    X: Array,
    y: Array,
    folds: Sequence[Fold],
    weights: Array,
    given: Array | None,
) -> Iterator[dict[str, Array]]:
    coef, offset = np.empty((len(folds), len(models), X.shape[1])), np.empty((len(folds), len(models)))
    for flag in sorted({m.fit_intercept for m in models}):
        where = [i for i, m in enumerate(models) if m.fit_intercept is flag]
        found = _coefficients([models[i] for i in where], loss, reader, X, y, folds, weights, given)
        coef[:, where], offset[:, where] = found
    coef, offset = coef.astype(X.dtype), offset.astype(X.dtype)
    for j, (_, test) in enumerate(folds):
        scores = coef[j] @ X[test].T + offset[j][:, None]
        yield {"predict": reader.parts[1].inverse(scores)}


def _coefficients(
    models: Sequence[Any],
    loss: Loss,
    reader: FamilyLoss,
    X: Array,
    y: Array,
    folds: Sequence[Fold],
    weights: Array,
    given: Array | None,
) -> tuple[Array, Array]:
    alphas, which = np.unique([float(m.alpha) for m in models], return_inverse=True)
    level = null_level(reader, y, weights)
    sums = np.array([weights[train].sum() for train, _ in folds])
    tol = min(models[0].tol ** 2, 1e-10)
    found = smooth_folds(
        X, y, loss, folds, np.outer(sums, alphas),
        weights=given, fit_intercept=models[0].fit_intercept, level=level, tol=tol,
    )  # fmt: skip
    if found is None:
        raise CannotShare("the folds have too little in common")
    coef, offset = found.coef, found.intercept
    for j, a in zip(*np.nonzero(~(found.gap <= tol))):
        train = folds[j][0]
        alone = clone(models[0]).set_params(alpha=alphas[a])
        try:
            alone.fit(X[train], y[train], None if given is None else given[train])
        except ValueError as error:
            raise CannotShare("a fit fails") from error
        coef[j, a], offset[j, a] = alone.coef_, alone.intercept_
    return coef[:, which], offset[:, which]
