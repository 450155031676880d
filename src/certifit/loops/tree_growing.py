"""Split search and tree growing on columns sorted once.

Row i of ``words`` is column i in sorted order, one 64-bit word per training row: rank of the value << 32 |
row. A missing value has the rank `MISSING`, so it stands last. Growing a node reads each column's words of
the node from left to right (the best split), then divides them stably between the two children; nothing
is sorted again.

Sums run in 64-bit fixed point (``weights``, ``targets``, and a table of n·log₂n): no drift along a column,
and splits that tie in truth tie in the machine, whatever the order of the rows. Ties go to the first
column and the lowest threshold. Scores are raw gains: weight × impurity decrease, in the units of the fixed
point.

The file is long because a cached loop may call only its own file, and growing calls everything here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from certifit._types import Array
from certifit.loops._jit import njit
from certifit.loops._tiers import tiered
from certifit.loops.tree_sample import (
    FEATURE,
    HIGH,
    LOW,
    MISSING,
    MISSING_LEFT,
    N_LEFT,
    N_ROWS,
    SEED,
    Deviations,
    Groups,
    Nodes,
    Rules,
    Sample,
    Scratch,
    keep_rows,
    rank_words,
    room,
)

GINI, ENTROPY, SQUARED, ABSOLUTE = 0, 1, 2, 3
_ENUMERATE = 10  # up to this many categories in a node, every grouping of a many-class target is tried


# A loop that only loops call needs no way in from Python, and one that makes no arrays need not count who uses them:
# both take long to compile. For the same reason loops are given the arrays that they use rather than whole tuples.
_called = njit(nogil=True, error_model="numpy")
_inner = njit(nogil=True, error_model="numpy", no_cpython_wrapper=True, _nrt=False)


class Found(NamedTuple):
    """The best split so far."""

    score: float
    feature: int
    low: int
    high: int
    missing_left: int


NOTHING = Found(-np.inf, -1, 0, 0, 0)


@_called
def mix(seed: int) -> Any:
    """One step of splitmix64: a well-spread function of its argument."""
    z = np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64((z ^ (z >> np.uint64(31))) >> np.uint64(1))


@_inner
def _xlogx(x: float) -> float:
    return x * np.log2(x) if x > 0.0 else 0.0


@_inner
def class_score(table: Array, r: Rules, left: Array, total: Array) -> float:
    """Raw gain of sending the class weights ``left`` of ``total`` to the left."""
    k = len(total)
    n_left = np.int64(0)
    n = np.int64(0)
    for c in range(k):
        n_left += left[c]
        n += total[c]
    n_right = n - n_left
    if r.whole and r.criterion == ENTROPY:
        g = table[n] - table[n_left] - table[n_right]
        for c in range(k):
            g += table[left[c]] + table[total[c] - left[c]] - table[total[c]]
        return float(g)
    if r.criterion == ENTROPY:
        f = _xlogx(float(n)) - _xlogx(float(n_left)) - _xlogx(float(n_right))
        for c in range(k):
            f += (_xlogx(float(left[c])) - _xlogx(float(total[c]))) + _xlogx(float(total[c] - left[c]))
        return f
    a = b = e = 0.0
    if r.whole:  # squares of whole numbers below 2**31 add up exactly
        qa, qb, qe = np.int64(0), np.int64(0), np.int64(0)
        for c in range(k):
            qa += left[c] * left[c]
            qb += (total[c] - left[c]) * (total[c] - left[c])
            qe += total[c] * total[c]
        a, b, e = float(qa), float(qb), float(qe)
    else:
        for c in range(k):
            a += float(left[c]) ** 2
            b += float(total[c] - left[c]) ** 2
            e += float(total[c]) ** 2
    return (a / n_left + b / n_right) - e / n


@_inner
def _known_end(words: Array, start: int, end: int) -> int:
    """First place of a missing value in the node's part of a column."""
    while end > start and (words[end - 1] >> 32) == MISSING:
        end -= 1
    return end


