"""Losses for evaluation, which cannot be minimised by descent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from certifit._types import Numeric
from certifit.losses._base import EvaluationLoss


@dataclass(frozen=True)
class ZeroOne(EvaluationLoss):
    r"""0-1 loss of predicted against true labels: 1 where they differ.

    L(ŷ, y) = [ŷ ≠ y].

    Examples
    --------
    >>> ZeroOne().value(np.array(["a", "b"]), np.array(["a", "a"]))
    array([0., 1.])
    """

    name: ClassVar[str] = "zero_one"

    def value(self, z: Numeric, y: Numeric) -> Numeric:
        return np.asarray(np.asarray(z) != np.asarray(y), dtype=float)


@dataclass(frozen=True)
class Asymmetric(EvaluationLoss):
    r"""Costs of the two kinds of mistakes: a false alarm and a miss (labels −1/+1).

    The cheapest threshold on P(y = +1 | x) is
    :math:`c_{FP} / (c_{FP} + c_{FN})`, available as ``threshold``.

    Parameters
    ----------
    false_positive, false_negative : float ≥ 0, default=1.0
        Cost of predicting +1 where −1 is true, and the reverse.

    Examples
    --------
    >>> Asymmetric(false_positive=1, false_negative=9).threshold
    0.1
    """

    false_positive: float = 1.0
    false_negative: float = 1.0

    name: ClassVar[str] = "asymmetric"

    def __post_init__(self) -> None:
        costs = (self.false_positive, self.false_negative)
        if not all(np.isfinite(c) and c >= 0 for c in costs) or sum(costs) == 0:
            raise ValueError(f"Costs must be finite, not negative and not both zero; got {costs}.")

    @property
    def threshold(self) -> float:
        """The probability above which predicting +1 costs least."""
        return self.false_positive / (self.false_positive + self.false_negative)

    def value(self, z: Numeric, y: Numeric) -> Numeric:
        z, y = np.asarray(z), np.asarray(y)
        return self.false_positive * ((z > 0) & (y < 0)) + self.false_negative * ((z <= 0) & (y > 0))
