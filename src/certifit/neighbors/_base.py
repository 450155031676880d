"""What the nearest-neighbour estimators share: the search, its parameters and its certificates."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.neighbors import BallTree, KDTree
from sklearn.utils import Tags

from certifit._certified import Certified
from certifit._sklearn import HasMethods, Interval, KNeighborsMixin, NeighborsBase, StrOptions, usual
from certifit._trace import Trace, TraceRow
from certifit._types import Array, Matrix, Record, VectorLike, Weights
from certifit._validation import check_classification_targets, check_is_fitted, validate_data
from certifit.certificates import Certificate, Data, issue
from certifit.nearest import NAMES, OTHERS, Index, Metric, check_axioms, resolve
from certifit.neighbors import _votes

KINDS = (np.float64, np.float32)


class Search(Certified, BaseEstimator):
    """The search, its certificates and what it says of its metric; leaves add parameters and answers."""

    _y_given: Array | None

    n_neighbors: int | None = None
    weights: Any = "uniform"
    algorithm: str
    leaf_size: int
    p: float | None
    metric: Any
    metric_params: dict[str, Any] | None
    n_jobs: int | None
    feature_weights: Any = None
    bandwidth: float | None = None
    check_metric: bool = True

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "algorithm": [StrOptions({"auto", "ball_tree", "kd_tree", "brute"})],
        "p": [Interval(Real, 0, None, closed="right"), None],
        "metric": [StrOptions({*NAMES, *OTHERS}), callable, HasMethods(["pairwise"])],
        "metric_params": [dict, None],
        "n_jobs": [Integral, None],
    } | usual("leaf_size≥1")

    _tags: ClassVar[Record] = {
        "input_tags.sparse": lambda model: not model._has_metric("nan_euclidean"),
        "input_tags.pairwise": lambda model: model._has_metric("precomputed"),
        "input_tags.allow_nan": lambda model: model._has_metric("nan_euclidean"),
    }

    def _has_metric(self, name: str) -> bool:
        return isinstance(self.metric, str) and self.metric == name

    @property
    def _checks(self) -> Record:
        """How rows are validated; only the distance that leaves missing cells out lets them in."""
        missing = self._has_metric("nan_euclidean")
        finite: bool | str = "allow-nan" if missing else True
        return {"dtype": KINDS, "order": "C", "accept_sparse": not missing and "csr", "ensure_all_finite": finite}

    def _read_rows(self, X: Matrix, y: VectorLike = "no_validation", **more: Any) -> Any:
        """Training rows in full, with targets if there are any."""
        given = self._has_metric("precomputed")
        if given:
            refuse_zeros(X)
        if isinstance(y, str):
            return dense(validate_data(self, rows_of(X), **self._checks), given)
        X, y = validate_data(self, rows_of(X), y, multi_output=True, **self._checks, **more)
        return dense(X, given), y

    # -- fitting ------------------------------------------------------------------------------------
    def _store(self, X: Array, task: str, y_given: Any) -> None:
        """Prepare the search and promise the certificate; all checks come before any change."""
        params = self.metric_params
        if params is not None and "p" in params:
            warnings.warn(
                "Parameter p is found in metric_params. The corresponding parameter from __init__ is ignored.",
                SyntaxWarning,
                stacklevel=3,
            )
        metric = resolve(self.metric, self.p, params, self.feature_weights, X.shape[1])
        if metric.name == "precomputed":
            _check_given(X, square=True)
        if metric.name == "function" and callable(metric.function) and self.check_metric:
            check_axioms(metric, X)
        index = Index(X, metric, self.algorithm, self.leaf_size, self.n_jobs)
        if metric.name == "minkowski" and metric.p < 1:
            warnings.warn(
                "Mind that for 0 < p < 1, Minkowski metrics are not distance metrics. Continuing the execution with "
                "`algorithm='brute'`.",
                UserWarning,
                stacklevel=3,
            )
        self._index = index
        self.effective_metric_ = self.metric if metric.name == "function" else metric.name
        self.effective_metric_params_ = _effective(metric)
        self.n_samples_fit_ = len(index.X)
        self.algorithm_ = self._fit_method = index.method
        if isinstance(self.weights, str) and self.weights == "gaussian":
            self.bandwidth_ = self._find_bandwidth() if self.bandwidth is None else float(self.bandwidth)
        self._promise_certificate(
            "stored-rows", lambda _: {"rows": Data.of(index.X).digest(), "task": task}, X, y_given
        )

    def _find_bandwidth(self) -> float:
        """Median distance of (up to a thousand) training rows to their n_neighbors-th (√n-th) other row."""
        n = self.n_samples_fit_
        k = self.n_neighbors if self.n_neighbors is not None else round(n**0.5)
        some = np.unique(np.linspace(0, n - 1, min(n, 1000)).astype(int))
        if n == 1:
            return 1.0
        distances, _ = self._index.query(self._index.X[some], min(k, n - 1), some, np.arange(n))
        positive = distances[:, -1][distances[:, -1] > 0]
        return float(np.median(positive)) if len(positive) else 1.0

    # -- searching ----------------------------------------------------------------------------------
    def _queries(self, X: Matrix) -> tuple[Array, Array, Array]:
        """Queries and groups; None stands for the training rows, each of which leaves itself out."""
        check_is_fitted(self, "n_samples_fit_")
        if X is None:
            rows = np.arange(self.n_samples_fit_)
            return self._index.X, rows, rows
        given = self._index.metric.name == "precomputed"
        if given:
            refuse_zeros(X)
        X = dense(validate_data(self, X, reset=False, **self._checks), given)
        if given:
            _check_given(X, square=False)
        none = np.empty(0, np.int64)
        return X, none, none

    def _how_many(self, n_neighbors: Any, X: Matrix) -> int:
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        most = self.n_samples_fit_ - (X is None)
        if k is None:
            return most
        if isinstance(k, bool) or not isinstance(k, (Integral, np.integer)):
            raise TypeError(f"n_neighbors does not take {type(k)} value, enter integer value")
        k = int(k)
        if k <= 0:
            raise ValueError(f"Expected n_neighbors > 0. Got {k}")
        if k > most:
            sign = "<" if X is None else "<="
            raise ValueError(
                f"Expected n_neighbors {sign} n_samples_fit, but n_neighbors = {k}, n_samples_fit = "
                f"{self.n_samples_fit_}, n_samples = {self.n_samples_fit_ if X is None else len(X)}"
            )
        return k

    def kneighbors(self, X: Matrix = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """The nearest training rows, nearest first, equal distances by lower row number.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features), default=None
            Queries (distances to the training rows if metric="precomputed"); None: the training rows, none
            of which is its own neighbour.
        n_neighbors : int, default=None
            How many; None: as many as the constructor says.
        return_distance : bool, default=True

        Returns
        -------
        distances, indices : arrays of shape (n_queries, n_neighbors), or indices alone
        """
        Q, group_q, group_x = self._queries(X)
        distances, rows = self._index.query(Q, self._how_many(n_neighbors, X), group_q, group_x)
        self._refuse_missing(distances)
        return (distances, rows) if return_distance else rows

    def _refuse_missing(self, distances: Array) -> None:
        if self._index.metric.name == "precomputed" and np.any(np.isinf(distances)):
            k = distances.shape[1]
            least = int(np.isfinite(distances).sum(axis=1).min())
            raise ValueError(
                f"{k} neighbors per samples are required, but some samples have only {least} neighbors in "
                "precomputed graph matrix. Decrease number of neighbors used or recompute the graph with more "
                "neighbors."
            )

    def kneighbors_graph(self, X: Matrix = None, n_neighbors: int | None = None, mode: str = "connectivity") -> Any:
        """The (weighted) graph from queries to their neighbours as a sparse matrix.

        Parameters
        ----------
        X, n_neighbors :
            As in `kneighbors`.
        mode : {"connectivity", "distance"}, default="connectivity"

        Returns
        -------
        CSR matrix of shape (n_queries, n_samples_fit)
        """
        refuse_mode(mode)
        distances, rows = self.kneighbors(X, n_neighbors)
        m, k = rows.shape
        data = np.ones(m * k) if mode == "connectivity" else distances.ravel()
        return scipy.sparse.csr_matrix((data, rows.ravel(), np.arange(0, m * k + 1, k)), shape=(m, self.n_samples_fit_))

    def certificate_for(self, X: Matrix, n_neighbors: int | None = None) -> Certificate:
        """Proof that the neighbours of these queries are the nearest: no other row is nearer.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features), or None
            Queries; None: the training rows, each without itself.
        n_neighbors : int, default=None
            As in `kneighbors`.

        Returns
        -------
        Certificate
            ``evidence["indices"]`` are the rows; ``farthest`` bounds the distance of the last, ``separation`` says
            how much farther every other row is. A query keeps its neighbours if it moves by less than half of that
            (by the triangle inequality, which all but cosine satisfy).
        """
        Q, group_q, group_x = self._queries(X)
        distances, rows = self._index.query(Q, self._how_many(n_neighbors, X), group_q, group_x)
        self._refuse_missing(distances)
        metric, data = self._index.metric, Data.of(self._index.X, self._y_given)
        if metric.name in ("function", "precomputed"):
            D = np.vstack([block for _, block in self._index.blocks(Q)])
            if X is None:
                raise ValueError(
                    "Pass the queries: with this metric, training rows cannot be certified as their own queries."
                )
            return issue("neighbors-given-distances", data, {"distances": D, "indices": rows})
        own = np.arange(len(Q)) if X is None else None
        evidence = {"queries": np.asarray(Q, dtype=float), "indices": rows, "own": own}
        return issue("neighbors", data, evidence | metric.evidence)

    def trace(self, x: VectorLike) -> Trace:
        """The search for one query, step by step: rows by their distance, and which of them vote.

        Parameters
        ----------
        x : array-like of shape (d,)
            The query.

        Returns
        -------
        Trace
            One line per training row, nearest first: row, distance, label or value, its weight in the vote (none
            beyond the k nearest), and the prediction so far.
        """
        check_is_fitted(self)
        query = np.asarray(x)[None, :]
        found, rows = self.kneighbors(query, self.n_samples_fit_)
        distances = found[0]
        count = self.n_samples_fit_ if self.n_neighbors is None else self._how_many(None, query)
        given = _votes.weigh(distances[None, :count], self.weights, getattr(self, "bandwidth_", None))
        weights = np.ones(count) if given is None else given[0]
        y, steps = np.asarray(self._y_given), []
        for place, row in enumerate(rows[0]):
            votes = place < count
            own: dict[str, Any] = {"row": int(row), "distance": float(distances[place]), "y": y[row], "votes": votes}
            own["weight"] = float(weights[place]) if votes else None
            own["prediction"] = self._prediction_of(y[rows[0][: place + 1]], weights[: place + 1]) if votes else None
            steps.append(TraceRow(place, **own))
        return Trace(steps)

    def _prediction_of(self, y: Array, weights: Array) -> Any:
        """What the rows seen so far would predict: the class of most weight, or the weighted mean."""
        if not hasattr(self, "classes_"):
            return float(weights @ y / weights.sum()) if y.ndim == 1 and weights.sum() > 0 else None
        if y.ndim > 1:
            return None
        names, which = np.unique(y, return_inverse=True)
        return names[int(np.bincount(which, weights).argmax())]

    def _voting(self, X: Matrix) -> Any:
        """(queries, rows, weights) for each block: the nearest k, or every row when n_neighbors is None."""
        Q, group_q, group_x = self._queries(X)
        bandwidth = getattr(self, "bandwidth_", None)
        if self.n_neighbors is not None:
            distances, rows = self._index.query(Q, self._how_many(None, X), group_q, group_x)
            self._refuse_missing(distances)
            w = _votes.weigh(distances, self.weights, bandwidth)
            _votes.refuse_all_zero(w)
            yield slice(0, len(Q)), rows, w
            return
        self._how_many(1, X)
        for first, D in self._index.blocks(Q):
            at = np.arange(len(D))
            if X is None:
                D = D.copy()
                D[at, first + at] = np.inf
            w = _votes.weigh(D, self.weights, bandwidth)
            w = np.isfinite(D).astype(float) if w is None else w
            if X is None:
                w[at, first + at] = 0.0
            _votes.refuse_all_zero(w)
            yield slice(first, first + len(D)), None, w


@dataclass(frozen=True)
class ClassTargets:
    """Labels as codes: one column of codes and one set of classes for each output."""

    several: bool
    classes: Any
    codes: Array

    @classmethod
    def of(cls, labels: Array) -> ClassTargets:
        """Read labels of shape (n,) or (n, n_outputs); a single column is taken for a line, with a warning."""
        several = labels.ndim == 2 and labels.shape[1] > 1
        if labels.ndim == 2 and not several:
            warnings.warn(
                "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
                "(n_samples,), for example using ravel().",
                DataConversionWarning,
                stacklevel=3,
            )
        check_classification_targets(labels)
        columns = labels.reshape(len(labels), -1)
        pairs = [np.unique(columns[:, j], return_inverse=True) for j in range(columns.shape[1])]
        classes = [found for found, _ in pairs] if several else pairs[0][0]
        return cls(several, classes, np.stack([codes for _, codes in pairs], axis=1))


def rows_of(X: Matrix) -> Any:
    """The rows themselves, where X is a fitted search or tree of ours or of scikit-learn."""
    if isinstance(X, Search):
        return X._index.X
    if isinstance(X, NeighborsBase):
        return X._fit_X
    return np.asarray(X.data) if isinstance(X, (BallTree, KDTree)) else X


def dense(X: Matrix, given: bool = False) -> Array:
    """Rows as an array; sparse ones are stored in full. Of given distances those that are not stored are infinite."""
    if not scipy.sparse.issparse(X):
        return np.asarray(X)
    if not given:
        return np.ascontiguousarray(X.toarray())
    rows = X.tocsr()
    out = np.full(rows.shape, np.inf)
    out[np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)), rows.indices] = rows.data
    return out


def refuse_mode(mode: str) -> None:
    """One sentence, scikit-learn's, for a graph that nobody knows."""
    if mode not in ("connectivity", "distance"):
        raise ValueError(f'Unsupported mode, must be one of "connectivity", or "distance" but got "{mode}" instead')


