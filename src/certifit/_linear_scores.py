"""Answers of a linear model: its scores X w + b, and the label that they mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.utils.extmath import safe_sparse_dot

from certifit._types import Array, BaseEstimator, MatrixLike, Record
from certifit._validation import check_is_fitted, validate_data


def linear_scores(model: BaseEstimator, X: MatrixLike) -> Array:
    """X w + b for a fitted linear model, one column a row of ``coef_``."""
    check_is_fitted(model)
    rows = validate_data(model, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
    return np.asarray(safe_sparse_dot(rows, model.coef_.T, dense_output=True) + model.intercept_)


class LinearPredictions:
    """Mixin of linear regression."""

    def predict(self, X: MatrixLike) -> Array:
        """Predicted values X w + b."""
        return linear_scores(self, X)

    _tags: ClassVar[Record] = {"input_tags.sparse": True}


class LargestScore:
    """Mixin: decision by the sign of a score, or by the largest of several."""

    classes_: Array
    decision_function: Callable[[MatrixLike], Array]

    def predict(self, X: MatrixLike) -> Array:
        """The class of the largest score; for two classes the second when the score is positive."""
        scores = self.decision_function(X)
        codes = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[codes])


class LinearScores(LargestScore):
    """Mixin: decision by the sign of w·x + b, or by the largest of them."""

    coef_: Array
    intercept_: Array

    def decision_function(self, X: MatrixLike) -> Array:
        """Score of each row: (n,), positive for ``classes_[1]``; for more than two classes (n, classes)."""
        scores = linear_scores(self, X)
        return scores.ravel() if scores.shape[1] == 1 else scores

    _tags: ClassVar[Record] = {"input_tags.sparse": True}


class SparseCoefficients:
    """Coefficients that can be stored as a sparse matrix, as scikit-learn's linear classifiers offer it."""

    coef_: Any

    def sparsify(self) -> Self:
        """Store ``coef_`` as a sparse matrix: smaller where most coefficients are zero (an l1 penalty)."""
        check_is_fitted(self)
        self.coef_ = csr_matrix(self.coef_)
        return self

    def densify(self) -> Self:
        """Store ``coef_`` as an array again."""
        check_is_fitted(self)
        if issparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self


def dense(coef: Any) -> Array:
    """Coefficients as an array, however they are stored."""
    return coef.toarray() if issparse(coef) else np.asarray(coef)
