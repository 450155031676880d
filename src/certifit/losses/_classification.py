"""Margin losses for labels −1/+1: functions of m = y z."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from certifit._types import Array, Numeric
from certifit.losses._base import Loss, Targets, capped, entr, log_ratio, sigmoid, softplus
from certifit.losses._registry import register


class _MarginLoss(Loss):
    targets: ClassVar[Targets] = "sign"

    def _domain(self, y: Array, low: float, high: float) -> tuple[Array, Array]:
        """The interval of u = −a y when a = αy runs over [low, high]."""
        ends = -np.asarray(y) * low, -np.asarray(y) * high
        return np.minimum(*ends), np.maximum(*ends)


@register
@dataclass(frozen=True)
class Hinge(_MarginLoss):
    r"""Hinge loss :math:`\max(0,\ 1 - yz)`.

    Examples
    --------
    >>> Hinge().value(np.array([0.5, 2.0]), np.array([1.0, 1.0]))
    array([0.5, 0. ])
    """

    name: ClassVar[str] = "hinge"
    sgd_code: ClassVar[int | None] = 2

    def value(self, z: Numeric, y: Numeric) -> Numeric:
        return np.maximum(0.0, 1.0 - y * z)

    def slope(self, z: Array, y: Array) -> Array:
        return np.where(y * z <= 1.0, -1.0 * y, 0.0)

    def curvature(self, z: Array, y: Array) -> Array:
        return np.zeros(np.broadcast(z, y).shape)

    def conjugate(self, u: Numeric, y: Numeric) -> Numeric:
        return u * y

    def fenchel_young(self, z: Numeric, u: Numeric, y: Numeric) -> Numeric:
        # a = −uy of t = 1 − yz: the same number as value + conjugate − uz, as a sum of terms that are never negative.
        a, t = u * (-1.0 * y), 1.0 - y * z
        return (1.0 - a) * np.maximum(t, 0.0) + a * np.maximum(-1.0 * t, 0.0)

    def domain(self, y: Array) -> tuple[Array, Array]:
        return self._domain(y, 0.0, 1.0)


@register
@dataclass(frozen=True)
class SquaredHinge(_MarginLoss):
    r"""Squared hinge loss :math:`\max(0,\ 1 - yz)^2`.

    Examples
    --------
    >>> SquaredHinge().value(np.array([0.5, 2.0]), np.array([1.0, 1.0]))
    array([0.25, 0.  ])
    """

    name: ClassVar[str] = "squared_hinge"
    sgd_code: ClassVar[int | None] = 3
    smooth: ClassVar[bool] = True
    curvature_bound: ClassVar[float] = 2.0

    def value(self, z: Numeric, y: Numeric) -> Numeric:
        return np.square(np.maximum(0.0, 1.0 - y * z))

    def slope(self, z: Array, y: Array) -> Array:
        return -2.0 * y * np.maximum(0.0, 1.0 - y * z)

    def curvature(self, z: Array, y: Array) -> Array:
        return np.where(y * z < 1.0, 2.0, 0.0)

    def value_slope_curvature(self, z: Array, y: Array) -> tuple[Array, Array, Array]:
        short = np.maximum(0.0, 1.0 - y * z)
        return np.square(short), -2.0 * y * short, 2.0 * (short > 0.0)

    def conjugate(self, u: Numeric, y: Numeric) -> Numeric:
        return u * y + np.square(u) / 4.0

    def fenchel_young(self, z: Numeric, u: Numeric, y: Numeric) -> Numeric:
        # As in the hinge: no large numbers are subtracted.
        a, t = u * (-1.0 * y), 1.0 - y * z
        return np.square(np.maximum(t, 0.0) - a / 2.0) + a * np.maximum(-1.0 * t, 0.0)

    def domain(self, y: Array) -> tuple[Array, Array]:
        return self._domain(y, 0.0, np.inf)


@register
@dataclass(frozen=True)
class Logistic(_MarginLoss):
    r"""Logistic loss :math:`\log(1 + e^{-yz})`: the negative log-likelihood of logistic regression.

    Examples
    --------
    >>> float(Logistic().value(0.0, 1.0).round(6))
    0.693147
    """

    name: ClassVar[str] = "logistic"
    sgd_code: ClassVar[int | None] = 4
    self_concordant: ClassVar[bool] = True
    smooth: ClassVar[bool] = True
    curvature_bound: ClassVar[float] = 0.25

    def value(self, z: Numeric, y: Numeric) -> Numeric:
        return np.logaddexp(0.0, -1.0 * y * z)

    def slope(self, z: Array, y: Array) -> Array:
        return -1.0 * y * sigmoid(-1.0 * y * z)

    def best_constant(self, y: Array, weights: Array) -> float | None:
        return log_ratio(float(np.sum(weights[y > 0.0])), float(np.sum(weights[y < 0.0])))

    def value_slope(self, z: Array, y: Array) -> tuple[Array, Array]:
        m = np.multiply(y, z)
        if not m.min(initial=0.0) > (-85.0 if m.dtype == np.float32 else -700.0):  # e^−m would overflow
            return self.value(z, y), self.slope(z, y)
        # NumPy's exp and log are vectorised, its logaddexp is not; each pass is made in place.
        e = np.exp(np.negative(m, out=m), out=m)
        total = 1.0 + e
        slope = np.divide(e, total, out=e)
        slope *= y
        return np.log(total, out=total), np.negative(slope, out=slope)

    def above_level(self, z: Numeric, y: Numeric) -> tuple[Numeric, Numeric]:
        if isinstance(z, np.ndarray):
            return self.value_slope(z, y)
        turned = -1.0 * y
        value, share = softplus(turned * z)
        return value, share * turned

    def value_slope_curvature(self, z: Array, y: Array) -> tuple[Array, Array, Array]:
        value, slope = self.value_slope(z, y)
        size = np.abs(slope)
        return value, slope, size * (1.0 - size)

    def curvature(self, z: Array, y: Array) -> Array:
        z = np.asarray(z, dtype=float)
        e = np.abs(z if z.shape == np.shape(y) else z + 0.0 * np.asarray(y))
        e = np.exp(np.negative(e))
        return e / np.square(1.0 + e)

    def conjugate(self, u: Numeric, y: Numeric) -> Numeric:
        a = u * (-1.0 * y)
        return -1.0 * (entr(a) + entr(1.0 - a))

    def domain(self, y: Array) -> tuple[Array, Array]:
        return self._domain(y, 0.0, 1.0)


@register
@dataclass(frozen=True)
class Exponential(_MarginLoss):
    r"""Exponential loss :math:`e^{-yz}`.

    Examples
    --------
    >>> float(Exponential().value(0.0, 1.0))
    1.0
    """

    name: ClassVar[str] = "exponential"
    sgd_code: ClassVar[int | None] = 5
    self_concordant: ClassVar[bool] = True
    smooth: ClassVar[bool] = True

    # Beyond e^700 a float overflows; the exponent is capped there, which no minimiser reaches.
    _CAP: ClassVar[float] = 700.0

    def value(self, z: Numeric, y: Numeric) -> Numeric:
        return np.exp(capped(-1.0 * y * z, self._CAP))

    def slope(self, z: Array, y: Array) -> Array:
        return -1.0 * y * self.value(z, y)

    def curvature(self, z: Array, y: Array) -> Array:
        return self.value(z, y)

    def conjugate(self, u: Numeric, y: Numeric) -> Numeric:
        a = u * (-1.0 * y)
        return -1.0 * (entr(a) + a)

    def domain(self, y: Array) -> tuple[Array, Array]:
        return self._domain(y, 0.0, np.inf)


@register
@dataclass(frozen=True)
class PerceptronLoss(_MarginLoss):
    r"""Perceptron loss :math:`\max(0,\ -yz)`; a score of 0 counts as a mistake, so w = 0 moves.

    Examples
    --------
    >>> PerceptronLoss().value(np.array([-2.0, 2.0]), np.array([1.0, 1.0]))
    array([2., 0.])
    """

    name: ClassVar[str] = "perceptron"
    sgd_code: ClassVar[int | None] = 6

    def value(self, z: Numeric, y: Numeric) -> Numeric:
        return np.maximum(0.0, -1.0 * y * z)

    def slope(self, z: Array, y: Array) -> Array:
        return np.where(y * z <= 0.0, -1.0 * y, 0.0)

    def curvature(self, z: Array, y: Array) -> Array:
        return np.zeros(np.broadcast(z, y).shape)

    def conjugate(self, u: Numeric, y: Numeric) -> Numeric:
        return u * 0.0

    def domain(self, y: Array) -> tuple[Array, Array]:
        return self._domain(y, 0.0, 1.0)
