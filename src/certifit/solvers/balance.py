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


def balance_within(beta: Array, low: Array, high: Array) -> Array | None:
    """Move β as little as possible, inside [low, high], so that Σβ = 0 holds exactly in floating point.

    Every βᵢ is rounded to a multiple of one power of two, small enough that sums are exact; what is then left in
    the sum is taken from the entries in proportion to the room they have. None when there is not room enough.

    Examples
    --------
    >>> b = balance_within(np.array([0.5, -0.2, -0.1]), np.full(3, -1.0), np.full(3, 1.0))
    >>> float(b.sum()), bool(np.abs(b - [0.5, -0.2, -0.1]).max() < 0.12)
    (0.0, True)
    """
    size = float(np.abs(beta).sum())
    if size == 0.0:
        return np.zeros_like(beta)
    if not math.isfinite(size):
        return None
    grid = 2.0 ** (math.ceil(math.log2(size)) - 50)
    with np.errstate(over="ignore", invalid="ignore"):
        floor, ceiling = np.ceil(low / grid), np.floor(high / grid)
    q = np.clip(np.rint(beta / grid), floor, ceiling)
    excess = float(q.sum())  # integers below 2⁵³: exact
    if excess == 0.0:
        return q * grid
    room = q - floor if excess > 0 else ceiling - q
    if np.any(np.isinf(room)):
        room = np.where(np.isinf(room), 1.0, 0.0)
    elif room.sum() < abs(excess):
        return None
    free = room.sum()
    share = np.minimum(np.floor(abs(excess) * (room / free)), ceiling - floor)
    q = q - math.copysign(1.0, excess) * share
    rest = int(abs(float(q.sum())))
    # At most one unit per entry is left; the entries with most room take one unit each.
    while rest > 0:
        left = (q - floor if excess > 0 else ceiling - q) >= 1.0
        order = np.argsort(-np.where(left, room, -1.0), kind="stable")[: min(rest, int(left.sum()))]
        if len(order) == 0:
            return None
        q[order] -= math.copysign(1.0, excess)
        rest = int(abs(float(q.sum())))
    return q * grid if math.fsum(q) == 0.0 else None
