"""Search a k-d tree: the nearest rows of many queries, eight rows or eight boxes at a time.

Conventions, the reduced distance and the order of neighbours are those of `neighbors_tree`, with one more metric code:
4 is 0 with all weights one, which are left out. The innermost steps are written in LLVM's language because compilers do
not find what counts here: to drop the rows that are too far without a branch (which rows those are cannot be foretold),
and to sort without one.

A *place* is leaf · rows per leaf + position; ``ids`` has the row number of each place (n where nothing is). ``boxes``
holds the boxes of eight sibling nodes together, as (block, low or high, feature, sibling). ``below[block]`` is the
block of the first sibling's children, −1 for blocks of leaves; these come first, the block of the top comes last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from certifit._types import Array
from certifit.loops._jit import njit
from certifit.loops._vectors import LANES, LINE, fetch, filled, intrinsic

_UNCOUNTED: dict[str, Any] = {"_nrt": False}
_jit: Any = njit(nogil=True)
_inner: Any = njit(nogil=True, **_UNCOUNTED)  # no allocation, no slices, no reference counts: see neighbors_tree
# Called for every leaf or query: to hand over some fifty words, as the calls of Numba do, takes longer than the work.
_inlined: Any = njit(nogil=True, forceinline=True, **_UNCOUNTED)

WIDE = 8  # numbers in a vector here, whatever the processor has: a narrower one takes two steps
PAIR = 2 * WIDE  # rows looked at in one step
MOST = 256  # leaves that a group of queries may need; beyond that each query walks the tree by itself
TOGETHER = 64  # queries in a group
UNWEIGHTED = 4
_FINITE = float(np.finfo(float).max)
_REAL, _LONG = ir.DoubleType(), ir.IntType(64)
_REALS, _LONGS = ir.VectorType(_REAL, WIDE), ir.VectorType(_LONG, WIDE)
_ZERO, _NONE = ir.Constant(_REALS, None), ir.Constant(_LONGS, None)
_LANE = ir.Constant(_LONGS, list(range(WIDE)))
_ONES = ir.Constant(_LONGS, [1] * WIDE)


class _Emitter:
    """Vector instructions."""

    def __init__(self, function: ir.Function) -> None:
        self.module = function.module
        self.b = ir.IRBuilder(function.append_basic_block())

    def load(self, pointer: ir.Value, at: ir.Value, kind: ir.Type = _REALS) -> ir.Value:
        return self.b.load(self.b.bitcast(self.b.gep(pointer, [at]), kind.as_pointer()), align=8)

    def store(self, vector: ir.Value, pointer: ir.Value, at: ir.Value) -> None:
        self.b.store(vector, self.b.bitcast(self.b.gep(pointer, [at]), vector.type.as_pointer()), align=8)

    def spread(self, pointer: ir.Value, at: ir.Value) -> ir.Value:
        """One number in every lane."""
        return filled(self.b, self.b.load(self.b.gep(pointer, [at])), _REALS)

    def larger(self, x: ir.Value, y: ir.Value) -> ir.Value:
        return self.b.select(self.b.fcmp_ordered(">", x, y), x, y)

    def call(self, name: str, result: ir.Type, *args: ir.Value) -> ir.Value:
        """One of LLVM's own functions."""
        kind = ir.FunctionType(result, [a.type for a in args])
        return self.b.call(cgutils.get_or_insert_function(self.module, kind, f"llvm.{name}"), args)

    def loop(
        self, stop: ir.Value, step: int, first: list[ir.Value], body: Callable[[ir.Value, list[ir.Value]], Any]
    ) -> Any:
        """for i in range(0, stop, step): state = body(i, state); at least once."""
        b, before = self.b, self.b.block
        head, done = b.append_basic_block("steps"), b.append_basic_block("done")
        b.branch(head)
        b.position_at_end(head)
        i, state = b.phi(_LONG), [b.phi(v.type) for v in first]
        after = body(i, state)
        following = b.add(i, _LONG(step))
        for v, begin, end in zip([i, *state], [_LONG(0), *first], [following, *after]):
            v.add_incoming(begin, before)
            v.add_incoming(end, b.block)
        b.cbranch(b.icmp_signed("<", following, stop), head, done)
        b.position_at_end(done)
        return after

    def metrics(self, code: ir.Value, p: ir.Value, result: Callable[[Callable[..., ir.Value]], ir.Value]) -> None:
        """Return ``result(add)`` where add(sum, gap, weight) is one more term of the distance of metric ``code``."""
        b = self.b

        def size(g: ir.Value) -> ir.Value:
            return self.call("fabs.v8f64", _REALS, g)

        ways: list[Callable[..., ir.Value]] = [
            lambda s, g, w: b.fadd(s, b.fmul(w, b.fmul(g, g))),
            lambda s, g, w: b.fadd(s, b.fmul(w, size(g))),
            lambda s, g, w: self.larger(s, b.fmul(w, size(g))),
            lambda s, g, w: b.fadd(s, b.fmul(w, self.call("pow.v8f64", _REALS, size(g), filled(b, p, _REALS)))),
            lambda s, g, w: b.fadd(s, b.fmul(g, g)),
        ]
        blocks = [b.append_basic_block(f"metric{i}") for i in range(len(ways))]
        switch = b.switch(code, blocks[-1])
        for i, (way, block) in enumerate(zip(ways, blocks)):
            switch.add_case(_LONG(i), block)
            b.position_at_end(block)
            b.ret(result(way))

    def kept(self, mask: ir.Value, columns: list[tuple[ir.Value, ir.Value]], m: ir.Value) -> ir.Value:
        """Append the lanes of ``mask`` to each column's array at m; the new m. All eight places are overwritten."""
        b, bits = self.b, self.b.bitcast(mask, ir.IntType(WIDE))
        if LANES == WIDE:
            for vector, pointer in columns:
                name = f"x86.avx512.mask.compress.v8{'f' if vector.type == _REALS else 'i'}64"
                self.store(self.call(name, vector.type, vector, ir.Constant(vector.type, None), mask), pointer, m)
            return b.add(m, b.zext(b.ctpop(bits), _LONG))
        bits = b.zext(bits, _LONG)
        for i in range(WIDE):
            for vector, pointer in columns:
                b.store(b.extract_element(vector, ir.IntType(32)(i)), b.gep(pointer, [m]))
            m = b.add(m, b.and_(b.lshr(bits, _LONG(i)), _LONG(1)))
        return m


