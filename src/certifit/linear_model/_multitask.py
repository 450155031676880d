"""Lasso and elastic net for several targets that choose the same columns."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin

from certifit._certified import Certified
from certifit._linear_scores import LinearPredictions
from certifit._objective import Objective
from certifit._sklearn import StrOptions, usual
from certifit._types import Array, Matrix, RandomState, Record, VectorLike, Weights
from certifit._validation import check_is_fitted
from certifit.certificates import Certificate, Data, issue
from certifit.design import as_design
from certifit.linear_model._base import name_coefficients, read_regression
from certifit.linear_model._lasso import UNFIT, scalar_is_none, warn_if_short
from certifit.linear_model._lasso_path import enet_path, lasso_path
from certifit.losses import Squared
from certifit.regularizers import ColumnNorms, Zero, mix_of_norms
from certifit.solvers import Solution
from certifit.solvers.dual import duality_proof, evidence_of
from certifit.solvers.least_squares import solve_least_squares
from certifit.solvers.multitask import solve_multitask

_CONSTRAINTS: dict[str, Any] = {
    "selection": [StrOptions({"cyclic", "random"})],
} | usual("alpha≥0 tol≥0 fit_intercept copy_X max_iter warm_start random_state")

LARGE = 200  # columns below which a fit is nearly exact, whatever the tolerance: it costs next to nothing
SMALL = 1e-9


@dataclass(eq=False, repr=False)
class MultiTaskLasso(Certified, MultiOutputMixin, LinearPredictions, RegressorMixin, BaseEstimator):
    r"""Lasso for several targets at once: a column is used for all targets or for none.

    .. math:: \frac1{2S}\sum_i s_i\lVert y_i - Wx_i - b\rVert^2 + \alpha\sum_j\lVert W_{\cdot j}\rVert_2

    with S the sum of the weights. The penalty is the sum of the lengths of the columns of W, one column for each
    feature. The offsets are not penalised.

    Parameters
    ----------
    alpha : float ≥ 0, default=1.0
        Strength of the penalty; 0 is least squares (solved as such).
    fit_intercept : bool, default=True
    copy_X, random_state, selection :
        Accepted for compatibility with scikit-learn: X is never changed, and the blocks are visited in order.
    max_iter : int ≥ 1, default=1000
        Largest number of passes over X; a handful is usually enough.
    tol : float ≥ 0, default=1e-4
        Stop when the duality gap is at most tol times the objective of the null model (W = 0).
    warm_start : bool, default=False
        Begin at the ``coef_`` of the previous fit.

    Attributes
    ----------
    coef_ : (t, d) array
    intercept_ : (t,) array
    sparse_coef_, dual_gap_, n_iter_ : as in scikit-learn
    solver_ : str
    certificate_ : Certificate
        The gap to the smallest possible training objective, by weak duality.

    See Also
    --------
    Lasso : fits the targets independently.

    References
    ----------
    Obozinski, Taskar, Jordan (2010), Joint covariate selection and joint subspace selection, Statistics and Computing.

    Examples
    --------
    >>> X, Y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]]), np.array([[1.0, 2.0], [3.0, 2.0], [5.5, 4.0]])
    >>> model = MultiTaskLasso(alpha=0.5).fit(X, Y)
    >>> model.coef_.round(3), model.certificate_.relative_gap < 1e-4
    (array([[1.565, 0.   ],
           [0.695, 0.   ]]), True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = _CONSTRAINTS
    path: ClassVar[Any] = staticmethod(lasso_path)
    l1_ratio = 1.0  # readable as in scikit-learn; not a parameter

    alpha: float = 1.0
    _: KW_ONLY
    fit_intercept: bool = True
    copy_X: bool = True
    max_iter: int = 1000
    tol: float = 1e-4
    warm_start: bool = False
    random_state: RandomState = None
    selection: str = "cyclic"

    def fit(self, X: Matrix, y: VectorLike, sample_weight: Weights = None) -> Any:
        """Fit to rows X (n, d), dense or sparse, and targets y (n, t), weighted by ``sample_weight``."""
        self._validate_params()
        sample_weight = scalar_is_none(sample_weight)
        X, Y, weights = read_regression(self, X, y, sample_weight)
        if Y.ndim == 1:
            raise ValueError(f"For mono-task outputs, use {type(self).__name__.removeprefix('MultiTask')}")
        start = None
        if self.warm_start and getattr(self, "coef_", np.empty(0)).shape == (Y.shape[1], X.shape[1]):
            start = np.asarray(self.coef_, dtype=float)
        try:
            with np.errstate(over="raise"):
                found = self._solve(as_design(X), Y, weights, start)
        except FloatingPointError:
            raise ValueError(UNFIT) from None
        if not all(np.all(np.isfinite(v)) for v in found.value):
            raise ValueError(UNFIT)
        name_coefficients(self, found.value, 2, X.dtype.type)
        self.dual_gap_ = X.dtype.type(found.stats["gap"])
        self.n_iter_ = int(found.stats["n_iter"])
        self.solver_ = found.stats["method"]
        warn_if_short(self, [found])
        self._promise_certificates(partial(self._prove, X, Y, sample_weight), X, Y, sample_weight)
        return self

    def _solve(self, design: Any, Y: Array, weights: Array | None, start: Array | None) -> Solution:
        total = float(len(Y) if weights is None else weights.sum())
        if self.alpha * self.l1_ratio == 0.0:
            strength = float(self.alpha) * total
            plain = solve_least_squares(design, Y, weights, alpha=strength, fit_intercept=self.fit_intercept)
            stats = {"gap": 0.0, "relative_gap": 0.0, "n_iter": 1, "method": plain.stats["method"]}
            return Solution(plain.value, plain.status, stats)
        tol = self.tol if design.shape[1] >= LARGE else min(self.tol, SMALL)
        many = solve_multitask(
            design, Y, np.array([float(self.alpha)]), float(self.l1_ratio), weights,
            fit_intercept=self.fit_intercept, tol=tol, start=start, max_iter=self.max_iter,
            polish=True,
        )  # fmt: skip
        stats = {
            "gap": float(many.stats["gap"][0]),
            "relative_gap": float(many.stats["relative_gap"][0]),
            "n_iter": int(many.stats["n_iter"][0]),
            "method": many.stats["method"],
        }
        return Solution((many.value[0][0], many.value[1][0]), many.status, stats)

    def _prove(self, X: Matrix, Y: Array, sample_weight: Weights) -> tuple[Certificate, ...]:
        data = Data.of(X, Y, sample_weight)
        offset, strength = bool(self.fit_intercept), float(self.alpha) * float(data.weights.sum())
        if self.alpha == 0.0:
            plain = Objective(Squared(), Zero(), 0.0, offset)
            return (issue("least-squares", data, evidence_of(plain, self.coef_, self.intercept_)),)
        regularizer = ColumnNorms(float(self.l1_ratio)) if self.l1_ratio > 0.0 else mix_of_norms(0.0)
        objective = Objective(Squared(0.5), regularizer, strength, offset)
        return (duality_proof(objective, data, evidence_of(objective, self.coef_, self.intercept_)),)

    @property
    def sparse_coef_(self) -> Any:
        """``coef_`` as a sparse matrix, one row per target."""
        check_is_fitted(self)
        return scipy.sparse.csr_matrix(self.coef_)

    _tags: ClassVar[Record] = {"input_tags.sparse": True, "target_tags.single_output": False}


@dataclass(kw_only=True, eq=False, repr=False)
class MultiTaskElasticNet(MultiTaskLasso):
    r"""Elastic net for several targets at once: a column is used for all targets or for none.

    .. math:: \frac1{2S}\sum_i s_i\lVert y_i - Wx_i - b\rVert^2
              + \alpha\Big(\rho\sum_j\lVert W_{\cdot j}\rVert_2 + \tfrac12(1-\rho)\lVert W\rVert_F^2\Big)

    Parameters
    ----------
    alpha : float ≥ 0, default=1.0
    l1_ratio : float in [0, 1], default=0.5
        ρ: 1 is the multi-task lasso, 0 is ridge (solved in closed form).
    fit_intercept, copy_X, max_iter, tol, warm_start, random_state, selection :
        As in `MultiTaskLasso`.

    Attributes
    ----------
    coef_, intercept_, sparse_coef_, dual_gap_, n_iter_, solver_, certificate_ : as in `MultiTaskLasso`

    Examples
    --------
    >>> X, Y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]]), np.array([[1.0, 2.0], [3.0, 2.0], [5.5, 4.0]])
    >>> MultiTaskElasticNet(alpha=0.5, tol=1e-10).fit(X, Y).coef_.round(3)
    array([[1.387, 0.   ],
           [0.617, 0.   ]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = _CONSTRAINTS | usual("l1_ratio")
    path: ClassVar[Any] = staticmethod(enet_path)

    l1_ratio: float = 0.5
