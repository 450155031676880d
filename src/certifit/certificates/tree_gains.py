"""The largest gain of any threshold at every node of a level, by Gini, where every row counts once.

Let a node have N rows, C of some class. A split with n rows on its left, c of that class, gains

    Σ (N c − C n)² / (N n (N − n)),    summed over the classes,

times the weight of a row. The differences are whole numbers below N², which floats hold as they are up to 2⁵³: nothing
cancels, and nothing is rounded before the squares.

Every column is sorted once; the rows of the next level come from dividing the line of those before them. That is two
copies of what belongs to either side, less work than sorting again, and far less where NumPy's vector sort is slow (on
processors that write selected lanes to memory in microcode).
"""

from __future__ import annotations

import numpy as np

from certifit._types import Array
from certifit.certificates._ball import gamma

_MOST_ROWS = 2**26  # squares of it are whole numbers that floats hold
_KEYS = 1 << 18  # compared at a time
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


def _in_order(values: Array, numbers: Array, bits: int) -> tuple[Array, Array]:
    """Whole numbers, one of each row and that row in their bits from ``bits`` on, by values; and the values in order.

    The bits of floats, read as whole numbers (turned round below zero), are in the order of the floats. Such keys, with
    the number of the row in place of their last bits, are sorted in half the time that `numpy.argsort` takes. Values
    that only those bits tell apart may stand in the wrong order then. They are few, and a merge sort puts right what
    is nearly in order with little work.
    """
    keys, low = values.view(np.int64), int(numbers.max()).bit_length()
    keys = (keys ^ (keys >> 63 & np.iinfo(np.int64).max)) >> low << low | numbers
    keys.sort()
    numbers = keys & ((1 << low) - 1)
    seen = values.take(numbers >> bits)
    if np.any(seen[1:] < seen[:-1]):
        again = np.argsort(seen, kind="stable")
        numbers, seen = numbers.take(again), seen.take(again)
    return numbers, seen


class CountedRows:
    """Rows that count once, in a line for every column: node after node, by value within a node.

    Each is a whole number, made of the row and its class. The next level of the tree divides the line and keeps its
    order: no column is sorted twice.
    """

    def __init__(self, columns: list[Array], codes: Array, classes: int) -> None:
        """Columns without missing values; all rows are at one node."""
        self.classes, self.bits = classes, (classes - 1).bit_length()
        number = np.int32 if len(codes) << self.bits <= 2**31 else np.int64
        self.line = np.empty((len(columns), len(codes)), dtype=number)
        self.tied: dict[int, Array] = {}  # columns with equal values
        numbers = np.arange(len(codes)) << self.bits | codes
        for j, values in enumerate(columns):
            self.line[j], seen = _in_order(values, numbers, self.bits)
            if np.any(seen[1:] == seen[:-1]):
                self.tied[j] = values
        few = max(1, _KEYS // len(codes))
        self._blocks = [slice(j, min(j + few, len(columns))) for j in range(0, len(columns), few)]
        self._found = np.empty((few, min(len(codes), _PLACES)))

    def divide(self, side: Array) -> None:
        """Go on to the next level: all left children (side 0 of a row) before all right ones (1); others leave."""
        still = np.empty((len(self.line), np.count_nonzero(side < 2)), dtype=self.line.dtype)
        lefts, m = np.count_nonzero(side == 0), self.line.shape[1]
        rows, to = np.empty(m, dtype=np.intp), np.empty(m, dtype=side.dtype)
        for line, new in zip(self.line, still):
            np.right_shift(line, self.bits, out=rows)
            side.take(rows, out=to, mode="clip")  # every row is there: this mode only saves a copy
            for k, part in enumerate((new[:lefts], new[lefts:])):
                line.take((to == k).nonzero()[0], out=part, mode="clip")
        self.line = still

    def largest_gains(self, counts: Array, totals: Array, min_rows: int) -> tuple[Array, Array]:
        """The largest gain by each column at each node, from above, and how many thresholds were compared.

        Parameters
        ----------
        counts, totals : arrays (nodes,), (nodes, classes)
            Rows of each node of the line, in all and by class.
        min_rows : int
            That either side must have.
        """
        where, (d, m) = _Places(counts, totals, min_rows), (len(self.line), len(counts))
        gain, compared = np.zeros((d, m)), np.empty((d, m), dtype=np.int64)
        compared[:] = np.maximum(counts + 1 - 2 * max(min_rows, 1), 0)
        for mine in self._blocks:
            other = self._changes(mine, where.factor > 0.0)
            if other is not None:
                compared[mine] = np.add.reduceat(other, where.starts, axis=1, dtype=np.int64)
            self._compare(self.line[mine] & ((1 << self.bits) - 1), other, where, gain[mine])
        gain *= 1.0 + gamma(self.classes + 12)
        return np.where(compared > 0, gain, -np.inf), compared

    def _changes(self, columns: slice, allowed: Array) -> Array | None:
        """After which of the allowed places comes another value, if any of these columns has equal ones."""
        tied = [j for j in range(columns.start, columns.stop) if j in self.tied]
        if not tied:
            return None
        other = np.repeat(allowed[None], columns.stop - columns.start, axis=0)
        for j in tied:
            seen = self.tied[j].take(self.line[j] >> self.bits)
            other[j - columns.start, :-1] &= seen[1:] != seen[:-1]
        return other

    def _compare(self, codes: Array, other: Array | None, where: _Places, gain: Array) -> None:
        """Raise ``gain`` (columns, nodes) to the largest after places with ``other`` values; overwrites the codes."""
        if self.classes == 2:
            running = [np.cumsum(codes, axis=1, dtype=codes.dtype, out=codes)]
        else:
            running = [np.cumsum(codes == k, axis=1, dtype=np.int32) for k in range(1, self.classes)]
        for part, nodes, cuts in where.parts:
            found = where.gains(running, part, self._found)
            if other is not None:
                found *= other[:, part]
            gain[:, nodes] = np.maximum(gain[:, nodes], np.maximum.reduceat(found, cuts, axis=1))
