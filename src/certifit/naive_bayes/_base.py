"""What all naive Bayes models share: P(c | x) ∝ P(c) Πⱼ P(xⱼ | c), worked out in logarithms.

Conventions: the *joint* log probability of row x and class c is log P(c) + Σⱼ log P(xⱼ | c); ties go to the
first class; logarithms are natural. For two classes the log-odds are log P(second | x) − log P(first | x).
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin

from certifit._certified import Certified
from certifit._sklearn import check_partial_fit_first_call, read_weights
from certifit._types import Array, Matrix, MatrixLike, Record, VectorLike, Weights
from certifit._validation import check_classification_targets, check_is_fitted, classes_and_codes
from certifit.certificates import Certificate, Data, issue
from certifit.naive_bayes._folds import bayes_answers

Alpha = float | Array  # pseudo-counts: one for all cells, or one per feature

_PIECES = (
    "This model was fitted in pieces by partial_fit and kept none of the data: "
    "pass all of them to certify(X, y) to have its estimates proved."
)


class Boundary(NamedTuple):
    """The log-odds of two classes as a polynomial: constant + linear·x + quadratic·x²; the boundary is its zero.

    Attributes
    ----------
    constant : float
    linear, quadratic : (d,) array

    Examples
    --------
    >>> from certifit.naive_bayes import GaussianNB
    >>> line = GaussianNB(var_smoothing=0.0).fit([[-1.0], [1.0], [2.0], [4.0]], [0, 0, 1, 1]).boundary()
    >>> round(line.constant, 6), line.linear.tolist()
    (-4.5, [3.0])
    """

    constant: float
    linear: Array
    quadratic: Array


class NaiveBayes(Certified, ClassifierMixin, BaseEstimator):
    """Predictions from joint log probabilities; a leaf says how those come about."""

    @abstractmethod
    def _joint(self, X: Matrix) -> Array:
        """log P(c) + log P(x | c) for validated rows, (n, K)."""

    @abstractmethod
    def _check_X(self, X: MatrixLike) -> Matrix:
        """Validate rows for prediction."""

    @abstractmethod
    def _read(self, X: MatrixLike, y: VectorLike, reset: bool) -> tuple[Matrix, Array]:
        """Validate training rows and labels."""

    @abstractmethod
    def _tally(self, X: Matrix, codes: Array, K: int, weight: Array | None) -> Any:
        """Sufficient statistics of validated rows: they have ``+``, ``-``, ``keep`` and ``class_total``."""

    def _tally_all(self, X: Matrix, codes: Array, K: int, weight: Array | None) -> Any:
        """The same for the rows of a `fit`; a leaf may take their fingerprint along (see `note_fingerprint`)."""
        return self._tally(X, codes, K, weight)

    @abstractmethod
    def _adopt(self, statistics: Any, classes: Array) -> None:
        """Name the estimates that follow from the statistics (all of them, or none and an error)."""

    @abstractmethod
    def _evidence(self) -> Record:
        """What a proof of the estimates needs besides the classes and their shares."""

    _proof_kind: ClassVar[str]  # the kind of certificate that a leaf's estimates have
    _prior: Array  # class probabilities in use
    classes_: Array

    def _class_evidence(self) -> Record:
        """What a proof says of the classes."""
        return {"classes": np.asarray(self.classes_), "class_prior": self._prior, "prior_rule": self._prior_rule}

    @property
    def _prior_rule(self) -> str:
        """Where the class probabilities come from, in the words of the certificates."""
        return "given" if self.class_prior is not None else "data" if self.fit_prior else "uniform"

    def certify(self, X: MatrixLike, y: VectorLike, sample_weight: Weights = None) -> Certificate:
        """Prove that the estimates are those of the given data.

        Parameters
        ----------
        X, y, sample_weight :
            All data the model was fitted to.

        Returns
        -------
        Certificate
        """
        check_is_fitted(self, "statistics_")
        return issue(self._proof_kind, Data.of(X, y, sample_weight), self._class_evidence() | self._evidence())

    def fit(self, X: MatrixLike, y: VectorLike, sample_weight: Weights = None) -> Self:
        """Estimate from rows X (sparse where the model allows it) with classes y; weight k is k copies of a row."""
        self._validate_params()
        given = X, y, sample_weight
        rows, classes, codes, weight = self._encoded(X, y, sample_weight)
        self._adopt_seen(self._tally_all(rows, codes, len(classes), weight), classes)
        self._promise_certificates(lambda: (self.certify(*given),), *given)
        if reason := self._unprovable(X):
            self._withhold_certificates(reason)
        return self

    def _unprovable(self, X: MatrixLike) -> str:
        """Why nothing can be proved about a fit to these rows; empty where it can."""
        return ""

    def _encoded(
        self, X: MatrixLike, y: VectorLike, sample_weight: Weights
    ) -> tuple[Matrix, Array, Array, Array | None]:
        """Validated rows, classes, the class number of each row, and weights."""
        rows, labels = self._read(X, y, reset=True)
        if labels.dtype.kind not in "iub":
            check_classification_targets(labels)
        classes, codes = classes_and_codes(labels)
        return rows, classes, codes, read_weights(sample_weight, rows)

    def _adopt_seen(self, statistics: Any, classes: Array) -> None:
        """Estimates of the classes that have any weight."""
        seen = statistics.class_total > 0
        if not seen.all():
            classes, statistics = classes[seen], statistics.keep(seen)
        self._adopt(statistics, classes)

    _fold_path = bayes_answers  # shared work for `certifit.model_selection`

    def _respond(self, name: str, rows: Matrix) -> Array:
        """An answer about validated rows, by the name of its public method."""
        joint = self._joint(rows)
        if name == "predict_joint_log_proba":
            return joint
        _refuse_impossible(joint)
        return {"predict": self._labels, "predict_proba": _shares, "predict_log_proba": _log_shares, "log_odds": _odds}[
            name
        ](joint)

    def _labels(self, joint: Array) -> Array:
        return np.asarray(self.classes_[np.argmax(joint, axis=1)])

    def _answer(self, name: str, X: MatrixLike) -> Array:
        check_is_fitted(self, "statistics_")
        return self._respond(name, self._check_X(X))

    def predict_joint_log_proba(self, X: MatrixLike) -> Array:
        """log P(c) + log P(x | c) per row and class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self._answer("predict_joint_log_proba", X)

    def predict(self, X: MatrixLike) -> Array:
        """The most probable class of each row."""
        return self._answer("predict", X)

    def predict_log_proba(self, X: MatrixLike) -> Array:
        """log P(c | x) per row and class."""
        return self._answer("predict_log_proba", X)

    def predict_proba(self, X: MatrixLike) -> Array:
        """P(c | x) per row and class."""
        return self._answer("predict_proba", X)

    def log_odds(self, X: MatrixLike) -> Array:
        """Log-odds of a class: log P(c | x) − log P(not c | x).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray
            Two classes: (n_samples,), for the second class; the decision boundary is where it is zero. Otherwise
            (n_samples, n_classes), each class against all others.
        """
        return self._answer("log_odds", X)


