"""XᵀSX, XᵀSR and XᵀS1 of dense rows at the speed of the processor's multipliers, and their fingerprints beside.

Rows are packed, some at a time, into a block that stays in a cache: (x − c, r, 1) side by side, padded to whole
vectors, and a second time multiplied by the weights where there are any. A block is cut into panels, three vectors wide
and as tall as the block has rows: two of them fit into the nearest cache, and are read there from beginning to end.
(Of whole rows, a tile would take a line here and a line there, and wait.) The product of the block with itself is then
summed in tiles that fit the registers. A tile is ``_TALL`` columns of the one side times three vectors of the
other: every row takes three loads of a vector, ``_TALL`` loads of one number that fills a vector, and 3·``_TALL``
multiplications. Of 32 registers of 8 numbers (AVX-512), 8 · 3 = 24 hold the sums and 3 the vectors, and
11 loads go with 24 multiplications, so that the multipliers never wait; of 16 registers of 4 numbers (AVX2),
4 · 3 + 3 + 1 use all. Only tiles on and above the diagonal are visited: half the work. While a tile is
summed, every row of it asks for a line of the next block, a few bytes further each time: memory is read all the while,
and nobody waits for it. (Many lines asked for at once would keep the loads of the tile waiting.)

Blocks are in double precision, whatever the rows; or in single precision, for half the work again: vectors then hold
twice as many numbers, and the sums over the rows of one block are added up in double precision.

LLVM finds no such tiles in a plain loop. The tile is therefore written in its language, where a multiplication and an
addition are one instruction (fma); everything around it is a loop like the others.

Fingerprints fold words of 64 bits, while rows are packed and their numbers are in registers; see
`certifit.design._fingerprint` for what the prints mean. Where words are folded alone, infinite numbers and NaN are
found meanwhile: all bits of their exponent are ones, and then, and only then, does adding the lowest of these carry
into the bit of the sign, which was cleared. The OR of all those sums has that bit set as soon as one of them has. Two
float32 share a word and do not disturb each other. (Beside a product nobody needs to look: the sum of squares tells.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types, uint64
from numba.core import cgutils

from certifit._types import Array
from certifit.loops._jit import njit
from certifit.loops._vectors import LANES, ask_for, filled, intrinsic

_TALL = LANES or 4
_WIDE = LANES or 4
_AT_ONCE = 4  # panels that are mirrored at a time


def _tile(tall: int, vectors: int) -> Any:
    """A tile: the product of so many columns of left (from a on, in panel p) and so many vectors of right.

    The vectors are those from v on of panel q. The product is added to ``out`` where it belongs in XᵀX. With every row
    a line of X is asked for, from ``ahead`` bytes on: memory is read while the multipliers work.
    """

    def tile(context, left, right, rows, p, a, q, v, out, X, ahead, stride):
        whole = types.intp
        return types.void(left, right, whole, whole, whole, whole, whole, out, X, whole, whole), emit

    def emit(context, build, signature, args):
        narrow = signature.args[0].dtype == types.float32
        wide, whole = _WIDE * (2 if narrow else 1), ir.IntType(64)
        vector = ir.VectorType(ir.FloatType() if narrow else ir.DoubleType(), wide)
        left, right, out = (context.make_array(signature.args[k])(context, build, args[k]) for k in (0, 1, 7))
        rows, p, a, q, v = args[2:7]
        X = context.make_array(signature.args[8])(context, build, args[8])
        later = build.gep(build.bitcast(X.data, ir.IntType(8).as_pointer()), [args[9]])
        most, panel = (build.extract_value(left.shape, axis) for axis in (1, 2))
        pitch = build.extract_value(out.shape, 1)
        b = build.mul(v, whole(wide))
        kind = ir.FunctionType(vector, [vector] * 3)
        fma = cgutils.get_or_insert_function(build.module, kind, f"llvm.fma.v{wide}f{32 if narrow else 64}")

        def first(block, number, column):
            return build.gep(block.data, [build.add(build.mul(build.mul(number, most), panel), column)])

        zero = ir.Constant(vector, None)
        sums = [[cgutils.alloca_once_value(build, zero) for _ in range(vectors)] for _ in range(tall)]
        high, broad = first(left, p, a), first(right, q, b)
        with cgutils.for_range(build, rows) as loop:
            at = build.mul(loop.index, panel)
            ask_for(build, build.gep(later, [build.mul(loop.index, args[10])]))
            column = [_load(build, build.gep(broad, [build.add(at, whole(k * wide))]), vector) for k in range(vectors)]
            for i, row in enumerate(sums):
                number = build.load(build.gep(high, [build.add(at, whole(i))]))
                full = filled(build, number, vector)
                for place, factor in zip(row, column):
                    build.store(build.call(fma, [full, factor, build.load(place)]), place)
        corner = build.add(build.mul(build.add(build.mul(p, panel), a), pitch), build.add(build.mul(q, panel), b))
        total = ir.VectorType(ir.DoubleType(), wide)
        for i, row in enumerate(sums):
            start = build.add(corner, build.mul(whole(i), pitch))
            for k, place in enumerate(row):
                target = build.gep(out.data, [build.add(start, whole(k * wide))])
                target = build.bitcast(target, total.as_pointer())
                part = build.load(place)
                part = build.fpext(part, total) if narrow else part
                build.store(build.fadd(build.load(target, align=8), part), target, align=8)
        return context.get_dummy_value()

    return intrinsic(tile)


def _load(build: ir.IRBuilder, pointer: ir.Value, vector: ir.VectorType) -> ir.Value:
    """A vector from any place."""
    return build.load(build.bitcast(pointer, vector.as_pointer()), align=4)


_tile1, _tile2, _tile3 = (_tile(_TALL, vectors) for vectors in (1, 2, 3))
_half1, _half2, _half3 = (_tile(_TALL // 2, vectors) for vectors in (1, 2, 3))


def _strip(vectors: int, share: int = 1) -> Any:
    """left[p, k, a:…] = X[i + k, j:…] − shift[j:…] for so many rows k: vectors side by side, or a share of one.

    The words that were read are folded into ``sums`` (see `fold_lines`), with the factors of ``odd`` from ``at`` on.
    Parts of a word are not folded.
    """

    def strip(context, X, i, j, shift, left, p, a, rows, odd, at, sums):
        whole = types.intp
        return types.void(X, whole, whole, shift, left, whole, whole, whole, odd, whole, sums), emit

    def emit(context, build, signature, args):
        X, shift, left, odd, sums = (
            context.make_array(signature.args[at])(context, build, args[at]) for at in (0, 3, 4, 8, 10)
        )
        i, j, p, a, rows, at = (args[k] for k in (1, 2, 5, 6, 7, 9))
        narrow, whole = signature.args[4].dtype == types.float32, ir.IntType(64)
        real = ir.FloatType() if narrow else ir.DoubleType()
        read = ir.FloatType() if signature.args[0].dtype == types.float32 else real
        size, width = 4 if read == ir.FloatType() else 8, _WIDE * (2 if narrow else 1) // share
        if width == 0:  # a share of fewer numbers than there are
            return context.get_dummy_value()
        d, most, panel = (build.extract_value(*axis) for axis in ((X.shape, 1), (left.shape, 1), (left.shape, 2)))
        source = build.gep(X.data, [build.add(build.mul(i, d), j)])
        target = build.gep(left.data, [build.add(build.mul(build.mul(p, most), panel), a)])
        factors = build.gep(odd.data, [at])
        offsets = [whole(v * width) for v in range(vectors)]
        first = build.gep(shift.data, [j])
        shifts = [_load(build, build.gep(first, [v]), ir.VectorType(real, width)) for v in offsets]
        word = build.gep(sums.data, [build.udiv(build.mul(j, whole(size)), whole(8))])
        fold = _Folding(build, word, vectors, width * size // 8)
        with cgutils.for_range(build, rows) as loop:
            there, here = build.mul(loop.index, d), build.mul(loop.index, panel)
            fold.begin(build.load(build.gep(factors, [loop.index])))
            for v, offset in enumerate(offsets):
                x = _load(build, build.gep(source, [build.add(there, offset)]), ir.VectorType(read, width))
                y = x if read == real else build.fpext(x, ir.VectorType(real, width))
                place = build.gep(target, [build.add(here, offset)])
                build.store(build.fsub(y, shifts[v]), build.bitcast(place, y.type.as_pointer()), align=4)
                fold.take(v, x)
        fold.end()
        return context.get_dummy_value()

    return intrinsic(strip)


class _Folding:
    """Sums of the words of vectors, from a given place on, in registers from the first row to the last.

    Vectors shorter than a word are passed over.
    """

    def __init__(self, build: ir.IRBuilder, place: ir.Value, vectors: int, words: int) -> None:
        self.build, self.words = build, words
        if words:
            self.many = ir.VectorType(ir.IntType(64), words)
            self.places = [build.gep(place, [ir.IntType(64)(v * words)]) for v in range(vectors)]
            self.sums = [cgutils.alloca_once_value(build, _load(build, place, self.many)) for place in self.places]
            self.low, self.half = (ir.Constant(self.many, [number] * words) for number in (2**32 - 1, 32))

    def begin(self, factor: ir.Value) -> None:
        """One more row: its factor holds two of 32 bits each. LLVM sees that, and multiplies in one instruction."""
        if self.words:
            both = filled(self.build, factor, self.many)
            self.factors = self.build.and_(both, self.low), self.build.lshr(both, self.half)

    def take(self, v: int, x: ir.Value) -> None:
        """Fold the vector v of that row."""
        if self.words:
            build = self.build
            word = build.bitcast(x, self.many)
            halves = build.and_(word, self.low), build.lshr(word, self.half)
            for half, factor in zip(halves, self.factors):
                build.store(build.add(build.load(self.sums[v]), build.mul(half, factor)), self.sums[v])

    def end(self) -> None:
        """Write the sums back."""
        if self.words:
            for place, total in zip(self.places, self.sums):
                self.build.store(self.build.load(total), self.build.bitcast(place, self.many.as_pointer()), align=8)


_strip3, _strip1, _strip2nd, _strip4th, _strip8th, _strip16th = (
    _strip(vectors, share) for vectors, share in ((3, 1), (1, 1), (1, 2), (1, 4), (1, 8), (1, 16))
)


@njit(nogil=True)
def _pack(X, R, weights, shift, left, right, start, rows, odd, at, sums):
    """(x − c, r, 1) of so many rows into the panels of ``left``, and the same times their weights into ``right``.

    Meanwhile the words of X, from line ``at`` of a block on, are folded into ``sums``.
    """
    d, t, panel = X.shape[1], R.shape[1], left.shape[2]
    p, wide = d // panel, panel // 3
    for q in range(p):
        _strip3(X, start, q * panel, shift, left, q, 0, rows, odd, at, sums)
    a = 0  # of the last panel: vectors, and then halves, quarters, ... of one
    while d - p * panel - a >= wide:
        _strip1(X, start, p * panel + a, shift, left, p, a, rows, odd, at, sums)
        a += wide
    over = d - p * panel - a
    if over & (wide // 2):
        _strip2nd(X, start, p * panel + a, shift, left, p, a, rows, odd, at, sums)
        a += wide // 2
    if over & (wide // 4):
        _strip4th(X, start, p * panel + a, shift, left, p, a, rows, odd, at, sums)
        a += wide // 4
    if over & (wide // 8):
        _strip8th(X, start, p * panel + a, shift, left, p, a, rows, odd, at, sums)
        a += wide // 8
    if over & (wide // 16):
        _strip16th(X, start, p * panel + a, shift, left, p, a, rows, odd, at, sums)
    for j in range(d, d + t + 1):
        p, a = j // panel, j % panel
        for k in range(rows):
            left[p, k, a] = R[start + k, j - d] if j < d + t else 1.0
    if weights.shape[0] > 0:
        for p in range(left.shape[0]):
            for k in range(rows):
                for j in range(panel):
                    right[p, k, j] = weights[start + k] * left[p, k, j]


@njit(nogil=True)
def _tiles(left, right, rows, p, a, few, q, first, last, out, X, ahead, stride):
    """The tile of columns from a on in panel p, ``few`` or ``_TALL`` of them, and vectors first to last of panel q."""
    if last - first == 3:
        if few:
            _half3(left, right, rows, p, a, q, first, out, X, ahead, stride)
        else:
            _tile3(left, right, rows, p, a, q, first, out, X, ahead, stride)
    elif last - first == 2:
        if few:
            _half2(left, right, rows, p, a, q, first, out, X, ahead, stride)
        else:
            _tile2(left, right, rows, p, a, q, first, out, X, ahead, stride)
    elif last - first == 1:
        if few:
            _half1(left, right, rows, p, a, q, first, out, X, ahead, stride)
        else:
            _tile1(left, right, rows, p, a, q, first, out, X, ahead, stride)


@njit(nogil=True)
def _multiply(left, right, rows, X, columns, stop, out):
    """Add the product of a block to ``out``; meanwhile as many rows of X, from ``stop`` on, come into a cache.

    Columns that fill whole panels: on and above the diagonal. The others, the targets and the ones would make tiles of
    one or two vectors, which load nearly as much as those of three: they are multiplied, as the one side of a tile,
    with the vectors of all columns.
    """
    d, panel, width = X.shape[1], left.shape[2], out.shape[1]
    wide = panel // 3
    whole = d // panel * panel
    count = (columns - whole + _TALL - 1) // _TALL * left.shape[0] + whole // panel * (whole + panel) // (2 * _TALL)
    size = X.itemsize * d
    ahead, stride = size * stop, size // count + 1
    for q in range(whole // panel):
        for column in range(0, (q + 1) * panel, _TALL):
            p, a = column // panel, column % panel
            first = a // wide if p == q else 0
            _tiles(left, right, rows, p, a, False, q, first, 3, out, X, ahead, stride)
            ahead += rows * stride
    for column in range(whole, columns, _TALL):
        p, a = column // panel, column % panel
        few = columns - column <= _TALL // 2
        for q in range(left.shape[0]):
            last = min(panel, width - q * panel) // wide
            _tiles(left, right, rows, p, a, few, q, 0, last, out, X, ahead, stride)
            ahead += rows * stride


@njit(nogil=True)
def gram_rows(X, R, weights, shift, left, right, out, of_line, of_word, prints):
    """Add (X − c)ᵀS(X − c | R | 1) to ``out``; `symmetric` says where in it.

    ``left`` and ``right`` are blocks of panels (see `panels`), zero in the columns that are not used; without weights
    (an array of length 0) they are the same one. Their type says in which precision rows of a block are multiplied.

    Into ``prints`` go those that `fold_lines` finds for the words of X, a row a line; it may be empty where nobody
    asks, or rows are not made of whole words.
    """
    n, most, columns = X.shape[0], left.shape[1], X.shape[1] + R.shape[1] + 1
    depth, sums = of_line.shape[0], np.zeros(X.shape[1] * X.itemsize // 8, dtype=np.uint64)
    start = 0
    while start < n:
        at = start % depth
        rows = min(most, n - start, depth - at)
        _pack(X, R, weights, shift, left, right, start, rows, of_line, at, sums)
        start += rows
        _multiply(left, right, rows, X, columns, start, out)
        if prints.shape[0] > 0 and (at + rows == depth or start == n):
            prints[(start - 1) // depth] = _weigh(sums, of_word)


@njit(nogil=True)
def _weigh(sums, odd):
    """One number from the sums of a block, which are set to zero."""
    total = uint64(0)
    for j in range(sums.shape[0]):
        total += ((sums[j] >> uint64(31)) ^ sums[j]) * odd[j]
        sums[j] = 0
    return total


@njit(nogil=True)
def fold_lines(lines, of_line, of_word, exponent, lowest, prints):
    """Fingerprints of blocks of lines (n, k) of words, into ``prints``; returns the OR of the carries.

    ``of_line`` and ``of_word`` are the odd numbers: two, of 32 bits, for each line of a block, and one for each word of
    a line.
    """
    n, length = lines.shape
    depth, sums, carries = of_line.shape[0], np.zeros(length, dtype=np.uint64), uint64(0)
    for i in range(n):
        line, low, high = lines[i], of_line[i % depth] & uint64(0xFFFFFFFF), of_line[i % depth] >> uint64(32)
        for j in range(length):
            word = line[j]
            sums[j] += (word & uint64(0xFFFFFFFF)) * low + (word >> uint64(32)) * high
            carries |= (word & exponent) + lowest
        if (i + 1) % depth == 0 or i + 1 == n:
            prints[i // depth] = _weigh(sums, of_word)
    return carries


def symmetric(out: Array, columns: int, panel: int, targets: int = 0) -> Array:
    """(X − c | R | 1)ᵀS(X − c | R | 1) in place, from what `gram_rows` has added up there; more rows may follow.

    ``columns`` and ``targets`` are those of X and R. Among columns of X that fill whole panels, sums stand on and above
    the diagonal; of the others, of the targets and of the ones, whole rows.

    Examples
    --------
    >>> symmetric(np.array([[1.0, 2.0, 5.0], [0.0, 3.0, 6.0], [5.0, 6.0, 7.0]]), 2, 2)
    array([[1., 2., 5.],
           [2., 3., 6.],
           [5., 6., 7.]])
    """
    whole, every, step = columns // panel * panel, columns + targets + 1, _AT_ONCE * panel
    out[:whole, whole:every] = out[whole:every, :whole].T
    for first in range(0, whole, step):  # blocks that stay in a cache, as seen from either side
        last = min(first + step, whole)
        out[last:whole, first:last] = out[first:last, last:whole].T
        block = out[first:last, first:last]
        np.copyto(block, block.T.copy(), where=np.tri(last - first, k=-1, dtype=bool))
    return out[:every, :every]


def panels(columns: int, narrow: bool = False) -> tuple[int, int, int]:
    """Panels that hold so many columns, the columns of one (three vectors), and all rounded up to whole vectors.

    Examples
    --------
    >>> count, panel, width = panels(1)
    >>> count, panel >= width >= 1
    (1, True)
    """
    wide = _WIDE * (2 if narrow else 1)
    return -(-columns // (3 * wide)), 3 * wide, -(-columns // wide) * wide


def warm() -> None:
    """Compile for rows of float64 and float32; all that is only read is of Numba's type of read-only arrays."""
    none, odd, bits, prints = np.zeros(0), np.ones(2, np.uint64), np.uint64(0), np.empty(1, np.uint64)
    lines = np.zeros((1, 2), np.uint64)
    fold_lines(lines, odd, odd, bits, bits, prints)
    lines.flags.writeable = False
    fold_lines(lines, odd, odd, bits, bits, prints)
    for dtype, block in ((np.float64, np.float64), (np.float32, np.float64), (np.float32, np.float32)):
        X, R, shift = np.zeros((1, 2), dtype), np.zeros((1, 0)), np.zeros(2, block)
        count, panel, width = panels(3, block == np.float32)
        packed, out = np.zeros((count, 1, panel), block), np.zeros((width, width))
        for array in (X, R, shift, none):
            array.flags.writeable = False
        gram_rows(X, R, none, shift, packed, packed, out, odd, odd, prints)
