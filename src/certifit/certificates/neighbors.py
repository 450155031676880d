"""Neighbours: no left-out row is nearer than the k-th; condensed and edited sets keep what they promise.

A sum of products of *differences* has a relative error bound (γ of its length, no cancellation), so plain
double precision decides nearly every comparison. What it cannot decide is compared in rational numbers: for
the euclidean, manhattan, chebyshev, cosine and whole-power minkowski distances that settles every case. Ties
go to the lower row.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from certifit._types import Array
from certifit.certificates._ball import gamma, rational
from certifit.certificates._data import Data, Rigor
from certifit.certificates._record import Check, Kind, Proof, about, equal, lower, register, upper

_ETA = 2.0**-1060  # more than all underflows of one distance together, for up to a thousand features
_ROOM = 2.0**400  # beyond this, squares may leave the range of floats


class _Space:
    """Rows, weights and a metric: distances with bounds, and exact comparison."""

    def __init__(self, X: Array, evidence: Mapping[str, Any]) -> None:
        self.X = np.asarray(X, dtype=float)
        self.d = self.X.shape[1]
        self.metric, self.p = str(evidence["metric"]), float(evidence.get("p", 2.0))
        w = evidence.get("weights")
        self.w = np.ones(self.d) if w is None else np.asarray(w, dtype=float)
        if self.metric not in ("euclidean", "manhattan", "chebyshev", "minkowski", "cosine"):
            raise ValueError(f"unknown metric {self.metric!r}")
        if self.w.shape != (self.d,) or not np.all(np.isfinite(self.w)) or np.any(self.w < 0):
            raise ValueError("feature weights do not fit")
        self._seen: dict[Any, Any] = {}

    def tame(self, Q: Array) -> bool:
        """Whether no square can overflow, so that the bounds mean something."""
        return all(bool(np.all(np.isfinite(A))) and np.max(np.abs(A), initial=0.0) < _ROOM for A in (self.X, Q, self.w))

    def bounds(self, q: Array, rows: Any = slice(None)) -> tuple[Array, Array]:
        """Enclosures of the reduced distances (no root; cosine: the distance itself)."""
        X = self.X[rows]
        if self.metric == "cosine":
            size = np.sqrt((self.w * X * X).sum(axis=1) * (self.w * q * q).sum())
            with np.errstate(invalid="ignore", divide="ignore"):
                value = np.where(size > 0, 1.0 - (self.w * X * q).sum(axis=1) / size, 1.0)
            slack = gamma(6 * self.d + 32)
            return value - slack, value + slack
        gap = np.abs(X - q)
        if self.metric == "euclidean":
            value, error = (self.w * (gap * gap)).sum(axis=1), gamma(self.d + 6)
        elif self.metric == "manhattan":
            value, error = (self.w * gap).sum(axis=1), gamma(self.d + 4)
        elif self.metric == "chebyshev":
            value, error = (self.w * gap).max(axis=1), gamma(4)
        else:
            value, error = (self.w * gap**self.p).sum(axis=1), gamma(self.d + 16 + int(np.ceil(self.p)))
        return value * (1.0 - error) - _ETA, value * (1.0 + error) + _ETA

    def distance(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Enclosures of the distances themselves."""
        if self.metric not in ("euclidean", "minkowski"):
            return np.maximum(low, 0.0), high
        root = 0.5 if self.metric == "euclidean" else 1.0 / self.p
        # The root is good to 4 ulp; 1/p is off by half an ulp, which a logarithm of at most 745 magnifies.
        slack = gamma(16 if root == 0.5 else 1600)
        return np.maximum(low, 0.0) ** root * (1.0 - slack), high**root * (1.0 + slack)

    def order(self, q: Array, a: int, b: int) -> int | None:
        """−1, 0, 1 as row a is nearer than, as near as, farther than row b; None when even this cannot
        tell.
        """
        x, z = self._exact(q, a), self._exact(q, b)
        if isinstance(x, tuple):  # a power that is no whole number: only equal terms are certainly equal
            return 0 if x == z else None
        return int(x > z) - int(x < z)

    def _exact(self, q: Array, row: int) -> Any:
        key = (q.tobytes(), self.X[row].tobytes())
        if key not in self._seen:
            self._seen[key] = self._rational(q, self.X[row])
        return self._seen[key]

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
        power = {"euclidean": 2.0, "manhattan": 1.0}.get(self.metric, self.p)
        if power != int(power):
            return tuple(sorted((g, c) for g, c in zip(gaps, w) if c != 0 and g != 0))
        return sum((c * g ** int(power) for c, g in zip(w, gaps)), rational(0))

    def before(self, q: Array, a: int, b: int) -> bool:
        """Whether row a comes provably before row b."""
        sign = self.order(q, a, b)
        return sign is not None and (sign < 0 or (sign == 0 and a < b))


