"""Means and sums of squared deviations per class in one read of the data, and Gaussian class scores.

Stability. Rows are taken in blocks. Inside a block the deviations from the class means seen so far are summed
(any shift within the range of the data is good; the running mean is about the best), and at its end the block
is merged by the update of Chan, Golub and LeVeque. Sums are therefore at most a block long, and columns such as
10⁸ ± 1 keep their variance to nearly all digits.

Rows without weights are listed by class first: the sums of a class then stay in vector registers while its rows go by,
which is as fast as memory is read, in either precision. As in `certifit.loops.gram`, that part is written in LLVM's
language.

Convention: ``total`` (K,) is the weight per class, ``mean`` (K, d), ``scatter`` (K, d) = Σ w (x − mean)²; ``rest``
(K, d) is what rounding took from the means.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from certifit._types import Array
from certifit.loops._jit import njit
from certifit.loops._tiers import interpreted, tiered
from certifit.loops._vectors import LANES, LINE, ask_for, fetch, filled, intrinsic, sums_of_each

_BLOCK = 2048
_LANES = LANES or 1
_CLASSES = 16  # up to which rows are listed by class: of more, each has few rows in a block
_VECTORS = 4  # whose sums and squares, means and rows fit into sixteen registers
_AHEAD = 8192  # bytes of rows to be labelled that are asked for ahead
_I64 = ir.IntType(64)


def _listed(vectors: int) -> Any:
    """Σ (x − mean) and its squares over ``count`` rows[c] of X, of so many vectors of columns, written to s[c], q[c].

    The vectors stand side by side from column j on; the last begins at column ``end``, and may overlap. Rows that lie a
    block further on are asked for, because rows of one class do not lie in the order in which memory is read ahead.
    """

    def tile(context, X, rows, count, mean, c, j, end, s, q):
        whole = types.intp
        return types.void(X, rows, whole, mean, whole, whole, whole, s, q), emit

    def emit(context, build, signature, args):
        X, rows, mean, s, q = (context.make_array(signature.args[k])(context, build, args[k]) for k in (0, 1, 3, 7, 8))
        count, c, j, end = (args[k] for k in (2, 4, 5, 6))
        single = signature.args[0].dtype == types.float32
        wide = ir.VectorType(ir.DoubleType(), _LANES)
        stored = ir.VectorType(ir.FloatType(), _LANES) if single else wide
        places = [*(build.add(j, _I64(_LANES * k)) for k in range(vectors - 1)), end]
        square = cgutils.get_or_insert_function(
            build.module, ir.FunctionType(wide, [wide] * 3), f"llvm.fma.v{_LANES}f64"
        )

        def at(table, row, place, kind):
            start = build.add(build.mul(row, build.extract_value(table.shape, 1)), place)
            return build.bitcast(build.gep(table.data, [start]), kind.as_pointer())

        ahead = build.mul(_I64(_BLOCK), build.extract_value(X.shape, 1))
        mine = build.gep(rows.data, [build.mul(c, build.extract_value(rows.shape, 1))])

        means = [build.load(at(mean, c, place, wide), align=8) for place in places]
        none = ir.Constant(wide, None)
        sums, squares = ([cgutils.alloca_once_value(build, none) for _ in places] for _ in range(2))
        with cgutils.for_range(build, count) as loop:
            i = build.load(build.gep(mine, [loop.index]))
            for place, middle, total, size in zip(places, means, sums, squares):
                x = build.load(at(X, i, place, stored), align=4)
                ask_for(build, build.bitcast(at(X, i, build.add(place, ahead), stored), ir.IntType(8).as_pointer()))
                t = build.fsub(build.fpext(x, wide) if single else x, middle)
                build.store(build.fadd(build.load(total), t), total)
                build.store(build.call(square, [t, t, build.load(size)]), size)
        for place, total, size in zip(places, sums, squares):
            build.store(build.load(total), at(s, c, place, wide), align=8)
            build.store(build.load(size), at(q, c, place, wide), align=8)
        return context.get_dummy_value()

    return intrinsic(tile)


_one, _two, _three, _four = (_listed(vectors) for vectors in range(1, _VECTORS + 1))


@njit()
def _deviations(X, code, start, stop, mean, w, s, q, rows):
    """Weights w, sums s and squares q of the deviations of rows start to stop from ``mean``, class by class."""
    K, d = mean.shape
    count = np.zeros(K, np.int64)
    if K == 2:  # each row on both lists, to be overwritten on one: a count in a register waits for nothing
        second, first, other = np.uint64(0), np.uint64(0), np.uint64(1)  # unsigned: no place is counted from an end
        for k in range(stop - start):
            rows[first, np.uint64(k) - second] = start + k
            rows[other, second] = start + k
            second += np.uint64(code[start + k])
        count[0], count[1] = stop - start - np.int64(second), second
    else:
        for i in range(start, stop):
            c = code[i]
            rows[c, count[c]] = i
            count[c] += 1
    for c in range(K):
        w[c] = count[c]
        for j in range(0, d if count[c] > 0 else 0, _VECTORS * _LANES):
            left = min(_VECTORS, (d - j + _LANES - 1) // _LANES)
            end = min(j + (left - 1) * _LANES, d - _LANES)
            if left == 1:
                _one(X, rows, count[c], mean, c, j, end, s, q)
            elif left == 2:
                _two(X, rows, count[c], mean, c, j, end, s, q)
            elif left == 3:
                _three(X, rows, count[c], mean, c, j, end, s, q)
            else:
                _four(X, rows, count[c], mean, c, j, end, s, q)


@njit()
def _merge(total, mean, rest, scatter, w, s, q):
    """Absorb a block's weight w, sums s and squares q of the deviations from ``mean``; clear the block.

    The true class mean is ``mean + rest``: what rounding takes from the one is kept in the other, since at 10⁸
    a mean is only good to 10⁻⁸ and its error would enter the squares.
    """
    K, d = mean.shape
    for c in range(K):
        if w[c] > 0.0:
            new = total[c] + w[c]
            for j in range(d):
                block = s[c, j] / w[c]
                gap = block - rest[c, j]
                scatter[c, j] += (q[c, j] - s[c, j] * block) + (total[c] * w[c] / new) * gap * gap
                shift = rest[c, j] + gap * (w[c] / new)
                moved = mean[c, j] + shift
                rest[c, j] = shift - (moved - mean[c, j])
                mean[c, j] = moved
                s[c, j] = 0.0
                q[c, j] = 0.0
            total[c] = new
            w[c] = 0.0


@njit()
def _first_rows(X, code, weight, total, mean):
    """Start each class that has no weight yet at the first of its rows that has."""
    K, d = mean.shape
    seen = total > 0.0
    left = K - seen.sum()
    for i in range(X.shape[0] if left else 0):
        c = code[i]
        if not seen[c] and (weight.shape[0] == 0 or weight[i] > 0.0):
            seen[c] = True
            for j in range(d):
                mean[c, j] = X[i, j]
            left -= 1
            if left == 0:
                break


def _row_by_row(*asked):
    """`class_moments` in plain Python, which has no vector registers."""
    interpreted(class_moments.compiled.py_func, _LANES=1)(*asked)


def _label_by_label(*asked):
    """`gaussian_labels` in the same way."""
    return interpreted(gaussian_labels.compiled.py_func, _LANES=1)(*asked)


@tiered(lambda X, code, weight, total, mean, rest, scatter: 1e-6 * X.size, _row_by_row)
@njit(nogil=True, fastmath={"contract"})
def class_moments(X, code, weight, total, mean, rest, scatter):
    """Add rows X with class ``code`` to ``total``, ``mean`` (and its ``rest``) and ``scatter``, which begin as zeros.

    ``weight`` of length 0 means ones.
    """
    n, d = X.shape
    K = total.shape[0]
    _first_rows(X, code, weight, total, mean)
    w = np.zeros(K)
    s = np.zeros((K, d))
    q = np.zeros((K, d))
    unit = weight.shape[0] == 0
    size = max(_BLOCK, 8 * K)
    by_class = unit and 1 < _LANES <= d and K <= _CLASSES
    rows = np.empty((K, min(n, size) if by_class else 0), np.int64)
    for start in range(0, n, size):
        stop = min(n, start + size)
        if by_class:
            _deviations(X, code, start, stop, mean, w, s, q, rows)
        elif unit:
            for i in range(start, stop):
                c = code[i]
                w[c] += 1.0
                for j in range(d):
                    t = X[i, j] - mean[c, j]
                    s[c, j] += t
                    q[c, j] += t * t
        else:
            for i in range(start, stop):
                c = code[i]
                a = weight[i]
                if a > 0.0:
                    w[c] += a
                    for j in range(d):
                        t = X[i, j] - mean[c, j]
                        s[c, j] += a * t
                        q[c, j] += a * t * t
        _merge(total, mean, rest, scatter, w, s, q)
    for c in range(K):
        for j in range(d):
            scatter[c, j] = max(scatter[c, j], 0.0) if scatter[c, j] == scatter[c, j] else np.inf


@tiered(lambda X, code, weight, total, mean, scatter: 2e-6 * X.size)
@njit()
def class_moments_missing(X, code, weight, total, mean, scatter):
    """As `class_moments`, NaN cells skipped: ``total`` is (K, d), the weight of the cells that are there."""
    n, d = X.shape
    for i in range(n):
        c = code[i]
        a = weight[i] if weight.shape[0] > 0 else 1.0
        if a <= 0.0:
            continue
        for j in range(d):
            x = X[i, j]
            if x == x:
                new = total[c, j] + a
                t = x - mean[c, j]
                mean[c, j] += t * (a / new)
                scatter[c, j] += a * t * (x - mean[c, j])
                total[c, j] = new


@tiered(lambda X, mean, half_precision, constant, out: 5e-7 * X.size * len(constant))
@njit(fastmath={"reassoc", "contract"})
def gaussian_scores(X, mean, half_precision, constant, out):
    """out[i, c] = constant[c] − Σⱼ half_precision[c, j] (X[i, j] − mean[c, j])²."""
    n, d = X.shape
    K = constant.shape[0]
    for i in range(n):
        for c in range(K):
            r = 0.0
            for j in range(d):
                t = X[i, j] - mean[c, j]
                r += half_precision[c, j] * t * t
            out[i, c] = constant[c] - r


def _distances(classes: int) -> Any:
    """sums[c] = Σⱼ half_precision[c, j] (X[i, j] − mean[c, j])² for so many classes from c on, of a vector of rows i.

    The last vector of columns may overlap the one before: ``rest`` is its half precisions, zero where it does. Each row
    has a vector of sums; halves of these are added, then quarters, ..., and one vector is left with a number for each.
    """

    def tile(context, X, start, mean, half_precision, rest, c, sums):
        whole = types.intp
        return types.void(X, whole, mean, half_precision, rest, whole, sums), emit

    def emit(context, build, signature, args):
        X, mean, half, rest, sums = (
            context.make_array(signature.args[k])(context, build, args[k]) for k in (0, 2, 3, 4, 6)
        )
        start, d, single = args[1], build.extract_value(X.shape, 1), signature.args[0].dtype == types.float32
        wide = ir.VectorType(ir.DoubleType(), _LANES)
        stored = ir.VectorType(ir.FloatType(), _LANES) if single else wide
        kind = ir.FunctionType(wide, [wide] * 3)
        fma = cgutils.get_or_insert_function(build.module, kind, f"llvm.fma.v{_LANES}f64")
        rows = [build.mul(build.add(start, _I64(k)), d) for k in range(_LANES)]
        numbers = [build.add(args[5], _I64(k)) for k in range(classes)]
        none = ir.Constant(wide, None)
        totals = [[cgutils.alloca_once_value(build, none) for _ in rows] for _ in numbers]

        def read(table, row, place, kind=wide):
            start = build.gep(table.data, [build.add(row, place)])
            return build.load(build.bitcast(start, kind.as_pointer()), align=4)

        def add(j, halves):
            """A vector of columns, from j on."""
            means = [read(mean, build.mul(c, d), j) for c in numbers]
            for k, row in enumerate(rows):
                x = read(X, row, j, stored)
                x = build.fpext(x, wide) if single else x
                for m, h, mine in zip(means, halves, totals):
                    t = build.fsub(x, m)
                    build.store(build.call(fma, [build.fmul(h, t), t, build.load(mine[k])]), mine[k])

        with cgutils.for_range(build, build.udiv(build.sub(d, _I64(1)), _I64(_LANES))) as loop:
            j = build.mul(loop.index, _I64(_LANES))
            add(j, [read(half, build.mul(c, d), j) for c in numbers])
        add(build.sub(d, _I64(_LANES)), [read(rest, build.mul(c, _I64(_LANES)), _I64(0)) for c in numbers])
        for c, mine in zip(numbers, totals):
            place = build.gep(sums.data, [build.mul(c, _I64(_LANES))])
            total = sums_of_each(build, [build.load(each) for each in mine])
            build.store(total, build.bitcast(place, wide.as_pointer()), align=8)
        return context.get_dummy_value()

    return intrinsic(tile)


_one_class, _two_classes = _distances(1), _distances(2)


@intrinsic
def _chosen(context, constant, sums, out, start):
    """out[start + r] = the class c of the largest constant[c] − sums[c, r], the first of equals, of a vector of rows r.

    Returns a bit for each row that has none, whose class is 0. There is no branch that nobody could foresee.
    """

    def emit(context, build, signature, args):
        constant, sums, out = (context.make_array(signature.args[k])(context, build, args[k]) for k in range(3))
        wide, whole = ir.VectorType(ir.DoubleType(), _LANES), ir.VectorType(_I64, _LANES)
        none = ir.Constant(whole, [-1] * _LANES)
        best = cgutils.alloca_once_value(build, ir.Constant(wide, [-np.inf] * _LANES))
        label = cgutils.alloca_once_value(build, none)
        with cgutils.for_range(build, build.extract_value(constant.shape, 0)) as loop:
            top = filled(build, build.load(build.gep(constant.data, [loop.index])), wide)
            place = build.gep(sums.data, [build.mul(loop.index, _I64(_LANES))])
            score = build.fsub(top, build.load(build.bitcast(place, wide.as_pointer()), align=8))
            more = build.fcmp_ordered(">", score, build.load(best))
            build.store(build.select(more, score, build.load(best)), best)
            build.store(build.select(more, filled(build, loop.index, whole), build.load(label)), label)
        found = build.load(label)
        missing = build.icmp_signed("==", found, none)
        place = build.bitcast(build.gep(out.data, [args[3]]), whole.as_pointer())
        build.store(build.select(missing, ir.Constant(whole, None), found), place, align=8)
        return build.zext(build.bitcast(missing, ir.IntType(_LANES)), _I64)

    return types.intp(constant, sums, out, types.intp), emit


@njit(nogil=True)
def _vector_labels(X, mean, half_precision, constant, out):
    """`gaussian_labels` of as many rows at a time as a vector has numbers; the last of them may be done twice."""
    n, d = X.shape
    K, line = constant.shape[0], d * X.itemsize
    sums, rest, bad = np.empty((K, _LANES)), np.zeros((K, _LANES)), 0
    once = (d - 1) % _LANES + 1  # columns of the last vector that no other has
    for c in range(K):
        for k in range(once):
            rest[c, _LANES - once + k] = half_precision[c, d - once + k]
    for i in range(0, n, _LANES):
        start = min(i, n - _LANES)
        for place in range(i * line + _AHEAD, (i + _LANES) * line + _AHEAD, LINE):
            fetch(X, place)
        for c in range(0, K - 1, 2):
            _two_classes(X, start, mean, half_precision, rest, c, sums)
        if K % 2:
            _one_class(X, start, mean, half_precision, rest, K - 1, sums)
        none = _chosen(constant, sums, out, start) >> (i - start)
        while none:
            bad, none = bad + (none & 1), none >> 1
    return bad


@tiered(lambda X, mean, half_precision, constant, out: 5e-7 * X.size * len(constant), _label_by_label)
@njit(nogil=True, fastmath={"reassoc", "contract"})
def gaussian_labels(X, mean, half_precision, constant, out):
    """out[i] = the class of the largest Gaussian score (the first of equals); returns how many rows had none.

    A row has none when no score is a finite number: a NaN, an infinity or an overflow is among its cells.
    """
    n, d = X.shape
    if 1 < _LANES <= min(n, d):
        return _vector_labels(X, mean, half_precision, constant, out)
    K = constant.shape[0]
    bad = 0
    for i in range(n):
        best = -np.inf
        label = -1
        for c in range(K):
            r = 0.0
            for j in range(d):
                t = X[i, j] - mean[c, j]
                r += half_precision[c, j] * t * t
            score = constant[c] - r
            if score > best:
                best = score
                label = c
        if label < 0:
            bad += 1
            label = 0
        out[i] = label
    return bad


@tiered(lambda X, code, weight, start, out: 7e-7 * X.size)
@njit()
def category_counts(X, code, weight, start, out):
    """out[code[i], start[j] + X[i, j]] += weight[i] for every cell with X[i, j] ≥ 0 (negative: missing)."""
    n, d = X.shape
    unit = weight.shape[0] == 0
    for i in range(n):
        a = 1.0 if unit else weight[i]
        for j in range(d):
            if X[i, j] >= 0:
                out[code[i], start[j] + X[i, j]] += a


def warm() -> None:
    """Compile for float64 and float32 rows."""
    code = np.array([0, 1], dtype=np.int64)
    for dtype in (np.float64, np.float32):
        X: Array = np.zeros((2, 3), dtype=dtype)
        for weight in (np.zeros(0),):
            class_moments(X, code, weight, np.zeros(2), np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 3)))
        gaussian_scores(X, np.zeros((2, 3)), np.ones((2, 3)), np.zeros(2), np.zeros((2, 2)))
        gaussian_labels(X, np.zeros((2, 3)), np.ones((2, 3)), np.zeros(2), np.zeros(2, dtype=np.int64))
    X64 = np.zeros((2, 3))
    class_moments_missing(X64, code, np.zeros(0), np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 3)))
    cells = np.zeros((2, 3), dtype=np.int64)
    category_counts(cells, code, np.zeros(0), np.array([0, 1, 2], dtype=np.int64), np.zeros((2, 3)))
