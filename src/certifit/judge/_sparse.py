"""Readers of models with a 1-norm: Lasso and ElasticNet of anybody, multi-task ones too, and SGDRegressor."""

from __future__ import annotations

from typing import Any

import numpy as np

from certifit._errors import UnknownModelError
from certifit._types import Array
from certifit.certificates import Certificate, Data, issue
from certifit.certificates._data import Rigor
from certifit.design import as_design
from certifit.judge._least_squares import fitted
from certifit.judge._registry import reads
from certifit.losses import Absolute, Loss, Squared, loss_spec
from certifit.objective import Objective
from certifit.regularizers import mix_of_norms, regularizer_spec
from certifit.solvers import Options, Task, solve_coordinate
from certifit.solvers.interior_point import solve_kinked
from certifit.solvers.least_squares import solve_quadratic
from certifit.solvers.multitask import solve_multitask

_TIGHT = 1e-12


def _targets(data: Data) -> Array:
    return np.asarray(data.y, dtype=float).reshape(data.X.shape[0], -1)


def _witness(data: Data, alpha: float, ratio: float, fit_intercept: bool, positive: bool) -> dict[str, Array]:
    """Our own solution of (1/2S) Σ s r² + α(ρ‖w‖₁ + ½(1−ρ)‖w‖²)."""
    design, Y = as_design(data.X), _targets(data)
    strength, regularizer = alpha * float(data.weights.sum()), mix_of_norms(ratio, positive=positive)
    objective = Objective(Squared(0.5), regularizer, strength, fit_intercept)
    solve = solve_quadratic if alpha * ratio == 0.0 else solve_coordinate
    tasks = [Task(objective, design, Y[:, t], data.sample_weight) for t in range(Y.shape[1])]
    parts = [solve(task, Options(_TIGHT)).value for task in tasks]
    return {"witness_coef": np.array([p[0] for p in parts]), "witness_intercept": np.array([p[1] for p in parts])}


def _judge(model: Any, data: Data, rigor: Rigor, alpha: float, ratio: float) -> Certificate:
    evidence = fitted(model, data)
    positive = bool(getattr(model, "positive", False))
    evidence |= _witness(data, alpha, ratio, evidence["fit_intercept"], positive)
    if alpha == 0.0:
        return issue("least-squares", data, evidence | ({"positive": True} if positive else {}), rigor)
    evidence |= {
        "loss": loss_spec(Squared(0.5)),
        "regularizer": regularizer_spec(mix_of_norms(ratio, positive=positive)),
    }
    return issue("duality", data, evidence | {"lam": alpha, "lam_per": "mean"}, rigor)


@reads("Lasso")
def _lasso(model: Any, data: Data, rigor: Rigor) -> Certificate:
    if getattr(model, "weights", None) is not None:
        raise UnknownModelError("certify does not judge a lasso with one strength per column (weights=...).")
    return _judge(model, data, rigor, float(model.alpha), 1.0)


@reads("ElasticNet")
def _elastic_net(model: Any, data: Data, rigor: Rigor) -> Certificate:
    if getattr(model, "weights", None) is not None:
        raise UnknownModelError("certify does not judge an elastic net with one strength per column (weights=...).")
    return _judge(model, data, rigor, float(model.alpha), float(model.l1_ratio))


@reads("MultiTaskLasso", "MultiTaskElasticNet")
def _multitask(model: Any, data: Data, rigor: Rigor) -> Certificate:
    """Several targets whose coefficients of one column are penalised together, by their length."""
    alpha, ratio = float(model.alpha), float(getattr(model, "l1_ratio", 1.0))
    if not alpha * ratio > 0.0:
        raise UnknownModelError("certify judges multi-task models with alpha > 0 and l1_ratio > 0.")
    evidence = fitted(model, data)
    found = solve_multitask(
        as_design(data.X), _targets(data), np.array([alpha]), ratio, data.sample_weight,
        fit_intercept=evidence["fit_intercept"], tol=_TIGHT, start=evidence["coef"],
    )  # fmt: skip
    evidence |= {"witness_coef": found.value[0][0], "witness_intercept": found.value[1][0]}
    return issue("multitask", data, evidence | {"lam": alpha, "l1_ratio": ratio}, rigor)


@reads("SGDRegressor")
def _sgd_regressor(model: Any, data: Data, rigor: Rigor) -> Certificate:
    """Judged by mean loss + α R, as its documentation states: ½ squared (or absolute) error, with an offset."""
    losses: dict[str, Loss] = {"squared_error": Squared(0.5)}
    if model.loss == "epsilon_insensitive" and model.epsilon == 0.0:
        losses["epsilon_insensitive"] = Absolute()
    ratios = {"l2": 0.0, "l1": 1.0, "elasticnet": float(model.l1_ratio), None: 0.0}
    if model.loss not in losses:
        raise UnknownModelError(
            f"certify judges SGDRegressor with loss='squared_error' (or 'epsilon_insensitive' with epsilon=0), "
            f"not {model.loss!r}."
        )
    ratio = ratios[model.penalty]
    # A mean over rows, however they are weighted; ours is one over the sum of the weights.
    alpha = 0.0 if model.penalty is None else float(model.alpha) * data.X.shape[0] / float(data.weights.sum())
    if model.loss == "squared_error":
        return _judge(model, data, rigor, alpha, ratio)
    if alpha == 0.0:
        raise UnknownModelError("certify judges the absolute loss of SGDRegressor only with a penalty (alpha > 0).")
    evidence = fitted(model, data)
    regularizer = mix_of_norms(ratio)
    objective = Objective(Absolute(), regularizer, alpha * float(data.weights.sum()), evidence["fit_intercept"])
    task = Task(objective, as_design(data.X), _targets(data)[:, 0], data.sample_weight)
    found = solve_kinked(task, Options(_TIGHT))
    evidence |= {"loss": loss_spec(Absolute()), "regularizer": regularizer_spec(regularizer)}
    evidence |= {"lam": alpha, "lam_per": "mean", "dual": found.stats["dual"][:, None]}
    return issue("duality", data, evidence, rigor)
