"""Lasso and elastic net."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state

from certifit._certified import Certified
from certifit._linear_scores import LinearPredictions
from certifit._objective import Objective
from certifit._sklearn import ConvergenceWarning, StrOptions, usual
from certifit._trace import joined
from certifit._types import Array, Matrix, RandomState, VectorLike, Weights
from certifit._validation import check_is_fitted
from certifit.certificates import Certificate, Data, issue
from certifit.design import as_design
from certifit.linear_model._base import name_coefficients, read_regression
from certifit.linear_model._folds import lasso_answers
from certifit.linear_model._lasso_path import enet_path, lasso_path
from certifit.losses import Loss, Squared
from certifit.regularizers import NonNegative, Regularizer, Zero, mix_of_norms
from certifit.solvers import Options, Solution, Task, solve_coordinate
from certifit.solvers._status import worst
from certifit.solvers.dual import duality_proof, evidence_of
from certifit.solvers.least_squares import solve_quadratic

_CONSTRAINTS: dict[str, Any] = {
    "precompute": ["boolean", "array-like"],
    "selection": [StrOptions({"cyclic", "random"})],
} | usual("alpha≥0 max_iter≥1? tol≥0 fit_intercept copy_X warm_start positive random_state trace time_budget")

UNFIT = (
    "Coordinate descent iterations resulted in non-finite parameter values: the numbers in X or y are too large or too "
    "small to square. Divide the columns by their spread first."
)


@dataclass(eq=False, repr=False)
class _L1Regressor(Certified, MultiOutputMixin, LinearPredictions, RegressorMixin, BaseEstimator):
    """What `Lasso` and `ElasticNet` share; they differ in the mixture of the two norms."""

    alpha: float = 1.0
    _: KW_ONLY
    fit_intercept: bool = True
    precompute: Any = False
    copy_X: bool = True
    max_iter: int | None = 1000
    tol: float = 1e-4
    warm_start: bool = False
    positive: bool = False
    random_state: RandomState = None
    selection: str = "cyclic"
    trace: bool = False
    time_budget: float | None = None

    def _ratio(self) -> float:
        raise NotImplementedError

    def fit(self, X: Matrix, y: VectorLike, sample_weight: Weights = None, check_input: bool = True) -> Any:
        """Fit to rows X (n, d), dense or sparse, and targets y (n,) or (n, t), weighted by ``sample_weight``.

        ``check_input`` is accepted so that scikit-learn's calls work; input is always checked.
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Matrix, y: VectorLike, sample_weight: Weights, gram: Array | None = None) -> Any:
        """`fit`, given the Gram matrix of the weighted, centred columns if somebody knows it."""
        self._validate_params()
        X, y, weights = read_regression(self, X, y, scalar_is_none(sample_weight))
        design, Y = as_design(X), y.reshape(len(y), -1)
        if not np.isscalar(self.precompute) and np.shape(self.precompute) != (X.shape[1],) * 2:
            raise ValueError(f"precompute must be a bool or a Gram matrix of shape {(X.shape[1],) * 2}.")
        total = float(len(Y) if weights is None else weights.sum())
        regularizer = mix_of_norms(self._ratio(), positive=self.positive)
        objective = Objective(Squared(0.5), regularizer, float(self.alpha) * total, self.fit_intercept)
        start = self._start(Y.shape[1], X.shape[1])
        starts = [None] * Y.shape[1] if start is None else start
        try:
            with np.errstate(over="raise"):
                tasks = [Task(objective, design, Y[:, t], weights) for t in range(Y.shape[1])]
                parts = [self._one(task, begin, gram) for task, begin in zip(tasks, starts)]
        except FloatingPointError:
            raise ValueError(UNFIT) from None
        value = np.array([p.value[0] for p in parts]), np.array([p.value[1] for p in parts])
        if not all(np.all(np.isfinite(v)) for v in value):
            raise ValueError(UNFIT)
        name_coefficients(self, value, y.ndim, X.dtype.type)
        gaps = np.array([p.stats["gap"] for p in parts], dtype=X.dtype)
        single = Y.shape[1] == 1
        if single:  # as scikit-learn: one column counts as one target
            self.coef_: Array = np.ravel(self.coef_)
        self.dual_gap_ = gaps[0] if single else gaps
        self.n_iter_ = parts[0].stats["n_iter"] if single else [p.stats["n_iter"] for p in parts]
        self.solver_, self.status_ = parts[0].stats["method"], worst(p.status for p in parts)
        self.trace_ = parts[0].trace if single else joined([p.trace for p in parts], "target")
        warn_if_short(self, parts)
        scales = np.array([p.stats.get("dual_scale", 1.0) for p in parts])
        weights = scalar_is_none(sample_weight)
        self._promise_certificates(partial(self._prove, X, y, weights, scales), X, y, weights)
        return self

    def _start(self, targets: int, columns: int) -> Array | None:
        if not self.warm_start or not hasattr(self, "coef_"):
            return None
        coef = np.atleast_2d(np.asarray(self.coef_, dtype=float))
        return coef if coef.shape == (targets, columns) else None

    def _one(self, task: Task, start: Array | None, gram: Array | None) -> Solution:
        """One target."""
        if task.objective.strength * self._ratio() == 0.0:
            return solve_quadratic(task)
        rng = None
        if self.selection == "random":
            rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        options = Options(self.tol, self.max_iter or 1_000_000, self.time_budget, self.trace, rng)
        return solve_coordinate(task, options, start=start, gram=True if self.precompute is True else gram)

    def _prove(self, X: Matrix, y: Any, sample_weight: Any, scales: Array) -> tuple[Certificate, ...]:
        data, total = Data.of(X, y, sample_weight), float(len(y) if sample_weight is None else np.sum(sample_weight))
        objective = Objective(*self._parts(), float(self.alpha) * total, bool(self.fit_intercept))
        evidence = evidence_of(objective, self.coef_, self.intercept_)
        if self.alpha == 0.0:
            return (issue("least-squares", data, evidence),)
        shrunk = None
        if 0.0 < self._ratio() < 1.0 and np.any(scales < 1.0):  # a shrunk residual can be the better dual point
            scores = np.asarray(data.X @ evidence["coef"].T) + evidence["intercept"]
            shrunk = (scores - np.asarray(y).reshape(len(y), -1)) * scales
        return (duality_proof(objective, data, evidence, shrunk),)

    def _parts(self) -> tuple[Loss, Regularizer]:
        """Loss and penalty; plain least squares is stated without the half."""
        if self.alpha == 0.0:
            return Squared(), NonNegative(Zero()) if self.positive else Zero()
        return Squared(0.5), mix_of_norms(self._ratio(), positive=self.positive)

    _fold_path = lasso_answers  # shared work for `certifit.model_selection`

    @property
    def sparse_coef_(self) -> Any:
        """``coef_`` as a sparse row (or one row per target)."""
        check_is_fitted(self)
        return scipy.sparse.csr_matrix(np.atleast_2d(self.coef_))


