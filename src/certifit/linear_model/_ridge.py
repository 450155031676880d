"""Ridge regression."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin

from certifit._certified import Certified
from certifit._linear_scores import LinearPredictions
from certifit._objective import Objective
from certifit._sklearn import Interval, StrOptions, usual
from certifit._trace import joined
from certifit._types import Array, Grid, Matrix, RandomState, VectorLike, Weights
from certifit.certificates import Certificate, Data, issue
from certifit.design import MomentSums, as_design
from certifit.linear_model._base import name_coefficients, read_regression, sharpest_first
from certifit.linear_model._folds import ridge_answers
from certifit.losses import Squared
from certifit.regularizers import NonNegative, Regularizer, SquaredL2
from certifit.resampling import FoldAnswers, FoldTable, require
from certifit.solvers import Solution, Task, solve_least_squares
from certifit.solvers._status import worst
from certifit.solvers._task import options_of
from certifit.solvers.dual import dual_point, evidence_of, local_bound_suits
from certifit.solvers.gradient_descent import descend

_DIRECT = {"auto", "cholesky", "qr", "svd"}
_ITERATIVE = {"lsqr", "sparse_cg", "sag", "saga", "lbfgs"}
"""scikit-learn's iterative methods: their optimum is found as "auto" finds it."""
_BY_MOMENTS = {"auto", "cholesky", *_ITERATIVE}
_WIDE, _FEW = 1.5, 200  # columns a row, and in all, beyond which digits of single coefficients are not proved


