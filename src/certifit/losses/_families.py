r"""Exponential families :math:`p(y;\eta) = b(y)\exp(\eta\,T(y) - a(\eta))` and links.

T(y) = y throughout. Everything follows from a: the mean is a′(η), the variance (up to dispersion) a″(η), and the
canonical link is the inverse of a′. Half the unit deviance, ½d(y, μ), is what a GLM's mean loss is made of.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import expit, gammaln, logit, ndtr, ndtri, xlogy

from certifit._types import Array, Numeric
from certifit.losses._base import sigmoid

Function = Callable[[Any], Any]


@dataclass(frozen=True)
class Link:
    """η = g(μ): the link, its inverse, dμ/dη, and the means it can reach.

    Attributes
    ----------
    name : str
    link, inverse, derivative : callable
        g(μ), μ(η) and dμ/dη.

    Examples
    --------
    >>> double = Link("double", lambda mu: 2 * mu, lambda eta: eta / 2, lambda eta: 0.5 + 0 * eta)
    >>> double.inverse(double.link(3.0))
    3.0
    """

    name: str
    link: Function
    inverse: Function
    derivative: Function  # dμ/dη as a function of η


_SQRT = np.sqrt(2.0 * np.pi)


LINKS: dict[str, Link] = {
    link.name: link
    for link in (
        Link("identity", lambda m: m + 0.0, lambda e: e + 0.0, np.ones_like),
        Link("log", np.log, lambda e: np.exp(np.minimum(e, 700.0)), lambda e: np.exp(np.minimum(e, 700.0))),
        Link("logit", logit, sigmoid, lambda e: expit(e) * expit(-e)),
        Link("probit", ndtri, ndtr, lambda e: np.exp(-0.5 * np.square(e)) / _SQRT),
        Link(
            "cloglog",
            lambda m: np.log(-np.log1p(-m)),
            lambda e: -np.expm1(-np.exp(np.minimum(e, 700.0))),
            lambda e: np.exp(np.minimum(e, 700.0) - np.exp(np.minimum(e, 700.0))),
        ),
        Link("inverse", lambda m: 1.0 / m, lambda e: 1.0 / e, lambda e: -1.0 / np.square(e)),
        Link("inverse_squared", lambda m: m**-2.0, lambda e: e**-0.5, lambda e: -0.5 * e**-1.5),
    )
}


@dataclass(frozen=True)
class ExponentialFamily:
    r"""A family :math:`p(y;\eta) = b(y)\exp(\eta y - a(\eta))`, given by a and its two derivatives.

    Mean, variance and canonical link are derived; that ``mean`` is a′ and ``variance`` a″ is checked when the family is
    made, and (where ``log_b`` and a discrete ``support`` are given) that the probabilities sum to one with that mean.

    Parameters
    ----------
    name : str
    a : callable
        The log-partition function of η.
    mean, variance : callable
        a′ and a″ as functions of η.
    natural : (low, high)
        The open interval of η; also where the check is made (cut to [−5, 5]).
    means : (low, high)
        The open interval of possible means.
    values : (low, high)
        The closed interval of possible y.
    log_b : callable, default=None
        log b(y), for likelihoods.
    support : array, default=None
        The values of a discrete y that carry nearly all probability in the checked range of η.

    Examples
    --------
    Failures before the first success, η = log(1 − p):

    >>> geometric = ExponentialFamily(
    ...     "geometric",
    ...     a=lambda eta: -np.log(-np.expm1(eta)),
    ...     mean=lambda eta: np.exp(eta) / -np.expm1(eta),
    ...     variance=lambda eta: np.exp(eta) / np.expm1(eta) ** 2,
    ...     natural=(-np.inf, 0.0), means=(0.0, np.inf), values=(0.0, np.inf),
    ...     log_b=lambda y: 0.0 * y, support=np.arange(2000),
    ... )
    >>> round(float(geometric.canonical(np.array(1.0))), 6)
    -0.693147
    """

    name: str
    a: Function
    mean: Function
    variance: Function
    natural: tuple[float, float] = (-np.inf, np.inf)
    means: tuple[float, float] = (-np.inf, np.inf)
    values: tuple[float, float] = (-np.inf, np.inf)
    log_b: Function | None = None
    support: Any = field(default=None, compare=False)

    def __post_init__(self) -> None:
        low, high = max(self.natural[0], -5.0), min(self.natural[1], 5.0)
        edge = 0.05 * (high - low)
        eta = np.linspace(low + edge, high - edge, 21)
        h = 1e-4
        slope = (self.a(eta + h) - self.a(eta - h)) / (2 * h)
        bend = (self.mean(eta + h) - self.mean(eta - h)) / (2 * h)
        if not np.allclose(self.mean(eta), slope, rtol=1e-4, atol=1e-6):
            raise ValueError(f"Family {self.name!r}: mean is not the derivative of a.")
        if not np.allclose(self.variance(eta), bend, rtol=1e-4, atol=1e-6):
            raise ValueError(f"Family {self.name!r}: variance is not the second derivative of a.")
        if self.log_b is not None and self.support is not None:
            y = np.asarray(self.support, dtype=float)
            for e in eta[:: len(eta) // 4]:
                p = np.exp(self.log_b(y) + e * y - self.a(e))
                if not (np.isclose(p.sum(), 1.0, atol=1e-4) and np.isclose(p @ y, self.mean(e), rtol=1e-3)):
                    raise ValueError(f"Family {self.name!r}: b(y)exp(ηy − a(η)) does not sum to one with mean a′(η).")
        FAMILIES[self.name] = self

    def canonical(self, mu: Numeric) -> Array:
        """η with a′(η) = μ, by bisection (a′ grows).

        Parameters
        ----------
        mu : array
            Means μ inside ``means``.
        """
        mu = np.asarray(mu, dtype=float)
        low = np.full(mu.shape, max(self.natural[0], -700.0))
        high = np.full(mu.shape, min(self.natural[1], 700.0))
        with np.errstate(all="ignore"):
            for _ in range(200):
                middle = 0.5 * (low + high)
                above = self.mean(middle) > mu
                high, low = np.where(above, middle, high), np.where(above, low, middle)
        return 0.5 * (low + high)

    def canonical_link(self) -> Link:
        """The link for which η is the natural parameter."""
        return Link("canonical", self.canonical, self.mean, self.variance)

    def variance_of(self, mu: Array) -> Array:
        """V(μ) = a″(η(μ)).

        Parameters
        ----------
        mu : array
            Means μ inside ``means``.
        """
        return self.variance(self.canonical(mu))

    def half_deviance(self, y: Numeric, mu: Array) -> Array:
        """½d(y, μ) = [yη_y − a(η_y)] − [yη − a(η)], with η_y the parameter whose mean is y.

        Parameters
        ----------
        y, mu : arrays of one shape
            Values and means.
        """
        y = np.asarray(y, dtype=float)
        eta = self.canonical(mu)
        low, high = self.means
        inside = np.clip(y, low + 1e-12 if np.isfinite(low) else low, high - 1e-12 if np.isfinite(high) else high)
        own = self.canonical(inside)
        return np.maximum((y * own - self.a(own)) - (y * eta - self.a(eta)), 0.0)


FAMILIES: dict[str, ExponentialFamily] = {}


@dataclass(frozen=True)
class Dispersed:
    """How a built-in family is used in a GLM: closed forms instead of bisection, and R's likelihood."""

    name: str
    link: str
    variance_of: Function
    half_deviance: Callable[[Any, Any], Any]
    log_likelihood: Callable[[Array, Array, Array, float], float]
    values: tuple[float, float, bool]  # low, high, whether low itself is allowed
    free_dispersion: bool
    params: dict[str, float] = field(default_factory=dict)