@_inner
def _scan_classes(s: Sample, r: Rules, x: Scratch, f: int, start: int, end: int, best: Found, send: int) -> Any:
    """The best threshold of column f for classes; missing values go left when ``send`` is 1."""
    words, y, weights, total, left = s.words[f], s.codes, s.weights, x.total, x.left
    known = _known_end(words, start, end)
    _clear(left)
    n = _total(total)
    n_left = np.int64(0)
    rows_left = 0
    if send == 1:
        for i in range(known, end):
            row = words[i] & MISSING
            left[y[row]] += weights[row]
            n_left += weights[row]
        rows_left = end - known
    score, low, high = best.score, -1, 0
    fast = r.whole and r.criterion == ENTROPY
    gini = r.whole and r.criterion == GINI
    table, steps = s.table, s.steps
    # The exact running parts of the score: Σ T[l] + Σ T[r], or the two sums of squares.
    run, run_right, constant = np.int64(0), np.int64(0), 0.0
    base = np.int64(0)
    if fast:
        base = table[n]
        for c in range(len(total)):
            base -= table[total[c]]
            run += table[left[c]] + table[total[c] - left[c]]
    elif gini:
        q = np.int64(0)
        for c in range(len(total)):
            q += total[c] * total[c]
            run += left[c] * left[c]
            run_right += (total[c] - left[c]) * (total[c] - left[c])
        constant = float(q) / n
    stop = known if send == 0 and known < end else known - 1
    for i in range(start, stop):
        word = words[i]
        row = word & MISSING
        c = y[row]
        w = np.int64(1) if r.unit_weights else weights[row]
        a = left[c]
        b = total[c] - a
        if fast:
            if r.unit_weights:
                run += steps[a] - steps[b - 1]
            else:
                run += (table[a + w] - table[a]) + (table[b - w] - table[b])
        elif gini:
            run += w * (2 * a + w)
            run_right -= w * (2 * b - w)
        left[c] = a + w
        n_left += w
        rank = word >> 32
        after = words[i + 1] >> 32 if i + 1 < end else MISSING
        if rank == after:
            continue
        rows = rows_left + i + 1 - start
        if rows < r.min_leaf or end - start - rows < r.min_leaf:
            continue
        if n_left < r.min_weight or n - n_left < r.min_weight:
            continue
        if fast:
            g = float(run + base - table[n_left] - table[n - n_left])
        elif gini:
            g = (float(run) / n_left + float(run_right) / (n - n_left)) - constant
        else:
            g = class_score(table, r, left, total)
        if g > score:
            score, low, high = g, rank, after
    if low < 0:
        return best
    return Found(score, f, low, high, send)


@_inner
def _variance_score(r: Rules, a: int, w: int, total: int, n: int) -> float:
    """Raw gain from the left sum a and weight w: Σ over the sides of (centred sum)² / weight."""
    if r.whole:  # centre at a whole number near the mean: exact, so mirrored splits tie
        mean = total // n
        p, q, e = float(a - mean * w), float((total - a) - mean * (n - w)), float(total - mean * n)
        return (p * p / w + q * q / (n - w)) - e * e / n
    mean_r = float(total) / float(n)
    p = float(a) - mean_r * float(w)
    return p * p * (1.0 / float(w) + 1.0 / float(n - w))


@_inner
def _scan_variance(s: Sample, r: Rules, x: Scratch, f: int, start: int, end: int, best: Found, send: int) -> Any:
    """The best threshold of column f for the squared error."""
    words, targets, weights = s.words[f], s.targets, s.weights
    known = _known_end(words, start, end)
    n, total = x.total[0], x.total[1]
    a: Any = np.int64(0)
    w: Any = np.int64(0)
    rows_left = 0
    if send == 1:
        for i in range(known, end):
            row = words[i] & MISSING
            a += targets[row]
            w += weights[row]
        rows_left = end - known
    score, low, high = best.score, -1, 0
    stop = known if send == 0 and known < end else known - 1
    for i in range(start, stop):
        word = words[i]
        row = word & MISSING
        a += targets[row]
        w += np.int64(1) if r.unit_weights else weights[row]
        rank = word >> 32
        after = words[i + 1] >> 32 if i + 1 < end else MISSING
        if rank == after:
            continue
        rows = rows_left + i + 1 - start
        if rows < r.min_leaf or end - start - rows < r.min_leaf:
            continue
        if w < r.min_weight or n - w < r.min_weight:
            continue
        g = _variance_score(r, a, w, total, n)
        if g > score:
            score, low, high = g, rank, after
    if low < 0:
        return best
    return Found(score, f, low, high, send)


@_inner
def _fenwick_add(s: Sample, x: Deviations, row: int, m: int) -> None:
    i = x.local[row] + 1
    w = float(s.weights[row])
    a = w * s.values[row]
    while i <= m:
        x.tree[0, i] += w
        x.tree[1, i] += a
        i += i & -i


