"""Sums and blocks of exp(leftᵢ · rightⱼ), the radial kernel of padded factors, at the speed of the multipliers.

A matrix product writes every number to memory, an exponential reads and writes it, a sum reads it once more. Here
numbers stay in registers: a tile of ``_TALL`` rows on the left times some vectors of those on the right is multiplied
out, exponentiated, and stored or summed. Of 32 registers of AVX-512, 4 · 6 hold the products and 6 the vectors; of 16
registers of AVX2, 4 · 3 and 3. Rows on the right come in panels as wide as a tile (see `panels`), so that a tile reads
them from beginning to end. As in `certifit.loops.gram`, the tile is written in LLVM's language, which finds none in a
plain loop.

The exponential is 2ᵗ with t = x/ln 2, split into a whole number, which becomes the exponent of a float, and a rest of
at most ½, for which Taylor's series serves. The rounding of t changes eˣ by |x|eˣ roundings, which is at most a third
of one of the kernel's largest value, 1. Values below the smallest normal float become about that; NaN stays NaN.
"""

from __future__ import annotations

from math import factorial, log
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from certifit._types import Array
from certifit.loops._jit import njit
from certifit.loops._vectors import LANES, filled, intrinsic

_TALL = 4
_WIDE = LANES or 4
_VECTORS = 6 if _WIDE == 8 else 3
_I64 = ir.IntType(64)
_FLOATS = {  # type of LLVM, bits of the mantissa, bias of the exponent, terms of the series
    types.float32: (ir.FloatType(), 23, 127, 8),
    types.float64: (ir.DoubleType(), 52, 1023, 14),
}


class _Emit:
    """What a tile says in LLVM's language, for arrays of one precision."""

    def __init__(self, build: ir.IRBuilder, real: Any) -> None:
        self.build, self.real = build, real
        self.kind, self.mantissa, self.bias, self.terms = _FLOATS[real]
        self.wide = _WIDE * 64 // real.bitwidth
        self.vector = ir.VectorType(self.kind, self.wide)
        self._fma = cgutils.get_or_insert_function(
            build.module, ir.FunctionType(self.vector, [self.vector] * 3), f"llvm.fma.v{self.wide}f{real.bitwidth}"
        )

    def fma(self, a: ir.Value, b: ir.Value, c: ir.Value) -> ir.Value:
        """a·b + c."""
        return self.build.call(self._fma, [a, b, c])

    def constant(self, x: float) -> ir.Constant:
        """A vector of a number, rounded to this precision."""
        return ir.Constant(self.vector, [self.kind(float(np.dtype(str(self.real)).type(x)))] * self.wide)

    def vector_at(self, pointer: ir.Value, k: int) -> ir.Value:
        """Where vector k after a pointer lies."""
        place = self.build.gep(pointer, [_I64(k * self.wide)])
        return self.build.bitcast(place, self.vector.as_pointer())

    def everywhere(self, pointer: ir.Value, k: ir.Value) -> ir.Value:
        """A vector of the number k places after a pointer."""
        return filled(self.build, self.build.load(self.build.gep(pointer, [k])), self.vector)

    def exponential(self, x: ir.Value) -> ir.Value:
        """e to the power of every number of a vector, which is at most a little above 0."""
        build, whole = self.build, ir.VectorType(ir.IntType(self.real.bitwidth), self.wide)
        least, magic = self.constant(1 - self.bias), self.constant(1.5 * 2.0**self.mantissa + self.bias)
        t = build.fmul(x, self.constant(1.0 / log(2.0)))
        t = build.select(build.fcmp_ordered("<", t, least), least, t)
        rounded = build.fadd(t, magic)  # its last bits are the nearest whole number plus the bias
        rest = build.fsub(t, build.fsub(rounded, magic))
        series = [self.constant(log(2.0) ** k / factorial(k)) for k in range(self.terms)]
        found = series.pop()
        while series:
            found = self.fma(found, rest, series.pop())
        places = ir.Constant(whole, [whole.element(self.mantissa)] * self.wide)
        return build.fmul(found, build.bitcast(build.shl(build.bitcast(rounded, whole), places), self.vector))

    def products(self, heads: list[ir.Value], panel: ir.Value, count: ir.Value) -> list[list[ir.Value]]:
        """The products of so many numbers after each head with the vectors of a panel, one row for each head."""
        build, zero = self.build, ir.Constant(self.vector, None)
        sums = [[cgutils.alloca_once_value(build, zero) for _ in range(_VECTORS)] for _ in heads]
        with cgutils.for_range(build, count) as loop:
            line = build.gep(panel, [build.mul(loop.index, _I64(_VECTORS * self.wide))])
            factors = [build.load(self.vector_at(line, k), align=4) for k in range(_VECTORS)]
            for head, row in zip(heads, sums):
                full = self.everywhere(head, loop.index)
                for total, factor in zip(row, factors):
                    build.store(self.fma(full, factor, build.load(total)), total)
        return [[build.load(total) for total in row] for row in sums]