def _called(name: str, emit: Callable[..., None], result: Any, *kinds: Any) -> Any:
    """What generates a call of a function that ``emit`` writes once per module; arrays go as pointers to their data."""
    of = {types.int64: _LONG, types.float64: _REAL}

    def generate(context: Any, build: ir.IRBuilder, signature: Any, args: Any) -> Any:
        given = []
        for kind, arg in zip(signature.args, args):
            array = isinstance(kind, types.Array)
            given.append(context.make_array(kind)(context, build, arg).data if array else arg)
        kind = ir.FunctionType(of[result], [g.type for g in given])
        function = cgutils.get_or_insert_function(build.module, kind, name)
        if function.is_declaration:
            function.linkage = "internal"
            function.attributes.add("noinline")
            function.attributes.add("nounwind")
            emit(_Emitter(function), *function.args)
        return build.call(function, given)

    return result(*kinds), generate


@intrinsic
def _sift(context, leaves, start, length, d, q, w, code, p, reach, place, values, places, m):
    """Of ``length`` rows, those within ``reach``: distances and places to ``values`` and ``places`` from m; new m.

    Up to fifteen numbers after the last are overwritten, too.
    """

    def emit(e, leaves, start, length, d, q, w, code, p, reach, place, values, places, m):
        b, rows = e.b, e.b.gep(leaves, [start])
        limit = filled(b, reach, _REALS)

        def whole(add):
            def step(s, state):
                def feature(c, sums):
                    x, v, line = e.spread(q, c), e.spread(w, c), b.add(s, b.mul(c, length))
                    gaps = [b.fsub(e.load(rows, b.add(line, _LONG(j * WIDE))), x) for j in range(2)]
                    return [add(t, g, v) for t, g in zip(sums, gaps)]

                (m,) = state
                for j, total in enumerate(e.loop(d, 1, [_ZERO] * 2, feature)):
                    where = b.add(filled(b, b.add(b.add(place, s), _LONG(j * WIDE)), _LONGS), _LANE)
                    m = e.kept(b.fcmp_ordered("<=", total, limit), [(total, values), (where, places)], m)
                return [m]

            return e.loop(length, PAIR, [m], step)[0]

        e.metrics(code, p, whole)

    N, R = types.int64, types.float64
    return _called("sift", emit, N, leaves, N, N, N, q, w, N, R, R, N, values, places, N)


