"""Categorical naive Bayes: every feature takes one of a few values."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_non_negative

from certifit._sklearn import Interval, usual
from certifit._types import Array, MatrixLike, Record, VectorLike
from certifit._validation import validate_data
from certifit.naive_bayes._base import smoothed_log_shares
from certifit.naive_bayes._discrete import CONSTRAINTS, CountingNB
from certifit.naive_bayes._statistics import ClassCounts

FRACTIONS = (
    "CategoricalNB counts whole numbers and X contains fractions, which its fit cuts off as scikit-learn does: to have "
    "a proof, fit it to np.trunc(X)."
)


@dataclass(kw_only=True, eq=False, repr=False)
class CategoricalNB(CountingNB):
    r"""Categorical naive Bayes: feature j has one of the values 0 … m_j − 1.

    .. math:: P(c \mid x) \propto P(c) \prod_j p_{cj}(x_j), \qquad
              p_{cj}(t) = \frac{N_{cjt} + \alpha}{N_c + \alpha m_j}

    Parameters
    ----------
    alpha : float in [0, inf), default=1.0
        Pseudo-count of every category (Laplace: 1).
    force_alpha, fit_prior, class_prior :
        As in `MultinomialNB`.
    min_categories : int or array-like of shape (n_features,), default=None
        Smallest number of categories per feature, whether seen or not.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : ndarray of shape (n_classes,)
    category_count_, feature_log_prob_ : list of ndarray of shape (n_classes, n_categories of the feature)
    n_categories_ : ndarray of shape (n_features,)
    statistics_ : ClassCounts
        The mergeable counts behind the estimates.
    certificate_ : Certificate
        Proof that the estimates are the smoothed counts of the data.

    Notes
    -----
    A category that was never seen is rejected with a ValueError (scikit-learn: IndexError); reserve it with
    ``min_categories``, or use `MixedNB`, which accepts strings and skips unknown ones.

    References
    ----------
    T. M. Mitchell, *Machine Learning*, section 6.9 (1997).

    Examples
    --------
    >>> from certifit.naive_bayes import CategoricalNB
    >>> model = CategoricalNB().fit([[0], [1], [1], [2]], [0, 0, 1, 1])
    >>> np.exp(model.feature_log_prob_[0]).round(4).tolist()
    [[0.4, 0.4, 0.2], [0.2, 0.4, 0.4]]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CONSTRAINTS,
        "min_categories": [None, "array-like", Interval(Integral, 1, None, closed="left")],
    } | usual("alpha≥0")

    min_categories: npt.ArrayLike | None = None

    def _unprovable(self, X: MatrixLike) -> str:
        cells = np.asarray(X, dtype=float)
        return FRACTIONS if np.any(cells != np.trunc(cells)) else ""

    def _read(self, X: MatrixLike, y: VectorLike, reset: bool) -> tuple[Array, Array]:
        rows, labels = validate_data(self, X, y, dtype="int", reset=reset)
        check_non_negative(rows, "CategoricalNB (input X)")
        return rows, labels

    def _check_X(self, X: MatrixLike) -> Array:
        rows: Array = validate_data(self, X, dtype="int", reset=False)
        check_non_negative(rows, "CategoricalNB (input X)")
        beyond = self.n_categories_ <= rows
        if beyond.any():
            i, j = np.argwhere(beyond)[0]
            raise ValueError(
                f"Row {i} has category {rows[i, j]} in column {j}, which has {self.n_categories_[j]} categories: "
                "reserve it with min_categories when fitting."
            )
        return rows

    def _sizes(self, X: Array) -> Array:
        """Categories per feature: seen here, or reserved."""
        sizes: Array = X.max(axis=0).astype(np.int64) + 1
        if self.min_categories is None:
            return sizes
        least = np.asarray(self.min_categories)
        if not np.issubdtype(least.dtype, np.signedinteger):
            raise ValueError(f"'min_categories' should have integral type. Got {least.dtype} instead.")
        if least.ndim and least.shape != sizes.shape:
            raise ValueError(
                f"'min_categories' should have shape ({X.shape[1]},) when an array-like is provided. "
                f"Got {least.shape} instead."
            )
        return np.asarray(np.maximum(sizes, least))

    def _tally(self, X: Array, codes: Array, K: int, weight: Array | None) -> ClassCounts:
        return ClassCounts.of_categories(X, codes, K, self._sizes(X), weight)

    def _estimate(self, statistics: ClassCounts) -> None:
        assert statistics.sizes is not None
        self.n_categories_, self.category_count_ = statistics.sizes, statistics.by_feature
        self.feature_log_prob_ = [smoothed_log_shares(count, self._alpha()) for count in self.category_count_]

    def _joint(self, X: Array) -> Array:
        joint = np.tile(self.class_log_prior_, (len(X), 1))
        for j, logs in enumerate(self.feature_log_prob_):
            joint += logs.T[X[:, j]]
        return joint

    def _evidence(self) -> Record:
        logs = np.hstack(self.feature_log_prob_)
        return super()._evidence() | {
            "model": "categorical",
            "feature_log_prob": logs,
            "n_categories": self.n_categories_,
        }

    _tags: ClassVar[Record] = {
        "input_tags.categorical": True,
        "input_tags.sparse": False,
        "input_tags.positive_only": True,
    }
