"""Scan all rows for one block of queries in whole numbers: products of 16-bit integers, exact in 32 bits.

`certifit.nearest._integers` has the rounding to whole numbers and the proof. A row's *score* for a query is
x̂·q̂ − ⌈‖x̂‖²/2⌉, large where the row is near. A register tile of queries × rows is scored at a time and never
leaves the first-level cache: scores below the query's bound, that is nearly all of them, are dropped by one
comparison for a whole vector. What is not below becomes a *candidate*; the k best scores seen so far move the
bound.

Rows come in *panels* of `LANES`: ``panels[p, t·LANES + lane]`` holds features 2t and 2t + 1 of row
p·LANES + lane as one 32-bit number. Queries are kept row by row in the same way.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from certifit._types import Array
from certifit.loops._jit import njit

_UNCOUNTED: dict[str, Any] = {"_nrt": False}
_inner: Any = njit(nogil=True, **_UNCOUNTED)
_emitted: Any = intrinsic


def _features() -> dict[str, bool]:
    """What the processor that Numba compiles for can do; nothing if somebody told Numba to assume another."""
    if getattr(config, "CPU_NAME", None) or getattr(config, "CPU_FEATURES", None):
        return {}
    return dict(llvmlite.binding.get_host_cpu_features())


_HOST = _features()
_LONG = _HOST.get("avx512bw", False)
AVAILABLE = _LONG or _HOST.get("avx2", False)  # elsewhere the product of 16-bit integers has no measured gain
LANES = 16 if _LONG else 8  # 32-bit numbers in a vector register
TALL, WIDE = (8 if _LONG else 6), 2  # queries × vectors of rows in a tile: as many sums as registers hold
NOWHERE = -(2**30)  # below every score: of rows that only fill up the last panel

_MULTIPLY = "llvm.x86.avx512.pmaddw.d.512" if _LONG else "llvm.x86.avx2.pmadd.wd"


class _Emitter:
    """Vector instructions for one tile."""

    def __init__(self, context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> None:
        self.b, self.context, self.signature, self.args = builder, context, signature, args
        self.i32, self.i64 = ir.IntType(32), ir.IntType(64)
        self.vector = ir.VectorType(self.i32, LANES)
        self.shorts = ir.VectorType(ir.IntType(16), 2 * LANES)
        kind = ir.FunctionType(self.vector, [self.shorts, self.shorts])
        self.multiply = cgutils.get_or_insert_function(builder.module, kind, _MULTIPLY)

    def start(self, which: int, *factors: ir.Value) -> ir.Value:
        """Pointer into array argument ``which``, at the product of the factors."""
        data = self.context.make_array(self.signature.args[which])(self.context, self.b, self.args[which]).data
        at = factors[0]
        for f in factors[1:]:
            at = self.b.mul(at, f)
        return self.b.gep(self.b.bitcast(data, self.i32.as_pointer()), [at])

    def at(self, pointer: ir.Value, offset: ir.Value) -> ir.Value:
        return self.b.bitcast(self.b.gep(pointer, [offset]), self.vector.as_pointer())

    def load(self, pointer: ir.Value, offset: ir.Value) -> ir.Value:
        return self.b.load(self.at(pointer, offset), align=4)

    def spread(self, pointer: ir.Value) -> ir.Value:
        """One number in every lane."""
        none = ir.Constant(self.vector, ir.Undefined)
        one = self.b.insert_element(none, self.b.load(pointer), self.i32(0))
        return self.b.shuffle_vector(one, none, ir.Constant(self.vector, [0] * LANES))

    def pairs(self, value: ir.Value) -> ir.Value:
        return self.b.bitcast(value, self.shorts)


def _emit_steps(
    e: _Emitter, queries: list[ir.Value], rows: list[ir.Value], first: list[ir.Value], count: ir.Value
) -> list[list[ir.Value]]:
    """The sums over all pairs of features: ``first`` plus products, for each query and each vector of rows."""
    b, before = e.b, e.b.block
    steps, done = b.append_basic_block("steps"), b.append_basic_block("done")
    b.branch(steps)
    b.position_at_end(steps)
    t = b.phi(e.i64)
    t.add_incoming(e.i64(0), before)
    sums = [[b.phi(e.vector) for _ in rows] for _ in queries]
    held = [e.pairs(e.load(x, b.mul(t, e.i64(LANES)))) for x in rows]
    totals = []
    for line, q in zip(sums, queries):
        spread = e.pairs(e.spread(b.gep(q, [t])))
        totals.append([b.add(s, b.call(e.multiply, [spread, x])) for s, x in zip(line, held)])
        for s, begin, total in zip(line, first, totals[-1]):
            s.add_incoming(begin, before)
            s.add_incoming(total, steps)
    after = b.add(t, e.i64(1))
    t.add_incoming(after, steps)
    b.cbranch(b.icmp_signed("<", after, count), steps, done)
    b.position_at_end(done)
    return totals


@_emitted
def _tile(
    _: Any, queries: Any, q: Any, panels: Any, p: Any, count: ir.Value, starts: Any, bounds: Any, scores: Any, hits: Any
) -> Any:
    """Scores of queries q … q + TALL − 1 with panels p … p + WIDE − 1 into ``scores``; bit c of ``hits[i]`` says
    whether row c's reaches the bound of query q + i.
    """
    number = types.intp
    signature = types.void(queries, number, panels, number, number, starts, bounds, scores, hits)

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> Any:
        e = _Emitter(context, builder, signature, args)
        _, q, _, p, count, *_ = args
        lanes = e.i64(LANES)
        first_q, first_x = e.start(0, q, count), e.start(2, p, count, lanes)
        first_s, first_b = e.start(5, p, lanes), e.start(6, q)
        block, hit = e.start(7, e.i64(0)), e.start(8, e.i64(0))
        lines = [builder.gep(first_q, [builder.mul(count, e.i64(i))]) for i in range(TALL)]
        columns = [builder.gep(first_x, [builder.mul(count, e.i64(j * LANES))]) for j in range(WIDE)]
        begin = [e.load(first_s, e.i64(j * LANES)) for j in range(WIDE)]
        for i, line in enumerate(_emit_steps(e, lines, columns, begin, count)):
            bound = e.spread(builder.gep(first_b, [e.i64(i)]))
            bits = e.i32(0)
            for j, total in enumerate(line):
                reached = builder.bitcast(builder.icmp_signed(">=", total, bound), ir.IntType(LANES))
                bits = builder.or_(bits, builder.shl(builder.zext(reached, e.i32), e.i32(j * LANES)))
                builder.store(total, e.at(block, e.i64((i * WIDE + j) * LANES)), align=4)
            builder.store(bits, builder.gep(hit, [e.i64(i)]))
        return context.get_dummy_value()

    return signature, generate


@_emitted
def _lowest_bit(_: Any, bits: Any) -> Any:
    """Position of the lowest bit that is set."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> Any:
        return builder.zext(builder.cttz(args[0], ir.IntType(1)(1)), ir.IntType(64))

    return types.intp(types.uint32), generate


