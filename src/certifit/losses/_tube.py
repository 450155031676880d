"""Losses that leave errors up to ε free: what support vector regression pays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from certifit._types import Array, Numeric
from certifit.losses._base import Loss, Targets
from certifit.losses._registry import register


def _check_width(loss: EpsilonInsensitive | SquaredEpsilonInsensitive) -> None:
    if not 0.0 <= loss.epsilon < np.inf:
        raise ValueError(f"{type(loss).__name__} needs an epsilon ≥ 0, got {loss.epsilon}.")


@register
@dataclass(frozen=True)
class EpsilonInsensitive(Loss):
    r"""Absolute loss outside a tube, :math:`\max(0,\ |z-y| - \varepsilon)`.

    Parameters
    ----------
    epsilon : float ≥ 0, default=0.1
        Half the width of the tube.

    Examples
    --------
    >>> EpsilonInsensitive(0.5).value(np.array([3.0, 1.25]), np.array([1.0, 1.0]))
    array([1.5, 0. ])
    """

    epsilon: float = 0.1

    name: ClassVar[str] = "epsilon_insensitive"
    targets: ClassVar[Targets] = "real"
    kinks: ClassVar[int] = 2

    def __post_init__(self) -> None:
        _check_width(self)

    def value(self, z: Numeric, y: Numeric) -> Numeric:
        return np.maximum(0.0, np.abs(z - y) - self.epsilon)

    def slope(self, z: Array, y: Array) -> Array:
        return np.where(np.abs(z - y) > self.epsilon, np.sign(z - y), 0.0)

    def curvature(self, z: Array, y: Array) -> Array:
        return np.zeros(np.broadcast(z, y).shape)

    def conjugate(self, u: Numeric, y: Numeric) -> Numeric:
        return u * y + np.abs(u) * self.epsilon

    def fenchel_young(self, z: Numeric, u: Numeric, y: Numeric) -> Numeric:
        # The same number as value + conjugate − uz, as a sum of terms that are never negative: one for each side.
        r, up, down = z - y, np.maximum(u, 0.0), np.maximum(-1.0 * u, 0.0)
        above, below = r - self.epsilon, -1.0 * r - self.epsilon
        return (
            (1.0 - up) * np.maximum(above, 0.0)
            + up * np.maximum(-1.0 * above, 0.0)
            + (1.0 - down) * np.maximum(below, 0.0)
            + down * np.maximum(-1.0 * below, 0.0)
        )

    def domain(self, y: Array) -> tuple[Array, Array]:
        one = np.ones(np.shape(y))
        return -one, one


@register
@dataclass(frozen=True)
class SquaredEpsilonInsensitive(Loss):
    r"""Squared loss outside a tube, :math:`\max(0,\ |z-y| - \varepsilon)^2`.

    Parameters
    ----------
    epsilon : float ≥ 0, default=0.1
        Half the width of the tube.

    Examples
    --------
    >>> SquaredEpsilonInsensitive(0.5).value(np.array([3.0, 1.25]), np.array([1.0, 1.0]))
    array([2.25, 0.  ])
    """

    epsilon: float = 0.1

    name: ClassVar[str] = "squared_epsilon_insensitive"
    targets: ClassVar[Targets] = "real"
    smooth: ClassVar[bool] = True
    curvature_bound: ClassVar[float] = 2.0

    def __post_init__(self) -> None:
        _check_width(self)

    def value(self, z: Numeric, y: Numeric) -> Numeric:
        return np.square(np.maximum(0.0, np.abs(z - y) - self.epsilon))

    def slope(self, z: Array, y: Array) -> Array:
        return 2.0 * np.sign(z - y) * np.maximum(0.0, np.abs(z - y) - self.epsilon)

    def curvature(self, z: Array, y: Array) -> Array:
        return np.where(np.abs(z - y) > self.epsilon, 2.0, 0.0)

    def conjugate(self, u: Numeric, y: Numeric) -> Numeric:
        return u * y + np.abs(u) * self.epsilon + np.square(u) / 4.0

    def fenchel_young(self, z: Numeric, u: Numeric, y: Numeric) -> Numeric:
        # As above: no large numbers are subtracted.
        r, up, down = z - y, np.maximum(u, 0.0), np.maximum(-1.0 * u, 0.0)
        above, below = r - self.epsilon, -1.0 * r - self.epsilon
        return (
            np.square(np.maximum(above, 0.0) - up / 2.0)
            + up * np.maximum(-1.0 * above, 0.0)
            + np.square(np.maximum(below, 0.0) - down / 2.0)
            + down * np.maximum(-1.0 * below, 0.0)
        )

    def domain(self, y: Array) -> tuple[Array, Array]:
        infinite = np.full(np.shape(y), np.inf)
        return -infinite, infinite
