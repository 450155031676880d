"""The largest gain of any threshold at every node of a level, by Gini, where every row counts once.

Let a node have N rows, C of some class. A split with n rows on its left, c of that class, gains

    Σ (N c − C n)² / (N n (N − n)),    summed over the classes,

times the weight of a row. The differences are whole numbers below N², which floats hold as they are up to 2⁵³: nothing
cancels, and nothing is rounded before the squares.

The rows of a node in the order of a column come from sorting whole numbers, made of the node, the place of the value in
its column, and the class: whatever is added up afterwards is read from these numbers, and no row is looked up again.
"""

from __future__ import annotations

import numpy as np

from certifit._types import Array
from certifit.certificates._ball import gamma

_MOST_ROWS = 2**26  # squares of it are whole numbers that floats hold
_KEYS = 1 << 18  # sorted at a time
_PLACES = 1 << 14  # whose gains are computed at a time, so that all of that stays in the cache


def countable(rows: int, classes: int) -> bool:
    """Whether floats and sorted numbers can hold all whole numbers of so many rows and classes."""
    return classes >= 2 and rows <= _MOST_ROWS and rows**2 * classes < 2**61


class _Places:
    """The rows of some nodes in a line, node after node: after each place the node could be divided.

    Of each class but the first, N times its rows up to here, in this node and those before, is compared with
    ``expected``; ``factor`` is 1 / (N n (N − n)), zero where a side would have too few rows.
    """

    def __init__(self, counts: Array, totals: Array, min_rows: int) -> None:
        def each(v: Array) -> Array:
            return np.repeat(v.astype(float), counts)

        self.starts, self.rows = np.cumsum(counts) - counts, each(counts)
        n = np.arange(1.0, len(self.rows) + 1)
        n -= each(self.starts)
        rest = self.rows - n
        earlier = (np.cumsum(totals, axis=0) - totals) * counts[:, None]
        self.expected = [each(C) for C in totals.T[1:]]
        for line, before in zip(self.expected, earlier.T[1:]):
            line *= n
            line += each(before)
        self.factor = n * rest
        self.factor *= self.rows
        np.divide(1.0, self.factor, out=self.factor, where=rest > 0.0)
        if min_rows > 1:
            self.factor[np.minimum(n, rest) < min_rows] = 0.0

        self.parts = [self._part(i) for i in range(0, len(self.rows), _PLACES)]

    def _part(self, start: int) -> tuple[slice, slice, Array]:
        """Some places, the nodes that they are in, and where each of these begins among them."""
        stop = min(start + _PLACES, len(self.rows))
        first, end = np.searchsorted(self.starts, (start, stop - 1), side="right")
        return slice(start, stop), slice(first - 1, end), np.append(0, self.starts[first:end] - start)

    def gains(self, running: list[Array], part: slice, out: Array) -> Array:
        """The gain of dividing after each of some places, from the rows of each class but the first up to there."""
        out = out[: len(running[0]), : part.stop - part.start]
        first = np.zeros(out.shape if len(running) > 1 else 0)  # has less of what the others have more
        for k, (count, expected) in enumerate(zip(running, self.expected)):
            more = out if k == 0 else np.empty(out.shape)
            np.copyto(more, count[:, part])
            more *= self.rows[part]
            more -= expected[part]
            if len(running) > 1:
                first += more
            np.square(more, out=more)
            if k:
                out += more
        out += np.square(first) if len(running) > 1 else out
        out *= self.factor[part]
        return out