def _listed_right(space: _Space, q: Array, listed: Array, out: Array, every: bool) -> tuple[bool, float, float]:
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


def _rows(values: Any, n: int, width: int | None = None) -> Array:
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
    theorem = "Comparison of distances with bounded rounding, in rational numbers where that leaves a doubt"

    def prove(self, data: Data, evidence: Mapping[str, Any], rigor: Rigor) -> Proof:
        Q, space = np.asarray(evidence["queries"], dtype=float), _Space(data.X, evidence)
        indices = _rows(evidence["indices"], len(space.X))
        own = evidence.get("own")
        outs = [np.empty(0, np.int64)] * len(Q) if own is None else [np.array([int(i)]) for i in own]
        if own is not None:
            Q_own = space.X[np.asarray(own, dtype=np.int64)]
            if not np.array_equal(Q_own, Q) or np.any(indices == np.asarray(own)[:, None]):
                raise ValueError("a query that leaves itself out must be that row")
        if Q.ndim != 2 or indices.ndim != 2 or len(indices) != len(Q) or Q.shape[1] != space.d or len(Q) == 0:
            raise ValueError("queries and indices do not fit")
        tame = space.tame(Q)
        found = [_listed_right(space, q, i, o, rigor == "exact") for q, i, o in zip(Q, indices, outs)] if tame else []
        wrong = [i for i, f in enumerate(found) if not f[0]]
        text = "all queries" if not wrong else f"not proved for query {wrong[0]}"
        checks = (
            Check("numbers small enough to square", tame),
            Check("no left-out row comes before the last listed one, and the list is in order", not wrong, text),
        )
        figures = {
            "queries": equal(len(Q)),
            "neighbors": equal(int(indices.shape[1])),
            "farthest": upper(max((f[1] for f in found), default=np.inf)),
            "separation": lower(min((f[2] for f in found), default=0.0)),
        }
        return Proof(figures, checks)

    def claim(self, figures: Mapping[str, Any], evidence: Mapping[str, Any]) -> str:
        k, m = figures["neighbors"], figures["queries"]
        rows = "row is" if k == 1 else f"{k} rows are"
        which = "the query" if m == 1 else f"each of {m} queries"
        who = "the nearest training row" if k == 1 else f"the {k} nearest training rows"
        return (
            f"The listed {rows} {who} to {which}, equal distances by lower row number: the last lies within "
            f"{figures['farthest']:.6g}, all others at least {figures['separation']:.3g} farther away."
        )


@register
class GivenDistances(Kind):
    """Evidence: distances (queries × training rows), indices. For a user's own metric, and for given
    distances.
    """

    name = "neighbors-given-distances"
    theorem = "Comparison of the given distances"
    assumes = ("the distances are those of the metric",)

    def prove(self, data: Data, evidence: Mapping[str, Any], rigor: Rigor) -> Proof:
        D = np.asarray(evidence["distances"], dtype=float)
        n = len(data.X)
        indices = _rows(evidence["indices"], n)
        if D.ndim != 2 or D.shape[1] != n or indices.ndim != 2 or len(indices) != len(D) or len(D) == 0:
            raise ValueError("distances and indices do not fit")
        good, last, apart = bool(np.all(np.isfinite(D))), -np.inf, np.inf
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

    def claim(self, figures: Mapping[str, Any], evidence: Mapping[str, Any]) -> str:
        return (
            f"By the distances given, the listed {figures['neighbors']} rows are the nearest to each of "
            f"{figures['queries']} queries, equal distances by lower row number."
        )


@register
class StoredRows(Kind):
    """Evidence: the digest of the model's stored rows, and whether y holds classes or values.

    A rule that sees only the features answers equal rows alike: among rows with equal features all labels
    but the commonest are mistakes that no rule can avoid, and the squared deviations from their mean cannot
    be avoided either. A nearest-neighbour model has no coefficients; this is what can be said about it
    before any query.
    """

    name = "stored-rows"
    theorem = "Equal rows are answered alike"

    def prove(self, data: Data, evidence: Mapping[str, Any], rigor: Rigor) -> Proof:
        if data.y is None:
            raise ValueError("the labels are needed")
        same = Data(data.X).digest() == evidence["rows"]
        _, inverse, counts = np.unique(data.X, axis=0, return_inverse=True, return_counts=True)
        group = inverse.ravel()
        figures = {"rows": equal(len(data.X)), "distinct": equal(len(counts))}
        y = data.y.reshape(len(data.y), -1)
        if evidence["task"] == "classes":
            labels = np.array([repr(list(map(str, v))) for v in y])
            pairs, times = np.unique(np.stack([group.astype(str), labels]), axis=1, return_counts=True)
            best = np.zeros(len(counts), dtype=int)
            np.maximum.at(best, pairs[0].astype(int), times)
            figures["unavoidable"] = equal(int((counts - best).sum()))
        else:
            y = y.astype(float)
            means = np.stack([np.bincount(group, c) / counts for c in y.T], axis=1)
            figures["unavoidable"] = about(float(((y - means[group]) ** 2).sum()))
        return Proof(figures, (Check("the model's rows are the training rows", same, "SHA-256"),))

    def claim(self, figures: Mapping[str, Any], evidence: Mapping[str, Any]) -> str:
        what = (
            f"{figures['unavoidable']} training mistakes are unavoidable"
            if evidence["task"] == "classes"
            else f"a sum of squared training errors of {figures['unavoidable']:.6g} is unavoidable"
        )
        return (
            f"The model answers from the {figures['rows']} training rows as they were given, "
            f"{figures['distinct']} of them distinct; for any rule that sees these features, {what}."
        )