@_inner
def _fenwick_cost(s: Sample, x: Deviations, m: int, start: int, w: float, a: float) -> float:
    """Least Σ weight × |y − centre| of the rows added so far (weight w, weighted sum a)."""
    step = 1
    while 2 * step <= m:
        step *= 2
    i, below_w, below_a = 0, 0.0, 0.0
    while step > 0:
        j = i + step
        if j <= m and 2.0 * (below_w + x.tree[0, j]) < w:
            i = j
            below_w += x.tree[0, j]
            below_a += x.tree[1, j]
        step //= 2
    centre = s.values[s.words[len(s.sizes), start + min(i, m - 1)] & MISSING]
    return (centre * below_w - below_a) + ((a - below_a) - centre * (w - below_w))


@_inner
def _side_costs(s: Sample, x: Deviations, line: Array, start: int, end: int, backwards: bool) -> None:
    """costs[side, i]: least absolute deviation of the first i rows of a line (or of all but the first i)."""
    m = end - start
    for i in range(m + 1):
        x.tree[0, i] = x.tree[1, i] = 0.0
    w = a = 0.0
    side = 1 if backwards else 0
    x.costs[side, m if backwards else 0] = 0.0
    for j in range(m):
        i = m - 1 - j if backwards else j
        row = line[i] & MISSING
        _fenwick_add(s, x, row, m)
        w += float(s.weights[row])
        a += float(s.weights[row]) * s.values[row]
        x.costs[side, i if backwards else i + 1] = _fenwick_cost(s, x, m, start, w, a)


@_inner
def _scan_absolute(
    s: Sample, r: Rules, x: Deviations, spare: Array, f: int, start: int, end: int, best: Found, send: int
) -> Any:
    """The best threshold of column f for the absolute error."""
    words = s.words[f]
    known, m = _known_end(words, start, end), end - start
    line = spare[start:end]
    shift = end - known if send == 1 else 0
    for i in range(m):  # the missing values first or last
        line[(i + shift) % m] = words[start + i]
    _side_costs(s, x, line, start, end, False)
    _side_costs(s, x, line, start, end, True)
    n = 0.0
    for i in range(m):
        n += float(s.weights[line[i] & MISSING])
    score, low, high, w = best.score, -1, 0, 0.0
    whole = x.costs[0, m]
    for i in range(m - 1):
        w += float(s.weights[line[i] & MISSING])
        rank, after = line[i] >> 32, line[i + 1] >> 32
        if rank == after or (send == 1 and i < shift):
            continue
        if i + 1 < r.min_leaf or m - i - 1 < r.min_leaf or w < r.min_weight or n - w < r.min_weight:
            continue
        g = whole - x.costs[0, i + 1] - x.costs[1, i + 1]
        # Costs are float sums: a difference in the last digits is no difference.
        if g > score + 1e-12 * whole:
            score, low, high = g, rank, after
    if low < 0:
        return best
    return Found(score, f, low, high, send)


@_inner
def _tally(s: Sample, r: Rules, g: Groups, f: int, start: int, end: int) -> int:
    """Per category of the node: weight per class (or weight, sum), rows, code. Missing is a category too."""
    words, t = s.words[f], g.tally
    k = t.shape[1] - 2
    c, last = -1, np.int64(-1)
    for i in range(start, end):
        rank, row = words[i] >> 32, words[i] & MISSING
        if rank != last:
            c += 1
            _clear(t[c])
            t[c, k + 1] = rank
            last = rank
        if r.criterion >= SQUARED:
            t[c, 0] += s.weights[row]
            t[c, 1] += s.targets[row]
        else:
            t[c, s.codes[row]] += s.weights[row]
        t[c, k] += 1
    return c + 1


@_inner
def _grouping_score(s: Sample, r: Rules, x: Scratch, rows: int, m: int) -> float:
    """Raw gain of the class weights or sums in ``x.left``, −inf when a side is too small."""
    if rows < r.min_leaf or m - rows < r.min_leaf:
        return -np.inf
    n = n_left = np.int64(0)
    if r.criterion >= SQUARED:
        n, n_left = x.total[0], x.left[0]
    else:
        n, n_left = _total(x.total), _total(x.left)
    if n_left < r.min_weight or n - n_left < r.min_weight:
        return -np.inf
    if r.criterion >= SQUARED:
        return _variance_score(r, x.left[1], n_left, x.total[1], n)
    return class_score(s.table, r, x.left, x.total)


