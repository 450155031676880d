"""Conjugate priors: prior and posterior are of one family, so that learning is arithmetic.

Every class is a belief. ``update(data)`` returns the belief after data, ``predictive()`` the distribution of the next
observation (a frozen SciPy distribution), ``log_evidence(data)`` the log probability that this belief gave to the
data, ``interval(level)`` an equal-tailed credible interval, ``plot()`` a picture.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.stats
from scipy.special import betaln, gammaln

from certifit._errors import need
from certifit._trace import Trace, TraceRow
from certifit._types import Array, Axes, VectorLike
from certifit.certificates import Certificate, Data, issue

__all__ = [
    "BetaBernoulli",
    "Conjugate",
    "DirichletCategorical",
    "GammaPoisson",
    "NormalInverseGamma",
    "NormalKnownVariance",
]


class Conjugate(ABC):
    """A belief about the parameter of a sampling distribution.

    Examples
    --------
    >>> belief = BetaBernoulli(1, 1)
    >>> isinstance(belief, Conjugate), round(float(belief.update([1, 1, 0]).mean), 3)
    (True, 0.6)
    """

    _family: ClassVar[str]

    @abstractmethod
    def update(self, data: Any) -> Any:
        """The belief after more data."""

    @property
    @abstractmethod
    def distribution(self) -> Any:
        """The belief as a frozen SciPy distribution."""

    @abstractmethod
    def predictive(self) -> Any:
        """The distribution of the next observation, as a frozen SciPy distribution."""

    @abstractmethod
    def log_evidence(self, data: npt.ArrayLike) -> float:
        """log P(data) under this belief."""

    @property
    def mean(self) -> Any:
        """Expected value of the parameter."""
        return self.distribution.mean()

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Equal-tailed credible interval of the parameter.

        Parameters
        ----------
        level : float in (0, 1), default=0.95

        Returns
        -------
        tuple of float
        """
        low, high = self.distribution.interval(level)
        return float(low), float(high)

    def trace(self, data: Any) -> Trace:
        """The belief before the first observation and after each one, as a trace.

        Parameters
        ----------
        data : iterable
            Observations, as `update` takes them.

        Returns
        -------
        Trace
            ``outcome``, the parameters of the belief, and ``mean``, the expected value of the parameter.

        Examples
        --------
        >>> print(BetaBernoulli(1, 1).trace([1, 0]))
        iteration  outcome  alpha  beta      mean
                0               1     1       0.5
                1        1      2     1  0.666667
                2        0      2     2       0.5
        """
        belief, rows = self, []
        for t, outcome in enumerate([None, *list(data)]):
            belief = belief if outcome is None else belief.update([outcome])
            own = {field.name: getattr(belief, field.name) for field in fields(belief)}  # type: ignore[arg-type]
            rows.append(TraceRow(t, outcome=outcome, **own, mean=belief.mean))
        return Trace(rows)

    def certify(self, data: npt.ArrayLike, posterior: Conjugate | VectorLike | None = None) -> Certificate:
        """Prove the belief after data: its parameters are those of this belief and sums over the data.

        Parameters
        ----------
        data : array-like of shape (n,)
            Observations, as `update` takes them.
        posterior : belief of the same family or array-like, default=None
            A posterior found by hand, or its parameters in order; None: the computed one. ``diagnose(data)`` of a
            wrong one tries common mistakes.

        Returns
        -------
        Certificate
            Kind "conjugate-posterior"; ``certificate.verify(column)`` with the data as a column of shape (n, 1).

        Examples
        --------
        >>> print(BetaBernoulli(2, 2).certify([1, 1, 0], (3, 4)).diagnose([1, 1, 0])[0].name)
        successes and failures swapped
        """
        stated = self.update(data) if posterior is None else posterior
        if isinstance(stated, Conjugate) and type(stated) is not type(self):
            raise ValueError(f"The posterior of a {type(self).__name__} is one as well.")
        after = stated._parameters() if isinstance(stated, Conjugate) else np.asarray(stated, dtype=float).ravel()
        if after.shape != self._parameters().shape or not np.all(np.isfinite(after)):
            raise ValueError(f"posterior must contain {len(self._parameters())} finite numbers.")
        self.update(data)  # refuses data that the family does not allow
        evidence = {"family": self._family, "prior": self._parameters(), "posterior": after}
        return issue("conjugate-posterior", Data.of(_numbers(data)[:, None]), evidence)

    def _parameters(self) -> Array:
        return np.concatenate([np.ravel(getattr(self, f.name)) for f in fields(self)]).astype(float)  # type: ignore[arg-type]

    def plot(self, ax: Axes | None = None, label: str | None = None) -> Axes:
        """Draw the density of the belief.

        Parameters
        ----------
        ax : matplotlib axes, default=None
        label : str, default=None

        Returns
        -------
        The axes.
        """
        ax = _axes(ax)
        low, high = self.distribution.ppf([0.001, 0.999])
        grid = np.linspace(low, high, 400)
        ax.plot(grid, self.distribution.pdf(grid), label=label)
        ax.set_xlabel("parameter")
        ax.set_ylabel("density")
        return ax