@dataclass(eq=False, repr=False)
class Ridge(Certified, MultiOutputMixin, LinearPredictions, RegressorMixin, BaseEstimator):
    r"""Ridge regression: minimise :math:`\sum_i s_i\,(y_i - w\cdot x_i - b)^2 + \alpha\lVert w - w_0\rVert^2`.

    This is the mean loss plus λ‖w‖² with :math:`\lambda = \alpha / \sum_i s_i`. The offset is not penalised.

    Parameters
    ----------
    alpha : float ≥ 0 or (t,) array, default=1.0
        Strength of the penalty; one per target if an array.
    fit_intercept : bool, default=True
    copy_X, random_state :
        Accepted for compatibility with scikit-learn; X is never changed and nothing is random.
    max_iter : int ≥ 1, default=None
        Limit of ``solver="gradient_descent"`` (100 000 when None).
    tol : float > 0, default=1e-4
        Relative gap at which ``solver="gradient_descent"`` stops; the other solvers are exact.
    solver : {"auto", "cholesky", "qr", "svd", "lsqr", "sparse_cg", "sag", "saga", "lbfgs", "gradient_descent"}
        "auto" takes Cholesky where the condition number allows it and QR with refinement where not; the n × n form
        when there are more columns than rows; LSMR for large sparse X. scikit-learn's iterative solvers ("lsqr" to
        "lbfgs") lead to the same optimum, as "auto" finds it. ``method_`` says what was used.
    positive : bool, default=False
        Require w ≥ 0.
    prior : (d,) or (t, d) array, default=None
        w₀, the coefficients to shrink towards; zero when None.
    trace : bool, default=False
        Record objective, gap and step of every iteration in ``trace_`` (``solver="gradient_descent"``).
    time_budget : float, default=None
        Seconds for ``solver="gradient_descent"``; the certificate states how good the fit is by then.

    Attributes
    ----------
    coef_, intercept_ : as in scikit-learn
    n_iter_ : (t,) array
        Iterations per target (1 for the closed forms).
    status_ : str
        Why the solver stopped: "converged", "closed form", "precision", "max_iter" or "time_budget".
    solver_ : str
        The requested solver, or the one chosen by "auto".
    method_ : str
        What was used: "cholesky", "dual cholesky", "qr", "svd", "lsmr", ...
    certificate_ : Certificate
        The gap to the smallest possible training objective by weak duality (or, where that is sharper, by the exact
        formula).

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.5])
    >>> Ridge(alpha=1.0).fit(X, y).coef_
    array([1.5])
    >>> Ridge(alpha=1.0, prior=[2.25]).fit(X, y).coef_
    array([2.25])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [Interval(Real, 0, None, closed="left"), np.ndarray],
        "solver": [StrOptions({*_DIRECT, *_ITERATIVE, "gradient_descent"})],
        "prior": ["array-like", None],
    } | usual("max_iter≥1? tol≥0 fit_intercept copy_X positive random_state trace time_budget")

    alpha: Any = 1.0
    _: KW_ONLY
    fit_intercept: bool = True
    copy_X: bool = True
    max_iter: int | None = None
    tol: float = 1e-4
    solver: str = "auto"
    positive: bool = False
    random_state: RandomState = None
    prior: Any = None
    trace: bool = False
    time_budget: float | None = None

    def fit(self, X: Matrix, y: VectorLike, sample_weight: Weights = None) -> Ridge:
        """Fit to rows X (n, d) and targets y (n,) or (n, t), weighted by ``sample_weight``."""
        self._validate_params()
        sums = MomentSums(self.fit_intercept) if self.solver in _BY_MOMENTS and not self.positive else None
        X, y, weights = read_regression(self, X, y, sample_weight, sums=sums)
        Y = y.reshape(len(y), -1)
        alpha, prior = self._read_penalty(Y.shape[1], X.shape[1])
        self._check_solver()
        if self.solver == "gradient_descent":
            solution = self._descend(X, Y, weights, alpha, prior)
        else:
            solution = solve_least_squares(
                as_design(X),
                Y,
                weights,
                alpha=alpha,
                prior=prior,
                fit_intercept=self.fit_intercept,
                positive=self.positive,
                method=self.solver if self.solver in _DIRECT else "auto",
                sums=sums,
            )
        name_coefficients(self, solution.value, y.ndim, X.dtype.type)
        if Y.shape[1] == 1:  # as scikit-learn: one column counts as one target
            self.coef_: Array = np.ravel(self.coef_)
        self.method_, self.status_ = solution.stats["method"], solution.status
        self.solver_ = self.solver if self.solver in _ITERATIVE else self.method_
        self.n_iter_ = np.broadcast_to(solution.stats.get("n_iter", 1), (Y.shape[1],)).copy()
        self.trace_ = solution.trace
        self._promise_certificates(partial(self._prove, X, y, sample_weight, alpha, prior), X, y, sample_weight)
        return self

    def _check_solver(self) -> None:
        """Which solvers go with w ≥ 0, in scikit-learn's words."""
        if self.solver == "lbfgs" and not self.positive:
            raise ValueError("'lbfgs' solver can be used only when positive=True. Please use another solver.")
        if self.positive and self.solver not in ("auto", "lbfgs"):
            raise ValueError(
                f"solver='{self.solver}' does not support positive fitting. Please set the solver to 'auto' or "
                "'lbfgs', or set `positive=False`."
            )

    def _read_penalty(self, targets: int, columns: int) -> tuple[Array, Array | None]:
        alpha = np.asarray(self.alpha, dtype=float)
        if alpha.ndim == 1 and alpha.size not in (1, targets):
            raise ValueError(f"Number of targets and number of penalties do not correspond: {alpha.size} != {targets}")
        if alpha.ndim > 1 or not np.all(np.isfinite(alpha)) or np.any(alpha < 0):
            raise ValueError(
                f"alpha must be one number ≥ 0, or one per target ({targets}); got an array of shape {alpha.shape}."
            )
        if self.prior is None:
            return np.broadcast_to(alpha, (targets,)).astype(float), None
        prior = np.asarray(self.prior, dtype=float)
        if prior.shape not in ((columns,), (targets, columns)) or not np.all(np.isfinite(prior)):
            raise ValueError(
                f"prior must contain {columns} finite numbers (or a row of them per target); got {prior.shape}."
            )
        if self.positive:
            raise ValueError("prior and positive=True cannot be combined: leave one of them out.")
        return np.broadcast_to(alpha, (targets,)).astype(float), np.broadcast_to(prior, (targets, columns))

    def _descend(self, X: Matrix, Y: Array, weights: Array | None, alpha: Array, prior: Array | None) -> Solution:
        options = options_of(self)
        parts = []
        for t, strength in enumerate(alpha):
            regularizer = self._regularizer(None if prior is None else prior[t])
            objective = Objective(Squared(), regularizer, strength, self.fit_intercept)
            parts.append(descend(Task(objective, as_design(X), Y[:, t], weights), options))
        value = np.array([s.value[0] for s in parts]), np.array([s.value[1] for s in parts])
        stats = parts[0].stats | {"n_iter": np.array([s.stats["n_iter"] for s in parts])}
        if len(parts) > 1:
            stats["trace"] = joined([s.trace for s in parts], "target")
        return Solution(value, worst(s.status for s in parts), stats)

    def _prove(
        self, X: Matrix, y: VectorLike, sample_weight: Weights, alpha: Array, prior: Array | None
    ) -> Iterator[Certificate]:
        data = Data.of(X, y, sample_weight)
        objectives = [self._objective(float(alpha[t]), None if prior is None else prior[t]) for t in range(len(alpha))]
        evidence = evidence_of(objectives, self.coef_, self.intercept_)

        def by_duality(digest: str | None = None) -> Certificate:
            dual = dual_point(objectives, data, evidence["coef"], evidence["intercept"])
            return issue("duality", data, evidence | {"dual": dual}, digest=digest)

        # Digits of single coefficients need a factor of a d × d matrix: with many more columns than rows, or sparse
        # rows and thousands of columns, that would cost a hundred fits, where the duality gap costs less than one.
        penalised = bool(np.all(alpha > 0))
        dear = X.shape[1] > max(_WIDE * X.shape[0], _FEW)
        if penalised and (dear or (issparse(X) and not local_bound_suits(objectives[0], X))):
            first = by_duality()
            if first.holds:
                yield first
                return
        direct = issue("least-squares", data, evidence)
        yield from sharpest_first(direct, partial(by_duality, direct.digests["data"]) if penalised else None)

    def _objective(self, alpha: float, prior: Array | None) -> Objective:
        return Objective(Squared(), self._regularizer(prior), alpha, bool(self.fit_intercept))

    def _regularizer(self, prior: Array | None) -> Regularizer:
        squared = SquaredL2(1.0, None if prior is None else tuple(prior))
        return NonNegative(squared) if self.positive else squared

    def _fold_path(self, table: FoldTable, grid: Grid, response: tuple[str, ...]) -> FoldAnswers:
        """Shared work for `certifit.model_selection`: every fold and every α from one pass."""
        require(self.prior is None, "a prior is fitted one by one")
        direct = self.solver in _DIRECT or (self.solver in _ITERATIVE and not issparse(table.X))
        require(direct, f"solver={self.solver!r} is fitted one by one")
        return ridge_answers(self, table, grid, response)
