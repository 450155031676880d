"""The baseline: one answer for every row, the best there is, with its proof."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from certifit import certificates
from certifit._certified import Certified
from certifit._sklearn import check_sample_weight
from certifit._types import Array, Matrix, Record, VectorLike, Weights
from certifit._validation import check_classification_targets, check_is_fitted, validate_data
from certifit.certificates import Data


class ConstantClassifier(Certified, ClassifierMixin, BaseEstimator):
    r"""Predict class frequencies, whatever the row: :math:`\hat p_c = n_c / n`.

    Attributes
    ----------
    classes_, shares_ : ndarray of shape (n_classes,)

    Examples
    --------
    >>> ConstantClassifier().fit([[0.0], [1.0], [2.0]], ["a", "b", "b"]).predict_proba([[9.0]]).round(3)
    array([[0.333, 0.667]])
    """

    def fit(self, X: Matrix, y: VectorLike, sample_weight: Weights = None) -> ConstantClassifier:
        """Count the classes (weighted, if weights are given)."""
        X, y = validate_data(self, X, y)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        w = None if sample_weight is None else check_sample_weight(sample_weight, X)
        counts = np.bincount(codes, w)
        self.shares_ = counts / counts.sum()
        evidence = {"loss": "log", "classes": self.classes_, "shares": self.shares_}
        self._promise_certificates(lambda: (certificates.issue("constant", Data.of(X, y, w), evidence),), X, y)
        return self

    def predict_proba(self, X: Matrix) -> Array:
        """The shares, once per row."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        return np.tile(self.shares_, (len(X), 1))

    def predict(self, X: Matrix) -> Array:
        """The most frequent class (the first of several), once per row."""
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])

    _tags: ClassVar[Record] = {"classifier_tags.poor_score": True}


class ConstantRegressor(Certified, RegressorMixin, BaseEstimator):
    r"""Predict the mean, whatever the row: :math:`\hat y = \frac1n \sum_i y_i`.

    Attributes
    ----------
    value_ : float

    Examples
    --------
    >>> ConstantRegressor().fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 6.0]).predict([[9.0]])
    array([3.])
    """

    def fit(self, X: Matrix, y: VectorLike, sample_weight: Weights = None) -> ConstantRegressor:
        """Take the mean (weighted, if weights are given)."""
        X, y = validate_data(self, X, y, y_numeric=True)
        w = None if sample_weight is None else check_sample_weight(sample_weight, X)
        self.value_ = float(np.mean(y, dtype=float) if w is None else np.average(y, weights=w))
        evidence = {"loss": "squared", "value": np.array([self.value_])}
        self._promise_certificates(lambda: (certificates.issue("constant", Data.of(X, y, w), evidence),), X, y)
        return self

    def predict(self, X: Matrix) -> Array:
        """The mean, once per row."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        return np.full(len(X), self.value_)

    _tags: ClassVar[Record] = {"regressor_tags.poor_score": True}
