"""Losses for real targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from certifit._types import Array, Numeric
from certifit.losses._base import Loss, Targets
from certifit.losses._registry import register


@register
@dataclass(frozen=True)
class Squared(Loss):
    r"""Squared loss :math:`c\,(z-y)^2`.

    Parameters
    ----------
    factor : float > 0, default=1.0
        c; 1 by default, ½ in many textbooks.

    Examples
    --------
    >>> float(Squared().value(3.0, 1.0))
    4.0
    """

    factor: float = 1.0

    name: ClassVar[str] = "squared"
    sgd_code: ClassVar[int | None] = 0
    self_concordant: ClassVar[bool] = True
    targets: ClassVar[Targets] = "real"
    smooth: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0.0 < self.factor < np.inf:
            raise ValueError(f"Squared needs a factor > 0, got {self.factor}.")

    @property
    def curvature_bound(self) -> float:  # type: ignore[override]
        """The largest curvature."""
        return 2.0 * self.factor

    def value(self, z: Numeric, y: Numeric) -> Numeric:
        return self.factor * np.square(z - y)

    def slope(self, z: Array, y: Array) -> Array:
        return 2.0 * self.factor * (z - y)

    def curvature(self, z: Array, y: Array) -> Array:
        return np.full(np.broadcast(z, y).shape, 2.0 * self.factor)

    def conjugate(self, u: Numeric, y: Numeric) -> Numeric:
        return u * y + np.square(u) / (4.0 * self.factor)

    def domain(self, y: Array) -> tuple[Array, Array]:
        infinite = np.full(np.shape(y), np.inf)
        return -infinite, infinite

    def fenchel_young(self, z: Numeric, u: Numeric, y: Numeric) -> Numeric:
        # Completing the square avoids the cancellation of the sum: near the optimum it is of order u².
        return self.factor * np.square(z - y - u / (2.0 * self.factor))


@register
@dataclass(frozen=True)
class Absolute(Loss):
    r"""Absolute (linear) loss :math:`|z-y|`.

    Examples
    --------
    >>> float(Absolute().value(3.0, 1.0))
    2.0
    """

    name: ClassVar[str] = "absolute"
    sgd_code: ClassVar[int | None] = 1
    targets: ClassVar[Targets] = "real"

    def value(self, z: Numeric, y: Numeric) -> Numeric:
        return np.abs(z - y)

    def slope(self, z: Array, y: Array) -> Array:
        return np.sign(z - y)

    def curvature(self, z: Array, y: Array) -> Array:
        return np.zeros(np.broadcast(z, y).shape)

    def conjugate(self, u: Numeric, y: Numeric) -> Numeric:
        return u * y

    def fenchel_young(self, z: Numeric, u: Numeric, y: Numeric) -> Numeric:
        # |r| − ur as a sum of terms that are never negative.
        r = z - y
        return (1.0 - u) * np.maximum(r, 0.0) + (1.0 + u) * np.maximum(-1.0 * r, 0.0)

    def domain(self, y: Array) -> tuple[Array, Array]:
        one = np.ones(np.shape(y))
        return -one, one
