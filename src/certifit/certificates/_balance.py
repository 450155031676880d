"""Dual variables whose weighted sum is exactly zero, as an unpenalised offset demands."""

from __future__ import annotations

import math

import numpy as np

from certifit._types import Array


def balance(beta: Array, low: Array, high: Array) -> Array | None:
    """Move β as little as possible, inside [low, high], so that Σβ = 0 holds exactly in floating point.

    Every βᵢ is rounded to a multiple of one power of two, small enough that sums are exact; what is then left in
    the sum is taken from the entries in proportion to the room they have. None when there is not room enough.

    Examples
    --------
    >>> b = balance(np.array([0.5, -0.2, -0.1]), np.full(3, -1.0), np.full(3, 1.0))
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
