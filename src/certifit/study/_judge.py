"""How a study judges predictions: one score per task, greater is better and 1 the best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import xlogy
from sklearn.metrics import average_precision_score, brier_score_loss, f1_score, make_scorer, roc_auc_score

from certifit import metrics
from certifit._errors import respelled
from certifit._types import Array, BaseEstimator
from certifit.exceptions import OptionError


@dataclass(frozen=True)
class Answers:
    """What a model said about held-out rows."""

    labels: Array
    scores: Array | None = None  # decision value or probability of the last class (two classes)
    probabilities: Array | None = None

    def take(self, rows: Array | slice) -> Answers:
        """The answers for some of the rows."""
        scores, chances = self.scores, self.probabilities
        return Answers(
            self.labels[rows], None if scores is None else scores[rows], None if chances is None else chances[rows]
        )


@dataclass(frozen=True)
class Measure:
    """The score that decides: its name for people, for `Search`, what it means, and its formula.

    The formula takes the truth, the answers, the classes in order (None for numbers) and weights of the rows (or None).
    """

    name: str
    scoring: Any
    words: str
    formula: Callable[[Array, Answers, Array | None, Array | None], float]


def score(
    measure: Measure, y: Array, said: Answers, classes: Array | None = None, weights: Array | None = None
) -> float:
    """The score of held-out answers."""
    return float(measure.formula(y, said, classes, weights))


# -- classes ------------------------------------------------------------------------------------------
def _auc(y: Array, said: Answers, classes: Array | None, w: Array | None) -> float:
    if len(np.unique(y)) > 2 or (classes is not None and len(classes) > 2):
        return _mean_auc(y, said, classes, w)
    if said.scores is None or len(np.unique(y)) < 2:
        return float("nan")
    return float(metrics.roc(y, said.scores).auc if w is None else roc_auc_score(y, said.scores, sample_weight=w))


def _mean_auc(y: Array, said: Answers, classes: Array | None, w: Array | None) -> float:
    if classes is None or said.probabilities is None or said.probabilities.shape[1] != len(classes):
        return float("nan")
    each = [
        roc_auc_score(y == c, said.probabilities[:, k], sample_weight=w)
        for k, c in enumerate(classes)
        if 0 < np.sum(y == c) < len(y)
    ]
    return float(np.mean(each)) if each else float("nan")


def _accuracy(y: Array, said: Answers, classes: Array | None, w: Array | None) -> float:
    return float(np.average(said.labels == y, weights=w))


def _balanced(y: Array, said: Answers, classes: Array | None, w: Array | None) -> float:
    right = said.labels == y
    parts = [np.average(right[y == c], weights=None if w is None else w[y == c]) for c in np.unique(y)]
    return float(np.mean(parts))


def _precision(y: Array, said: Answers, classes: Array | None, w: Array | None, positive: Any = None) -> float:
    if said.scores is None or classes is None:
        return float("nan")
    scores = said.scores if positive == classes[-1] else -said.scores  # scores speak for the last class
    return float(average_precision_score(y == positive, scores, sample_weight=w))


def _f1(y: Array, said: Answers, classes: Array | None, w: Array | None, positive: Any = None) -> float:
    if positive is None:
        return float(f1_score(y, said.labels, average="macro", sample_weight=w, zero_division=0.0))
    return float(f1_score(y == positive, said.labels == positive, sample_weight=w, zero_division=0.0))


def _explained(y: Array, said: Answers, classes: Array | None, w: Array | None, kind: str = "log") -> float:
    """1 − loss / loss of the shares of these rows, for the log loss or the Brier score."""
    if classes is None or said.probabilities is None or said.probabilities.shape[1] != len(classes):
        return float("nan")
    hot = (y[:, None] == classes).astype(float)
    shares = np.average(hot, axis=0, weights=w)
    null = np.broadcast_to(shares, hot.shape)
    losses = [_loss(hot, p, kind) for p in (said.probabilities, null)]
    own, other = (float(np.average(v, weights=w)) for v in losses)
    return 1.0 - own / other if other > 0 else float("nan")


def _loss(hot: Array, p: Array, kind: str) -> Array:
    if kind == "brier":
        return np.asarray(((hot - p) ** 2).sum(axis=1))
    tiny = np.finfo(float).eps
    return np.asarray(-(hot * np.log(np.clip(p, tiny, 1.0))).sum(axis=1))


# -- numbers ------------------------------------------------------------------------------------------
def _r2(y: Array, said: Answers, classes: Array | None, w: Array | None) -> float:
    if w is None:
        return float(metrics.errors(y, said.labels).r2)
    mean = np.average(y, weights=w)
    total = float(np.sum(w * (y - mean) ** 2))
    return 1.0 - float(np.sum(w * (y - said.labels) ** 2)) / total if total > 0 else float("nan")


def _absolute(y: Array, said: Answers, classes: Array | None, w: Array | None) -> float:
    w = np.ones(len(y)) if w is None else w
    order = np.argsort(y, kind="stable")
    middle = y[order][np.searchsorted(np.cumsum(w[order]), 0.5 * w.sum())]
    null = float(np.sum(w * np.abs(y - middle)))
    return 1.0 - float(np.sum(w * np.abs(y - said.labels))) / null if null > 0 else float("nan")


_LEAST = 1e-3  # of the mean count: a prediction below it counts as it, for the deviance of 0 is infinite


def explained_deviance(y: Array, predicted: Array, sample_weight: Array | None = None) -> float:
    r"""Share of the Poisson deviance that is explained: :math:`D^2 = 1 - D(y, \hat y) / D(y, \bar y)`.

    With :math:`D(y, m) = 2 \sum_i (y_i \log (y_i / m_i) - y_i + m_i)`; predictions count as at least a thousandth of
    the mean.

    Examples
    --------
    >>> y = np.array([0.0, 2.0, 4.0])
    >>> [round(explained_deviance(y, m), 2) for m in (y, np.full(3, 2.0), y + 1.0)]
    [1.0, 0.0, 0.53]
    """
    w = np.ones(len(y)) if sample_weight is None else sample_weight
    y = np.asarray(y, dtype=float)
    mean = float(np.average(y, weights=w))
    if mean == 0.0:
        return float("nan")
    m = np.maximum(predicted, _LEAST * mean)
    null = 2.0 * float(np.sum(w * xlogy(y, y / mean)))
    loss = 2.0 * float(np.sum(w * (xlogy(y, y / m) - y + m)))
    return 1.0 - loss / null if null > 0.0 else float("nan")


def _deviance(y: Array, said: Answers, classes: Array | None, w: Array | None) -> float:
    return explained_deviance(y, said.labels, w)


# -- which --------------------------------------------------------------------------------------------
AUC = Measure(
    "AUC",
    "roc_auc",
    "area under the ROC curve, the chance that a random positive row is ranked above a random negative one",
    _auc,
)
ACCURACY = Measure("accuracy", "accuracy", "fraction of rows whose class is predicted correctly", _accuracy)
BALANCED = Measure("balanced accuracy", "balanced_accuracy", "mean recall over the classes", _balanced)
R2 = Measure("R²", "r2", "fraction of the target's variance that is explained", _r2)
D2 = Measure(
    "D²",
    make_scorer(explained_deviance),
    "fraction of the Poisson deviance of the counts that is explained",
    _deviance,
)
_LOG = Measure(
    "explained log loss",
    "neg_log_loss",
    "fraction of the log loss of the class frequencies that is explained",
    partial(_explained, kind="log"),
)
_MAE = Measure(
    "explained absolute error",
    "neg_mean_absolute_error",
    "fraction of the absolute error of the median that is explained",
    _absolute,
)
_CLASS_NAMES = ("auc", "accuracy", "balanced_accuracy", "average_precision", "f1", "log_loss", "brier")
_VALUE_NAMES = ("r2", "absolute_error", "deviance")
METRICS = (*_CLASS_NAMES, *_VALUE_NAMES)
"""Names that ``metric`` may have."""
_SAME = {
    "roc_auc": "auc",
    "brier_score": "brier",
    "mean_absolute_error": "absolute_error",
    "mae": "absolute_error",
    "rmse": "r2",
    "mse": "r2",
    "mean_squared_error": "r2",
    "root_mean_squared_error": "r2",
    "mean_poisson_deviance": "deviance",
    "d2": "deviance",
    "logloss": "log_loss",
}


def measure_for(task: str, y: Array) -> Measure:
    """AUC for two classes, accuracy for more (balanced when a class is rare), D² for counts, R² for other numbers."""
    if task != "classification":
        return D2 if task == "counts" else R2
    _, counts = np.unique(y, return_counts=True)
    if len(counts) == 2:
        return AUC
    return BALANCED if counts.min() < 0.5 * len(y) / len(counts) else ACCURACY


def measure_named(name: str, task: str, y: Array, positive: Any = None) -> Measure:
    """The measure of a name of `METRICS` (or scikit-learn's name for it), if it suits the task.

    Examples
    --------
    >>> measure_named("neg_log_loss", "classification", np.array(["a", "b"])).name
    'explained log loss'
    """
    plain = respelled("metric", name.strip().lower()).replace(" ", "_").removeprefix("neg_")
    plain = _SAME.get(plain, plain)
    suited = _CLASS_NAMES if task == "classification" else _VALUE_NAMES
    if task == "regression" and not np.all(y >= 0):
        suited = _VALUE_NAMES[:2]
    classes = np.unique(y) if task == "classification" else np.empty(0)
    if len(classes) > 2:
        suited = tuple(s for s in suited if s not in ("average_precision", "brier"))
    if plain not in suited:
        raise OptionError(f"The metric {name!r} does not apply to this target; choose one of: {', '.join(suited)}.")
    if plain == "auc" and len(classes) > 2:
        return Measure("AUC", "roc_auc_ovr", "mean over the classes of the area under the ROC curve", _auc)
    if plain in ("average_precision", "f1", "brier"):
        return _about_positive(plain, classes, positive)
    known = {"auc": AUC, "accuracy": ACCURACY, "balanced_accuracy": BALANCED, "log_loss": _LOG}
    return (known | {"r2": R2, "absolute_error": _MAE, "deviance": D2})[plain]


def _about_positive(name: str, classes: Array, positive: Any) -> Measure:
    """Average precision, F1 or Brier score of two classes, whose scorers ask for one of them."""
    if len(classes) > 2:
        words = "mean over the classes of the harmonic mean of precision and recall"
        return Measure("F1", "f1_macro", words, partial(_f1, positive=None))
    label = positive.item() if isinstance(positive, np.generic) else positive
    if name == "f1":
        words = f"harmonic mean of precision and recall of {label}"
        return Measure("F1", make_scorer(f1_score, pos_label=label), words, partial(_f1, positive=label))
    if name == "brier":
        scorer = make_scorer(
            brier_score_loss, greater_is_better=False, response_method="predict_proba", pos_label=label
        )
        words = "fraction of the Brier score of the class frequencies that is explained"
        return Measure("explained Brier score", scorer, words, partial(_explained, kind="brier"))
    ask = ("decision_function", "predict_proba")
    scorer = make_scorer(average_precision_score, response_method=ask, pos_label=label)
    words = f"mean precision over all thresholds, of {label}"
    return Measure("average precision", scorer, words, partial(_precision, positive=label))


def rarest(y: Array) -> Any:
    """The rarest class (the last of equals): the one that a study of two classes looks for."""
    labels, counts = np.unique(y, return_counts=True)
    return labels[::-1][counts[::-1].argmin()]


def answers_of(model: BaseEstimator, X: Array) -> Answers:
    """Predictions, probabilities and scores, as far as the model gives them."""
    found: Any = getattr(model, "best_estimator_", model)
    if hasattr(found, "steps"):  # the features are made once, not once per question
        X, found = found[:-1].transform(X), found.steps[-1][1]
    labels = np.asarray(found.predict(X))
    probabilities = np.asarray(found.predict_proba(X)) if hasattr(found, "predict_proba") else None
    scores = None
    if hasattr(found, "decision_function"):
        scores = np.asarray(found.decision_function(X))
        scores = scores if scores.ndim == 1 else None
    if scores is None and probabilities is not None and probabilities.shape[1] == 2:
        scores = probabilities[:, 1]
    return Answers(labels, scores, probabilities)
