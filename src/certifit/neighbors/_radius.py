"""Classification and regression by all rows within a radius."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from certifit._sklearn import StrOptions
from certifit._types import Array, Matrix, Record, VectorLike
from certifit._validation import check_is_fitted
from certifit.neighbors._base import ClassTargets, LabelAnswers, ValueAnswers
from certifit.neighbors._within import WithinRadius, ragged


@dataclass(eq=False, repr=False)
class RadiusVoting(WithinRadius):
    """Parameters and weights of the estimators that ask all rows within a radius."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **WithinRadius._parameter_constraints,
        "weights": [StrOptions({"uniform", "distance"}), callable, None],
    }

    radius: float = 1.0
    _: KW_ONLY
    weights: Any = "uniform"
    algorithm: str = "auto"
    leaf_size: int = 30
    p: float | None = 2
    metric: Any = "minkowski"
    metric_params: Record | None = None
    n_jobs: int | None = None

    def _voters(self, X: Matrix) -> tuple[Array, Array, Array]:
        """How many rows each query has, and these rows and their weights, one query after the other."""
        counts, distances, rows = self._within(X, None, False)
        if callable(self.weights):  # as scikit-learn hands them over: an array of arrays
            given = self.weights(ragged(np.split(distances, np.cumsum(counts)[:-1])))
            return counts, rows, np.concatenate([np.asarray(w, dtype=float) for w in given]) if len(rows) else distances
        if self.weights != "distance":
            return counts, rows, np.ones(len(rows))
        with np.errstate(divide="ignore"):
            w = 1.0 / distances
        query = np.repeat(np.arange(len(counts)), counts)
        exact = np.zeros(len(counts), dtype=bool)
        exact[query[np.isinf(w)]] = True  # rows at distance zero count alone
        return counts, rows, np.where(exact[query], np.isinf(w), w)


