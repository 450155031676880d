"""Growing in plain NumPy, for what the compiled loops do not know: several targets, counts, directions, chance.

Sums over the two sides of every threshold come from one pass over each sorted column (`certificates.tree_general` has
the formulas, which the proof uses too). Gains, ties and limits are those of `_growing`.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from certifit._types import Array
from certifit.certificates.tree_general import NodeRows, within
from certifit.tree._growing import Grown, Settings
from certifit.tree._structure import Tree
from certifit.tree._target import WeightedTarget

_TIE = 1e-12  # fraction of a node's cost within which two splits are equal: the first column, the lowest threshold


@dataclass(frozen=True)
class SeveralTargets(WeightedTarget):
    """One column a target."""

    codes: Array | None
    sizes: tuple[int, ...]
    y: Array | None
    weight: Array | None

    def held(self, rows: Array, criterion: str) -> NodeRows:
        """The rows of a node, for the sums."""
        weight = np.ones(len(rows)) if self.weight is None else self.weight[rows]
        codes = None if self.codes is None else self.codes[rows]
        return NodeRows(codes, None if self.y is None else self.y[rows], weight, self.sizes, criterion)


@dataclass(frozen=True)
class _Split:
    gain: float
    feature: int
    threshold: float
    missing_left: bool


def grow_general(
    X: Array, target: SeveralTargets, settings: Settings, random: bool, signs: Array | None = None
) -> Grown:
    """Grow a tree; with ``random`` each column's threshold is drawn between its least and its largest value.

    ``signs`` asks for predictions that rise (+1) or fall (−1) with a column. Both sides of a split on it predict
    within the bounds of the node and in that direction, and the middle between them bounds what is below.
    """
    work = _GeneralGrowth(X, target, settings, random, signs)
    work.run()
    return work.finish()


class _GeneralGrowth:
    def __init__(
        self, X: Array, target: SeveralTargets, settings: Settings, random: bool, signs: Array | None = None
    ) -> None:
        self.X, self.target, self.settings, self.random, self.signs = X, target, settings, random, signs
        self.generator = np.random.default_rng(settings.seed)
        self.total = target.total
        self.rows: list[Array] = [np.arange(target.n)]
        self.depth, self.children = [0], [(-1, -1)]
        self.asked: list[_Split | None] = [None]
        self.found: list[_Split | None] = [None]
        self.drawn: list[Array] = [np.zeros(X.shape[1], dtype=bool)]
        self.bounds: list[tuple[float, float]] = [(-np.inf, np.inf)]
        self.said: dict[int, float] = {}  # what a node predicts, where directions matter

    def run(self) -> None:
        """Divide nodes depth first, or the one of largest gain first where leaves are limited."""
        limit = self.settings.max_leaf_nodes
        heap: list[tuple[float, int]] = []
        stack = [0]

        def consider(node: int) -> None:
            self.found[node] = found = self._search(node)
            if found is not None and found.gain >= self._least():
                if limit:
                    heapq.heappush(heap, (-found.gain, node))
                else:
                    stack.append(node)

        stack.pop()
        consider(0)
        leaves = 1
        while stack or (heap and leaves < limit):
            node = heapq.heappop(heap)[1] if limit else stack.pop()
            first, second = self._divide(node)
            leaves += 1
            for child in (first, second) if limit else (second, first):
                consider(child)

    def _least(self) -> float:
        least = self.settings.min_impurity_decrease
        return least - np.finfo(float).eps if least > 0 else -np.inf

    def _divide(self, node: int) -> tuple[int, int]:
        q = self.asked[node] = self.found[node]
        assert q is not None
        rows = self.rows[node]
        x = self.X[rows, q.feature]
        left = np.where(np.isnan(x), q.missing_left, x <= q.threshold)
        first = len(self.rows)
        for part in (rows[left], rows[~left]):
            self.rows.append(part)
            self.depth.append(self.depth[node] + 1)
            self.children.append((-1, -1))
            self.asked.append(None)
            self.found.append(None)
            self.drawn.append(np.zeros(self.X.shape[1], dtype=bool))
        self.children[node] = first, first + 1
        self._bound(node, q.feature)
        return first, first + 1

    def _bound(self, node: int, feature: int) -> None:
        """What the two children predict, and the bounds of all that is below them."""
        low, high = bounds = self.bounds[node]
        if self.signs is None:
            self.bounds += [bounds, bounds]
            return
        held = [self.target.held(self.rows[k], self.settings.criterion) for k in self.children[node]]
        pair = [min(max(float(r.values()[0, r.sizes[0] - 1]), low), high) for r in held]
        sign = int(self.signs[feature])
        middle = pair[0] / 2.0 + pair[1] / 2.0
        if (pair[0] - pair[1]) * sign > 0.0:  # equal but for rounding, or the split were not allowed
            pair = [middle, middle]
        self.said.update(zip(self.children[node], pair))
        sides = [(low, middle), (middle, high)]
        self.bounds += [bounds, bounds] if sign == 0 else sides[::sign]

    def _search(self, node: int) -> _Split | None:
        s, rows = self.settings, self.rows[node]
        r = self.target.held(rows, s.criterion)
        if r.pure() or self.depth[node] >= s.max_depth or len(rows) < s.min_samples_split:
            return None
        if float(r.weight.sum()) < 2 * s.min_weight_leaf:
            return None
        whole = r.whole()
        before, slack = whole - r.fixed(), _TIE * whole
        best: _Split | None = None
        looked, wanted = 0, s.max_features or self.X.shape[1]
        for j in self._columns(wanted):
            x = self.X[rows, j]
            if not np.any(x != x[0]) or (np.isnan(x[0]) and np.all(np.isnan(x))):
                continue  # constant columns do not count among those drawn, as in scikit-learn
            if looked >= wanted:
                break
            looked += 1
            self.drawn[node][j] = True
            split = self._of_column(r, x, j, before, self.bounds[node])
            if split is not None and (best is None or split.gain * self.total > best.gain * self.total + slack):
                best = split
        return best

    def _columns(self, wanted: int) -> Array:
        d = self.X.shape[1]
        return np.arange(d) if wanted >= d else self.generator.permutation(d)

    def _of_column(self, r: NodeRows, x: Array, j: int, before: float, bounds: tuple[float, float]) -> _Split | None:
        """The best split on one column, or the one drawn."""
        s = self.settings
        best: _Split | None = None
        for order, places, missing_left in self._offers(r, x):
            ok = places[r.allowed(order, places, s.min_samples_leaf, s.min_weight_leaf)]
            if self.signs is not None and self.signs[j] != 0 and len(ok):
                ok = ok[r.monotone(order, ok, int(self.signs[j]), bounds)]
            if not len(ok):
                continue
            costs = r.costs(order, ok)
            k = int(np.argmin(costs))
            gain = (before - float(costs[k])) / self.total
            if best is None or gain > best.gain:
                values = x[order]
                best = _Split(gain, int(j), self._threshold(values, int(ok[k]), missing_left), missing_left)
        if best is not None and self.random:
            best = replace(best, threshold=self._drawn_threshold)
        return best

    def _offers(self, r: NodeRows, x: Array) -> Any:
        if not self.random:
            yield from r.cuts(x)
            return
        known = x[~np.isnan(x)]
        low, high = float(known.min()), float(known.max())
        at = low + (high - low) * float(self.generator.random())
        at = low if at >= high else at
        self._drawn_threshold = at
        go_left = bool(self.generator.random() < 0.5)
        left = np.where(np.isnan(x), go_left, x <= at)
        order = np.argsort(~left, kind="stable")
        yield order, np.array([int(left.sum())]), go_left

    _drawn_threshold: float = 0.0

    def _threshold(self, values: Array, place: int, missing_left: bool) -> float:
        """Midway between the values on either side; infinite where only missing values go right."""
        below, above = float(values[place - 1]), float(values[place])
        if np.isnan(above):
            return np.inf
        middle = below / 2.0 + above / 2.0
        return below if middle >= above or middle < below else middle

    def finish(self) -> Grown:
        """The arrays of the tree, in the order in which `Tree` wants them: children after their parent."""
        s, order = self.settings, self._order()
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        held = [self.target.held(self.rows[k], s.criterion) for k in order]
        weight = np.array([float(r.weight.sum()) for r in held])
        leaf_of = np.zeros(self.target.n, dtype=np.int64)

        def column(of: Callable[[_Split], Any], otherwise: Any) -> Array:
            return np.array([otherwise if self.asked[k] is None else of(self.asked[k]) for k in order])  # type: ignore[arg-type]

        sides = [
            np.array([place[self.children[k][i]] if self.children[k][0] >= 0 else -1 for k in order]) for i in (0, 1)
        ]
        for k in order:
            if self.children[k][0] < 0:
                leaf_of[self.rows[k]] = place[k]
        several, sizes = self.target, self.target.sizes
        tree = Tree(
            n_features=self.X.shape[1],
            n_classes=np.array(sizes),
            classifies=several.codes is not None,
            children_left=sides[0],
            children_right=sides[1],
            feature=column(lambda q: q.feature, -2),
            threshold=column(lambda q: q.threshold, -2.0).astype(float),
            missing_go_to_left=column(lambda q: q.missing_left, 0).astype(np.uint8),
            group=np.full(len(order), -1),
            bits=np.zeros((1, 1), dtype=np.int64),
            impurity=np.array([0.0 if r.pure() else r.whole() for r in held]) / weight,
            n_node_samples=np.array([len(r.weight) for r in held]),
            weighted_n_node_samples=weight,
            value=np.array([self._value(k, r) for k, r in zip(order, held)]),
            n_outputs=len(sizes),
        )
        drawn = np.array([self.drawn[k] for k in order]) if s.max_features < self.X.shape[1] else None
        gain = column(lambda q: q.gain, 0.0).astype(float)
        return Grown(tree, leaf_of, gain, drawn, s)

    def _value(self, node: int, r: NodeRows) -> Array:
        """What a node predicts: what its rows say, within its bounds."""
        out = r.values()
        if node in self.said:
            out = within(out, (self.said[node], self.said[node]), r)
        return out

    def _order(self) -> list[int]:
        """Depth first, left before right; in the order of making where the best leaf was divided first."""
        if self.settings.max_leaf_nodes:
            return list(range(len(self.rows)))
        out, stack = [], [0]
        while stack:
            node = stack.pop()
            out.append(node)
            if self.children[node][0] >= 0:
                stack += [self.children[node][1], self.children[node][0]]
        return out
