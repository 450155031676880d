"""Products in about twice the working precision (Ogita, Rump and Oishi 2005: Dot2), in plain NumPy.

They cost some twenty ordinary products and serve where residuals decide how many digits survive.
"""

from __future__ import annotations

import numpy as np

from certifit._types import Array

_SPLIT = 134217729.0  # 2²⁷ + 1
_NUMBERS = 1 << 13  # products formed at a time: their many copies stay in a cache, and in memory at hand


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
    used = np.flatnonzero(w)
    out = np.empty(len(A))
    step = max(1, _NUMBERS // max(1, len(used) + len(start)))
    for first in range(0, len(A), step):
        rows = slice(first, first + step)
        p, e = _two_product(np.ascontiguousarray(A[rows, used].T), -w[used, None])
        out[rows] = _sum(np.vstack([p, *(part[rows] for part in start)]), e)
    return out


def compensated_product_t(A: Array, r: Array, low: Array) -> Array:
    """Aᵀ (r + low) for a vector given as an unevaluated sum of a large and a small part."""
    out = np.empty(A.shape[1])
    step = max(1, _NUMBERS // max(1, len(A)))
    for first in range(0, A.shape[1], step):
        part = np.ascontiguousarray(A[:, first : first + step])
        p, e = _two_product(part, r[:, None])
        out[first : first + step] = _sum(p, e + part * low[:, None])
    return out


def _sum(terms: Array, small: Array) -> Array:
    """Σ terms + Σ small along the first axis: large terms in pairs, whose errors join the small ones."""
    error = small.sum(axis=0)
    while len(terms) > 1:
        half = len(terms) // 2
        pairs, e = _two_sum(terms[:half], terms[half : 2 * half])
        error += e.sum(axis=0)
        terms = np.concatenate([pairs, terms[2 * half :]])
    return np.asarray(terms[0] + error if len(terms) else error)


def add_to_pair(r: Array, low: Array, step: Array) -> tuple[Array, Array]:
    """(r + low) + step, again as a large and a small part."""
    total, error = _two_sum(r, step)
    return _two_sum(total, low + error)
