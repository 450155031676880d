"""The random linear classifier: draw many hyperplanes, keep the best."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state

from certifit._certified import Certified
from certifit._linear_scores import LinearScores
from certifit._sklearn import check_sample_weight, usual
from certifit._types import Array, Matrix, RandomState, Record, VectorLike, Weights
from certifit._validation import check_classification_targets, validate_data

_BLOCK = 1 << 22  # scores held at a time


@dataclass(eq=False, repr=False)
class RandomLinearClassifier(Certified, LinearScores, ClassifierMixin, BaseEstimator):
    """Draw k random (w, b) and keep the one with the fewest training errors.

    argmin over j of (1/n) Σ [hⱼ(xᵢ) ≠ yᵢ]. Weights and offsets are standard normal in the standardised columns, so
    that the hyperplanes pass through the cloud of points whatever its units. Ties go to the first. More than two
    classes: a weight vector per class, the largest score decides.

    Parameters
    ----------
    n_candidates : int ≥ 1, default=1000
        The number k of hyperplanes, evaluated in large blocks by matrix products.
    fit_intercept : bool, default=True
        Whether to draw offsets; through the origin otherwise (columns are then scaled but not centred).
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_
        As for other linear classifiers of scikit-learn.
    errors_ : ndarray of shape (n_candidates,)
        Training errors (weighted when rows are) of every candidate.
    certificate_ : Certificate
        The number of training errors of the kept hyperplane, proved by counting.

    Examples
    --------
    >>> from certifit.linear_model import RandomLinearClassifier
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [3.0, 2.0], [3.0, 3.0]], ["a", "a", "b", "b"]
    >>> model = RandomLinearClassifier(n_candidates=100, random_state=0).fit(X, y)
    >>> print(model.certificate_.claim)
    0 of 4 training rows are on the wrong side.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = usual("n_candidates≥1 fit_intercept random_state")

    n_candidates: int = 1000
    _: KW_ONLY
    fit_intercept: bool = True
    random_state: RandomState = None

    def fit(self, X: Matrix, y: VectorLike, sample_weight: Weights = None) -> RandomLinearClassifier:
        """Draw hyperplanes and keep the best; a weight of k is equivalent to k copies of a row."""
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        weights = check_sample_weight(sample_weight, X, ensure_non_negative=True)
        classes, index = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"RandomLinearClassifier needs two or more classes; y holds only 1 class: {classes.tolist()[0]!r}."
            )
        rng = check_random_state(self.random_state)
        W, b = draw(X, weights, 1 if len(classes) == 2 else len(classes), self.n_candidates, self.fit_intercept, rng)
        self.errors_ = count_errors(X, index, weights, W, b)
        # Weighted sums round differently in other orders of the rows: near-equals are equals.
        best = int(np.flatnonzero(self.errors_ <= self.errors_.min() + 1e-9 * weights.sum())[0])
        self.classes_, self.coef_, self.intercept_ = classes, W[best], b[best]
        evidence = {"coef": self.coef_, "intercept": self.intercept_}
        self._promise_certificate("training-errors", evidence, X, y, sample_weight)
        return self

    _tags: ClassVar[Record] = {"input_tags.sparse": False}


def draw(
    X: Array, weights: Array, outputs: int, k: int, fit_intercept: bool, rng: np.random.Generator
) -> tuple[Array, Array]:
    """k candidates: weights of shape (k, outputs, d) and offsets (k, outputs), in the units of X."""
    mean = np.average(X, axis=0, weights=weights) if fit_intercept else np.zeros(X.shape[1])
    with np.errstate(over="ignore"):
        size = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weights))
    size = np.where((size > 0) & np.isfinite(size), size, 1.0)
    W = rng.standard_normal((k, outputs, X.shape[1])) / size
    b = np.zeros((k, outputs))
    if fit_intercept:
        b = rng.standard_normal((k, outputs)) - W @ mean
    return W, b


def count_errors(X: Array, index: Array, weights: Array, W: Array, b: Array) -> Array:
    """Training errors of every candidate, by blocks of matrix products."""
    k, outputs, d = W.shape
    errors = np.empty(k)
    step = max(1, _BLOCK // (len(X) * outputs))
    for i in range(0, k, step):
        block = W[i : i + step]
        scores = X @ block.reshape(-1, d).T + b[i : i + step].ravel()
        if outputs == 1:
            errors[i : i + step] = weights @ ((scores > 0) != (index == 1)[:, None])
        else:
            chosen = scores.reshape(len(X), len(block), outputs).argmax(axis=2)
            errors[i : i + step] = weights @ (chosen != index[:, None])
    return errors