class IncrementalNB(NaiveBayes):
    """Naive Bayes that can take its rows in pieces."""

    def partial_fit(
        self, X: MatrixLike, y: VectorLike, classes: VectorLike | None = None, sample_weight: Weights = None
    ) -> Self:
        """Learn from one more batch of rows; the estimates are those of all rows seen so far.

        The first call needs ``classes``, the list of all classes.
        """
        self._validate_params()
        first = check_partial_fit_first_call(self, classes) or not hasattr(self, "statistics_")
        rows, labels = self._read(X, y, reset=first)
        codes = encode_known(labels, self.classes_)
        more = self._tally(rows, codes, len(self.classes_), read_weights(sample_weight, rows))
        self._adopt(more if first else self.statistics_ + more, self.classes_)
        self._withhold_certificates(_PIECES)
        return self

    def _need_two_classes(self) -> None:
        check_is_fitted(self, "statistics_")
        if len(self.classes_) != 2:
            raise ValueError(f"A boundary needs two classes; this model has {len(self.classes_)}.")


def encode_known(y: Array, classes: Array) -> Array:
    """Index of each label among known classes; a ValueError names the labels that are not."""
    codes: Array = np.searchsorted(classes, y).astype(np.int64)
    codes = np.minimum(codes, len(classes) - 1)
    strange = classes[codes] != y
    if np.any(strange):
        raise ValueError(
            f"The target label(s) {np.unique(y[strange])} in y do not exist in the initial classes {classes}."
        )
    return codes


