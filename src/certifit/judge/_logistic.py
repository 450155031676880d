"""Judging logistic regression: ours, scikit-learn's with every solver, and stochastic gradient descent's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse

from certifit._objective import Objective, names_of
from certifit._types import Array, BaseEstimator
from certifit.certificates import Certificate, Data, issue
from certifit.certificates._data import Rigor
from certifit.design import as_design
from certifit.exceptions import UnknownModelError
from certifit.judge._registry import model_name, reads
from certifit.judge._svm import judge_hinge
from certifit.losses import Logistic, Softmax
from certifit.regularizers import Zero, mix_of_norms
from certifit.solvers import Options, Task
from certifit.solvers.dual import dual_point, evidence_of, local_bound_suits
from certifit.solvers.smooth import solve_smooth


def _class_factors(model: BaseEstimator, data: Data, classes: Array, weighted: bool) -> Array:
    """The factor of each class, as scikit-learn computes it (SGDClassifier counts rows, not weights)."""
    given = getattr(model, "class_weight", None)
    if given is None:
        return np.ones(len(classes))
    y = np.asarray(data.y)
    if isinstance(given, str):
        weights = data.weights if weighted else np.ones(len(y))
        counts = np.array([weights[y == c].sum() for c in classes])
        with np.errstate(divide="ignore"):  # a class that y does not hold has no rows to weigh
            return np.where(counts > 0, weights.sum() / (len(classes) * counts), 1.0)
    return np.array([given.get(c, 1.0) for c in classes.tolist()], dtype=float)


def judge_logistic(
    model: BaseEstimator,
    data: Data,
    strength: float,
    ratio: float,
    name: str | None,
    pad: float | None,
    rigor: Rigor,
    weighted: bool = True,
) -> Certificate:
    """P of the model minus the best that can be had, for Λ = ``strength`` (sum form)."""
    classes = np.asarray(model.classes_)
    factors = _class_factors(model, data, classes, weighted)
    coef, b = np.atleast_2d(np.asarray(model.coef_, dtype=float)), np.ravel(np.asarray(model.intercept_, dtype=float))
    prior = getattr(model, "prior", None)
    regularizer = Zero() if strength == 0 else mix_of_norms(ratio, prior=prior)
    weighed = None if np.all(factors == 1.0) else tuple(factors)
    two, offset = len(classes) == 2, bool(model.fit_intercept)
    loss = Logistic() if two else Softmax()
    objective = Objective(loss, regularizer, strength, offset, names_of(classes), weighed, padding=pad)
    W, at = _best(objective, data, np.searchsorted(classes, np.asarray(data.y)), factors, coef.shape)
    evidence = evidence_of(objective, coef, b) | {"witness_coef": W, "witness_intercept": at, "model": name}
    if two and ratio == 0 and local_bound_suits(objective, data.X):
        return issue("local", data, evidence, rigor)
    return issue("duality", data, evidence | {"dual": dual_point(objective, data, W, at)}, rigor)


def _best(objective: Objective, data: Data, code: Array, factors: Array, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """Our own solution; a penalised offset is the weight of one more column."""
    X, pad, full = data.X, objective.padding, objective.regularizer
    if pad is not None:
        column = np.full((X.shape[0], 1), pad)
        X = scipy.sparse.hstack([X, column], format="csr") if scipy.sparse.issparse(X) else np.hstack([X, column])
    prior = getattr(full, "prior", None)
    if prior is not None:  # one guess may serve every class
        full = replace(full, prior=tuple(np.broadcast_to(np.reshape(prior, (-1, shape[1])), shape).ravel()))  # type: ignore[type-var]
    two = objective.loss.targets == "sign"
    names = None if two else objective.classes
    plain = Objective(objective.loss, full, objective.strength, objective.free, names)
    target = np.where(code == 1, 1.0, -1.0) if two else code
    task = Task(plain, as_design(X), target, data.weights * factors[code])
    W, b = solve_smooth(task, Options(1e-12)).value
    return (W, b) if pad is None else (W[:, :-1], W[:, -1] * pad)


@reads("LogisticRegression", "LogisticRegressionCV")
def _logistic(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    penalty = getattr(model, "penalty", "deprecated")
    C = float(np.ravel(model.C_)[0]) if hasattr(model, "C_") else float(model.C)
    found = np.ravel(getattr(model, "l1_ratio_", getattr(model, "l1_ratio", 0.0)))[0]  # what a search chose comes first
    ratio = {"l1": 1.0, "l2": 0.0, None: 0.0}.get(penalty, found or 0.0)
    strength = 0.0 if penalty is None or np.isinf(C) else 1.0 / C
    name, pad = model_name(model), None
    if name is not None:
        name += f"({model.solver})"
        if model.solver == "liblinear" and model.fit_intercept:
            # liblinear penalises the offset as one more coefficient: it is judged by that objective.
            pad = float(model.intercept_scaling)
            name += " by its own objective, which penalises the offset"
    return judge_logistic(model, data, strength, float(ratio), name, pad, rigor)


@reads("SGDClassifier")
def _sgd(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    if model.loss in ("hinge", "squared_hinge") and model.penalty == "l2":
        return judge_hinge(model, data, rigor)
    if model.loss != "log_loss" or len(model.classes_) > 2:
        raise UnknownModelError(
            "certify supports SGDClassifier with loss='hinge' or 'squared_hinge' (penalty='l2'), or 'log_loss' for two "
            f"classes; this one has loss={model.loss!r}, penalty={model.penalty!r} and {len(model.classes_)} classes."
        )
    ratio = {"l1": 1.0, "l2": 0.0, None: 0.0}.get(model.penalty, model.l1_ratio)
    # Its objective is a mean over rows, however they are weighted: Λ = α times their number.
    strength = 0.0 if model.penalty is None else float(model.alpha) * data.X.shape[0]
    name = f"{model_name(model)}(log_loss)"
    return judge_logistic(model, data, strength, float(ratio), name, None, rigor, weighted=False)
