"""The statistics of a fit with compiled loops: the same sums, bit for bit, in about half the time.

A proof takes its sums with NumPy alone (`certifit.certificates`). A fit may take them as it likes, and here it cuts
numbers into digits in one read (`certifit.loops.digits`). Whatever is out of the ordinary (a number beyond the grid of
its column, one that is not finite, weights, a table too small to compile for) goes the way of the proof.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from certifit._types import Array
from certifit.certificates._ball import UNIT
from certifit.certificates.class_sums import ByClass, Squares
from certifit.certificates.moments import Moments
from certifit.certificates.passes import Passes
from certifit.certificates.sums import ROWS, WIDTH, Block, Grid, Side
from certifit.loops.digits import class_sums, cut

_NONE, _ZERO = np.empty(0), np.zeros(1)
_FEW = 16  # classes up to which a sum for each is quicker than a matrix product


def _fits(side: Side, size: Array) -> bool:
    """Whether numbers of this size lie within the grid."""
    return bool(np.all(np.isfinite(size)) and np.all((size == 0.0) | (np.frexp(size)[1] <= side.exponent)))


class _Cutter:
    """Digits of (1, x − centre, …), times a factor of each row where there is one."""

    def __init__(self, side: Side, parts: Sequence[tuple[Array, Array]], root: Array = _NONE) -> None:
        rows = parts[0][0].shape[1]
        ones = (np.ones((1, rows)), _ZERO)
        self.side, self.root, self.rows = side, root, rows
        self.parts = [(np.ascontiguousarray(X, dtype=float), centre) for X, centre in (ones, *parts)]
        self.largest = np.empty(len(side.exponent))
        self.buffer = np.empty((side.digits, len(side.exponent), min(ROWS, rows)))

    def ranges(self) -> Iterator[slice]:
        """Rows whose products add up without rounding."""
        return (slice(start, min(start + ROWS, self.rows)) for start in range(0, self.rows, ROWS))

    def pays(self) -> bool:
        """Whether machine code is there, or worth making."""
        X, centre = self.parts[1]
        return bool(cut.pays(X, self.root, centre, centre, 0, self.buffer, 1, self.largest))

    def of(self, rows: slice) -> Array | None:
        """The digits of some rows, (digits · columns, rows); None where a number is beyond the grid."""
        count, place = rows.stop - rows.start, 0
        out = self.buffer if count == self.buffer.shape[2] else np.empty((*self.buffer.shape[:2], count))
        scale = np.ldexp(1.0, WIDTH - self.side.exponent)
        for X, centre in self.parts:
            cut.compiled(X, self.root, centre, scale[place : place + len(X)], rows.start, out, place, self.largest)
            place += len(X)
        if not _fits(self.side, self.largest):
            return None
        return out.reshape(-1, count)

    def square(self, rows: slice) -> Array | None:
        """Sums of products of all digits of some rows; None where a number is beyond the grid or NaN."""
        digits = self.of(rows)
        total = None if digits is None else digits @ digits.T
        return total if total is not None and np.all(np.isfinite(total)) else None

    def keep(self) -> None:
        """What was cut last is added: note its largest entries."""
        self.side.largest = np.maximum(self.side.largest, self.largest)


class QuickMoments(Moments):
    """`Moments` with compiled loops."""

    def add(self, block: Block) -> None:
        d, y = len(block.X), block.y
        with_y = len(self.grid.centre) == d + 1
        usual = not self.weighted and block.weight is None and len(self.grid.centre) - d in (0, 1)
        if not usual or not block.rows or (with_y and (y is None or y.dtype.kind not in "biuf")):
            return super().add(block)
        parts = [(block.X, self.grid.centre[:d])]
        if with_y and y is not None:
            parts.append((np.asarray(y, dtype=float)[None], self.grid.centre[d:]))
        cutter = _Cutter(self.sums.a, parts)
        if not cutter.pays():
            return super().add(block)
        for rows in cutter.ranges():
            total = cutter.square(rows)
            if total is None:
                super().add(block.take(rows))
            else:
                cutter.keep()
                self.sums.take(total, rows.stop - rows.start)
        return None


class QuickPasses(Passes):
    """`Passes` with compiled loops, for all losses but softmax."""

    def _rows(self, block: Block) -> Any:
        if self.softmax or not _Cutter(self._right, [(block.X, self.grid.centre)]).pays():
            return super()._rows(block)
        return block

    @property
    def _right(self) -> Side:
        assert self.first.b is not None
        return self.first.b

    def _add_first(self, firsts: Array, rows: Any) -> None:
        if not isinstance(rows, Block):
            return super()._add_first(firsts, rows)
        cutter = _Cutter(self._right, [(rows.X, self.grid.centre)])
        for part in cutter.ranges():
            left = self.first._cut(self.first.a, firsts[:, part], self.first._raise_a)
            right = cutter.of(part)
            total = None if right is None else left @ right.T
            if total is None or not np.all(np.isfinite(total)):
                super()._add_first(firsts[:, part], super()._rows(rows.take(part)))
            else:
                cutter.keep()
                self.first.take(total, part.stop - part.start)
        return None

    def _add_second(self, m: int, root: Array, rows: Any) -> None:
        if not isinstance(rows, Block):
            return super()._add_second(m, root, rows)
        cutter = _Cutter(self.second[m].a, [(rows.X, self.grid.centre)], np.ascontiguousarray(root))
        for part in cutter.ranges():
            total = cutter.square(part)
            if total is None:
                super()._add_second(m, root[part], super()._rows(rows.take(part)))
            else:
                cutter.keep()
                self.second[m].take(total, part.stop - part.start)
        return None


class QuickClassMoments(ByClass):
    """`class_moments` with compiled loops."""

    def __init__(self, classes: Array, grid: Grid, weight_exponent: int | None = None) -> None:
        exponent = np.append(grid.exponent, 2 * grid.exponent)
        super().__init__(classes, exponent, Squares(grid.centre), 4 * UNIT, weight_exponent=weight_exponent)
        self.centre = grid.centre

    def add(self, block: Block) -> None:
        for part in block.pieces(1 << 14):
            if not self._added(part):
                super().add(part)

    def _added(self, block: Block) -> bool:
        """Whether these rows could be added here."""
        if self.weighted or block.weight is not None or not len(block.X) or len(self.classes) > _FEW:
            return False
        side, X = self.sums.b, np.ascontiguousarray(block.X)
        assert side is not None
        scale = np.ldexp(1.0, WIDTH - side.exponent)
        codes = self._codes(block)
        member = (np.arange(len(self.classes))[:, None] == codes).astype(float)
        total, largest = np.zeros((len(member), side.digits, 2 * len(X))), np.empty(2 * len(X))
        asked = (X, member, self.centre, scale[: len(X)], scale[len(X) :], total, largest)
        if not class_sums.pays(*asked):
            return False
        class_sums.compiled(*asked)
        if not (_fits(side, largest) and np.all(np.isfinite(total))):
            return False
        self.mass.add(codes, None)
        side.largest = np.maximum(side.largest, largest)
        self.sums.a.largest = np.maximum(self.sums.a.largest, member.max(axis=1, initial=0.0))
        # The other factor is one, whose digit is 2^(21 − 1) on its grid.
        self.sums.take(total * np.ldexp(1.0, WIDTH - self.sums.a.exponent)[:, None, None], block.rows)
        return True
