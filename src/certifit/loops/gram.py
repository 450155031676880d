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

Fingerprints fold words of 64 bits into lanes; see `certifit.design._fingerprint` for what the numbers mean. A float is
infinite or NaN when all bits of its exponent are ones: then, and only then, does adding the lowest of them carry into
the bit of the sign, which was cleared. The OR of all those sums has that bit set as soon as one of them has. Two
float32 share a word and do not disturb each other.
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


def _lay(vectors: int) -> Any:
    """left[p, k, a:…] = X[i, j:…] − shift[j:…], so many vectors: as a loop it would ask each time what overlaps."""

    def lay(context, X, i, j, shift, left, p, k, a):
        whole = types.intp
        return types.void(X, whole, whole, shift, left, whole, whole, whole), emit

    def emit(context, build, signature, args):
        X, shift, left = (context.make_array(signature.args[at])(context, build, args[at]) for at in (0, 3, 4))
        i, j, p, k, a = (args[at] for at in (1, 2, 5, 6, 7))
        narrow = signature.args[4].dtype == types.float32
        real = ir.FloatType() if narrow else ir.DoubleType()
        read = ir.FloatType() if signature.args[0].dtype == types.float32 else real
        wide = _WIDE * (2 if narrow else 1)
        most, panel = (build.extract_value(left.shape, axis) for axis in (1, 2))
        source = build.gep(X.data, [build.add(build.mul(i, build.extract_value(X.shape, 1)), j)])
        target = build.gep(left.data, [build.add(build.mul(build.add(build.mul(p, most), k), panel), a)])
        for v in range(vectors):
            at = [ir.IntType(64)(v * wide)]
            x = _load(build, build.gep(source, at), ir.VectorType(read, wide))
            x = x if read == real else build.fpext(x, ir.VectorType(real, wide))
            c = _load(build, build.gep(build.gep(shift.data, [j]), at), ir.VectorType(real, wide))
            place = build.bitcast(build.gep(target, at), c.type.as_pointer())
            build.store(build.fsub(x, c), place, align=4)
        return context.get_dummy_value()

    return intrinsic(lay)


_lay1, _lay3 = _lay(1), _lay(3)


