"""Sums of many floats that lose little more than the rounding of the result, in plain NumPy."""

from __future__ import annotations

import math

import numpy as np

from certifit._types import Array

_PAIRS = 512  # numbers up to which one at a time is as fast as pairs


def long_sum(values: Array) -> tuple[float, float]:
    """The sum of n numbers, and a size: it is off by at most u|sum| + γₙ·size, but for the rounding of size itself.

    Pairs are added side by side, and what each addition lost, which is a float (Knuth's two-sum), is added up too.
    `math.fsum`, which is correctly rounded, adds the rest: it reads one number at a time.
    """
    rest, lost, size = values.ravel(), [0.0], 0.0
    with np.errstate(all="ignore"):
        while rest.size > _PAIRS:
            half = rest.size // 2
            a, b = rest[:half], rest[half : 2 * half]
            s = a + b
            t = s - a
            e = (a - (s - t)) + (b - t)
            lost.append(float(e.sum()))
            size += float(np.abs(e).sum())
            rest = np.append(s, rest[2 * half :])
    total = _fsum(np.append(rest, lost))
    if math.isfinite(total) and math.isfinite(size):
        return total, size
    return _fsum(values), 0.0  # a pair is beyond the largest float; the whole may not be


def _fsum(values: Array) -> float:
    try:
        return math.fsum(values.ravel().tolist())  # floats of Python's own are read several times as fast
    except (OverflowError, ValueError):  # infinities of both signs, or beyond the largest float
        return math.nan
