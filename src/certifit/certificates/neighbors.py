"""Neighbours: no left-out row is nearer than the k-th; condensed and edited sets keep what they promise.

A sum of products of *differences* has a relative error bound (γ of its length, no cancellation), so plain
double precision decides nearly every comparison. What it cannot decide, because distances are nearly equal or
because numbers leave the range of floats, is compared in rational numbers: for the euclidean, manhattan, chebyshev,
cosine and whole-power minkowski distances that settles every case. Ties go to the lower row.
"""

from __future__ import annotations

import math
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from certifit._types import Array
from certifit.certificates._ball import gamma, rational
from certifit.certificates._data import Data, Evidence, Figures, Rigor
from certifit.certificates._record import Check, Kind, Proof, about, equal, lower, register, upper
from certifit.certificates._schema import FINITE, NUMBER, TEXT, WHOLE, word

_METRICS = ("euclidean", "manhattan", "chebyshev", "minkowski", "cosine")
_LOST = 2.0**-1070  # more than one underflow loses
_ROOM = 2.0**400  # beyond this, squares may leave the range of floats
_SAFE = 2.0**-900  # a weighted sum of squares above this has lost nothing that counts to underflow
_HIGHEST_POWER = 2.0**20  # beyond, rounding leaves nothing to compare
_ODD = 0x9E3779B97F4A7C15  # spreads the bits of a word over all of them, modulo 2⁶⁴
_EXACT_POWER = 64  # whole powers up to this are raised exactly
SPACE = {"metric": word(*_METRICS)}
SPACE_MAY = {"p": NUMBER, "weights": FINITE}


def _near_one(largest: Any) -> Any:
    """A power of two that brings numbers of at most this size to about one (as near as a float can)."""
    exponent = np.frexp(largest)[1]
    return np.where(np.asarray(largest) > 0, np.ldexp(1.0, np.clip(-exponent, -1000, 1000)), 1.0)[()]