def _gaussian_ll(y: Array, mu: Array, w: Array, dispersion: float) -> float:
    n = len(y)
    rss = float(w @ np.square(y - mu))
    return -0.5 * (n * np.log(2 * np.pi * rss / n) + n - float(np.log(w).sum()))


def _gamma_ll(y: Array, mu: Array, w: Array, dispersion: float) -> float:
    shape = 1.0 / dispersion
    terms = shape * np.log(shape * y / mu) - shape * y / mu - np.log(y) - gammaln(shape)
    return float(w @ terms)


def _inverse_gaussian_ll(y: Array, mu: Array, w: Array, dispersion: float) -> float:
    total = w.sum()
    return -0.5 * float(total * (np.log(dispersion * 2 * np.pi) + 1.0) + 3.0 * w @ np.log(y))


def _binomial_ll(y: Array, mu: Array, w: Array, dispersion: float) -> float:
    hits = w * y
    constant = gammaln(w + 1) - gammaln(hits + 1) - gammaln(w - hits + 1)
    return float(np.sum(constant + xlogy(hits, mu) + xlogy(w - hits, 1 - mu)))


BUILT_IN: dict[str, Dispersed] = {
    f.name: f
    for f in (
        Dispersed(
            "gaussian",
            "identity",
            np.ones_like,
            lambda y, m: 0.5 * np.square(y - m),
            _gaussian_ll,
            (-np.inf, np.inf, True),
            True,
        ),
        Dispersed(
            "binomial",
            "logit",
            lambda m: m * (1.0 - m),
            lambda y, m: xlogy(y, y) + xlogy(1 - y, 1 - y) - xlogy(y, m) - xlogy(1 - y, 1 - m),
            _binomial_ll,
            (0.0, 1.0, True),
            False,
        ),
        Dispersed(
            "poisson",
            "log",
            lambda m: m + 0.0,
            lambda y, m: xlogy(y, y) - xlogy(y, m) - y + m,
            lambda y, m, w, d: float(w @ (xlogy(y, m) - m - gammaln(y + 1))),
            (0.0, np.inf, True),
            False,
        ),
        Dispersed(
            "gamma",
            "inverse",
            np.square,
            lambda y, m: np.log(m / y) + y / m - 1.0,
            _gamma_ll,
            (0.0, np.inf, False),
            True,
        ),
        Dispersed(
            "inverse_gaussian",
            "inverse_squared",
            lambda m: m**3.0,
            lambda y, m: 0.5 * np.square(y - m) / (np.square(m) * y),
            _inverse_gaussian_ll,
            (0.0, np.inf, False),
            True,
        ),
    )
}


