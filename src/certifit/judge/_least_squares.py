"""Judging least squares and ridge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from certifit._objective import Objective
from certifit._types import Array, Record
from certifit._validation import check_is_fitted
from certifit.certificates import Certificate, Data, issue
from certifit.certificates._data import Rigor
from certifit.design import as_design
from certifit.judge._registry import model_name, reads
from certifit.losses import Squared
from certifit.regularizers import NonNegative, SquaredL2, Zero
from certifit.solvers import solve_least_squares
from certifit.solvers.dual import dual_point, evidence_of

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


def fitted(model: BaseEstimator, data: Data) -> tuple[Array, Array]:
    """Coefficients (t, d) and offsets (t,)."""
    check_is_fitted(model, "coef_")
    coef = np.asarray(model.coef_, dtype=float)
    if coef.size == 0 or coef.shape[-1] != data.X.shape[1]:
        raise ValueError(
            f"The model has coefficients of shape {coef.shape}, X has {data.X.shape[1]} columns: give the data it was "
            f"fitted to."
        )
    coef = coef.reshape(-1, data.X.shape[1])
    return coef, np.broadcast_to(np.asarray(model.intercept_, dtype=float), (len(coef),)).astype(float)


def has_offset(model: BaseEstimator) -> bool:
    """Whether the model was fitted with an offset."""
    return bool(getattr(model, "fit_intercept", True))


def _best(data: Data, alpha: Array, prior: Any, fit_intercept: bool, positive: bool) -> tuple[Array, Array]:
    """Our own solution."""
    Y = np.asarray(data.y, dtype=float).reshape(data.X.shape[0], -1)
    solution = solve_least_squares(
        as_design(data.X),
        Y,
        data.sample_weight,
        alpha=alpha,
        prior=prior,
        fit_intercept=fit_intercept,
        positive=positive,
    )
    coef, intercept = solution.value
    return coef, intercept


@reads("LinearRegression")
def _linear_regression(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    W, b = fitted(model, data)
    positive, offset = bool(getattr(model, "positive", False)), has_offset(model)
    objective = Objective(Squared(), NonNegative(Zero()) if positive else Zero(), 0.0, offset)
    best = _best(data, np.zeros(len(W)), None, offset, positive)
    return issue("least-squares", data, beside(evidence_of(objective, W, b), best, model), rigor)


def beside(evidence: Record, best: tuple[Array, Array], model: BaseEstimator) -> Record:
    """Evidence about somebody's model, with a better one beside it."""
    return evidence | {"witness_coef": best[0], "witness_intercept": best[1], "model": model_name(model)}


@reads("Ridge")
def _ridge(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    W, b = fitted(model, data)
    alpha = np.broadcast_to(np.asarray(model.alpha, dtype=float), (len(W),)).astype(float)
    positive, offset, prior = bool(getattr(model, "positive", False)), has_offset(model), getattr(model, "prior", None)
    prior = None if prior is None else np.broadcast_to(np.asarray(prior, dtype=float), W.shape)
    squared = [SquaredL2(1.0, None if prior is None else tuple(prior[t])) for t in range(len(W))]
    objectives = [Objective(Squared(), NonNegative(r) if positive else r, a, offset) for r, a in zip(squared, alpha)]
    best = _best(data, alpha, prior, offset, positive)
    evidence = evidence_of(objectives, W, b)
    if np.any(alpha == 0):
        return issue("least-squares", data, beside(evidence, best, model), rigor)
    dual = {"dual": dual_point(objectives, data, *best), "model": model_name(model)}
    return issue("duality", data, evidence | dual, rigor)
