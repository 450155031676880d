r"""Curves of a score: ROC and precision-recall, with intervals and a band.

The area under the ROC curve is the probability that a positive row scores higher than a negative one (ties
count half). DeLong, DeLong and Clarke-Pearson (1988): with V the fraction of negatives below each positive and
U the fraction of positives above each negative, its variance is var(V)/n₊ + var(U)/n₋; computed from mid-ranks
in O(n log n).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from certifit._types import Array, Label, VectorLike, Weights
from certifit.metrics._interval import (
    Figure,
    Interval,
    check_level,
    find_classes,
    labels_and_weights,
    logit_interval,
    normal_quantile,
    positive_label,
    wilson_limits,
)


@dataclass(frozen=True)
class Roc:
    """A ROC curve; see `roc`.

    Attributes
    ----------
    fpr, tpr, thresholds : arrays
        A row is called positive when its score is at least the threshold; starts at (0, 0) with threshold ∞.
    n_positive, n_negative : float
        Summed weights of the two classes.
    variance : float
        DeLong's, of the area.

    Examples
    --------
    >>> from certifit.metrics import roc
    >>> curve = roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> float(curve.auc), curve.fpr[0], curve.tpr[-1]
    (0.75, np.float64(0.0), np.float64(1.0))
    """

    fpr: Array
    tpr: Array
    thresholds: Array
    n_positive: float
    n_negative: float
    variance: float

    @property
    def auc(self) -> Figure:
        """Area under the curve."""
        area = float(np.trapezoid(self.tpr, self.fpr))
        return Figure(area, lambda level: self._limits(area, level, "delong"))

    def interval(self, level: float = 0.95, method: str = "delong") -> Interval:
        """Interval for the area.

        Parameters
        ----------
        level : float in (0, 1), default=0.95
        method : {"delong", "logit"}, default="delong"
            DeLong's variance on the plain scale (cut at 0 and 1), or on the log-odds scale (better near 1).

        Returns
        -------
        Interval
        """
        if method not in ("delong", "logit"):
            raise ValueError(f"method must be 'delong' or 'logit'; got {method!r}.")
        return self._limits(float(self.auc), check_level(level), method)

    def _limits(self, area: float, level: float, method: str) -> Interval:
        if self.variance <= 0:
            # A perfect ranking shows no spread; as many pairs as the smaller class has rows are independent.
            n = min(self.n_positive, self.n_negative)
            low, high = wilson_limits(area * n, n, level)
            return Interval(min(low, area), max(high, area), level, "Wilson, perfect ranking")
        if method == "logit":
            return logit_interval(area, self.variance, level, "DeLong, log-odds")
        reach = normal_quantile(level) * math.sqrt(self.variance)
        return Interval(max(area - reach, 0.0), min(area + reach, 1.0), level, "DeLong")

    def band(self, level: float = 0.95) -> tuple[Array, Array]:
        """Lower and upper curve (at ``fpr``) that hold the whole true ROC curve with this confidence.

        Each class's distribution of scores is within √(log(2/a)/(2n)) of the one seen (Dvoretzky, Kiefer,
        Wolfowitz, Massart), with a = 1 − √level for each of the two; a rectangle of that size moves along
        the curve. It holds for every sample size and is wide for small ones.
        """
        a = 1.0 - math.sqrt(check_level(level))
        up = math.sqrt(math.log(2 / a) / (2 * self.n_positive))
        across = math.sqrt(math.log(2 / a) / (2 * self.n_negative))
        high = _step(self.fpr, self.tpr, self.fpr + across, "right") + up
        low = _step(self.fpr, self.tpr, self.fpr - across, "left") - up
        high = np.where(self.fpr + across >= 1.0, 1.0, high)
        low = np.where(self.fpr - across <= 0.0, 0.0, low)
        return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)

    def cheapest(self, false_positive: float = 1.0, false_negative: float = 1.0) -> tuple[float, float]:
        """Threshold of least cost on these rows, and that cost per row.

        Parameters
        ----------
        false_positive, false_negative : float ≥ 0
            What each kind of mistake costs.
        """
        n = self.n_positive + self.n_negative
        misses = false_negative * (1 - self.tpr) * self.n_positive
        costs = (false_positive * self.fpr * self.n_negative + misses) / n
        best = int(np.argmin(costs))
        return float(self.thresholds[best]), float(costs[best])


def _step(x: Array, y: Array, at: Array, side: Any) -> Array:
    # The staircase's largest value up to `at` ("right"), or its smallest value from `at` on ("left").
    index = np.searchsorted(x, at, side=side)
    index = index - 1 if side == "right" else index
    return y[np.clip(index, 0, len(y) - 1)]


def roc(y: VectorLike, score: VectorLike, positive: Label | None = None, sample_weight: Weights = None) -> Roc:
    """ROC curve of a score.

    A row is called positive where its score is ≥ t; TPR = TP / (TP + FN) against FPR = FP / (FP + TN) as t falls.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels of two classes (of more, with ``positive`` named: that class against the rest).
    score : array-like of shape (n,)
        Larger means more likely positive: probability, decision value, anything that orders.
    positive : label, default=None
        The last of two classes in sorted order when None.
    sample_weight : array-like of shape (n,), default=None
        Weight k counts as k rows.

    Returns
    -------
    Roc

    Examples
    --------
    >>> r = roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> r.auc, r.interval(0.9)
    (0.75, 0.1685 to 1 (90 %, DeLong))
    """
    truth, s, w = _ranked(y, score, positive, sample_weight)
    wp, wn = w * truth, w * ~truth
    positives, negatives = float(wp.sum()), float(wn.sum())
    levels, at = np.unique(s, return_inverse=True)
    p, q = np.bincount(at, wp), np.bincount(at, wn)
    tpr = np.concatenate([[0.0], np.cumsum(p[::-1])]) / positives
    fpr = np.concatenate([[0.0], np.cumsum(q[::-1])]) / negatives
    tpr[-1] = fpr[-1] = 1.0
    below = (np.cumsum(q) - q / 2) / negatives  # fraction of negatives below each score level, ties half
    above = 1.0 - (np.cumsum(p) - p / 2) / positives
    variance = _spread(below, p, positives) + _spread(above, q, negatives)
    return Roc(fpr, tpr, np.concatenate([[np.inf], levels[::-1]]), positives, negatives, variance)


def roc_auc(y: VectorLike, score: VectorLike, average: str = "macro", sample_weight: Weights = None) -> Figure:
    """Area under the ROC curve, also of more than two classes (one against the rest), with an interval.

    AUC = P(score of a positive > score of a negative) + ½ P(equal).

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels.
    score : array-like of shape (n,) or (n, n_classes)
        Larger for the positive class; for more than two classes a column for each, in sorted order.
    average : {"macro", "weighted"}, default="macro"
        Plain mean over the classes, or weighted by their counts.
    sample_weight : array-like of shape (n,), default=None
        Weight k counts as k rows.

    Examples
    --------
    >>> roc_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    labels, s = np.asarray(y), np.asarray(score)
    if s.ndim == 1 or s.shape[1] <= 2:
        return roc(labels, s if s.ndim == 1 else s[:, -1], sample_weight=sample_weight).auc
    classes = np.unique(labels)
    if len(classes) != s.shape[1]:
        raise ValueError(f"There are {len(classes)} classes but {s.shape[1]} columns of scores.")
    if average not in ("macro", "weighted"):
        raise ValueError(f"average must be 'macro' or 'weighted'; got {average!r}.")
    curves = [roc(labels == c, s[:, j], True, sample_weight) for j, c in enumerate(classes)]
    part = np.array([r.n_positive for r in curves]) if average == "weighted" else np.ones(len(curves))
    part = part / part.sum()
    value = float(part @ [r.auc for r in curves])

    def limits(level: float) -> Interval:
        # The classes' areas share rows; their covariances are at most the product of the spreads, hence the sum.
        half = float(part @ [r.interval(level).width / 2 for r in curves])
        return Interval(max(value - half, 0.0), min(value + half, 1.0), level, "DeLong, one against the rest")

    return Figure(value, limits)


