"""The nearest class centre."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import pairwise_distances, pairwise_distances_argmin
from sklearn.utils.metaestimators import available_if

from certifit._certified import Certified
from certifit._dispatch import in_numpy
from certifit._sklearn import StrOptions, usual
from certifit._types import Array, Matrix, Record, VectorLike
from certifit._validation import check_classification_targets, check_is_fitted, validate_data


def _is_euclidean(model: NearestCentroid) -> bool:
    return model.metric == "euclidean"


@dataclass(eq=False, repr=False)
class NearestCentroid(Certified, ClassifierMixin, BaseEstimator):
    r"""The class with the nearest centre: the mean (euclidean) or median (manhattan) of its rows, with proof.

    .. math:: \hat y(x) = \arg\min_c d(x, m_c)

    With ``shrink_threshold`` Δ the centres are nearest *shrunken* centroids: with m the mean of all rows,
    s_j the standard deviation within classes, s₀ their median and a_c = √(1/n_c − 1/n), each deviation
    (m_cj − m_j)/(a_c(s_j + s₀)) is moved towards zero by Δ.

    Parameters
    ----------
    metric : {"euclidean", "manhattan"}, default="euclidean"
    shrink_threshold : float > 0 or None, default=None
    priors : {"uniform", "empirical"} or array of shape (n_classes,), default="uniform"
        Class probabilities; where they are not equal, and for ``predict_proba``, distances are measured in units of
        the standard deviations within classes.

    Attributes
    ----------
    centroids_ : (n_classes, n_features) array
    classes_ : array of labels
    class_prior_ : (n_classes,) array
    deviations_ : (n_classes, n_features) array
        Of the centres from the mean of all rows, in standard errors (after shrinking).
    within_class_std_dev_ : (n_features,) array
    certificate_ : Certificate
        Before any shrinking, the centres are the means (medians) of their classes.

    References
    ----------
    R. Tibshirani, T. Hastie, B. Narasimhan, G. Chu, "Diagnosis of multiple cancer types by shrunken centroids of gene
    expression", PNAS 99 (2002).

    Examples
    --------
    >>> model = NearestCentroid().fit([[0.0], [1.0], [4.0], [7.0]], ["a", "a", "b", "b"])
    >>> model.centroids_.ravel().tolist(), model.predict([[2.9], [3.1]]).tolist()
    ([0.5, 5.5], ['a', 'b'])
    >>> model.certificate_.holds
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "metric": [StrOptions({"manhattan", "euclidean"})],
        "priors": ["array-like", StrOptions({"empirical", "uniform"})],
    } | usual("shrink_threshold>0?")

    metric: str = "euclidean"
    _: KW_ONLY
    shrink_threshold: float | None = None
    priors: Any = "uniform"

    _tags: ClassVar[Record] = {"input_tags.sparse": True}

    def fit(self, X: Matrix, y: VectorLike) -> NearestCentroid:
        """Find the centres of rows X, array or sparse."""
        self._validate_params()
        X, y = validate_data(self, X, y, accept_sparse=["csr", "csc"])
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {len(classes)} class")
        prior = self._shares(codes, len(classes))
        rows = np.asarray(X.toarray() if scipy.sparse.issparse(X) else X, dtype=float)
        if np.all(np.ptp(rows, axis=0) == 0):
            raise ValueError("All features have zero variance. Division by zero.")
        centre = np.median if self.metric == "manhattan" else np.mean
        centres = np.array([centre(rows[codes == c], axis=0) for c in range(len(classes))])
        self.classes_, self.class_prior_ = classes, prior
        self._shrink(rows, codes, centres)
        evidence = {"classes": classes, "centres": centres, "distance": self.metric}
        self._promise_certificate("class-centres", evidence, X, y)
        return self

    def _shares(self, codes: Array, K: int) -> Array:
        """Shares of the classes, which sum to one."""
        if isinstance(self.priors, str):
            return np.bincount(codes) / len(codes) if self.priors == "empirical" else np.full(K, 1 / K)
        prior = np.asarray(self.priors, dtype=float)
        if np.any(prior < 0):
            raise ValueError("priors must be non-negative")
        if not np.isclose(prior.sum(), 1.0):
            warnings.warn(
                "The priors do not sum to 1. Normalizing such that it sums to one.", UserWarning, stacklevel=3
            )
            prior = prior / prior.sum()
        return prior

    def _shrink(self, X: Array, codes: Array, centres: Array) -> None:
        """Name deviations and centres, moved towards the mean of all rows if asked."""
        n, K = len(X), len(centres)
        with np.errstate(divide="ignore", invalid="ignore"):
            std = np.sqrt(((X - centres[codes]) ** 2).sum(axis=0) / (n - K))
        if np.any(std == 0):
            warnings.warn(
                "self.within_class_std_dev_ has at least 1 zero standard deviation."
                "Inputs within the same classes for at least 1 feature are identical.",
                UserWarning,
                stacklevel=3,
            )
        mean = X.mean(axis=0)
        unit = np.sqrt(1.0 / np.bincount(codes) - 1.0 / n)[:, None] * (std + np.median(std))
        with np.errstate(divide="ignore", invalid="ignore"):
            deviations = (centres - mean) / unit
        if self.shrink_threshold:
            deviations = np.sign(deviations) * np.maximum(np.abs(deviations) - self.shrink_threshold, 0.0)
            centres = mean + unit * deviations
        self.within_class_std_dev_, self.deviations_, self.centroids_ = std, deviations, centres

    def predict(self, X: Matrix) -> Array:
        """The class of the nearest centre; with unequal priors, the most probable one."""
        check_is_fitted(self, "centroids_")
        if np.allclose(self.class_prior_, 1 / len(self.classes_)):
            X = validate_data(self, X, accept_sparse="csr", reset=False)
            return np.asarray(self.classes_[pairwise_distances_argmin(X, self.centroids_, metric=self.metric)])
        return np.asarray(self.classes_[np.argmax(self._scores(X), axis=1)])

    def _scores(self, X: Matrix) -> Array:
        """−d² + 2 log P(c) with distances in standard deviations, one column for each class."""
        check_is_fitted(self, "centroids_")
        X = validate_data(self, X, accept_sparse="csr", reset=False, dtype=np.float64)
        rows = X.toarray() if scipy.sparse.issparse(X) else X
        unit = np.where(self.within_class_std_dev_ == 0, 1.0, self.within_class_std_dev_)
        distances = pairwise_distances(rows / unit, self.centroids_ / unit, metric=self.metric)
        with np.errstate(divide="ignore"):
            return np.asarray(2.0 * np.log(self.class_prior_) - distances**2)

    @available_if(_is_euclidean)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    @in_numpy
    def decision_function(self, X: Matrix) -> Array:
        """Scores −d² + 2 log P(c), (n, n_classes); for two classes the second minus the first, (n,)."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    @available_if(_is_euclidean)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    @in_numpy
    def predict_log_proba(self, X: Matrix) -> Array:
        """Logarithms of `predict_proba`."""
        scores = self._scores(X)
        relative = scores - scores.max(axis=1, keepdims=True)
        return np.asarray(relative - np.log(np.exp(relative).sum(axis=1, keepdims=True)))

    @available_if(_is_euclidean)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    @in_numpy
    def predict_proba(self, X: Matrix) -> Array:
        """Probabilities of the classes, proportional to exp of the scores."""
        return np.asarray(np.exp(self.predict_log_proba(X)))
