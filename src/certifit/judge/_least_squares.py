"""Judging least squares and ridge."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import compute_class_weight

from certifit._objective import Objective, names_of
from certifit._types import Array, BaseEstimator
from certifit._validation import check_is_fitted
from certifit.certificates import Certificate, Data, issue
from certifit.certificates._data import Rigor
from certifit.design import as_design
from certifit.exceptions import UnknownModelError
from certifit.judge._registry import FOREIGN, model_name, reads
from certifit.losses import Squared
from certifit.regularizers import NonNegative, Regularizer, SquaredL2, Zero
from certifit.solvers import solve_least_squares
from certifit.solvers.dual import best_first, dual_point, evidence_of


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
    positive, offset = bool(getattr(model, "positive", False)), has_offset(model)
    objective = Objective(Squared(), NonNegative(Zero()) if positive else Zero(), 0.0, offset)
    best = _best(data, np.zeros(len(fitted(model, data)[0])), None, offset, positive)
    by_residuals = judge_fit(model, data, objective, best, rigor, gap=False)
    if not positive:
        return by_residuals
    # A penalty that is zero may have any strength. Duality is the sharper of the two where columns nearly depend.
    by_duality = judge_fit(model, data, replace(objective, strength=1.0), best, rigor, gap=True)
    return best_first((by_duality, by_residuals))[0]


def judge_fit(
    model: BaseEstimator, data: Data, told: Any, best: tuple[Array, Array], rigor: Rigor, *, gap: bool
) -> Certificate:
    """Somebody's coefficients beside our own: by the gap to our dual point, or where there is none by our residuals."""
    evidence = evidence_of(told, *fitted(model, data)) | {"model": model_name(model)}
    if gap:
        return issue("duality", data, evidence | {"dual": dual_point(told, data, *best)}, rigor)
    return issue("least-squares", data, evidence | {"witness_coef": best[0], "witness_intercept": best[1]}, rigor)


def chosen(model: BaseEstimator, name: str) -> Any:
    """A parameter, or what cross-validation chose for it, which models keep under the same name with an underscore."""
    return getattr(model, f"{name}_", getattr(model, name, None))


@reads("Ridge", "RidgeCV")
def _ridge(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    W, _ = fitted(model, data)
    alpha = np.broadcast_to(np.asarray(chosen(model, "alpha"), dtype=float), (len(W),)).astype(float)
    positive, offset, prior = bool(getattr(model, "positive", False)), has_offset(model), getattr(model, "prior", None)
    prior = None if prior is None else np.broadcast_to(np.asarray(prior, dtype=float), W.shape)
    squared = [SquaredL2(1.0, None if prior is None else tuple(prior[t])) for t in range(len(W))]
    objectives = [Objective(Squared(), NonNegative(r) if positive else r, a, offset) for r, a in zip(squared, alpha)]
    best = _best(data, alpha, prior, offset, positive)
    return judge_fit(model, data, objectives, best, rigor, gap=bool(np.all(alpha != 0)))


@reads("BayesianRidge", table=FOREIGN)
def _bayesian(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    """Another library's BayesianRidge: with the precisions that it found, its mean is ridge with alpha = λ/α."""
    offset, strength = has_offset(model), float(model.lambda_) / float(model.alpha_)
    best = _best(data, np.array([strength]), None, offset, False)
    return judge_fit(model, data, Objective(Squared(), SquaredL2(), strength, offset), best, rigor, gap=False)


@reads("RidgeClassifier", "RidgeClassifierCV", table=FOREIGN)
def _votes(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    """Another library's RidgeClassifier: ridge on −1/+1, one machine for each class (one alone for two)."""
    if data.y is None or np.asarray(data.y).ndim != 1:
        raise UnknownModelError(f"certify supports {type(model).__name__} of other libraries with one label a row.")
    classes, positive, offset = np.asarray(model.classes_), bool(getattr(model, "positive", False)), has_offset(model)
    code = np.searchsorted(classes, np.asarray(data.y))
    factors = compute_class_weight(model.class_weight, classes=classes, y=np.asarray(data.y))  # rows, not weights
    machines = range(len(classes)) if len(classes) > 2 else [1]
    signs = np.column_stack([np.where(code == k, 1.0, -1.0) for k in machines])
    alpha = float(chosen(model, "alpha"))
    weighted = Data.of(data.X, signs, data.weights * factors[code])
    best = _best(weighted, np.full(len(machines), alpha), None, offset, positive)
    penalty: Regularizer = SquaredL2() if alpha > 0 else Zero()
    factor = None if np.all(factors == 1.0) else tuple(factors)
    objective = Objective(
        Squared(), NonNegative(penalty) if positive else penalty, alpha, offset, names_of(classes), factor
    )
    return judge_fit(model, data, objective, best, rigor, gap=alpha != 0.0)
