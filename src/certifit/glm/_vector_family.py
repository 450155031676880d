r"""Exponential families with several parameters: :math:`p(y;\eta) = b(y)\exp(\eta^\top T(y) - a(\eta))`.

T(y) and η are vectors. Everything follows from a, as with one parameter: E[T(y)] = ∇a(η), Cov[T(y)] = ∇²a(η), and the
likelihood is largest where the expected statistics equal the observed means. a is convex, so that the maximum, where it
exists, is one point. The certificate proves the likelihood equations: expected and observed statistics agree over the
rows, also times every column.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from certifit._types import Array, MatrixLike, Record, VectorLike
from certifit.certificates import Certificate, Data, issue
from certifit.exceptions import NoOptimumError

_STEPS = 200


@dataclass(frozen=True)
class VectorFamily:
    r"""A family :math:`p(y;\eta) = b(y)\exp(\eta^\top T(y) - a(\eta))` with vectors T(y) and η.

    That ``mean`` is the gradient of a, and ``covariance`` its second derivative, is checked around ``start`` when the
    family is made, and (where a discrete ``support`` is given) that the probabilities sum to one with that mean.

    Parameters
    ----------
    name : str
    statistic : callable
        T: from n values of y to an array of shape (n, k).
    a : callable
        The log-partition function of η (k,); +inf outside its domain.
    mean, covariance : callable
        ∇a, of shape (k,), and ∇²a, of shape (k, k), as functions of η.
    start : array-like of shape (k,)
        Some η inside the domain.
    log_b : callable, default=None
        log b(y), for likelihoods; 0 when None.
    support : array, default=None
        The values of a discrete y.

    Examples
    --------
    A normal distribution with unknown mean and variance: T(y) = (y, y²), η = (μ/σ², −1/(2σ²)).

    >>> normal = VectorFamily(
    ...     "normal", statistic=lambda y: np.column_stack([y, y**2]),
    ...     a=lambda e: -e[0] ** 2 / (4 * e[1]) - 0.5 * np.log(-2 * e[1]) if e[1] < 0 else np.inf,
    ...     mean=lambda e: np.array([-e[0] / (2 * e[1]), e[0] ** 2 / (4 * e[1] ** 2) - 1 / (2 * e[1])]),
    ...     covariance=lambda e: np.array([[-e[1], e[0]], [e[0], 1 - e[0] ** 2 / e[1]]]) / (2 * e[1] ** 2),
    ...     start=[0.0, -0.5], log_b=lambda y: np.full(len(y), -0.5 * np.log(2 * np.pi)))
    >>> fit = normal.fit([1.0, 2.0, 4.0, 5.0])
    >>> mu, variance = -fit.eta[0] / (2 * fit.eta[1]), -1 / (2 * fit.eta[1])
    >>> round(float(mu), 6), round(float(variance), 6), fit.residual < 1e-9
    (3.0, 2.5, True)
    """

    name: str
    statistic: Callable[[Array], Array]
    a: Callable[[Array], Any]
    mean: Callable[[Array], Array]
    covariance: Callable[[Array], Array]
    start: Any
    log_b: Callable[[Array], Array] | None = None
    support: Any = field(default=None, compare=False)

    def __post_init__(self) -> None:
        start = np.atleast_1d(np.asarray(self.start, dtype=float))
        object.__setattr__(self, "start", start)
        rng = np.random.default_rng(0)
        points = [start, *(start + 0.1 * rng.normal(size=(20, len(start))))]
        inside = [e for e in points if np.isfinite(self.a(e))]
        if not inside or not np.isfinite(self.a(start)):
            raise ValueError(f"Family {self.name!r}: a is not finite at start.")
        for e in inside[:8]:
            self._check(e)

    def _check(self, e: Array) -> None:
        h, k = 1e-5, len(e)
        steps = h * np.eye(k)
        slope = np.array([(self.a(e + s) - self.a(e - s)) / (2 * h) for s in steps])
        bend = np.array([(self.mean(e + s) - self.mean(e - s)) / (2 * h) for s in steps])
        if np.shape(self.mean(e)) != (k,) or not np.allclose(self.mean(e), slope, rtol=1e-4, atol=1e-6):
            raise ValueError(f"Family {self.name!r}: mean is not the gradient of a.")
        if np.shape(self.covariance(e)) != (k, k) or not np.allclose(self.covariance(e), bend, rtol=1e-4, atol=1e-5):
            raise ValueError(f"Family {self.name!r}: covariance is not the second derivative of a.")
        if self.support is not None:
            y = np.asarray(self.support)
            p = np.exp(self.log_density(y, e))
            if not (np.isclose(p.sum(), 1.0, atol=1e-4) and np.allclose(p @ self._T(y), self.mean(e), rtol=1e-3)):
                raise ValueError(f"Family {self.name!r}: b(y)exp(ηᵀT(y) − a(η)) does not sum to one with mean ∇a(η).")

    def _T(self, y: VectorLike) -> Array:
        found = np.asarray(self.statistic(np.asarray(y)), dtype=float)
        if found.ndim != 2 or found.shape[1] != len(self.start):
            raise ValueError(f"statistic must return {len(self.start)} numbers for each y; its shape is {found.shape}.")
        return found

    def log_density(self, y: VectorLike, eta: MatrixLike) -> Array:
        """log p(y; η), for one η or one for each y.

        Parameters
        ----------
        y : array-like of shape (n,)
        eta : array-like of shape (k,) or (n, k)
        """
        e = np.asarray(eta, dtype=float)
        T = self._T(y)
        level = self.a(e) if e.ndim == 1 else np.array([self.a(row) for row in e])
        base = 0.0 if self.log_b is None else self.log_b(np.asarray(y))
        return np.asarray(base + T @ e - level if e.ndim == 1 else base + (T * e).sum(axis=1) - level)

    def fit(self, y: VectorLike, sample_weight: VectorLike | None = None) -> VectorFit:
        """Maximum likelihood: the η whose expected statistics are the observed means.

        Parameters
        ----------
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), default=None
        """
        return self.regress(np.zeros((len(np.asarray(y)), 0)), y, sample_weight)

    def regress(self, X: MatrixLike, y: VectorLike, sample_weight: VectorLike | None = None) -> VectorFit:
        """The generalized linear model with ηₖ = θₖ·x + bₖ for each of the parameters, by maximum likelihood.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), default=None

        Returns
        -------
        VectorFit
        """
        Z = np.asarray(X, dtype=float)
        T = self._T(y)
        w = np.ones(len(T)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        if Z.ndim != 2 or len(Z) != len(T) or w.shape != (len(T),) or not np.all(np.isfinite(Z)) or np.any(w < 0):
            raise ValueError("X, y and sample_weight must contain one finite row, value and weight ≥ 0 for each other.")
        if not np.all(np.isfinite(T)) or not w.sum() > 0:
            raise ValueError("T(y) must be finite, and some weight positive.")
        shares = w / w.sum()
        base = 0.0 if self.log_b is None else float(shares @ self.log_b(np.asarray(y)))
        found = _newton(self, np.column_stack([Z, np.ones(len(T))]), T, shares, base)
        data = Data.of(Z, y, sample_weight) if Z.shape[1] else Data.of(np.asarray(y)[:, None], None, sample_weight)
        expected = np.array([self.mean(e) for e in found.natural(Z)])
        evidence = {"family": self.name, "statistics": T, "expected": expected, "coef": found.coef,
                    "intercept": found.intercept}  # fmt: skip
        return replace(found, proof=(data, evidence))


@dataclass(frozen=True)
class VectorFit:
    r"""What `VectorFamily.fit` and `regress` find: :math:`\eta_k = \theta_k\cdot x + b_k` of largest likelihood.

    Attributes
    ----------
    coef : (k, d) array
    intercept : (k,) array
        ηₖ = coefₖ·x + interceptₖ.
    log_likelihood : float
        The mean over the rows.
    residual : float
        The largest difference between expected and observed mean of a statistic, or of a statistic times a column.
    decrement : float
        Half the squared Newton decrement: an estimate of how much the mean log-likelihood could still increase.
    n_iter : int
    proof : tuple
        Data and evidence of the certificate.
    certificate_ : Certificate
        The likelihood equations; for a fit without columns, y is the only column.

    Examples
    --------
    >>> VectorFit(np.zeros((2, 0)), np.array([1.0, -2.0]), 0.0, 0.0, 0.0, 3).eta.tolist()
    [1.0, -2.0]
    """

    coef: Array
    intercept: Array
    log_likelihood: float
    residual: float
    decrement: float
    n_iter: int
    proof: tuple[Data, Record] | None = field(default=None, repr=False, compare=False)

    @property
    def certificate_(self) -> Certificate:
        """Proof that expected and observed statistics agree over the rows."""
        if self.proof is None:
            raise AttributeError("Only a fit by VectorFamily.fit or regress has a certificate.")
        return issue("likelihood-equations", *self.proof)

    @property
    def eta(self) -> Array:
        """η of a fit without columns."""
        if self.coef.shape[1]:
            raise AttributeError("η depends on x here: natural(X) computes it.")
        return self.intercept

    def natural(self, X: MatrixLike) -> Array:
        """η for each row, of shape (n, k).

        Parameters
        ----------
        X : array-like of shape (n, d)
        """
        return np.asarray(X, dtype=float) @ self.coef.T + self.intercept


def _newton(family: VectorFamily, W: Array, T: Array, w: Array, base: float) -> VectorFit:
    """Newton's method on the mean of a(η) − ηᵀT(y), convex in Θ; steps are halved until it falls."""
    k, p = T.shape[1], W.shape[1]
    theta = np.zeros((k, p))
    theta[:, -1] = family.start

    def value(theta: Array) -> float:
        eta = W @ theta.T
        levels = np.array([float(family.a(e)) for e in eta])
        return float(w @ (levels - (eta * T).sum(axis=1))) if np.all(np.isfinite(levels)) else np.inf

    def slopes(theta: Array) -> Array:
        """Expected minus observed mean of every statistic times every column."""
        off = np.array([family.mean(e) for e in W @ theta.T]) - T
        return (off * w[:, None]).T @ W

    now, steps, decrement, slope = value(theta), 0, np.inf, slopes(theta)
    while steps < _STEPS:
        steps += 1
        curves = np.array([family.covariance(e) for e in W @ theta.T])
        H = np.einsum("i,iab,ij,il->ajbl", w, curves, W, W).reshape(k * p, k * p)
        step = np.linalg.lstsq(H, slope.ravel(), rcond=1e-13)[0].reshape(k, p)
        decrement = 0.5 * float(np.sum(slope * step))
        if decrement <= 1e-15 * (1.0 + abs(now)):  # too little to be seen in the value; in the slopes it is seen
            after = slopes(theta - step)
            if np.abs(after).max() < np.abs(slope).max():
                theta, slope = theta - step, after
            break
        size = 1.0
        while size > 1e-12 and not value(theta - size * step) <= now - 0.2 * size * decrement:
            size *= 0.5
        if size <= 1e-12 or not np.all(np.abs(theta) < 1e8):
            break
        theta = theta - size * step
        now, slope = value(theta), slopes(theta)
    residual = float(np.abs(slope).max())
    if residual > 1e-5 * (1.0 + float(np.abs(T).max())) or not np.all(np.abs(theta) < 1e8):
        raise NoOptimumError(
            f"The likelihood of family {family.name!r} has no maximum that could be found: expected and observed "
            f"statistics still differ by {residual:.2g}. They may lie on the boundary of what is "
            "possible."
        )
    return VectorFit(theta[:, :-1], theta[:, -1], base - value(theta), residual, decrement, steps)