class CountedRows:
    """Rows that count once: the place of each in every column, and its class."""

    def __init__(self, columns: list[Array], codes: Array, classes: int) -> None:
        """Columns without missing values."""
        self.rows, self.classes, self.bits = np.arange(len(codes)), classes, (classes - 1).bit_length()
        self.step = len(codes) << self.bits  # between the keys of two nodes
        number = np.uint32 if self.step <= 2**32 else np.uint64
        self.keys, self.tied = np.empty((len(columns), len(codes)), dtype=number), np.zeros(len(columns), dtype=bool)
        own, places = codes.astype(number), np.arange(len(codes), dtype=number)
        for keys, tied, values in zip(self.keys, self.tied[:, None], columns):
            order = np.argsort(values)
            seen = values.take(order)
            other = seen[1:] != seen[:-1]
            tied[:] = not other.all()
            keys[order] = np.append(number(0), np.cumsum(other, dtype=number)) if tied else places
        self.keys <<= number(self.bits)
        self.keys |= own
        few = max(1, _KEYS // len(codes))
        self._sorted, self._found = np.empty((0, 0), dtype=bool), np.empty((few, min(len(codes), _PLACES)))

    def largest_gains(self, place: Array, counts: Array, totals: Array, min_rows: int) -> tuple[Array, Array]:
        """The largest gain by each column at each node, from above, and how many thresholds were compared.

        Parameters
        ----------
        place : array
            Of the node of each row, from 0 on; a node that is not compared, now or later, has the last.
        counts, totals : arrays (nodes,), (nodes, classes)
            Rows of each node, in all and by class.
        min_rows : int
            That either side must have.
        """
        where, (d, m) = _Places(counts, totals, min_rows), (len(self.keys), len(counts))
        place = self._still(place, m)
        gain, compared = np.zeros((d, m)), np.empty((d, m), dtype=np.int64)
        compared[:] = np.maximum(counts + 1 - 2 * max(min_rows, 1), 0)
        few = len(self._found)
        for j in range(0, d, few):
            mine = slice(j, min(j + few, d))
            keys = self._in_order(mine, place, m + 1)[:, : len(where.rows)]
            other = None
            if self.tied[mine].any():
                values = keys >> keys.dtype.type(self.bits)
                other = np.zeros(keys.shape, dtype=bool)
                np.not_equal(values[:, 1:], values[:, :-1], out=other[:, :-1])
                other &= where.factor > 0.0
                compared[mine] = np.add.reduceat(other, where.starts, axis=1, dtype=np.int64)
            self._compare(keys, other, where, gain[mine])
        gain *= 1.0 + gamma(self.classes + 12)
        return np.where(compared > 0, gain, -np.inf), compared

    def _still(self, place: Array, last: int) -> Array:
        """The places of the rows that have keys; rows that are done lose theirs once they are more than half."""
        place = place if len(self.rows) == len(place) else place.take(self.rows)
        going = place < last
        if 2 * np.count_nonzero(going) >= len(going):
            return place
        self.rows, self.keys = self.rows[going], self.keys[:, going]
        return place[going]

    def _in_order(self, columns: slice, place: Array, places: int) -> Array:
        """The keys of these columns with the node in front, sorted, in memory that is used again."""
        number = np.dtype(np.uint32 if places * self.step <= 2**32 else np.uint64)
        shape = (len(self._found), len(place))
        if self._sorted.dtype != number or self._sorted.shape != shape:
            self._sorted = np.empty(shape, dtype=number)
        keys = self._sorted[: columns.stop - columns.start]
        np.add(self.keys[columns], place.astype(number) * number.type(self.step), out=keys)
        keys.sort(axis=1)
        return keys

    def _compare(self, keys: Array, other: Array | None, where: _Places, gain: Array) -> None:
        """Raise ``gain`` (columns, nodes) to the largest after places with ``other`` values; overwrites the keys."""
        keys &= keys.dtype.type((1 << self.bits) - 1)
        if self.classes == 2:
            signed = keys.view(np.int32 if keys.itemsize == 4 else np.int64)  # floats are sooner made of these
            running = [np.cumsum(signed, axis=1, dtype=signed.dtype, out=signed)]
        else:
            running = [np.cumsum(keys == k, axis=1, dtype=np.int32) for k in range(1, self.classes)]
        for part, nodes, cuts in where.parts:
            found = where.gains(running, part, self._found)
            if other is not None:
                found *= other[:, part]
            gain[:, nodes] = np.maximum(gain[:, nodes], np.maximum.reduceat(found, cuts, axis=1))