@_inner
def _mark(g: Groups, code: int) -> None:
    """Put a category into the trial group (missing is told by ``Found.missing_left``)."""
    if code != MISSING:
        g.trial[code >> 6] |= np.int64(1) << np.int64(code & 63)


@_inner
def _scan_order(s: Sample, r: Rules, x: Scratch, g: Groups, f: int, m: int, count: int, best: Found) -> Any:
    """The best cut of the categories in the order ``g.order``."""
    k = g.tally.shape[1] - 2
    _clear(x.left)
    _clear(g.trial)
    rows, known = 0, 0
    for j in range(count - 1):
        t = g.tally[g.order[j]]
        for c in range(len(x.left)):
            x.left[c] += t[c]
        rows += t[k]
        _mark(g, t[k + 1])
        if t[k + 1] == MISSING:
            known = 1
        gain = _grouping_score(s, r, x, rows, m)
        if gain > best.score:
            _copy(g.trial, g.chosen)
            best = Found(gain, f, 0, 0, known)
    return best


@_inner
def _scan_every_grouping(s: Sample, r: Rules, x: Scratch, g: Groups, f: int, m: int, count: int, best: Found) -> Any:
    """Every division of few categories in two (the last one stays right: sides may be swapped)."""
    k = g.tally.shape[1] - 2
    for mask in range(1, 1 << (count - 1)):
        _clear(x.left)
        rows = 0
        for j in range(count - 1):
            if mask >> j & 1:
                for c in range(len(x.left)):
                    x.left[c] += g.tally[j, c]
                rows += g.tally[j, k]
        gain = _grouping_score(s, r, x, rows, m)
        if gain > best.score:
            _clear(g.chosen)
            _clear(g.trial)
            for j in range(count - 1):
                if mask >> j & 1:
                    _mark(g, g.tally[j, k + 1])
            _copy(g.trial, g.chosen)
            best = Found(gain, f, 0, 0, 0)
    return best


@_inner
def _order_by(keys: Array, order: Array) -> None:
    """The places of the keys in rising order, equal keys by place (Shell's sort: little code to compile)."""
    n = len(keys)
    for i in range(n):
        order[i] = i
    gap = 1
    while 3 * gap + 1 < n:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            place, j = order[i], i
            while j >= gap:
                other = order[j - gap]
                if keys[other] < keys[place] or (keys[other] == keys[place] and other < place):
                    break
                order[j] = other
                j -= gap
            order[j] = place
        gap //= 3


@_inner
def _clear(v: Array) -> None:
    for i in range(len(v)):
        v[i] = 0


@_inner
def _copy(v: Array, out: Array) -> None:
    for i in range(len(v)):
        out[i] = v[i]


@_inner
def _total(v: Array) -> Any:
    n = np.int64(0)
    for i in range(len(v)):
        n += v[i]
    return n


@_inner
def _scan_categories(s: Sample, r: Rules, x: Scratch, g: Groups, f: int, start: int, end: int, best: Found) -> Any:
    """The best grouping of a categorical column.

    Two classes and the squared error: the categories in order of their mean hold the best grouping (Fisher
    1958; Breiman et al. 1984, theorem 4.5). Many classes: every grouping of up to ten categories, beyond
    that the orders by the share of each class. Absolute error: the order of the means, scored by the
    squared error.
    """
    count = _tally(s, r, g, f, start, end)
    if count < 2:
        return best
    many = r.criterion < SQUARED and r.n_classes > 2
    if many and count <= _ENUMERATE:
        return _scan_every_grouping(s, r, x, g, f, end - start, count, best)
    shares = g.shares[:count]
    for c in range(r.n_classes if many else 1):
        for j in range(count):
            t = g.tally[j]
            if r.criterion >= SQUARED:
                shares[j] = float(t[1]) / float(t[0])
            else:
                n = np.int64(0)
                for e in range(r.n_classes):
                    n += t[e]
                shares[j] = float(t[c]) / float(n)
        _order_by(shares, g.order)
        best = _scan_order(s, r, x, g, f, end - start, count, best)
    return best


@_inner
def _absolute_gain(
    s: Sample, x: Scratch, g: Groups, v: Deviations, f: int, start: int, end: int, found: Found
) -> float:
    """What a grouping found by the squared error gains in absolute error."""
    words, m = s.words[f], end - start
    line = x.spare[start:end]
    left = 0
    for send in (1, 0):
        for i in range(start, end):
            if _goes_left(words[i] >> 32, s.sizes[f], found, g) == send:
                line[left] = words[i]
                left += 1
        if send == 1:
            cut = left
    _side_costs(s, v, line, start, end, False)
    _side_costs(s, v, line, start, end, True)
    return v.costs[0, m] - v.costs[0, cut] - v.costs[1, cut]