@intrinsic
def _facing(context, boxes, start, between, d, low, high, w, code, p, reach, count, bounds, first, kept, m):
    """Distances of the box low..high to ``count`` boxes, whose edges are ``between`` apart in memory, to ``bounds``;
    the numbers of those within ``reach``, counted from ``first``, to ``kept`` from m; new m.
    """

    def emit(e, boxes, start, between, d, low, high, w, code, p, reach, count, bounds, first, kept, m):
        b, lows, limit = e.b, e.b.gep(boxes, [start]), filled(e.b, reach, _REALS)
        highs = b.gep(lows, [b.mul(d, between)])

        def whole(add):
            def step(s, state):
                def feature(c, sums):
                    line = b.add(s, b.mul(c, between))
                    below, above = (
                        b.fsub(e.load(lows, line), e.spread(high, c)),
                        b.fsub(e.spread(low, c), e.load(highs, line)),
                    )
                    return [add(sums[0], e.larger(e.larger(below, above), _ZERO), e.spread(w, c))]

                (total,) = e.loop(d, 1, [_ZERO], feature)
                e.store(total, bounds, s)
                which = b.add(filled(b, b.add(first, s), _LONGS), _LANE)
                return [e.kept(b.fcmp_ordered("<=", total, limit), [(which, kept)], state[0])]

            return e.loop(count, WIDE, [m], step)[0]

        e.metrics(code, p, whole)

    N, R = types.int64, types.float64
    return _called("facing", emit, N, boxes, N, N, N, low, high, w, N, R, R, N, bounds, N, kept, N)


@intrinsic
def _ranks(context, values, m, ranks):
    """How many of values[:m] are less than each; returns the sum. Padded by infinity to a multiple of sixteen."""

    def emit(e, values, m, ranks):
        b, inf = e.b, ir.Constant(_REALS, [float("inf")] * WIDE)
        for j in range(2):
            e.store(inf, values, b.add(m, _LONG(j * WIDE)))

        def step(s, state):
            own = [e.load(values, b.add(s, _LONG(j * WIDE))) for j in range(2)]

            def others(i, counts):
                for t in range(WIDE):
                    x = e.spread(values, b.add(i, _LONG(t)))
                    counts = [b.select(b.fcmp_ordered("<", x, v), b.add(c, _ONES), c) for c, v in zip(counts, own)]
                return counts

            counts = e.loop(m, WIDE, [_NONE] * 2, others)
            for j, c in enumerate(counts):
                e.store(c, ranks, b.add(s, _LONG(j * WIDE)))
            return [b.add(state[0], b.add(*counts))]

        (total,) = e.loop(m, PAIR, [_NONE], step)
        b.ret(e.call("vector.reduce.add.v8i64", _LONG, total))

    return _called("ranks", emit, types.int64, values, types.int64, ranks)


@intrinsic
def _largest_below(context, values, ranks, m, k):
    """Largest of the first m values (none negative) whose rank is below k."""

    def emit(e, values, ranks, m, k):
        b = e.b

        def step(s, state):
            low = b.icmp_signed("<", e.load(ranks, s, _LONGS), filled(b, k, _LONGS))
            return [e.larger(b.select(low, e.load(values, s), _ZERO), state[0])]

        (best,) = e.loop(m, WIDE, [_ZERO], step)
        b.ret(e.call("vector.reduce.fmax.v8f64", _REAL, best))

    return _called("largest", emit, types.float64, values, ranks, types.int64, types.int64)


@_inlined
def _radius(values: Array, m: int, k: int, ranks: Array) -> float:
    """The k-th smallest of values[:m], or infinity."""
    if m < k:
        return np.inf
    _ranks(values, m, ranks)
    return _largest_below(values, ranks, m, k)


