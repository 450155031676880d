"""How a study judges predictions: one score per task, greater is better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from certifit._types import Array


@dataclass(frozen=True)
class Measure:
    """The score that decides: its name for people, for `Search`, and its best value."""

    name: str
    scoring: str
    words: str


AUC = Measure(
    "AUC", "roc_auc", "area under the ROC curve: the chance that a random positive row outranks a negative one"
)
ACCURACY = Measure("accuracy", "accuracy", "share of rows whose class is predicted")
BALANCED = Measure("balanced accuracy", "balanced_accuracy", "mean over the classes of the share recognised")
R2 = Measure("R²", "r2", "share of the target's variance that is explained")


def measure_for(task: str, y: Array) -> Measure:
    """AUC for two classes, accuracy for more (balanced when a class is rare), R² for numbers."""
    if task != "classification":
        return R2
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
    if measure.name == "R²":
        return float(metrics.errors(y, said.labels).r2)
    counts = metrics.confusion(y, said.labels)
    return float(counts.accuracy if measure.name == "accuracy" else counts.balanced_accuracy)
