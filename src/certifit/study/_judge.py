"""How a study judges predictions: one score per task, greater is better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import xlogy
from sklearn.metrics import make_scorer

from certifit._types import Array


@dataclass(frozen=True)
class Measure:
    """The score that decides: its name for people, for `Search`, and its best value."""

    name: str
    scoring: Any
    words: str


AUC = Measure(
    "AUC", "roc_auc", "area under the ROC curve: the chance that a random positive row outranks a negative one"
)
ACCURACY = Measure("accuracy", "accuracy", "share of rows whose class is predicted")
BALANCED = Measure("balanced accuracy", "balanced_accuracy", "mean over the classes of the share recognised")
R2 = Measure("R²", "r2", "share of the target's variance that is explained")
_LEAST = 1e-3  # of the mean count: a prediction below it counts as it, for the deviance of 0 is infinite


def explained_deviance(y: Array, predicted: Array) -> float:
    r"""Share of the Poisson deviance that is explained: :math:`D^2 = 1 - D(y, \hat y) / D(y, \bar y)`.

    With :math:`D(y, m) = 2 \sum_i (y_i \log (y_i / m_i) - y_i + m_i)`; predictions count as at least a thousandth of
    the mean.

    Examples
    --------
    >>> y = np.array([0.0, 2.0, 4.0])
    >>> [round(explained_deviance(y, m), 2) for m in (y, np.full(3, 2.0), y + 1.0)]
    [1.0, 0.0, 0.53]
    """
    y, mean = np.asarray(y, dtype=float), float(np.mean(y))
    if mean == 0.0:
        return float("nan")
    m = np.maximum(predicted, _LEAST * mean)
    null = 2.0 * float(np.sum(xlogy(y, y / mean)))
    loss = 2.0 * float(np.sum(xlogy(y, y / m) - y + m))
    return 1.0 - loss / null if null > 0.0 else float("nan")


D2 = Measure("D²", make_scorer(explained_deviance), "share of the Poisson deviance of the counts that is explained")


def measure_for(task: str, y: Array) -> Measure:
    """AUC for two classes, accuracy for more (balanced when a class is rare), D² for counts, R² for other numbers."""
    if task != "classification":
        return D2 if task == "counts" else R2
    _, counts = np.unique(y, return_counts=True)
    if len(counts) == 2:
        return AUC
    return BALANCED if counts.min() < 0.5 * len(y) / len(counts) else ACCURACY


@dataclass(frozen=True)
class Answers:
    """What a model said about held-out rows."""

    labels: Array
    scores: Array | None = None  # decision value or probability of the last class (two classes)
    probabilities: Array | None = None


def answers_of(model: Any, X: Array) -> Answers:
    """Predictions, probabilities and scores, as far as the model gives them."""
    model = getattr(model, "best_estimator_", model)
    if hasattr(model, "steps"):  # the features are made once, not once per question
        X, model = model[:-1].transform(X), model.steps[-1][1]
    labels = np.asarray(model.predict(X))
    probabilities = np.asarray(model.predict_proba(X)) if hasattr(model, "predict_proba") else None
    scores = None
    if hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(X))
        scores = scores if scores.ndim == 1 else None
    if scores is None and probabilities is not None and probabilities.shape[1] == 2:
        scores = probabilities[:, 1]
    return Answers(labels, scores, probabilities)


def score(measure: Measure, y: Array, said: Answers) -> float:
    """The score of held-out answers."""
    from certifit import metrics

    if measure is AUC or measure.name == "AUC":
        if said.scores is None:
            return float("nan")
        return float(metrics.roc(y, said.scores).auc)
    if measure.name == "D²":
        return explained_deviance(y, said.labels)
    if measure.name == "R²":
        return float(metrics.errors(y, said.labels).r2)
    counts = metrics.confusion(y, said.labels)
    return float(counts.accuracy if measure.name == "accuracy" else counts.balanced_accuracy)
