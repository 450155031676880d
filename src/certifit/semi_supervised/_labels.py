"""Label propagation and label spreading: one linear system each, solved to rounding, with a bound for every score."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, ClassifierMixin

from certifit._certified import Certified
from certifit._sklearn import ConvergenceWarning, StrOptions, usual
from certifit._types import Array, Matrix, MatrixLike, Record, Sparse, VectorLike
from certifit._validation import check_classification_targets, check_is_fitted, validate_data
from certifit.certificates.harmonic import Labels, reaching, unlabelled
from certifit.semi_supervised import _graph
from certifit.solvers import Solution
from certifit.solvers._status import limit_of
from certifit.solvers._task import options_of
from certifit.solvers.harmonic import METHODS, solve_harmonic


@dataclass(eq=False, repr=False)
class _GraphLabels(Certified, ClassifierMixin, BaseEstimator):
    """What both share: the graph, the labels, the answers for new rows."""

    _variant: ClassVar[str]
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "kernel": [StrOptions({"knn", "rbf"}), callable],
        "solver": [StrOptions(set(METHODS))],
    } | usual("gamma≥0 n_neighbors≥1 max_iter≥1 tol≥0 n_jobs trace time_budget")

    kernel: Any = "rbf"
    _: KW_ONLY
    gamma: float = 20
    n_neighbors: int = 7
    max_iter: int = 1000
    tol: float = 1e-3
    n_jobs: int | None = None
    solver: str = "auto"
    trace: bool = False
    time_budget: float | None = None

    def _alpha(self) -> float:
        return 1.0

    def fit(self, X: MatrixLike, y: VectorLike) -> Any:
        """Give every row of X, array or sparse, a label; y holds the number −1 where it is not known."""
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", accept_sparse="csr")
        check_classification_targets(y[~unlabelled(y)] if y.dtype == object else y)
        missing = unlabelled(y)
        if missing.all():
            raise ValueError("No row has a label: every entry of y is −1.")
        W, graph = self._weights(X)
        self.X_, self.classes_ = X, np.unique(y[~missing])
        Y = np.zeros((len(y), len(self.classes_)))
        Y[np.flatnonzero(~missing), np.searchsorted(self.classes_, y[~missing])] = 1.0
        reached = reaching(W, ~missing)
        self.unreached_ = np.flatnonzero(~reached)
        solution, evidence = self._solve(W, Y, missing, reached)
        self._name(solution, evidence, Y, missing)
        evidence |= {"variant": self._variant, "unreached": self.unreached_, **graph}
        self._promise_certificate("harmonic-labels", evidence, X, y)
        return self

    def _weights(self, X: Matrix) -> tuple[Any, dict[str, Any]]:
        """W, and how a certificate finds it again."""
        if self.kernel == "rbf":
            W = _graph.rbf(X, X, self.gamma)
            np.fill_diagonal(W, 0.0)
            return W, {"graph": "rbf", "gamma": float(self.gamma)}
        if self.kernel == "knn":
            lists = _graph.neighbors(X, self.n_neighbors, self.n_jobs)
            return _graph.linked(lists), {"graph": "knn", "neighbors": lists}
        W = _graph.given(self.kernel, X)
        if scipy.sparse.issparse(W):
            entries = W.tocoo()
            return W, {"graph": "given", "entries": entries.data, "rows": entries.row, "columns": entries.col}
        return W, {"graph": "given", "weights": W}

    def _solve(self, W: Any, Y: Array, missing: Array, reached: Array) -> tuple[Solution, dict[str, Any]]:
        raise NotImplementedError

    def _run(self, W: Array | Sparse, delta: Array, R: Array) -> Solution:
        return solve_harmonic(W, delta, R, options_of(self), alpha=self._alpha(), method=self.solver)

    def _name(self, solution: Solution, evidence: Record, Y: Array, missing: Array) -> None:
        """The fitted attributes."""
        scores = np.maximum(evidence["scores"], 0.0)  # rounding may leave a zero a hair below it
        total = scores.sum(axis=1, keepdims=True)
        self.label_distributions_ = np.divide(scores, total, out=np.zeros_like(scores), where=total > 0)
        self.transduction_ = self.classes_[evidence["scores"].argmax(axis=1)]
        self.n_iter_, self.status_ = int(solution.stats["n_iter"]), solution.status
        self.solver_, self.trace_ = solution.stats["method"], solution.trace
        if (limit := limit_of(solution.status)) is not None:
            warnings.warn(
                f"{type(self).__name__} stopped at {limit} before every score was within tol={self.tol:g}; the "
                "certificate states how far they are. Raise max_iter, or use solver='auto'.",
                ConvergenceWarning,
                stacklevel=3,
            )
        if len(self.unreached_):
            rows = ", ".join(map(str, self.unreached_[:5])) + (", …" if len(self.unreached_) > 5 else "")
            warnings.warn(
                f"{len(self.unreached_)} rows have no path to a label (rows {rows}; see unreached_): their label is "
                "arbitrary. Scale the columns, lower gamma, raise n_neighbors, or label one of them.",
                UserWarning,
                stacklevel=3,
            )

    @property
    def certain_(self) -> Array:
        """For each training row, whether its label is proved to be that of the exact solution."""
        return self._proved("certain", False)

    @property
    def error_bound_(self) -> Array:
        """For each training row, an upper bound on the distance of its scores from the exact solution."""
        return self._proved("error", np.inf)

    def _proved(self, name: str, otherwise: Any) -> Array:
        check_is_fitted(self)
        region = self.certificate_.region
        if isinstance(region, Labels):
            return np.asarray(getattr(region, name))
        return np.full(len(self.transduction_), otherwise)

    def predict_proba(self, X: MatrixLike) -> Array:
        """Class probabilities of each row: those of the training rows, weighted by the kernel.

        They are equal where all weights are zero.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, order="C", accept_sparse="csr", reset=False)
        if self.kernel == "knn":
            lists = _graph.nearest(self.X_, X, self.n_neighbors, self.n_jobs)
            shares = self.label_distributions_[lists].sum(axis=1)
        elif self.kernel == "rbf":
            shares = _graph.rbf(X, self.X_, self.gamma) @ self.label_distributions_
        else:
            shares = np.asarray(self.kernel(self.X_, X).T @ self.label_distributions_)
        total = shares.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(shares, total, out=np.full_like(shares, 1.0 / shares.shape[1]), where=total > 0))

    def predict(self, X: MatrixLike) -> Array:
        """The label of each row: the class with the largest probability."""
        codes = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[codes])

    _tags: ClassVar[Record] = {"input_tags.sparse": True}


