"""Judging least squares and ridge."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from certifit._types import Array
from certifit.certificates import Certificate, Data, issue
from certifit.certificates._data import Rigor
from certifit.design import as_design
from certifit.judge._registry import model_name, reads
from certifit.losses import Squared, loss_spec
from certifit.regularizers import NonNegative, SquaredL2, regularizer_spec
from certifit.solvers import solve_least_squares


def fitted(model: Any, data: Data) -> dict[str, Any]:
    """Coefficients in canonical shape."""
    check_is_fitted(model, "coef_")
    coef = np.asarray(model.coef_, dtype=float)
    if coef.size == 0 or coef.shape[-1] != data.X.shape[1]:
        raise ValueError(
            f"The model has coefficients of shape {coef.shape}, X has {data.X.shape[1]} columns: give the data it was "
            f"fitted to."
        )
    coef = coef.reshape(-1, data.X.shape[1])
    intercept = np.broadcast_to(np.asarray(model.intercept_, dtype=float), (len(coef),)).astype(float)
    return {
        "coef": coef,
        "intercept": intercept,
        "fit_intercept": bool(getattr(model, "fit_intercept", True)),
        "model": model_name(model),
    }


def _best(data: Data, alpha: Array, prior: Any, fit_intercept: bool, positive: bool) -> dict[str, Array]:
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
    return {"witness_coef": solution.value[0], "witness_intercept": solution.value[1]}


@reads("LinearRegression")
def _linear_regression(model: Any, data: Data, rigor: Rigor) -> Certificate:
    evidence = fitted(model, data)
    positive = bool(getattr(model, "positive", False))
    evidence |= _best(data, np.zeros(len(evidence["coef"])), None, evidence["fit_intercept"], positive)
    return issue("least-squares", data, evidence | ({"positive": True} if positive else {}), rigor)


@reads("Ridge")
def _ridge(model: Any, data: Data, rigor: Rigor) -> Certificate:
    evidence = fitted(model, data)
    targets = len(evidence["coef"])
    alpha = np.broadcast_to(np.asarray(model.alpha, dtype=float), (targets,)).astype(float)
    positive = bool(getattr(model, "positive", False))
    prior = getattr(model, "prior", None)
    prior = None if prior is None else np.broadcast_to(np.asarray(prior, dtype=float), evidence["coef"].shape)
    evidence |= _best(data, alpha, prior, evidence["fit_intercept"], positive)
    if np.any(alpha == 0):
        return issue("least-squares", data, evidence | {"alpha": alpha, "prior": prior}, rigor)
    squared = [SquaredL2(1.0, None if prior is None else tuple(prior[t])) for t in range(targets)]
    specs = [regularizer_spec(NonNegative(r) if positive else r) for r in squared]
    dual = {"loss": loss_spec(Squared()), "regularizer": specs, "lam": alpha, "lam_per": "sum"}
    return issue("duality", data, evidence | dual, rigor)
