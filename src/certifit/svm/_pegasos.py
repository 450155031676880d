"""Pegasos: stochastic gradient descent for the soft margin, averaged."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state

from certifit._certified import Certified
from certifit._sklearn import check_partial_fit_first_call, usual
from certifit._trace import Trace, joined
from certifit._types import Array, MatrixLike, RandomState, VectorLike
from certifit._validation import validate_data
from certifit.solvers import Solution
from certifit.solvers._status import worst
from certifit.solvers.pegasos import PegasosPlan, Walk, pegasos, shares
from certifit.svm._labels import Labelled, labelled, machine_labels
from certifit.svm._linear import CertainScores, linear_evidence, null_objective


@dataclass(kw_only=True, eq=False, repr=False)
class PegasosSVC(Certified, CertainScores, ClassifierMixin, BaseEstimator):
    r"""Soft-margin SVM by averaged stochastic gradient descent (Pegasos), with a proved gap.

    .. math:: J(w, b) = \tfrac{\lambda}{2}\lVert w\rVert^2 + \tfrac1n \sum_i \max(0,\ 1 - y_i(w^\top x_i + b))

    Step t uses η = 1/(λt), so that w(t) = θ/(λt) with θ a sum of ±x. The steps treat the offset as the weight of a
    column of ones; at the end of `fit` it is replaced by the best one for w. The rows that violated the margin give a
    dual solution, and with it the gap.

    Parameters
    ----------
    alpha : float > 0, default=1e-4
        λ.
    max_iter : int ≥ 1, default=50
        Passes over the rows at most.
    tol : float ≥ 0, default=1e-2
        Stop after a pass when the duality gap is at most this fraction of the null model's loss.
    average : bool, default=True
        Return the mean of the iterates rather than the last.
    fit_intercept : bool, default=True
    shuffle : bool, default=True
        A new order every pass.
    random_state : int, RandomState or None, default=None
    trace : bool, default=False
        Whether to record objective and gap of every pass in ``trace_``.
    time_budget : float > 0, default=None
        Time limit in seconds.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, t_, n_features_in_ :
        As in scikit-learn's SGDClassifier.
    status_ : str
        Why it stopped: "converged", "max_iter" or "time_budget".
    trace_ : Trace
        With ``trace=True``: a row per pass, also ``machine``; ``step`` is η.
    certificate_ : Certificate
        Kind "duality", after `fit` (after `partial_fit` it is about the last batch).

    Notes
    -----
    No ``sample_weight``: the solution depends on the order of rows, so weight k is not k copies.

    Examples
    --------
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> model = PegasosSVC(alpha=0.1, max_iter=200, tol=1e-2, random_state=0).fit(X, [0, 0, 1, 1])
    >>> model.predict([[0.5]]).tolist(), model.certificate_.relative_gap < 0.011
    ([1], True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = usual(
        "alpha>0 tol≥0 average max_iter fit_intercept shuffle random_state trace time_budget"
    )

    alpha: float = 1e-4
    max_iter: int = 50
    tol: float = 1e-2
    average: bool = True
    fit_intercept: bool = True
    shuffle: bool = True
    random_state: RandomState = None
    trace: bool = False
    time_budget: float | None = None

    def fit(self, X: MatrixLike, y: VectorLike) -> PegasosSVC:
        """Fit to rows X with labels y, until the gap is small or ``max_iter`` passes are done."""
        self._validate_params()
        X, y = self._checked(X, y, reset=True)
        lab = labelled(X, y, None, None, 1.0 / (self.alpha * X.shape[0]), "PegasosSVC")
        random = check_random_state(self.random_state)
        end = None if self.time_budget is None else time.perf_counter() + self.time_budget
        solved = [self._walk(X, signs, lab, random, end) for signs in machine_labels(lab.codes, len(lab.classes))]
        self.classes_ = lab.classes
        self._walks = [f.stats["walk"] for f in solved]
        self.coef_ = np.array([f.value.w for f in solved])
        self.intercept_ = np.array([f.value.b for f in solved])
        self.n_iter_, self.t_ = max(f.stats["n_iter"] for f in solved), self._walks[0].t
        self.status_ = worst(f.status for f in solved)
        self.trace_ = joined([f.trace for f in solved], "machine")
        self._keep(X, y, lab, np.array([f.value.beta for f in solved]))
        return self

    def _walk(self, X: Array, y: Array, lab: Labelled, random: np.random.RandomState, end: float | None) -> Solution:
        plan = PegasosPlan(self.alpha, self.max_iter, self.average, self.fit_intercept, self.trace)
        target = self.tol * null_objective(y, lab.cost, "hinge", self.fit_intercept)
        left = None if end is None else end - time.perf_counter()  # all machines share the budget

        def order() -> Array:
            return random.permutation(len(y)) if self.shuffle else np.arange(len(y))

        return pegasos(X, y, order, target, plan, left)

    def partial_fit(self, X: MatrixLike, y: VectorLike, classes: npt.ArrayLike | None = None) -> PegasosSVC:
        """One pass over a batch, in the given order, from the current weights; the first call needs ``classes``."""
        first = not hasattr(self, "classes_")
        self._validate_params()
        X, y = self._checked(X, y, reset=first)
        check_partial_fit_first_call(self, classes)
        strange = np.setdiff1d(y, self.classes_)
        if len(strange):
            raise ValueError(f"The label {strange[0]!r} is not among the classes given in the first call.")
        codes = np.searchsorted(self.classes_, y)
        signs = machine_labels(codes, len(self.classes_))
        if not hasattr(self, "_walks"):
            self._walks = [Walk(X.shape[1]) for _ in signs]
        order = np.arange(len(y))
        for walk, s in zip(self._walks, signs):
            walk.visit(X, s, order, self.alpha, float(self.fit_intercept), np.zeros(len(y), dtype=np.int64))
        means = np.array([walk.mean(self.alpha, self.average) for walk in self._walks])
        self.coef_ = means[:, :-1]
        self.intercept_ = means[:, -1] * float(self.fit_intercept)
        self.t_, self.n_iter_, self.status_, self.trace_ = self._walks[0].t, 1, "max_iter", Trace()
        k = len(self.classes_)
        cost = np.full(len(y), 1.0 / (self.alpha * len(y)))
        lab = Labelled(self.classes_, codes, None, np.ones(k), np.full(k, cost[0]), cost)
        short = [s * (X @ w) + s * b < 1 for s, w, b in zip(signs, self.coef_, self.intercept_)]
        beta = [shares(s, cost, c, 1, self.fit_intercept) for s, c in zip(signs, short)]
        self._keep(X, y, lab, np.array(beta))
        return self

    def _checked(self, X: MatrixLike, y: VectorLike, reset: bool) -> tuple[Array, Array]:
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", accept_sparse="csr", reset=reset)
        return (X.toarray() if scipy.sparse.issparse(X) else X), y

    def _keep(self, X: Array, y: Array, lab: Labelled, beta: Array) -> None:
        evidence = linear_evidence(lab, self.coef_, self.intercept_, beta, "hinge", self.fit_intercept)
        self._promise_certificate("duality", evidence, X, y)
