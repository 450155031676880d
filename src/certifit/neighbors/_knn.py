"""k-nearest-neighbour classification and regression."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from certifit._certified import Certified
from certifit._types import Array
from certifit.certificates import Certificate, Data, issue
from certifit.neighbors import _votes
from certifit.neighbors._metrics import NAMES, Metric, check_axioms, resolve
from certifit.neighbors._search import Index


class Searcher(BaseEstimator):
    """What both estimators share: the search, its parameters and its certificates."""

    _parameter_constraints: dict[str, Any] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), None],
        "weights": [StrOptions({"uniform", "distance", "gaussian"}), callable, None],
        "algorithm": [StrOptions({"auto", "kd_tree", "brute"})],
        "leaf_size": [Interval(Integral, 1, None, closed="left")],
        "p": [Interval(Real, 0, None, closed="right"), None],
        "metric": [StrOptions(set(NAMES)), callable],
        "metric_params": [dict, None],
        "n_jobs": [Integral, None],
        "feature_weights": ["array-like", None],
        "bandwidth": [Interval(Real, 0, None, closed="neither"), None],
        "check_metric": ["boolean"],
    }

    def __init__(
        self,
        n_neighbors: int | None = 5,
        *,
        weights: Any = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float | None = 2,
        metric: Any = "minkowski",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        feature_weights: Any = None,
        bandwidth: float | None = None,
        check_metric: bool = True,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.feature_weights = feature_weights
        self.bandwidth = bandwidth
        self.check_metric = check_metric

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.metric, str) and self.metric == "precomputed"
        return tags

    # -- fitting ------------------------------------------------------------------------------------
    def _store(self, X: Array, task: str, y_given: Any) -> None:
        """Prepare the search and promise the certificate; nothing of ``self`` changes before all checks passed."""
        metric = resolve(self.metric, self.p, self.metric_params, self.feature_weights, X.shape[1])
        if metric.name == "precomputed":
            _check_given(X, square=True)
        if metric.name == "function" and self.check_metric:
            check_axioms(metric, X)
        index = Index(X, metric, self.algorithm, self.leaf_size, self.n_jobs)
        self._index = index
        self.effective_metric_ = self.metric if metric.name == "function" else metric.name
        self.effective_metric_params_ = _effective(metric)
        self.n_samples_fit_ = len(index.X)
        self.algorithm_ = index.method
        if isinstance(self.weights, str) and self.weights == "gaussian":
            self.bandwidth_ = self._find_bandwidth() if self.bandwidth is None else float(self.bandwidth)

        def make() -> tuple[Certificate, ...]:
            return (
                issue("stored-rows", Data.of(X, y_given), {"rows": Data.of(index.X).digest(), "task": task}),
            )

        self._promise_certificates(make)  # type: ignore[attr-defined]

    def _find_bandwidth(self) -> float:
        """The median distance of (up to a thousand) training rows to their n_neighbors-th (√n-th) other row."""
        n = self.n_samples_fit_
        k = self.n_neighbors if self.n_neighbors is not None else round(n**0.5)
        some = np.unique(np.linspace(0, n - 1, min(n, 1000)).astype(int))
        if n == 1:
            return 1.0
        distances, _ = self._index.query(self._index.X[some], min(k, n - 1), some, np.arange(n))
        positive = distances[:, -1][distances[:, -1] > 0]
        return float(np.median(positive)) if len(positive) else 1.0

    # -- searching ----------------------------------------------------------------------------------
    def _queries(self, X: Any) -> tuple[Array, Array, Array]:
        """Queries and groups; None stands for the training rows, each of which leaves itself out."""
        check_is_fitted(self, "n_samples_fit_")
        if X is None:
            rows = np.arange(self.n_samples_fit_)
            return self._index.X, rows, rows
        X = validate_data(self, X, reset=False, dtype=(np.float64, np.float32), order="C")
        if self._index.metric.name == "precomputed":
            _check_given(X, square=False)
        none = np.empty(0, np.int64)
        return X, none, none

    def _how_many(self, n_neighbors: Any, X: Any) -> int:
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        most = self.n_samples_fit_ - (X is None)
        if k is None:
            return most
        if isinstance(k, bool) or not isinstance(k, (Integral, np.integer)):
            raise TypeError(f"n_neighbors does not take {type(k)} value, enter integer value")
        if k <= 0:
            raise ValueError(f"Expected n_neighbors > 0. Got {k}")
        if k > most:
            sign = "<" if X is None else "<="
            raise ValueError(
                f"Expected n_neighbors {sign} n_samples_fit, but n_neighbors = {k}, n_samples_fit = "
                f"{self.n_samples_fit_}, n_samples = {self.n_samples_fit_ if X is None else len(X)}"
            )
        return int(k)

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """The nearest training rows, nearest first, equal distances by lower row number.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features), default=None
            Queries (distances to the training rows if metric="precomputed"); None: the training rows, none of which
            is its own neighbour.
        n_neighbors : int, default=None
            How many; None: as many as the constructor says.
        return_distance : bool, default=True

        Returns
        -------
        distances, indices : arrays of shape (n_queries, n_neighbors), or indices alone
        """
        Q, group_q, group_x = self._queries(X)
        distances, rows = self._index.query(Q, self._how_many(n_neighbors, X), group_q, group_x)
        return (distances, rows) if return_distance else rows

    def kneighbors_graph(
        self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity"
    ) -> Any:
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
        if mode not in ("connectivity", "distance"):
            raise ValueError(f"mode must be 'connectivity' or 'distance'; got {mode!r}.")
        distances, rows = self.kneighbors(X, n_neighbors)
        m, k = rows.shape
        data = np.ones(m * k) if mode == "connectivity" else distances.ravel()
        return scipy.sparse.csr_matrix(
            (data, rows.ravel(), np.arange(0, m * k + 1, k)), shape=(m, self.n_samples_fit_)
        )

    def certificate_for(self, X: Any, n_neighbors: int | None = None) -> Certificate:
        """Proof that the neighbours of these queries are the nearest: no left-out row is nearer than the k-th.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features), or None for the training rows (each leaves itself out)
        n_neighbors : int, default=None
            As in `kneighbors`.

        Returns
        -------
        Certificate
            ``evidence["indices"]`` are the rows; ``farthest`` bounds the distance of the last, ``separation`` says how
            much farther every other row is. A query may move by less than half of that and keeps its neighbours
            (by the triangle inequality).
        """
        Q, group_q, group_x = self._queries(X)
        _, rows = self._index.query(Q, self._how_many(n_neighbors, X), group_q, group_x)
        metric, data = self._index.metric, Data.of(self._index.X, self._y_given)
        if metric.name in ("function", "precomputed"):
            D = np.vstack([block for _, block in self._index.blocks(Q)])
            if X is None:
                raise ValueError(
                    "Pass the queries: training rows are certified without themselves only by coordinates."
                )
            return issue("neighbors-given-distances", data, {"distances": D, "indices": rows})
        evidence = {
            "queries": np.asarray(Q, dtype=float),
            "indices": rows,
            "metric": metric.name,
            "p": metric.p,
        }
        own = np.arange(len(Q)) if X is None else None
        return issue("neighbors", data, {**evidence, "weights": metric.weights, "own": own})

    def _voting(self, X: Any) -> Any:
        """(queries, rows, weights) for block after block: the nearest k, or every row when n_neighbors is None."""
        Q, group_q, group_x = self._queries(X)
        bandwidth = getattr(self, "bandwidth_", None)
        if self.n_neighbors is not None:
            distances, rows = self._index.query(Q, self._how_many(None, X), group_q, group_x)
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


def _check_given(D: Array, square: bool) -> None:
    if square and D.shape[0] != D.shape[1]:
        raise ValueError(f"Precomputed matrix must be square. Input is a {D.shape[0]}x{D.shape[1]} matrix.")
    if np.any(D < 0):
        raise ValueError("Negative values in data passed to precomputed distance matrix.")


def _effective(metric: Metric) -> dict[str, Any]:
    params: dict[str, Any] = dict(metric.arguments)
    if metric.name == "minkowski":
        params["p"] = metric.p
    if metric.weights is not None:
        params["w"] = metric.weights
    return params


class KNeighborsClassifier(Certified, ClassifierMixin, MultiOutputMixin, Searcher):
    """Vote of the nearest training rows, in exact order, with a proof for every query.

    A query x gets the class with the largest Σ wᵢ over its k nearest rows i of that class (ties: the first class).

    Parameters
    ----------
    n_neighbors : int ≥ 1 or None, default=5
        How many rows vote; None: all of them (use it with ``weights="gaussian"`` or ``"distance"``).
    weights : {"uniform", "distance", "gaussian"}, callable or None, default="uniform"
        1; 1/d; exp(−d²/2h²) with h = ``bandwidth``; or a function of the array of distances.
    algorithm : {"auto", "kd_tree", "brute"}, default="auto"
        How to search; the answer is the same. ``algorithm_`` says what "auto" chose.
    leaf_size : int ≥ 1, default=30
        Most rows in a leaf of the tree.
    p : float > 0, default=2
        Power of the minkowski distance.
    metric : str or callable, default="minkowski"
        euclidean, manhattan, chebyshev, minkowski, cosine, precomputed, or a function of two rows, whose axioms are
        checked on a dozen training rows.
    metric_params : dict, default=None
        ``p`` and ``w`` (weights of the features), or arguments of the function.
    n_jobs : int, default=None
        Threads; None: all cores.
    feature_weights : array of shape (n_features,), default=None
        Weights wⱼ ≥ 0 inside the distance: (Σ wⱼ|xⱼ − qⱼ|ᵖ)^(1/p).
    bandwidth : float > 0, default=None
        h of the gaussian weights; None: the median distance of a training row to its n_neighbors-th (√n-th when
        that is None) other row.
    check_metric : bool, default=True
        Whether to check the axioms of a function given as metric.

    Attributes
    ----------
    classes_ : array of labels, or list of arrays for several outputs
    algorithm_ : str
    bandwidth_ : float
        Only with gaussian weights.
    effective_metric_, effective_metric_params_, n_samples_fit_, outputs_2d_, n_features_in_ : as in scikit-learn
    certificate_ : Certificate
        The stored rows are the training rows, and how many training mistakes no rule can avoid;
        `certificate_for` proves the neighbours of queries.

    Notes
    -----
    Not in certifit: ``algorithm="ball_tree"``; SciPy's other metrics by name (pass the function); sparse X;
    a fitted tree as X. Order of neighbours at equal distance is by row number here, unspecified there.

    References
    ----------
    T. Cover and P. Hart, "Nearest neighbor pattern classification", IEEE Trans. Information Theory 13 (1967).

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    >>> model = KNeighborsClassifier(n_neighbors=3).fit(X, y)
    >>> model.predict([[1.1]]).tolist()
    ['a']
    >>> print(model.certificate_for([[1.1]]).claim)
    The listed 3 rows are the 3 nearest training rows to the query, equal distances by lower row number: the last
    lies within 1.1, all others at least 0.8 farther away.
    >>> float(model.predict_proba([[1.1]])[0, 0].round(4))
    0.6667
    """

    def fit(self, X: Any, y: Any) -> KNeighborsClassifier:
        """Store the rows and prepare the search.

        Parameters
        ----------
        X : array-like of shape (n, n_features), or (n, n) distances if metric="precomputed"
        y : array-like of shape (n,) or (n, n_outputs)

        Returns
        -------
        self
        """
        self._validate_params()
        X, labels = validate_data(self, X, y, multi_output=True, dtype=(np.float64, np.float32), order="C")
        several = labels.ndim == 2 and labels.shape[1] > 1
        if labels.ndim == 2 and not several:
            warnings.warn(
                "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
                "(n_samples,), for example using ravel().",
                DataConversionWarning,
                stacklevel=2,
            )
        check_classification_targets(labels)
        columns = labels.reshape(len(labels), -1)
        pairs = [np.unique(columns[:, j], return_inverse=True) for j in range(columns.shape[1])]
        self._store(X, "classes", labels)
        self.outputs_2d_ = several
        self._y_given = labels
        self._codes = np.stack([codes for _, codes in pairs], axis=1)
        self.classes_ = [classes for classes, _ in pairs] if several else pairs[0][0]
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def predict_proba(self, X: Any) -> Any:
        """Share of each class in the (weighted) vote.

        Parameters
        ----------
        X : array-like of queries, or None: the training rows, none of which is its own neighbour

        Returns
        -------
        array of shape (n_queries, n_classes), or a list of them for several outputs
        """
        check_is_fitted(self, "n_samples_fit_")
        sets = self.classes_ if self.outputs_2d_ else [self.classes_]
        parts: list[list[Array]] = [[] for _ in sets]
        for _, rows, w in self._voting(X):
            for j, classes in enumerate(sets):
                codes = self._codes[:, j]
                if rows is not None:
                    parts[j].append(_votes.shares(codes[rows], len(classes), w))
                else:
                    votes = w @ np.eye(len(classes))[codes]
                    parts[j].append(votes / votes.sum(axis=1, keepdims=True))
        joined = [np.vstack(p) for p in parts]
        return joined if self.outputs_2d_ else joined[0]

    def predict(self, X: Any) -> Array:
        """The class with the largest share (ties: the first of ``classes_``).

        Parameters
        ----------
        X : array-like of queries, or None: the training rows, none of which is its own neighbour

        Returns
        -------
        array of shape (n_queries,) or (n_queries, n_outputs)
        """
        shares = self.predict_proba(X)
        if not self.outputs_2d_:
            return self.classes_[np.argmax(shares, axis=1)]
        return np.stack([c[np.argmax(s, axis=1)] for c, s in zip(self.classes_, shares)], axis=1)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of right labels; X=None scores the training rows by leave-one-out."""
        return float(super().score(X, y, sample_weight))