def _spread(values: Array, weights: Array, n: float) -> float:
    mean = float(weights @ values / n)
    return float(weights @ np.square(values - mean)) / max(n - 1.0, 1.0) / n


def _ranked(
    y: VectorLike, score: VectorLike, positive: Label | None, sample_weight: Weights
) -> tuple[Array, Array, Array]:
    a, s, w = labels_and_weights(y, score, sample_weight, "scores")
    if s.dtype.kind not in "biuf":
        raise ValueError("Scores must be numbers: pass probabilities or decision values.")
    classes = find_classes(a[w > 0])
    if len(classes) < 2:
        raise ValueError(f"Only class {classes.tolist()} occurs: a curve needs rows of both classes.")
    return a == positive_label(classes, positive), s.astype(float), w


@dataclass(frozen=True)
class PrecisionRecall:
    """A precision-recall curve; see `precision_recall`. Arrays run from the lowest threshold to recall 0.

    Attributes
    ----------
    precision, recall, thresholds : array
    n_positive : float
        Weight of the positive rows.

    Examples
    --------
    >>> from certifit.metrics import precision_recall
    >>> round(float(precision_recall([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).average_precision), 4)
    0.8333
    """

    precision: Array
    recall: Array
    thresholds: Array
    n_positive: float

    @property
    def average_precision(self) -> Figure:
        """Σ (Rₖ − Rₖ₋₁) Pₖ: the mean precision over the positives."""
        value = float(-np.sum(np.diff(self.recall) * self.precision[:-1]))
        return Figure(value, lambda level: self._limits(value, level))

    def interval(self, level: float = 0.95) -> Interval:
        """Interval for the average precision: binomial variance on the log-odds scale (Boyd 2013).

        Parameters
        ----------
        level : float in (0, 1), default=0.95
        """
        return self._limits(float(self.average_precision), check_level(level))

    def _limits(self, value: float, level: float) -> Interval:
        value = min(max(value, 0.0), 1.0)
        if value in (0.0, 1.0):
            return Interval(*wilson_limits(value * self.n_positive, self.n_positive, level), level, "Wilson")
        return logit_interval(value, value * (1 - value) / self.n_positive, level, "binomial, log-odds")


def precision_recall(
    y: VectorLike, score: VectorLike, positive: Label | None = None, sample_weight: Weights = None
) -> PrecisionRecall:
    """Precision-recall curve of a score (parameters as in `roc`).

    TP / (TP + FP) against TP / (TP + FN) as the threshold t of score ≥ t falls.

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels.
    score : array-like of shape (n,)
        Larger for the positive class.
    positive : label, default=None
        The positive class; the last in sorted order when None.
    sample_weight : array-like of shape (n,), default=None
        Weights; k counts as k rows.

    Returns
    -------
    PrecisionRecall

    Examples
    --------
    >>> curve = precision_recall([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> round(curve.average_precision, 4)
    0.8333
    """
    truth, s, w = _ranked(y, score, positive, sample_weight)
    levels, at = np.unique(s, return_inverse=True)
    hits = np.cumsum(np.bincount(at, w * truth)[::-1])[::-1]
    called = np.cumsum(np.bincount(at, w)[::-1])[::-1]
    positives = float(np.sum(w * truth))
    precision = np.divide(hits, called, out=np.ones_like(hits), where=called > 0)
    return PrecisionRecall(np.append(precision, 1.0), np.append(hits / positives, 0.0), levels, positives)
