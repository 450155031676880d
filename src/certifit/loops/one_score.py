"""Value, slopes and gradient of logistic and Poisson regression in one read of the rows.

Rows come in blocks that stay in the nearest cache: their scores, then their slopes, then what they add to the gradient.
The scores of as many rows as a vector has numbers are taken side by side, and so are the exponentials, which would
otherwise take as long as the products. Both parts are written in LLVM's language, as in `certifit.loops.gram`. Where
there are no such vectors, and for rows of different weights, whose losses cannot share a logarithm, rows come four at a
time: the coefficients and the gradient are then loaded once for four.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from certifit.loops._jit import njit
from certifit.loops._vectors import LANES, LINE, fetch, filled, intrinsic, sums_of_each

_CAP = 700.0  # beyond it exp overflows; no minimiser is there
_AHEAD = 24576  # bytes of X that are asked for ahead: the exponentials between the rows hide them from the processor
_LANES = LANES or 1
_ROWS = 32  # of a block
_SHARED = 500  # blocks whose losses share a logarithm: a product of so many numbers below 2 does not overflow
_SLOPES, _VALUES, _PRODUCTS, _TOTALS = _ROWS, 2 * _ROWS, 3 * _ROWS, 4 * _ROWS
_I64 = ir.IntType(64)
_LOG2E, _LN2, _REST = 1.4426950408889634, 0.69314718036912381649, 1.90821492927058770002e-10  # ln 2 in two parts
_TERMS = tuple(1.0 / float(np.prod(np.arange(1.0, k + 1.0))) for k in range(13, -1, -1))  # of the series of exp


@njit()
def _loss(z, y, counts):
    """(l, e, slope) of a loss l + log(1 + e), without what does not depend on z; no exponential overflows."""
    if counts:
        mean = np.exp(min(z, _CAP))
        return mean - z * y, 0.0, mean - y
    margin = y * z
    small = np.exp(-abs(margin))
    # Which side a row is on cannot be foreseen: a choice between numbers, not between ways to go on.
    return max(-margin, 0.0), small, -y * (small if margin > 0.0 else 1.0) / (1.0 + small)


class _Rows:
    """As many rows of X as a vector has numbers, from row i on, a vector of columns at a time, in double precision.

    The last vector of columns may overlap the one before.
    """

    def __init__(self, context: Any, build: ir.IRBuilder, kind: Any, X: Any, i: ir.Value) -> None:
        self.X, self.build = context.make_array(kind)(context, build, X), build
        self.d = build.extract_value(self.X.shape, 1)
        self.wide = ir.VectorType(ir.DoubleType(), _LANES)
        self.stored = ir.VectorType(ir.FloatType(), _LANES) if kind.dtype == types.float32 else self.wide
        self.starts = [build.mul(build.add(i, _I64(k)), self.d) for k in range(_LANES)]
        fma = ir.FunctionType(self.wide, [self.wide] * 3)
        self.fma = cgutils.get_or_insert_function(build.module, fma, f"llvm.fma.v{_LANES}f64")

    def place(self, table: Any, at: ir.Value) -> ir.Value:
        """Where a vector of numbers lies in a table."""
        return self.build.bitcast(self.build.gep(table.data, [at]), self.wide.as_pointer())

    def columns(self, j: ir.Value) -> list[ir.Value]:
        """The numbers of each row from column j on."""
        kind = self.stored.as_pointer()
        places = [self.build.gep(self.X.data, [self.build.add(start, j)]) for start in self.starts]
        found = [self.build.load(self.build.bitcast(place, kind), align=4) for place in places]
        return found if self.stored == self.wide else [self.build.fpext(x, self.wide) for x in found]

    def whole(self) -> ir.Value:
        """Vectors of columns before the last."""
        return self.build.udiv(self.build.sub(self.d, _I64(1)), _I64(_LANES))

    def last(self) -> ir.Value:
        """The column at which the last begins."""
        return self.build.sub(self.d, _I64(_LANES))


@intrinsic
def _dots(context, X, i, w, rest, scores):
    """scores[i:…] = X[i:…] w of a vector of rows; ``rest`` is w for the last columns, zero where these overlap."""

    def emit(context, build, signature, args):
        w, rest, scores = (context.make_array(signature.args[k])(context, build, args[k]) for k in (2, 3, 4))
        rows = _Rows(context, build, signature.args[0], args[0], args[1])
        totals = [cgutils.alloca_once_value(build, ir.Constant(rows.wide, None)) for _ in rows.starts]

        def add(j, factor):
            for x, total in zip(rows.columns(j), totals):
                build.store(build.call(rows.fma, [x, factor, build.load(total)]), total)

        with cgutils.for_range(build, rows.whole()) as loop:
            j = build.mul(loop.index, _I64(_LANES))
            add(j, build.load(rows.place(w, j), align=8))
        add(rows.last(), build.load(rows.place(rest, _I64(0)), align=8))
        found = sums_of_each(build, [build.load(total) for total in totals])
        build.store(found, rows.place(scores, args[1]), align=8)
        return context.get_dummy_value()

    return types.void(X, types.intp, w, rest, scores), emit


@intrinsic
def _spread(context, X, i, heavy, k, gradient, rest):
    """gradient += Σ heavy[k + r] X[i + r] over a vector of rows r, the last columns into ``rest``."""

    def emit(context, build, signature, args):
        heavy, gradient, rest = (context.make_array(signature.args[k])(context, build, args[k]) for k in (2, 4, 5))
        rows = _Rows(context, build, signature.args[0], args[0], args[1])
        places = [build.gep(heavy.data, [build.add(args[3], _I64(r))]) for r in range(_LANES)]
        factors = [filled(build, build.load(place), rows.wide) for place in places]

        def add(j, place):
            one, other = build.load(place, align=8), ir.Constant(rows.wide, None)
            for x, factor in zip(rows.columns(j), factors):  # in two sums, each of which waits for itself only
                one, other = other, build.call(rows.fma, [x, factor, one])
            build.store(build.fadd(one, other), place, align=8)

        with cgutils.for_range(build, rows.whole()) as loop:
            j = build.mul(loop.index, _I64(_LANES))
            add(j, rows.place(gradient, j))
        add(rows.last(), rows.place(rest, _I64(0)))
        return context.get_dummy_value()

    return types.void(X, types.intp, heavy, types.intp, gradient, rest), emit


# Nothing is left to the compiler here but to join a product and a sum: what is subtracted first keeps the digits.
@njit(fastmath={"contract"})
def _exponential(room, bits):
    """eˣ in place, for the first numbers x ≤ 700 of ``room``; below −700 it is e⁻⁷⁰⁰. ``bits`` is room for its own."""
    power = bits.view(np.float64)
    for k in range(_ROWS):
        t = room[k]
        t = -_CAP if t < -_CAP else t
        whole = np.floor(t * _LOG2E + 0.5)
        bits[k] = (np.int64(whole) + 1023) << 52
        r = (t - whole * _LN2) - whole * _REST
        e = _TERMS[0]
        for c in _TERMS[1:]:
            e = e * r + c
        room[k] = e * power[k]


@njit(fastmath={"contract"})
def _losses(y, z, start, b, s, counts, room, bits):
    """Slopes of a block of rows at z + b, times their weight s, and sums over blocks for each place of a block.

    Their places in ``room``, which is one array so that LLVM sees that they are apart: e^±z, then from ``_SLOPES`` on
    the slopes, from ``_VALUES`` on the losses without log(1 + e), from ``_PRODUCTS`` on Π (1 + e) − 1, and from
    ``_TOTALS`` on the sums of the slopes.
    """
    for k in range(_ROWS):
        score = z[start + k] + b
        z[start + k] = score
        margin = score * y[start + k]
        room[k] = (_CAP if score > _CAP else score) if counts else -abs(margin)
        room[_SLOPES + k] = margin
    _exponential(room, bits)
    if counts:
        for k in range(_ROWS):
            e, slope = room[k], s * (room[k] - y[start + k])
            room[_VALUES + k] += e - room[_SLOPES + k]
            room[_SLOPES + k] = slope
            room[_TOTALS + k] += slope
    else:
        for k in range(_ROWS):
            margin, small = room[_SLOPES + k], room[k]
            slope = -s * y[start + k] * (small if margin > 0.0 else 1.0) / (1.0 + small)
            room[_VALUES + k] += 0.0 if margin > 0.0 else -margin
            room[_PRODUCTS + k] += small + room[_PRODUCTS + k] * small
            room[_SLOPES + k] = slope
            room[_TOTALS + k] += slope


@njit()
def _by_vectors(X, y, s, w, b, counts, scores, gradient, whole):
    """`one_score_pass` of the first rows, in blocks, all of one weight."""
    d, line = X.shape[1], X.shape[1] * X.itemsize
    once = (d - 1) % _LANES + 1  # columns of the last vector that no other has
    rest, over, room, bits = np.zeros(_LANES), np.zeros(_LANES), np.zeros(5 * _ROWS), np.zeros(_ROWS, np.int64)
    half = _LANES * line // 2 // LINE * LINE
    logarithms = value = total = 0.0
    for k in range(once):
        rest[_LANES - once + k] = w[d - once + k]
    for start in range(0, whole, _ROWS):
        for i in range(start, start + _ROWS, _LANES):
            for place in range(i * line + _AHEAD, i * line + half + _AHEAD, LINE):
                fetch(X, place)
            _dots(X, i, w, rest, scores)
        _losses(y, scores, start, b, s, counts, room, bits)
        for k in range(0, _ROWS, _LANES):
            for place in range((start + k) * line + half + _AHEAD, (start + k + _LANES) * line + _AHEAD, LINE):
                fetch(X, place)
            _spread(X, start + k, room, _SLOPES + k, gradient, over)
        if start // _ROWS % _SHARED == _SHARED - 1 or start + _ROWS == whole:
            for k in range(_PRODUCTS, _PRODUCTS + _ROWS):
                logarithms += np.log1p(room[k])
                room[k] = 0.0
    for k in range(once):
        gradient[d - once + k] += over[_LANES - once + k]
    for k in range(_ROWS):
        value += room[_VALUES + k]
        total += room[_TOTALS + k]
    return s * (value + logarithms), total


@njit(nogil=True, fastmath={"reassoc"})
def _alike(s):
    """Whether all weights are the same."""
    different = 0
    for i in range(len(s)):
        different += s[i] != s[0]
    return different == 0


# The order of the terms of a dot product is left to the compiler, which sums in several lanes.
@njit(fastmath={"reassoc", "contract"})
def _by_fours(X, y, s, w, b, counts, scores, gradient, first):
    """`one_score_pass` of the rows from ``first`` on."""
    n, d = X.shape
    value = total = 0.0
    whole = n - (n - first) % 4
    heavy, row = np.empty(4), d * X.itemsize
    for i in range(first, whole, 4):
        for place in range(i * row + _AHEAD, (i + 4) * row + _AHEAD, LINE):
            fetch(X, place)
        z0 = z1 = z2 = z3 = b
        for j in range(d):
            z0 += w[j] * np.float64(X[i, j])
            z1 += w[j] * np.float64(X[i + 1, j])
            z2 += w[j] * np.float64(X[i + 2, j])
            z3 += w[j] * np.float64(X[i + 3, j])
        scores[i], scores[i + 1], scores[i + 2], scores[i + 3] = z0, z1, z2, z3
        alike, product = s[i] == s[i + 1] == s[i + 2] == s[i + 3], 0.0
        for k in range(4):
            loss, small, slope = _loss(scores[i + k], y[i + k], counts)
            heavy[k] = s[i + k] * slope
            value += s[i + k] * (loss if alike else loss + np.log1p(small))
            product += small + product * small  # Π (1 + e) − 1: one logarithm serves rows of one weight
            total += heavy[k]
        if alike:
            value += s[i] * np.log1p(product)
        h0, h1, h2, h3 = heavy[0], heavy[1], heavy[2], heavy[3]
        for j in range(d):
            gradient[j] += (h0 * X[i, j] + h1 * X[i + 1, j]) + (h2 * X[i + 2, j] + h3 * X[i + 3, j])
    for i in range(whole, n):
        z = b
        for j in range(d):
            z += w[j] * np.float64(X[i, j])
        scores[i] = z
        loss, small, slope = _loss(z, y[i], counts)
        h = s[i] * slope
        value += s[i] * (loss + np.log1p(small))
        total += h
        for j in range(d):
            gradient[j] += h * np.float64(X[i, j])
    return value, total


@njit(nogil=True)
def one_score_pass(X, y, s, w, b, counts, scores, gradient):
    """Scores Xw + b into ``scores``, Σ sᵢ L′(zᵢ) xᵢ added to ``gradient``; returns Σ sᵢ L(zᵢ) and Σ sᵢ L′(zᵢ).

    y is −1 or 1 (logistic loss), or with ``counts`` a number that is not negative (Poisson, without y log y − y).
    """
    n, d = X.shape
    whole, value, total = 0, 0.0, 0.0
    if 1 < _LANES <= d and n >= _ROWS and _alike(s):
        whole = n - n % _ROWS
        value, total = _by_vectors(X, y, s[0], w, b, counts, scores, gradient, whole)
    more = _by_fours(X, y, s, w, b, counts, scores, gradient, whole)
    return value + more[0], total + more[1]


def warm() -> None:
    """Compile for rows of float64 and float32, which are only read."""
    for dtype in (np.float64, np.float32):
        X, one = np.ones((1, 1), dtype), np.ones(1)
        X.flags.writeable = False
        one_score_pass(X, one, one, one, 0.0, False, np.empty(1), np.zeros(1))
