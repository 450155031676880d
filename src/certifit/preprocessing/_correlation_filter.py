"""Keep the columns most correlated with the target: learnt in `fit`, and so inside each fold of a pipeline."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_selection import SelectorMixin

from certifit._sklearn import usual
from certifit._types import Array, Matrix, Record, VectorLike
from certifit._validation import StatesTags, check_is_fitted, validate_data


@dataclass(eq=False, repr=False)
class CorrelationFilter(StatesTags, SelectorMixin, TransformerMixin, BaseEstimator):
    r"""Keep the k columns with the largest absolute correlation with y.

    .. math:: r_j = \frac{\sum_i (x_{ij}-\bar x_j)(y_i-\bar y)}{\sqrt{\sum_i(x_{ij}-\bar x_j)^2\sum_i(y_i-\bar y)^2}}

    Use it in a pipeline, so that columns are chosen on the training rows of each fold. Chosen once on all rows, they
    make pure noise look predictable (see the worked example ``correlation_filter``).

    Parameters
    ----------
    k : int ≥ 1, default=10
        How many columns stay (all, if there are fewer).
    threshold : float in [0, 1], default=None
        If given, columns with \|r\| below it are dropped too (the best one is always kept).

    Attributes
    ----------
    correlations_ : (d,) array
        For labels that are words or have more than two values: the multiple correlation with their indicators.
        Constant columns have 0.
    support_ : (d,) boolean array

    Notes
    -----
    Ties go to the earlier column. Missing values raise an error. scikit-learn's ``SelectKBest(f_regression)`` keeps the
    same columns for real targets; this one also takes labels and shows the correlations.

    Examples
    --------
    >>> X, y = np.array([[1.0, 0.0, 5.0], [2.0, 1.0, 5.0], [3.0, 0.0, 5.0]]), np.array([1.0, 2.1, 2.9])
    >>> CorrelationFilter(k=1).fit(X, y).correlations_.round(3)
    array([0.996, 0.091, 0.   ])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = usual("k≥1 threshold∈[0,1]?")

    k: int = 10
    _: KW_ONLY
    threshold: float | None = None

    def fit(self, X: Matrix, y: VectorLike) -> CorrelationFilter:
        """Learn the correlations and which columns stay."""
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], multi_output=False)
        self.correlations_ = correlations(np.asarray(X, dtype=float), np.asarray(y))
        order = np.argsort(-np.abs(self.correlations_), kind="stable")
        support = np.zeros(X.shape[1], dtype=bool)
        support[order[: self.k]] = True
        if self.threshold is not None:
            support &= np.abs(self.correlations_) >= self.threshold
            support[order[0]] = True
        self.support_ = support
        return self

    def _get_support_mask(self) -> Array:
        check_is_fitted(self)
        return self.support_

    _tags: ClassVar[Record] = {"target_tags.required": True, "transformer_tags.preserves_dtype": ["float64", "float32"]}


def correlations(X: Array, y: Array) -> Array:
    """Correlation of every column with y (for several labels the multiple correlation); 0 for constant columns."""
    if y.dtype.kind in "OUSb" or (y.dtype.kind in "iu" and 2 < len(np.unique(y)) <= 10):
        labels, codes = np.unique(y, return_inverse=True)
        if len(labels) > 2:
            return _multiple(X, codes, len(labels))
        y = codes.astype(float)
    size = np.max(np.abs(X), axis=0, initial=0.0)
    A = X / np.where(size > 0, size, 1.0)
    A = A - A.mean(axis=0)
    A = A - A.mean(axis=0)
    t = np.asarray(y, dtype=float)
    top = float(np.max(np.abs(t), initial=0.0))
    t = t / (top if top > 0 else 1.0)
    t = t - t.mean()
    spread = np.sqrt(np.sum(A * A, axis=0)) * np.sqrt(float(t @ t))
    flat = spread <= 1e-14 * np.sqrt(len(t)) * max(float(np.sqrt(t @ t)), 1e-300)
    return np.where(flat, 0.0, np.clip(t @ A / np.where(flat, 1.0, spread), -1.0, 1.0))


def _multiple(X: Array, codes: Array, k: int) -> Array:
    """√(between / total sum of squares) of each column over the labels."""
    size = np.max(np.abs(X), axis=0, initial=0.0)
    A = X / np.where(size > 0, size, 1.0)
    A = A - A.mean(axis=0)
    total = np.sum(A * A, axis=0)
    between = np.zeros(X.shape[1])
    for c in range(k):
        rows = A[codes == c]
        between += len(rows) * rows.mean(axis=0) ** 2
    flat = total <= 1e-28 * len(X)
    return np.where(flat, 0.0, np.sqrt(np.clip(between / np.where(flat, 1.0, total), 0.0, 1.0)))