@_inlined
def _sort(
    values: Array, places: Array, m: int, k: int, ids: Array, ranks: Array, lined: Array, there: Array
) -> int:  # fmt: skip
    """Only the nearest k of m stay, in order; returns their number. Each goes where its rank says."""
    if m == 0:
        return 0
    spare = (-m) % PAIR
    if _ranks(values, m, ranks) == m * (m - 1) // 2 + spare * m:
        for s in range(0, m, WIDE):  # with up to seven more, of rank m: the number of steps hardly ever changes
            for i in range(s, s + WIDE):
                rank = np.uint64(ranks[i])
                lined[rank], there[rank] = values[i], places[i]
    else:  # equal ones share a rank, and the places after it: the lower row goes first
        for i in range(m):
            there[i] = -1
        for i in range(m):
            j, place = ranks[i], places[i]
            while there[j] >= 0:
                if ids[there[j]] > ids[place]:
                    there[j], place = place, there[j]
                j += 1
            lined[j], there[j] = values[i], place
    for i in range(min(m, k)):
        values[i], places[i] = lined[i], there[i]
    return min(m, k)


@_inlined
def _look(
    leaves: Array, leaf: int, ids: Array, q: Array, w: Array, code: int, p: float, reach: float, latest: int, group:
    int, group_x: Array, values: Array, places: Array, m: int,
) -> int:  # fmt: skip
    """Append the rows of one leaf within ``reach``, but those of the query's group; the new number.

    Rows as far as ``reach`` count up to row number ``latest``, if that is not negative.
    """
    length, before = leaves.shape[2], m
    start = leaf * length * len(q)
    m = _sift(leaves, start, length, len(q), q, w, code, p, reach, leaf * length, values, places, m)
    if group >= 0 or latest >= 0:
        after, m = m, before
        for i in range(before, after):
            row = ids[places[i]]
            late = latest >= 0 and values[i] == reach and row > latest
            if not late and (group < 0 or row == len(group_x) or group_x[row] != group):
                values[m], places[m] = values[i], places[i]
                m += 1
    return m


