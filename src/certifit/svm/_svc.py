"""The soft-margin machine with a kernel: scikit-learn's SVC with a proof."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from certifit._certified import Certified
from certifit._sklearn import Interval, StrOptions, ovr_decision_function
from certifit._trace import Trace
from certifit._types import Array, Grid, Matrix, MatrixLike, RandomState, VectorLike, Weights
from certifit.certificates import Ball, Data, dot, issue
from certifit.certificates.gram import new_scores, radii
from certifit.certificates.region import Region
from certifit.kernels import Kernel, Precomputed
from certifit.resampling import FoldAnswers, FoldTable
from certifit.solvers import Solution
from certifit.solvers._box_dual import Box
from certifit.solvers.balance import balance
from certifit.svm._calibration import fit_slope, folds_of, probabilities
from certifit.svm._evidence import hinge_objective, machine_evidence, read_diagonal
from certifit.svm._expansion import expansion, read_rows, stored_like
from certifit.svm._folds import svc_answers
from certifit.svm._labels import Labelled, labelled, masked, pair_coefficients, pairs_of
from certifit.svm._linear import warn_if_limited
from certifit.svm._machine import CONSTRAINTS, TOO_LARGE, KernelMachine, name_descent, rows_of, solve_box


def told(found: Solution, rows: Array) -> Trace:
    """The trace with pair steps told in rows of X."""
    return Trace(
        r._replace(**{k: int(rows[r[k]]) for k in ("i", "j") if r._asdict().get(k) is not None}) for r in found.trace
    )


def _has_probability(model: Any) -> bool:
    if not model.probability:
        raise AttributeError("predict_proba needs SVC(probability=True): probabilities cost extra fits.")
    return True


class SVC(KernelMachine, Certified, ClassifierMixin, BaseEstimator):
    r"""Soft-margin support vector classification, proved optimal to a stated gap.

    .. math:: \min_{w, b}\ \tfrac12 \lVert w\rVert^2 + \sum_i C_i \max(0,\ 1 - y_i(w^\top\varphi(x_i) + b))

    Parameters
    ----------
    C : float > 0, default=1.0
        Cost of a unit of hinge loss.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, Kernel or callable, default="rbf"
    degree : int ≥ 1, default=3
        Of the polynomial kernel.
    gamma : {"scale", "auto"} or float ≥ 0, default="scale"
        "scale" is 1 / (columns · variance of X, weighted), "auto" 1 / columns.
    coef0 : float, default=0.0
        Offset inside the polynomial and sigmoid kernels.
    shrinking : bool, default=True
        Whether points far from leaving their bound are set aside between rounds.
    probability : bool, default=False
        Whether to calibrate probabilities (three more fits); they never contradict `predict`.
    tol : float > 0, default=1e-3
        Accuracy: the fit stops when the duality gap is at most tol/100 of the null model's loss. (libsvm's tol,
        a KKT violation, of 1e-3 leaves such gaps.) Where at most 2,000 support vectors are free, Newton steps on them
        then go on to rounding.
    cache_size : float > 0, default=200
        Megabytes of kernel rows kept, for kernels that are slow to compute.
    class_weight : dict or "balanced", default=None
    max_iter : int ≥ −1, default=-1
        Limit on pair steps; −1 is none.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
    break_ties : bool, default=False
        With "ovr" and more than two classes, break ties of votes by the decision function.
    verbose, random_state :
        Accepted so that scikit-learn's calls work; nothing is printed and nothing is random.
    trace : bool, default=False
        Whether to record every round in ``trace_``; every pair step for machines of at most 500 rows.
    time_budget : float > 0, default=None
        Seconds after which each machine stops and keeps the best so far, with its (larger) proved gap.

    Attributes
    ----------
    classes_, class_weight_, dual_coef_, support_, support_vectors_, n_support_, intercept_, coef_, fit_status_,
    n_iter_, shape_fit_, n_features_in_, feature_names_in_ :
        As in scikit-learn (``coef_`` with a linear kernel only; ``dual_coef_`` and ``coef_`` are sparse after a fit
        to sparse X).
    gap_ : float
        Duality gap at which the solver stopped, summed over pairs of classes.
    kernel_ : Kernel
        The kernel with its numbers.
    status_ : str
        Why it stopped: "converged", "precision", "max_iter" or "time_budget" (the worst of all machines).
    trace_ : Trace
        With ``trace=True``: ``machine`` and, of each pair step, ``i`` and ``j`` with their multipliers before and after
        (``alpha_i_before``, ``alpha_i``, ...) and whether one was ``clipped`` at a bound; ``pairs`` (steps so far) of
        each round on larger data.
    certificate_ : Certificate
        Kind "duality": value, bound, gap, the three KKT cases, largest violation, certain labels.

    Notes
    -----
    ``class_weight="balanced"`` counts rows by
    their sample weight. With a callable kernel or a feature map the certificate keeps the Gram matrix.

    Examples
    --------
    >>> X = np.array([[-2.0, 0.0], [-1.0, 1.0], [1.0, -1.0], [2.0, 0.0]])
    >>> model = SVC(kernel="linear", tol=1e-6).fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[3.0, 1.0]]).tolist(), model.coef_.round(4).tolist()
    (['b'], [[0.5, -0.5]])
    >>> model.certificate_.holds, model.certificate_.relative_gap < 1e-7
    (True, True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = CONSTRAINTS | {
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "probability": ["boolean"],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool = False,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: RandomState = None,
        trace: bool = False,
        time_budget: float | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.trace = trace
        self.time_budget = time_budget

    def fit(self, X: MatrixLike, y: VectorLike, sample_weight: Weights = None) -> SVC:
        """Fit to rows X and labels y.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d); (n, n) with a precomputed kernel
        y : array of n labels
        sample_weight : array of n weights, default=None
            Weight k equals k copies of the row; a row of weight 0 or less is left out.

        Returns
        -------
        self
        """
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", accept_sparse="csr")
        sample_weight = masked(sample_weight, X)
        kernel, gamma, lab = self._set_up(X, y, sample_weight)
        solved = []
        for first, second in pairs_of(len(lab.classes)):
            rows = np.flatnonzero(((lab.codes == first) | (lab.codes == second)) & (lab.cost > 0))
            solved.append((rows, self._solve(kernel, X, rows, lab, first)))
        self._name_results(X, kernel, gamma, lab, solved)
        if self.probability:
            self._slope = self._calibrate(X, y, lab)
        warn_if_limited(self)

        objective, columns = hinge_objective(lab.classes, lab.class_cost), self._columns
        parts = kernel, X, objective, self.support_, columns, self.intercept_, columns
        self._promise_certificates(
            lambda: (issue("duality", Data.of(X, y, sample_weight), machine_evidence(*parts)),), X, y, sample_weight
        )
        return self

    def _set_up(self, X: Matrix, y: Array, sample_weight: Weights) -> tuple[Kernel, float, Labelled]:
        lab = labelled(X, y, sample_weight, self.class_weight, self.C, "SVC")
        return *self._kernel_of(X, lab.weights), lab

    def _solve(self, kernel: Kernel, X: Matrix, rows: Array, lab: Labelled, first: int) -> Solution:
        y = np.where(lab.codes[rows] == first, 1.0, -1.0)
        cost = lab.cost[rows]
        null = 2.0 * min(cost[y > 0].sum(), cost[y < 0].sum())
        found = solve_box(self, kernel, rows_of(kernel, X, rows), Box.of_labels(y, cost), null)
        return found if len(rows) == X.shape[0] else replace(found, stats=found.stats | {"trace": told(found, rows)})

    def _name_results(
        self, X: Matrix, kernel: Kernel, gamma: float, lab: Labelled, solved: list[tuple[Array, Solution]]
    ) -> None:
        pairs, k = pairs_of(len(lab.classes)), len(lab.classes)
        full = np.zeros((len(pairs), X.shape[0]))
        for p, (rows, found) in enumerate(solved):
            full[p, rows] = balance(found.value.beta, lab.cost[rows])
        used = np.flatnonzero(np.any(full != 0, axis=0))
        support = used[np.argsort(lab.codes[used], kind="stable")]
        own = lab.codes[support]
        dual = np.zeros((max(1, k - 1), len(support)))
        if k == 2:
            dual[0] = full[0, support]
        else:
            for p, (i, j) in enumerate(pairs):
                dual[j - 1, own == i] = full[p, support[own == i]]
                dual[i, own == j] = full[p, support[own == j]]
        self.classes_, self.class_weight_ = lab.classes, lab.class_weight
        self.support_ = support.astype(np.int32)
        self.n_support_ = np.bincount(own, minlength=k).astype(np.int32)
        self.support_vectors_ = np.empty((0, 0)) if isinstance(kernel, Precomputed) else X[support]
        self.dual_coef_ = stored_like(X, dual)
        if not np.all(np.isfinite(dual)) or not all(np.isfinite(f.value.offset) for _, f in solved):
            raise ValueError(TOO_LARGE)
        self.intercept_ = np.array([f.value.offset for _, f in solved])
        name_descent(self, X, kernel, gamma, [f for _, f in solved])
        self._columns = pair_coefficients(dual, own, k)

    def _calibrate(self, X: Matrix, y: Array, lab: Labelled) -> float:
        """Slope of the sigmoid from decisions on rows left out in turn."""
        given = isinstance(self.kernel_, Precomputed)
        fold = folds_of(X, lab.codes, lab.cost > 0)
        decision: Any = None
        for k in np.unique(fold[fold >= 0]):
            train, test = np.flatnonzero((fold != -1) & (fold != k)), np.flatnonzero(fold == k)
            model = clone(self).set_params(probability=False, trace=False)
            weights = None if lab.weights is None else lab.weights[train]
            model.fit(X[np.ix_(train, train)] if given else X[train], y[train], weights)
            part = model.decision_function(X[np.ix_(test, train)] if given else X[test])
            decision = np.zeros((len(y), *part.shape[1:])) if decision is None else decision
            decision[test] = part
        if decision is None:
            raise ValueError("probability=True needs two different rows of some class: calibration leaves some out.")
        tested = fold >= 0
        weights = None if lab.weights is None else lab.weights[tested]
        return fit_slope(decision[tested], lab.codes[tested], weights)

    def _scores(self, X: MatrixLike) -> Array:
        """Decisions of all pairs, one column each."""
        return expansion(self, read_rows(self, X), self._columns)

    def decision_function(self, X: MatrixLike) -> Array:
        """Distance-like score of each row: positive for ``classes_[1]``; one column a class (or pair) for more.

        Parameters
        ----------
        X : array or sparse matrix

        Returns
        -------
        array of shape (n,) for two classes, (n, classes) for "ovr", (n, pairs) for "ovo"
        """
        return self._answer("decision_function", self._scores(X), self.classes_)

    def _answer(self, name: str, scores: Array, classes: Array) -> Array:
        """What `predict` or `decision_function` says, from the decisions of all pairs."""
        if name == "predict":
            return np.asarray(classes[self._codes(scores, len(classes))])
        if len(classes) == 2:
            return scores[:, 0]
        if self.decision_function_shape == "ovo":
            return scores
        return np.asarray(ovr_decision_function(scores < 0, -scores, len(classes)))

    def _codes(self, scores: Array, k: int) -> Array:
        if k == 2:
            return (scores[:, 0] > 0).astype(int)
        if self.break_ties:
            return np.asarray(ovr_decision_function(scores < 0, -scores, k).argmax(axis=1))
        votes = np.zeros((len(scores), k))
        for p, (i, j) in enumerate(pairs_of(k)):
            votes[:, i] += scores[:, p] > 0
            votes[:, j] += scores[:, p] <= 0
        return votes.argmax(axis=1)

    def predict(self, X: MatrixLike) -> Array:
        """The label of each row (with more than two classes, the one with most votes of pairs).

        Parameters
        ----------
        X : array or sparse matrix

        Returns
        -------
        array of labels
        """
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo': votes have ties.")
        return self._answer("predict", self._scores(X), self.classes_)

    @available_if(_has_probability)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: MatrixLike) -> Array:
        """Calibrated probabilities; the predicted class always has the largest.

        Parameters
        ----------
        X : array or sparse matrix

        Returns
        -------
        array of shape (n, classes)
        """
        scores = self._scores(X)
        k = len(self.classes_)
        decision = scores[:, 0] if k == 2 else ovr_decision_function(scores < 0, -scores, k)
        return probabilities(decision, self._slope, self._codes(scores, k))

    @available_if(_has_probability)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_log_proba(self, X: Matrix) -> Array:
        """Logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def certain(self, X: MatrixLike, diagonal: Any = None) -> Array:
        """Which rows have provably the same label as under the exact optimum.

        Parameters
        ----------
        X : array or sparse matrix
        diagonal : array of n numbers, default=None
            k(x, x) of the rows; asked for with a precomputed kernel, which does not tell.

        Returns
        -------
        boolean array
            All False without proof, and with a precomputed kernel without ``diagonal``.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, order="C", accept_sparse="csr", reset=False)
        region, given = self.certificate_.region, isinstance(self.kernel_, Precomputed)
        if not isinstance(region, Region) or (given and diagonal is None):
            return np.zeros(X.shape[0], dtype=bool)
        if given:
            scores, away = dot(X[:, self.support_], self._columns), np.sqrt(Ball(read_diagonal(diagonal, X)))
        else:
            scores = new_scores(self.kernel_, X, self.support_vectors_, self._columns)
            away = radii(self.kernel_, X, region.centre)
        return region.judge(scores, away.upper, scores.mid + self.intercept_)

    def _fold_path(self, table: FoldTable, grid: Grid, response: tuple[str, ...]) -> FoldAnswers:
        """All folds and costs from one Gram matrix for each kernel (see `certifit.model_selection`)."""
        return svc_answers(self, table, grid, response)