@dataclass(kw_only=True, eq=False, repr=False)
class RadiusNeighborsClassifier(LabelAnswers, RadiusVoting):
    """Vote of all training rows within a radius, with a proof that none is missed.

    A query x gets the class c with the largest Σ wᵢ over the rows i with d(x, xᵢ) ≤ r and yᵢ = c (ties: the first
    class).

    Parameters
    ----------
    radius : float ≥ 0, default=1.0
        r.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        1; 1/d; or a function of the distances (an array of arrays).
    algorithm, leaf_size, p, metric, metric_params, n_jobs :
        As in `KNeighborsClassifier`.
    outlier_label : label, list of labels, "most_frequent" or None, default=None
        Label of queries without any row within r; None: they raise an error.

    Attributes
    ----------
    classes_ : array of labels, or list of arrays for several outputs
    outlier_label_ : list of one label for each output, or None
    algorithm_, effective_metric_, effective_metric_params_, n_samples_fit_, outputs_2d_, n_features_in_ :
        As in scikit-learn.
    certificate_ : Certificate
        The stored rows are the training rows, and how many training errors are unavoidable;
        `certificate_within` proves which rows vote on queries.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    >>> model = RadiusNeighborsClassifier(radius=1.2, outlier_label="b").fit(X, y)
    >>> model.predict([[1.1], [9.0]]).tolist(), float(model.predict_proba([[1.1]])[0, 0].round(4))
    (['a', 'b'], 0.6667)
    >>> print(model.certificate_within([[1.1]]).claim)
    By euclidean distance, the listed rows lie within 1.2 of the query and no other does (3 rows for a query).
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RadiusVoting._parameter_constraints,
        "outlier_label": [Integral, str, "array-like", None],
    }

    outlier_label: Any = None

    def fit(self, X: Matrix, y: VectorLike) -> RadiusNeighborsClassifier:
        """Store the rows, (n, n) distances with metric="precomputed", and labels y, (n,) or (n, n_outputs)."""
        super().fit(X, y)
        targets = ClassTargets(self.outputs_2d_, self.classes_, self._codes)
        self.outlier_label_: Any = _outlier_labels(self.outlier_label, targets)
        return self

    def predict_proba(self, X: Matrix) -> Any:
        """Fraction of the (weighted) vote for each class; for a query without rows, all for ``outlier_label``.

        X=None means the training rows, none of which is its own neighbour. (n, n_classes), a list of them for
        several outputs.
        """
        check_is_fitted(self, "n_samples_fit_")
        counts, rows, w = self._voters(X)
        alone = np.flatnonzero(counts == 0)
        if len(alone) and self.outlier_label_ is None:
            raise ValueError(
                f"No neighbors found for test samples {alone!r}, you can try using larger radius, giving a label for "
                "outliers, or considering removing them from your dataset."
            )
        query, found = np.repeat(np.arange(len(counts)), counts), []
        for k, classes in enumerate(self.classes_ if self.outputs_2d_ else [self.classes_]):
            votes = np.zeros((len(counts), len(classes)))
            np.add.at(votes, (query, self._codes[rows, k]), w)
            if len(alone):
                self._answer_alone(votes, alone, classes, self.outlier_label_[k])
            total = votes.sum(axis=1, keepdims=True)
            found.append(votes / np.where(total == 0.0, 1.0, total))
        return found if self.outputs_2d_ else found[0]

    @staticmethod
    def _answer_alone(votes: Array, alone: Array, classes: Array, label: Any) -> None:
        at = np.flatnonzero(classes == label)
        if len(at) == 1:
            votes[alone, at[0]] = 1.0
        else:
            warnings.warn(
                f"Outlier label {label} is not in training classes. All class probabilities of outliers will be "
                "assigned with 0.",
                UserWarning,
                stacklevel=4,
            )

    def predict(self, X: Matrix) -> Array:
        """The class with the most votes (ties: the first of ``classes_``), or the label of outliers."""
        shares, sets = self.predict_proba(X), self.classes_
        if not self.outputs_2d_:
            shares, sets = [shares], [sets]
        out = np.empty((len(shares[0]), len(sets)), dtype=sets[0].dtype)
        for k, (classes, share) in enumerate(zip(sets, shares)):
            out[:, k] = classes[np.argmax(share, axis=1)]
            nobody = np.all(share == 0.0, axis=1)
            if np.any(nobody):
                out[nobody, k] = self.outlier_label_[k]
        return out if self.outputs_2d_ else out[:, 0]


def _outlier_labels(given: Any, targets: ClassTargets) -> list[Any] | None:
    """The label of queries that nothing is near, one for each output."""
    sets = targets.classes if targets.several else [targets.classes]
    if given is None:
        return None
    if isinstance(given, str) and given == "most_frequent":
        return [c[np.argmax(np.bincount(targets.codes[:, k]))] for k, c in enumerate(sets)]
    listed = isinstance(given, (list, tuple, np.ndarray))
    if listed and len(given) != len(sets):
        raise ValueError(f"The length of outlier_label: {given} is inconsistent with the output length: {len(sets)}")
    labels = list(given) if listed else [given] * len(sets)
    for classes, label in zip(sets, labels):
        if isinstance(label, (list, tuple, np.ndarray)):
            raise TypeError(f"The outlier_label of classes {classes} is supposed to be a scalar, got {label}.")
        if np.append(classes, label).dtype != classes.dtype:
            raise TypeError(f"The dtype of outlier_label {label} is inconsistent with classes {classes} in y.")
    return labels


class RadiusNeighborsRegressor(ValueAnswers, RadiusVoting):
    """Mean of all training rows' values within a radius, with a proof that none is missed.

    ŷ(x) = Σ wᵢyᵢ / Σ wᵢ over the rows i with d(x, xᵢ) ≤ r.

    Parameters
    ----------
    radius, weights, algorithm, leaf_size, p, metric, metric_params, n_jobs :
        As in `RadiusNeighborsClassifier`.

    Attributes
    ----------
    algorithm_, effective_metric_, effective_metric_params_, n_samples_fit_, n_features_in_ :
        As in `KNeighborsRegressor`.
    certificate_ : Certificate
        The stored rows are the training rows, and the squared error that is unavoidable; `certificate_within` proves
        which rows a prediction is the mean of.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 4.0, 9.0]
    >>> RadiusNeighborsRegressor(radius=0.7).fit(X, y).predict([[2.4]]).tolist()
    [6.5]
    """

    def predict(self, X: Matrix) -> Array:
        """The (weighted) mean of the values within the radius; NaN, with a warning, where there is none.

        X=None means the training rows, none of which is its own neighbour.
        """
        check_is_fitted(self, "n_samples_fit_")
        counts, rows, w = self._voters(X)
        query = np.repeat(np.arange(len(counts)), counts)
        total, sums = np.zeros(len(counts)), np.zeros((len(counts), self._values.shape[1]))
        np.add.at(total, query, w)
        np.add.at(sums, query, w[:, None] * self._values[rows])
        if np.any(counts == 0):
            warnings.warn(
                "One or more samples have no neighbors within specified radius; predicting NaN.",
                UserWarning,
                stacklevel=2,
            )
        with np.errstate(invalid="ignore"):
            out = sums / total[:, None]
        return out[:, 0] if self._flat else out