def _first_twins(X: Array, w: Array) -> Array:
    """For each row the first row at distance zero: equal in every feature that counts."""
    _, first, inverse = np.unique(X[:, w > 0], axis=0, return_index=True, return_inverse=True)
    return first[inverse.ravel()]


@register
class Condensed(Kind):
    """Evidence: prototypes (row numbers), metric, p, weights."""

    name = "condensed-neighbors"
    theorem = "Consistency of a condensed set (Hart 1968), checked row by row"

    def prove(self, data: Data, evidence: Mapping[str, Any], rigor: Rigor) -> Proof:
        if data.y is None:
            raise ValueError("the labels are needed")
        space = _Space(data.X, evidence)
        kept = _rows(evidence["prototypes"], len(space.X))
        tame = space.tame(space.X[:1])
        target = data.y[_first_twins(space.X, space.w)]
        agree = sum(self._same(space, i, kept, data.y, target[i]) for i in range(len(space.X))) if tame else 0
        figures = {"rows": equal(len(space.X)), "prototypes": equal(len(kept)), "agreeing": equal(agree)}
        checks = (
            Check("numbers small enough to square", tame),
            Check("every training row keeps its answer", agree == len(space.X), f"{agree} of {len(space.X)}"),
        )
        return Proof(figures, checks)

    @staticmethod
    def _same(space: _Space, i: int, kept: Array, y: Array, label: Any) -> bool:
        q = space.X[i]
        low, high = space.bounds(q, kept)
        best = kept[low <= high.min()]
        if len({str(v) for v in y[best]}) == 1:
            return bool(y[best[0]] == label)
        first = int(best[0])
        for j in best[1:]:
            sign = space.order(q, int(j), first)
            if sign is None:
                return False
            if sign < 0 or (sign == 0 and j < first):
                first = int(j)
        return bool(y[first] == label)

    def claim(self, figures: Mapping[str, Any], evidence: Mapping[str, Any]) -> str:
        return (
            f"The {figures['prototypes']} prototypes answer all {figures['rows']} training rows as the whole "
            "training set does, by the nearest neighbour."
        )


@register
class Edited(Kind):
    """Evidence: kept (row numbers), neighbors (each row's nearest other rows), metric, p, weights."""

    name = "edited-neighbors"
    theorem = "Wilson's editing rule (1972), checked row by row"

    def prove(self, data: Data, evidence: Mapping[str, Any], rigor: Rigor) -> Proof:
        if data.y is None:
            raise ValueError("the labels are needed")
        space = _Space(data.X, evidence)
        n = len(space.X)
        kept, lists = _rows(evidence["kept"], n), _rows(evidence["neighbors"], n)
        if lists.shape[0] != n or np.any(lists == np.arange(n)[:, None]):
            raise ValueError("neighbours do not fit")
        tame = space.tame(space.X[:1])
        nearest = tame and all(_listed_right(space, space.X[i], lists[i], np.array([i]), False)[0] for i in range(n))
        classes, codes = np.unique(data.y, return_inverse=True)
        votes = np.zeros((n, len(classes)), dtype=int)
        for column in codes[lists].T:
            votes[np.arange(n), column] += 1
        right = np.flatnonzero(votes.argmax(axis=1) == codes)
        same = np.array_equal(np.sort(kept), right)
        checks = (
            Check("every list holds the nearest other rows", bool(nearest)),
            Check("kept are exactly the rows that their neighbours' vote confirms", same),
        )
        figures = {"rows": equal(n), "kept": equal(len(kept)), "neighbors": equal(int(lists.shape[1]))}
        return Proof(figures, checks)

    def claim(self, figures: Mapping[str, Any], evidence: Mapping[str, Any]) -> str:
        return (
            f"Of {figures['rows']} training rows exactly the {figures['kept']} kept ones have the label that "
            f"their {figures['neighbors']} nearest other rows vote for."
        )
