"""Fewer rows to search: editing (Wilson) removes noise, condensation (Hart) removes what is not needed."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin

from certifit._certified import Certified
from certifit._sklearn import Interval, StrOptions, usual
from certifit._types import Array, MatrixLike, Record, VectorLike
from certifit._validation import check_classification_targets, check_is_fitted, validate_data
from certifit.loops import neighbors_tree
from certifit.nearest import NAMES, Index, Metric, owned, resolve
from certifit.neighbors._votes import shares

_VECTOR_METRICS = {k for k, v in NAMES.items() if v not in ("cosine", "precomputed")}


def edit(
    X: Array, codes: Array, n_classes: int, k: int, metric: Metric, n_jobs: int | None = None
) -> tuple[Array, Array]:
    """Rows whose label their k nearest other rows vote for, and the neighbours of every row."""
    own = np.arange(len(X))
    _, rows = Index(X, metric, n_jobs=n_jobs).query(X, k, own, own)
    votes = shares(codes[rows], n_classes, None)
    return np.flatnonzero(np.argmax(votes, axis=1) == codes), rows


def condense(X: Array, codes: Array, metric: Metric, n_jobs: int | None = None) -> Array:
    """Row numbers, ascending, of a set that answers every row of X by 1-NN as X itself does.

    Hart's passes: a row that the set so far answers wrongly joins it, until a pass adds none. What the whole
    set answers for a row is the label of the first row equal to it, so only first rows join: each is its own
    nearest, stays right, and the passes end. A last look in exact order catches what rounding may have
    hidden.
    """
    X = owned(X)
    w = np.ones(X.shape[1]) if metric.weights is None else owned(metric.weights)
    _, first, inverse = np.unique(X[:, w > 0], axis=0, return_index=True, return_inverse=True)
    twin = first[inverse.ravel()]
    target = codes[twin]
    columns = np.ascontiguousarray(X.T)[None]
    nearest, holder = np.full(len(X), np.inf), np.full(len(X), len(X))
    kept = np.zeros(len(X), dtype=bool)
    distance = np.empty((1, len(X)))

    def add(i: int) -> None:
        kept[i] = True
        neighbors_tree.distances(X[i : i + 1], columns, w, metric.code, metric.p, distance)
        d = distance[0]
        closer = (d < nearest) | ((d == nearest) & (i < holder))
        nearest[closer], holder[closer] = d[closer], i

    add(0)
    while True:
        before = kept.sum()
        wrong = np.flatnonzero(codes[holder] != target)
        while len(wrong):
            add(int(twin[wrong[0]]))
            later = np.arange(wrong[0] + 1, len(X))
            wrong = later[codes[holder[later]] != target[later]]
        if kept.sum() == before:
            rows = np.flatnonzero(kept)
            _, found = Index(X[rows], metric, n_jobs=n_jobs).query(X, 1)
            missed = np.flatnonzero(codes[rows[found[:, 0]]] != target)
            if len(missed) == 0:
                return rows
            for i in missed:
                if not kept[twin[i]]:
                    add(int(twin[i]))


@dataclass(kw_only=True, eq=False, repr=False)
class _Prototypes(Certified, ClassifierMixin, BaseEstimator):
    """1-NN on a part of the training rows."""

    _proof_kind: ClassVar[str]  # the kind of certificate that a leaf's choice of rows has
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "metric": [StrOptions(_VECTOR_METRICS)],
        "p": [Interval(Real, 0, None, closed="right"), None],
        "feature_weights": ["array-like", None],
        "n_jobs": [Integral, None],
    }

    metric: str = "minkowski"
    p: float | None = 2
    feature_weights: npt.ArrayLike | None = None
    n_jobs: int | None = None

    def _labelled(self, X: MatrixLike, y: VectorLike) -> tuple[Array, Array, Array, Array, Metric]:
        self._validate_params()
        rows, labels = validate_data(self, X, y, dtype=(np.float64, np.float32), order="C")
        check_classification_targets(labels)
        classes, codes = np.unique(labels, return_inverse=True)
        metric = resolve(self.metric, self.p, None, self.feature_weights, rows.shape[1])
        return np.asarray(rows, dtype=float), labels, classes, codes, metric

    def _keep(self, rows: Array, labelled: tuple[Array, Array, Array, Array, Metric], proof: Record) -> None:
        """Answer from these rows, and promise the proof that they are the right ones."""
        X, y, self.classes_, codes, metric = labelled
        self._index = Index(X[rows], metric, n_jobs=self.n_jobs)
        self._codes = codes[rows]
        self.prototype_indices_ = rows
        self._promise_certificate(self._proof_kind, proof | metric.evidence, X, y)

    def predict(self, X: MatrixLike) -> Array:
        """The label of the nearest prototype (ties: the lower row number)."""
        check_is_fitted(self, "prototype_indices_")
        Q = validate_data(self, X, reset=False, dtype=(np.float64, np.float32), order="C")
        _, rows = self._index.query(Q, 1)
        return self.classes_[self._codes[rows[:, 0]]]

    def predict_proba(self, X: MatrixLike) -> Array:
        """One for the predicted class, zero for the others."""
        return np.asarray((self.predict(X)[:, None] == self.classes_).astype(float))


@dataclass(eq=False, repr=False)
class EditedNeighbors(_Prototypes):
    """1-NN after Wilson's editing: rows whose k nearest other rows vote for a different class are dropped.

    Kept are exactly the rows i whose label is the vote of their k nearest rows other than i (tied votes go
    to the first class); the certificate proves it for every row.

    Parameters
    ----------
    n_neighbors : int ≥ 1, default=3
        How many other rows vote on a row (fewer when there are fewer).
    metric : {"euclidean", "manhattan", "chebyshev", "minkowski"}, default="minkowski"
    p : float > 0, default=2
    feature_weights : array of shape (n_features,), default=None
    n_jobs : int, default=None

    Attributes
    ----------
    prototype_indices_ : int array
        The rows kept, ascending.
    classes_ : array of labels
    certificate_ : Certificate

    References
    ----------
    D. L. Wilson, "Asymptotic properties of nearest neighbor rules using edited data", IEEE Trans. Systems,
    Man, and Cybernetics 2 (1972).

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [7.0], [8.0], [9.0]], [0, 0, 1, 0, 1, 1, 1]
    >>> EditedNeighbors().fit(X, y).prototype_indices_.tolist()
    [0, 1, 3, 4, 5, 6]
    """

    _proof_kind = "edited-neighbors"
    _parameter_constraints: ClassVar[dict[str, Any]] = _Prototypes._parameter_constraints | usual("n_neighbors≥1")

    n_neighbors: int = 3

    def fit(self, X: MatrixLike, y: VectorLike) -> EditedNeighbors:
        """Edit the training rows."""
        labelled = self._labelled(X, y)
        table, _, classes, codes, metric = labelled
        if len(table) < 2:
            raise ValueError(
                "Editing compares each row with its neighbours, and there is only 1 sample: give at least two."
            )
        rows, lists = edit(table, codes, len(classes), min(self.n_neighbors, len(table) - 1), metric, self.n_jobs)
        if len(rows) == 0:
            raise ValueError(
                f"Editing with n_neighbors={self.n_neighbors} leaves no row: neighbours outvote every one. "
                "The labels look unrelated to the features; use KNeighborsClassifier, or another n_neighbors."
            )
        self._keep(rows, labelled, {"kept": rows, "neighbors": lists})
        return self


class CondensedNeighbors(_Prototypes):
    """1-NN on Hart's condensed set: far fewer rows, with the same prediction for every training row.

    The rows are visited in the order given; one that the set so far misclassifies joins it, until none
    does. The certificate proves, row by row, that the predictions are those of the whole training set.

    Parameters
    ----------
    metric, p, feature_weights, n_jobs :
        As in `EditedNeighbors`.

    Attributes
    ----------
    prototype_indices_, classes_, certificate_ :
        As in `EditedNeighbors`.

    References
    ----------
    P. E. Hart, "The condensed nearest neighbor rule", IEEE Trans. Information Theory 14 (1968).

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]], ["a", "a", "a", "b", "b", "b"]
    >>> CondensedNeighbors().fit(X, y).prototype_indices_.tolist()
    [0, 3]
    """

    _proof_kind = "condensed-neighbors"

    def fit(self, X: MatrixLike, y: VectorLike) -> CondensedNeighbors:
        """Condense the training rows."""
        labelled = self._labelled(X, y)
        table, _, _, codes, metric = labelled
        rows = condense(table, codes, metric, self.n_jobs)
        self._keep(rows, labelled, {"prototypes": rows})
        return self
