"""Bayesian ridge regression under scikit-learn's name and with its parameters."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from certifit._sklearn import usual
from certifit._types import Matrix, VectorLike, Weights
from certifit.bayes._linear import BayesianLinearRegression

_LEVEL = 1e-8  # slope of the log evidence, per row, at which it counts as level


class BayesianRidge(BayesianLinearRegression):
    r"""Ridge regression whose noise and prior precision have the largest evidence.

    .. math:: y = w^\top x + b + \varepsilon, \quad \varepsilon \sim N(0, 1/\alpha), \quad w \sim N(0, I/\lambda)

    .. math:: \hat\alpha, \hat\lambda = \arg\max\ p(y \mid \alpha, \lambda)\,p(\alpha)\,p(\lambda)

    `BayesianLinearRegression` on the columns themselves. scikit-learn stops when coefficients change by less than
    ``tol``; here the evidence is maximised until it is stationary, and the certificate bounds its slope.

    Parameters
    ----------
    max_iter : int ≥ 1, default=300
    tol : float > 0, default=1e-3
        Only values below 1e-8 have an effect: they require a smaller slope of the log evidence per row.
    alpha_1, alpha_2, lambda_1, lambda_2 : float ≥ 0, default=1e-6
        Shape and rate of the Gamma priors on α and λ.
    alpha_init, lambda_init : float ≥ 0, default=None
        Where the steps start: 1/Var(y) and 1.
    compute_score : bool, default=False
        Keep the log evidence of every step in ``scores_``.
    fit_intercept : bool, default=True
    copy_X, verbose :
        Accepted for compatibility with scikit-learn and ignored.

    Attributes
    ----------
    coef_, intercept_, alpha_, lambda_, sigma_, n_iter_, X_offset_ : as in `BayesianLinearRegression`
    scores_ : (n_iter_ + 1,) array
    X_scale_ : (d,) array
        Ones.
    certificate_ : Certificate
        The gap of the coefficients as ridge regression with penalty λ/α; the second one is about the evidence.

    Examples
    --------
    >>> X, y = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]), np.array([0.0, 1.0, 2.0])
    >>> model = BayesianRidge().fit(X, y)
    >>> model.predict([[1.0, 1.0]]).round(6), model.certificate_.holds
    (array([1.]), True)
    """

    basis = None
    noise_precision = None
    weight_precision = None
    trace = False
    time_budget = None

    _parameter_constraints: ClassVar[dict[str, Any]] = usual(
        "tol>0 alpha_1≥0 alpha_2≥0 lambda_1≥0 lambda_2≥0 alpha_init≥0? lambda_init≥0? max_iter compute_score "
        "fit_intercept copy_X verbose"
    )

    def __init__(
        self,
        *,
        max_iter: int = 300,
        tol: float = 1e-3,
        alpha_1: float = 1e-6,
        alpha_2: float = 1e-6,
        lambda_1: float = 1e-6,
        lambda_2: float = 1e-6,
        alpha_init: float | None = None,
        lambda_init: float | None = None,
        compute_score: bool = False,
        fit_intercept: bool = True,
        copy_X: bool = True,
        verbose: bool = False,
    ) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.alpha_1 = alpha_1
        self.alpha_2 = alpha_2
        self.lambda_1 = lambda_1
        self.lambda_2 = lambda_2
        self.alpha_init = alpha_init
        self.lambda_init = lambda_init
        self.compute_score = compute_score
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.verbose = verbose

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Mean of the predictive distribution for rows X, and with ``return_std`` its standard deviation.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_columns)
        return_std : bool, default=False
        """
        found = super().predict(X, return_std)
        if self.coef_.dtype != np.float32 or getattr(X, "dtype", None) != np.float32:
            return found
        return tuple(part.astype(np.float32) for part in found) if return_std else found.astype(np.float32)

    def _level(self) -> float:
        return min(self.tol, _LEVEL)

    def fit(self, X: Matrix, y: VectorLike, sample_weight: Weights = None) -> BayesianRidge:
        """Find the posterior of the weights; a ``sample_weight`` of k is equivalent to k copies of a row."""
        super().fit(X, y, sample_weight)
        self.X_scale_ = np.ones(self.n_features_in_)
        if self.compute_score:
            self.n_iter_ = len(self.scores_) - 1
        else:
            self.scores_ = np.empty(0)
        if getattr(X, "dtype", None) == np.float32:  # kept as it came, as scikit-learn does
            for name in ("coef_", "sigma_", "X_offset_", "X_scale_"):
                setattr(self, name, getattr(self, name).astype(np.float32))
            self.intercept_ = float(np.float32(self.intercept_))
        return self