def _axes(ax: Axes | None) -> Axes:
    """Where to draw: the axes given, or those of a fresh figure."""
    need("matplotlib", "plot")
    import matplotlib.pyplot as plt

    return plt.subplots()[1] if ax is None else ax


def _positive(**values: float) -> None:
    for name, v in values.items():
        if not (np.isfinite(v) and v > 0):
            raise ValueError(f"{name} must be a positive number, got {v}.")


def _numbers(data: npt.ArrayLike) -> Array:
    x = np.asarray(data, dtype=float).ravel()
    if not np.isfinite(x).all():
        raise ValueError("The data contain NaN or infinity: remove them.")
    return x


def _counts(data: npt.ArrayLike) -> Array:
    x = _numbers(data)
    if np.any(x < 0) or np.any(x != np.round(x)):
        raise ValueError("The data must be integers ≥ 0.")
    return x


@dataclass(frozen=True)
class BetaBernoulli(Conjugate):
    r"""Beta belief about the probability of success: Beta(α, β) becomes Beta(α + successes, β + failures).

    Parameters
    ----------
    alpha, beta : float > 0, default=1.0
        Prior successes and failures, plus one.

    Examples
    --------
    >>> from certifit.bayes.conjugate import BetaBernoulli
    >>> after = BetaBernoulli(1, 1).update([1, 1, 0])
    >>> after.alpha, after.beta, float(after.mean), float(after.predictive().pmf(1))
    (3.0, 2.0, 0.6, 0.6)
    """

    _family: ClassVar[str] = "beta"
    alpha: float = 1.0
    beta: float = 1.0

    def __post_init__(self) -> None:
        _positive(alpha=self.alpha, beta=self.beta)

    @staticmethod
    def _split(data: npt.ArrayLike) -> tuple[float, float]:
        x = _numbers(data)
        if np.any((x != 0) & (x != 1)):
            raise ValueError("The data must be zeros and ones.")
        return float(x.sum()), float(len(x) - x.sum())

    def update(self, data: Any) -> BetaBernoulli:
        """The belief after zeros and ones."""
        s, f = self._split(data)
        return BetaBernoulli(self.alpha + s, self.beta + f)

    @property
    def distribution(self) -> Any:
        """Beta(α, β)."""
        return scipy.stats.beta(self.alpha, self.beta)

    @property
    def mode(self) -> float:
        """The most probable value (MAP); needs α, β > 1 (or ≥ 1 and not both 1)."""
        if min(self.alpha, self.beta) < 1 or self.alpha + self.beta <= 2:
            raise ValueError(f"Beta({self.alpha}, {self.beta}) has no single most probable value.")
        return (self.alpha - 1) / (self.alpha + self.beta - 2)

    def predictive(self) -> Any:
        """Bernoulli with the mean of the belief."""
        return scipy.stats.bernoulli(self.alpha / (self.alpha + self.beta))

    def log_evidence(self, data: npt.ArrayLike) -> float:
        """log of B(α + s, β + f)/B(α, β)."""
        s, f = self._split(data)
        return float(betaln(self.alpha + s, self.beta + f) - betaln(self.alpha, self.beta))


