"""Products in about twice the working precision (Ogita, Rump and Oishi 2005: Dot2), in plain NumPy.

They cost some twenty ordinary products and serve where residuals decide how many digits survive.
"""

from __future__ import annotations

import math

import numpy as np

from certifit._types import Array

_SPLIT = 134217729.0  # 2²⁷ + 1


def _two_product(a: Array, b: Array | float) -> tuple[Array, Array]:
    """p + e = a·b exactly (Dekker), for magnitudes below 1e150."""
    p = a * b
    ca, cb = _SPLIT * a, _SPLIT * b
    ah, bh = ca - (ca - a), cb - (cb - b)
    al, bl = a - ah, b - bh
    return p, al * bl - (((p - ah * bh) - al * bh) - ah * bl)


def _two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """s + e = a + b exactly (Knuth)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def compensated_product(A: Array, w: Array, *start: Array) -> Array:
    """The sum of ``start`` minus A w, as if computed in twice the precision and rounded once.

    Examples
    --------
    >>> A = np.array([[1e16, 1.0, -1e16]])
    >>> compensated_product(A, np.ones(3), np.zeros(1))
    array([-1.])
    """
    total, error = np.zeros(len(A)), np.zeros(len(A))
    for part in start:
        total, f = _two_sum(total, part)
        error += f
    for j, wj in enumerate(w):
        if wj == 0.0:
            continue
        p, e = _two_product(A[:, j], -float(wj))
        total, f = _two_sum(total, p)
        error += e + f
    return total + error


def compensated_product_t(A: Array, r: Array, low: Array) -> Array:
    """Aᵀ (r + low) for a vector given as an unevaluated sum of a large and a small part."""
    out = np.empty(A.shape[1])
    for j in range(A.shape[1]):
        p, e = _two_product(A[:, j], r)
        out[j] = _sum(p) + _sum(e + A[:, j] * low)
    return out


def _sum(values: Array) -> float:
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):  # beyond the largest float, or infinities of both signs
        return math.nan


def add_to_pair(r: Array, low: Array, step: Array) -> tuple[Array, Array]:
    """(r + low) + step, again as a large and a small part."""
    total, error = _two_sum(r, step)
    return _two_sum(total, low + error)