def _log_shares(joint: Array) -> Array:
    shifted = joint - joint.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def _shares(joint: Array) -> Array:
    p: Array = joint - joint.max(axis=1, keepdims=True)
    np.exp(p, out=p)
    p /= p.sum(axis=1, keepdims=True)
    return p


def _odds(joint: Array) -> Array:
    if joint.shape[1] == 2:
        return joint[:, 1] - joint[:, 0]
    odds = np.empty_like(joint)
    for c in range(joint.shape[1]):
        others = np.delete(joint, c, axis=1)
        odds[:, c] = joint[:, c] - np.logaddexp.reduce(others, axis=1, initial=-np.inf)
    return odds


def _refuse_impossible(joint: Array) -> None:
    """A row that no class allows has no posterior."""
    gone = np.isneginf(joint.max(axis=1)) if len(joint) else np.zeros(0, dtype=bool)
    if gone.any():
        row = int(np.flatnonzero(gone)[0])
        raise ValueError(
            f"Row {row} has probability zero under every class: smooth the estimates (alpha or var_smoothing "
            "above zero), or rescale values whose squares exceed the largest float."
        )


def check_prior(prior: npt.ArrayLike, K: int) -> Array:
    """Given class probabilities, checked."""
    p = np.asarray(prior, dtype=float)
    if p.shape != (K,):
        raise ValueError("Number of priors must match number of classes.")
    if np.any(p < 0):
        raise ValueError("Priors must be non-negative.")
    return p


def class_shares(total: Array, fit_prior: bool, class_prior: npt.ArrayLike | None) -> Array:
    """Class probabilities: given, those of the data, or equal."""
    if class_prior is not None:
        return check_prior(class_prior, len(total))
    return total / total.sum() if fit_prior else np.full(len(total), 1.0 / len(total))


def log_quietly(p: Array) -> Array:
    """log p, with log 0 = −∞ meant."""
    with np.errstate(divide="ignore"):
        return np.log(p)


def smoothed_log_shares(counts: Array, alpha: Alpha) -> Array:
    """log of (n + α)/Σ(n + α) along each row; −∞ where there is neither count nor pseudo-count."""
    smooth = counts + alpha
    total = smooth.sum(axis=1, keepdims=True)
    return log_quietly(smooth / np.where(total > 0, total, 1.0))


def floor_alpha(alpha: npt.ArrayLike, force: bool, n_features: int) -> Alpha:
    """Pseudo-counts as one float or one per feature; tiny ones are raised unless ``force``."""
    values = np.asarray(alpha, dtype=float)
    if values.ndim:
        if values.shape != (n_features,):
            raise ValueError(
                "When alpha is an array, it should contains `n_features`. "
                f"Got {values.shape[0]} elements instead of {n_features}."
            )
        if values.min() < 0:
            raise ValueError("All values in alpha must be greater than 0.")
    if values.min() < 1e-10 and not force:
        warnings.warn(
            "alpha too small will result in numeric errors, setting alpha = 1.0e-10. "
            "Use `force_alpha=True` to keep alpha unchanged.",
            UserWarning,
            stacklevel=4,
        )
        values = np.maximum(values, 1e-10)
    return values if values.ndim else float(values)