class LabelPropagation(_GraphLabels):
    r"""Labels by the harmonic solution: every unlabelled row has the weighted mean of its neighbours' scores.

    .. math:: f_i = \frac{\sum_j w_{ij} f_j}{\sum_j w_{ij}} \text{ for unlabelled rows}, \qquad
        f_i = y_i \text{ for labelled ones}

    scikit-learn iterates this equation until little changes; here it is solved, and the certificate bounds the error of
    every score. A score is the probability that a random walk on the graph reaches that class first.

    Parameters
    ----------
    kernel : {"rbf", "knn"} or callable, default="rbf"
        Weights exp(−γ‖x − z‖²); or 1 for the nearest rows, 0 for others; or a function of (X, Z) that returns
        weights ≥ 0.
    gamma : float ≥ 0, default=20
        Of the rbf kernel. Weights below 1e-290 count as zero.
    n_neighbors : int ≥ 1, default=7
        Of the knn kernel, the row itself among them.
    max_iter : int ≥ 1, default=1000
        Steps of ``solver="propagation"`` at most.
    tol : float ≥ 0, default=1e-3
        The propagation stops when every score is within ``tol`` of the solution. Other solvers continue to rounding
        error.
    n_jobs : int or None, default=None
        As in scikit-learn, for the search of neighbours.
    solver : {"auto", "direct", "krylov", "propagation"}, default="auto"
        A factorisation, Krylov steps on a large sparse graph, or step by step from zero scores.
    trace : bool, default=False
        Whether to record the steps in ``trace_``.
    time_budget : float > 0, default=None
        Seconds after which the propagation stops.

    Attributes
    ----------
    X_, classes_, label_distributions_, transduction_, n_features_in_, n_iter_ :
        As in scikit-learn.
    certain_ : array of bool
        Rows whose label is proved to be that of the exact solution.
    error_bound_ : array
        Upper bound on the distance of each row's scores from it.
    unreached_ : array of int
        Rows from which no path leads to a label. Their scores are zero, their label is the first class.
    solver_, status_ : str
    trace_ : Trace
        ``objective`` is the largest residual, ``gap`` the bound on every score.
    certificate_ : Certificate
        Kind "harmonic-labels": ``error``, ``certain``, ``unreached``.

    References
    ----------
    Zhu, Ghahramani, Lafferty (2003). Semi-supervised learning using Gaussian fields and harmonic functions.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0]]                       # a chain with a label at each end
    >>> model = LabelPropagation(kernel=lambda A, B: 1.0 * (abs(A - B.T) == 1)).fit(X, [0, -1, -1, 1])
    >>> model.label_distributions_.round(4).tolist()
    [[1.0, 0.0], [0.6667, 0.3333], [0.3333, 0.6667], [0.0, 1.0]]
    >>> model.certain_.tolist(), model.certificate_.error < 1e-14
    ([True, True, True, True], True)
    """

    _variant: ClassVar[str] = "propagation"

    def _solve(self, W: Array, Y: Array, missing: Array, reached: Array) -> tuple[Solution, dict[str, Any]]:
        rows = np.flatnonzero(missing & reached)
        delta = np.asarray(W[rows] @ reached.astype(float)).ravel()
        part = W[rows][:, rows]
        solution = self._run(part, delta, np.asarray(W[rows] @ Y))
        scores, w = Y.copy(), np.zeros(len(Y))
        scores[rows], w[rows] = solution.value
        return solution, {"scores": scores, "w": w}


