"""scikit-learn's names for these figures: the same values, each with ``.interval(level)``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from certifit._types import Array
from certifit.metrics._confusion import Confusion, confusion
from certifit.metrics._interval import Figure, Interval
from certifit.metrics._probability import brier_score
from certifit.metrics._ranking import precision_recall, roc
from certifit.metrics._regression import errors


def confusion_matrix(y_true: Any, y_pred: Any, *, labels: Any = None, sample_weight: Any = None) -> Array:
    """Counts, true classes as rows, predicted ones as columns.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_pred : array-like of shape (n,)
        Predicted labels.
    labels : array-like, default=None
        Classes to use, in this order; all when None.
    sample_weight : array-like of shape (n,), default=None
        Weights; k counts as k rows.

    Examples
    --------
    >>> confusion_matrix([0, 1, 1], [0, 1, 0])
    array([[1, 0],
           [1, 1]])
    """
    matrix = confusion(y_true, y_pred, labels=labels, sample_weight=sample_weight).matrix
    return matrix.astype(int) if sample_weight is None else matrix


def accuracy_score(y_true: Any, y_pred: Any, *, normalize: bool = True, sample_weight: Any = None) -> Any:
    """Share (or number) of rows predicted right.

    Σ sᵢ [yᵢ = ŷᵢ] / Σ sᵢ with weights sᵢ.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_pred : array-like of shape (n,)
        Predicted labels.
    normalize : bool, default=True
        Share rather than number.
    sample_weight : array-like of shape (n,), default=None
        Weights; k counts as k rows.

    Examples
    --------
    >>> accuracy_score([0, 1, 1, 0], [0, 1, 0, 0]).interval(0.9)
    0.2486 to 0.9873 (90 %, exact binomial)
    """
    c = confusion(y_true, y_pred, sample_weight=sample_weight)
    return c.accuracy if normalize else float(np.trace(c.matrix))


def zero_one_loss(y_true: Any, y_pred: Any, *, normalize: bool = True, sample_weight: Any = None) -> Any:
    """Share (or number) of rows predicted wrong.

    Σ sᵢ [yᵢ ≠ ŷᵢ] / Σ sᵢ with weights sᵢ.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_pred : array-like of shape (n,)
        Predicted labels.
    normalize : bool, default=True
        Share rather than number.
    sample_weight : array-like of shape (n,), default=None
        Weights; k counts as k rows.

    Examples
    --------
    >>> zero_one_loss([0, 1, 1, 0], [0, 1, 0, 0])
    0.25
    """
    c = confusion(y_true, y_pred, sample_weight=sample_weight)
    return c.error_rate if normalize else float(c.matrix.sum() - np.trace(c.matrix))


def balanced_accuracy_score(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> Figure:
    """Mean of the classes' recalls.

    (1/k) Σ_c TP_c / (TP_c + FN_c) over the k classes.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_pred : array-like of shape (n,)
        Predicted labels.
    sample_weight : array-like of shape (n,), default=None
        Weights; k counts as k rows.

    Examples
    --------
    >>> balanced_accuracy_score([0, 1, 0, 0, 1, 0], [0, 1, 0, 0, 0, 1])
    0.625
    """
    return confusion(y_true, y_pred, sample_weight=sample_weight).balanced_accuracy


def _one_or_average(c: Confusion, name: str, pos_label: Any, average: Any, beta: float) -> Any:
    if average == "binary":
        if len(c.labels) > 2:
            raise ValueError("More than two classes: choose average='macro', 'micro', 'weighted' or None.")
        one = c.of(pos_label)
        figure = one.f(beta) if name == "f" else one.figure(name)
        return figure if not math.isnan(figure) else Figure(0.0, figure.interval)
    if average is None:
        return np.array([_nan_is_zero(c.of(k), name, beta) for k in c.labels.tolist()])
    return c.average(name, average, beta)


def _nan_is_zero(c: Confusion, name: str, beta: float) -> float:
    value = float(c.f(beta) if name == "f" else c.figure(name))
    return 0.0 if math.isnan(value) else value


def precision_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: Any = "binary",
    sample_weight: Any = None,
) -> Any:
    """TP / (TP + FP), of one class or averaged ("macro", "micro", "weighted", None for each class).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_pred : array-like of shape (n,)
        Predicted labels.
    labels : array-like, default=None
        Classes to use, in this order; all when None.
    pos_label : label, default=1
        The positive class of ``average="binary"``.
    average : {"binary", "macro", "micro", "weighted", None}, default="binary"
        How classes are put together; None gives one figure per class.
    sample_weight : array-like of shape (n,), default=None
        Weights; k counts as k rows.

    Examples
    --------
    >>> round(precision_score([0, 1, 2, 0, 1, 2], [0, 2, 1, 0, 0, 1], average="macro"), 3)
    0.222
    """
    c = confusion(y_true, y_pred, labels=labels, sample_weight=sample_weight)
    return _one_or_average(c, "precision", pos_label, average, 1.0)


def recall_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: Any = "binary",
    sample_weight: Any = None,
) -> Any:
    """TP / (TP + FN), of one class or averaged (see `precision_score`).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_pred : array-like of shape (n,)
        Predicted labels.
    labels : array-like, default=None
        Classes to use, in this order; all when None.
    pos_label : label, default=1
        The positive class of ``average="binary"``.
    average : {"binary", "macro", "micro", "weighted", None}, default="binary"
        How classes are put together; None gives one figure per class.
    sample_weight : array-like of shape (n,), default=None
        Weights; k counts as k rows.

    Examples
    --------
    >>> recall_score([0, 1, 1, 1], [0, 1, 0, 0]).interval(0.95).low > 0
    True
    """
    c = confusion(y_true, y_pred, labels=labels, sample_weight=sample_weight)
    return _one_or_average(c, "recall", pos_label, average, 1.0)


def fbeta_score(
    y_true: Any,
    y_pred: Any,
    *,
    beta: float,
    labels: Any = None,
    pos_label: Any = 1,
    average: Any = "binary",
    sample_weight: Any = None,
) -> Any:
    """F_β, of one class or averaged (see `precision_score`).

    F_β = (1 + β²) TP / ((1 + β²) TP + β² FN + FP).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_pred : array-like of shape (n,)
        Predicted labels.
    beta : float > 0
        How much more recall counts than precision.
    labels : array-like, default=None
        Classes to use, in this order; all when None.
    pos_label : label, default=1
        The positive class of ``average="binary"``.
    average : {"binary", "macro", "micro", "weighted", None}, default="binary"
        How classes are put together; None gives one figure per class.
    sample_weight : array-like of shape (n,), default=None
        Weights; k counts as k rows.

    Examples
    --------
    >>> round(fbeta_score([0, 1, 1, 1, 0], [0, 1, 0, 1, 1], beta=2), 4)
    0.6667
    """
    c = confusion(y_true, y_pred, labels=labels, sample_weight=sample_weight)
    return _one_or_average(c, "f", pos_label, average, beta)


def f1_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: Any = "binary",
    sample_weight: Any = None,
) -> Any:
    """F with β = 1.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_pred : array-like of shape (n,)
        Predicted labels.
    labels : array-like, default=None
        Classes to use, in this order; all when None.
    pos_label : label, default=1
        The positive class of ``average="binary"``.
    average : {"binary", "macro", "micro", "weighted", None}, default="binary"
        How classes are put together; None gives one figure per class.
    sample_weight : array-like of shape (n,), default=None
        Weights; k counts as k rows.

    Examples
    --------
    >>> round(f1_score([0, 1, 1, 1, 0], [0, 1, 0, 1, 1]), 4)
    0.6667
    """
    return fbeta_score(
        y_true,
        y_pred,
        beta=1.0,
        labels=labels,
        pos_label=pos_label,
        average=average,
        sample_weight=sample_weight,
    )


def cohen_kappa_score(y1: Any, y2: Any, *, sample_weight: Any = None) -> Figure:
    """Agreement of two labellings beyond chance.

    κ = (p_o − p_e) / (1 − p_e), with p_o the observed agreement and p_e that of chance.

    Parameters
    ----------
    y1, y2 : array-like of shape (n,)
        The two labellings.
    sample_weight : array-like of shape (n,), default=None
        Weights; k counts as k rows.

    Examples
    --------
    >>> round(cohen_kappa_score([1] * 25 + [0] * 25, [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15), 3)
    0.4
    """
    return confusion(y1, y2, sample_weight=sample_weight).kappa


def matthews_corrcoef(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> Figure:
    """Correlation of true and predicted classes.

    (TP·TN − FP·FN) / √((TP + FP)(TP + FN)(TN + FP)(TN + FN)) for two classes.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_pred : array-like of shape (n,)
        Predicted labels.
    sample_weight : array-like of shape (n,), default=None
        Weights; k counts as k rows.

    Examples
    --------
    >>> round(matthews_corrcoef([1, 1, 1, -1], [1, -1, 1, 1]), 4)
    -0.3333
    """
    return confusion(y_true, y_pred, sample_weight=sample_weight).matthews


def roc_curve(
    y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None
) -> tuple[Array, Array, Array]:
    """fpr, tpr and thresholds, every distinct score kept (scikit-learn's ``drop_intermediate=False``).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_score : array-like of shape (n,)
        Scores, larger for the positive class.
    pos_label : label, default=None
        The positive class; the last in sorted order when None.
    sample_weight : array-like of shape (n,), default=None
        Weights; k counts as k rows.

    Examples
    --------
    >>> roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])[1]
    array([0. , 0.5, 0.5, 1. , 1. ])
    """
    r = roc(y_true, y_score, pos_label, sample_weight)
    return r.fpr, r.tpr, r.thresholds


def roc_auc_score(y_true: Any, y_score: Any, *, average: str = "macro", sample_weight: Any = None) -> Figure:
    """Area under the ROC curve; for more than two classes (scores by column) one against the rest.

    AUC = P(score of a positive > score of a negative) + ½ P(equal).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_score : array-like of shape (n,) or (n, K)
        Scores, larger for the positive class; a column per class for more than two.
    average : {"macro", "weighted"}, default="macro"
        How the classes' areas are put together.
    sample_weight : array-like of shape (n,), default=None
        Weights; k counts as k rows.

    Examples
    --------
    >>> roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    score = np.asarray(y_score)
    if score.ndim == 2 and score.shape[1] == 2:
        score = score[:, 1]
    if score.ndim == 1:
        return roc(y_true, score, sample_weight=sample_weight).auc
    return _one_vs_rest(np.asarray(y_true), score, average, sample_weight)