def refuse_zeros(D: Any) -> None:
    """Distances of zero are entries too: sparse formats that drop them cannot hold distances."""
    if scipy.sparse.issparse(D) and D.format not in ("csr", "csc", "coo", "lil"):
        raise TypeError(f"Sparse matrix in {D.format!r} format is not supported due to its handling of explicit zeros")


def _check_given(D: Array, square: bool) -> None:
    if square and D.shape[0] != D.shape[1]:
        raise ValueError(f"Precomputed matrix must be square. Input is a {D.shape[0]}x{D.shape[1]} matrix.")
    if np.any(D < 0):
        raise ValueError("Negative values in data passed to precomputed distance matrix.")


def _effective(metric: Metric) -> Record:
    params: dict[str, Any] = dict(metric.arguments)
    if metric.name == "minkowski":
        params["p"] = metric.p
    if metric.weights is not None:
        params["w"] = metric.weights
    return params


class LabelAnswers(ClassifierMixin, MultiOutputMixin):
    """Mixin: what the estimators that answer with labels keep of y, and their score."""

    def fit(self, X: Matrix, y: VectorLike) -> Self:
        """Store the rows, (n, n) distances with metric="precomputed", and labels y, (n,) or (n, n_outputs)."""
        self._validate_params()
        X, labels = self._read_rows(X, y)
        targets = ClassTargets.of(labels)
        self._store(X, "classes", labels)
        self.outputs_2d_, self.classes_ = targets.several, targets.classes
        self._y_given, self._codes = labels, targets.codes
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def score(self, X: Matrix, y: VectorLike, sample_weight: Weights = None) -> float:
        """Accuracy; X=None scores the training rows by leave-one-out."""
        return float(super().score(X, y, sample_weight))