@_inner
def _goes_left(rank: int, size: int, found: Found, groups: Any) -> int:
    """1 when a rank of a column of so many categories (0: a numeric one) goes left."""
    if rank == MISSING:
        return found.missing_left
    if groups is not None:  # noqa: SIM102  (with `and` in it, Numba would compile the branch)
        if size > 0:
            return (groups.chosen[rank >> 6] >> (rank & 63)) & 1
    return 1 if rank <= found.low else 0


@_inner
def _scan_groups(
    s: Sample, r: Rules, x: Scratch, g: Groups, deviations: Any, f: int, start: int, end: int, best: Found
) -> Any:
    """The best split so far, after looking at the categorical column f."""
    if deviations is None:
        return _scan_categories(s, r, x, g, f, start, end, best)
    _copy(g.chosen, g.kept)
    found = _scan_categories(s, r, x, g, f, start, end, NOTHING)
    if found.feature == f:
        gain = _absolute_gain(s, x, g, deviations, f, start, end, found)
        if gain > best.score + 1e-12 * deviations.costs[0, end - start]:
            return Found(gain, f, 0, 0, found.missing_left)
    _copy(g.kept, g.chosen)
    return best


@_inner
def take_stock(s: Sample, r: Rules, total: Array, start: int, end: int, deviations: Any) -> bool:
    """The node's class weights (or weight and sum) into ``total``; True when its target is constant."""
    words, weights, codes, values = s.words[0], s.weights, s.codes, s.values
    first = words[start] & MISSING
    _clear(total)
    pure = True
    for i in range(start, end):
        row = words[i] & MISSING
        if r.criterion >= SQUARED:
            total[0] += weights[row]
            total[1] += s.targets[row]
            pure &= values[row] == values[first]
        else:
            total[codes[row]] += weights[row]
            pure &= codes[row] == codes[first]
    if deviations is not None:
        last = s.words[len(s.sizes)]
        for i in range(start, end):
            deviations.local[last[i] & MISSING] = i - start
    return pure


@_inner
def draw(words: Array, columns: Array, some: int, start: int, end: int, seed: int, drawn: Array) -> int:
    """Draw so many columns (more while all were constant here) to the front of ``columns``, and mark them in ``drawn``.

    Returns how many were drawn.
    """
    d = len(columns)
    for f in range(d):
        columns[f] = f
    useful = 0
    for j in range(d):
        if j >= some and useful > 0:
            return j
        seed = mix(seed)
        other = j + seed % (d - j)
        f = columns[other]
        columns[other] = columns[j]
        columns[j] = f
        drawn[f] = 1
        useful += (words[f, start] >> 32) != (words[f, end - 1] >> 32)
    return d


@_inner
def search(
    s: Sample, r: Rules, x: Scratch, start: int, end: int, first: int, last: int, groups: Any, deviations: Any
) -> Any:
    """The best split among ``x.columns[first:last]`` (stock taken before).

    ``groups`` and ``deviations`` are those of the scratch: as arguments, they let the compiler leave out what None
    excludes.
    """
    best = NOTHING
    for j in range(first, last):
        f = x.columns[j]
        a, b = s.words[f, start] >> 32, s.words[f, end - 1] >> 32
        if a == b:
            continue  # constant here
        if groups is not None:  # noqa: SIM102  (with `and` in it, Numba would compile the branch)
            if s.sizes[f] > 0:
                best = _scan_groups(s, r, x, groups, deviations, f, start, end, best)
                continue
        for send in range(2 if b == MISSING else 1):
            if deviations is not None:
                best = _scan_absolute(s, r, deviations, x.spare, f, start, end, best, send)
            else:
                if r.criterion == SQUARED:
                    best = _scan_variance(s, r, x, f, start, end, best, send)
                else:
                    best = _scan_classes(s, r, x, f, start, end, best, send)
    return best


@_inner
def may_split(r: Rules, rows: int, weight: float, depth: int, pure: bool) -> bool:
    """Whether the rules allow a node to be divided at all."""
    return not (
        pure or depth >= r.max_depth or rows < r.min_split or rows < 2 * r.min_leaf or weight < 2.0 * r.min_weight
    )


