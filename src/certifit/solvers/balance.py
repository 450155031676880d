"""Repair the rounding left in Σβ = 0, inside the boxes."""

from __future__ import annotations

import math

import numpy as np

from certifit._types import Array


def balance(beta: Array, cost: Array) -> Array:
    """The β nearby whose exact sum is zero, with unchanged signs and |β| ≤ cost.

    All values are first cut to multiples of one power of two (one unit in the last place of the largest), so that
    sums are exact; what is left over is taken from the heavier side, from variables inside their boxes first.

    Examples
    --------
    >>> b = balance(np.array([0.1, 0.2, -0.3]), np.ones(3))
    >>> math.fsum(b) == 0.0
    True
    """
    beta = np.where(np.isfinite(beta), beta, 0.0)
    beta = np.clip(beta, -cost, cost)
    largest = float(np.abs(beta).max(initial=0.0))
    if largest == 0.0:
        return beta
    unit = float(np.spacing(largest))
    beta = np.trunc(beta / unit) * unit
    excess = math.fsum(beta)
    heavy = np.flatnonzero(beta > 0 if excess > 0 else beta < 0)
    inside = np.abs(beta[heavy]) < cost[heavy]
    # Variables inside their box first (they may move freely), the largest first: fewest are touched.
    queue = heavy[np.lexsort((-np.abs(beta[heavy]), ~inside))]
    room = np.cumsum(np.abs(beta[queue]))
    gone = int(np.searchsorted(room, abs(excess)))  # these go to zero, up to the rounding of the running sum
    beta[queue[: max(0, gone - 1)]] = 0.0
    for k in queue[max(0, gone - 1) :]:
        excess = math.fsum(beta)
        if excess == 0.0:
            break
        beta[k] -= math.copysign(min(abs(excess), abs(beta[k])), excess)
    return beta
