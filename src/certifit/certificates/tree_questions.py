"""The best split of every node of one level of a tree, in plain NumPy with outward rounding.

Sums run over rows in fixed point (64-bit integers), so that a running sum has no error but the rounding of
each row to the unit; `Sums.ball` turns them into numbers with a proved bound. The cost of a division is the
sum of weight × impurity over both sides (for the squared error without the part that no division changes).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from certifit._types import Array
from certifit.certificates._ball import UNIT, Ball

ENUMERATE = 10  # categories in a node up to which all groupings of a many-class target are compared


@dataclass(frozen=True)
class Rows:
    """The rows of one level: node (0 … m − 1), weight, class or centred value, and the limits on a side."""

    node: Array
    count: int
    weight: Array
    codes: Array | None
    z: Array | None  # regression: y − a centre of the row's node
    n_classes: int
    criterion: str
    min_rows: int
    min_weight: float


@dataclass(frozen=True)
class Sums:
    """Per row, integer columns that add up exactly; what one unit is worth; error per row in units."""

    columns: Array  # (rows, k) int64
    units: Array  # (nodes, k): each node has its own, so that light nodes lose no digits to heavy ones
    half: Array  # (nodes, k): rounding of a row to the unit, in units
    relative: float  # further relative rounding of a row
    sizes: Array  # (nodes, k): Σ |column| in units, for the relative part

    def ball(self, total: Array, rows: Array, node: Array) -> Ball:
        """Integer sums over so many rows of each node as numbers with their error."""
        units = self.units[node]
        mid = total.astype(float) * units
        error = rows[:, None] * self.half[node] * units + self.relative * self.sizes[node] * units
        return Ball(mid, error * (1 + 8 * UNIT) + 2 * UNIT * np.abs(mid))


def fixed_point(r: Rows) -> Sums:
    """The level's rows in fixed point: weight per class, or (weight, weight × centred value)."""
    n = len(r.node)
    weight, unit, half = _to_units(r.weight, r)
    if r.codes is not None:
        k = r.n_classes
        columns = np.zeros((n, k), dtype=np.int64)
        columns[np.arange(n), r.codes] = weight
        units, halves = (np.repeat(v[:, None], k, axis=1) for v in (unit, half))
        return Sums(columns, units, halves, 0.0, np.zeros((r.count, k)))
    moved, step, off = _to_units(r.weight * np.asarray(r.z), r, whole=False)
    columns = np.stack([weight, moved], axis=1)
    sizes = np.zeros((r.count, 2))
    np.add.at(sizes[:, 1], r.node, np.abs(moved).astype(float))
    return Sums(columns, np.stack([unit, step], axis=1), np.stack([half, off], axis=1), 4 * UNIT, sizes)


def _to_units(v: Array, r: Rows, whole: bool = True) -> tuple[Array, Array, Array]:
    """v as whole multiples of a power of two per node, and the error of each in units (0 where v is whole).

    Sums over one node stay below 2⁶²; running sums over several may wrap around, which differences undo.
    """
    total = np.bincount(r.node, np.abs(v), minlength=r.count)
    plain = total == 0.0
    if whole:
        odd = np.bincount(r.node, v != np.rint(v), minlength=r.count) > 0
        plain |= ~odd & (total < 2**53)
    shift = np.where(plain, 0, np.minimum(59 - np.frexp(total)[1], 1000)).astype(np.int64)
    units = np.ldexp(1.0, -shift)
    return np.rint(np.ldexp(v, shift[r.node])).astype(np.int64), units, np.where(plain, 0.0, 0.5)


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
    total, parts = side.sum(axis=1), []
    for k in range(side.shape[1]):
        own, others = side[:, k], side[:, np.arange(side.shape[1]) != k].sum(axis=1)
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


class Best:
    """The least cost found so far at each node (from below), and how many splits were compared."""

    def __init__(self, count: int) -> None:
        self.low = np.full(count, np.inf)
        self.compared = np.zeros(count, dtype=np.int64)
        self.askable = np.zeros(count, dtype=bool)  # some split, compared or not, is possible

    def offer(self, node: Array, costs: Array) -> None:
        np.minimum.at(self.low, node, np.where(np.isnan(costs), -np.inf, costs))
        self.compared += np.bincount(node, minlength=len(self.low))
        self.askable[node] = True


