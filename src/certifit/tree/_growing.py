"""Growing a tree: sort the columns once, search the best split of each node, divide, go on.

Conventions. The gain of a split is (weight of the node × its impurity − the same of both children) / total
weight. Entropy is in bits. A threshold lies midway between the two neighbouring values in the node. Among
splits of equal gain the first column and the lowest threshold win. Rows of weight zero are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil
from numbers import Integral
from queue import SimpleQueue
from typing import Any

import numpy as np

from certifit._types import Array, Record
from certifit.loops import tree_growing as loops
from certifit.loops import tree_sample
from certifit.parallel import ranges, side_by_side, threads
from certifit.tree._structure import Tree
from certifit.tree._target import CRITERIA, Scaled, TreeTarget, fill, fixed_point

_WORTH_THREADS = 40_000  # rows × columns below which one thread is as fast
_SMALL_NODE = 2_000  # rows below which a node is left to one thread


@dataclass(frozen=True)
class Settings:
    """When to stop growing, in rows and weights (see `resolve`)."""

    criterion: str
    max_depth: int = 2**31 - 1
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    max_leaf_nodes: int = 0
    max_features: int = 0
    seed: int = 0


def resolve(params: Record, n: int, d: int, weight: float, seed: int) -> Settings:
    """Scikit-learn's parameters (counts or shares) as counts for n rows, d columns and a total weight."""

    def count(value: Any, least: int) -> int:
        return int(value) if isinstance(value, Integral) else max(least, ceil(value * n))

    features = params["max_features"]
    if features == "sqrt":
        features = int(np.sqrt(d))
    elif features == "log2":
        features = int(np.log2(d))
    elif features is None:
        features = d
    elif not isinstance(features, Integral):
        features = int(features * d)
    leaf = count(params["min_samples_leaf"], 1)
    return Settings(
        criterion=params["criterion"],
        max_depth=2**31 - 1 if params["max_depth"] is None else int(params["max_depth"]),
        min_samples_split=max(count(params["min_samples_split"], 2), 2 * leaf),
        min_samples_leaf=leaf,
        min_weight_leaf=params["min_weight_fraction_leaf"] * weight,
        min_impurity_decrease=params["min_impurity_decrease"],
        max_leaf_nodes=params["max_leaf_nodes"] or 0,
        max_features=min(max(1, int(features)), d),
        seed=seed,
    )


@dataclass(frozen=True)
class Sorted:
    """Columns sorted once: words (see `loops.tree_growing`), and the value of each rank."""

    words: Array
    values: Array
    sizes: Array

    def rows(self, keep: Array) -> Sorted:
        """The same for some of the rows (in rising order), without sorting again."""
        place = np.full(self.words.shape[1], -1, dtype=np.int64)
        place[keep] = np.arange(len(keep))
        out = np.empty((len(self.words), len(keep)), dtype=np.int64)

        def part(a: int, b: int) -> None:
            tree_sample.keep_rows(self.words[a:b], place, out[a:b])

        _by_columns(part, len(out), out.size)
        return replace(self, words=out)


def _by_columns(work: Callable[[int, int], None], d: int, size: int) -> None:
    """work(first, last) for ranges of the columns, in threads when the size is worth it."""
    count = threads() if size >= _WORTH_THREADS else 1
    side_by_side(lambda part: work(*part), ranges(d, count), count)


def sort_columns(X: Array, sizes: Array) -> Sorted:
    """Sort every column of X; categorical ones (sizes > 0) hold codes. NaN is missing."""
    n, d = X.shape
    words = np.empty((d, n), dtype=np.int64)
    values = np.empty((d, n), dtype=X.dtype)

    def part(a: int, b: int) -> None:
        for f in range(a, b):
            column = np.ascontiguousarray(X[:, f])
            order = np.argsort(column)
            known = n - int(np.count_nonzero(np.isnan(column)))
            tree_sample.rank_words(order, column, known, words[f], values[f])
            if sizes[f]:  # the rank of a category is its code, also when some codes do not occur
                codes = np.where(np.isnan(column), tree_sample.MISSING, column)[order].astype(np.int64)
                words[f] = codes << 32 | order

    _by_columns(part, d, n * d)
    return Sorted(words, values, np.asarray(sizes, dtype=np.int64))


@dataclass(frozen=True)
class Grown:
    """A tree together with how it came about."""

    tree: Tree
    leaf_of: Array
    gain: Array
    drawn: Array | None
    settings: Settings


def grow(columns: Sorted, target: TreeTarget, settings: Settings) -> Grown:
    """Grow a tree; ``columns`` is used up (its words are rearranged)."""
    scaled = fixed_point(target, CRITERIA[settings.criterion])
    work = _Growth(columns, target, settings, scaled)
    if settings.max_leaf_nodes:
        work.best_first()
    else:
        work.depth_first()
    return work.finish()