def _one_vs_rest(y: Array, score: Array, average: str, sample_weight: Any) -> Figure:
    classes = np.unique(y)
    if len(classes) != score.shape[1] or average not in ("macro", "weighted"):
        raise ValueError(
            f"{len(classes)} classes need as many columns (got {score.shape[1]}), averaged macro or weighted."
        )
    curves = [roc(y == c, score[:, j], True, sample_weight) for j, c in enumerate(classes)]
    share = np.array([r.n_positive for r in curves]) if average == "weighted" else np.ones(len(curves))
    share = share / share.sum()
    value = float(share @ [r.auc for r in curves])

    def limits(level: float) -> Interval:
        # The classes' areas share rows; their covariances are at most the product of the spreads, hence the
        # sum.
        half = float(share @ [r.interval(level).width / 2 for r in curves])
        return Interval(max(value - half, 0.0), min(value + half, 1.0), level, "DeLong, one against the rest")

    return Figure(value, limits)


def precision_recall_curve(
    y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None
) -> tuple[Array, Array, Array]:
    """precision, recall and thresholds, from the lowest threshold up.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_score : array-like of shape (n,)
        Scores, larger for the positive class.
    pos_label : label, default=None
        The positive class; the last in sorted order when None.
    sample_weight : array-like of shape (n,), default=None
        Weights; k counts as k rows.

    Examples
    --------
    >>> precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])[1]
    array([1. , 1. , 0.5, 0.5, 0. ])
    """
    c = precision_recall(y_true, y_score, pos_label, sample_weight)
    return c.precision, c.recall, c.thresholds