def compare_numeric(r: Rows, s: Sums, totals: Array, ranks: Array, missing: Array, allowed: Array, best: Best) -> None:
    """Offer every threshold of one numeric column, with missing values to either side.

    ``ranks`` orders the values (missing ones last); ``allowed`` says which nodes looked at the column.
    """
    order = np.lexsort((ranks, r.node))
    order = order[allowed[r.node[order]]]
    if not len(order):
        return
    node, rank = r.node[order], ranks[order]
    running = np.cumsum(s.columns[order], axis=0)
    rows = np.arange(1, len(order) + 1)
    first = np.flatnonzero(np.diff(node, prepend=-1))
    base = np.zeros((r.count, s.columns.shape[1]), dtype=np.int64)
    start = np.zeros(r.count, dtype=np.int64)
    base[node[first]] = running[first] - s.columns[order[first]]
    start[node[first]] = first
    cut = np.flatnonzero((node[:-1] == node[1:]) & (rank[:-1] != rank[1:]))
    left = running[cut] - base[node[cut]]
    _offer(r, s, totals, node[cut], left, rows[cut] - start[node[cut]], best)
    if missing.any():
        lost = missing[order]
        extra = np.zeros_like(base)
        np.add.at(extra, node[lost], s.columns[order[lost]])
        gone = np.bincount(node[lost], minlength=r.count)
        again = cut[~lost[cut + 1] & (gone[node[cut]] > 0)]
        at = node[again]
        _offer(r, s, totals, at, running[again] - base[at] + extra[at], rows[again] - start[at] + gone[at], best)


def _offer(r: Rows, s: Sums, totals: Array, node: Array, left: Array, rows: Array, best: Best) -> None:
    n = np.bincount(r.node, minlength=r.count)
    ok = (rows >= r.min_rows) & (n[node] - rows >= r.min_rows)
    node, left, rows = node[ok], left[ok], rows[ok]
    if not len(node):
        return
    a = s.ball(left, rows, node)
    b = s.ball(totals[node] - left, n[node] - rows, node)
    if r.min_weight > 0:
        mass = (a[:, 0], b[:, 0]) if r.codes is None else (a.sum(axis=1), b.sum(axis=1))
        heavy = (mass[0].upper >= r.min_weight) & (mass[1].upper >= r.min_weight)
        node, a, b = node[heavy], a[heavy], b[heavy]
    best.offer(node, cost(a, b, r.criterion).lower)


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


def compare_groups(r: Rows, s: Sums, totals: Array, codes: Array, allowed: Array, best: Best) -> bool:
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
        best.askable[v] = True
        if r.criterion == "absolute_error" or (r.n_classes > 2 and c > ENUMERATE):
            heuristic = True
            continue
        sums = np.zeros((c, s.columns.shape[1]), dtype=np.int64)
        np.add.at(sums, which, s.columns[rows])
        count = np.bincount(which, minlength=c)
        masks = np.array(list(groupings(sums * s.units[v], r.n_classes, r.codes is not None)))
        left, many = masks.astype(np.int64) @ sums, masks.astype(np.int64) @ count
        _offer(r, s, totals, np.full(len(masks), v), left, many, best)
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


def compare_absolute(r: Rows, y: Array, ranks: Array, missing: Array, allowed: Array, best: Best) -> None:
    """Offer every threshold of one numeric column by the absolute error, node by node."""
    for v in np.flatnonzero(allowed):
        rows = np.flatnonzero(r.node == v)
        rows = rows[np.argsort(ranks[rows], kind="stable")]
        gone = int(np.count_nonzero(missing[rows]))
        for send in range(2 if gone else 1):
            line = np.roll(rows, gone) if send else rows
            value, w, rank = y[line], r.weight[line], ranks[line]
            low = absolute_costs(value, w)[0] + absolute_costs(value[::-1], w[::-1])[0][::-1]
            mass = np.cumsum(w)
            cut = np.flatnonzero(rank[:-1] != rank[1:]) + 1
            cut = cut[cut > gone] if send else cut
            ok = (cut >= r.min_rows) & (len(line) - cut >= r.min_rows)
            ok &= (mass[cut - 1] >= r.min_weight) & (mass[-1] - mass[cut - 1] >= r.min_weight)
            best.offer(np.full(ok.sum(), v), low[cut[ok]])
