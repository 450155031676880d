"""The best constant: argmin_b Σ sᵢ L(zᵢ + b, yᵢ)."""

from __future__ import annotations

import numpy as np

from certifit._types import Array
from certifit.losses._base import Loss
from certifit.losses._regression import Squared


def best_offset(loss: Loss, z: Array, y: Array, weights: Array) -> float:
    """The offset that minimises the weighted loss of the scores z + b.

    b = argmin Σ sᵢ L(zᵢ + b, yᵢ).

    Parameters
    ----------
    loss : Loss with an interval domain
    z, y, weights : arrays of length n

    Returns
    -------
    float
        The minimiser (a middle one when there are several); ±inf never: where the loss keeps decreasing
        (one class only) the search ends at a score of about 700 beyond the data.

    Examples
    --------
    >>> from certifit.losses import Absolute
    >>> round(best_offset(Absolute(), np.zeros(3), np.array([1.0, 2.0, 9.0]), np.ones(3)), 6)
    2.0
    """
    total = float(np.sum(weights))
    if total == 0.0:
        return 0.0
    if isinstance(loss, Squared):
        return float(np.sum(weights * (y - z)) / total)
    if np.all(z == z[0]):  # rows of equal targets are alike: classes and counts leave few of them
        if np.all(weights == 1.0):  # a count needs no order of the rows
            y, weights = np.unique(y, return_counts=True)
        else:
            y, alike = np.unique(y, return_inverse=True)
            weights = np.bincount(alike, weights)
        known = loss.best_constant(y, weights)
        if known is not None:
            return float(known - z[0])
        z = np.full(len(y), z[0])
    if loss.targets == "real":
        low, high = float(np.min(y - z)), float(np.max(y - z))
    else:
        reach = float(np.max(np.abs(z))) + 700.0
        low, high = -reach, reach

    def climb(b: float) -> float:
        return float(np.sum(weights * loss.slope(z + b, y)))

    # The slope grows with b: the sign of it tells on which side the minimiser lies.
    for _ in range(200):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        at = climb(middle)
        if at == 0.0:
            return middle
        low, high = (low, middle) if at > 0.0 else (middle, high)
    return 0.5 * (low + high)
