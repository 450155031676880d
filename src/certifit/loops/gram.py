"""XᵀSX, XᵀSR and XᵀS1 of dense rows at the speed of the processor's multipliers, and their fingerprints beside.

Rows are packed, some at a time, into a block that stays in a cache: (x − c, r, 1) side by side, padded to whole
vectors, and a second time multiplied by the weights where there are any. A block is cut into panels, three vectors wide
and as tall as the block has rows: two of them fit into the nearest cache, and are read there from beginning to end.
(Of whole rows, a tile would take a line here and a line there, and wait.) The product of the block with itself is then
summed in tiles that fit the registers. A tile is ``_TALL`` columns of the one side times three vectors of the
other: every row takes three loads of a vector, ``_TALL`` loads of one number that fills a vector, and 3·``_TALL``
multiplications. Of 32 registers of 8 numbers (AVX-512), 8 · 3 = 24 hold the sums and 3 the vectors, and
11 loads go with 24 multiplications, so that the multipliers never wait; of 16 registers of 4 numbers (AVX2),
4 · 3 + 3 + 1 use all. Only tiles on and above the diagonal are visited: half the work.

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

from certifit.loops._jit import njit
from certifit.loops._vectors import LANES, LINE, fetch, filled, intrinsic

_TALL = LANES or 4
_WIDE = LANES or 4


def _tile(vectors: int) -> Any:
    """A tile: the product of ``_TALL`` columns of left (from a on, in panel p) and so many vectors of right.

    The vectors are those from v on of panel q. The product is added to ``out`` where it belongs in XᵀX.
    """

    def tile(context, left, right, rows, p, a, q, v, out):
        whole = types.intp
        return types.void(left, right, whole, whole, whole, whole, whole, out), emit

    def emit(context, build, signature, args):
        narrow = signature.args[0].dtype == types.float32
        wide, whole = _WIDE * (2 if narrow else 1), ir.IntType(64)
        vector = ir.VectorType(ir.FloatType() if narrow else ir.DoubleType(), wide)
        left, right, out = (context.make_array(signature.args[k])(context, build, args[k]) for k in (0, 1, 7))
        rows, p, a, q, v = args[2:7]
        most, panel = (build.extract_value(left.shape, axis) for axis in (1, 2))
        pitch = build.extract_value(out.shape, 1)
        b = build.mul(v, whole(wide))
        kind = ir.FunctionType(vector, [vector] * 3)
        fma = cgutils.get_or_insert_function(build.module, kind, f"llvm.fma.v{wide}f{32 if narrow else 64}")

        def first(block, number, column):
            return build.gep(block.data, [build.add(build.mul(build.mul(number, most), panel), column)])

        zero = ir.Constant(vector, None)
        sums = [[cgutils.alloca_once_value(build, zero) for _ in range(vectors)] for _ in range(_TALL)]
        tall, broad = first(left, p, a), first(right, q, b)
        with cgutils.for_range(build, rows) as loop:
            at = build.mul(loop.index, panel)
            column = [_load(build, build.gep(broad, [build.add(at, whole(k * wide))]), vector) for k in range(vectors)]
            for i, row in enumerate(sums):
                number = build.load(build.gep(tall, [build.add(at, whole(i))]))
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


_tile1, _tile2, _tile3 = _tile(1), _tile(2), _tile(3)


@intrinsic
def _lay(context, X, i, j, shift, left, p, k):
    """left[p, k] = X[i, j:…] − shift[j:…], a panel's row at a time: as a loop it would ask each time what overlaps."""

    def emit(context, build, signature, args):
        X, shift, left = (context.make_array(signature.args[at])(context, build, args[at]) for at in (0, 3, 4))
        i, j, p, k = (args[at] for at in (1, 2, 5, 6))
        narrow = signature.args[4].dtype == types.float32
        real = ir.FloatType() if narrow else ir.DoubleType()
        read = ir.FloatType() if signature.args[0].dtype == types.float32 else real
        wide = _WIDE * (2 if narrow else 1)
        most, panel = (build.extract_value(left.shape, axis) for axis in (1, 2))
        source = build.gep(X.data, [build.add(build.mul(i, build.extract_value(X.shape, 1)), j)])
        target = build.gep(left.data, [build.mul(build.add(build.mul(p, most), k), panel)])
        for v in range(3):
            at = [ir.IntType(64)(v * wide)]
            x = _load(build, build.gep(source, at), ir.VectorType(read, wide))
            x = x if read == real else build.fpext(x, ir.VectorType(real, wide))
            c = _load(build, build.gep(build.gep(shift.data, [j]), at), ir.VectorType(real, wide))
            place = build.bitcast(build.gep(target, at), c.type.as_pointer())
            build.store(build.fsub(x, c), place, align=4)
        return context.get_dummy_value()

    return types.void(X, types.intp, types.intp, shift, left, types.intp, types.intp), emit