@dataclass(frozen=True)
class DirichletCategorical(Conjugate):
    """Dirichlet belief about the probabilities of k categories: counts are added to the parameters.

    Dirichlet(α₁, …, αₖ) becomes Dirichlet(α₁ + n₁, …, αₖ + nₖ).

    Parameters
    ----------
    alpha : tuple of float > 0
        One per category; the categories are 0 … k − 1.

    Examples
    --------
    >>> from certifit.bayes.conjugate import DirichletCategorical
    >>> DirichletCategorical((1, 1, 2)).update([0, 2, 2]).mean.round(4).tolist()
    [0.2857, 0.1429, 0.5714]
    """

    _family: ClassVar[str] = "dirichlet"
    alpha: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.alpha) < 2:
            raise ValueError("At least two categories are needed.")
        for a in self.alpha:
            _positive(alpha=a)
        object.__setattr__(self, "alpha", tuple(float(a) for a in self.alpha))

    def _tally(self, data: npt.ArrayLike) -> Array:
        x = _counts(data).astype(int)
        if len(x) and x.max() >= len(self.alpha):
            raise ValueError(f"Category {x.max()} is not among 0 … {len(self.alpha) - 1}.")
        return np.bincount(x, minlength=len(self.alpha)).astype(float)

    def update(self, data: Any) -> DirichletCategorical:
        """The belief after category numbers."""
        return DirichletCategorical(tuple(np.asarray(self.alpha) + self._tally(data)))

    @property
    def distribution(self) -> Any:
        """Dirichlet(α)."""
        return scipy.stats.dirichlet(self.alpha)

    @property
    def mode(self) -> Array:
        """The most probable probabilities (MAP): the smoothed counts of naive Bayes with α − 1 pseudo-counts."""
        a = np.asarray(self.alpha)
        if np.any(a < 1) or a.sum() <= len(a):
            raise ValueError("A Dirichlet with parameters below one has no single most probable value.")
        return np.asarray((a - 1) / (a.sum() - len(a)))

    def predictive(self) -> Any:
        """The next category: its number as a discrete distribution."""
        a = np.asarray(self.alpha)
        return scipy.stats.rv_discrete(name="next", values=(np.arange(len(a)), a / a.sum()))

    def interval(self, level: float = 0.95) -> Any:
        """Equal-tailed credible interval of each probability: arrays of lower and upper ends.

        Parameters
        ----------
        level : float in (0, 1), default=0.95

        Returns
        -------
        tuple of ndarray
        """
        a = np.asarray(self.alpha)
        return scipy.stats.beta(a, a.sum() - a).interval(level)

    def log_evidence(self, data: npt.ArrayLike) -> float:
        """log P(data): a ratio of Dirichlet constants."""
        a, c = np.asarray(self.alpha), self._tally(data)
        return float(gammaln(a.sum()) - gammaln(a.sum() + c.sum()) + np.sum(gammaln(a + c) - gammaln(a)))

    def plot(self, ax: Axes | None = None, label: str | None = None) -> Axes:
        """Draw the mean and 95 % interval of each probability.

        Parameters
        ----------
        ax : matplotlib axes, default=None
        label : str, default=None

        Returns
        -------
        The axes.
        """
        ax = _axes(ax)
        low, high = self.interval()
        mean = np.asarray(self.mean)
        ax.errorbar(np.arange(len(mean)), mean, yerr=[mean - low, high - mean], fmt="o", label=label)
        ax.set_xlabel("category")
        ax.set_ylabel("probability")
        return ax


@dataclass(frozen=True)
class NormalKnownVariance(Conjugate):
    """Normal belief about a mean when the variance of the observations is known: precisions add.

    N(m, v) becomes N(v′(m/v + Σxᵢ/σ²), v′) with 1/v′ = 1/v + n/σ².

    Parameters
    ----------
    location : float
        Expected mean.
    variance : float > 0
        Variance of the belief.
    noise : float > 0
        Known variance of one observation.

    Examples
    --------
    >>> from certifit.bayes.conjugate import NormalKnownVariance
    >>> after = NormalKnownVariance(0.0, 1.0, 1.0).update([2.0])
    >>> after.location, after.variance, round(float(after.predictive().var()), 4)
    (1.0, 0.5, 1.5)
    """

    _family: ClassVar[str] = "normal"
    location: float = 0.0
    variance: float = 1.0
    noise: float = 1.0

    def __post_init__(self) -> None:
        _positive(variance=self.variance, noise=self.noise)

    def update(self, data: Any) -> NormalKnownVariance:
        """The belief after observations."""
        t = _numbers(data) - self.location
        variance = 1.0 / (1.0 / self.variance + len(t) / self.noise)
        return NormalKnownVariance(self.location + float(variance * t.sum() / self.noise), variance, self.noise)

    @property
    def distribution(self) -> Any:
        """N(location, variance)."""
        return scipy.stats.norm(self.location, np.sqrt(self.variance))

    @property
    def mode(self) -> float:
        """The most probable mean (MAP)."""
        return self.location

    def predictive(self) -> Any:
        """N(location, variance + noise)."""
        return scipy.stats.norm(self.location, np.sqrt(self.variance + self.noise))

    def log_evidence(self, data: npt.ArrayLike) -> float:
        """log density of the data with the mean integrated out."""
        t = _numbers(data) - self.location
        after = self.update(data)
        moved = after.location - self.location
        fit = float(t @ t) / self.noise - moved**2 / after.variance
        return float(
            -0.5 * len(t) * np.log(2 * np.pi * self.noise) + 0.5 * np.log(after.variance / self.variance) - 0.5 * fit
        )