@_inner
def node_weight(r: Rules, total: Array) -> int:
    """The weight of the node whose stock was taken last."""
    return total[0] if r.criterion >= SQUARED else _total(total)


@_inner
def record(s: Sample, side: Array, t: Nodes, slot: int, start: int, end: int, found: Found, groups: Any) -> int:
    """Write a node's split down, mark the side of each row, return how many go left."""
    f, size, numbers = found.feature, s.sizes[found.feature], t.numbers
    words = s.words[f]
    n_left: Any = 0
    for i in range(start, end):
        go = _goes_left(words[i] >> 32, size, found, groups)
        side[words[i] & MISSING] = go
        n_left += go
    send = found.missing_left
    if (words[end - 1] >> 32) != MISSING:  # nothing is missing here: what is later follows the larger child
        send = 1 if 2 * n_left > end - start else 0
    numbers[FEATURE, slot] = f
    numbers[LOW, slot] = found.low
    numbers[HIGH, slot] = found.high
    numbers[MISSING_LEFT, slot] = send
    numbers[N_LEFT, slot] = n_left
    t.gain[slot] = found.score
    if groups is not None:  # noqa: SIM102  (with `and` in it, Numba would compile the branch)
        if size > 0:
            _record_group(words, side, t.bits[slot], start, end, groups.chosen, send)
    return n_left


@_inner
def _record_group(words: Array, side: Array, bits: Array, start: int, end: int, chosen: Array, send: int) -> None:
    """Write a grouping down; categories not seen in this node go where a missing value goes."""
    _copy(chosen, bits)
    if send == 0:
        return
    for i in range(len(bits)):
        bits[i] = -1
    for i in range(start, end):
        rank = words[i] >> 32
        if rank != MISSING and side[words[i] & MISSING] == 0:
            bits[rank >> 6] &= ~(np.int64(1) << np.int64(rank & 63))


@_inner
def divide(all_words: Array, side: Array, spare: Array, start: int, end: int, first: int, last: int) -> None:
    """Divide columns first … last − 1 of a node stably by the side of each row."""
    for f in range(first, last):
        words = all_words[f]
        i_left: Any = start
        i_right: Any = 0
        for i in range(start, end):
            word = words[i]
            go = np.int64(side[word & MISSING])
            words[i_left] = word
            spare[i_right] = word
            i_left += go
            i_right += 1 - go
        for i in range(i_right):
            words[i_left + i] = spare[i]


@_inner
def _both_are_leaves(s: Sample, r: Rules, side: Array, f: int, start: int, end: int, depth: int, n_left: int) -> bool:
    """Whether both children of a node just recorded must be leaves (then nothing need be divided)."""
    words, weights, codes, values = s.words[f], s.weights, s.codes, s.values
    for go in range(2):
        rows = n_left if go == 1 else end - start - n_left
        seen, pure = np.int64(-1), True
        weight = 0.0
        for i in range(start, end):
            row = words[i] & MISSING
            if side[row] != go:
                continue
            if seen < 0:
                seen = row
            weight += float(weights[row])
            if r.criterion >= SQUARED:
                pure &= values[row] == values[seen]
            else:
                pure &= codes[row] == codes[seen]
            if not pure and rows >= r.min_split and depth + 1 < r.max_depth and r.min_weight == 0.0:
                return False
        if may_split(r, rows, weight, depth + 1, pure):
            return False
    return True


@_inner
def set_leaf(words: Array, leaf_of: Array, slot: int, start: int, end: int) -> None:
    """The rows of a node end here."""
    for i in range(start, end):
        leaf_of[words[0, i] & MISSING] = slot