def scalar_is_none(sample_weight: Weights) -> Any:
    """One number for all rows is the same as none (weights enter through their shares)."""
    return None if sample_weight is None or isinstance(sample_weight, Real) else sample_weight


def warn_if_short(model: BaseEstimator, parts: list[Solution]) -> None:
    short = max(parts, key=lambda p: p.stats["relative_gap"])
    share = short.stats["relative_gap"]
    if short.converged or share <= model.tol or (share <= 1e-9 and short.status != "max_iter"):
        return  # a gap that rounding keeps from being smaller is no news
    why = {"time_budget": "time_budget is over", "max_iter": f"max_iter={model.max_iter} rounds are over"}
    reason = why.get(short.status, "rounding allows no smaller gap")
    warnings.warn(
        "Objective did not converge. You might want to increase the number of iterations. "
        f"{type(model).__name__} stopped at a proved relative gap of {share:.1e}, above tol={model.tol:g}: {reason}.",
        ConvergenceWarning,
        stacklevel=3,
    )


class Lasso(_L1Regressor):
    r"""Lasso: minimise :math:`\frac1{2S}\sum_i s_i(y_i - w\cdot x_i - b)^2 + \alpha\lVert w\rVert_1`.

    S is the sum of the weights (n without weights), so weight k is the same as k copies. The offset is not penalised.
    With the loss (z − y)² in place of its half, λ = 2α.

    Parameters
    ----------
    alpha : float ≥ 0, default=1.0
        Strength of the penalty; 0 is least squares (solved as such).
    fit_intercept : bool, default=True
    precompute : bool or array of shape (d, d), default=False
        True forms the whole Gram matrix; otherwise the solver decides by size. A matrix is accepted but not needed.
    copy_X : bool, default=True
        Accepted for compatibility with scikit-learn; X is never changed.
    max_iter : int ≥ 1, default=1000
        Largest number of rounds (passes over X). A handful is usually enough.
    tol : float ≥ 0, default=1e-4
        Stop when the proved duality gap is at most tol times the objective of the null model (w = 0). For the same
        value, scikit-learn allows twice that gap.
    warm_start : bool, default=False
        Begin at the ``coef_`` of the previous fit.
    positive : bool, default=False
        Require w ≥ 0.
    random_state : int, RandomState or None, default=None
        Used by ``selection="random"``.
    selection : {"cyclic", "random"}, default="cyclic"
        Order in which the first sweeps visit the coordinates.
    trace : bool, default=False
        Record objective, relative gap and size of the working set of every round in ``trace_``.
    time_budget : float, default=None
        Seconds per target; the certificate states how good the fit is by then.

    Attributes
    ----------
    coef_, intercept_, sparse_coef_, dual_gap_, n_iter_ : as in scikit-learn
        One row or entry per target if y has several columns; targets are fitted independently. A y of shape (n, 1)
        gives the same shapes as in scikit-learn: ``coef_`` (d,), ``predict`` (n,).
    status_ : str
        Why the solver stopped: "converged", "precision", "max_iter" or "time_budget" (the worst of all targets).
    solver_ : str
    certificate_ : Certificate
        The gap to the smallest possible training objective, by weak duality.

    Notes
    -----
    Working sets of columns, coordinate sweeps from a cold start, then exact steps on the support (see
    `certifit.solvers.coordinate`). Units of columns do not matter to the solver; the penalty is in the units of X.

    References
    ----------
    Massias, Gramfort, Salmon (2018), Celer: a fast solver for the lasso with dual extrapolation, ICML.

    Examples
    --------
    >>> X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]]), np.array([1.0, 3.0, 5.5])
    >>> model = Lasso(alpha=0.5).fit(X, y)
    >>> model.coef_, round(model.certificate_.value, 6)
    (array([1.5, 0. ]), 0.944444)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = _CONSTRAINTS
    path = staticmethod(lasso_path)
    l1_ratio = 1.0  # readable as in scikit-learn; not a parameter

    def _ratio(self) -> float:
        return 1.0


@dataclass(kw_only=True, eq=False, repr=False)
class ElasticNet(_L1Regressor):
    r"""Elastic net: lasso and ridge penalties combined.

    .. math:: \frac1{2S}\sum_i s_i(y_i - w\cdot x_i - b)^2
              + \alpha\big(\rho\lVert w\rVert_1 + \tfrac12(1-\rho)\lVert w\rVert^2\big)

    with S the sum of the weights.

    Parameters
    ----------
    alpha : float ≥ 0, default=1.0
    l1_ratio : float in [0, 1], default=0.5
        ρ: 1 is the lasso, 0 is ridge (solved in closed form).
    fit_intercept, precompute, max_iter, copy_X, tol, warm_start, positive, random_state, selection :
        As in `Lasso`.
    trace, time_budget :
        As in `Lasso`.

    Attributes
    ----------
    coef_, intercept_, sparse_coef_, dual_gap_, n_iter_, solver_, certificate_ : as in `Lasso`

    See Also
    --------
    Lasso : without the squared norm.
    Ridge : with the squared norm alone.

    Examples
    --------
    >>> X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]]), np.array([1.0, 3.0, 5.5])
    >>> ElasticNet(alpha=0.5, l1_ratio=0.5).fit(X, y).coef_.round(6)
    array([1.363636, 0.      ])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = _CONSTRAINTS | usual("l1_ratio")
    path = staticmethod(enet_path)

    l1_ratio: float = 0.5

    def _ratio(self) -> float:
        return float(self.l1_ratio)
