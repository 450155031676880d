"""Sums over the rows of every node of one level of a tree.

They run over rows in fixed point (64-bit integers), so that a running sum has no error but the rounding of
each row to the unit; `Sums.ball` turns them into numbers with a proved bound. Rows that count once are counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from certifit._types import Array
from certifit.certificates._ball import UNIT, Ball


@dataclass(frozen=True)
class LevelRows:
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
    spare: float  # of the least weight: a split is compared when it keeps the limit with so much to spare

    @cached_property
    def counts(self) -> Array:
        """How many rows each node has."""
        return np.bincount(self.node, minlength=self.count)


@dataclass(frozen=True)
class Sums:
    """Per row, integer columns that add up exactly; what one unit is worth; error per row in units."""

    columns: Array  # (rows, k) int64
    units: Array  # (nodes, k): each node has its own, so that light nodes lose no digits to heavy ones
    half: Array  # (nodes, k): rounding of a row to the unit, in units
    relative: float  # further relative rounding of a row
    sizes: Array  # (nodes, k): Σ |column| in units, for the relative part
    node: Array  # of every row
    even: ClassVar = False

    @cached_property
    def whole(self) -> bool:
        """Whether weights are whole numbers, below 2⁵³ in all."""
        plain = not self.relative and not self.half.any() and bool(np.all(self.units == 1.0))
        return plain and float(self.columns.sum(dtype=float)) < 2**53

    def by_node(self, which: Array | None = None) -> Array:
        """The sums over the rows of each node, or over some of them, (nodes, k)."""
        node, columns = (self.node, self.columns) if which is None else (self.node[which], self.columns[which])
        count = len(self.units)
        if self.whole:  # floats add such numbers exactly, and `numpy.bincount` does so in less time
            return np.stack([np.bincount(node, c, minlength=count) for c in columns.T], axis=1).astype(np.int64)
        found = np.zeros((count, columns.shape[1]), dtype=np.int64)
        np.add.at(found, node, columns)
        return found

    def ball(self, total: Array, rows: Array, node: Array) -> Ball:
        """Integer sums over so many rows of each node as numbers with their error."""
        if self.whole:
            mid = total.astype(float)
            return Ball(mid, 2 * UNIT * np.abs(mid))
        units = self.units[node]
        mid = total.astype(float) * units
        error = rows[:, None] * self.half[node] * units + self.relative * self.sizes[node] * units
        return Ball(mid, error * (1 + 8 * UNIT) + 2 * UNIT * np.abs(mid))


class Counts:
    """The same of rows that count once each: how many are of each class."""

    whole = even = True

    def __init__(self, r: LevelRows) -> None:
        self.codes, self.shape = r.codes, (r.count, r.n_classes)
        self.place = r.node * r.n_classes + r.codes  # of a node and a class

    @cached_property
    def columns(self) -> Array:
        """Per row, one at its class."""
        found: Array = (np.asarray(self.codes)[:, None] == np.arange(self.shape[1])).astype(np.int64)
        return found

    @property
    def units(self) -> Array:
        """What one is worth."""
        return np.ones(self.shape)

    def by_node(self, which: Array | None = None) -> Array:
        """How many rows of each class every node has, or of some of its rows."""
        place = self.place if which is None else self.place.compress(which)
        return np.bincount(place, minlength=self.shape[0] * self.shape[1]).reshape(self.shape)

    def ball(self, total: Array, rows: Array, node: Array) -> Ball:
        """Counts as they are."""
        return Ball(total.astype(float), np.zeros(total.shape))


def fixed_point(r: LevelRows) -> Sums:
    """The level's rows in fixed point: weight per class, or (weight, weight × centred value)."""
    n = len(r.node)
    if r.codes is not None:  # a unit for every class, so that a light one keeps its digits beside a heavy one
        k = r.n_classes
        weight, unit, half = _to_units(r.weight, r.node * k + r.codes, r.count * k)
        columns = np.zeros((n, k), dtype=np.int64)
        columns[np.arange(n), r.codes] = weight
        return Sums(columns, unit.reshape(-1, k), half.reshape(-1, k), 0.0, np.zeros((r.count, k)), r.node)
    weight, unit, half = _to_units(r.weight, r.node, r.count)
    moved, step, off = _to_units(r.weight * np.asarray(r.z), r.node, r.count, whole=False)
    columns = np.stack([weight, moved], axis=1)
    sizes = np.zeros((r.count, 2))
    np.add.at(sizes[:, 1], r.node, np.abs(moved).astype(float))
    return Sums(columns, np.stack([unit, step], axis=1), np.stack([half, off], axis=1), 4 * UNIT, sizes, r.node)


def _to_units(v: Array, part: Array, count: int, whole: bool = True) -> tuple[Array, Array, Array]:
    """v as whole multiples of a power of two per part, and the error of each in units (0 where v is whole).

    Sums over one part stay below 2⁶²; running sums over several may wrap around, which differences undo.
    """
    total = np.bincount(part, np.abs(v), minlength=count)
    plain = total == 0.0
    if whole:
        odd = np.bincount(part, v != np.rint(v), minlength=count) > 0
        plain |= ~odd & (total < 2**53)
    shift = np.where(plain, 0, np.minimum(59 - np.frexp(total)[1], 1000)).astype(np.int64)
    units = np.ldexp(1.0, -shift)
    return np.rint(np.ldexp(v, shift[part])).astype(np.int64), units, np.where(plain, 0.0, 0.5)
