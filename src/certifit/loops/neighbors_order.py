"""Exact comparison of distances: what rounding left undecided is decided here, with no error at all.

The data are floats, and a float is a rational number; sums of products of floats are compared as such, by
Dekker's and Shewchuk's error-free transformations: a + b and a·b are split into a rounded result and its
exact error, and the sign of a long sum is read off an expansion of non-overlapping parts (J. R. Shewchuk,
"Adaptive precision floating-point arithmetic", 1997, grow-expansion with zero elimination). Valid as long as
nothing over- or underflows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from certifit._types import Array, Matrix
from certifit.loops._jit import njit
from certifit.loops._tiers import tiered

_UNCOUNTED: dict[str, Any] = {"_nrt": False}
_jit: Any = njit(nogil=True)
_inner: Any = njit(nogil=True, **_UNCOUNTED)

_SPLIT = 134217729.0  # 2²⁷ + 1


@_inner
def _two_sum(a: float, b: float) -> tuple[float, float]:
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@_inner
def _two_product(a: float, b: float) -> tuple[float, float]:
    p = a * b
    t = _SPLIT * a
    ah = t - (t - a)
    al = a - ah
    t = _SPLIT * b
    bh = t - (t - b)
    bl = b - bh
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


@_inner
def _grow(parts: Array, count: int, term: float) -> int:
    """Add one float to an expansion (smallest part first, no zeros); returns the new number of parts."""
    kept = 0
    for i in range(count):
        term, error = _two_sum(term, parts[i])
        if error != 0.0:
            parts[kept] = error
            kept += 1
    if term != 0.0:
        parts[kept] = term
        kept += 1
    return kept


@_inner
def _grow_product(parts: Array, count: int, a: float, b: float, weight: float) -> int:
    """Add weight·a·b."""
    high, low = _two_product(a, b)
    if weight == 1.0 or weight == -1.0:
        count = _grow(parts, count, weight * high)
        return _grow(parts, count, weight * low)
    for v in (high, low):
        x, y = _two_product(weight, v)
        count = _grow(parts, count, x)
        count = _grow(parts, count, y)
    return count


@_inner
def _grow_term(parts: Array, count: int, x: float, q: float, weight: float, code: int) -> int:
    """Add weight·(x − q)² (code 0) or weight·|x − q| (codes 1 and 2)."""
    a, b = _two_sum(x, -q)
    if code == 0:
        count = _grow_product(parts, count, a, a, weight)
        count = _grow_product(parts, count, 2.0 * a, b, weight)
        return _grow_product(parts, count, b, b, weight)
    sign = -1.0 if a < 0.0 else 1.0
    count = _grow_product(parts, count, sign, a, weight)
    return _grow_product(parts, count, sign, b, weight)


@_inner
def _sign(parts: Array, count: int) -> int:
    """The last part of an expansion dominates all others."""
    return 0 if count == 0 else (1 if parts[count - 1] > 0.0 else -1)


@_inner
def _farthest(Q: Array, at: int, X: Array, a: int, w: Array, parts: Array) -> int:
    """The feature in which row a is farthest from the query."""
    best = 0
    for c in range(1, Q.shape[1]):
        count = _grow_term(parts, 0, X[a, c], Q[at, c], w[c], 2)
        count = _grow_term(parts, count, X[a, best], Q[at, best], -w[best], 2)
        if _sign(parts, count) > 0:
            best = c
    return best


@_inner
def compare(Q: Array, at: int, X: Array, a: int, b: int, w: Array, code: int, parts: Array) -> int:
    """Sign of (distance of row a) − (distance of row b) to query ``at``: −1, 0 or 1, exactly."""
    count = 0
    if code == 2:
        i, j = _farthest(Q, at, X, a, w, parts), _farthest(Q, at, X, b, w, parts)
        count = _grow_term(parts, 0, X[a, i], Q[at, i], w[i], 2)
        count = _grow_term(parts, count, X[b, j], Q[at, j], -w[j], 2)
    else:
        for c in range(Q.shape[1]):
            if X[a, c] != X[b, c]:
                count = _grow_term(parts, count, X[a, c], Q[at, c], w[c], code)
                count = _grow_term(parts, count, X[b, c], Q[at, c], -w[c], code)
    return _sign(parts, count)


@tiered(lambda Q, X, w, code, band, values, found, parts: 1e-5 * values.size)
@_inner
def settle(Q: Matrix, X: Array, w: Array, code: int, band: float, values: Array, found: Array, parts: Array) -> int:
    """Sort each row's runs of values closer than the relative ``band`` exactly, ties by lower row number.

    Returns how many comparisons were made. Entries beyond the last row (found = n) stay at the end.
    """
    n, made = len(X), 0
    for at in range(values.shape[0]):
        for i in range(1, values.shape[1]):
            value, row = values[at, i], found[at, i]
            j = i
            while j > 0 and row < n and value <= values[at, j - 1] * (1.0 + band):
                made += 1
                sign = compare(Q, at, X, row, found[at, j - 1], w, code, parts)
                if sign > 0 or (sign == 0 and row > found[at, j - 1]):
                    break
                values[at, j], found[at, j] = values[at, j - 1], found[at, j - 1]
                j -= 1
            values[at, j], found[at, j] = value, row
        for i in range(1, values.shape[1]):  # the rounded values follow the exact order
            values[at, i] = max(values[at, i], values[at, i - 1])
    return made


def warm() -> None:
    """Call the loop once, so that it is compiled and cached."""
    X, w = np.array([[1.0], [1.0]]), np.ones(1)
    settle(X, X, w, 0, 1e-15, np.zeros((2, 2)), np.array([[1, 0], [0, 1]]), np.empty(64))