@_inner
def _push(heap: Array, i: int, score: int) -> None:
    """Replace the smallest of row i's heap by a larger score."""
    k = heap.shape[1]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= k:
            break
        if child + 1 < k and heap[i, child + 1] < heap[i, child]:
            child += 1
        if heap[i, child] >= score:
            break
        heap[i, at] = heap[i, child]
        at = child
    heap[i, at] = score


@_inner
def _bound(kth: int, square: float, width: float) -> int:
    """The least score that a row may have if it is nearer than one with score ``kth``.

    With D̂ the distance between whole numbers: D̂² ≤ ‖q̂‖² − 2·score ≤ D̂² + 1, and a row may be nearer only
    if its D̂ exceeds the other's by no more than ``width``. The last −2 is for rounding here.
    """
    reach = np.sqrt(max(square - 2.0 * kth, 0.0)) + width
    return int(max((square - 1.0 - reach * reach) * 0.5 - 2.0, NOWHERE + 1.0))


@_inner
def _keep(rows: Array, scores: Array, i: int, count: int, bound: int) -> int:
    """Drop row i's candidates that are below its bound."""
    kept = 0
    for t in range(count):
        if scores[i, t] >= bound:
            rows[i, kept], scores[i, kept] = rows[i, t], scores[i, t]
            kept += 1
    return kept


@_inner
def _raise_lanes(block: Array, i: int, lanes: Array, at: int, first_x: int, group: int, group_x: Array) -> None:
    """Largest score per lane: lanes hold different rows."""
    first, line, to = np.uint64(first_x), np.uint64(i), np.uint64(at)
    for c in range(np.uint64(block.shape[1])):
        score = block[line, c]
        if group >= 0:
            score = np.int32(NOWHERE) if group_x[first + c] == group else score
        lanes[line, to + c] = max(lanes[line, to + c], score)