class ValueAnswers(RegressorMixin, MultiOutputMixin):
    """Mixin: what the estimators that answer with values keep of y, and their score."""

    def fit(self, X: Matrix, y: VectorLike) -> Self:
        """Store the rows, (n, n) distances with metric="precomputed", and values y, (n,) or (n, n_outputs)."""
        self._validate_params()
        X, values = self._read_rows(X, y, y_numeric=True)
        self._store(X, "values", values)
        self._y_given = values
        self._values = values.reshape(len(values), -1).astype(float, copy=False)
        self._flat = values.ndim == 1
        return self

    def score(self, X: Matrix, y: VectorLike, sample_weight: Weights = None) -> float:
        """R²; X=None scores the training rows by leave-one-out."""
        return float(super().score(X, y, sample_weight))


@dataclass(eq=False, repr=False)
class Searcher(KNeighborsMixin, Search):
    """Parameters of the estimators that ask the k nearest; leaves add `fit` and `predict`."""

    kneighbors = Search.kneighbors
    kneighbors_graph = Search.kneighbors_graph

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Search._parameter_constraints,
        "weights": [StrOptions({"uniform", "distance", "gaussian"}), callable, None],
        "feature_weights": ["array-like", None],
    } | usual("n_neighbors≥1? bandwidth>0? check_metric")

    n_neighbors: int | None = 5
    _: KW_ONLY
    weights: Any = "uniform"
    algorithm: str = "auto"
    leaf_size: int = 30
    p: float | None = 2
    metric: Any = "minkowski"
    metric_params: Record | None = None
    n_jobs: int | None = None
    feature_weights: Any = None
    bandwidth: float | None = None
    check_metric: bool = True