def _tile(summed: bool) -> Any:
    """exp(left[i + t] · panel p) for t < ``_TALL``, from out[o, j] on; or their sum with weights, as one row there."""

    def tile(context, left, weights, i, panels, p, out, o, j):
        whole = types.intp
        return types.void(left, weights, whole, panels, whole, out, whole, whole), emit

    def emit(context, build, signature, args):
        left, weights, panels, out = (
            context.make_array(signature.args[k])(context, build, args[k]) for k in (0, 1, 3, 5)
        )
        i, p, o, j = (args[k] for k in (2, 4, 6, 7))
        e = _Emit(build, signature.args[0].dtype)
        count, pitch = build.extract_value(left.shape, 1), build.extract_value(out.shape, 1)
        rows = [build.add(i, _I64(t)) for t in range(_TALL)]
        heads = [build.gep(left.data, [build.mul(row, count)]) for row in rows]
        panel = build.gep(panels.data, [build.mul(build.mul(p, count), _I64(_VECTORS * e.wide))])
        found = e.products(heads, panel, count)
        first = build.gep(out.data, [build.add(build.mul(o, pitch), j)])
        for k in range(_VECTORS):
            total = ir.Constant(e.vector, None)
            for t, (row, line) in enumerate(zip(rows, found)):
                value = e.exponential(line[k])
                if summed:
                    total = e.fma(e.everywhere(weights.data, row), value, total)
                else:
                    into = build.gep(first, [build.mul(_I64(t), pitch)])
                    build.store(value, e.vector_at(into, k), align=4)
            if summed:
                build.store(total, e.vector_at(first, k), align=4)
        return context.get_dummy_value()

    return intrinsic(tile)


_values, _sums = _tile(False), _tile(True)


@njit(nogil=True)
def radial_sums(left, weights, panels, total):
    """total[j] += Σᵢ weightsᵢ exp(leftᵢ · rightⱼ); rows and weights are whole tiles (see `padded`)."""
    width = panels.shape[2]
    tile = np.empty((1, width), left.dtype)
    some = tile[0]
    for p in range(panels.shape[0]):
        into = total[p * width : (p + 1) * width]
        for i in range(0, left.shape[0], _TALL):
            _sums(left, weights, i, panels, p, tile, 0, 0)
            for j in range(len(into)):
                into[j] += some[j]


@njit(nogil=True)
def radial_block(left, panels, out):
    """out[i, j] = exp(leftᵢ · rightⱼ); rows on the left are whole tiles (see `padded`)."""
    (rows, columns), width = out.shape, panels.shape[2]
    tile = np.empty((_TALL, width), left.dtype)
    for i in range(0, rows, _TALL):
        for p in range(panels.shape[0]):
            first, last = p * width, min((p + 1) * width, columns)
            if last - first == width and i + _TALL <= rows:
                _values(left, left[0], i, panels, p, out, i, first)
                continue
            _values(left, left[0], i, panels, p, tile, 0, 0)
            for t in range(min(_TALL, rows - i)):
                for j in range(first, last):
                    out[i + t, j] = tile[t, j - first]


def padded(rows: Array) -> Array:
    """The rows, or numbers, and zeros up to whole tiles.

    Examples
    --------
    >>> padded(np.ones(3)).tolist()
    [1.0, 1.0, 1.0, 0.0]
    """
    found = np.zeros((-(-len(rows) // _TALL) * _TALL, *rows.shape[1:]), rows.dtype)
    found[: len(rows)] = rows
    return found


def panels(right: Array) -> Array:
    """Rows in groups as wide as a tile, the numbers of each column side by side; zeros after the last row.

    Examples
    --------
    >>> panels(np.array([[1.0, 2.0], [3.0, 4.0]]))[0, :, :3].tolist()
    [[1.0, 3.0, 0.0], [2.0, 4.0, 0.0]]
    """
    (n, d), width = right.shape, _VECTORS * _WIDE * 8 // right.itemsize
    found, full = np.zeros((-(-n // width), d, width), right.dtype), n // width
    found[:full] = right[: full * width].reshape(full, width, d).transpose(0, 2, 1)
    if n % width:
        found[full, :, : n % width] = right[full * width :].T
    return found


def warm() -> None:
    """Compile for both precisions."""
    for dtype in (np.float32, np.float64):
        rows = padded(np.zeros((1, 1), dtype))
        radial_sums(rows, rows[:, 0].copy(), panels(rows), np.zeros(1))
        radial_block(rows, panels(rows), np.zeros((1, 1), dtype))