@tiered(
    lambda s, r, x, t, slot, start, end, depth: (
        8e-6 * s.words.shape[0] * (end - start) * min(r.max_depth, np.log2(end - start + 1))
    )
)
@_called
def grow(s: Sample, r: Rules, x: Scratch, t: Nodes, slot: int, start: int, end: int, depth: int) -> None:
    """Grow the subtree of one node, depth first, left before right."""
    words, side, numbers, d = s.words, x.side, t.numbers, len(s.sizes)
    stack = np.empty((end - start + 2, 4), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = slot, start, end, depth
    height = 1
    while height > 0:
        height -= 1
        slot, start, end, depth = stack[height, 0], stack[height, 1], stack[height, 2], stack[height, 3]
        numbers[N_ROWS, slot] = end - start
        pure = take_stock(s, r, x.total, start, end, x.deviations)
        found = NOTHING
        if may_split(r, end - start, float(node_weight(r, x.total)), depth, pure):
            last = d
            if r.max_features < d:
                last = draw(words, x.columns, r.max_features, start, end, numbers[SEED, slot], t.drawn[slot])
            found = search(s, r, x, start, end, 0, last, x.groups, x.deviations)
        if found.feature < 0 or found.score < r.min_gain:
            set_leaf(words, t.leaf_of, slot, start, end)
            continue
        n_left = record(s, side, t, slot, start, end, found, x.groups)
        left, right = slot + 1, slot + 2 * n_left
        seed = mix(numbers[SEED, slot])
        numbers[SEED, left], numbers[SEED, right] = seed, mix(seed + 1)
        middle = start + n_left
        if _both_are_leaves(s, r, side, found.feature, start, end, depth, n_left):
            numbers[N_ROWS, left], numbers[N_ROWS, right] = n_left, end - middle
            for i in range(start, end):
                row = words[0, i] & MISSING
                t.leaf_of[row] = left if side[row] == 1 else right
            continue
        divide(words, side, x.spare, start, end, 0, len(words))
        stack[height, 0], stack[height, 1], stack[height, 2], stack[height, 3] = right, middle, end, depth + 1
        height += 1
        stack[height, 0], stack[height, 1], stack[height, 2], stack[height, 3] = left, start, middle, depth + 1
        height += 1


@_inner
def _comes_before(gain: Array, a: int, b: int) -> bool:
    """Which of two leaves is divided first: that of the larger gain, of equal ones the older."""
    return gain[a] > gain[b] or (gain[a] == gain[b] and a < b)


@_inner
def _push(heap: Array, size: int, gain: Array, node: int) -> None:
    """Add a leaf to the heap of so many."""
    at: Any = size
    while at > 0 and _comes_before(gain, node, heap[(at - 1) // 2]):
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = node


@_inner
def _pop(heap: Array, size: int, gain: Array) -> int:
    """Take the leaf that is divided first out of the heap of so many."""
    first, node, at = heap[0], heap[size - 1], 0
    while 2 * at + 1 < size - 1:
        child = 2 * at + 1
        if child + 1 < size - 1 and _comes_before(gain, heap[child + 1], heap[child]):
            child += 1
        if not _comes_before(gain, heap[child], node):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = node
    return first


@_inner
def _open(s: Sample, r: Rules, x: Scratch, t: Nodes, node: int, start: int, end: int, depth: int, groups: Any) -> bool:
    """A node, a leaf for now; its best split is kept where it will stand, and True if it may be made."""
    numbers = t.numbers
    numbers[N_ROWS, node] = end - start
    set_leaf(s.words, t.leaf_of, node, start, end)
    pure = take_stock(s, r, x.total, start, end, x.deviations)
    if not may_split(r, end - start, float(node_weight(r, x.total)), depth, pure):
        return False
    last = len(s.sizes)
    if r.max_features < last:
        last = draw(s.words, x.columns, r.max_features, start, end, numbers[SEED, node], t.drawn[node])
    found = search(s, r, x, start, end, 0, last, groups, x.deviations)
    numbers[FEATURE, node], numbers[LOW, node], numbers[HIGH, node] = found.feature, found.low, found.high
    numbers[MISSING_LEFT, node], t.gain[node] = found.missing_left, found.score
    if groups is not None:
        _copy(groups.chosen, t.bits[node])
    return found.feature >= 0 and found.score >= r.min_gain


@_inner
def _recall(bits: Array, node: int, groups: Any) -> None:
    """The grouping that was best when the node was made, as `record` expects it."""
    if groups is not None:
        _copy(bits[node], groups.chosen)


@tiered(lambda s, r, x, t, spans: 8e-6 * s.words.size * min(r.max_depth, np.log2(len(spans))))
@_called
def grow_best(s: Sample, r: Rules, x: Scratch, t: Nodes, spans: Array) -> None:
    """Divide the leaf with the largest gain, until there are half as many leaves as ``spans`` has lines.

    Node k is the k-th that was made; line k of ``spans`` becomes its first row, the end of its rows, its depth and its
    left child, which the right one follows (−1 for a leaf).
    """
    numbers, groups = t.numbers, x.groups
    heap, size, first, made = np.empty(len(spans), np.int64), 0, 0, 1
    spans[0, 0], spans[0, 1], spans[0, 2], spans[0, 3] = 0, s.words.shape[1], 0, -1
    while True:
        for node in range(first, made):
            if _open(s, r, x, t, node, spans[node, 0], spans[node, 1], spans[node, 2], groups):
                _push(heap, size, t.gain, node)
                size += 1
        if size == 0 or made + 2 > len(spans):
            return
        node = _pop(heap, size, t.gain)
        size -= 1
        start, end, depth = spans[node, 0], spans[node, 1], spans[node, 2]
        _recall(t.bits, node, groups)
        split = numbers[FEATURE, node], numbers[LOW, node], numbers[HIGH, node], numbers[MISSING_LEFT, node]
        middle = start + record(s, x.side, t, node, start, end, Found(t.gain[node], *split), groups)
        divide(s.words, x.side, x.spare, start, end, 0, len(s.words))
        spans[node, 3], first = made, made
        for a, b in ((start, middle), (middle, end)):
            numbers[SEED, made] = mix(numbers[SEED, node] + made)
            spans[made, 0], spans[made, 1], spans[made, 2], spans[made, 3] = a, b, depth + 1, -1
            made += 1


@_called
def node_may_split(s: Sample, r: Rules, x: Scratch, start: int, end: int, depth: int) -> bool:
    """`take_stock` and `may_split`, from Python."""
    pure = take_stock(s, r, x.total, start, end, x.deviations)
    return may_split(r, end - start, float(node_weight(r, x.total)), depth, pure)


@_called
def node_search(s: Sample, r: Rules, x: Scratch, start: int, end: int, first: int, last: int) -> Any:
    """`search`, from Python."""
    return search(s, r, x, start, end, first, last, x.groups, x.deviations)


@_called
def node_record(s: Sample, x: Scratch, t: Nodes, slot: int, start: int, end: int, found: Found) -> int:
    """`record`, from Python."""
    return record(s, x.side, t, slot, start, end, found, x.groups)


@_called
def node_divide(words: Array, side: Array, spare: Array, start: int, end: int, first: int, last: int) -> None:
    """`divide`, from Python."""
    divide(words, side, spare, start, end, first, last)


@_called
def node_leaf(words: Array, leaf_of: Array, slot: int, start: int, end: int) -> None:
    """`set_leaf`, from Python."""
    set_leaf(words, leaf_of, slot, start, end)


def warm() -> None:
    """Compile everything for the types in use: one small tree per criterion, with a gap and categories."""
    n, order = 8, np.array([0, 3, 5, 1, 2, 4, 6, 7])
    column = np.array([0.0, 3, 4, 1, 5, 2, 6, np.nan])
    for criterion in (GINI, ENTROPY, SQUARED, ABSOLUTE):
        words = np.empty((4, n), np.int64)
        rank_words(order, column, n - 1, words[0], column.copy())
        single = column.astype(np.float32)
        rank_words(np.arange(n), single, n, words[1], single.copy())
        words[2] = (np.arange(n) // 3 << 32) | np.arange(n)
        words[3] = (np.arange(n) << 32) | np.arange(n)
        keep_rows(words, np.arange(n), words.copy())
        ones = np.ones(n, np.int64)
        y = np.arange(n) % 3
        steps = np.arange(n + 1, dtype=np.int64)
        s = Sample(words, np.array([0, 0, 3]), y.astype(np.int32), y, y.astype(float), ones, steps * (n - 1), steps)
        r = Rules(criterion, 3, True, True, 9, 2, 1, 0.0, 0.0, 3)
        flags = np.zeros((2 * n, 3), np.uint8)
        bits = np.zeros((2 * n, 1), np.int64)
        t = Nodes(np.zeros((7, 2 * n), np.int64), np.zeros(2 * n), bits, flags, ones.copy())
        for categories in (0, 3):
            s = s._replace(words=words.copy(), sizes=np.array([0, 0, categories]))
            x = room(n, 3, 3, categories, criterion == ABSOLUTE)
            node_may_split(s, r, x, 0, n, 0)
            node_search(s, r, x, 0, n, 0, 3)
            node_record(s, x, t, 0, 0, n, Found(0.0, 0, 1, 2, 0))
            node_leaf(s.words, t.leaf_of, 0, 0, n)
            grow(s, r, x, t, 0, 0, n, 0)
            grow_best(s._replace(words=words.copy()), r, x, t, np.empty((6, 4), np.int64))  # sorted, as it expects
            node_divide(s.words, x.side, x.spare, 0, n, 0, 1)