@_inner
def _first_bounds(
    queries: Array, panels: Array, count: int, starts: Array, squares: Array, widths: Array, group_q: Array, group_x:
    Array, n_first: int, q: int, first_q: int, lanes: Array, heap: Array, bounds: Array, block: Array, hits: Array,
) -> None:  # fmt: skip
    """Bounds of one tile of queries from the best score of each lane over the first panels: the k-th best of
    these is reached by k different rows.
    """
    width = block.shape[1]
    for i in range(TALL):
        for c in range(lanes.shape[1]):
            lanes[i, c] = NOWHERE
    at = 0
    for p in range(0, n_first, WIDE):
        _tile(queries, q, panels, p, count, starts, bounds, block, hits)
        for i in range(TALL):
            group = group_q[first_q + q + i] if first_q + q + i < len(group_q) else -1
            _raise_lanes(block, i, lanes, at, p * LANES, group, group_x)
        at = at + width if at + 2 * width <= lanes.shape[1] else 0
    for i in range(TALL):
        if bounds[q + i] > NOWHERE + 1:  # not to be searched
            continue
        for c in range(lanes.shape[1]):
            if lanes[i, c] > heap[q + i, 0]:
                _push(heap, q + i, lanes[i, c])
        if heap[q + i, 0] > NOWHERE:
            bounds[q + i] = _bound(heap[q + i, 0], squares[q + i], widths[q + i])
        for j in range(heap.shape[1]):
            heap[q + i, j] = NOWHERE


@_inner
def scan(
    queries: Array, n_q: int, first_q: int, panels: Array, count: int, starts: Array, squares: Array, widths: Array,
    group_q: Array, group_x: Array, n_first: int, n_chunk: int, lanes: Array, block: Array, hits: Array, heap: Array,
    bounds: Array, rows: Array, scores: Array, counts: Array,
) -> None:  # fmt: skip
    """Candidates for a block of queries: ``rows[i, :counts[i]]``; −1 where they are too many to hold.

    ``n_first`` panels set the first bounds; ``n_chunk`` panels at a time stay in the second-level cache.
    """
    for q in range(0, n_q, TALL):
        if n_first > 0:
            _first_bounds(
                queries, panels, count, starts, squares, widths, group_q, group_x, n_first, q, first_q, lanes,
                heap, bounds, block, hits,
            )  # fmt: skip
    for chunk in range(0, len(panels), n_chunk):
        for q in range(0, n_q, TALL):
            for p in range(chunk, min(chunk + n_chunk, len(panels)), WIDE):
                _tile(queries, q, panels, p, count, starts, bounds, block, hits)
                for i in range(TALL):
                    if hits[i] != 0:
                        _admit(
                            block, hits[i], i, q + i, p * LANES, first_q, squares, widths, group_q, group_x, heap,
                            bounds, rows, scores, counts,
                        )  # fmt: skip
    for i in range(n_q):
        if counts[i] > 0:
            counts[i] = _keep(rows, scores, i, counts[i], bounds[i])


@_inner
def _admit(
    block: Array, bits: int, line: int, i: int, first_x: int, first_q: int, squares: Array, widths: Array,
    group_q: Array, group_x: Array, heap: Array, bounds: Array, rows: Array, scores: Array, counts: Array,
) -> None:  # fmt: skip
    """Take in the candidates of query i among one tile's rows."""
    capacity = rows.shape[1]
    group = group_q[first_q + i] if len(group_q) > 0 else -1
    while bits != 0:
        c = _lowest_bit(bits)
        bits &= bits - np.uint32(1)
        score = block[line, c]
        if score < bounds[i] or (group >= 0 and group_x[first_x + c] == group):
            continue
        if counts[i] == capacity:
            counts[i] = _keep(rows, scores, i, capacity, bounds[i])
            if 2 * counts[i] > capacity:  # a crowd closer together than whole numbers can tell
                counts[i], bounds[i] = -1, 2**31 - 1
                return
        rows[i, counts[i]], scores[i, counts[i]] = first_x + c, score
        counts[i] += 1
        if score > heap[i, 0]:
            _push(heap, i, score)
            if heap[i, 0] > NOWHERE:
                bounds[i] = max(bounds[i], _bound(heap[i, 0], squares[i], widths[i]))


def warm() -> None:
    """Call the scan once, so that it is compiled and cached."""
    if not AVAILABLE:
        return
    none, narrow, flat = np.empty(0, np.int64), np.zeros(TALL, np.int32), np.zeros(TALL)
    block, candidates = np.zeros((TALL, WIDE * LANES), np.int32), np.zeros((TALL, 4), np.int32)
    scan(
        np.zeros((TALL, 1), np.int32), TALL, 0, np.zeros((WIDE, LANES), np.int32), 1, block[0], flat, flat, none,
        none, 0, WIDE, block, block.copy(), np.zeros(TALL, np.uint32), np.full((TALL, 1), NOWHERE, np.int32),
        narrow, candidates, candidates.copy(), np.zeros(TALL, np.int64),
    )  # fmt: skip