@njit(nogil=True)
def _pack(X, R, weights, shift, left, right, start, rows):
    """(x − c, r, 1) of so many rows into the panels of ``left``, and the same times their weights into ``right``."""
    d, t, panel = X.shape[1], R.shape[1], left.shape[2]
    full, wide = d // panel, panel // 3
    more = (d - full * panel) // wide  # vectors of the last panel, and then single numbers
    for k in range(rows):
        i = start + k
        for p in range(full):
            _lay3(X, i, p * panel, shift, left, p, k, 0)
        for v in range(more):
            _lay1(X, i, full * panel + v * wide, shift, left, full, k, v * wide)
        for j in range(full * panel + more * wide, d):
            left[full, k, j - full * panel] = X[i, j] - shift[j]
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

    Columns that fill whole vectors: on and above the diagonal. The others, the targets and the ones are few, and would
    leave a vector half empty: they are multiplied, as the one side of a tile, with the vectors of all columns.
    """
    d, panel, width = X.shape[1], left.shape[2], out.shape[1]
    wide = panel // 3
    whole = d // wide * wide
    count = (columns - whole + _TALL - 1) // _TALL * left.shape[0]
    for q in range(left.shape[0]):
        count += min(whole, (q + 1) * panel) // _TALL
    size = X.itemsize * d
    ahead, stride = size * stop, size // count + 1
    for q in range(left.shape[0]):
        last = min(panel, whole - q * panel) // wide
        for column in range(0, min(whole, (q + 1) * panel) if last > 0 else 0, _TALL):
            p, a = column // panel, column % panel
            first = a // wide if p == q else 0
            _tiles(left, right, rows, p, a, False, q, first, last, out, X, ahead, stride)
            ahead += rows * stride
    for column in range(whole, columns, _TALL):
        p, a = column // panel, column % panel
        few = columns - column <= _TALL // 2
        for q in range(left.shape[0]):
            last = min(panel, width - q * panel) // wide
            _tiles(left, right, rows, p, a, few, q, 0, last, out, X, ahead, stride)
            ahead += rows * stride


@njit(nogil=True)
def gram_rows(X, R, weights, shift, left, right, out):
    """Add (X − c)ᵀS(X − c | R | 1) to ``out``; `symmetric` says where in it.

    ``left`` and ``right`` are blocks of panels (see `panels`), zero in the columns that are not used; without weights
    (an array of length 0) they are the same one. Their type says in which precision rows of a block are multiplied.
    """
    n, most, columns = X.shape[0], left.shape[1], X.shape[1] + R.shape[1] + 1
    for start in range(0, n, most):
        rows = min(most, n - start)
        _pack(X, R, weights, shift, left, right, start, rows)
        _multiply(left, right, rows, X, columns, start + rows, out)


@njit(nogil=True)
def _fold(words, first, last, lanes, depth, odd, exponent, lowest, sums, prints):
    """Fold some of the words, which begin with a block, into ``sums``; the print of a block when it is complete."""
    carries, at = uint64(0), first
    while at < last:
        lane = at % lanes
        count = min(last - at, lanes - lane)
        line, place = words[at : at + count], sums[lane : lane + count]
        for k in range(count):
            word = line[k]
            place[k] += word
            carries |= (word & exponent) + lowest
        at += count
        if at % (lanes * depth) == 0:
            total = uint64(0)
            for k in range(lanes):
                total += ((sums[k] >> uint64(31)) ^ sums[k]) * odd[k]
                sums[k] = 0
            prints[at // (lanes * depth) - 1] = total
    return carries


@njit(nogil=True)
def fold_blocks(words, lanes, depth, odd, exponent, lowest, prints):
    """Fingerprints of consecutive blocks of lanes·depth words into ``prints``; returns the OR of the carries."""
    sums = np.zeros(lanes, dtype=np.uint64)
    return _fold(words, np.intp(0), prints.shape[0] * lanes * depth, lanes, depth, odd, exponent, lowest, sums, prints)


@njit(nogil=True)
def gram_and_fold(X, R, weights, shift, left, right, out, words, lanes, depth, odd, exponent, lowest, prints):
    """`gram_rows` of X and `fold_blocks` of its words by turns: the one finds in a cache what the other has read.

    Rows and words end at different places, so the turns are of about the same numbers only.
    """
    n, most, columns = X.shape[0], left.shape[1], X.shape[1] + R.shape[1] + 1
    count = prints.shape[0] * lanes * depth
    sums, carries, done = np.zeros(lanes, dtype=np.uint64), uint64(0), 0
    for start in range(0, n, most):
        rows = min(most, n - start)
        upto = count * (start + rows) // n
        carries |= _fold(words, done, upto, lanes, depth, odd, exponent, lowest, sums, prints)
        done = upto
        _pack(X, R, weights, shift, left, right, start, rows)
        _multiply(left, right, rows, X, columns, start + rows, out)
    return carries


def symmetric(out: Array, columns: int, wide: int) -> Array:
    """(X − c | R | 1)ᵀS(X − c) from what `gram_rows` has added up, for X of so many columns and vectors so wide.

    Among columns that fill whole vectors it is what stands on and above the diagonal; of the others, whole rows.

    Examples
    --------
    >>> symmetric(np.array([[1.0, 2.0], [0.0, 3.0]]), 2, 2)
    array([[1., 2.],
           [2., 3.]])
    """
    found, whole = out[:, :columns].copy(), columns // wide * wide
    found[:whole, whole:] = out[whole:columns, :whole].T
    corner = found[:whole, :whole]
    np.copyto(corner, corner.T.copy(), where=np.tri(whole, k=-1, dtype=bool))
    return found


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
    none = np.zeros(0)
    words, odd, bits, prints = np.zeros(2, np.uint64), np.ones(2, np.uint64), np.uint64(0), np.empty(1, np.uint64)
    fold_blocks(words, 2, 1, odd, bits, bits, prints)
    words.flags.writeable = False
    fold_blocks(words, 2, 1, odd, bits, bits, prints)
    for dtype, block in ((np.float64, np.float64), (np.float32, np.float64), (np.float32, np.float32)):
        X, R, shift = np.zeros((1, 1), dtype), np.zeros((1, 0)), np.zeros(1, block)
        count, panel, width = panels(2, block == np.float32)
        packed, out = np.zeros((count, 1, panel), block), np.zeros((width, width))
        for array in (X, R, shift, none):
            array.flags.writeable = False
        gram_rows(X, R, none, shift, packed, packed, out)
        gram_and_fold(X, R, none, shift, packed, packed, out, words, 2, 1, odd, bits, bits, prints)
