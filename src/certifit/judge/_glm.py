"""Judging generalized linear models: ours, scikit-learn's and glum's."""

from __future__ import annotations

from typing import Any

import numpy as np

from certifit._types import BaseEstimator
from certifit.certificates import Certificate, Data, issue
from certifit.certificates._data import Rigor
from certifit.exceptions import UnknownModelError
from certifit.glm import GLM, Tweedie
from certifit.judge._registry import model_name, reads


def _judge(
    model: BaseEstimator, data: Data, family: Any, link: str | None, alpha: float, ratio: float, rigor: Rigor
) -> Certificate:
    best = GLM(family, link, alpha=alpha, l1_ratio=ratio, fit_intercept=bool(model.fit_intercept), tol=1e-7)
    best.fit(data.X, data.y, data.sample_weight, offset=data.offset)
    proved = best.certificate_
    evidence = {
        **proved.evidence,  # with a penalty that is not smooth, its dual point proves what is left for the model
        "coef": np.asarray(model.coef_, dtype=float).reshape(1, -1),
        "intercept": np.array([float(np.ravel(model.intercept_)[0])]),
    }
    if proved.kind != "stationary":  # equations need no better answer beside them
        evidence |= {"witness_coef": proved.evidence["coef"], "witness_intercept": proved.evidence["intercept"]}
        evidence["model"] = model_name(model)
    return issue(proved.kind, data, evidence, rigor)


@reads("PoissonRegressor")
def _poisson(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    return _judge(model, data, "poisson", "log", float(model.alpha), 0.0, rigor)


@reads("GammaRegressor")
def _gamma(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    return _judge(model, data, "gamma", "log", float(model.alpha), 0.0, rigor)


@reads("TweedieRegressor")
def _tweedie(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    families: dict[float, Any] = {0: "gaussian", 1: "poisson", 2: "gamma", 3: "inverse_gaussian"}
    family = families[model.power] if model.power in families else Tweedie(model.power)
    link = ("identity" if model.power == 0 else "log") if model.link == "auto" else model.link
    return _judge(model, data, family, link, float(model.alpha), 0.0, rigor)


@reads("GLM")
def _glm(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    return _judge(model, data, model.family, model.link, float(model.alpha), float(model.l1_ratio), rigor)


_GLUM_PLAIN = {
    "P1": "identity", "P2": "identity", "alpha_search": False, "scale_predictors": False, "lower_bounds": None,
    "upper_bounds": None, "A_ineq": None, "monotonic_constraints": None, "formula": None,
}  # fmt: skip
"""Options of glum that change the objective, and what they are when they do not."""


def _is(value: Any, plain: Any) -> bool:
    return type(value) is type(plain) and bool(value == plain)


@reads("GeneralizedLinearRegressor")
def _glum(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    families = {
        "normal": "gaussian",
        "gaussian": "gaussian",
        "poisson": "poisson",
        "gamma": "gamma",
        "binomial": "binomial",
    }
    name = model.family if isinstance(model.family, str) else type(model.family).__name__.lower()
    if name not in families:
        raise UnknownModelError(f"certify supports glum's normal, poisson, gamma and binomial families, not {name!r}.")
    link = {"gaussian": "identity", "binomial": "logit"}.get(families[name], "log")
    given = model.link if isinstance(model.link, str) else type(model.link).__name__.removesuffix("Link").lower()
    if given not in ("auto", link):
        raise UnknownModelError(f"certify supports glum's {name} family with the link {link!r}, not {given!r}.")
    other = [k for k, plain in _GLUM_PLAIN.items() if not _is(getattr(model, k, plain), plain)]
    if other:
        raise UnknownModelError(f"certify does not certify a glum model with {other[0]}={getattr(model, other[0])!r}.")
    alpha = 0.0 if model.alpha is None else float(np.ravel(model.alpha)[0])
    ratio = 0.0 if model.l1_ratio is None else float(np.ravel(model.l1_ratio)[0])
    return _judge(model, data, families[name], link, alpha, ratio, rigor)
