"""Penalties that split into coordinates: a‖w‖₁ + (c/2)‖w − w₀‖², with or without w ≥ 0."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from certifit._types import Array
from certifit.regularizers import L1, ElasticMix, NonNegative, Regularizer, SquaredL2, Zero


@dataclass(frozen=True)
class Separable:
    """R(w) = l1·‖w‖₁ + ½ l2·‖w − prior‖², and whether w ≥ 0 is required."""

    l1: float
    l2: float
    prior: tuple[float, ...] | None
    positive: bool

    def centre(self, d: int) -> Array:
        return np.zeros(d) if self.prior is None else np.array(self.prior)


def separable(regularizer: Regularizer) -> Separable | None:
    """The coordinatewise form of a regularizer; None when it has none.

    Examples
    --------
    >>> separable(ElasticMix(0.25))
    Separable(l1=0.25, l2=0.75, prior=None, positive=False)
    """
    if isinstance(regularizer, NonNegative):
        base = separable(regularizer.base)
        return None if base is None else Separable(base.l1, base.l2, base.prior, True)
    if isinstance(regularizer, Zero):
        return Separable(0.0, 0.0, None, False)
    if isinstance(regularizer, SquaredL2):
        return Separable(0.0, 2.0 * regularizer.factor, regularizer.prior, False)
    if isinstance(regularizer, L1):
        return Separable(1.0, 0.0, None, False)
    if isinstance(regularizer, ElasticMix):
        return Separable(regularizer.l1_ratio, 1.0 - regularizer.l1_ratio, None, False)
    return None
