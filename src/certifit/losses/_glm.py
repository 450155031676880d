"""Losses of generalized linear models: half the unit deviance as a function of the score η."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from certifit._types import Array, Numeric
from certifit.losses._base import Loss, Targets, capped, entr, log_ratio, sigmoid
from certifit.losses._families import BUILT_IN, FAMILIES, LINKS, Dispersed, Link, negative_binomial, tweedie
from certifit.losses._registry import register

_CAP = 700.0  # beyond it exp overflows; no minimiser is there


def _x_log_x(y: Numeric) -> Numeric:
    """y log y with 0 log 0 = 0, also of error-bounded numbers."""
    if type(y) is not np.ndarray or y.dtype != np.float64:
        return -entr(y)
    found = np.where(y > 0.0, y, 1.0)
    np.log(found, out=found)  # of several numbers at a time, which SciPy's entropy is not
    found *= y
    if y.min(initial=0.0) < 0.0:
        found[y < 0.0] = np.inf
    return found


class _DevianceLoss(Loss):
    targets: ClassVar[Targets] = "mean"
    smooth: ClassVar[bool] = True
    self_concordant: ClassVar[bool] = True


@register
@dataclass(frozen=True)
class Poisson(_DevianceLoss):
    r"""Poisson with log link: :math:`e^z - yz + y\log y - y`.

    Examples
    --------
    >>> float(Poisson().value(np.array([0.0]), np.array([1.0]))[0])
    0.0
    """

    name: ClassVar[str] = "poisson"
    labels: ClassVar[tuple[float, float]] = (0.0, np.inf)

    def value(self, z: Numeric, y: Numeric) -> Numeric:
        return np.exp(capped(z, _CAP)) - z * y + (_x_log_x(y) - y)

    def slope(self, z: Array, y: Array) -> Array:
        return np.exp(capped(z, _CAP)) - y

    def best_constant(self, y: Array, weights: Array) -> float | None:
        return log_ratio(float(np.sum(weights * y)), float(np.sum(weights)))

    def level(self, y: Array) -> Array:
        return _x_log_x(y) - y

    def above_level(self, z: Array, y: Array) -> tuple[Array, Array]:
        e = np.exp(capped(z, _CAP))
        return e - z * y, e - y

    def value_slope(self, z: Array, y: Array) -> tuple[Array, Array]:
        values, slopes = self.above_level(z, y)
        return values + self.level(y), slopes

    def curvature(self, z: Array, y: Array) -> Array:
        return np.exp(np.minimum(z, _CAP)) + 0.0 * y

    def conjugate(self, u: Numeric, y: Numeric) -> Numeric:
        return -1.0 * entr(u + y) - (u + y) - (_x_log_x(y) - y)

    def domain(self, y: Array) -> tuple[Array, Array]:
        return -1.0 * np.asarray(y), np.full(np.shape(y), np.inf)


@register
@dataclass(frozen=True)
class Binomial(_DevianceLoss):
    r"""Binomial share with logit link: :math:`\log(1+e^z) - yz + y\log y + (1-y)\log(1-y)`, 0 ≤ y ≤ 1.

    Examples
    --------
    >>> float(Binomial().value(np.array([0.0]), np.array([0.5]))[0])
    0.0
    """

    name: ClassVar[str] = "binomial"
    labels: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def value(self, z: Numeric, y: Numeric) -> Numeric:
        return np.logaddexp(0.0, z) - z * y + (_x_log_x(y) + _x_log_x(1.0 - y))

    def slope(self, z: Array, y: Array) -> Array:
        return sigmoid(z) - y

    def curvature(self, z: Array, y: Array) -> Array:
        return expit(z) * expit(-1.0 * z) + 0.0 * y

    def conjugate(self, u: Numeric, y: Numeric) -> Numeric:
        p = u + y
        return -1.0 * (entr(p) + entr(1.0 - p)) - (_x_log_x(y) + _x_log_x(1.0 - y))

    def domain(self, y: Array) -> tuple[Array, Array]:
        return -1.0 * np.asarray(y), 1.0 - np.asarray(y)


@register
@dataclass(frozen=True)
class GammaLog(_DevianceLoss):
    r"""Gamma with log link: :math:`y e^{-z} + z - \log y - 1`.

    Examples
    --------
    >>> float(GammaLog().value(np.array([0.0]), np.array([1.0]))[0])
    0.0
    """

    name: ClassVar[str] = "gamma_log"
    labels: ClassVar[tuple[float, float]] = (5e-324, np.inf)

    def value(self, z: Numeric, y: Numeric) -> Numeric:
        return np.exp(capped(-1.0 * z, _CAP)) * y + z - (np.log(y) + 1.0)

    def slope(self, z: Array, y: Array) -> Array:
        return 1.0 - y * np.exp(capped(-1.0 * z, _CAP))

    def curvature(self, z: Array, y: Array) -> Array:
        return y * np.exp(np.minimum(-1.0 * z, _CAP))

    def conjugate(self, u: Numeric, y: Numeric) -> Numeric:
        v = 1.0 - u
        return -1.0 * entr(v) - v * np.log(y) - v + (np.log(y) + 1.0)

    def domain(self, y: Array) -> tuple[Array, Array]:
        return np.full(np.shape(y), -np.inf), np.ones(np.shape(y))


@register
@dataclass(frozen=True)
class TweedieLog(_DevianceLoss):
    r"""Tweedie, log link: :math:`\frac{y e^{(1-p)z}}{p-1} + \frac{e^{(2-p)z}}{2-p}` less its least value, 1 < p < 2.

    Parameters
    ----------
    power : float in (1, 2), default=1.5

    Examples
    --------
    >>> float(TweedieLog(1.5).value(np.array([0.0]), np.array([1.0]))[0])
    0.0
    """

    power: float = 1.5
    name: ClassVar[str] = "tweedie_log"
    labels: ClassVar[tuple[float, float]] = (0.0, np.inf)

    def __post_init__(self) -> None:
        if not 1.0 < self.power < 2.0:
            raise ValueError(f"TweedieLog needs 1 < power < 2, got {self.power}.")

    def value(self, z: Numeric, y: Numeric) -> Numeric:
        p = self.power
        best = np.power(y, 2 - p) / (p - 1) / (2 - p)
        low, high = np.exp(capped(z * (1 - p), _CAP)), np.exp(capped(z * (2 - p), _CAP))
        return low * (y / (p - 1)) + high / (2 - p) - best

    def slope(self, z: Array, y: Array) -> Array:
        p = self.power
        return np.exp(capped((2 - p) * z, _CAP)) - y * np.exp(capped((1 - p) * z, _CAP))

    def curvature(self, z: Array, y: Array) -> Array:
        p = self.power
        up, down = np.exp(np.minimum((2 - p) * z, _CAP)), np.exp(np.minimum((1 - p) * z, _CAP))
        return (2 - p) * up + (p - 1) * y * down

    def conjugate(self, u: Numeric, y: Numeric) -> Numeric:
        raise TypeError("The Tweedie conjugate has no closed form: use l1_ratio=0.")

    def domain(self, y: Array) -> tuple[Array, Array]:
        raise TypeError("The Tweedie conjugate has no closed form: use l1_ratio=0.")


@register
@dataclass(frozen=True)
class FamilyLoss(Loss):
    """Half the unit deviance of any family under any link; curvature is the expected (Fisher) one.

    L(z, y) = ½ d(y, g⁻¹(z)), with unit deviance d and link g.

    Not convex in general: fits are certified by the likelihood equations, not by a gap.

    Parameters
    ----------
    family : str
        A built-in family, "negative_binomial", "tweedie", or the name of an `ExponentialFamily`.
    link : str
        A name in ``LINKS``, or "canonical".
    dispersion, power : float > 0
        Parameters of the negative binomial and Tweedie families.

    Examples
    --------
    >>> float(FamilyLoss("gamma", "inverse").value(np.array([0.5]), np.array([2.0]))[0])
    0.0
    """

    family: str = "gaussian"
    link: str = "identity"
    dispersion: float = 1.0
    power: float = 1.5

    name: ClassVar[str] = "family"
    targets: ClassVar[Targets] = "mean"
    smooth: ClassVar[bool] = True

    @property
    def parts(self) -> tuple[Dispersed | Any, Link]:
        """The family's variance and deviance, and the link."""
        if self.family == "negative_binomial":
            family: Any = negative_binomial(self.dispersion)
        elif self.family == "tweedie":
            family = tweedie(self.power)
        else:
            family = BUILT_IN.get(self.family) or FAMILIES[self.family]
        link = FAMILIES[self.family].canonical_link() if self.link == "canonical" else LINKS[self.link]
        return family, link

    def value(self, z: Numeric, y: Numeric) -> Numeric:
        family, link = self.parts
        with np.errstate(all="ignore"):
            mu = link.inverse(z)
            d = family.half_deviance(y, mu)
        return np.where(np.isfinite(d) & self._possible(mu), d, np.inf)

    def _possible(self, mu: Array) -> Array:
        if self.family == "binomial":
            return (mu > 0) & (mu < 1)
        if self.family in FAMILIES and self.family not in BUILT_IN:
            low, high = FAMILIES[self.family].means
            return (mu > low) & (mu < high)
        return np.isfinite(mu) if self.family == "gaussian" else mu > 0

    def slope(self, z: Array, y: Array) -> Array:
        family, link = self.parts
        with np.errstate(all="ignore"):
            mu = link.inverse(z)
            return (mu - y) / family.variance_of(mu) * link.derivative(z)

    def curvature(self, z: Array, y: Array) -> Array:
        family, link = self.parts
        with np.errstate(all="ignore"):
            h = np.square(link.derivative(z)) / family.variance_of(link.inverse(z))
        return np.where(np.isfinite(h), h, 0.0)

    def conjugate(self, u: Numeric, y: Numeric) -> Numeric:
        raise TypeError("This family and link have no convex conjugate: use l1_ratio=0.")

    def domain(self, y: Array) -> tuple[Array, Array]:
        raise TypeError("This family and link have no convex conjugate: use l1_ratio=0.")