@dataclass(kw_only=True, eq=False, repr=False)
class LabelSpreading(_GraphLabels):
    r"""Label spreading: a fraction α of every score comes from the neighbours, the rest from the row's own label.

    .. math:: F = \alpha S F + (1 - \alpha) Y, \qquad S = D^{-1/2} W D^{-1/2}

    with D the column sums of the weights (without the diagonal), as in scikit-learn, which iterates it; here it is
    solved. A given label can be outvoted.

    Parameters
    ----------
    kernel, gamma, n_neighbors, n_jobs, solver, trace, time_budget :
        As in `LabelPropagation`.
    alpha : float in (0, 1), default=0.2
        Share of a score that comes from the neighbours.
    max_iter : int ≥ 1, default=30
        Steps of ``solver="propagation"`` at most.
    tol : float ≥ 0, default=1e-3
        As in `LabelPropagation`.

    Attributes
    ----------
    X_, classes_, label_distributions_, transduction_, n_features_in_, n_iter_ :
        As in scikit-learn.
    certain_, error_bound_, unreached_, solver_, status_, trace_, certificate_ :
        As in `LabelPropagation`; the bounds are for F before its rows are normalised.

    References
    ----------
    Zhou, Bousquet, Lal, Weston, Schölkopf (2004). Learning with local and global consistency.

    Examples
    --------
    >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]]
    >>> model = LabelSpreading().fit(X, [0, -1, -1, -1, -1, 1])
    >>> model.transduction_.tolist(), bool(model.certain_.all()), model.certificate_.error < 1e-13
    ([0, 0, 0, 1, 1, 1], True, True)
    """

    _variant: ClassVar[str] = "spreading"
    _parameter_constraints: ClassVar[dict[str, Any]] = _GraphLabels._parameter_constraints | usual("alpha∈(0,1)")

    alpha: float = 0.2
    max_iter: int = 30

    def _alpha(self) -> float:
        return float(self.alpha)

    def _solve(self, W: Array, Y: Array, missing: Array, reached: Array) -> tuple[Solution, dict[str, Any]]:
        delta = np.asarray(W.sum(axis=0)).ravel()
        delta[delta == 0.0] = 1.0
        root = np.sqrt(delta)[:, None]
        solution = self._run(W, delta, (1.0 - self.alpha) * root * Y)
        scores, w = solution.value
        return solution, {"scores": scores, "w": w, "alpha": float(self.alpha)}
