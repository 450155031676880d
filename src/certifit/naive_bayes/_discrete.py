"""Naive Bayes on counts: Bernoulli, multinomial and complement."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse
from sklearn.utils.validation import check_non_negative

from certifit._sklearn import Interval, usual
from certifit._types import Array, Matrix, MatrixLike, Record, VectorLike
from certifit._validation import validate_data
from certifit.naive_bayes._base import (
    Alpha,
    Boundary,
    IncrementalNB,
    class_shares,
    floor_alpha,
    log_quietly,
    smoothed_log_shares,
)
from certifit.naive_bayes._statistics import ClassCounts

CONSTRAINTS: dict[str, list[Any]] = {
    "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
    "class_prior": ["array-like", None],
} | usual("fit_prior force_alpha")


@dataclass(kw_only=True, eq=False, repr=False)
class CountingNB(IncrementalNB):
    """Fit by counting: what Bernoulli, multinomial and categorical models share."""

    _proof_kind = "smoothed-counts"

    alpha: float | npt.ArrayLike = 1.0
    force_alpha: bool = True
    fit_prior: bool = True
    class_prior: npt.ArrayLike | None = None

    @abstractmethod
    def _estimate(self, statistics: ClassCounts) -> None:
        """Set the attributes that follow from counts and ``alpha``."""

    def _counted(self, X: Matrix) -> Matrix:
        """Validated rows as the numbers that are counted."""
        return X

    def _check_X(self, X: MatrixLike) -> Matrix:
        return self._counted(validate_data(self, X, accept_sparse="csr", reset=False))

    def _read(self, X: MatrixLike, y: VectorLike, reset: bool) -> tuple[Matrix, Array]:
        rows, labels = validate_data(self, X, y, accept_sparse="csr", reset=reset)
        return self._counted(rows), labels

    def _tally(self, X: Matrix, codes: Array, K: int, weight: Array | None) -> ClassCounts:
        return ClassCounts.of(X, codes, K, weight)

    def _adopt(self, statistics: ClassCounts, classes: Array) -> None:
        """Name the estimates that follow from the counts."""
        prior = class_shares(statistics.class_total, self.fit_prior, self.class_prior)
        self._estimate(statistics)
        self.statistics_, self.classes_ = statistics, classes
        self.class_count_, self.class_log_prior_ = statistics.class_total, log_quietly(prior)
        self._prior = prior

    def _alpha(self) -> Alpha:
        return floor_alpha(self.alpha, self.force_alpha, self.n_features_in_)

    def _evidence(self) -> Record:
        return {"alpha": self._alpha(), "feature_log_prob": self.feature_log_prob_}

    _tags: ClassVar[Record] = {"input_tags.sparse": True, "classifier_tags.poor_score": True}


def _weigh(X: Matrix, logs: Array) -> Array:
    """X @ logsᵀ where 0 · (−∞) is 0 and anything else times −∞ is −∞."""
    never = np.isneginf(logs)
    scores: Array = np.asarray(X @ np.where(never, 0.0, logs).T)
    if never.any():
        scores[np.asarray(X @ never.astype(float).T) > 0] = -np.inf
    return scores


class MultinomialNB(CountingNB):
    r"""Multinomial naive Bayes: a row is a bag of counts drawn from its class's distribution over features.

    .. math:: P(c \mid x) \propto P(c) \prod_j p_{cj}^{x_j}, \qquad
              p_{cj} = \frac{N_{cj} + \alpha_j}{\sum_k (N_{ck} + \alpha_k)}

    Parameters
    ----------
    alpha : float in [0, inf) or array-like of shape (n_features,), default=1.0
        Pseudo-counts (Laplace: 1).
    force_alpha : bool, default=True
        Keep ``alpha`` below 1e-10 as it is.
    fit_prior : bool, default=True
        Learn the class probabilities; otherwise they are equal.
    class_prior : array-like of shape (n_classes,), default=None
        Class probabilities, when given.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : ndarray of shape (n_classes,)
    feature_count_, feature_log_prob_ : ndarray of shape (n_classes, n_features)
    statistics_ : ClassCounts
        The mergeable counts behind the estimates.
    certificate_ : Certificate
        Proof that the estimates are the smoothed counts of the data.

    References
    ----------
    C. D. Manning, P. Raghavan, H. Schütze, *Introduction to Information Retrieval*, ch. 13 (2008).

    Examples
    --------
    >>> from certifit.naive_bayes import MultinomialNB
    >>> model = MultinomialNB().fit([[2, 0], [1, 1], [0, 3]], ["a", "a", "b"])
    >>> np.exp(model.feature_log_prob_).round(4).tolist()
    [[0.6667, 0.3333], [0.2, 0.8]]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = CONSTRAINTS

    def _tally(self, X: Matrix, codes: Array, K: int, weight: Array | None) -> ClassCounts:
        check_non_negative(X, "MultinomialNB (input X)")
        return super()._tally(X, codes, K, weight)

    def _estimate(self, statistics: ClassCounts) -> None:
        self.feature_count_ = statistics.cells
        self.feature_log_prob_ = smoothed_log_shares(statistics.cells, self._alpha())

    def _joint(self, X: Matrix) -> Array:
        return _weigh(X, self.feature_log_prob_) + self.class_log_prior_

    def boundary(self) -> Boundary:
        """The log-odds of two classes as constant + linear·x (zero on the boundary).

        Returns
        -------
        Boundary
            Named tuple ``(constant, linear, quadratic)`` with ``quadratic`` zero.
        """
        self._need_two_classes()
        linear = self.feature_log_prob_[1] - self.feature_log_prob_[0]
        constant = float(self.class_log_prior_[1] - self.class_log_prior_[0])
        return Boundary(constant, linear, np.zeros_like(linear))

    def _evidence(self) -> Record:
        return super()._evidence() | {"model": "multinomial"}

    _tags: ClassVar[Record] = {"input_tags.positive_only": True}


