"""Pegasos: stochastic gradient descent for the soft margin, averaged."""

from __future__ import annotations

import time
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.multiclass import _check_partial_fit_first_call
from sklearn.utils.validation import validate_data

from certifit._certified import Certified
from certifit._types import Array
from certifit.certificates import Certificate, Data, issue
from certifit.certificates.linear_svm import machine_labels
from certifit.loops import pegasos as loops
from certifit.solvers.balance import balance
from certifit.solvers.smo import best_offsets
from certifit.svm._labels import Labelled, labelled
from certifit.svm._linear import LinearScores, linear_evidence, null_objective


class _Walk:
    """One machine under way: θ, the sum of iterates, visits, and how often each row was short."""

    def __init__(self, columns: int) -> None:
        self.t = 0
        self.theta, self.total = np.zeros(columns + 1), np.zeros(columns + 1)

    def visit(self, X: Array, y: Array, order: Array, lam: float, pad: float, counts: Array) -> None:
        self.t = loops.passes(X, y, order, lam, pad, self.t, self.theta, self.total, counts)

    def mean(self, lam: float, average: bool) -> Array:
        return self.total / self.t if average else self.theta / (lam * self.t)


class PegasosSVC(Certified, LinearScores, ClassifierMixin, BaseEstimator):
    r"""Soft-margin machine by stochastic gradient descent (Pegasos), averaged, with a proved gap.

    .. math:: J(w, b) = \tfrac{\lambda}{2}\lVert w\rVert^2 + \tfrac1n \sum_i \max(0,\ 1 - y_i(w^\top x_i + b))

    Step t uses η = 1/(λt), so that w(t) = θ/(λt) with θ a sum of ±x. The steps treat the offset as the weight of a
    column of ones; at the end of `fit` it is replaced by the best one for w. The rows that were short of margin give
    a dual solution, hence the gap.

    Parameters
    ----------
    alpha : float > 0, default=1e-4
        λ.
    max_iter : int ≥ 1, default=50
        Passes over the rows at most.
    tol : float ≥ 0, default=1e-2
        Stop after a pass when the duality gap is at most this share of what the null model pays.
    average : bool, default=True
        Return the mean of the iterates rather than the last.
    fit_intercept : bool, default=True
    shuffle : bool, default=True
        A new order every pass.
    random_state : int, RandomState or None, default=None
    trace : bool, default=False
        Whether to record objective and gap of every pass in ``trace_``.
    time_budget : float > 0, default=None
        Seconds after which the walk stops.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, t_, n_features_in_ :
        As in scikit-learn's SGDClassifier.
    trace_ : list of dict
    certificate_ : Certificate
        Kind "linear-svm", after `fit` (after `partial_fit` it speaks of the last batch).

    Notes
    -----
    No ``sample_weight``: the walk depends on the order of rows, so weight k is not k copies.

    Examples
    --------
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> model = PegasosSVC(alpha=0.1, max_iter=200, tol=1e-2, random_state=0).fit(X, [0, 0, 1, 1])
    >>> model.predict([[0.5]]).tolist(), model.certificate_.relative_gap < 0.011
    ([1], True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "average": ["boolean"],
        "fit_intercept": ["boolean"],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "trace": ["boolean"],
        "time_budget": [Interval(Real, 0.0, None, closed="neither"), None],
    }

    def __init__(
        self,
        *,
        alpha: float = 1e-4,
        max_iter: int = 50,
        tol: float = 1e-2,
        average: bool = True,
        fit_intercept: bool = True,
        shuffle: bool = True,
        random_state: Any = None,
        trace: bool = False,
        time_budget: float | None = None,
    ) -> None:
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.average = average
        self.fit_intercept = fit_intercept
        self.shuffle = shuffle
        self.random_state = random_state
        self.trace = trace
        self.time_budget = time_budget

    def fit(self, X: Any, y: Any) -> PegasosSVC:
        """Walk over rows X with labels y until the gap is small or the passes are used up.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
        y : array of n labels

        Returns
        -------
        self
        """
        self._validate_params()
        X, y = self._checked(X, y, reset=True)
        lab = labelled(X, y, None, None, 1.0 / (self.alpha * X.shape[0]), "PegasosSVC")
        start, random = time.perf_counter(), check_random_state(self.random_state)
        self.trace_: list[dict[str, float]] = []
        results = [self._walk(X, signs, lab, random, start) for signs in machine_labels(lab.codes, len(lab.classes))]
        self.classes_ = lab.classes
        self._walks = [r[0] for r in results]
        self.coef_ = np.array([r[1] for r in results])
        self.intercept_ = np.array([r[2] for r in results])
        self.n_iter_, self.t_ = max(r[4] for r in results), self._walks[0].t
        self._keep(X, y, lab, np.array([r[3] for r in results]))
        return self

    def _walk(self, X: Array, y: Array, lab: Labelled, random: Any, start: float) -> tuple[Any, ...]:
        walk, counts = _Walk(X.shape[1]), np.zeros(len(y), dtype=np.int64)
        null = null_objective(y, lab.cost, "hinge", self.fit_intercept)
        for done in range(1, self.max_iter + 1):
            order = random.permutation(len(y)) if self.shuffle else np.arange(len(y))
            walk.visit(X, y, order, self.alpha, float(self.fit_intercept), counts)
            w, b = self._offset(walk, X, y, lab.cost)
            beta = self._dual(y, lab.cost, counts, done)
            scores = X @ w
            primal = 0.5 * float(w @ w) + float(lab.cost @ np.maximum(0.0, 1.0 - y * (scores + b)))
            v = X.T @ beta
            gap = primal - float(np.abs(beta).sum()) + 0.5 * float(v @ v)
            seconds = time.perf_counter() - start
            if self.trace:
                scale = self.alpha  # J is λ times the objective with costs 1/(λn)
                self.trace_.append({"objective": scale * primal, "gap": scale * gap, "step": done, "seconds": seconds})
            if gap <= self.tol * null or (self.time_budget is not None and seconds > self.time_budget):
                break
        return walk, w, b, beta, done

    def _offset(self, walk: _Walk, X: Array, y: Array, cost: Array) -> tuple[Array, float]:
        padded = walk.mean(self.alpha, self.average)
        w = padded[:-1]
        if not self.fit_intercept:
            return w, 0.0
        lo, hi = np.where(y > 0, 0.0, -cost), np.where(y > 0, cost, 0.0)
        return w, float(np.mean(best_offsets(X @ w - y, lo, hi)))

    def _dual(self, y: Array, cost: Array, counts: Array, done: int) -> Array:
        """The share of visits at which a row was short is its multiplier, in units of its cost."""
        beta = y * cost * np.minimum(counts / done, 1.0)
        return balance(beta, cost) if self.fit_intercept else beta

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> PegasosSVC:
        """One pass over a batch, in the order given; the walk goes on from where it was.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
        y : array of n labels
        classes : array, default=None
            All labels that will come; needed in the first call.

        Returns
        -------
        self
        """
        first = not hasattr(self, "classes_")
        self._validate_params()
        X, y = self._checked(X, y, reset=first)
        _check_partial_fit_first_call(self, classes)
        strange = np.setdiff1d(y, self.classes_)
        if len(strange):
            raise ValueError(f"The label {strange[0]!r} is not among the classes given in the first call.")
        codes = np.searchsorted(self.classes_, y)
        signs = machine_labels(codes, len(self.classes_))
        if not hasattr(self, "_walks"):
            self._walks = [_Walk(X.shape[1]) for _ in signs]
        order = np.arange(len(y))
        for walk, s in zip(self._walks, signs):
            walk.visit(X, s, order, self.alpha, float(self.fit_intercept), np.zeros(len(y), dtype=np.int64))
        means = np.array([walk.mean(self.alpha, self.average) for walk in self._walks])
        self.coef_ = means[:, :-1]
        self.intercept_ = means[:, -1] * float(self.fit_intercept)
        self.t_, self.n_iter_, self.trace_ = self._walks[0].t, 1, []
        k = len(self.classes_)
        cost = np.full(len(y), 1.0 / (self.alpha * len(y)))
        lab = Labelled(self.classes_, codes, None, np.ones(k), np.full(k, cost[0]), cost)
        beta = [self._dual(s, cost, s * (X @ w) + s * b < 1, 1) for s, w, b in zip(signs, self.coef_, self.intercept_)]
        self._keep(X, y, lab, np.array(beta))
        return self

    def _checked(self, X: Any, y: Any, reset: bool) -> tuple[Array, Array]:
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", accept_sparse="csr", reset=reset)
        return (X.toarray() if scipy.sparse.issparse(X) else X), y

    def _keep(self, X: Array, y: Array, lab: Labelled, beta: Array) -> None:
        self._training = self._hold(X, y)
        evidence = linear_evidence(lab, self.coef_, self.intercept_, beta, "hinge", self.fit_intercept)

        def make() -> tuple[Certificate, ...]:
            return (issue("linear-svm", Data.of(X, y), evidence),)

        self._promise_certificates(make, self._training)
