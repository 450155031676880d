"""XᵀSX, XᵀSR and XᵀS1 of dense rows at the speed of the processor's multipliers, and their fingerprints beside.

Rows are packed, some at a time, into a block that stays in a cache: (x − c, r, 1) side by side, widened to double
precision, padded to whole vectors, and a second time multiplied by the weights where there are any. The product of the
block with itself is then summed in tiles that fit the registers. A tile is ``_TALL`` columns of the one side times
three vectors of the other: every row takes three loads of a vector, ``_TALL`` loads of one number that fills a vector,
and 3·``_TALL`` multiplications. Of 32 registers of 8 numbers (AVX-512), 8 · 3 = 24 hold the sums and 3 the vectors, and
11 loads go with 24 multiplications, so that the multipliers never wait; of 16 registers of 4 numbers (AVX2),
4 · 3 + 3 + 1 use all. Only tiles on and above the diagonal are visited: half the work.

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
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from certifit.loops._jit import njit


def _lanes() -> int:
    """Numbers in a vector of the processor that Numba compiles for; 0 where the tile would not pay."""
    features = cpu_target.target_context.codegen().magic_tuple()[2].split(",")
    if "+avx512f" in features:
        return 8
    return 4 if {"+avx2", "+fma"} <= set(features) else 0


LANES = _lanes()
_TALL = LANES or 4
_WIDE = LANES or 4


def _tile(vectors: int) -> Any:
    """A tile: out[a:a + _TALL, b:b + vectors·_WIDE] += left[:rows, a:…]ᵀ right[:rows, b:…], of C-ordered float64.

    Meanwhile it asks for ``rows`` lines of X from byte ``ahead`` on: memory is read while the multipliers work.
    """

    def tile(context, left, right, rows, a, b, out, X, ahead):
        return types.void(left, right, types.intp, types.intp, types.intp, out, X, types.intp), emit

    def emit(context, build, signature, args):
        real, whole = ir.DoubleType(), ir.IntType(64)
        vector = ir.VectorType(real, _WIDE)
        left, right, out, X = (context.make_array(signature.args[k])(context, build, args[k]) for k in (0, 1, 5, 6))
        rows, a, b = args[2:5]
        lines = build.gep(build.bitcast(X.data, ir.IntType(8).as_pointer()), [args[7]])
        stride, other, pitch = (build.extract_value(array.shape, 1) for array in (left, right, out))
        kind = ir.FunctionType(vector, [vector] * 3)
        fma = cgutils.get_or_insert_function(build.module, kind, f"llvm.fma.v{_WIDE}f64")

        def at(pointer, k):
            return build.bitcast(build.gep(pointer, [k]), vector.as_pointer())

        zero = ir.Constant(vector, None)
        sums = [[cgutils.alloca_once_value(build, zero) for _ in range(vectors)] for _ in range(_TALL)]
        with cgutils.for_range(build, rows) as loop:
            p = build.gep(left.data, [build.add(build.mul(loop.index, stride), a)])
            q = build.gep(right.data, [build.add(build.mul(loop.index, other), b)])
            _fetch(build, build.gep(lines, [build.mul(loop.index, whole(64))]))
            column = [build.load(at(q, whole(v * _WIDE)), align=8) for v in range(vectors)]
            for i, row in enumerate(sums):
                number = build.load(build.gep(p, [whole(i)]))
                filled = _filled(build, number, vector)
                for place, factor in zip(row, column):
                    build.store(build.call(fma, [filled, factor, build.load(place)]), place)
        for i, row in enumerate(sums):
            start = build.add(build.mul(build.add(a, whole(i)), pitch), b)
            for v, place in enumerate(row):
                target = at(out.data, build.add(start, whole(v * _WIDE)))
                build.store(build.fadd(build.load(target, align=8), build.load(place)), target, align=8)
        return context.get_dummy_value()

    return intrinsic(tile)


def _fetch(build: ir.IRBuilder, place: ir.Value) -> None:
    """Ask for a line of memory, to be in the second-level cache when it is needed; beyond an array nothing happens."""
    four = ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [place.type, four, four, four])
    fetch = cgutils.get_or_insert_function(build.module, kind, "llvm.prefetch")
    build.call(fetch, [place, four(0), four(2), four(1)])


def _filled(build: ir.IRBuilder, number: ir.Value, vector: ir.VectorType) -> ir.Value:
    """A vector of one number."""
    empty, first = ir.Constant(vector, ir.Undefined), ir.IntType(32)(0)
    one = build.insert_element(empty, number, first)
    return build.shuffle_vector(one, empty, ir.Constant(ir.VectorType(ir.IntType(32), vector.count), None))


_tile1, _tile2, _tile3 = _tile(1), _tile(2), _tile(3)


@njit(nogil=True)
def gram_rows(X, R, weights, shift, left, right, out):
    """Add (X − c)ᵀS(X − c | R | 1) to ``out``; what stands below its diagonal does not count.

    ``left`` and ``right`` are blocks as many columns wide as ``out`` (see `padded`), zero in the columns that are not
    used; without weights (an array of length 0) they are the same one.
    """
    d, t, width = X.shape[1], R.shape[1], out.shape[1]
    for start in range(0, X.shape[0], left.shape[0]):
        rows = min(left.shape[0], X.shape[0] - start)
        for k in range(rows):
            for j in range(d):
                left[k, j] = X[start + k, j] - shift[j]
            for j in range(t):
                left[k, d + j] = R[start + k, j]
            left[k, d + t] = 1.0
        if weights.shape[0] > 0:
            for k in range(rows):
                for j in range(width):
                    right[k, j] = weights[start + k] * left[k, j]
        ahead = X.itemsize * d * (start + rows)
        for a in range(0, d, _TALL):
            for b in range(a, width, 3 * _WIDE):
                if width - b >= 3 * _WIDE:
                    _tile3(left, right, rows, a, b, out, X, ahead)
                elif width - b == 2 * _WIDE:
                    _tile2(left, right, rows, a, b, out, X, ahead)
                else:
                    _tile1(left, right, rows, a, b, out, X, ahead)
                ahead += 64 * rows


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


def padded(columns: int) -> int:
    """So many columns, rounded up to whole vectors.

    Examples
    --------
    >>> padded(1) >= 1
    True
    """
    return -(-columns // _WIDE) * _WIDE


def warm() -> None:
    """Compile for rows of float64 and float32; all that is only read is of Numba's type of read-only arrays."""
    block, shift, none = np.zeros((padded(2), padded(2))), np.zeros(1), np.zeros(0)
    words, odd, bits, prints = np.zeros(2, np.uint64), np.ones(2, np.uint64), np.uint64(0), np.empty(1, np.uint64)
    fold_blocks(words, 2, 1, odd, bits, bits, prints)
    words.flags.writeable = False
    fold_blocks(words, 2, 1, odd, bits, bits, prints)
    for dtype in (np.float64, np.float32):
        X, R = np.zeros((1, 1), dtype), np.zeros((1, 0))
        for array in (X, R, shift, none):
            array.flags.writeable = False
        gram_rows(X, R, none, shift, block, block, block)
        gram_and_fold(X, R, none, shift, block, block, block, words, 2, 1, odd, bits, bits, prints)
