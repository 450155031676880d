"""Linear soft-margin machines: the true problem, its offset unpenalised."""

from __future__ import annotations

import math
import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, ClassifierMixin

from certifit._certified import Certified
from certifit._linear_scores import LinearScores, SparseCoefficients, dense
from certifit._objective import Objective
from certifit._sklearn import ConvergenceWarning, StrOptions, usual
from certifit._trace import joined
from certifit._types import Array, ClassWeight, Matrix, MatrixLike, RandomState, Record, VectorLike, Weights
from certifit._validation import check_is_fitted, validate_data
from certifit.certificates import Certificate, Data
from certifit.certificates.region import Region
from certifit.design import as_design
from certifit.losses import get_loss
from certifit.regularizers import L1
from certifit.solvers import Options, Solution, Task
from certifit.solvers._status import limit_of, worst
from certifit.solvers._task import options_of
from certifit.solvers.choose import choose_solver
from certifit.solvers.dual import duality_proof, evidence_of
from certifit.solvers.linear_svc import linear_svc
from certifit.svm._crammer_singer import padded, solve_together, together_evidence
from certifit.svm._evidence import hinge_objective
from certifit.svm._labels import Labelled, labelled, machine_labels
from certifit.svm._linear_folds import linear_svc_answers


class CertainScores(LinearScores):
    """Mixin: decisions, labels and certainty of machines with ``coef_`` and ``intercept_``."""

    def certain(self, X: MatrixLike) -> Array:
        """Which rows have provably the same label as under the exact optimum.

        Parameters
        ----------
        X : array or sparse matrix

        Returns
        -------
        boolean array
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, accept_sparse="csr", reset=False)
        region = self.certificate_.region  # type: ignore[attr-defined]
        if not isinstance(region, Region):
            return np.zeros(X.shape[0], dtype=bool)
        coef = dense(self.coef_)
        return region.rows(X, coef, self.intercept_, np.asarray(X @ coef.T) + self.intercept_)


_SMALL = 1 << 20  # numbers of a table that is unpacked in no time


def unpacked(X: Matrix) -> Matrix:
    """A small sparse table in full, so that it is fitted to the bit as the same table stored densely."""
    return X.toarray() if scipy.sparse.issparse(X) and X.shape[0] * X.shape[1] <= _SMALL else X


def normals(V: Matrix, columns: Array) -> Array:
    """w = Vᵀ coef for each column of coefficients: a common part of the rows drops out where these sum to zero."""
    V = unpacked(V)
    if scipy.sparse.issparse(V):
        return np.asarray(V.T @ columns)
    if not len(V):
        return np.zeros((V.shape[1], columns.shape[1]))
    middle = V.mean(axis=0)
    return np.asarray((V - middle).T @ columns) + np.outer(middle, [math.fsum(c) for c in columns.T])


def null_objective(y: Array, cost: Array, loss: str, offset: bool) -> float:
    """What w = 0 pays with the best offset."""
    plus, minus = float(cost[y > 0].sum()), float(cost[y < 0].sum())
    if not offset:
        return plus + minus
    return 2.0 * min(plus, minus) if loss == "hinge" else 4.0 * plus * minus / (plus + minus)


def warn_if_limited(model: BaseEstimator) -> None:
    """Say at which limit a machine stopped, with the gap that is left; called by `fit` itself."""
    limit = "a point that no step improved" if model.status_ == "no improvement" else limit_of(model.status_)
    if limit is not None:
        most = f" (max_iter={model.max_iter})" if limit == "max_iter" else ""
        warnings.warn(
            f"Solver terminated early{most}.  Consider pre-processing your data with StandardScaler or MinMaxScaler. "
            f"{type(model).__name__} stopped at {limit} with a duality gap of {model.gap_:.3g}; the certificate has "
            "the proved figure.",
            ConvergenceWarning,
            stacklevel=3,
        )


def linear_evidence(
    lab: Labelled, coef: Array, intercept: Array, beta: Array, loss: str, offset: bool, scale: float | None = None
) -> Record:
    """Evidence for the certificate of linear machines (β with w = Σ βᵢxᵢ, one row a machine)."""
    objective = hinge_objective(lab.classes, lab.class_cost, loss, "rest", fit_intercept=bool(offset), padding=scale)
    return evidence_of(objective, coef, intercept) | {"dual": -np.asarray(beta, dtype=float).T}


def linear_evidence_of(
    model: BaseEstimator,
    X: Matrix,
    y: Any,
    sample_weight: Weights = None,
    *,
    own_objective: bool = False,
    tol: float = 1e-8,
) -> tuple[str, dict[str, Any]]:
    """Kind and evidence for a fitted linear SVM of any library (scikit-learn's LinearSVC, SGD with the hinge loss, …).

    The primal solution is the model's; the dual one comes from our solver.

    Parameters
    ----------
    model : fitted linear machine
        With ``coef_``, ``intercept_``, ``classes_``, ``C``, ``loss`` and, perhaps, ``fit_intercept``,
        ``intercept_scaling`` and ``class_weight``.
    X, y, sample_weight : training data
    own_objective : bool, default=False
        Judge by liblinear's objective, which penalises the offset, rather than by the true one (for
        ``multi_class="crammer_singer"``: required where there is an offset).
    tol : float > 0, default=1e-8
        Relative gap of our own solution.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC as Foreign
    >>> from certifit.certificates import Certificate, Data, issue
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> model = Foreign(tol=1e-10, max_iter=100000).fit(X, y)
    >>> gaps = []
    >>> for own in (True, False):
    ...     kind, evidence = linear_evidence_of(model, X, y, own_objective=own)
    ...     gaps.append(issue(kind, Data.of(X, y), evidence).relative_gap)
    >>> gaps[0] < 1e-6, gaps[1] > 0.01
    (True, True)
    """
    X = X if scipy.sparse.issparse(X) else np.asarray(X, dtype=float)
    lab = labelled(X, np.asarray(y), sample_weight, getattr(model, "class_weight", None), model.C, "certify")
    offset = bool(getattr(model, "fit_intercept", True))
    scale = float(getattr(model, "intercept_scaling", 1.0)) if own_objective and offset else None
    coef, intercept = np.atleast_2d(model.coef_), np.ravel(model.intercept_)
    if getattr(model, "multi_class", "ovr") == "crammer_singer":
        best = solve_together(X, lab, scale, Options(tol))
        return "duality", together_evidence(lab, Data.of(X, y, sample_weight), scale, coef, intercept, best.shares)
    rows = padded(X, scale)
    free = offset and scale is None
    beta = []
    for signs in machine_labels(lab.codes, len(lab.classes)):
        target = tol * null_objective(signs, lab.cost, model.loss, free)
        beta.append(linear_svc(rows, signs, lab.cost, target, loss=model.loss, offset=free).value.beta)
    return "duality", linear_evidence(lab, coef, intercept, np.array(beta), model.loss, offset, scale)


@dataclass(eq=False, repr=False)
class LinearSVC(SparseCoefficients, Certified, CertainScores, ClassifierMixin, BaseEstimator):
    r"""Linear support vector classification with an unpenalised offset, proved optimal to a stated gap.

    .. math:: \min_{w, b}\ \tfrac12\lVert w\rVert^2 + \sum_i C_i\, \varphi(y_i(w^\top x_i + b))

    with the hinge max(0, 1 − m) or its square. liblinear, behind scikit-learn's LinearSVC, penalises the offset too:
    its solutions solve a different problem, and `certify` says how different.

    Parameters
    ----------
    penalty : {"l2", "l1"}, default="l2"
        Of w: half its squared length, or the sum of absolute values, which sets coefficients to zero.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
    dual, verbose, random_state :
        Accepted for compatibility with scikit-learn and ignored: primal and dual are both solved, nothing is random.
    multi_class : {"ovr", "crammer_singer"}, default="ovr"
        One class against the rest, or all classes in one problem: the hinge is then
        :math:`\max_k(w_k^\top x + b_k + [k \ne y]) - w_y^\top x - b_y`, as in scikit-learn ``penalty`` and ``loss`` are
        ignored, and the offsets are penalised.
    intercept_scaling : float > 0, default=1
        For "crammer_singer" the constant column whose weights are the offsets. Ignored for "ovr", where the offset is
        not penalised.
    tol : float > 0, default=1e-4
        Stop when the duality gap is at most this fraction of the null model's loss and, as far as rounding allows, of
        the objective itself.
    C : float > 0, default=1.0
    fit_intercept : bool, default=True
    class_weight : dict or "balanced", default=None
        Each row costs C times the weight of its own class (one against the rest too, unlike liblinear).
    max_iter : int ≥ 1, default=1000
        Newton steps of each machine; sweeps over the rows, then Newton steps, for "crammer_singer".
    trace : bool, default=False
        Whether to record every step in ``trace_``.
    time_budget : float > 0, default=None
        Seconds after which each machine stops and keeps the best so far, with its (larger) proved gap.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, n_features_in_, feature_names_in_ :
        As in scikit-learn.
    gap_ : float
        Duality gap at which the solver stopped, summed over machines.
    status_ : str
        Why it stopped: "converged", "precision", "max_iter" or "time_budget" (the worst of all machines).
    trace_ : Trace
        With ``trace=True``: also ``machine`` and ``width``, over which the corner of the hinge is rounded.
    certificate_ : Certificate
        Kind "duality".

    Examples
    --------
    >>> X = np.array([[-2.0, 0.0], [-1.0, 1.0], [1.0, -1.0], [2.0, 0.0]])
    >>> model = LinearSVC(loss="hinge", tol=1e-9).fit(X, [0, 0, 1, 1])
    >>> model.coef_.round(4).tolist(), model.certificate_.relative_gap < 1e-8
    ([[0.5, -0.5]], True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "penalty": [StrOptions({"l1", "l2"})],
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "dual": ["boolean", StrOptions({"auto"})],
        "multi_class": [StrOptions({"ovr", "crammer_singer"})],
    } | usual(
        "intercept_scaling>0 tol>0 C>0 verbose random_state fit_intercept class_weight max_iter trace time_budget"
    )

    penalty: str = "l2"
    loss: str = "squared_hinge"
    _: KW_ONLY
    dual: Any = "auto"
    tol: float = 1e-4
    C: float = 1.0
    multi_class: str = "ovr"
    fit_intercept: bool = True
    intercept_scaling: float = 1
    class_weight: ClassWeight = None
    verbose: int = 0
    random_state: RandomState = None
    max_iter: int = 1000
    trace: bool = False
    time_budget: float | None = None

    def fit(self, X: MatrixLike, y: VectorLike, sample_weight: Weights = None) -> LinearSVC:
        """Fit to rows X, array or sparse, and labels y; weight k equals k copies of the row."""
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", accept_sparse="csr")
        lab = labelled(X, y, sample_weight, self.class_weight, self.C, "LinearSVC")
        self.classes_ = lab.classes
        if self.multi_class == "crammer_singer":
            return self._fit_together(X, y, sample_weight, lab)
        if self.penalty == "l1":
            return self._fit_sparse(X, y, sample_weight, lab)
        solved = [self._solve(X, signs, lab.cost) for signs in machine_labels(lab.codes, len(lab.classes))]
        machines = [f.value for f in solved]
        self.coef_ = np.array([m.coef for m in machines])
        self.intercept_ = np.array([m.intercept for m in machines])
        self.n_iter_ = int(max(f.stats["steps"] for f in solved))
        self.gap_ = float(sum(m.gap for m in machines))
        self.status_ = worst(f.status for f in solved)
        self.trace_ = joined([f.trace for f in solved], "machine")
        warn_if_limited(self)
        beta = np.array([m.beta for m in machines])
        evidence = linear_evidence(lab, self.coef_, self.intercept_, beta, self.loss, self.fit_intercept)
        self._promise_certificate("duality", evidence, X, y, sample_weight)
        return self

    def _fit_together(self, X: Matrix, y: Array, sample_weight: Weights, lab: Labelled) -> LinearSVC:
        """Fit all classes in one problem."""
        scale = float(self.intercept_scaling) if self.fit_intercept else None
        best = solve_together(X, lab, scale, options_of(self))
        self.coef_, self.intercept_, self.gap_ = best.coef, best.intercept, best.gap
        self.n_iter_, self.status_ = int(best.found.stats["steps"]), best.found.status
        self.trace_ = joined([best.found.trace], "machine")
        warn_if_limited(self)
        coef, intercept = best.coef, best.intercept

        def evidence(data: Data) -> Record:
            return together_evidence(lab, data, scale, coef, intercept, best.shares)

        self._promise_certificate("duality", evidence, X, y, sample_weight)
        return self

    def _fit_sparse(self, X: Matrix, y: Array, sample_weight: Weights, lab: Labelled) -> LinearSVC:
        """Fit with the l1 penalty: each machine by the solver that serves its loss."""
        plain = Objective(get_loss(self.loss), L1(), 1.0, bool(self.fit_intercept))
        method = choose_solver(plain.loss, plain.regularizer, "auto", True)
        solved = [
            method.run(Task(plain, as_design(X), signs, lab.cost), options_of(self))
            for signs in machine_labels(lab.codes, len(lab.classes))
        ]
        self.coef_ = np.array([f.value[0] for f in solved])
        self.intercept_ = np.array([float(f.value[1]) for f in solved])
        self.n_iter_ = int(max(np.max(f.stats.get("n_iter", 1)) for f in solved))
        self.gap_ = float(lab.cost.sum() * sum(np.max(f.stats["gap"]) for f in solved))  # the solvers state a mean
        self.status_ = worst(f.status for f in solved)
        self.trace_ = joined([f.trace for f in solved], "machine")
        warn_if_limited(self)
        objective = hinge_objective(
            lab.classes, lab.class_cost, self.loss, "rest", L1(), fit_intercept=bool(self.fit_intercept)
        )
        evidence = evidence_of(objective, self.coef_, self.intercept_)
        known = all(f.stats.get("dual") is not None for f in solved)
        slopes = np.column_stack([f.stats["dual"] for f in solved]) if known else None

        def prove() -> tuple[Certificate, ...]:
            return (duality_proof(objective, Data.of(X, y, sample_weight), evidence, slopes),)

        self._promise_certificates(prove, X, y, sample_weight)
        return self

    _fold_path = linear_svc_answers  # shared work for `certifit.model_selection`

    def _solve(self, X: Matrix, signs: Array, cost: Array) -> Solution:
        target = self.tol * null_objective(signs, cost, self.loss, self.fit_intercept)
        return linear_svc(
            X, signs, cost, target, options_of(self), loss=self.loss, offset=self.fit_intercept, excess=self.tol
        )