class Space:
    """Rows, weights and a metric: distances with bounds, and exact comparison.

    Distances are *reduced*: without the root; cosine is the distance itself. The cosine distance to or from a row
    of zeros is 1.
    """

    def __init__(self, X: Array, metric: str, p: float = 2.0, weights: Array | None = None) -> None:
        self.X = np.asarray(X, dtype=float)
        self.d = self.X.shape[1]
        self.metric = str(metric)
        self.power = {"euclidean": 2.0, "manhattan": 1.0}.get(self.metric, float(p))
        self.w = np.ones(self.d) if weights is None else np.asarray(weights, dtype=float)
        if self.metric not in _METRICS:
            raise ValueError(f"unknown metric {self.metric!r}")
        if self.metric == "minkowski" and not (0.0 < self.power <= _HIGHEST_POWER):
            raise ValueError("the power of a distance is positive and finite")
        if self.w.shape != (self.d,) or not np.all(np.isfinite(self.w)) or np.any(self.w < 0):
            raise ValueError("feature weights do not match")
        if not np.all(np.isfinite(self.X)):
            raise ValueError("the rows are not finite")
        self._keys: dict[tuple[bytes, bytes], Any] = {}
        # Enclosures are made on rows times a power of two, which is exact but for what `_LOST` covers.
        largest = float(np.max(np.abs(self.X), initial=0.0))
        odd = largest > 0.0 and not 1.0 / _ROOM < largest < _ROOM
        self.scale = _near_one(largest) if odd and self.power >= 1.0 and self.metric != "cosine" else 1.0
        if self.metric == "cosine":  # which does not depend on the length of a row
            self._points = self.X * _near_one(np.max(np.abs(self.X), axis=1, keepdims=True, initial=0.0))
        else:
            self._points = self.X if self.scale == 1.0 else self.X * self.scale

    @classmethod
    def of(cls, data: Data, evidence: Evidence) -> Space:
        """The space that a certificate speaks about; only a Minkowski distance has a power ``p``."""
        if ("p" in evidence) != (evidence["metric"] == "minkowski"):
            raise ValueError("a Minkowski distance has a power, and no other has")
        if not data.X.shape[1]:
            raise ValueError("rows without columns have no distance")
        return cls(data.X, evidence["metric"], float(evidence.get("p", 2.0)), evidence.get("weights"))

    @property
    def decidable(self) -> bool:
        """Whether exact comparison settles every case: all but powers that are not (smallish) integers."""
        return self.metric in ("cosine", "chebyshev") or (self.power == int(self.power) and self.power <= _EXACT_POWER)

    def bounds(self, q: Array, rows: Array | slice = slice(None)) -> tuple[Array, Array]:
        """Enclosures of the reduced distances of the scaled rows; as wide as can be beyond the range of floats.

        For many q at once, each with as many rows of its own: q (m, 1, d) and rows (m, k); not by cosine.
        """
        X = self._points[rows]
        with np.errstate(all="ignore"):
            if self.metric == "cosine":
                return self._cosine_bounds(X, q * _near_one(np.max(np.abs(q), initial=0.0)))
            q = q * self.scale
            gap = np.abs(X - q)
            if self.metric == "chebyshev":
                value, error = (self.w * gap).max(axis=-1), gamma(4)
            else:
                parts = gap if self.power == 1.0 else gap * gap if self.power == 2.0 else gap**self.power
                value, error = (self.w * parts).sum(axis=-1), gamma(self.d + 16 + int(np.ceil(self.power)))
            lost = 4.0 * self.d * _LOST * (1.0 + float(np.max(self.w, initial=0.0)))  # a weight magnifies underflow
            low, high = value * (1.0 - error) - lost, value * (1.0 + error) + lost
        fine = np.isfinite(low) & np.isfinite(high)
        return np.where(fine, low, 0.0), np.where(fine, high, np.inf)

    def maybe_nearer(self, rows: Array, radii: Array) -> Array:
        """Which rows (m, n) may be nearer to ``rows`` (m,) than ``radii`` (m,); reduced euclidean distances.

        ‖x − q‖² = ‖x‖² + ‖q‖² − 2 x·q, one product of matrices for all, is off by some roundings of ‖x‖² + ‖q‖². The
        squared lengths are two more terms of that product: adding them afterwards would be two more passes.
        """
        left, right = self._weighted
        with np.errstate(all="ignore"):
            low = left[rows] @ right
            lost = 8.0 * self.d * _LOST * (1.0 + float(np.max(self.w, initial=0.0)))
            far = low >= (radii + lost)[:, None]
        return np.asarray(np.logical_not(far, out=far))

    @cached_property
    def _weighted(self) -> tuple[Array, Array]:
        """Rows (n, d + 2) and columns (d + 2, n) whose products are squared distances.

        The squared lengths among them are less by what rounding may do to a distance: each length is off by γ₍d₊₃₎ of
        itself, and the product of d + 2 terms by γ₍d₊₃₎ of ‖x‖² + ‖q‖² + 2|x·q|, which is at most twice ‖x‖² + ‖q‖².
        """
        with np.errstate(all="ignore"):
            heavy = self.w * self._points
            sizes = (1.0 - gamma(4 * self.d + 32)) * (heavy * self._points).sum(axis=1)
        ones = np.ones(len(sizes))
        left = np.column_stack([-2.0 * self._points, sizes, ones])
        return left, np.ascontiguousarray(np.column_stack([heavy, ones, sizes]).T)

    def _cosine_bounds(self, X: Array, q: Array) -> tuple[Array, Array]:
        sizes = (self.w * X * X).sum(axis=1), float((self.w * q * q).sum())
        value = 1.0 - (self.w * X * q).sum(axis=1) / np.sqrt(sizes[0] * sizes[1])
        slack = gamma(6 * self.d + 32)
        fine = np.isfinite(value)
        for size in sizes:
            fine &= (size > _SAFE) & (size < 1.0 / _SAFE)
        fine &= (sizes[0] * sizes[1] > _SAFE) & (sizes[0] * sizes[1] < 1.0 / _SAFE)
        low, high = np.where(fine, value - slack, 0.0), np.where(fine, value + slack, 2.0)
        counts = self.w > 0
        zero = np.all(X[:, counts] == 0, axis=1) | bool(np.all(q[counts] == 0))
        return np.where(zero, 1.0, low), np.where(zero, 1.0, high)

    def distance(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Enclosures of the distances themselves."""
        if self.metric not in ("euclidean", "minkowski"):
            return self._unscaled(np.maximum(low, 0.0), high)
        # The root is good to 4 ulp; 1/p is off by half an ulp, which a logarithm of at most 745 magnifies.
        root = 1.0 / self.power
        slack = gamma(16 if self.power == 2.0 else 16 + 800 * math.ceil(root))
        return self._unscaled(np.maximum(low, 0.0) ** root * (1.0 - slack), high**root * (1.0 + slack))

    def _unscaled(self, low: Array, high: Array) -> tuple[Array, Array]:
        if self.scale == 1.0:
            return low, high
        with np.errstate(over="ignore", under="ignore"):  # what leaves the range of floats is moved outward
            low, high = low / self.scale, high / self.scale
        return np.where(np.isinf(low), np.finfo(float).max, np.nextafter(low, 0.0)), np.nextafter(high, np.inf)

    def order(self, q: Array, a: int, b: int) -> int | None:
        """−1, 0, 1 as row a is nearer than, as near as, farther than row b; None when even this cannot
        tell.
        """
        x, z = self.key(q, a), self.key(q, b)
        if isinstance(x, tuple):  # a power that is not an integer: only equal terms are certainly equal
            return 0 if x == z else None
        return int(x > z) - int(x < z)

    def key(self, q: Array, row: int) -> Any:
        """A rational number that grows with the distance (`decidable` metrics), or the terms of the sum."""
        at = (q.tobytes(), self.X[row].tobytes())
        if at not in self._keys:
            self._keys[at] = self._rational(q, self.X[row])
        return self._keys[at]

    def _rational(self, q: Array, x: Array) -> Any:
        w = [rational(v) for v in self.w]
        xs, qs = [rational(v) for v in x], [rational(v) for v in q]
        if self.metric == "cosine":  # −sign(s)s²/‖x‖² grows with the distance; a zero row is orthogonal to all
            s = sum((c * a * b for c, a, b in zip(w, xs, qs)), rational(0))
            size = sum((c * a * a for c, a in zip(w, xs)), rational(0))
            return rational(0) if size == 0 else (-s * s if s > 0 else s * s) / size
        gaps = [abs(a - b) for a, b in zip(xs, qs)]
        if self.metric == "chebyshev":
            return max(c * g for c, g in zip(w, gaps))
        if not self.decidable:
            return tuple(sorted((g, c) for g, c in zip(gaps, w) if c != 0 and g != 0))
        return sum((c * g ** int(self.power) for c, g in zip(w, gaps)), rational(0))

    def within(self, q: Array, row: int, radius: float) -> bool | None:
        """Whether the row lies at most ``radius`` ≥ 0 away from q, exactly; None when even this cannot tell."""
        r, x = rational(radius), self.X[row]
        if self.metric == "cosine":
            w = [rational(v) for v in self.w]
            xs, qs = [rational(v) for v in x], [rational(v) for v in q]
            s = sum((c * a * b for c, a, b in zip(w, xs, qs)), rational(0))
            sizes = [sum((c * a * a for c, a in zip(w, v)), rational(0)) for v in (xs, qs)]
            if 0 in sizes:
                return bool(r >= 1)
            bound = (1 - r) * abs(1 - r) * sizes[0] * sizes[1]  # s ≥ (1 − r)‖x‖‖q‖, both sides squared with their signs
            return bool(s * abs(s) >= bound)
        key = self.key(q, row)
        if isinstance(key, tuple):  # a power that is not an integer: the sum is known when it has no terms
            return True if not key else None
        return bool(key <= (r if self.metric == "chebyshev" else r ** int(self.power)))

    def forget(self) -> None:
        """Let go of the numbers kept for comparison."""
        self._keys.clear()

    def before(self, q: Array, a: int, b: int) -> bool:
        """Whether row a comes provably before row b."""
        sign = self.order(q, a, b)
        return sign is not None and (sign < 0 or (sign == 0 and a < b))


def distance_words(evidence: Evidence) -> str:
    """The distance that a claim is about."""
    name = str(evidence["metric"])
    words = f"Minkowski distance (p = {float(evidence['p']):g})" if name == "minkowski" else f"{name} distance"
    return words if evidence.get("weights") is None else f"weighted {words}"


def _listed_right(space: Space, q: Array, listed: Array, out: Array, every: bool) -> tuple[bool, float, float]:
    """Whether ``listed`` is sorted and no row outside it (and not in ``out``) comes before its last.

    Returns also an upper bound on the last distance and a lower bound on how much farther the rest is.
    """
    low, high = space.bounds(q)
    last = int(listed[-1])
    rest = np.ones(len(space.X), dtype=bool)
    rest[listed] = False
    rest[out] = False
    doubt = np.flatnonzero(rest if every else rest & ~(low > high[last]))
    good = all(space.before(q, last, int(j)) for j in doubt)
    for a, b in pairwise(listed):
        if every or not high[a] < low[b]:
            good = good and space.before(q, int(a), int(b))
    _, near_high = space.distance(low[[last]], high[[last]])
    if not np.any(rest):
        return good, float(near_high[0]), float("inf")
    far, _ = space.distance(low[rest].min(keepdims=True), high[[last]])
    apart = float(far[0]) - float(near_high[0])
    return good, float(near_high[0]), max(0.0, apart - 4e-16 * float(near_high[0]))


def whole_rows(values: Array, n: int, width: int | None = None) -> Array:
    """Row numbers from evidence, refused unless they are whole, in range and (in each line) distinct."""
    rows = np.asarray(values)
    whole = rows.astype(np.int64)
    if not np.array_equal(whole, rows) or np.any(whole < 0) or np.any(whole >= n):
        raise ValueError("row numbers out of range")
    lines = np.sort(np.atleast_2d(whole), axis=1)
    if np.any(lines[:, 1:] == lines[:, :-1]):
        raise ValueError("a row is listed twice")
    return whole


@register
class Neighbors(Kind):
    """Evidence: queries, indices (one line per query), metric, p, weights; ``own`` (the query is that row:
    left out).
    """

    name = "neighbors"
    theorem = "Comparison of distances with bounded rounding, in rational numbers where that is not conclusive"
    needs: ClassVar = {"queries": FINITE, "indices": WHOLE, **SPACE}
    may: ClassVar = {"own": WHOLE, **SPACE_MAY}

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        Q, space = np.asarray(evidence["queries"], dtype=float), Space.of(data, evidence)
        indices = whole_rows(evidence["indices"], len(space.X))
        if Q.ndim != 2 or indices.ndim != 2 or len(indices) != len(Q) or Q.shape[1] != space.d or len(Q) == 0:
            raise ValueError("queries and indices do not match")
        if not np.all(np.isfinite(Q)):
            raise ValueError("the queries are not finite")
        own = evidence.get("own")
        outs = [np.empty(0, np.int64)] * len(Q)
        if own is not None:
            outs = list(whole_rows(np.asarray(own)[:, None], len(space.X)))
            mine = np.concatenate(outs)
            if len(mine) != len(Q) or not np.array_equal(space.X[mine], Q) or np.any(indices == mine[:, None]):
                raise ValueError("a query that leaves itself out must be that row")
        found = [_listed_right(space, q, i, o, rigor == "exact") for q, i, o in zip(Q, indices, outs)]
        wrong = [i for i, f in enumerate(found) if not f[0]]
        text = "all queries" if not wrong else f"not proved for query {wrong[0]}"
        checks = (Check("no left-out row comes before the last listed one, and the list is in order", not wrong, text),)
        figures = {
            "queries": equal(len(Q)),
            "neighbors": equal(int(indices.shape[1])),
            "farthest": upper(max(f[1] for f in found)),
            "separation": lower(min(f[2] for f in found)),
        }
        return Proof(figures, checks)

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        k, m = figures["neighbors"], figures["queries"]
        rows = "row is" if k == 1 else f"{k} rows are"
        itself = evidence.get("own") is not None
        other = "other training row" if itself else "training row"
        who = f"the nearest {other}" if k == 1 else f"the {k} nearest {other}s"
        which = "the query" if m == 1 else f"each of {m} queries"
        if itself:
            which = f"training row {int(evidence['own'][0])}" if m == 1 else f"each of {m} training rows"
        return (
            f"By {distance_words(evidence)}, the listed {rows} {who} to {which}, equal distances by lower row number: "
            f"the last lies within {figures['farthest']:.6g}, "
            f"all others at least {figures['separation']:.3g} farther away."
        )


@register
class GivenDistances(Kind):
    """Evidence: distances (queries × training rows), indices. For a user's own metric, and for given
    distances.
    """

    name = "neighbors-given-distances"
    theorem = "Comparison of the given distances"
    needs: ClassVar = {"distances": FINITE, "indices": WHOLE}
    assumes = ("the distances are those of the metric",)

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        D = np.asarray(evidence["distances"], dtype=float)
        n = len(data.X)
        indices = whole_rows(evidence["indices"], n)
        if D.ndim != 2 or D.shape[1] != n or indices.ndim != 2 or len(indices) != len(D) or len(D) == 0:
            raise ValueError("distances and indices do not match")
        good, last, apart = bool(np.all(np.isfinite(D) & (D >= 0.0))), -np.inf, np.inf
        for row, listed in zip(D, indices):
            best = np.lexsort((np.arange(n), row))
            good = good and np.array_equal(best[: len(listed)], listed)
            last = max(last, row[listed[-1]])
            if len(listed) < n:
                apart = min(apart, max(0.0, row[best[len(listed)]] - row[listed[-1]]))
        figures = {
            "queries": equal(len(D)),
            "neighbors": equal(int(indices.shape[1])),
            "farthest": upper(last),
            "separation": about(apart),
        }
        return Proof(figures, (Check("the listed rows have the smallest distances, in order", good),))

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        return (
            f"By the distances given, the listed {figures['neighbors']} rows are the nearest to each of "
            f"{figures['queries']} queries, equal distances by lower row number."
        )


@register
class StoredRows(Kind):
    """Evidence: the digest of the model's stored rows, and whether y holds classes or values, or is not there.

    A rule that sees only the features answers equal rows alike: among rows with equal features all labels
    but the commonest are mistakes that no rule can avoid, and the squared deviations from their mean cannot
    be avoided either. A nearest-neighbour model has no coefficients; this is what can be said about it
    before any query.
    """

    name = "stored-rows"
    theorem = "Equal rows get equal predictions"
    needs: ClassVar = {"rows": TEXT, "task": word("classes", "values", "none")}

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        if evidence["task"] not in (("none",) if data.y is None else ("classes", "values")):
            raise ValueError("labels are needed, or none where the model has none")
        same = Data(data.X).digest() == evidence["rows"]
        first, group = _equal_rows(data.X)
        counts = np.bincount(group)
        figures = {"rows": equal(len(data.X)), "distinct": equal(len(first))}
        if data.y is None:
            return Proof(figures, (Check("the model's rows are the training rows", same, "SHA-256"),))
        y = data.y.reshape(len(data.y), -1)
        if evidence["task"] == "classes":
            names, label = np.unique(_label_words(y), return_inverse=True)
            pairs, times = np.unique(group * len(names) + label, return_counts=True)
            best = np.zeros(len(counts), dtype=int)
            np.maximum.at(best, pairs // len(names), times)
            figures["unavoidable"] = equal(int((counts - best).sum()))
        else:
            y = data.real_targets().reshape(len(y), -1)
            away = y - y[first[group]]  # of equal targets exactly zero, whatever their mean is rounded to
            means = np.stack([np.bincount(group, c) / counts for c in away.T], axis=1)
            figures["unavoidable"] = about(float(((away - means[group]) ** 2).sum()))
        finite = bool(np.isfinite(figures["unavoidable"].stated))
        told = Check("the model's rows are the training rows", same, "SHA-256")
        checks = (told, Check("the sums are finite", finite))
        return Proof(figures, checks)

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        if evidence["task"] == "none":
            return (
                f"The model predicts from the {figures['rows']} training rows as they were given, "
                f"{figures['distinct']} of them distinct."
            )
        what = (
            f"{figures['unavoidable']} training mistakes are unavoidable"
            if evidence["task"] == "classes"
            else f"a sum of squared training errors of {figures['unavoidable']:.6g} is unavoidable"
        )
        return (
            f"The model predicts from the {figures['rows']} training rows as they were given, "
            f"{figures['distinct']} of them distinct; for any rule that sees these features, {what}."
        )


def _equal_rows(X: Array) -> tuple[Array, Array]:
    """The first of every set of equal rows, and the number of the set that each row is in.

    Rows are sorted by one number each, a sum over their bits, and then compared with the first of their set.
    """
    if isinstance(X, np.ndarray) and X.dtype.kind == "f":
        words = np.ascontiguousarray(X + 0.0, dtype="<f8").view("<u8")  # −0 and 0 are equal
        words = words * np.uint64(_ODD)
        words ^= words >> np.uint64(32)
        powers = np.array([pow(_ODD, j + 2, 2**64) for j in range(words.shape[1])], dtype=np.uint64)
        sums = (words * powers).sum(axis=1, dtype=np.uint64)
        _, first, inverse = np.unique(sums, return_index=True, return_inverse=True)
        if np.array_equal(X, X[first[inverse]]):  # not so for NaN, or if unequal rows had the same sum
            return first, inverse
    _, first, inverse = np.unique(X, axis=0, return_index=True, return_inverse=True)
    return first, inverse.ravel()


def _label_words(y: Array) -> Array:
    """Labels (rows of y) as something to sort by: numbers by their bits, others by their words."""
    y = y + 0.0 if y.dtype.kind == "f" else y  # −0 and 0 are one label
    if y.shape[1] == 1 and y.dtype.kind == "f" and not np.any(np.isnan(y)):
        return np.ascontiguousarray(y[:, 0]).view(np.int64)
    return np.array([repr(list(map(str, v))) for v in y])


def _first_twins(X: Array, w: Array) -> Array:
    """For each row the first row at distance zero: equal in every feature that counts."""
    first, group = _equal_rows(X[:, w > 0])
    return first[group]


@register
class Condensed(Kind):
    """Evidence: prototypes (row numbers), metric, p, weights."""

    name = "condensed-neighbors"
    theorem = "Consistency of a condensed set (Hart 1968), checked row by row"
    needs: ClassVar = {"prototypes": WHOLE, **SPACE}
    may: ClassVar = SPACE_MAY

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        if data.y is None:
            raise ValueError("the labels are needed")
        space = Space.of(data, evidence)
        if space.metric == "cosine":
            raise ValueError("rows at cosine distance zero need not be equal")
        kept = whole_rows(evidence["prototypes"], len(space.X))
        if kept.ndim != 1:
            raise ValueError("the prototypes are one list of row numbers")
        codes = np.unique(data.y, return_inverse=True)[1].ravel()
        target = codes[_first_twins(space.X, space.w)]
        agree = sum(self._same(space, i, kept, codes, int(target[i])) for i in range(len(space.X)))
        figures = {"rows": equal(len(space.X)), "prototypes": equal(len(kept)), "agreeing": equal(agree)}
        told = f"{agree} of {len(space.X)}"
        return Proof(figures, (Check("every training row keeps its prediction", agree == len(space.X), told),))

    @staticmethod
    def _same(space: Space, i: int, kept: Array, codes: Array, label: int) -> bool:
        q = space.X[i]
        low, high = space.bounds(q, kept)
        best = kept[low <= high.min()]
        if len(np.unique(codes[best])) == 1:
            return bool(codes[best[0]] == label)
        first = int(best[0])
        for j in best[1:]:
            sign = space.order(q, int(j), first)
            if sign is None:
                return False
            if sign < 0 or (sign == 0 and j < first):
                first = int(j)
        return bool(codes[first] == label)

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        return (
            f"The {figures['prototypes']} prototypes give all {figures['rows']} training rows the same prediction "
            f"as the whole training set, by the nearest neighbour in {distance_words(evidence)}."
        )


@register
class Edited(Kind):
    """Evidence: kept (row numbers), neighbors (each row's nearest other rows), metric, p, weights."""

    name = "edited-neighbors"
    theorem = "Wilson's editing rule (1972), checked row by row"
    needs: ClassVar = {"kept": WHOLE, "neighbors": WHOLE, **SPACE}
    may: ClassVar = SPACE_MAY

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        if data.y is None:
            raise ValueError("the labels are needed")
        space = Space.of(data, evidence)
        n = len(space.X)
        kept, lists = whole_rows(evidence["kept"], n), whole_rows(evidence["neighbors"], n)
        if lists.shape[0] != n or np.any(lists == np.arange(n)[:, None]):
            raise ValueError("neighbours do not match")
        nearest = all(_listed_right(space, space.X[i], lists[i], np.array([i]), False)[0] for i in range(n))
        classes, codes = np.unique(data.y, return_inverse=True)
        votes = np.zeros((n, len(classes)), dtype=int)
        for column in codes[lists].T:
            votes[np.arange(n), column] += 1
        right = np.flatnonzero(votes.argmax(axis=1) == codes)
        same = np.array_equal(np.sort(kept), right)
        checks = (
            Check("every list holds the nearest other rows", nearest),
            Check("kept are exactly the rows that their neighbours' vote confirms", same),
        )
        figures = {"rows": equal(n), "kept": equal(len(kept)), "neighbors": equal(int(lists.shape[1]))}
        return Proof(figures, checks)

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        return (
            f"Of {figures['rows']} training rows exactly the {figures['kept']} kept ones have the label that "
            f"their {figures['neighbors']} nearest other rows vote for, by {distance_words(evidence)}."
        )
