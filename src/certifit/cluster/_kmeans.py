"""k-means: scikit-learn's estimator, a better local optimum, and a bound on the distance to the best clustering."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import check_array, check_random_state

from certifit import certificates
from certifit._certified import Certified
from certifit._progress import task
from certifit._sklearn import ConvergenceWarning, Interval, StrOptions, check_sample_weight, usual
from certifit._types import Array, Matrix, RandomState, Record, VectorLike, Weights
from certifit._validation import check_is_fitted, validate_data
from certifit.certificates import Certificate, Data
from certifit.certificates.clustering import dense_rows
from certifit.cluster import _bound as search
from certifit.cluster._distinct import distinct_rows
from certifit.cluster._lloyd import ClusterRows, Clusters, lloyd, on_a_line, settle

_FLOATS = (np.float64, np.float32)


@dataclass(eq=False, repr=False)
class KMeans(Certified, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    r"""k-means clustering: k centres with the smallest sum of squared distances to the nearest one.

    .. math:: \Phi(c_1, \dots, c_k) = \sum_i s_i \min_j \lVert x_i - c_j \rVert^2

    Lloyd's iterations, with bounds that avoid computing most distances, then moves of single rows (Hartigan and Wong)
    until none lowers the cost. One column is clustered exactly, by dynamic programming. The certificate proves the
    cost reached; `bound` searches for a proof that no clustering into k parts is much better.

    Parameters
    ----------
    n_clusters : int ≥ 1, default=8
    init : {"k-means++", "random"}, array of shape (n_clusters, n_features) or callable, default="k-means++"
        Start; a callable gets ``X, n_clusters, random_state``.
    n_init : int ≥ 1 or "auto", default="auto"
        Starts, of which the best result is kept; "auto" is 1 for "k-means++" and arrays, 10 otherwise.
    max_iter : int ≥ 1, default=300
        Lloyd's iterations of one start, and as many passes of moves.
    tol : float ≥ 0, default=1e-4
        Lloyd's iterations stop when the squared changes of the centres sum to less than this fraction of the mean
        variance of the columns; moves of single rows follow.
    verbose : int ≥ 0, default=0
        Above 0, one line for each start is printed.
    random_state : int, RandomState or None, default=None
    copy_x : bool, default=True
        Accepted for compatibility with scikit-learn; X is never changed.
    algorithm : {"lloyd", "elkan"}, default="lloyd"
        Accepted for compatibility with scikit-learn; both give the same clusters.
    trace : bool, default=False
        Keep every iteration, with its centres, in ``trace_``.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    labels_ : ndarray of shape (n_samples,)
    inertia_ : float
        The cost.
    n_iter_ : int
        Lloyd's iterations of the best start.
    n_moves_ : int
        Single rows moved after them.
    status_ : str
        Why the best start ended (`certifit.solvers.STATUS`).
    trace_ : Trace
    certificate_ : Certificate
        ``value`` (the cost), ``bound`` (no clustering into k parts costs less), ``excess`` (value over bound, minus
        one). The bound is sought where that is cheap (up to 400 rows, or 5000 of one column) and 0 otherwise; see
        `bound`.

    See Also
    --------
    certifit.cluster.choose_k : how many clusters?
    certifit.certify_clusters : certify any clustering.

    References
    ----------
    G. Hamerly, "Making k-means even faster" (2010). J. A. Hartigan, M. A. Wong, Applied Statistics 28 (1979). J. Peng,
    Y. Wei, SIAM J. Optim. 18 (2007). T. Iguchi, D. G. Mixon, J. Peterson, S. Villar, arXiv 1509.07983.

    Examples
    --------
    >>> from certifit.cluster import KMeans
    >>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> model = KMeans(n_clusters=2, random_state=0).fit(X)
    >>> model.inertia_, sorted(model.cluster_centers_.tolist())
    (16.0, [[1.0, 2.0], [10.0, 2.0]])
    >>> model.certificate_.holds, model.certificate_.excess < 1e-9
    (True, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "init": [StrOptions({"k-means++", "random"}), callable, "array-like"],
        "n_init": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "algorithm": [StrOptions({"lloyd", "elkan"})],
    } | usual("n_clusters≥1 tol≥0 copy_x max_iter verbose random_state trace")

    n_clusters: int = 8
    _: KW_ONLY
    init: Any = "k-means++"
    n_init: int | Literal["auto"] = "auto"
    max_iter: int = 300
    tol: float = 1e-4
    verbose: int = 0
    random_state: RandomState = None
    copy_x: bool = True
    algorithm: str = "lloyd"
    trace: bool = False

    # -- learning -----------------------------------------------------------------------------------
    def fit(self, X: Matrix, y: VectorLike | None = None, sample_weight: Weights = None) -> KMeans:
        """Find centres for rows X, array or sparse; weight k is k copies of the row, and y is ignored."""
        self._validate_params()
        X = validate_data(self, X, dtype=_FLOATS, order="C", accept_sparse="csr", accept_large_sparse=False)
        weights = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        self._check_count(X)
        best, self.labels_ = self._clusters(X, weights)
        if not np.isfinite(best.value):
            raise ValueError("X has values whose squares exceed the largest float: rescale it.")
        self.cluster_centers_ = best.centres.astype(X.dtype)
        self.inertia_, self.n_iter_, self.n_moves_ = best.value, best.n_iter, best.n_moves
        self.status_, self.trace_ = best.status, best.trace
        self._n_features_out = self.n_clusters
        given = None if sample_weight is None else weights
        self._promise_certificates(lambda: (self._certificate(Data.of(X, None, given)),), X, None, given)
        self._held_data = self._promise[1] if self._promise is not None else None
        distinct = len(np.unique(self.labels_))
        if distinct < self.n_clusters:
            warnings.warn(
                f"Number of distinct clusters ({distinct}) found smaller than n_clusters ({self.n_clusters}): X has "
                "fewer different rows than that.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _check_count(self, X: Matrix) -> None:
        if X.shape[0] < self.n_clusters:
            raise ValueError(f"n_samples={X.shape[0]} should be >= n_clusters={self.n_clusters}.")
        if hasattr(self.init, "__array__") and not isinstance(self.init, str):
            self._check_start(np.asarray(self.init), X)

    def _check_start(self, start: Array, X: Matrix) -> Array:
        if start.shape != (self.n_clusters, X.shape[1]):
            raise ValueError(
                f"The shape of the initial centers {start.shape} does not match the number of clusters "
                f"{self.n_clusters} and the number of features of the data {X.shape[1]}."
            )
        return start

    def _clusters(self, X: Matrix, weights: Array) -> tuple[Clusters, Array]:
        """The best clustering found, and the label of every row; rows without weight join the nearest centre."""
        found = on_a_line(ClusterRows(X, weights), self.n_clusters)
        if found is not None:
            return found, found.labels
        different, w, place = distinct_rows(X, weights)
        found = self._best_run(ClusterRows(different, w), different, w)
        labels = found.labels[place]
        idle = np.flatnonzero(place < 0)
        if len(idle):
            rest = ClusterRows(X[idle], np.ones(len(idle)))
            rest.start()
            rest.assign(found.centres, None)
            labels[idle] = rest.labels
        return found, labels

    def _best_run(self, rows: ClusterRows, X: Matrix, weights: Array) -> Clusters:
        rng = check_random_state(self.random_state)
        given = not callable(self.init) and not isinstance(self.init, str)
        runs = self.n_init if self.n_init != "auto" else 1 if given or self.init == "k-means++" else 10
        if given and runs > 1:
            warnings.warn(
                f"Explicit initial center position passed: performing only one init in KMeans instead of n_init={runs}",
                RuntimeWarning,
                stacklevel=5,
            )
        tol = self.tol * float(np.mean(_variances(X, weights))) if self.tol else 0.0
        best: Clusters | None = None
        runs = 1 if given else runs
        # One start alone shows its iterations instead.
        with task("k-means", runs) if runs > 1 else nullcontext() as tell:
            for run in range(runs):
                found = lloyd(rows, self._start(X, weights, rng), self.max_iter, tol, self.trace)
                found = settle(rows, found, self.max_iter, self.trace)
                if self.verbose:
                    print(f"start {run + 1} of {runs}: cost {found.value:.6g} after {found.n_iter} iterations", end="")
                    print(f" and {found.n_moves} moves of single rows ({found.status})")
                if best is None or found.value < best.value:
                    best = Clusters(**{**vars(found), "labels": found.labels.copy()})
                if tell is not None:
                    tell(run + 1)
        assert best is not None
        return best

    def _start(self, X: Matrix, weights: Array, rng: np.random.RandomState) -> Array:
        """Centres to begin with; the same ones as scikit-learn's from the same random numbers."""
        from sklearn.cluster import kmeans_plusplus

        if X.shape[0] <= self.n_clusters and isinstance(self.init, str):  # every different row has a centre to itself
            chosen = X.toarray() if scipy.sparse.issparse(X) else X
            return np.concatenate([chosen, np.repeat(chosen[:1], self.n_clusters - len(chosen), axis=0)]).astype(float)
        if isinstance(self.init, str) and self.init == "k-means++":
            return np.asarray(
                kmeans_plusplus(X, self.n_clusters, sample_weight=weights, random_state=rng)[0], dtype=float
            )
        if isinstance(self.init, str):
            seeds = rng.choice(X.shape[0], size=self.n_clusters, replace=False, p=weights / weights.sum())
            chosen = X[seeds]
            return np.asarray(chosen.toarray() if scipy.sparse.issparse(chosen) else chosen, dtype=float)
        start = self.init(X, self.n_clusters, random_state=rng) if callable(self.init) else self.init
        return self._check_start(check_array(start, dtype=np.float64, copy=True), X)

    # -- using --------------------------------------------------------------------------------------
    def predict(self, X: Matrix) -> Array:
        """The nearest centre of each row."""
        rows, C = self._rows(X)
        rows.start()
        rows.assign(C, None)
        return rows.labels

    def transform(self, X: Matrix) -> Array:
        """Distances of rows to all centres: (n, n_clusters)."""
        rows, C = self._rows(X)
        return np.sqrt(rows.squared_distances(C)).astype(self.cluster_centers_.dtype)

    def fit_predict(self, X: Matrix, y: VectorLike | None = None, sample_weight: Weights = None) -> Array:
        """Fit to X, and the labels of its rows (y is ignored; sample_weight as in `fit`)."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def fit_transform(self, X: Matrix, y: VectorLike | None = None, sample_weight: Weights = None) -> Array:
        """Fit to X, and the distances of its rows to all centres (y is ignored; sample_weight as in `fit`)."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def score(self, X: Matrix, y: VectorLike | None = None, sample_weight: Weights = None) -> float:
        """Minus the cost of rows X, each ``sample_weight`` times, with these centres; y is ignored."""
        rows, C = self._rows(X)
        rows.weights = check_sample_weight(sample_weight, rows.X, dtype=np.float64)
        rows.start()
        rows.assign(C, None)
        return -rows.value(C)

    def _rows(self, X: Matrix) -> tuple[ClusterRows, Array]:
        check_is_fitted(self)
        X = validate_data(
            self, X, dtype=_FLOATS, order="C", accept_sparse="csr", accept_large_sparse=False, reset=False
        )
        return ClusterRows(X, np.ones(X.shape[0])), np.ascontiguousarray(self.cluster_centers_, dtype=float)

    # -- proving ------------------------------------------------------------------------------------
    def _evidence(self) -> Record:
        return {"labels": self.labels_.astype(np.int64), "centres": np.asarray(self.cluster_centers_, dtype=float)}

    def _certificate(self, data: Data) -> Certificate:
        return certificates.issue(
            "clustering", data, self._evidence() | cheap_bound(data, self.labels_, self.n_clusters)
        )

    def bound(self, time_budget: float = 60.0, progress: Callable[[int, int], object] | None = None) -> Certificate:
        """Search for a better lower bound on the cost of every clustering into k parts, and prove it.

        The closed form first; then the dual of the semidefinite relaxation, on blocks of a few hundred rows. One column
        is solved exactly.

        Parameters
        ----------
        time_budget : float > 0, default=60.0
            Approximate time limit in seconds.
        progress : callable, default=None
            Called with the number of blocks done and their total.

        Returns
        -------
        Certificate
            Also the model's ``certificate_`` from now on, if its bound is better.

        Examples
        --------
        >>> X = np.random.default_rng(0).normal(size=(60, 2))
        >>> model = KMeans(3, n_init=5, random_state=0).fit(X)
        >>> model.certificate_.excess > model.bound(time_budget=5).excess
        True
        """
        check_is_fitted(self)
        if not time_budget > 0:
            raise ValueError(f"time_budget must be a positive number of seconds, not {time_budget!r}.")
        if self._held_data is None:
            raise ValueError(
                "A model loaded from a file does not contain its training data: use certify_clusters(model.labels_, X)."
            )
        X, _, weights = self._held_data.read()
        before, data = self.certificate_, Data.of(X, None, weights)
        if before.excess <= 1e-9:
            return before
        found = searched_bound(data, self.labels_, self.n_clusters, before.value, time_budget, progress)
        after = certificates.issue("clustering", data, self._evidence() | found)
        if after.holds and after.bound > before.bound:
            self._certificates = (after,)
        return self.certificate_

    def __getstate__(self) -> Any:
        state = dict(super().__getstate__())
        state["_held_data"] = None  # the data stay behind; certificates do not
        return state

    _tags: ClassVar[Record] = {"input_tags.sparse": True, "transformer_tags.preserves_dtype": ["float64", "float32"]}


def _variances(X: Matrix, weights: Array) -> Array:
    """Weighted variance of every column."""
    share = weights / weights.sum()
    if not scipy.sparse.issparse(X):
        return np.asarray(share @ (X - share @ X) ** 2)
    mean = np.asarray(X.T @ share).ravel()
    return np.asarray(np.asarray(X.multiply(X).T @ share).ravel() - mean**2)


def cheap_bound(data: Data, labels: Array, k: int) -> Record:
    """Evidence of a lower bound where it costs little: one column, or few rows."""
    n, d = data.X.shape
    X = data.X.toarray() if scipy.sparse.issparse(data.X) and n <= search.CHEAP else data.X
    if d == 1 and n <= search.LINE:
        return search.line_evidence(np.asarray(dense_rows(X, slice(None)))[:, 0], data.weights, k)
    if n <= search.CHEAP and n * d <= 1 << 22:
        return search.closed_form_evidence(X, data.weights, labels, k)[1]
    return {"method": "none"}


def searched_bound(
    data: Data,
    labels: Array,
    k: int,
    value: float,
    time_budget: float,
    progress: Callable[[int, int], object] | None = None,
) -> Record:
    """The best evidence found in the time: exact in one dimension, else closed form, else blocks."""
    n, d = data.X.shape
    if d == 1 and n <= 10 * search.LINE:
        return search.line_evidence(dense_rows(data.X, slice(None))[:, 0], data.weights, k)
    best: tuple[float, dict[str, Any]] = (0.0, {"method": "none"})
    if n <= 4 * search.CHEAP and n * d <= 1 << 24:
        best = search.closed_form_evidence(dense_rows(data.X, slice(None)), data.weights, labels, k)
    if value - best[0] > 1e-6 * value:
        blocks = search.block_evidence(data, k, value, time_budget, 0, progress)
        best = max(best, blocks, key=lambda b: b[0])
    return best[1]