def average_precision_score(y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None) -> Figure:
    """Mean precision over the positives.

    Σₜ (Rₜ − Rₜ₋₁) Pₜ over the thresholds, with precision P and recall R.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_score : array-like of shape (n,)
        Scores, larger for the positive class.
    pos_label : label, default=None
        The positive class; the last in sorted order when None.
    sample_weight : array-like of shape (n,), default=None
        Weights; k counts as k rows.

    Examples
    --------
    >>> round(average_precision_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 4)
    0.8333
    """
    return precision_recall(y_true, y_score, pos_label, sample_weight).average_precision


def brier_score_loss(y_true: Any, y_proba: Any, *, sample_weight: Any = None, pos_label: Any = None) -> Figure:
    """Mean squared distance of the predicted probability from what happened.

    Σ sᵢ (pᵢ − tᵢ)² / Σ sᵢ, with tᵢ = 1 for the positive class and 0 for the other.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_proba : array-like of shape (n,)
        Probability of the positive class, in [0, 1].
    sample_weight : array-like of shape (n,), default=None
        Weights; k counts as k rows.
    pos_label : label, default=None
        The positive class; the last in sorted order when None.

    Examples
    --------
    >>> round(brier_score_loss([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3]), 4)
    0.0375
    """
    return brier_score(y_true, y_proba, pos_label, sample_weight)


