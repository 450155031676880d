"""How good predicted probabilities are: calibration, Brier score, log loss, cost of decisions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from certifit._types import Array, Label, VectorLike, Weights
from certifit.losses import Asymmetric
from certifit.metrics._interval import (
    Figure,
    Interval,
    check_level,
    find_classes,
    labels_and_weights,
    mean_figure,
    positive_label,
    share_interval,
)


@dataclass(frozen=True)
class Calibration:
    """Predicted probability against the fraction of positives, by bins; see `calibration`.

    Attributes
    ----------
    predicted, observed : arrays of shape (n_bins,)
        Mean predicted probability and fraction of positives in each non-empty bin.
    counts, positives : arrays of shape (n_bins,)
        Summed weights, and those of the positives.
    edges : array
        Bin edges as asked for, empty bins included.
    brier : Figure
        Mean squared distance of probability and outcome.

    Examples
    --------
    >>> from certifit.metrics import calibration
    >>> c = calibration([0, 0, 1, 1], [0.1, 0.2, 0.7, 0.9], bins=2)
    >>> c.predicted.round(2).tolist(), c.observed.tolist()
    ([0.15, 0.8], [0.0, 1.0])
    """

    predicted: Array
    observed: Array
    counts: Array
    positives: Array
    edges: Array
    brier: Figure

    @property
    def error(self) -> float:
        """Expected calibration error: Σ (bin's share of rows) · |predicted − observed|."""
        return float(self.counts @ np.abs(self.predicted - self.observed) / self.counts.sum())

    def intervals(self, level: float = 0.95, method: str = "exact") -> list[Interval]:
        """Interval of the fraction of positives in each bin ("exact" or "wilson").

        Parameters
        ----------
        level : float in (0, 1), default=0.95
        method : {"exact", "wilson"}, default="exact"
        """
        check_level(level)
        return [share_interval(k, n, level, method) for k, n in zip(self.positives, self.counts)]


def _probabilities(
    y: VectorLike, prob: VectorLike, positive: Label | None, sample_weight: Weights
) -> tuple[Array, Array, Array]:
    a, p, w = labels_and_weights(y, prob, sample_weight, "probabilities")
    if p.dtype.kind not in "biuf" or np.any((p < 0) | (p > 1)):
        raise ValueError("Probabilities must be numbers between 0 and 1.")
    classes = find_classes(a)
    if positive is None and len(classes) == 1 and classes[0] in (-1, 0):
        return np.zeros(len(a), dtype=bool), p.astype(float), w
    return a == positive_label(classes, positive), p.astype(float), w


def calibration(
    y: VectorLike,
    prob: VectorLike,
    bins: int = 10,
    strategy: str = "uniform",
    positive: Label | None = None,
    sample_weight: Weights = None,
) -> Calibration:
    """Calibration curve: of the rows given probability about p, how many were positive?

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels of two classes.
    prob : array-like of shape (n,)
        Predicted probability of the positive class.
    bins : int ≥ 1, default=10
    strategy : {"uniform", "quantile"}, default="uniform"
        Bins of equal width, or of (about) equal counts.
    positive : label, default=None
        The last of two classes when None.
    sample_weight : array-like of shape (n,), default=None

    Returns
    -------
    Calibration

    Examples
    --------
    >>> c = calibration([0, 0, 1, 1, 1], [0.1, 0.2, 0.8, 0.9, 0.3], bins=2)
    >>> c.observed.round(3), round(c.error, 3)
    (array([0.333, 1.   ]), 0.14)
    """
    truth, p, w = _probabilities(y, prob, positive, sample_weight)
    if bins < 1 or strategy not in ("uniform", "quantile"):
        raise ValueError(f"bins must be ≥ 1 and strategy 'uniform' or 'quantile'; got {bins}, {strategy!r}.")
    edges = np.linspace(0, 1, bins + 1)
    if strategy == "quantile":
        edges = np.unique(np.percentile(p, edges * 100))
    at = np.searchsorted(edges[1:-1], p)
    size = max(len(edges) - 1, 1)
    counts = np.bincount(at, w, minlength=size)
    seen = counts > 0
    positives = np.bincount(at, w * truth, minlength=size)[seen]
    predicted = np.bincount(at, w * p, minlength=size)[seen] / counts[seen]
    brier = mean_figure(np.square(p - truth), w)
    return Calibration(predicted, positives / counts[seen], counts[seen], positives, edges, brier)


def brier_score(
    y: VectorLike, prob: VectorLike, positive: Label | None = None, sample_weight: Weights = None
) -> Figure:
    """Mean squared distance of the predicted probability from what happened (0 or 1).

    Σ sᵢ (pᵢ − tᵢ)² / Σ sᵢ, with tᵢ = 1 for the positive class and 0 for the other.

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels.
    prob : array-like of shape (n,)
        Probability of the positive class, in [0, 1].
    positive : label, default=None
        The positive class; the last in sorted order when None.
    sample_weight : array-like of shape (n,), default=None
        Weights; k counts as k rows.

    Examples
    --------
    >>> round(brier_score([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3]), 4)
    0.0375
    """
    truth, p, w = _probabilities(y, prob, positive, sample_weight)
    return mean_figure(np.square(p - truth), w)


def log_score(
    y: VectorLike, prob: VectorLike, labels: VectorLike | None = None, sample_weight: Weights = None
) -> Figure:
    """Mean negative log probability of what happened (log loss), with an interval.

    −Σ sᵢ log pᵢ / Σ sᵢ, with pᵢ the probability of the class that occurred (kept at least 2⁻⁵² from 0 and 1).

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels.
    prob : array-like of shape (n,) or (n, n_classes)
        Probability of the positive class, or of each class in sorted order.
    labels : array-like, default=None
        All classes, when not all occur in ``y``.
    sample_weight : array-like of shape (n,), default=None
        Weight k counts as k rows.

    Examples
    --------
    >>> round(log_score(["spam", "ham", "ham", "spam"], [[0.1, 0.9], [0.9, 0.1], [0.8, 0.2], [0.35, 0.65]]), 4)
    0.2162
    """
    p = np.asarray(prob, dtype=float)
    p = np.column_stack([1 - p, p]) if p.ndim == 1 else p
    a, _, w = labels_and_weights(y, p[:, 0], sample_weight, "probabilities")
    classes = np.unique(np.asarray(labels)) if labels is not None else find_classes(a)
    if len(classes) != p.shape[1]:
        raise ValueError(f"There are {len(classes)} classes but {p.shape[1]} columns: pass labels= with all classes.")
    if np.any((p < 0) | (p > 1)):
        raise ValueError("Probabilities must be numbers between 0 and 1.")
    tiny = np.finfo(float).eps
    chosen = np.clip(p, tiny, 1 - tiny)[np.arange(len(a)), np.searchsorted(classes, a)]
    return mean_figure(-np.log(chosen), w)


def cost(
    y: VectorLike,
    yhat: VectorLike,
    false_positive: float = 1.0,
    false_negative: float = 1.0,
    positive: Label | None = None,
    sample_weight: Weights = None,
) -> Figure:
    """Mean cost per row when false positives and false negatives have different costs.

    (c_fp · FP + c_fn · FN) / n.

    Parameters
    ----------
    y, yhat : array-like of shape (n,)
        True and predicted labels of two classes.
    false_positive, false_negative : float ≥ 0, default=1.0
        Cost of a false alarm and of a miss.
    positive : label, default=None
        The last of two classes when None.
    sample_weight : array-like of shape (n,), default=None

    Returns
    -------
    Figure
        With Student's interval over the rows' costs.

    Examples
    --------
    >>> cost([1, 1, 0, 0, 0], [1, 0, 0, 1, 0], false_positive=1, false_negative=9)
    2.0
    """
    a, b, w = labels_and_weights(y, yhat, sample_weight, "predictions")
    which = positive_label(find_classes(a, b), positive)
    loss = Asymmetric(float(false_positive), float(false_negative))
    return mean_figure(loss.value(np.where(b == which, 1.0, -1.0), np.where(a == which, 1.0, -1.0)), w)