@dataclass(kw_only=True, eq=False, repr=False)
class ComplementNB(CountingNB):
    r"""Complement naive Bayes: a class is scored by the counts of all *other* classes, which helps with imbalance.

    .. math:: \hat c(x) = \arg\max_c \sum_j x_j w_{cj}, \qquad
              w_{cj} = -\log \frac{N_j - N_{cj} + \alpha_j}{\sum_k (N_k - N_{ck} + \alpha_k)}

    Parameters
    ----------
    alpha, force_alpha :
        As in `MultinomialNB`.
    fit_prior, class_prior :
        As in `MultinomialNB`; they matter only if there is a single class.
    norm : bool, default=False
        Whether the logarithms of a class are divided by their sum.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : ndarray of shape (n_classes,)
    feature_count_, feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Counts, and the weights w.
    feature_all_ : ndarray of shape (n_features,)
        Counts of all classes together.
    statistics_ : ClassCounts
        The mergeable counts behind the estimates.
    certificate_ : Certificate
        Proof that the weights are those of the counts of the data.

    References
    ----------
    J. Rennie, L. Shih, J. Teevan, D. Karger, "Tackling the poor assumptions of naive Bayes text classifiers",
    ICML 2003.

    Examples
    --------
    >>> from certifit.naive_bayes import ComplementNB
    >>> model = ComplementNB().fit([[2, 0], [1, 1], [0, 3]], ["a", "a", "b"])
    >>> np.exp(-model.feature_log_prob_).round(4).tolist()
    [[0.2, 0.8], [0.6667, 0.3333]]
    >>> model.certificate_.holds
    True
    """

    _proof_kind = "complement-counts"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {**CONSTRAINTS, "norm": ["boolean"]}

    norm: bool = False

    def _tally(self, X: Matrix, codes: Array, K: int, weight: Array | None) -> ClassCounts:
        check_non_negative(X, "ComplementNB (input X)")
        return super()._tally(X, codes, K, weight)

    def _estimate(self, statistics: ClassCounts) -> None:
        self.feature_count_ = statistics.cells
        self.feature_all_ = statistics.cells.sum(axis=0)
        logs = smoothed_log_shares(self.feature_all_ - statistics.cells, self._alpha())
        with np.errstate(invalid="ignore"):
            self.feature_log_prob_ = logs / logs.sum(axis=1, keepdims=True) if self.norm else -logs

    def _joint(self, X: Matrix) -> Array:
        scores = -_weigh(X, -self.feature_log_prob_)
        return scores + self.class_log_prior_ if len(self.classes_) == 1 else scores

    def _class_evidence(self) -> Record:
        return {"classes": np.asarray(self.classes_)}  # the weights know no shares of classes

    def _evidence(self) -> Record:
        return {"alpha": self._alpha(), "feature_weights": self.feature_log_prob_, "norm": bool(self.norm)}

    _tags: ClassVar[Record] = {"input_tags.positive_only": True}


