"""Why this prediction: what each column of one row contributes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from certifit._types import Array, Pipeline
from certifit.files import TableModel
from certifit.study._winner import feature_names, in_plain_words


@dataclass(frozen=True)
class Explanation:
    """A prediction, its probabilities (classes), and contributions with the largest first.

    Attributes
    ----------
    prediction : str
    probabilities : list of (label, probability)
    about : str
        What the contributions are.
    contributions : list of (name, value)
    path : str
        The way through the tree, for trees.

    Examples
    --------
    >>> Explanation("yes", [("no", 0.2), ("yes", 0.8)], "log-odds", [("dose", 1.2)]).contributions[0]
    ('dose', 1.2)
    """

    prediction: str
    probabilities: list[tuple[str, float]]
    about: str
    contributions: list[tuple[str, float]]
    path: str = ""


def explain(model: TableModel, X: Array) -> Explanation:
    """Explain the prediction for one row of a schema's matrix (1, columns).

    Linear and additive models: score = offset + Σ coefficient × feature, added up by column. Others: how the prediction
    (of a number) or the probability of the predicted class would change if a column's cell were missing.

    Parameters
    ----------
    model : TableModel
    X : (1, columns) array

    Returns
    -------
    Explanation

    Examples
    --------
    >>> from certifit.study import run
    >>> x = np.sin(np.arange(60.0))
    >>> table = {"x": x, "y": 2 * x + 0.1 * np.cos(7 * np.arange(60.0))}
    >>> model = run(table, "y", models=["least squares"], folds=3).model
    >>> why = explain(model, np.array([[0.5]]))
    >>> 0.9 < float(why.prediction) < 1.1
    True
    """
    said = model.pipeline.predict(X)[0]
    probabilities: list[tuple[str, float]] = []
    if hasattr(model.pipeline, "predict_proba"):
        p = np.asarray(model.pipeline.predict_proba(X))[0]
        probabilities = [(str(c), float(v)) for c, v in zip(model.classes_, p)]
    prediction = f"{said:.6g}" if isinstance(said, (float, np.floating)) else str(said)
    coef, owners = getattr(model.estimator, "coef_", None), owners_of(model.pipeline)
    if coef is not None and np.size(coef) == np.shape(coef)[-1] == len(owners):
        about, terms = _linear(model, X, np.ravel(np.asarray(coef, dtype=float)), owners)
    else:
        about, terms = _one_at_a_time(model, X, said)
    terms.sort(key=lambda t: -abs(t[1]))
    return Explanation(prediction, probabilities, about, terms, _path(model, X))


def owners_of(pipeline: Pipeline) -> list[str]:
    """The table's column behind each feature of the last step ("a × b" for products); empty where steps mix columns."""
    steps = [step for _, step in getattr(pipeline, "steps", [])]
    if not steps or type(steps[0]).__name__ != "TableEncoder" or steps[0].gaps:
        return []
    owners = [steps[0].names[j] for j in steps[0].owners_]
    for step in steps[1:-1]:
        if type(step).__name__ != "AdditiveBasis":
            return []
        single = [owner for owner, t in zip(owners, step.knots_) for _ in range(len(t) - 1)]
        both = [(owners[i], owners[j], (len(s) - 1) * (len(t) - 1)) for i, j, s, t in step.pairs_]
        owners = single + [f"{a} × {b}" if a != b else a for a, b, count in both for _ in range(count)]
    return owners


def _linear(model: TableModel, X: Array, coef: Array, owners: list[str]) -> tuple[str, list[tuple[str, float]]]:
    """Terms of the score, those of one column added up."""
    Z = model.features(X)[0]
    estimator = model.estimator
    classes = getattr(estimator, "classes_", None)
    towards = "" if classes is None else f" (positive values favour {classes[-1]})"
    if hasattr(estimator, "smearing_") or getattr(estimator, "link_", "") == "log":
        towards = ", which is the logarithm of the prediction"
    added: dict[str, float] = {}
    for owner, c, z in zip(owners, coef, Z):
        added[owner] = added.get(owner, 0.0) + float(c * z)
    terms = [(name, value) for name, value in added.items() if value != 0.0]
    intercept = float(np.ravel(np.asarray(getattr(model.estimator, "intercept_", 0.0), dtype=float))[0])
    return f"terms of the score{towards}", [*terms, ("(offset)", intercept)]


def _one_at_a_time(model: TableModel, X: Array, said: Any) -> tuple[str, list[tuple[str, float]]]:
    classes = getattr(model.estimator, "classes_", None)
    if classes is not None and not hasattr(model.pipeline, "predict_proba"):
        return "", []

    def value(row: Array) -> float:
        if classes is None:
            return float(model.pipeline.predict(row)[0])
        at = int(np.flatnonzero(np.asarray(classes) == said)[0])
        return float(model.pipeline.predict_proba(row)[0, at])

    whole, terms = value(X), []
    for j, column in enumerate(model.schema.columns):
        row = X.copy()
        row[0, j] = np.nan
        change = whole - value(row)
        if change != 0.0:
            terms.append((column.name, change))
    what = "the prediction" if classes is None else f"the probability of {said}"
    return f"how much each cell adds to {what}, against not knowing it", terms


def _path(model: TableModel, X: Array) -> str:
    tell = getattr(model.estimator, "explain", None)
    if tell is None:
        return ""
    names = feature_names(model.pipeline)
    told = re.sub(r"\bx\[?(\d+)\b\]?", lambda m: names[int(m.group(1))], str(tell(model.features(X)[0])))
    return in_plain_words(told, names)
