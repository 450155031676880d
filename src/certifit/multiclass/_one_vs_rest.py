"""One against all others, class by class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone

from certifit._certified import Certified
from certifit._linear_scores import LargestScore
from certifit._sklearn import check_sample_weight
from certifit._types import Array, Matrix, Record, VectorLike, Weights
from certifit._validation import check_classification_targets, check_is_fitted, validate_data


@dataclass(eq=False, repr=False)
class OneVsRest(Certified, LargestScore, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    r"""One-vs-all: fit class k against all others, predict :math:`\arg\max_k z_k(x)`.

    Each of the K problems is imbalanced (about 1 : K−1 for equal classes), so a class that lies between others may
    never be predicted; softmax (`certifit.linear_model.LogisticRegression`) does not have this problem.

    Parameters
    ----------
    estimator : classifier with ``decision_function``
        Fitted to labels 0 (the rest) and 1 (the class).

    Attributes
    ----------
    classes_ : (K,) array
    estimators_ : list of K fitted classifiers (one for two classes)
    imbalance_ : (K,) array
        Fraction of the positive class in each problem.
    certificates_ : tuple
        The certificates of the K fits, the worst first.

    Examples
    --------
    >>> from certifit.linear_model import LogisticRegression
    >>> X = np.array([[0.0], [0.1], [1.0], [1.1], [2.0], [2.1]])
    >>> model = OneVsRest(LogisticRegression(C=100.0)).fit(X, ["a", "a", "b", "b", "c", "c"])
    >>> model.predict([[0.0], [2.0]]).tolist(), model.imbalance_.round(2).tolist()
    (['a', 'c'], [0.33, 0.33, 0.33])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"estimator": "no_validation"}

    estimator: BaseEstimator

    def fit(self, X: Matrix, y: VectorLike, sample_weight: Weights = None) -> OneVsRest:
        """Fit one copy of the estimator per class."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32])
        check_classification_targets(y)
        classes = np.unique(y)
        if len(classes) < 2:
            raise ValueError(
                f"OneVsRest needs at least 2 classes, but the data contains only one class: {classes.tolist()[0]!r}."
            )
        extra = {} if sample_weight is None else {"sample_weight": sample_weight}
        weights = check_sample_weight(sample_weight, X)
        positives = classes[1:] if len(classes) == 2 else classes
        self.estimators_ = [clone(self.estimator).fit(X, (y == c).astype(int), **extra) for c in positives]
        self.imbalance_ = np.array([weights[y == c].sum() for c in positives]) / weights.sum()
        self.classes_ = classes
        self._promise_certificates(self._collect)
        return self

    def _collect(self) -> tuple[Any, ...]:
        found = [c for e in self.estimators_ for c in getattr(e, "certificates_", ())[:1]]
        return tuple(sorted(found, key=lambda c: (c.holds, -c.figures.get("relative_gap", np.inf))))

    def decision_function(self, X: Matrix) -> Array:
        """Scores (n,) for two classes, else (n, K)."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        scores = np.column_stack([e.decision_function(X) for e in self.estimators_])
        return scores[:, 0] if len(self.classes_) == 2 else scores

    _tags: ClassVar[Record] = {"input_tags.sparse": True}
