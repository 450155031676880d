"""Information: how surprising an outcome is, how mixed a set is, how much a split tells.

Everything is in bits (logarithm to base 2). The entropy of k classes lies between 0 and log₂ k.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from certifit._types import Array, VectorLike, Weights


def information_content(p: Any) -> Any:
    """Information content −log₂ p of an outcome of probability p, in bits.

    Parameters
    ----------
    p : float or array-like in (0, 1]
        Probability of the outcome; 0 gives infinity.

    Returns
    -------
    float or ndarray

    Examples
    --------
    >>> information_content(1 / 8)
    3.0
    """
    p = np.asarray(p, dtype=float)
    if not np.all((p >= 0.0) & (p <= 1.0)):
        raise ValueError(f"A probability lies between 0 and 1; got {p[~((p >= 0) & (p <= 1))].ravel()[0]:g}.")
    with np.errstate(divide="ignore"):
        out = -np.log2(p) + 0.0
    return float(out) if out.ndim == 0 else out


def entropy(counts_or_labels: Any) -> float:
    """Entropy H = −Σ pₖ log₂ pₖ of a set, in bits.

    Parameters
    ----------
    counts_or_labels : array-like of shape (n,)
        Either how often each class occurs (numbers ≥ 0: counts, weights or probabilities), or one label per row if
        these are strings or booleans. Integer labels go through ``numpy.unique(..., return_counts=True)``.

    Returns
    -------
    float
        Between 0 (one class only) and log₂ of the number of classes.

    Examples
    --------
    >>> round(entropy([9, 5]), 3)
    0.94
    >>> entropy(["yes", "no", "yes", "no"])
    1.0
    """
    p = _shares(counts_or_labels)
    return float(-(p * np.log2(p)).sum() + 0.0)


def gini(counts_or_labels: Any) -> float:
    """Gini impurity 1 − Σ pₖ²: how often two rows drawn at random differ in class.

    Parameters
    ----------
    counts_or_labels : array-like of shape (n,)
        As in `entropy`.

    Returns
    -------
    float
        Between 0 and 1 − 1/k for k classes.

    Examples
    --------
    >>> gini([5, 5])
    0.5
    """
    p = _shares(counts_or_labels)
    return float(1.0 - (p * p).sum())


def information_gain(y: VectorLike, groups: Any, sample_weight: Weights = None, criterion: str = "entropy") -> float:
    """Information gain of a division into groups: H(y) − Σ_g (n_g / n) H(y in g).

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels.
    groups : array-like of shape (n,)
        The branch that each row takes, of two or more.
    sample_weight : array-like of shape (n,), default=None
        Weights; weight k equals k copies.
    criterion : {"entropy", "gini"}, default="entropy"
        Impurity to use.

    Returns
    -------
    float
        In bits for the entropy; never negative (up to rounding).

    Examples
    --------
    >>> information_gain(["no", "no", "yes", "yes"], ["hot", "hot", "cool", "mild"])
    1.0
    """
    impurity = {"entropy": entropy, "gini": gini}.get(criterion)
    if impurity is None:
        raise ValueError(f"criterion is 'entropy' or 'gini', not {criterion!r}.")
    y, groups = _words(y), _words(groups)
    if y.shape != groups.shape or y.ndim != 1 or not len(y):
        raise ValueError(f"y and groups hold one entry per row; got shapes {y.shape} and {groups.shape}.")
    w = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    if w.shape != y.shape or np.any(w < 0) or not w.sum() > 0:
        raise ValueError("sample_weight holds one number ≥ 0 per row, not all zero.")
    _, code = np.unique(y, return_inverse=True)
    _, group = np.unique(groups, return_inverse=True)
    table = np.zeros((group.max() + 1, code.max() + 1))
    np.add.at(table, (group, code), w)
    parts = [row.sum() * impurity(row) for row in table if row.sum() > 0]
    return float(impurity(table.sum(axis=0)) - sum(parts) / w.sum())


def _words(v: object) -> Array:
    v = np.asarray(v)
    return np.array([str(e) for e in v.ravel()]).reshape(v.shape) if v.dtype == object else v


def _shares(counts_or_labels: Any) -> Array:
    """Positive class shares from counts, or from words."""
    v = np.asarray(counts_or_labels)
    if v.ndim != 1 or not len(v):
        raise ValueError(f"Counts or labels come as one non-empty list; got shape {v.shape}.")
    if v.dtype.kind not in "iuf":
        v = np.unique(_words(v), return_counts=True)[1]
    v = v.astype(float)
    if not np.all(np.isfinite(v)) or np.any(v < 0) or not v.sum() > 0:
        raise ValueError("Counts are finite numbers ≥ 0, not all zero.")
    return np.asarray(v[v > 0] / v.sum())
