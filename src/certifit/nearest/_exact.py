"""Where floats cannot tell which row is nearer: the order of the real numbers, by comparing rationals.

Two cases. Distances that are nearly equal by a metric whose sums the loops do not settle exactly (cosine, Minkowski);
and numbers so large or so small that squares leave the range of floats. Both are rare, and each is given a limited
amount of work; beyond it the order of the computed numbers stands, and the certificate says what it can prove.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from certifit._types import Array
from certifit.certificates import gamma
from certifit.certificates.neighbors import Space
from certifit.nearest._brute import Queries
from certifit.nearest._metrics import Metric

_WIDE = 2.0**400  # numbers within 1/_WIDE.._WIDE have squares and errors of squares inside the range of floats
_HEAVY = 2.0**50  # and so have their products with weights within 1/_HEAVY.._HEAVY
_ENTRIES = 1 << 27  # numbers of X looked at in floats on behalf of doubtful queries
_RATIONALS = 1 << 18  # numbers turned into rationals


def leaves_range(A: Array, limit: float = _WIDE) -> Array:
    """Which rows hold a number (other than zero) whose square might leave the range of floats."""
    size = np.abs(A)
    out = (size > limit) | ((size < 1.0 / limit) & (size > 0))
    # Short rows are slow to reduce one by one, and hardly any table has such numbers.
    return np.any(out, axis=-1) if np.any(out) else np.zeros(A.shape[:-1], dtype=bool)


def nearly_equal(values: Array, metric: Metric, d: int) -> Array:
    """Which neighbouring pairs (…, i, i + 1) of rising reduced distances rounding cannot tell apart."""
    near, far = values[:, :-1], values[:, 1:]
    with np.errstate(invalid="ignore"):
        if metric.name == "cosine":  # squared distances of unit vectors, each off by at most (d + 18)/2 units
            off = (d + 18) * 2.0**-53
            room = 4.0 * np.sqrt(far) * off + 2.0 * off * off + 2.0 * gamma(d + 8) * far
        else:
            room = 4.0 * gamma(d + 16 + math.ceil(metric.p)) * far
        return np.isfinite(far) & ~(far - near > room)


class ExactOrder:
    """The nearest rows by exact comparison, for the queries that ask for it."""

    def __init__(self, X: Array, metric: Metric, searched: Array) -> None:
        """``searched`` are the rows as the loops see them: on another scale, or of unit length."""
        self.space = Space(X, metric.name, metric.p, metric.weights)
        heavy = metric.weights is not None and bool(leaves_range(metric.weights, _HEAVY))
        self.metric = metric
        self.always = heavy or bool(np.any(self._odd(X, searched)))

    def _odd(self, A: Array, searched: Array) -> Array:
        """Which rows are beyond the loops: numbers out of range, or lost when they were scaled."""
        if searched is A:
            return leaves_range(A)
        lost = (searched[:, : self.space.d] == 0) & (A != 0) & (self.space.w > 0)
        return np.asarray(leaves_range(searched) | np.any(lost, axis=1))

    def doubtful(self, asked: Queries, searched: Array, values: Array, found: Array) -> Array:
        """Which queries have to be looked at again, given their nearest k + 1 (or all there are) as computed."""
        if not self.space.decidable:
            return np.zeros(len(asked), dtype=bool)
        if self.always:
            return np.ones(len(asked), dtype=bool)
        out = self._odd(asked.Q, searched)
        if self.metric.name not in ("cosine", "minkowski"):
            return out
        i, j = np.nonzero(nearly_equal(values, self.metric, self.space.d))
        a, b = found[i, j], found[i, j + 1]
        twins = np.all(self.space.X[a] == self.space.X[b], axis=1) & (a < b)  # equal rows are in order as they are
        out[i[~twins]] = True
        return out

    def redo(self, asked: Queries, which: Array, values: Array, found: Array) -> None:
        """Distances and row numbers of these queries anew, as far as the allowance goes."""
        n, d = self.space.X.shape
        entries, rationals = _ENTRIES, _RATIONALS
        for i in np.flatnonzero(which):
            q = asked.Q[i]
            low, high = self.space.bounds(q)
            allowed = asked.group_x != asked.group_q[i] if len(asked.group_q) else np.ones(n, dtype=bool)
            rows = np.flatnonzero(allowed)
            k = min(asked.k, len(rows))
            if k == 0:
                continue
            last = np.partition(high[rows], k - 1)[k - 1]
            near = rows[low[rows] <= last]
            entries, rationals = entries - n * d, rationals - len(near) * d
            if entries < 0 or rationals < 0:
                return
            keys = {int(j): self.space.key(q, int(j)) for j in near}
            order = sorted(keys, key=lambda j: (keys[j], j))[:k]
            found[i, :k] = order
            values[i, :k] = [self._distance(q, keys[j]) for j in order]
            self.space.forget()

    def _distance(self, q: Array, key: Any) -> float:
        """The distance that an exact key stands for."""
        ratio = key if isinstance(key, Fraction) else Fraction(int(key.p), int(key.q))
        if self.space.metric == "cosine":
            size = sum((Fraction(w) * Fraction(v) ** 2 for w, v in zip(self.space.w.tolist(), q.tolist())), Fraction(0))
            if size == 0 or ratio == 0:
                return 1.0
            square = min(abs(ratio) / size, Fraction(1))  # of the cosine
            if ratio > 0:
                return 1.0 + math.sqrt(square)
            return float(1 - square) / (1.0 + math.sqrt(square))
        power = int(self.space.power) if self.space.metric in ("euclidean", "minkowski") else 1
        return _root(ratio, power)


def _root(x: Fraction, power: int) -> float:
    """x^(1/power) of a rational that may itself lie beyond the floats."""
    if x == 0:
        return 0.0
    shift = (x.numerator.bit_length() - x.denominator.bit_length()) // power
    scaled = x / Fraction(2) ** (shift * power)
    try:
        return math.ldexp(float(scaled) ** (1.0 / power), shift)
    except OverflowError:
        return math.inf
