"""The best split of every node of one level of a tree, in plain NumPy with outward rounding.

The cost of a division is the sum of weight × impurity over both sides (for the squared error without the part that no
division changes), from sums with proved bounds (`tree_sums`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from certifit._types import Array, Numeric
from certifit.certificates._ball import ETA, UNIT, Ball, gamma
from certifit.certificates._by_class import class_codes
from certifit.certificates._data import Evidence
from certifit.certificates.tree_sums import Counts, LevelRows, Sums

_BLOCK = 1 << 13  # splits whose costs are computed at a time, within the cache
ENUMERATE = 10  # categories in a node up to which all groupings of a many-class target are compared


def cost(left: Ball, right: Ball, criterion: str) -> Ball:
    """Weight × impurity of both sides (rows of a table), each with its rounding bound."""
    if criterion == "squared_error":
        return -(left[:, 1].square() / left[:, 0] + right[:, 1].square() / right[:, 0])
    return side_cost(left, criterion) + side_cost(right, criterion)


def side_cost(side: Ball, criterion: str) -> Ball:
    """Weight × impurity of one set of class weights per row.

    With c the weight of a class and o that of the others, Σ c·o/(c + o) for Gini and Σ c log(1 + o/c) for entropy:
    nothing cancels, so that digits are left where one class outweighs the rest by far.
    """
    two = side.shape[1] == 2  # then sums along such short rows would take most of the time
    total, parts = side[:, 0] + side[:, 1] if two else side.sum(axis=1), []
    for k in range(side.shape[1]):
        own = side[:, k]
        others = side[:, 1 - k] if two else side[:, np.arange(side.shape[1]) != k].sum(axis=1)
        if criterion == "gini":
            parts.append(own * others / total)
        else:
            none = np.asarray(own.mid <= 4 * own.rad)  # too vague to divide by: −c log(c/total) as it stands, from 0 on
            ratio = np.log1p(others.maximum(0.0) / Ball(np.where(none, 1.0, own.mid), np.where(none, 0.0, own.rad)))
            full = own.entropy() - own.maximum(0.0) * (total.entropy() / total)
            some = own * ratio
            parts.append(Ball(np.where(none, full.mid, some.mid), np.where(none, full.rad, some.rad)))
    found = parts[0]
    for part in parts[1:]:
        found = found + part
    return found if criterion == "gini" else found / Ball(np.log(2.0), 4 * UNIT)


def whole_cost(left: Array, right: Array, criterion: str) -> Array:
    """`cost` from below for class weights that are whole numbers, which floats hold as they are.

    No term is negative: the relative error of the sum is that of its terms, and of so many additions.
    """
    found = np.zeros(len(left))
    for side in (left, right):
        weights = np.asarray(side.T, dtype=float)
        if criterion == "gini" and len(weights) == 2:
            found += 2.0 * weights[0] * weights[1] / (weights[0] + weights[1])
            continue
        total = weights.sum(axis=0)
        for own in weights:
            if criterion == "gini":
                found += own * (total - own) / total
            else:
                found += own * np.log1p((total - own) / np.where(own > 0.0, own, 1.0)) / np.log(2.0)
    return found * (1.0 - gamma(2 * left.shape[1] + 24))


def per_weight(cost: Numeric, total: float) -> Numeric:
    """Cost over the weight of all rows, from above: what is left of a cost by underflow is not nothing."""
    found = cost / total
    return np.where(cost > 0.0, found * (1.0 + 4 * UNIT) + ETA, found * (1.0 - 4 * UNIT))


class Best:
    """The least cost or largest gain found so far at each node, and how many splits were compared.

    Costs are from below, gains from above.
    """

    def __init__(self, count: int) -> None:
        self.low = np.full(count, np.inf)
        self.gain = np.full(count, -np.inf)
        self.compared = np.zeros(count, dtype=np.int64)

    def offer(self, cuts: Cuts, costs: Array) -> None:
        if len(costs):
            least = np.minimum.reduceat(costs, cuts.first)  # NaN, where nothing is known, is passed on
            at = cuts.node[cuts.first]
            self.low[at] = np.minimum(self.low[at], np.where(np.isnan(least), -np.inf, least))
            self.compared[at] += np.diff(cuts.first, append=len(costs))


def drawn_columns(e: Evidence, inner: Array, feature: Array, columns: int) -> Array | None:
    """Which columns each node looked at, None where it was all of them; every split is on one of these."""
    if e.get("drawn") is None:
        return None
    drawn = np.asarray(e["drawn"]).astype(bool)
    if drawn.shape != (len(inner), columns):
        raise ValueError("columns are drawn once for each node")
    if not np.all(drawn[inner, feature[inner]]):
        raise ValueError("a split is on a column that was drawn for its node")
    return drawn


def check_match(width: int, group: Array, feature: Array, criterion: str, e: Evidence) -> None:
    """Criterion and values are for the classes or numbers at hand; groups are of categories, thresholds of numbers.

    ``width`` is how many values a node has, ``group`` and ``feature`` are those of the nodes that are split.
    """
    classes = e.get("classes")
    if (classes is not None) != (criterion in ("gini", "entropy")):
        raise ValueError("the criterion is not for such targets")
    if width != (1 if classes is None else len(classes)):
        raise ValueError("a node has one value, or one for each class")
    named = np.array([c is not None for c in e["categories"]], dtype=bool)
    if np.any((group >= 0) != named[feature]):
        raise ValueError("columns of categories are split by groups, and no others")


def codes_of(y: Array, classes: Any, place: dict[float | str, int]) -> Array:
    """The place of every label among the classes; KeyError for one that is not among them."""
    if y.dtype == object:
        return np.array([place[label_key(v)] for v in y])
    if y.dtype.kind not in "biuf":
        seen, which = np.unique(y, return_inverse=True)  # each is looked up once
        return np.array([place[label_key(v)] for v in seen])[which]
    codes = class_codes(y, classes)
    if np.any(codes < 0):
        raise KeyError("a label that is none of the classes")
    return codes


def finite_or_missing(X: Array) -> tuple[Array, int]:
    """The table, which must not contain infinite cells, and how many are missing."""
    if np.all(np.isfinite(X)):
        return X, 0
    if np.any(np.isinf(X)):
        raise ValueError("cells are finite numbers, or missing")
    return X, int(np.isnan(X).sum())


def told_apart(values: Array) -> Array:
    """Which neighbours of sorted single-precision values scikit-learn divides: x > y + 1e-7, rounded to single.

    A missing value is told apart from any other.
    """
    before, after = values[:-1], values[1:]
    return np.isnan(after) | (after > before + np.float32(1e-7))


def close_values(e: Evidence) -> str:
    """What is left out of the comparison as scikit-learn leaves it out."""
    same = ", values that in single precision are at most 1e-07 apart not being divided"
    return same if e.get("precision") == "single" else ""


@dataclass(frozen=True)
class Column:
    """One numeric column of all rows, and a level's rows ordered by node, then value (missing ones last).

    With ``single``, only what `told_apart` divides is compared.
    """

    values: Array
    order: Array
    distinct: bool  # no two values are equal, and none is missing
    single: bool = False

    @classmethod
    def of(cls, values: Array, single: bool) -> Column:
        """All rows, at one node."""
        order = np.argsort(values)
        seen = values[order]
        return cls(values, order, bool(np.all(seen[:-1] < seen[1:])), single)

    def divided(self, side: Array) -> Column:
        """The rows of the next level, all left children (side 0) before all right ones (1); others leave."""
        to = side[self.order]
        return replace(self, order=np.concatenate([self.order.compress(to == k) for k in (0, 1)]))

    def changes(self, order: Array) -> Array | None:
        """Whether each of the rows in this order but the last has another value than the next; None: all have."""
        if self.distinct and not self.single:
            return None
        seen = self.values[order]
        other = (seen[:-1] != seen[1:]) & ~np.isnan(seen[:-1])
        return np.asarray(other & told_apart(seen.astype(np.float32)) if self.single else other)


@dataclass(frozen=True)
class Cuts:
    """Divisions that are to be compared: node (ascending), rows on either side, and the sums of the whole node."""

    node: Array
    rows: Array
    others: Array
    total: Array  # (sums, cuts)

    @classmethod
    def of(cls, r: LevelRows, totals: Array, node: Array, rows: Array) -> Cuts:
        """Of these nodes, after so many rows."""
        return cls(node, rows, r.counts[node] - rows, totals.T.take(node, axis=1))

    @cached_property
    def first(self) -> Array:
        """Where the cuts of another node begin."""
        return np.flatnonzero(np.diff(self.node, prepend=-1))

    def wide(self, r: LevelRows) -> Array:
        """Which of them keep the limit on rows."""
        return np.asarray((self.rows >= r.min_rows) & (self.others >= r.min_rows))

    def some(self, which: Array) -> Cuts:
        """Some of them."""
        return Cuts(self.node[which], self.rows[which], self.others[which], self.total[:, which])


class Line:
    """The rows of a level side by side, node after node, as every column orders them.

    Within a node each column has an order of its own, but a node's rows are in the same places in all of them.
    """

    def __init__(self, r: LevelRows, s: Sums | Counts, totals: Array, rows: Array, size: int) -> None:
        self.r, self.s, self.number = r, s, float if s.whole else np.int64  # floats hold whole sums as they are
        self.columns = np.zeros((s.columns.shape[1], size), dtype=np.int8 if s.even else np.int64)
        self.columns[:, rows] = s.columns.T
        self.totals = totals.astype(self.number)
        self.base = (np.cumsum(totals, axis=0) - totals).T.astype(self.number)  # sums of all nodes before
        self.node = np.repeat(np.arange(r.count), r.counts)
        self.rows = np.arange(1, len(rows) + 1) - np.repeat(np.cumsum(r.counts) - r.counts, r.counts)

    def places(self, allowed: Array) -> tuple[Array, Cuts, Array]:
        """Where a node that is allowed to can be divided, and the sums before it: not after its last row."""
        inside = self.rows < self.r.counts[self.node]
        places = np.flatnonzero(inside if np.all(allowed) else inside & allowed[self.node])
        cuts = Cuts.of(self.r, self.totals, self.node[places], self.rows[places])
        return places, cuts, self.base.take(cuts.node, axis=1)

    def compare(self, column: Column, where: tuple[Array, Cuts, Array], best: Best) -> None:
        """Offer every threshold of one numeric column at these `places`, with missing values to either side."""
        places, cuts, base = where
        other = column.changes(column.order)
        if other is not None:
            which = np.flatnonzero(other[places])
            places, cuts, base = places[which], cuts.some(which), base[:, which]
        if not len(places):
            return
        left = np.empty(base.shape, dtype=self.number)
        for k, c in enumerate(self.columns[:-1] if self.s.even else self.columns):
            running = np.cumsum(c.take(column.order), dtype=self.number)
            np.subtract(running.take(places), base[k], out=left[k])
        if self.s.even:  # rows that are of no other class are of the last
            np.subtract(cuts.rows, left[:-1].sum(axis=0), out=left[-1])
        _offer(self.r, self.s, cuts, left, best)
        if not column.distinct:
            self._missing(column, places, cuts, left, best)

    def _missing(self, column: Column, places: Array, cuts: Cuts, left: Array, best: Best) -> None:
        """The same thresholds with the missing values to the left."""
        lost, count = np.isnan(column.values[column.order]), self.r.count
        if not lost.any():
            return
        gone = np.bincount(self.node[lost], minlength=count)
        extra = np.zeros((count, len(left)), dtype=np.int64)
        np.add.at(extra, self.node[lost], self.columns[:, column.order[lost]].T)
        again = np.flatnonzero(~lost[places + 1] & (gone[cuts.node] > 0))
        at = cuts.node[again]
        moved = Cuts.of(self.r, self.totals, at, cuts.rows[again] + gone[at])
        _offer(self.r, self.s, moved, left[:, again] + extra[at].T, best)


def _offer(r: LevelRows, s: Sums | Counts, cuts: Cuts, left: Array, best: Best) -> None:
    """The cost of every division that keeps the limits, from the sums of its left side (sums, cuts)."""
    if r.min_rows > 1:
        wide = np.flatnonzero(cuts.wide(r))
        cuts, left = cuts.some(wide), left[:, wide]
    if r.criterion in ("gini", "entropy") and r.min_weight <= 0 and s.whole:
        costs = np.empty(len(cuts.node))
        with np.errstate(invalid="ignore"):  # rows without weight on one side: nothing is known
            for at in range(0, len(costs), _BLOCK):
                mine = left[:, at : at + _BLOCK]
                right = cuts.total[:, at : at + _BLOCK] - mine
                costs[at : at + _BLOCK] = whole_cost(mine.T, right.T, r.criterion)
        best.offer(cuts, costs)
        return
    a = s.ball(left.T, cuts.rows, cuts.node)
    b = s.ball((cuts.total - left).T, cuts.others, cuts.node)
    if r.min_weight > 0:
        heavy = np.minimum(mass(a, r).upper, mass(b, r).upper) >= (1 + r.spare) * r.min_weight
        cuts, a, b = cuts.some(heavy), a[heavy], b[heavy]
    best.offer(cuts, cost(a, b, r.criterion).lower)


def mass(side: Ball, r: LevelRows) -> Ball:
    """The weight of one side of every division."""
    return side[:, 0] if r.codes is None else side.sum(axis=1)


def groupings(sums: Array, n_classes: int, classification: bool) -> Iterator[Array]:
    """The divisions of categories (rows of ``sums``) that are compared, each as a mask of those going left.

    Two classes or values: the cuts in order of the mean, among which the best of all groupings lies (Fisher
    1958). Many classes: every grouping.
    """
    c = len(sums)
    if classification and n_classes > 2:
        for size in range(1, c):
            for chosen in combinations(range(c - 1), size):
                mask = np.zeros(c, dtype=bool)
                mask[list(chosen)] = True
                yield mask
        return
    weight = sums.sum(axis=1) if classification else sums[:, 0]
    order = np.argsort(sums[:, 0 if classification else 1] / weight, kind="stable")
    for j in range(1, c):
        mask = np.zeros(c, dtype=bool)
        mask[order[:j]] = True
        yield mask


def compare_groups(r: LevelRows, s: Sums | Counts, totals: Array, codes: Array, allowed: Array, best: Best) -> bool:
    """Offer the groupings of one categorical column; True when some node has too many to compare."""
    heuristic = False
    order = np.argsort(r.node, kind="stable")
    ends = np.searchsorted(r.node[order], np.arange(r.count + 1))
    for v in np.flatnonzero(allowed):
        rows = order[ends[v] : ends[v + 1]]
        present, which = np.unique(codes[rows], return_inverse=True)
        c = len(present)
        if c < 2:
            continue
        if r.criterion == "absolute_error" or (r.n_classes > 2 and c > ENUMERATE):
            heuristic = True
            continue
        sums = np.zeros((c, s.columns.shape[1]), dtype=np.int64)
        np.add.at(sums, which, s.columns[rows])
        count = np.bincount(which, minlength=c)
        masks = np.array(list(groupings(sums * s.units[v], r.n_classes, r.codes is not None)))
        left, many = masks.astype(np.int64) @ sums, masks.astype(np.int64) @ count
        _offer(r, s, Cuts.of(r, totals, np.full(len(masks), v), many), left.T, best)
    return heuristic


def absolute_costs(y: Array, w: Array) -> tuple[Array, Array]:
    """Least Σ w |y − centre| of the first i rows, i = 0 … n, from below and from above."""
    n = len(y)
    least = np.full(n + 1, np.inf)
    least[0] = 0.0
    centres = np.unique(y)
    for i in range(0, len(centres), 256):
        block = np.cumsum(w[:, None] * np.abs(y[:, None] - centres[None, i : i + 256]), axis=0)
        least[1:] = np.minimum(least[1:], block.min(axis=1))
    room = (n + 4) * 2 * UNIT
    return least * (1 - room), least * (1 + room)


def as_low_as(cost: float, least: float) -> bool:
    """Whether a sum of absolute errors is the least one, to a billionth; where all errors can be zero, they must be."""
    return bool(cost <= least * (1 + 1e-9) + (1e-300 if least > 0.0 else 0.0))


def median(y: Array, w: Array) -> float:
    """The weighted median."""
    order = np.argsort(y, kind="stable")
    v, mass = y[order], np.cumsum(w[order])
    i = int(np.searchsorted(mass, 0.5 * mass[-1]))
    return float(v[i] / 2.0 + v[i + 1] / 2.0) if mass[i] == 0.5 * mass[-1] and i + 1 < len(v) else float(v[i])


def medians(y: Array, w: Array) -> Array:
    """The weighted median of the first i rows, i = 1 … n."""
    half = 0.5 * np.cumsum(w)
    ends = [np.full(len(y), np.nan), np.full(len(y), np.nan)]
    centres = np.unique(y)
    for i in range(0, len(centres), 256):
        block = centres[i : i + 256]
        mass = np.cumsum(w[:, None] * (y[:, None] <= block[None, :]), axis=0)
        for end, hit in zip(ends, (mass >= half[:, None], mass > half[:, None])):
            new = hit.any(axis=1) & np.isnan(end)
            end[new] = block[hit[new].argmax(axis=1)]
    return ends[0] / 2.0 + np.where(np.isnan(ends[1]), ends[0], ends[1]) / 2.0


def compare_absolute(r: LevelRows, y: Array, rows: Array, column: Column, allowed: Array, best: Best) -> None:
    """Offer every threshold of one numeric column by the absolute error, node by node; ``y`` is of all rows."""
    ends = np.cumsum(r.counts)
    weight_of = np.zeros(len(y))
    weight_of[rows] = r.weight
    for v in np.flatnonzero(allowed):
        mine = column.order[ends[v] - r.counts[v] : ends[v]]
        gone = int(np.count_nonzero(np.isnan(column.values[mine])))
        for send in range(2 if gone else 1):
            line = np.roll(mine, gone) if send else mine
            value, w = y[line], weight_of[line]
            low = absolute_costs(value, w)[0] + absolute_costs(value[::-1], w[::-1])[0][::-1]
            weight = np.cumsum(w)
            light = (1 + r.spare) * r.min_weight - gamma(2 * len(w)) * weight[-1]
            changes = column.changes(line)
            cut = np.arange(1, len(line)) if changes is None else np.flatnonzero(changes) + 1
            cut = cut[cut > gone] if send else cut
            cuts = Cuts(np.full(len(cut), v), cut, len(line) - cut, np.empty((0, len(cut))))
            ok = cuts.wide(r) & (weight[cut - 1] >= light) & (weight[-1] - weight[cut - 1] >= light)
            best.offer(cuts.some(ok), low[cut[ok]])


def in_order(left: Array, right: Array, room: Array) -> Iterator[tuple[int, Array]]:
    """Nodes in the order in which they were divided, with the mask of those that could have been divided instead."""
    inner = np.flatnonzero(left >= 0)
    order = inner[np.argsort(left[inner])]
    born, ended = np.zeros(len(left), dtype=np.int64), np.full(len(left), len(order))
    for step, node in enumerate(order):
        born[[left[node], right[node]]] = step + 1
    ended[order] = np.arange(len(order))
    for step, node in enumerate(order):
        rivals = (born <= step) & (ended >= step) & room
        rivals[node] = False
        if rivals.any():
            yield int(node), rivals


def label_key(v: object) -> float | str:
    """What a class or category is looked up by: numbers and truth values by their float value."""
    return float(v) if isinstance(v, (int, float, np.number, bool, np.bool_)) else str(v)


def places_of(names: Collection[object]) -> dict[float | str, int]:
    """The place of each name in a list without repetitions."""
    place = {label_key(c): k for k, c in enumerate(names)}
    if len(place) != len(names):
        raise ValueError("a class or category is listed twice")
    return place