@dataclass(kw_only=True, eq=False, repr=False)
class BernoulliNB(CountingNB):
    r"""Bernoulli naive Bayes: every feature is on or off, and being off counts as well.

    .. math:: P(c \mid x) \propto P(c) \prod_j p_{cj}^{x_j} (1 - p_{cj})^{1 - x_j}, \qquad
              p_{cj} = \frac{N_{cj} + \alpha_j}{N_c + 2\alpha_j}

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior :
        As in `MultinomialNB`.
    binarize : float or None, default=0.0
        A feature is on above this value; None if X contains zeros and ones already.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_, feature_count_, feature_log_prob_, statistics_, certificate_ :
        As in `MultinomialNB`.

    References
    ----------
    C. D. Manning, P. Raghavan, H. Schütze, *Introduction to Information Retrieval*, ch. 13 (2008).

    Examples
    --------
    >>> from certifit.naive_bayes import BernoulliNB
    >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["a", "a", "b"])
    >>> np.exp(model.feature_log_prob_).round(4).tolist()
    [[0.75, 0.5], [0.3333, 0.6667]]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CONSTRAINTS,
        "binarize": [None, Interval(Real, None, None, closed="neither")],
    }

    binarize: float | None = 0.0

    def _counted(self, X: Matrix) -> Matrix:
        if self.binarize is None:
            return X
        if not scipy.sparse.issparse(X):
            return (self.binarize < X).astype(float)
        if self.binarize < 0:
            raise ValueError("Cannot binarize a sparse matrix with threshold < 0")
        X = X.copy()
        X.data = (X.data > self.binarize).astype(float)
        return X

    def _estimate(self, statistics: ClassCounts) -> None:
        alpha = np.broadcast_to(self._alpha(), (statistics.cells.shape[1],))
        total = statistics.class_total[:, None] + 2.0 * alpha
        on = statistics.cells + alpha
        off = statistics.class_total[:, None] - statistics.cells + alpha
        safe = np.where(total > 0, total, 1.0)
        self.feature_count_ = statistics.cells
        self.feature_log_prob_, self._log_off = (
            log_quietly(on / safe),
            log_quietly(np.maximum(off, 0.0) / safe),
        )

    def _joint(self, X: Matrix) -> Array:
        never_off = np.isneginf(self._log_off)
        off = np.where(never_off, 0.0, self._log_off)
        with np.errstate(invalid="ignore"):
            scores: Array = _weigh(X, self.feature_log_prob_ - off) + off.sum(axis=1) + self.class_log_prior_
        if never_off.any():  # a feature that is always on in a class, and off in this row
            on = np.asarray(X @ never_off.astype(float).T)
            scores[on < never_off.sum(axis=1)] = -np.inf
        return scores

    def boundary(self) -> Boundary:
        """The log-odds of two classes as constant + linear·x for x in zeros and ones.

        Returns
        -------
        Boundary
            Named tuple ``(constant, linear, quadratic)`` with ``quadratic`` zero.
        """
        self._need_two_classes()
        slope = self.feature_log_prob_ - self._log_off
        start = self.class_log_prior_ + self._log_off.sum(axis=1)
        linear = slope[1] - slope[0]
        return Boundary(float(start[1] - start[0]), linear, np.zeros_like(linear))

    def _evidence(self) -> Record:
        threshold = None if self.binarize is None else float(self.binarize)
        return super()._evidence() | {"model": "bernoulli", "binarize": threshold}