@dataclass(frozen=True)
class NormalInverseGamma(Conjugate):
    r"""Belief about mean and variance together: σ² ~ InvGamma(a, b), μ | σ² ~ N(m, σ²/k).

    Parameters
    ----------
    location : float
        m, the expected mean.
    strength : float > 0
        k, the number of observations that the belief about the mean is worth.
    shape, scale : float > 0
        a and b of the inverse Gamma.

    Examples
    --------
    >>> from certifit.bayes.conjugate import NormalInverseGamma
    >>> after = NormalInverseGamma(0.0, 1.0, 2.0, 2.0).update([1.0, 3.0])
    >>> after.location, after.strength, after.shape, round(after.scale, 4)
    (1.3333..., 3.0, 3.0, 4.3333)
    """

    _family: ClassVar[str] = "normal-inverse-gamma"
    location: float = 0.0
    strength: float = 1.0
    shape: float = 1.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        _positive(strength=self.strength, shape=self.shape, scale=self.scale)

    def update(self, data: Any) -> NormalInverseGamma:
        """The belief after observations."""
        x = _numbers(data)
        n = len(x)
        if n == 0:
            return self
        t = x - self.location
        centre = float(t.mean())
        within = float(np.sum((t - centre) ** 2))
        k = self.strength + n
        scale = self.scale + 0.5 * within + 0.5 * self.strength * n / k * float(np.square(centre))
        return NormalInverseGamma(self.location + n / k * centre, k, self.shape + n / 2, scale)

    @property
    def distribution(self) -> Any:
        """The belief about the mean: Student's t with 2a degrees of freedom."""
        return scipy.stats.t(2 * self.shape, self.location, np.sqrt(self.scale / (self.shape * self.strength)))

    @property
    def variance_distribution(self) -> Any:
        """The belief about the variance: InvGamma(a, b)."""
        return scipy.stats.invgamma(self.shape, scale=self.scale)

    def log_density(self, mean: Any, variance: Any) -> Array:
        """log of the joint density of mean and variance."""
        spread = scipy.stats.norm(self.location, np.sqrt(np.asarray(variance) / self.strength))
        return np.asarray(spread.logpdf(mean) + self.variance_distribution.logpdf(variance))

    def predictive(self) -> Any:
        """Student's t: the noise and the uncertainty about its variance combined."""
        spread = self.scale * (1 + 1 / self.strength) / self.shape
        return scipy.stats.t(2 * self.shape, self.location, np.sqrt(spread))

    def log_evidence(self, data: npt.ArrayLike) -> float:
        """log density of the data with mean and variance integrated out."""
        n, after = len(_numbers(data)), self.update(data)
        constant = gammaln(after.shape) - gammaln(self.shape) - 0.5 * n * np.log(2 * np.pi)
        powers = self.shape * np.log(self.scale) - after.shape * np.log(after.scale)
        return float(constant + powers + 0.5 * np.log(self.strength / after.strength))


@dataclass(frozen=True)
class GammaPoisson(Conjugate):
    """Gamma belief about a rate: Gamma(a, b) becomes Gamma(a + events, b + periods).

    Parameters
    ----------
    shape, rate : float > 0, default=1.0

    Examples
    --------
    >>> from certifit.bayes.conjugate import GammaPoisson
    >>> after = GammaPoisson(2, 1).update([3, 1])
    >>> after.shape, after.rate, float(after.mean), round(float(after.predictive().pmf(0)), 4)
    (6.0, 3.0, 2.0, 0.178)
    """

    _family: ClassVar[str] = "gamma"
    shape: float = 1.0
    rate: float = 1.0

    def __post_init__(self) -> None:
        _positive(shape=self.shape, rate=self.rate)

    def update(self, data: Any) -> GammaPoisson:
        """The belief after counts."""
        x = _counts(data)
        return GammaPoisson(self.shape + float(x.sum()), self.rate + float(len(x)))

    @property
    def distribution(self) -> Any:
        """Gamma(shape, rate)."""
        return scipy.stats.gamma(self.shape, scale=1.0 / self.rate)

    @property
    def mode(self) -> float:
        """The most probable rate (MAP)."""
        return max(self.shape - 1.0, 0.0) / self.rate

    def predictive(self) -> Any:
        """Negative binomial."""
        return scipy.stats.nbinom(self.shape, self.rate / (self.rate + 1.0))

    def log_evidence(self, data: npt.ArrayLike) -> float:
        """log P(data) with the rate integrated out."""
        x, after = _counts(data), self.update(data)
        ends = gammaln(after.shape) - gammaln(self.shape)
        powers = self.shape * np.log(self.rate) - after.shape * np.log(after.rate)
        return float(ends + powers - gammaln(x + 1).sum())
