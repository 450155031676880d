"""Ordinary least squares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import scipy.linalg
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin

from certifit._certified import Certified
from certifit._linear_scores import LinearPredictions
from certifit._objective import Objective
from certifit._sklearn import usual
from certifit._types import Array, Matrix, Record, VectorLike, Weights
from certifit._validation import check_is_fitted
from certifit.certificates import Certificate, Data, issue
from certifit.design import Design, MomentSums, as_design
from certifit.inference import Scatter, Summary, least_squares_summary
from certifit.linear_model._base import (
    feature_names,
    name_coefficients,
    read_regression,
    sharpest_first,
)
from certifit.linear_model._folds import ridge_answers
from certifit.losses import Squared
from certifit.parallel import one_thread
from certifit.regularizers import NonNegative, Zero
from certifit.solvers import Solution, solve_least_squares
from certifit.solvers.dual import duality_proof, evidence_of


@dataclass(kw_only=True, eq=False, repr=False)
class LinearRegression(Certified, MultiOutputMixin, LinearPredictions, RegressorMixin, BaseEstimator):
    r"""Ordinary least squares: minimise :math:`\frac1S\sum_i s_i\,(y_i - w\cdot x_i - b)^2`.

    Columns are centred and scaled inside the solver. Cholesky is used where the condition number allows it, QR with
    residuals in twice the working precision where it does not, and the solution of least norm where columns are
    dependent; ``solver_`` says which.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit the offset b.
    copy_X, tol, n_jobs :
        Accepted for compatibility with scikit-learn; X is never changed, the solution is always as accurate as
        possible, and the linear algebra uses all cores.
    positive : bool, default=False
        Require w ≥ 0.

    Attributes
    ----------
    coef_ : (d,) or (t, d) array
    intercept_ : float or (t,) array
    rank_ : int
    singular_ : array
        Singular values of the centred X.
    solver_ : str
        The method used: "cholesky", "qr", "svd", "lsmr" or "active set".
    condition_ : float
        Condition number of the centred, column-scaled X (an estimate).
    certificate_ : Certificate
        The gap to the smallest possible training objective, and the digits of the coefficients that are proved.

    See Also
    --------
    certifit.linear_model.Ridge : the same with a penalty.

    References
    ----------
    Björck (1967), Iterative refinement of linear least squares solutions, BIT 7.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.5])
    >>> model = LinearRegression().fit(X, y)
    >>> model.coef_, round(float(model.intercept_), 6)
    (array([2.25]), 0.916667)
    >>> model.certificate_.holds, model.certificate_.relative_gap < 1e-15
    (True, True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "tol": "no_validation",
        "n_jobs": "no_validation",
    } | usual("fit_intercept copy_X positive")

    fit_intercept: bool = True
    copy_X: bool = True
    tol: float = 1e-6
    n_jobs: int | None = None
    positive: bool = False

    def fit(self, X: Matrix, y: VectorLike, sample_weight: Weights = None) -> LinearRegression:
        """Fit to rows X (n, d) and targets y (n,) or (n, t), weighted by ``sample_weight``."""
        self._validate_params()
        sums = None if self.positive else MomentSums(self.fit_intercept)
        X, y, weights = read_regression(self, X, y, sample_weight, sums=sums)
        design, Y = as_design(X), y.reshape(len(y), -1)
        solution = solve_least_squares(
            design, Y, weights, fit_intercept=self.fit_intercept, positive=self.positive, sums=sums
        )
        name_coefficients(self, solution.value, y.ndim, X.dtype.type)
        self.solver_, self.condition_ = solution.stats["method"], solution.stats["condition"]
        self.rank_ = solution.stats["rank"]
        self._remember(design, Y, weights, solution)
        objective = Objective(
            Squared(), NonNegative(Zero()) if self.positive else Zero(), 0.0, bool(self.fit_intercept)
        )
        evidence = evidence_of(objective, self.coef_, self.intercept_)
        if self.positive:
            self._promise_certificates(
                partial(_signed_proofs, objective, evidence, X, y, sample_weight), X, y, sample_weight
            )
        else:
            self._promise_certificate("least-squares", evidence, X, y, sample_weight)
        return self

    def _remember(self, design: Design, Y: Array, weights: Array | None, solution: Solution) -> None:
        """Keep the few numbers that `summary` and ``singular_`` need."""
        W, b = solution.value
        rss, tss = solution.stats.get("rss"), solution.stats.get("tss")
        if rss is None or tss is None:
            s = np.ones(len(Y)) if weights is None else weights
            with one_thread(), np.errstate(over="ignore", invalid="ignore"):
                if tss is None:
                    tss = s @ np.square(Y - (s @ Y / s.sum() if self.fit_intercept else 0.0))
                if rss is None:
                    rss = s @ np.square(Y - design.product(W.T) - b)
        self._statistics = {
            "factor": solution.stats.get("factor"),
            "rows": len(Y) if weights is None else int((weights > 0).sum()),
            "rss": rss,
            "tss": tss,
            "log_weights": 0.0 if weights is None else float(np.log(weights[weights > 0]).sum()),
        }

    @property
    def singular_(self) -> Array:
        """Singular values of the centred X (of full rank)."""
        check_is_fitted(self)
        factor = self._statistics["factor"]
        if factor is None:
            raise AttributeError("singular_ is not available: the columns are dependent or the fit was iterative.")
        return np.asarray(1.0 / scipy.linalg.svdvals(factor.T)[::-1])

    def summary(self) -> Summary:
        """Coefficients with standard errors, t, p and intervals; R², F and likelihood, as R and statsmodels print.

        Weights count as inverse variances (R's ``lm``): degrees of freedom are counted in rows.
        """
        check_is_fitted(self)
        if np.ndim(self.coef_) > 1:
            raise ValueError("summary() is for one target; fit the targets one at a time.")
        if self.positive:
            raise ValueError(
                "summary() is for unconstrained least squares; standard errors with positive=True do not exist."
            )
        stats = self._statistics
        factor = stats["factor"]
        if factor is None:
            raise ValueError("The columns are dependent: single coefficients, and so their errors, are not determined.")
        scatter = Scatter(stats["rows"], float(stats["rss"][0]), float(stats["tss"][0]), stats["log_weights"])
        offset = float(self.intercept_) if self.fit_intercept else None
        return least_squares_summary(feature_names(self), np.asarray(self.coef_, dtype=float), offset, factor, scatter)

    _fold_path = ridge_answers  # shared work for `certifit.model_selection`


def _signed_proofs(objective: Objective, evidence: Record, *given: Any) -> Iterator[Certificate]:
    """By the gradient, and by duality, which nearly dependent columns do not make useless."""
    data = Data.of(*given)
    same = replace(objective, strength=1.0)  # a penalty that is zero may have any strength; dual variables need one

    def by_duality() -> Certificate:
        return duality_proof(same, data, evidence | {"objective": same.to_dict()})

    yield from sharpest_first(issue("least-squares", data, evidence), by_duality)