def mean_squared_error(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> Figure:
    """Mean squared error.

    Σ sᵢ (yᵢ − ŷᵢ)² / Σ sᵢ.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True numbers.
    y_pred : array-like of shape (n,)
        Predicted numbers.
    sample_weight : array-like of shape (n,), default=None
        Weights; k counts as k rows.

    Examples
    --------
    >>> mean_squared_error([3, -0.5, 2, 7], [2.5, 0.0, 2, 8])
    0.375
    """
    return errors(y_true, y_pred, sample_weight).mse


def root_mean_squared_error(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> Figure:
    """Root of the mean squared error.

    √(Σ sᵢ (yᵢ − ŷᵢ)² / Σ sᵢ).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True numbers.
    y_pred : array-like of shape (n,)
        Predicted numbers.
    sample_weight : array-like of shape (n,), default=None
        Weights; k counts as k rows.

    Examples
    --------
    >>> round(root_mean_squared_error([3, -0.5, 2, 7], [2.5, 0.0, 2, 8]), 4)
    0.6124
    """
    return errors(y_true, y_pred, sample_weight).rmse


def mean_absolute_error(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> Figure:
    """Mean absolute error.

    Σ sᵢ |yᵢ − ŷᵢ| / Σ sᵢ.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True numbers.
    y_pred : array-like of shape (n,)
        Predicted numbers.
    sample_weight : array-like of shape (n,), default=None
        Weights; k counts as k rows.

    Examples
    --------
    >>> mean_absolute_error([3, -0.5, 2, 7], [2.5, 0.0, 2, 8])
    0.5
    """
    return errors(y_true, y_pred, sample_weight).mae


def r2_score(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> Figure:
    """Share of the variance explained.

    R² = 1 − Σ sᵢ (yᵢ − ŷᵢ)² / Σ sᵢ (yᵢ − ȳ)².

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True numbers.
    y_pred : array-like of shape (n,)
        Predicted numbers.
    sample_weight : array-like of shape (n,), default=None
        Weights; k counts as k rows.

    Examples
    --------
    >>> round(r2_score([3, -0.5, 2, 7], [2.5, 0.0, 2, 8]), 4)
    0.9486
    """
    return errors(y_true, y_pred, sample_weight).r2