class _Growth:
    """One run of growing: the arrays that the loops share."""

    def __init__(self, columns: Sorted, target: TreeTarget, settings: Settings, scaled: Scaled) -> None:
        words, d, n = columns.words, len(columns.words), target.n
        criterion = CRITERIA[settings.criterion]
        if criterion == loops.ABSOLUTE:  # one more column: the rows in order of y
            by_y = np.empty((1, n), dtype=np.int64)
            tree_sample.rank_words(np.argsort(scaled.values), scaled.values, n, by_y[0], np.empty(n))
            words = np.concatenate([words, by_y])
        codes = np.zeros(1, dtype=np.int32) if target.codes is None else target.codes.astype(np.int32)
        self.columns, self.target, self.settings, self.scaled, self.n, self.d = (
            columns, target, settings, scaled, n, d,
        )  # fmt: skip
        self.sample = tree_sample.Sample(
            words, columns.sizes, codes, scaled.targets, scaled.values, scaled.weights, scaled.table,
            np.diff(scaled.table, append=0),
        )  # fmt: skip
        least = settings.min_impurity_decrease
        self.rules = tree_sample.Rules(
            criterion=criterion,
            n_classes=target.n_classes,
            whole=scaled.whole,
            unit_weights=scaled.unit_weights,
            max_depth=settings.max_depth,
            min_split=settings.min_samples_split,
            min_leaf=settings.min_samples_leaf,
            min_weight=settings.min_weight_leaf * scaled.weight_scale,
            min_gain=(least - np.finfo(float).eps) * target.total / scaled.gain_unit if least > 0 else -np.inf,
            max_features=settings.max_features or d,
        )
        slots = 2 * n
        self.categories = int(columns.sizes.max(initial=0))
        bit_words = max(1, -(-self.categories // 64))
        some = self.rules.max_features < d

        self.nodes = tree_sample.Nodes(
            numbers=np.zeros((7, slots), dtype=np.int64),
            gain=np.zeros(slots),
            bits=np.zeros((slots if self.categories else 1, bit_words), dtype=np.int64),
            drawn=np.zeros((slots if some else 1, d), dtype=np.uint8),
            leaf_of=np.zeros(n, dtype=np.int64),
        )
        self.nodes.seed[0] = settings.seed
        self.ids: list[tuple[int, int, int]] | None = None
        self.side = np.zeros(n, dtype=np.uint8)

    def room(self) -> tree_sample.Scratch:
        return tree_sample.room(
            self.n,
            self.target.n_classes,
            self.d,
            self.categories,
            self.rules.criterion == loops.ABSOLUTE,
            self.side,
        )

    def depth_first(self) -> None:
        """Large nodes with the threads sharing columns, then small subtrees shared among them."""
        count = threads() if self.n * self.d >= _WORTH_THREADS else 1
        # Float sums of the absolute error decide near-ties by the order of columns: one thread, one order.
        if count == 1 or self.rules.criterion == loops.ABSOLUTE or self.rules.max_features < self.d:
            loops.grow(self.sample, self.rules, self.room(), self.nodes, 0, 0, self.n, 0)
            return
        rooms = [self.room() for _ in range(count)]
        small = max(_SMALL_NODE, self.n // (8 * count))
        tasks, stack = [], [(0, 0, self.n, 0)]
        while stack:
            slot, start, end, depth = stack.pop()
            if end - start <= small:
                tasks.append((slot, start, end, depth))
                continue
            n_left = self._one_node(slot, start, end, depth, rooms)
            if n_left:
                stack.append((slot + 2 * n_left, start + n_left, end, depth + 1))
                stack.append((slot + 1, start, start + n_left, depth + 1))
        free: SimpleQueue[tree_sample.Scratch] = SimpleQueue()
        for x in rooms:
            free.put(x)

        def run(task: tuple[int, int, int, int]) -> None:
            x = free.get()
            loops.grow(self.sample, self.rules, x, self.nodes, *task)
            free.put(x)

        side_by_side(run, sorted(tasks, key=lambda t: t[1] - t[2]), count)

    def _one_node(self, slot: int, start: int, end: int, depth: int, rooms: list[tree_sample.Scratch]) -> int:
        """Search and divide one node; returns how many rows go left (0: a leaf)."""
        s, r, x, t = self.sample, self.rules, rooms[0], self.nodes
        t.n_rows[slot] = end - start
        found = self._question(start, end, depth, rooms)
        if found.feature < 0 or found.score < r.min_gain:
            loops.node_leaf(s.words, t.leaf_of, slot, start, end)
            return 0
        n_left = int(loops.node_record(s, x, t, slot, start, end, found))
        parts = list(zip(rooms, ranges(len(s.words), len(rooms))))
        side_by_side(
            lambda part: loops.node_divide(s.words, x.side, part[0].spare, start, end, *part[1]), parts, len(rooms)
        )
        return n_left

    def _question(self, start: int, end: int, depth: int, rooms: list[tree_sample.Scratch]) -> loops.Found:
        """The best split of a node; its grouping, if categorical, ends up in the first room."""
        s, r, x = self.sample, self.rules, rooms[0]
        if not loops.node_may_split(s, r, x, start, end, depth):
            return loops.NOTHING
        for y in rooms[1:]:
            y.total[:] = x.total
        parts = list(zip(rooms, ranges(self.d, len(rooms))))
        found = side_by_side(lambda part: loops.node_search(s, r, part[0], start, end, *part[1]), parts, len(rooms))
        best = loops.NOTHING
        for y, answer in zip(rooms, found):
            if answer[0] > best.score:
                best = loops.Found(*answer)
                x.chosen[:] = y.chosen
        return best

    def best_first(self) -> None:
        """Divide the leaf with the largest gain until there are ``max_leaf_nodes`` leaves."""
        spans = np.full((2 * min(self.settings.max_leaf_nodes, self.n), 4), -1, dtype=np.int64)
        loops.grow_best(self.sample, self.rules, self.room(), self.nodes, spans)
        inner = np.flatnonzero(spans[:, 3] >= 0)
        self.order = dict(zip(inner.tolist(), spans[inner, 3].tolist()))

    order: dict[int, int] | None = None

    def finish(self) -> Grown:
        """Close the gaps between the slots and fill in what the nodes hold."""
        t = self.nodes
        slots = np.flatnonzero(t.n_rows)
        place = np.cumsum(t.n_rows > 0) - 1
        inner = t.n_left[slots] > 0
        if self.order is None:
            left = np.where(inner, place[np.minimum(slots + 1, len(place) - 1)], -1)
            right = np.where(inner, place[np.minimum(slots + 2 * t.n_left[slots], len(place) - 1)], -1)
        else:
            left, right = np.full(len(slots), -1), np.full(len(slots), -1)
            for node, child in self.order.items():
                left[node], right[node] = child, child + 1
        feature = np.where(inner, t.feature[slots], -2)
        sizes = self.columns.sizes
        grouped = inner & (sizes[np.maximum(feature, 0)] > 0)
        bits = t.bits[slots[grouped]] if grouped.any() else np.zeros((1, t.bits.shape[1]), dtype=np.int64)
        group = np.where(grouped, np.cumsum(grouped) - 1, -1)
        shape = Tree(
            n_features=self.d,
            n_classes=np.array([max(1, self.target.n_classes)]),
            classifies=self.target.n_classes > 0,
            children_left=left,
            children_right=right,
            feature=feature,
            threshold=self._thresholds(slots, inner & ~grouped, grouped),
            missing_go_to_left=np.where(inner, t.missing_left[slots], 0).astype(np.uint8),
            group=group,
            bits=_known_bits(bits, sizes, feature[grouped]),
            impurity=np.zeros(len(slots)),
            n_node_samples=t.n_rows[slots],
            weighted_n_node_samples=np.zeros(len(slots)),
            value=np.zeros((len(slots), 1, 1)),
        )
        leaf_of = place[t.leaf_of]
        return Grown(
            tree=fill(shape, leaf_of, self.target, self.settings.criterion),
            leaf_of=leaf_of,
            gain=np.where(inner, t.gain[slots] * self.scaled.gain_unit / self.target.total, 0.0),
            drawn=t.drawn[slots].astype(bool) if self.rules.max_features < self.d else None,
            settings=self.settings,
        )

    def _thresholds(self, slots: Array, numeric: Array, grouped: Array) -> Array:
        """Midway between the values on either side; exactly the lower one when there is no number between."""
        t, values = self.nodes, self.columns.values
        out = np.where(grouped, np.nan, -2.0)
        at = slots[numeric]
        f, low, high = t.feature[at], t.low[at], t.high[at]
        below = values[f, low].astype(float)
        above = values[f, np.where(high == tree_sample.MISSING, 0, high)].astype(float)
        middle = below / 2.0 + above / 2.0
        middle = np.where((middle >= above) | (middle < below), below, middle)
        out[numeric] = np.where(high == tree_sample.MISSING, np.inf, middle)
        return out


def _known_bits(bits: Array, sizes: Array, feature: Array) -> Array:
    """Clear the bits beyond the number of categories of each split's column."""
    out = bits.copy()
    for row, f in zip(out, feature):
        places = np.arange(64 * len(row)).reshape(len(row), 64)
        row &= np.where(places < sizes[f], np.int64(1) << (places & 63), 0).sum(axis=1, dtype=np.int64)
    return out