@njit(nogil=True)
def _pack(X, R, weights, shift, left, right):
    """(x − c, r, 1) of some rows into the panels of ``left``, and the same times their weights into ``right``."""
    n, d = X.shape
    t, panel = R.shape[1], left.shape[2]
    full = d // panel
    for k in range(n):
        for p in range(full):
            _lay(X, k, p * panel, shift, left, p, k)
        for j in range(full * panel, d):
            left[full, k, j - full * panel] = X[k, j] - shift[j]
        for j in range(t):
            left[(d + j) // panel, k, (d + j) % panel] = R[k, j]
        left[(d + t) // panel, k, (d + t) % panel] = 1.0
    if weights.shape[0] > 0:
        for p in range(left.shape[0]):
            for k in range(n):
                for j in range(panel):
                    right[p, k, j] = weights[k] * left[p, k, j]


@njit(nogil=True)
def gram_rows(X, R, weights, shift, left, right, out):
    """Add (X − c)ᵀS(X − c | R | 1) to ``out``; what stands below its diagonal does not count.

    ``left`` and ``right`` are blocks of panels (see `panels`), zero in the columns that are not used; without weights
    (an array of length 0) they are the same one. Their type says in which precision rows of a block are multiplied.
    """
    d, panel = X.shape[1], left.shape[2]
    wide, tiles = panel // 3, left.shape[0] * d // (2 * _TALL) + 1
    for start in range(0, X.shape[0], left.shape[1]):
        rows = min(left.shape[1], X.shape[0] - start)
        some = slice(start, start + rows)
        _pack(X[some], R[some], weights[some], shift, left, right)
        ahead = X.itemsize * d * (start + rows)
        few = 1 + X.itemsize * d * rows // (LINE * tiles)  # all of the next block, by the time that it is packed
        for q in range(left.shape[0]):
            last = min(panel, out.shape[1] - q * panel) // wide
            for column in range(0, min(d, (q + 1) * panel), _TALL):
                p, a = column // panel, column % panel
                first = a // wide if p == q else 0
                if last - first == 3:
                    _tile3(left, right, rows, p, a, q, first, out)
                elif last - first == 2:
                    _tile2(left, right, rows, p, a, q, first, out)
                elif last - first == 1:
                    _tile1(left, right, rows, p, a, q, first, out)
                for _ in range(few):
                    fetch(X, ahead)
                    ahead += LINE


@njit(nogil=True)
def fold_blocks(words, lanes, depth, odd, exponent, lowest, prints):
    """Fingerprints of consecutive blocks of lanes·depth words into ``prints``; returns the OR of the carries."""
    sums = np.zeros(lanes, dtype=np.uint64)
    carries = uint64(0)
    at = 0
    for block in range(prints.shape[0]):
        sums[:] = 0
        for _ in range(depth):
            line = words[at : at + lanes]
            for lane in range(lanes):
                word = line[lane]
                sums[lane] += word
                carries |= (word & exponent) + lowest
            at += lanes
        total = uint64(0)
        for lane in range(lanes):
            total += ((sums[lane] >> uint64(31)) ^ sums[lane]) * odd[lane]
        prints[block] = total
    return carries


@njit(nogil=True)
def gram_and_fold(X, R, weights, shift, left, right, out, words, lanes, depth, odd, exponent, lowest, prints):
    """`gram_rows` of X and `fold_blocks` of its words by turns: the second finds in a cache what the first has read.

    Rows and blocks end at different places, so the turns are of about the same numbers only.
    """
    n, blocks = X.shape[0], prints.shape[0]
    carries = uint64(0)
    done = 0
    for k in range(max(1, blocks)):
        stop = n if k + 1 >= blocks else n * (k + 1) // blocks
        gram_rows(X[done:stop], R[done:stop], weights, shift, left, right, out)
        done = stop
        if k < blocks:
            some = words[k * lanes * depth : (k + 1) * lanes * depth]
            carries |= fold_blocks(some, lanes, depth, odd, exponent, lowest, prints[k : k + 1])
    return carries


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