@_inner
def _collect(
    boxes: Array, below: Array, low: Array, high: Array, w: Array, code: int, p: float, reach: float, home: int, width:
    int, bounds: Array, nodes: Array, picked: Array, edges: Array,
) -> int:  # fmt: skip
    """Leaves but the home within ``reach`` of the box low..high to ``picked``, their boxes to ``edges``.

    Returns their number, or −1 when they are more than fit. The tree is walked layer by layer.
    """
    d, leafy, count = len(low), False, 1
    nodes[0] = len(below) - 1
    while count > 0 and not leafy:
        leafy, following = below[nodes[0]] < 0, 0
        for i in range(count):
            block = nodes[i]
            following = _facing(
                boxes, block * 2 * d * WIDE, WIDE, d, low, high, w, code, p, reach, WIDE, bounds,
                block * WIDE if leafy else below[block], picked, following,
            )  # fmt: skip
            if following > MOST:
                return -1
        count = following
        for i in range(count):
            nodes[i] = picked[i]
    following, count = count, 0
    for i in range(following):
        leaf = nodes[i]
        if not home <= leaf < home + width:
            picked[count] = leaf
            for c in range(d):
                edges[0, c, count] = boxes[leaf // WIDE, 0, c, leaf % WIDE]
                edges[1, c, count] = boxes[leaf // WIDE, 1, c, leaf % WIDE]
            count += 1
    for i in range(count, count + WIDE):
        for c in range(d):
            edges[0, c, i] = edges[1, c, i] = np.inf
    return count


@_inner
def _descend(
    leaves: Array, ids: Array, boxes: Array, below: Array, fan: int, q: Array, w: Array, code: int, p: float, trust:
    float, group: int, group_x: Array, home: int, width: int, reach: float, k: int, m: int, bounds: Array, nodes: Array,
    picked: Array, values: Array, places: Array, ranks: Array, lined: Array, there: Array,
) -> int:  # fmt: skip
    """The whole tree for one query but its home, nearest node first; the new number of candidates."""
    d, root, top, latest = len(q), len(below) - 1, 0, -1
    block = root
    while block >= 0:
        count = _facing(
            boxes, block * 2 * d * WIDE, WIDE, d, q, q, w, code, p, reach / trust, WIDE, bounds, 0, picked, 0
        )  # fmt: skip
        base = top
        for i in range(count):  # onto the stack, whose bounds follow the eight of this block; the nearest on top
            s, j = picked[i], top
            if block == root and s >= fan:
                break
            while j > base and bounds[WIDE + j - 1] < bounds[s]:
                bounds[WIDE + j], nodes[j] = bounds[WIDE + j - 1], nodes[j - 1]
                j -= 1
            bounds[WIDE + j], nodes[j] = bounds[s], block * WIDE + s
            top += 1
        block = -1
        while top > 0 and block < 0:
            top -= 1
            node = nodes[top]
            if trust * bounds[WIDE + top] > reach:
                continue
            if below[node // WIDE] >= 0:
                block = below[node // WIDE] + node % WIDE
            elif not home <= node < home + width:
                m = _look(leaves, node, ids, q, w, code, p, reach, latest, group, group_x, values, places, m)
                if m >= k + WIDE:
                    m = _sort(values, places, m, k, ids, ranks, lined, there)
                    reach, latest = values[k - 1], ids[places[k - 1]]
    return m


@_inner
def _home_radii(
    Q: Array, order: Array, begin: int, end: int, home: int, width: int, leaves: Array, ids: Array, w: Array, code: int,
    p: float, group_q: Array, group_x: Array, out: Array, found: Array, q: Array, low: Array, high: Array, radii: Array,
    values: Array, places: Array, ranks: Array,
) -> float:  # fmt: skip
    """Each query's k-th distance at home to ``radii``; returns the largest, or −1, and the box of those queries."""
    d, k = len(q), out.shape[1]
    radius = -1.0
    for c in range(d):
        low[c], high[c] = np.inf, -np.inf
    for t in range(begin, end):
        at = order[t]
        ahead = 8 * d * order[min(t + WIDE, len(order) - 1)]  # a query that is due soon: its first and its last byte
        fetch(Q, ahead)
        fetch(Q, ahead + 8 * d - 1)
        for s in range(0, 8 * k + LINE, LINE):
            fetch(out, 8 * k * at + s)
            fetch(found, 8 * k * at + s)
        for c in range(d):
            q[c] = Q[at, c]
        group = group_q[at] if len(group_q) > 0 else -1
        m = 0
        for leaf in range(home, home + width):
            m = _look(leaves, leaf, ids, q, w, code, p, _FINITE, -1, group, group_x, values, places, m)
        own = _radius(values, m, k, ranks)
        radii[t - begin] = own
        if own < np.inf:
            radius = max(radius, own)
            for c in range(d):
                low[c], high[c] = min(low[c], q[c]), max(high[c], q[c])
    return radius


@_inner
def _search_group(
    Q: Array, order: Array, begin: int, end: int, home: int, width: int, leaves: Array, ids: Array, boxes: Array, below:
    Array, fan: int, w: Array, code: int, p: float, trust: float, group_q: Array, group_x: Array, n: int, out: Array,
    found: Array, q: Array, low: Array, high: Array, eight: Array, radii: Array, bounds: Array, nodes: Array, picked:
    Array, edges: Array, values: Array, places: Array, ranks: Array, lined: Array, there: Array,
) -> None:  # fmt: skip
    d, k = len(q), out.shape[1]
    patience = WIDE if code == 3 else TOGETHER  # where distances are dear, sort often and skip leaves
    radius = _home_radii(
        Q, order, begin, end, home, width, leaves, ids, w, code, p, group_q, group_x, out, found, q, low, high, radii,
        values, places, ranks,
    )  # fmt: skip
    count = 0
    if radius >= 0.0:
        reach = min(radius / trust, _FINITE)
        count = _collect(boxes, below, low, high, w, code, p, reach, home, width, bounds, nodes, picked, edges)
    for t in range(begin, end):
        at, reach, latest = order[t], radii[t - begin], -1
        for c in range(d):
            q[c] = Q[at, c]
        group = group_q[at] if len(group_q) > 0 else -1
        m = 0
        for leaf in range(home, home + width):
            m = _look(leaves, leaf, ids, q, w, code, p, reach, latest, group, group_x, values, places, m)
        if m > k:  # ties: from here on only rows with lower numbers join them
            m = _sort(values, places, m, k, ids, ranks, lined, there)
            reach, latest = values[k - 1], ids[places[k - 1]]
        near = 0
        if count > 0 and reach < np.inf:
            limit = min(reach / trust, _FINITE)
            near = _facing(edges, 0, edges.shape[2], d, q, q, w, code, p, limit, count, bounds, 0, nodes, 0)
        if count < 0 or reach == np.inf or near > PAIR:
            m = _descend(
                leaves, ids, boxes, below, fan, q, w, code, p, trust, group, group_x, home, width, reach, k, m, bounds,
                nodes, eight, values, places, ranks, lined, there,
            )  # fmt: skip
        else:
            for j in range(near):
                if trust * bounds[nodes[j]] > reach:
                    continue
                m = _look(
                    leaves, picked[nodes[j]], ids, q, w, code, p, reach, latest, group, group_x, values, places, m
                )
                if m >= k + patience:
                    m = _sort(values, places, m, k, ids, ranks, lined, there)
                    reach, latest = values[k - 1], ids[places[k - 1]]
        m = _sort(values, places, m, k, ids, ranks, lined, there)
        for j in range(m):
            out[at, j], found[at, j] = values[j], ids[places[j]]
        for j in range(m, k):
            out[at, j], found[at, j] = np.inf, n


@_jit
def search(
    Q: Array, order: Array, cuts: Array, homes: Array, width: int, first: int, last: int, leaves: Array, ids: Array,
    boxes: Array, below: Array, fan: int, w: Array, code: int, p: float, trust: float, group_q: Array, group_x: Array,
    n: int, out: Array, found: Array,
) -> None:  # fmt: skip
    """Nearest rows of the queries, group by group, into ``out`` and ``found`` (inf and n where there are none).

    Group g are the queries order[cuts[g]:cuts[g+1]], all at home in the leaves homes[g]..homes[g]+width. They look
    there first: the k-th distance is each query's radius. The largest radius says which other leaves the group can
    need, and the tree is walked once for all of them; what lies within a query's own radius in those is sorted once. A
    query with too little at home or too many leaves in reach, or a group with too large a radius, walks the tree by
    itself and shrinks its radius on the way. ``fan`` is the number of nodes in the top block.
    """
    d, k, length = Q.shape[1], out.shape[1], leaves.shape[2]
    room = max(width * length, k + TOGETHER) + length + 4 * PAIR
    values, places, ranks = np.empty(room), np.empty(room, np.int64), np.empty(room, np.int64)
    lined, there, q, low, high = np.empty(room), np.empty(room, np.int64), np.empty(d), np.empty(d), np.empty(d)
    bounds, nodes, picked = np.empty(2 * MOST), np.empty(MOST + WIDE, np.int64), np.empty(MOST + WIDE, np.int64)
    edges, radii, eight = np.empty((2, d, MOST + WIDE)), np.empty(TOGETHER), np.empty(WIDE, np.int64)
    for g in range(first, last):
        for begin in range(cuts[g], cuts[g + 1], TOGETHER):
            _search_group(
                Q, order, begin, min(begin + TOGETHER, cuts[g + 1]), homes[g], width, leaves, ids, boxes, below, fan, w,
                code, p, trust, group_q, group_x, n, out, found, q, low, high, eight, radii, bounds, nodes, picked,
                edges, values, places, ranks, lined, there,
            )  # fmt: skip


def warm() -> None:
    """Call the loop once, so that it is compiled and cached."""
    leaves, ids, none = np.full((1, 1, PAIR), np.inf), np.full(PAIR, 2), np.empty(0, np.int64)
    leaves[0, 0, :2], ids[:2] = [0.0, 1.0], [0, 1]
    boxes = np.full((1, 2, 1, WIDE), np.inf)
    boxes[0, :, 0, 0] = [0.0, 1.0]
    Q, zero, cuts = np.zeros((1, 1)), np.zeros(1, np.int64), np.array([0, 1])
    search(
        Q, zero, cuts, zero, 1, 0, 1, leaves, ids, boxes, np.array([-1]), 1, np.ones(1), 0, 2.0, 1.0, none, none, 2,
        np.empty((1, 1)), np.empty((1, 1), np.int64),
    )  # fmt: skip