class KNeighborsRegressor(Certified, RegressorMixin, MultiOutputMixin, Searcher):
    """Mean of the nearest training rows' values, in exact order, with a proof for every query.

    ŷ(x) = Σ wᵢyᵢ / Σ wᵢ over the k nearest rows i.

    Parameters
    ----------
    n_neighbors, weights, algorithm, leaf_size, p, metric, metric_params, n_jobs, feature_weights, bandwidth, \
check_metric :
        As in `KNeighborsClassifier`. ``n_neighbors=None`` with ``weights="gaussian"`` is kernel regression
        (Nadaraya and Watson).

    Attributes
    ----------
    algorithm_, bandwidth_, effective_metric_, effective_metric_params_, n_samples_fit_, n_features_in_ :
        As in `KNeighborsClassifier`.
    certificate_ : Certificate
        The stored rows are the training rows, and which squared error no rule can avoid.

    Notes
    -----
    Not in certifit: as for `KNeighborsClassifier`.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 4.0, 9.0]
    >>> KNeighborsRegressor(n_neighbors=2).fit(X, y).predict([[2.4]]).tolist()
    [6.5]
    """

    def fit(self, X: Any, y: Any) -> KNeighborsRegressor:
        """Store the rows and prepare the search.

        Parameters
        ----------
        X : array-like of shape (n, n_features), or (n, n) distances if metric="precomputed"
        y : array-like of shape (n,) or (n, n_outputs)

        Returns
        -------
        self
        """
        self._validate_params()
        X, values = validate_data(
            self, X, y, multi_output=True, y_numeric=True, dtype=(np.float64, np.float32), order="C"
        )
        self._store(X, "values", values)
        self._y_given = values
        self._values = values.reshape(len(values), -1).astype(float, copy=False)
        self._flat = values.ndim == 1
        return self

    def predict(self, X: Any) -> Array:
        """The (weighted) mean of the neighbours' values.

        Parameters
        ----------
        X : array-like of queries, or None: the training rows, none of which is its own neighbour

        Returns
        -------
        array of shape (n_queries,) or (n_queries, n_outputs)
        """
        parts = []
        for _, rows, w in self._voting(X):
            if rows is not None:
                parts.append(_votes.means(self._values[rows], w))
            else:
                parts.append(w @ self._values / w.sum(axis=1)[:, None])
        out = np.vstack(parts)
        return out[:, 0] if self._flat else out

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R²; X=None scores the training rows by leave-one-out."""
        return float(super().score(X, y, sample_weight))
