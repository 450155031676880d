"""Bayesian linear regression: the whole posterior, predictive intervals, and the evidence."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.stats
from sklearn.base import BaseEstimator, RegressorMixin

from certifit import certificates
from certifit._certified import Certified
from certifit._objective import Objective
from certifit._sklearn import ConvergenceWarning, read_weights, usual
from certifit._trace import Trace
from certifit._types import Array, Matrix, MatrixLike, VectorLike, Weights
from certifit._validation import check_is_fitted, validate_data
from certifit.bayes._evidence import Hyper, Spectral, maximise_evidence
from certifit.bayes._means import weighted_mean
from certifit.certificates import Certificate, Data
from certifit.losses import Squared
from certifit.regularizers import SquaredL2
from certifit.solvers import Solution
from certifit.solvers.dual import evidence_of


@dataclass(kw_only=True, eq=False, repr=False)
class BayesianLinearRegression(Certified, RegressorMixin, BaseEstimator):
    r"""Bayesian linear regression with a Gaussian prior on the weights.

    .. math:: y = w^\top \phi(x) + b + \varepsilon, \quad \varepsilon \sim N(0, 1/\alpha), \quad w \sim N(0, I/\lambda)

    The posterior of w is N(coef_, sigma_) with ``sigma_`` = (λI + αΦᵀΦ)⁻¹ and ``coef_`` = α sigma_ Φᵀy: the ridge
    solution with penalty λ/α. Both precisions are those of largest evidence p(y | α, λ) unless they are given.

    Parameters
    ----------
    basis : callable, default=None
        Turns rows into features φ(x), such as `Powers` or `Bumps`; the columns themselves when None.
    noise_precision : float > 0, default=None
        α, when the noise is known; chosen by the evidence when None.
    weight_precision : float > 0, default=None
        λ, when the prior is known; chosen by the evidence when None.
    max_iter : int ≥ 1, default=300
        Steps towards the largest evidence.
    tol : float > 0, default=1e-8
        Stop when the log evidence is stationary: its derivatives by log α and log λ are at most this, per row.
    alpha_1, alpha_2, lambda_1, lambda_2 : float ≥ 0, default=1e-6
        Shape and rate of the Gamma priors on α and λ.
    alpha_init, lambda_init : float > 0, default=None
        Where the steps start: 1/Var(y) and 1.
    compute_score : bool, default=False
        Keep the log evidence (with the Gamma priors) of every step in ``scores_``.
    fit_intercept : bool, default=True
        Whether there is an offset b, with a flat prior: columns are centred, and it has no variance of its own.
    trace : bool, default=False
        Keep every step in ``trace_``.
    time_budget : float > 0, default=None
        Time limit in seconds; the best solution so far is returned.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Posterior mean, also the most probable weights (MAP).
    intercept_ : float
    sigma_ : ndarray of shape (n_features, n_features)
        Posterior covariance of the weights.
    alpha_, lambda_ : float
        Precisions of noise and weights.
    log_evidence_ : float
        log p(y | α, λ).
    effective_parameters_ : float
        γ = d − λ tr(sigma_): how many weights the data determine.
    scores_ : ndarray
    n_iter_ : int
    status_ : str
        Why the steps ended: "converged", "precision", "max_iter" or "time_budget".
    trace_ : Trace
        With ``trace=True``: also ``alpha`` and ``lambda``; ``objective`` is the log evidence (with the Gamma priors).
    X_offset_ : ndarray of shape (n_features,)
    certificate_ : Certificate
        The weights are the ridge solution; a second one proves ``sigma_`` and the maximum of the evidence. With a
        basis they are about the features: ``certificate_.verify(model.features(X), y)``.

    Notes
    -----
    Names as in scikit-learn's BayesianRidge, which stops when the weights change little; here the iteration continues
    until the evidence is stationary. Not in certifit: ``copy_X`` (X is never overwritten), ``verbose`` (see
    ``trace``).

    References
    ----------
    D. J. C. MacKay, "Bayesian interpolation", Neural Computation 4 (1992). C. M. Bishop, *Pattern Recognition and
    Machine Learning*, sections 3.3 and 3.5 (2006).

    Examples
    --------
    >>> from certifit.bayes import BayesianLinearRegression
    >>> model = BayesianLinearRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0.1, 0.9, 2.1, 2.9])
    >>> mean, std = model.predict([[1.5]], return_std=True)
    >>> round(float(mean[0]), 3), model.certificate_.holds
    (1.5, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"basis": [callable, None]} | usual(
        "noise_precision>0? weight_precision>0? tol>0 alpha_init>0? lambda_init>0? alpha_1≥0 alpha_2≥0 lambda_1≥0 "
        "lambda_2≥0 max_iter compute_score fit_intercept trace time_budget"
    )

    basis: Callable[[Array], Array] | None = None
    noise_precision: float | None = None
    weight_precision: float | None = None
    max_iter: int = 300
    tol: float = 1e-8
    alpha_1: float = 1e-6
    alpha_2: float = 1e-6
    lambda_1: float = 1e-6
    lambda_2: float = 1e-6
    alpha_init: float | None = None
    lambda_init: float | None = None
    compute_score: bool = False
    fit_intercept: bool = True
    trace: bool = False
    time_budget: float | None = None

    def fit(self, X: MatrixLike, y: VectorLike, sample_weight: Weights = None) -> BayesianLinearRegression:
        """Find the posterior of the weights; a ``sample_weight`` of k is equivalent to k copies of a row."""
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        y = np.asarray(y, dtype=float)
        weight = read_weights(sample_weight, X)
        Phi = self.features(X)
        offset, middle = np.zeros(Phi.shape[1]), 0.0
        if self.fit_intercept:
            offset, middle = weighted_mean(Phi, weight), float(weighted_mean(y, weight))
        data = Spectral.of(Phi - offset, y - middle, weight)
        found = self._search(data, y, weight)
        self._name(data, found, offset, middle)
        if not found.converged:
            warnings.warn(
                f"The evidence was not yet stationary after {self.n_iter_} steps: raise max_iter or time_budget.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self._promise_certificates(lambda: self._prove(Phi, y, sample_weight), Phi, y, sample_weight)
        return self

    def features(self, X: Matrix) -> Array:
        """Rows as the model sees them: φ(x).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_columns)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        if self.basis is None:
            return np.asarray(X, dtype=float)
        Phi = np.asarray(self.basis(np.asarray(X, dtype=float)), dtype=float)
        if Phi.ndim != 2 or len(Phi) != len(X):
            raise ValueError(f"The basis must give one row of features per row; it gave shape {Phi.shape}.")
        if not np.isfinite(Phi).all():
            raise ValueError("The basis gave NaN or infinity: it does not suit these rows.")
        return Phi

    def _level(self) -> float:
        """The slope at which the evidence counts as level."""
        return self.tol

    def _search(self, data: Spectral, y: Array, weight: Array | None) -> Solution:
        variance = float(weighted_mean((y - weighted_mean(y, weight)) ** 2, weight))
        if not np.isfinite(variance):
            raise ValueError(
                "The squares of y, with their weights, are beyond the largest float: divide y or the weights."
            )
        alpha = self.noise_precision or self.alpha_init or 1.0 / (variance + np.finfo(float).eps)
        lam = self.weight_precision or self.lambda_init or 1.0
        free = (self.noise_precision is None, self.weight_precision is None)
        hyper = Hyper(self.alpha_1, self.alpha_2, self.lambda_1, self.lambda_2)
        start = float(alpha), float(lam)
        return maximise_evidence(data, hyper, start, free, self._level(), self.max_iter, self.time_budget)

    def _name(self, data: Spectral, found: Solution, offset: Array, middle: float) -> None:
        alpha, lam = found.value.alpha, found.value.lam
        c, _, _, gamma = data.fit(alpha, lam)
        self.coef_ = c @ data.V
        self.intercept_ = middle - float(offset @ self.coef_) if self.fit_intercept else 0.0
        self.sigma_ = data.covariance(alpha, lam)
        self.alpha_, self.lambda_, self.n_iter_, self.status_ = alpha, lam, found.stats["n_iter"], found.status
        self.log_evidence_ = data.log_evidence(alpha, lam)
        self.effective_parameters_ = gamma
        self.X_offset_ = offset
        if self.compute_score:
            self.scores_ = np.array(found.trace["objective"])
        self.trace_ = found.trace if self.trace else Trace()

    def predict(self, X: MatrixLike, return_std: bool = False) -> Any:
        """Mean (and standard deviation) of the predictive distribution.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_columns)
        return_std : bool, default=False

        Returns
        -------
        mean : ndarray of shape (n_samples,)
        std : ndarray of shape (n_samples,), only with ``return_std``
            Noise and uncertainty of the weights combined.
        """
        check_is_fitted(self, "coef_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        T = self.features(X) - self.X_offset_
        mean = T @ self.coef_ + (self.intercept_ + float(self.X_offset_ @ self.coef_))
        if not return_std:
            return mean
        return mean, np.sqrt(np.sum((T @ self.sigma_) * T, axis=1) + 1.0 / self.alpha_)

    def interval(self, X: Matrix, level: float = 0.95) -> tuple[Array, Array]:
        """Predictive interval: where a new observation falls with probability ``level``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_columns)
        level : float in (0, 1), default=0.95

        Returns
        -------
        low, high : ndarray of shape (n_samples,)
        """
        if not 0.0 < level < 1.0:
            raise ValueError(f"level must lie between 0 and 1, got {level}.")
        mean, std = self.predict(X, return_std=True)
        reach = float(scipy.stats.norm.ppf(0.5 + level / 2)) * std
        return mean - reach, mean + reach

    @property
    def posterior_(self) -> Any:
        """The posterior of the weights as a frozen SciPy distribution (``rvs`` draws lines)."""
        check_is_fitted(self, "coef_")
        return scipy.stats.multivariate_normal(self.coef_, self.sigma_, allow_singular=True)

    def _prove(self, Phi: Array, y: Array, sample_weight: Weights) -> Iterator[Certificate]:
        data = Data.of(Phi, y, sample_weight)
        digest = data.digest()
        shared = {"coef": self.coef_, "intercept": self.intercept_, "fit_intercept": bool(self.fit_intercept)}
        penalised = Objective(Squared(), SquaredL2(), self.lambda_ / self.alpha_, bool(self.fit_intercept))
        ridge = evidence_of(penalised, self.coef_, self.intercept_)
        free = [
            name
            for name, given in (("alpha", self.noise_precision), ("lambda", self.weight_precision))
            if given is None
        ]
        maximum = shared | {
            "sigma": self.sigma_,
            "alpha": self.alpha_,
            "lambda": self.lambda_,
            "hyper": [float(v) for v in (self.alpha_1, self.alpha_2, self.lambda_1, self.lambda_2)],
            "free": free,
            "centre": self.X_offset_,
        }
        yield certificates.issue("least-squares", data, ridge, digest=digest)
        yield certificates.issue("evidence-maximum", data, maximum, digest=digest)
