"""Readers of models with a 1-norm: Lasso and ElasticNet of anybody, multi-task ones too, and SGDRegressor."""

from __future__ import annotations

import numpy as np

from certifit._objective import Objective
from certifit._types import Array, BaseEstimator
from certifit.certificates import Certificate, Data, issue
from certifit.certificates._data import Rigor
from certifit.design import as_design
from certifit.exceptions import UnknownModelError
from certifit.judge._least_squares import chosen, fitted, has_offset, judge_fit
from certifit.judge._registry import model_name, reads
from certifit.losses import Absolute, Loss, Squared
from certifit.regularizers import ColumnNorms, NonNegative, Zero, mix_of_norms
from certifit.solvers import Options, Task, solve_coordinate
from certifit.solvers.dual import dual_point, evidence_of
from certifit.solvers.interior_point import solve_kinked
from certifit.solvers.least_squares import solve_quadratic
from certifit.solvers.multitask import solve_multitask

_TIGHT = 1e-12


def _targets(data: Data) -> Array:
    return np.asarray(data.y, dtype=float).reshape(data.X.shape[0], -1)


def _witness(data: Data, objective: Objective, l1: bool) -> tuple[Array, Array]:
    """Our own solution, target by target."""
    design, Y = as_design(data.X), _targets(data)
    solve = solve_coordinate if l1 else solve_quadratic
    tasks = [Task(objective, design, Y[:, t], data.sample_weight) for t in range(Y.shape[1])]
    parts = [solve(task, Options(_TIGHT)).value for task in tasks]
    return np.array([p[0] for p in parts]), np.array([p[1] for p in parts])


def _judge(model: BaseEstimator, data: Data, rigor: Rigor, alpha: float, ratio: float) -> Certificate:
    positive, offset, total = bool(getattr(model, "positive", False)), has_offset(model), float(data.weights.sum())
    objective = Objective(Squared(0.5), mix_of_norms(ratio, positive=positive), alpha * total, offset)
    best = _witness(data, objective, alpha * ratio > 0.0)
    if alpha == 0.0:
        objective = Objective(Squared(), NonNegative(Zero()) if positive else Zero(), 0.0, offset)
    return judge_fit(model, data, objective, best, rigor, gap=alpha != 0.0)


@reads("Lasso", "LassoCV", "LassoLars", "LassoLarsCV", "LassoLarsIC")
def _lasso(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    if getattr(model, "weights", None) is not None:
        raise UnknownModelError("certify does not certify a lasso with one strength per column (weights=...).")
    return _judge(model, data, rigor, float(chosen(model, "alpha")), 1.0)


@reads("ElasticNet", "ElasticNetCV")
def _elastic_net(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    if getattr(model, "weights", None) is not None:
        raise UnknownModelError("certify does not certify an elastic net with one strength per column (weights=...).")
    return _judge(model, data, rigor, float(chosen(model, "alpha")), float(chosen(model, "l1_ratio")))


@reads("MultiTaskLasso", "MultiTaskElasticNet", "MultiTaskLassoCV", "MultiTaskElasticNetCV")
def _multitask(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    """Several targets whose coefficients of one column are penalised together, by their length."""
    alpha, ratio = float(chosen(model, "alpha")), chosen(model, "l1_ratio")
    ratio = 1.0 if ratio is None else float(ratio)
    if not alpha * ratio > 0.0:
        raise UnknownModelError("certify supports multi-task models with alpha > 0 and l1_ratio > 0.")
    return judge_columns(*fitted(model, data), data, alpha, ratio, has_offset(model), model_name(model), rigor)


def judge_columns(
    W: Array,
    b: Array,
    data: Data,
    alpha: float,
    ratio: float,
    offset: bool,
    name: str | None = None,
    rigor: Rigor = "float",
) -> Certificate:
    """Coefficients of several targets with a penalty on the length of each column of them."""
    objective = Objective(Squared(0.5), ColumnNorms(ratio), alpha * float(data.weights.sum()), offset)
    found = solve_multitask(
        as_design(data.X), _targets(data), np.array([alpha]), ratio, data.sample_weight,
        fit_intercept=offset, tol=_TIGHT, start=W,
    )  # fmt: skip
    dual = dual_point(objective, data, found.value[0][0], found.value[1][0])
    return issue("duality", data, evidence_of(objective, W, b) | {"dual": dual, "model": name}, rigor)


@reads("SGDRegressor")
def _sgd_regressor(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    """Judged by mean loss + α R, as its documentation states: ½ squared (or absolute) error, with an offset."""
    losses: dict[str, Loss] = {"squared_error": Squared(0.5)}
    if model.loss == "epsilon_insensitive" and model.epsilon == 0.0:
        losses["epsilon_insensitive"] = Absolute()
    ratios = {"l2": 0.0, "l1": 1.0, "elasticnet": float(model.l1_ratio), None: 0.0}
    if model.loss not in losses:
        raise UnknownModelError(
            f"certify supports SGDRegressor with loss='squared_error' (or 'epsilon_insensitive' with epsilon=0), "
            f"not {model.loss!r}."
        )
    ratio = ratios[model.penalty]
    # A mean over rows, however they are weighted; ours is one over the sum of the weights.
    alpha = 0.0 if model.penalty is None else float(model.alpha) * data.X.shape[0] / float(data.weights.sum())
    if model.loss == "squared_error":
        return _judge(model, data, rigor, alpha, ratio)
    if alpha == 0.0:
        raise UnknownModelError("certify supports the absolute loss of SGDRegressor only with a penalty (alpha > 0).")
    (W, b), total = fitted(model, data), float(data.weights.sum())
    objective = Objective(Absolute(), mix_of_norms(ratio), alpha * total, has_offset(model))
    found = solve_kinked(Task(objective, as_design(data.X), _targets(data)[:, 0], data.sample_weight), Options(_TIGHT))
    dual = dual_point(objective, data, W, b, slopes=found.stats["dual"][:, None])
    return issue("duality", data, evidence_of(objective, W, b) | {"dual": dual, "model": model_name(model)}, rigor)
