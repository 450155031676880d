"""Sums of many floats that lose little more than the rounding of the result, in plain NumPy."""

from __future__ import annotations

import math

import numpy as np

from certifit._types import Array

_PAIRS = 512  # numbers up to which one at a time is as fast as pairs
_STRETCH = 1 << 13  # numbers of a long sum that are taken at a time


def long_sum(values: Array) -> tuple[float, float]:
    """The sum of n numbers, and a size: it is off by at most u|sum| + γₙ·size, but for the rounding of size itself.

    Pairs are added side by side, and what each addition lost, which is a float (Knuth's two-sum), is added up too.
    `math.fsum`, which is correctly rounded, adds the rest: it reads one number at a time.
    """
    rest = values.ravel()
    with np.errstate(all="ignore"):
        rest, error, size = _stretches(rest) if rest.size > 2 * _STRETCH else (rest, 0.0, 0.0)
        lost, room, used = np.empty(rest.size), np.empty(rest.size // 2), 0
        while rest.size > _PAIRS:
            half = rest.size // 2
            last, e = rest[2 * half :], lost[used : used + half]
            s = _two_sum(rest[:half], rest[half : 2 * half], e, room[:half])
            rest, used = np.append(s, last) if len(last) else s, used + half
        lost = lost[:used]
        error, size = error + float(lost.sum()), size + float(np.abs(lost, out=lost).sum())
    total = _fsum(np.append(rest, error))
    if math.isfinite(total) and math.isfinite(size):
        return total, size
    return _fsum(values), 0.0  # a pair is beyond the largest float; the whole may not be


def _two_sum(a: Array, b: Array, e: Array, room: Array) -> Array:
    """a + b, rounded; what is lost, (a − (s − t)) + (b − t) with t = s − a, is written to e."""
    s = a + b
    t = np.subtract(s, a, out=room)
    np.subtract(s, t, out=e)
    np.subtract(a, e, out=e)
    e += np.subtract(b, t, out=t)
    return np.asarray(s)


def _stretches(values: Array) -> tuple[Array, float, float]:
    """Stretches of many numbers added to one that stays in the cache, beside the sum and the size of what is lost."""
    total, (e, room, lost, size) = values[:_STRETCH], np.zeros((4, _STRETCH))
    end = len(values) // _STRETCH * _STRETCH
    for start in range(_STRETCH, end, _STRETCH):
        total = _two_sum(total, values[start : start + _STRETCH], e, room)
        lost += e
        size += np.abs(e, out=e)
    return np.append(total, values[end:]), float(lost.sum()), float(size.sum())


def _fsum(values: Array) -> float:
    try:
        return math.fsum(values.ravel().tolist())  # floats of Python's own are read several times as fast
    except (OverflowError, ValueError):  # infinities of both signs, or beyond the largest float
        return math.nan
