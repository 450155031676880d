"""Penalties that tie several outputs together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from certifit._types import Array, Numeric
from certifit.regularizers._base import Regularizer
from certifit.regularizers._norms import less_than_one, upper_end
from certifit.regularizers._registry import register


@register
@dataclass(frozen=True)
class ColumnNorms(Regularizer):
    r"""Multi-task penalty :math:`\sum_j \rho\lVert W_j\rVert + \tfrac12(1-\rho)\lVert W_j\rVert^2` over columns of W.

    W has one row per task; a column holds the coefficients of one feature in all tasks, so that tasks choose the same
    features.

    Parameters
    ----------
    l1_ratio : float in (0, 1], default=1.0
        ρ; 1 is the multi-task lasso.

    Examples
    --------
    >>> float(ColumnNorms().value(np.array([[3.0, 0.0], [4.0, 1.0]])))
    6.0
    """

    l1_ratio: float = 1.0

    name: ClassVar[str] = "column_norms"
    joint: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0.0 < self.l1_ratio <= 1.0:
            raise ValueError(f"ColumnNorms needs 0 < l1_ratio ≤ 1, got {self.l1_ratio}.")

    @property
    def convexity(self) -> float:
        return 1.0 - self.l1_ratio

    @staticmethod
    def _lengths(w: Numeric) -> Numeric:
        return np.sqrt(np.square(w).sum(axis=0))

    def value(self, w: Numeric) -> Numeric:
        return self.l1_ratio * self._lengths(w).sum() + 0.5 * (less_than_one(self.l1_ratio, w) * np.square(w).sum())

    def prox(self, w: Array, step: float) -> Array:
        size = self._lengths(w)
        shrink = np.maximum(1.0 - step * self.l1_ratio / np.where(size > 0.0, size, 1.0), 0.0)
        return w * shrink / (1.0 + step * (1.0 - self.l1_ratio))

    def conjugate(self, v: Numeric) -> Numeric:
        if self.l1_ratio == 1.0:
            return 0.0
        excess = np.maximum(self._lengths(v) - self.l1_ratio, 0.0)
        return np.square(excess).sum() / (2.0 * less_than_one(self.l1_ratio, v))

    def gauge(self, v: Numeric) -> Numeric:
        return np.max(upper_end(self._lengths(v)), initial=0.0) if self.l1_ratio == 1.0 else 0.0
