"""Value, slopes and gradient of softmax regression in one read of the rows.

A block of rows is read twice, the second time from a cache: for its scores X W, and, once these have become slopes,
for their product with the rows. Both are sums of one number times a few vectors of classes, taken in tiles that fit the
registers: ``TALL`` rows (for the scores) or columns (for the gradient) times up to three vectors. As in
`certifit.loops.gram`, the tile is written in LLVM's language, which finds none in a plain loop.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from certifit.loops._jit import njit
from certifit.loops._vectors import LANES, LINE, fetch, filled, intrinsic

_WIDE = LANES or 4
_TALL = LANES or 4
_ROWS = 64  # of a block: they and their slopes stay in the nearest cache
_APART = 500.0  # scores of a block that are not so far apart need no maximum of each row
_LEAST = -600.0  # exponents below it count as this: their exponential vanishes beside the largest, which is 1
_LOG2E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10  # q times the first is exact for whole q < 2¹²
_ROUND = 6755399441055744.0  # 1.5 · 2⁵²: a number added to it is rounded, and stands in its last bits


def _tile(tall: int, vectors: int) -> Any:
    """out[o + t, v:] += Σᵢ left[start + i·step + t·skip] · right[i, v:] for t < ``tall``; so many vectors from v on.

    The arrays are matrices in C order; ``left`` is counted in numbers from its first.
    """

    def tile(context, left, start, step, skip, count, right, v, out, o):
        whole = types.intp
        return types.void(left, whole, whole, whole, whole, right, whole, out, whole), emit

    def emit(context, build, signature, args):
        left, right, out = (context.make_array(signature.args[k])(context, build, args[k]) for k in (0, 5, 7))
        start, step, skip, count, v, o = (args[k] for k in (1, 2, 3, 4, 6, 8))
        double, whole = ir.DoubleType(), ir.IntType(64)
        vector = ir.VectorType(double, _WIDE)
        kind = ir.FunctionType(vector, [vector] * 3)
        fma = cgutils.get_or_insert_function(build.module, kind, f"llvm.fma.v{_WIDE}f64")
        pitch = build.extract_value(right.shape, 1)

        def place(block, row, k):
            at = build.add(build.mul(row, pitch), build.add(v, whole(k * _WIDE)))
            return build.bitcast(build.gep(block.data, [at]), vector.as_pointer())

        zero = ir.Constant(vector, None)
        sums = [[cgutils.alloca_once_value(build, zero) for _ in range(vectors)] for _ in range(tall)]
        heads = [build.gep(left.data, [build.add(start, build.mul(whole(t), skip))]) for t in range(tall)]
        with cgutils.for_range(build, count) as loop:
            factors = [build.load(place(right, loop.index, k), align=8) for k in range(vectors)]
            for head, row in zip(heads, sums):
                number = build.load(build.gep(head, [build.mul(loop.index, step)]))
                number = number if number.type == double else build.fpext(number, double)
                full = filled(build, number, vector)
                for total, factor in zip(row, factors):
                    build.store(build.call(fma, [full, factor, build.load(total)]), total)
        for t, row in enumerate(sums):
            for k, total in enumerate(row):
                target = place(out, build.add(o, whole(t)), k)
                build.store(build.fadd(build.load(target, align=8), build.load(total)), target, align=8)
        return context.get_dummy_value()

    return intrinsic(tile)


_tall1, _tall2, _tall3 = _tile(_TALL, 1), _tile(_TALL, 2), _tile(_TALL, 3)
_flat1, _flat2, _flat3 = _tile(1, 1), _tile(1, 2), _tile(1, 3)


@njit(nogil=True)
def _add_product(left, start, step, skip, count, right, out, rows, ahead, lines):
    """out[t] += Σᵢ left[start + i·step + t·skip] · right[i] for t < ``rows``.

    Meanwhile so many lines of a cache are fetched, from ``ahead`` bytes after the first number on left.
    """
    width = right.shape[1]
    few, last = 1 + lines * _TALL * 3 * _WIDE // (rows * width), ahead + lines * LINE  # so many with each tile
    for v in range(0, width, 3 * _WIDE):
        vectors = min(3, (width - v) // _WIDE)
        whole = rows - rows % _TALL
        for t in range(0, whole, _TALL):
            if vectors == 3:
                _tall3(left, start + t * skip, step, skip, count, right, v, out, t)
            elif vectors == 2:
                _tall2(left, start + t * skip, step, skip, count, right, v, out, t)
            else:
                _tall1(left, start + t * skip, step, skip, count, right, v, out, t)
            for _ in range(few):
                if ahead < last:
                    fetch(left, ahead)
                    ahead += LINE
        for t in range(whole, rows):
            if vectors == 3:
                _flat3(left, start + t * skip, step, skip, count, right, v, out, t)
            elif vectors == 2:
                _flat2(left, start + t * skip, step, skip, count, right, v, out, t)
            else:
                _flat1(left, start + t * skip, step, skip, count, right, v, out, t)


@njit(nogil=True)
def _extremes(z, ends):
    """The largest of whole vectors of numbers, and the smallest; ``ends`` has room for a vector of either."""
    high, low = ends[0], ends[1]
    high[:] = low[:] = z[0]
    for i in range(0, len(z), _WIDE):
        for k in range(_WIDE):
            high[k] = z[i + k] if z[i + k] > high[k] else high[k]
            low[k] = z[i + k] if z[i + k] < low[k] else low[k]
    return high.max(), low.min()


@njit(nogil=True, fastmath={"contract"})
def _exponentials(z, power):
    """e^z in place for z ≤ 0, many at a time; ``power`` has the length of z. The relative error is below 1e-15."""
    bits = power.view(np.int64)
    for i in range(len(z)):
        z[i] = max(z[i], _LEAST)
        power[i] = z[i] * _LOG2E + _ROUND
    for i in range(len(z)):
        q = power[i] - _ROUND
        f = (z[i] - q * _LN2_HIGH) - q * _LN2_LOW  # |f| ≤ ln 2 / 2
        p = 1 / 39916800 + f * (1 / 479001600 + f / 6227020800)
        p = 1 / 40320 + f * (1 / 362880 + f * (1 / 3628800 + f * p))
        p = 1 / 120 + f * (1 / 720 + f * (1 / 5040 + f * p))
        z[i] = 1.0 + f * (1.0 + f * (0.5 + f * (1 / 6 + f * (1 / 24 + f * p))))
        bits[i] = (bits[i] + 1023) << 52  # 2^q
    for i in range(len(z)):
        z[i] *= power[i]


@njit(nogil=True, error_model="numpy")
def softmax_pass(X, y, s, W, b, scores, totals, own, gradient):
    """Scores XW + b into ``scores``, Σ sᵢ xᵢ ∇L(zᵢ)ᵀ added to ``gradient`` and Σ sᵢ ∇L(zᵢ) to its last row.

    The loss of row i is log(totals[i]) − own[i]. W (d, width), b (width,) and gradient (d + 1, width) are padded to
    whole vectors (see `padded`); what the gradient has there does not count. y holds the classes.
    """
    n, d = X.shape
    K, width = scores.shape[1], W.shape[1]
    z, power, ends, one = np.empty((_ROWS, width)), np.empty(_ROWS * width), np.empty((2, _WIDE)), np.ones((1, 1))
    size = X.itemsize * d * _ROWS  # bytes of a block; half of the next one is fetched during each product
    for first in range(0, n, _ROWS):
        rows, ahead = min(_ROWS, n - first), size * (first // _ROWS + 1)
        z[:rows] = b
        _add_product(X, first * d, 1, d, d, W, z, rows, ahead, size // (2 * LINE))
        flat = z[:rows].ravel()
        top, bottom = _extremes(flat, ends)
        wide = top - bottom > _APART
        for r in range(rows):
            for k in range(K):
                scores[first + r, k] = z[r, k]
            if wide:
                top = z[r].max()
            for v in range(0, width, _WIDE):
                for k in range(_WIDE):
                    z[r, v + k] -= top
            own[first + r] = z[r, y[first + r]]
        _exponentials(flat, power)
        for r in range(rows):
            total = 0.0
            for k in range(K):
                total += z[r, k]
            totals[first + r] = total
            factor = s[first + r] / total
            for v in range(0, width, _WIDE):
                for k in range(_WIDE):
                    z[r, v + k] *= factor
            z[r, y[first + r]] -= s[first + r]
        _add_product(X, first * d, d, 1, rows, z, gradient, d, ahead + size // 2, size // (2 * LINE))
        _add_product(one, 0, 0, 0, rows, z, gradient[d:], 1, 0, 0)


def padded(classes: int) -> np.ndarray:
    """The classes, and the first of them again and again up to whole vectors.

    Examples
    --------
    >>> found = padded(3)
    >>> found[:3].tolist(), set(found[3:].tolist())
    ([0, 1, 2], {0})
    """
    index = np.arange(-(-classes // _WIDE) * _WIDE)
    return np.where(index < classes, index, 0)


def warm() -> None:
    """Compile for rows of float64 and float32; all that is only read is of Numba's type of read-only arrays."""
    width = len(padded(3))
    for dtype in (np.float64, np.float32):
        given = np.zeros((1, 1), dtype), np.zeros(1, np.int64), np.ones(1), np.zeros((1, width)), np.zeros(width)
        for array in given:
            array.flags.writeable = False
        softmax_pass(*given, np.empty((1, 3)), np.empty(1), np.empty(1), np.zeros((2, width)))
