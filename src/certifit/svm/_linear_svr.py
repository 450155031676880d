"""Linear support vector regression: the true problem, its offset unpenalised."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from certifit._certified import Certified
from certifit._linear_scores import LinearPredictions
from certifit._objective import Objective
from certifit._sklearn import StrOptions, read_weights, usual
from certifit._types import Array, Matrix, MatrixLike, RandomState, VectorLike, Weights
from certifit._validation import validate_data
from certifit.design import OVERFLOW, powers_of_two
from certifit.losses import EpsilonInsensitive, Loss, SquaredEpsilonInsensitive, best_offset
from certifit.regularizers import SquaredL2
from certifit.solvers import Solution
from certifit.solvers._task import options_of
from certifit.solvers.balance import balance
from certifit.solvers.dual import evidence_of
from certifit.solvers.linear_svc import linear_svc
from certifit.svm._linear import warn_if_limited

_LOSSES = {"epsilon_insensitive": EpsilonInsensitive, "squared_epsilon_insensitive": SquaredEpsilonInsensitive}


@dataclass(kw_only=True, eq=False, repr=False)
class LinearSVR(Certified, LinearPredictions, RegressorMixin, BaseEstimator):
    r"""Linear support vector regression with an unpenalised offset, proved optimal to a stated gap.

    .. math:: \min_{w, b}\ \tfrac12\lVert w\rVert^2 + C\sum_i s_i\, \max(0,\ |w^\top x_i + b - y_i| - \varepsilon)^p

    with p = 1, or 2 for the squared loss. liblinear, behind scikit-learn's LinearSVR, penalises the offset, too.

    Parameters
    ----------
    epsilon : float ≥ 0, default=0.0
        ε, half the width of the tube in which errors are free.
    tol : float > 0, default=1e-4
        Stop when the duality gap is at most this fraction of the null model's loss and, as far as rounding allows, of
        the objective itself.
    C : float > 0, default=1.0
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
    fit_intercept : bool, default=True
    intercept_scaling, dual, verbose, random_state :
        Accepted for compatibility with scikit-learn and ignored: primal and dual are both solved, the offset is not
        penalised, and nothing is random.
    max_iter : int ≥ 1, default=1000
        Newton steps.
    trace : bool, default=False
        Whether to record every step in ``trace_``.
    time_budget : float > 0, default=None
        Seconds after which the fit stops and keeps the best so far, with its (larger) proved gap.

    Attributes
    ----------
    coef_, intercept_, n_iter_, n_features_in_, feature_names_in_ :
        As in scikit-learn.
    gap_ : float
        Duality gap at which the solver stopped.
    status_ : str
        Why it stopped: "converged", "precision", "max_iter" or "time_budget".
    trace_ : Trace
        With ``trace=True``: also ``width``, over which the corners of the tube are rounded (y in units of its spread).
    certificate_ : Certificate
        Kind "duality", of the objective divided by C.

    Examples
    --------
    >>> X, y = np.arange(5.0)[:, None], np.array([0.0, 1.0, 2.0, 3.0, 90.0])
    >>> model = LinearSVR(C=10.0, tol=1e-9).fit(X, y)
    >>> model.coef_.round(4).tolist(), model.certificate_.relative_gap < 1e-8
    ([1.0], True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "loss": [StrOptions(set(_LOSSES))],
        "dual": ["boolean", StrOptions({"auto"})],
    } | usual("epsilon≥0 tol>0 C>0 intercept_scaling>0 fit_intercept verbose random_state max_iter trace time_budget")

    epsilon: float = 0.0
    tol: float = 1e-4
    C: float = 1.0
    loss: str = "epsilon_insensitive"
    fit_intercept: bool = True
    intercept_scaling: float = 1.0
    dual: Any = "auto"
    verbose: int = 0
    random_state: RandomState = None
    max_iter: int = 1000
    trace: bool = False
    time_budget: float | None = None

    def fit(self, X: MatrixLike, y: VectorLike, sample_weight: Weights = None) -> LinearSVR:
        """Fit to rows X, array or sparse, and numbers y; weight k equals k copies of the row."""
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", accept_sparse="csr", y_numeric=True)
        y = np.asarray(y, dtype=float)
        sample_weight = read_weights(sample_weight, X)
        weights = np.ones(len(y)) if sample_weight is None else sample_weight
        loss = _LOSSES[self.loss](float(self.epsilon))
        found = self._solve(X, y, float(self.C) * weights, loss)
        machine = found.value
        self.coef_ = machine.coef
        self.intercept_ = np.array([machine.intercept]) if self.fit_intercept else 0.0
        self.n_iter_ = int(found.stats["steps"])
        self.gap_, self.status_, self.trace_ = float(machine.gap), found.status, found.trace
        warn_if_limited(self)
        objective = Objective(loss, SquaredL2(0.5), 1.0 / float(self.C), bool(self.fit_intercept), stated="sum")
        room = weights if loss.name == "epsilon_insensitive" else np.full(len(y), np.inf)
        beta = np.clip(machine.beta / float(self.C), -room, room)
        beta = balance(beta, room) if self.fit_intercept else beta
        evidence = evidence_of(objective, self.coef_, machine.intercept) | {"dual": -beta[:, None]}
        self._promise_certificate("duality", evidence, X, y, sample_weight)
        return self

    def _solve(self, X: Matrix, y: Array, cost: Array, loss: Loss) -> Solution:
        """The problem with y in units of its spread around a constant: scaling by a power of two is exact."""
        level = best_offset(loss, np.zeros(len(y)), y, cost) if self.fit_intercept else 0.0
        null = float(cost @ loss.value(np.full(len(y), level), y))
        spread = float(np.abs(y - level)[cost > 0.0].mean())
        unit = float(powers_of_two(np.array(spread)))
        if not (np.isfinite(null) and 2.0**-500 < unit < 2.0**500):  # its square would be nothing, or infinite
            raise ValueError(OVERFLOW)
        # With w in the same unit the objective is in its square: absolute errors then cost 1/unit as much.
        share = 1.0 / unit if loss.name == "epsilon_insensitive" else 1.0
        tube = _LOSSES[self.loss](float(self.epsilon) / unit)
        target, limits = self.tol * null / unit**2, options_of(self)
        found = linear_svc(
            X, (y - level) / unit, cost * share, target, limits, loss=tube, offset=self.fit_intercept, excess=self.tol
        )
        m = found.value
        machine = replace(
            m, coef=m.coef * unit, intercept=m.intercept * unit + level, beta=m.beta * unit, gap=m.gap * unit**2
        )
        return replace(found, value=machine)