def negative_binomial(dispersion: float) -> Dispersed:
    """The negative binomial with V(μ) = μ + dispersion·μ² (link log by default)."""
    k = 1.0 / dispersion

    def half_deviance(y: Numeric, m: Numeric) -> Numeric:
        return xlogy(y, y) - xlogy(y, m) - (y + k) * (np.log(y + k) - np.log(m + k))

    def log_likelihood(y: Array, m: Array, w: Array, d: float) -> float:
        terms = gammaln(y + k) - gammaln(k) - gammaln(y + 1) + k * np.log(k / (k + m)) + xlogy(y, m / (k + m))
        return float(w @ terms)

    return Dispersed(
        "negative_binomial",
        "log",
        lambda m: m + dispersion * np.square(m),
        half_deviance,
        log_likelihood,
        (0.0, np.inf, True),
        False,
        {"dispersion": dispersion},
    )


def tweedie(power: float) -> Dispersed:
    """The Tweedie family with V(μ) = μ^power, power below 0 or above 1 and not 2 (link log)."""

    def half_deviance(y: Numeric, m: Numeric) -> Numeric:
        p = power
        own = np.power(np.maximum(y, 0.0), 2 - p) / ((1 - p) * (2 - p))
        return own - y * np.power(m, 1 - p) / (1 - p) + np.power(m, 2 - p) / (2 - p)

    def no_likelihood(y: Array, m: Array, w: Array, d: float) -> float:
        return float("nan")

    values = (-np.inf if power < 0.0 else 0.0, np.inf, power < 2.0)
    return Dispersed(
        "tweedie", "log", lambda m: np.power(m, power), half_deviance, no_likelihood, values, True, {"power": power}
    )


# Families in their textbook form: natural parameter, log-partition function, b(y).
ExponentialFamily(
    "gaussian",
    lambda e: 0.5 * np.square(e),
    lambda e: e + 0.0,
    np.ones_like,
    log_b=lambda y: -0.5 * np.square(y) - np.log(_SQRT),
)
ExponentialFamily(
    "bernoulli",
    lambda e: np.logaddexp(0.0, e),
    expit,
    lambda e: expit(e) * expit(-e),
    means=(0.0, 1.0),
    values=(0.0, 1.0),
    log_b=lambda y: 0.0 * y,
    support=np.array([0, 1]),
)
ExponentialFamily(
    "poisson",
    np.exp,
    np.exp,
    np.exp,
    means=(0.0, np.inf),
    values=(0.0, np.inf),
    log_b=lambda y: -gammaln(y + 1),
    support=np.arange(600),
)
ExponentialFamily(
    "gamma",
    lambda e: -np.log(-e),
    lambda e: -1.0 / e,
    lambda e: 1.0 / np.square(e),
    natural=(-np.inf, 0.0),
    means=(0.0, np.inf),
    values=(0.0, np.inf),
)
ExponentialFamily(
    "inverse_gaussian",
    lambda e: -np.sqrt(-2.0 * e),
    lambda e: 1.0 / np.sqrt(-2.0 * e),
    lambda e: (-2.0 * e) ** -1.5,
    natural=(-np.inf, 0.0),
    means=(0.0, np.inf),
    values=(0.0, np.inf),
)
