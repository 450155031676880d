"""Judging logistic regression: ours, scikit-learn's with every solver, and stochastic gradient descent's."""

from __future__ import annotations

from typing import Any

import numpy as np

from certifit._errors import UnknownModelError
from certifit._types import Array
from certifit.certificates import Certificate, Data, issue
from certifit.certificates._data import Rigor
from certifit.design import as_design
from certifit.judge._registry import model_name, reads
from certifit.judge._svm import judge_hinge
from certifit.losses import Logistic, Softmax, loss_spec
from certifit.objective import Objective, names_of
from certifit.regularizers import Zero, mix_of_norms, regularizer_spec
from certifit.solvers import Options, Task
from certifit.solvers.smooth import solve_smooth


def _class_factors(model: Any, data: Data, classes: Array, weighted: bool) -> Array:
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
    model: Any,
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
    evidence: dict[str, Any] = {
        "coef": coef,
        "intercept": np.broadcast_to(b, (len(coef),)).copy(),
        "fit_intercept": bool(model.fit_intercept),
        "loss": loss_spec(Logistic()),
        "regularizer": regularizer_spec(regularizer),
        "lam": float(strength),
        "lam_per": "sum",
        "classes": classes,
        "model": name,
    }
    if not np.all(factors == 1.0):
        evidence["class_weight"] = factors
    if pad is not None:
        evidence |= {"pad": pad, "fit_intercept": False, "coef": np.column_stack([coef, b / pad])}
        evidence["intercept"] = np.zeros(len(coef))
    whole = data.padded(evidence)
    code = np.searchsorted(classes, np.asarray(data.y))
    two, shape = len(classes) == 2, (coef.shape[0], whole.X.shape[1])
    full = regularizer if prior is None or strength == 0 else mix_of_norms(ratio, prior=np.broadcast_to(prior, shape))
    loss, names = (Logistic(), None) if two else (Softmax(), names_of(classes))
    objective = Objective(loss, full, strength, evidence["fit_intercept"], classes=names)
    target = np.where(code == 1, 1.0, -1.0) if two else code
    task = Task(objective, as_design(whole.X), target, data.weights * factors[code])
    solution = solve_smooth(task, Options(1e-12))
    evidence |= {"witness_coef": solution.value[0], "witness_intercept": solution.value[1]}
    if len(classes) > 2:
        return issue("softmax-duality", data, evidence, rigor)
    return issue("local" if ratio == 0 else "duality", data, evidence, rigor)


@reads("LogisticRegression", "LogisticRegressionCV")
def _logistic(model: Any, data: Data, rigor: Rigor) -> Certificate:
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
def _sgd(model: Any, data: Data, rigor: Rigor) -> Certificate:
    if model.loss in ("hinge", "squared_hinge") and model.penalty == "l2":
        return judge_hinge(model, data, rigor)
    if model.loss != "log_loss" or len(model.classes_) > 2:
        raise UnknownModelError(
            "certify judges SGDClassifier with loss='hinge' or 'squared_hinge' (penalty='l2'), or 'log_loss' for two "
            f"classes; this one has loss={model.loss!r}, penalty={model.penalty!r} and {len(model.classes_)} classes."
        )
    ratio = {"l1": 1.0, "l2": 0.0, None: 0.0}.get(model.penalty, model.l1_ratio)
    # Its objective is a mean over rows, however they are weighted: Λ = α times their number.
    strength = 0.0 if model.penalty is None else float(model.alpha) * data.X.shape[0]
    name = f"{model_name(model)}(log_loss)"
    return judge_logistic(model, data, strength, float(ratio), name, None, rigor, weighted=False)
