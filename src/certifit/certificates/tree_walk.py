"""The rows of a tree on their way down: sums of every node and every side, and the splits that could have been.

Sums are taken level by level, and every allowed split of the level is compared; what the sums say of costs and values
is computed for all nodes at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from certifit._types import Array
from certifit.certificates import tree_questions as tq
from certifit.certificates._ball import UNIT, Ball, gamma
from certifit.certificates._data import Evidence
from certifit.certificates._record import Check
from certifit.certificates.tree_gains import CountedRows, countable
from certifit.certificates.tree_sums import Counts, LevelRows, fixed_point

if TYPE_CHECKING:
    from certifit.certificates.tree import GrowingRules, GrownTree, Table

ROUNDING = 1e-9  # of a node's own impurity: what a split, and of a cost, what a pruning may fall short by


class Walk:
    """Splits compared, costs and values of each node."""

    def __init__(self, tree: GrownTree, table: Table, e: Evidence, rules: GrowingRules) -> None:
        self.tree, self.e, self.rules = tree, e, rules
        rows: Any = slice(None) if len(table.growing) == len(table.X) else table.growing
        self.X, self.weight = table.X[rows], table.weight[rows]
        self.codes = None if table.codes is None else table.codes[rows]
        self.y = None if table.y is None else table.y[rows]
        self.criterion = rules.criterion
        self.k = 0 if table.codes is None else len(e["classes"])
        self.total = float(self.weight.sum())
        self.once = self.codes is not None and bool(np.all(self.weight == 1.0))
        self.drawn = tq.drawn_columns(e, tree.inner, tree.feature, self.X.shape[1])
        self._order_columns(table.missing > 0)
        n, width = tree.n, self.k or 2
        self.count, self.many = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)  # rows, and those to the left
        self.whole, self.left, self.right = (Ball(np.zeros((n, width)), np.zeros((n, width))) for _ in range(3))
        self.square, self.size, self.centre = (
            np.zeros(n),
            np.zeros(n),
            np.zeros(n),
        )  # Σ w z², max |y|, for the squared error
        self.node_cost, self.own = (Ball(np.zeros(n), np.zeros(n)) for _ in range(2))
        self.wrong, self.open, self.light = (np.zeros(n, dtype=bool) for _ in range(3))
        self.best, self.heuristic = tq.Best(n), False

    def _order_columns(self, missing: bool) -> None:
        """Numeric columns in order: as whole numbers where that is enough, else as places of rows."""
        single = self.e.get("precision") == "single"
        numeric = {j: np.ascontiguousarray(self.X[:, j]) for j, c in enumerate(self.e["categories"]) if c is None}
        counted = self.once and self.criterion == "gini" and self.rules.min_weight_leaf <= 0 and not single
        counted &= countable(len(self.X), self.k)
        self.counts = [j for j, v in numeric.items() if not (missing and np.isnan(v).any())] if counted else []
        self.columns = {j: tq.Column.of(v, single) for j, v in numeric.items() if j not in self.counts}
        self.counted = None
        if self.counts and self.codes is not None:
            self.counted = CountedRows([numeric[j] for j in self.counts], self.codes, self.k)

    def run(self) -> None:
        """Compare all levels, then judge all nodes."""
        tree, level, depth = self.tree, np.array([0]), 0
        rows, counts = np.arange(len(self.X)), np.array([len(self.X)])  # node after node, as the level has them
        while len(level) and depth <= tree.n:
            inner = tree.inner[level]
            go = slice(None) if inner.all() else np.repeat(inner, counts)
            going = rows[go]
            yes = tree.goes_left(np.repeat(level[inner], counts[inner]), self.X, going)
            goes = np.zeros(len(rows), dtype=bool)
            goes[go] = yes
            self._level(level, rows, np.repeat(np.arange(len(level)), counts), depth, goes)
            if self.columns:
                side = np.full(len(self.X), 2, dtype=np.int8)
                side[going] = ~yes
                self.columns = {j: column.divided(side) for j, column in self.columns.items()}
            level = level[inner]
            rows = np.concatenate([going.compress(yes), going.compress(~yes)])
            counts = np.concatenate([self.many[level], self.count[level] - self.many[level]])
            level = np.concatenate([tree.left[level], tree.right[level]])
            depth += 1
        self._judge()

    def _level(self, level: Array, rows: Array, node: Array, depth: int, goes: Array) -> None:
        """The nodes of one level: ``node`` and ``goes`` say where each row is, and whether it goes left from there."""
        m, rules = len(level), self.rules
        weight, z = self.weight[: len(rows)] if self.once else self.weight[rows], None
        if self.y is not None:
            mass = np.maximum(np.bincount(node, weight, minlength=m), 1e-300)
            self.centre[level] = np.bincount(node, weight * self.y[rows], minlength=m) / mass
            z = self.y[rows] - self.centre[level][node]
        codes = None if self.codes is None else self.codes.take(rows)
        r = LevelRows(node, m, weight, codes, z, self.k, self.criterion,
                    rules.min_samples_leaf, rules.min_weight_leaf, ROUNDING)  # fmt: skip
        s = Counts(r) if self.once else fixed_point(r)
        totals = s.by_node()
        self._take(level, rows, r, s, totals, goes)
        open_ = ~self._pure(node, rows, m, totals) & (depth < rules.max_depth)
        open_ &= self.count[level] >= rules.min_samples_split
        if rules.min_weight_leaf > 0:
            w = np.bincount(node, weight, minlength=m)
            open_ &= w * (1 + gamma(len(rows) + 1)) >= 2 * (1 - ROUNDING) * r.min_weight
        self.open[level] = open_
        if open_.any():
            self._compare(level, rows, r, s, totals)

    def _take(self, level: Array, rows: Array, r: LevelRows, s: Any, totals: Array, goes: Array) -> None:
        """The sums of each node and of both its sides; under the absolute error, their costs."""
        nodes = np.arange(r.count)
        self.count[level], self.many[level] = r.counts, np.bincount(r.node.compress(goes), minlength=r.count)
        if self.criterion == "absolute_error":
            self._take_absolute(level, rows, r, goes)
            return
        many, left = self.many[level], s.by_node(goes)
        for kept, sums, count in (
            (self.whole, totals, r.counts), (self.left, left, many), (self.right, totals - left, r.counts - many),
        ):  # fmt: skip
            found = s.ball(sums, count, nodes)
            kept.mid[level], kept.rad[level] = found.mid, found.rad
        if self.criterion == "squared_error":
            self.square[level] = np.bincount(r.node, r.weight * np.asarray(r.z) ** 2, minlength=r.count)
            size = np.zeros(r.count)
            np.maximum.at(size, r.node, np.abs(np.asarray(self.y)[rows]))
            self.size[level] = size

    def _take_absolute(self, level: Array, rows: Array, r: LevelRows, goes: Array) -> None:
        assert self.y is not None
        for v, t in enumerate(level):
            here = r.node == v
            part = rows[here]
            (*_, low), (*_, high) = tq.absolute_costs(self.y[part], self.weight[part])
            found = Ball.between(low, high)
            self.node_cost.mid[t], self.node_cost.rad[t] = found.mid, found.rad
            said = float((self.weight[part] * np.abs(self.y[part] - self.tree.value[t, 0])).sum())
            self.wrong[t] = not tq.as_low_as(said, high)
            if not self.tree.inner[t]:
                continue
            ends, lighter = np.zeros(2), np.inf
            for side in (True, False):
                part = rows[here & (goes == side)]
                below, above = tq.absolute_costs(self.y[part], self.weight[part])
                ends += below[-1], above[-1]
                lighter = min(lighter, float(self.weight[part].sum()) * (1 - gamma(len(part))))
            own = Ball.between(ends[0] * (1 - 4 * UNIT), ends[1] * (1 + 4 * UNIT))
            self.own.mid[t], self.own.rad[t] = own.mid, own.rad
            self.light[t] = not lighter >= (1 - r.spare) * r.min_weight

    def _pure(self, node: Array, rows: Array, m: int, totals: Array) -> Array:
        if self.codes is not None:
            if not self.once:
                totals = np.bincount(node * self.k + self.codes[rows], minlength=m * self.k).reshape(m, self.k)
            return np.asarray((totals > 0).sum(axis=1) <= 1)
        v = self.y[rows]  # type: ignore[index]
        low, high = np.full(m, np.inf), np.full(m, -np.inf)
        np.minimum.at(low, node, v)
        np.maximum.at(high, node, v)
        return low >= high

    def _compare(self, level: Array, rows: Array, r: LevelRows, s: Any, totals: Array) -> None:
        """Every allowed split of every node of the level."""
        open_ = self.open[level]
        if self.counted is not None:
            self._compare_counts(level, rows, totals)
        if len(self.counts) == self.X.shape[1]:
            return
        best, line = tq.Best(len(level)), tq.Line(r, s, totals, rows, len(self.X))
        where = line.places(open_)
        for j in range(self.X.shape[1]):
            allowed = open_ if self.drawn is None else open_ & self.drawn[level, j]
            if j in self.counts or not allowed.any():
                continue
            if j not in self.columns:
                codes = np.where(np.isnan(self.X[rows, j]), np.inf, self.X[rows, j])
                self.heuristic |= tq.compare_groups(r, s, totals, codes, allowed, best)
            elif self.criterion == "absolute_error":
                assert self.y is not None
                tq.compare_absolute(r, self.y, rows, self.columns[j], allowed, best)
            else:
                line.compare(self.columns[j], where if self.drawn is None else line.places(allowed), best)
        self.best.low[level] = best.low
        self.best.compared[level] += best.compared

    def _compare_counts(self, level: Array, rows: Array, totals: Array) -> None:
        """The thresholds of all columns without missing values, where rows count once."""
        assert self.counted is not None
        open_ = self.open[level]
        nodes = level[open_]
        if len(level) > 1:  # left children come first, then the right ones; what is not open will not be later
            side = np.full(len(self.X), 2, dtype=np.int8)
            right = np.arange(len(level)) >= len(level) // 2
            side[rows] = np.repeat(np.where(open_, right, 2).astype(np.int8), self.count[level])
            self.counted.divide(side)
        gain, compared = self.counted.largest_gains(self.count[nodes], totals[open_], self.rules.min_samples_leaf)
        if self.drawn is not None:
            allowed = self.drawn[nodes][:, self.counts].T
            gain, compared = np.where(allowed, gain, -np.inf), np.where(allowed, compared, 0)
        self.best.gain[nodes], self.best.compared[nodes] = gain.max(axis=0), compared.sum(axis=0)

    def _judge(self) -> None:
        """Costs and values of all nodes, and what other splits could gain beyond those chosen."""
        t, best = self.tree, self.best
        if self.criterion != "absolute_error":
            self._judge_sums()
        self.room = self.open & ((best.compared > 0) | t.inner)  # nodes that the rules allow to ask
        before = self.node_cost
        if self.criterion == "squared_error":  # costs of splits leave out what no split changes: so does this one
            before = -(self.whole[:, 1].square() / self.whole[:, 0])
        if self.counted is not None:  # a gain is what a split costs less than the node
            best.low = np.minimum(best.low, before.lower - best.gain - 4 * UNIT * before.upper)
        self.gain_high = np.where(self.room, tq.per_weight(before.upper - best.low, self.total), -np.inf)
        self.gain_low = np.full(t.n, -np.inf)
        self.shortfall = self.relative_shortfall = 0.0  # in all, and as a part of the impurity of the node
        asking = np.flatnonzero(t.inner)
        self._fall_short(tq.per_weight(self.own.upper[asking] - best.low[asking], self.total), asking)
        gain = (before[asking] - self.own[asking]) / self.total
        self.gain_low[asking] = gain.lower
        self.gain_high[asking] = np.maximum(self.gain_high[asking], gain.upper)
        if self.rules.max_leaf_nodes:  # each node divided gained at least what any leaf then open offered
            for node, rivals in tq.in_order(t.left, t.right, self.room):
                short = float(self.gain_high[rivals].max() - self.gain_low[node])
                self._fall_short(np.array([short]), np.array([node]))

    def _judge_sums(self) -> None:
        """The cost of each node as a leaf and as it is divided, and whether it predicts what its rows say."""
        whole, value = self.whole, self.tree.value
        if self.codes is not None:
            self.node_cost = tq.side_cost(whole, self.criterion)
            total = whole.sum(axis=1).reshape(-1, 1)
            off = np.abs(value * total.mid - whole.mid) - (whole.rad + np.abs(value) * total.rad)
            self.wrong = ~np.all(off <= 1e-9 * np.abs(whole.mid), axis=1)
        else:
            room = gamma(len(self.X) + 8)
            self.node_cost = Ball(self.square, self.square * room) - whole[:, 1].square() / whole[:, 0]
            mean = self.centre + whole.mid[:, 1] / whole.mid[:, 0]
            # Squares that underflow leave a spread of 1e-162: no more than that of the largest number is meant.
            spread = np.minimum(np.sqrt(np.maximum(self.node_cost.upper, 0.0) / whole.mid[:, 0]), self.size)
            self.wrong = ~(np.abs(value[:, 0] - mean) <= 1e-9 * spread + 256 * UNIT * self.size)
        # The lighter side of a split may fall short of the limit by no more than its sum may have been rounded.
        sides = (self.left[:, :1], self.right[:, :1]) if self.codes is None else (self.left, self.right)
        lighter, least = np.minimum(*(side.sum(axis=1).lower for side in sides)), self.rules.min_weight_leaf
        self.light = ~(lighter >= (1 - ROUNDING) * least) if least > 0 else self.light
        self.own = tq.cost(self.left, self.right, self.criterion)

    def _share(self, nodes: Array) -> Array:
        """Impurity × fraction of the weight of nodes, from above."""
        return np.maximum(self.node_cost.upper[nodes], 0.0) / self.total

    def _fall_short(self, short: Array, nodes: Array) -> None:
        """Take note of what other splits could gain beyond those chosen at these nodes."""
        short = np.where(np.isnan(short), np.inf, np.maximum(short, 0.0))
        self.shortfall = max(self.shortfall, float(np.max(short, initial=0.0)))
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = np.where(short > 0, short / self._share(nodes), 0.0)
        self.relative_shortfall = max(self.relative_shortfall, float(np.max(relative, initial=0.0)))

    def checks(self) -> list[Check]:
        """What is claimed of the splits and values, each with a figure or the first node that breaks it."""
        t, least, limit = self.tree, self.rules.min_impurity_decrease, self.rules.max_leaf_nodes
        full = bool(limit) and int((~t.inner).sum()) >= limit
        rounding = ROUNDING * (self._share(np.arange(t.n)) + least)
        compared = (self.gain_high > -np.inf) | (least > 0)
        little = compared & (self.gain_high <= least + rounding)
        idle = ~t.inner & self.room & (not full) & ~little
        stray = t.inner & (~self.room | ~(self.gain_low + rounding >= least))
        narrow = t.inner & (np.minimum(self.many, self.count - self.many) < self.rules.min_samples_leaf)
        narrow |= t.inner & self.light
        too_many = bool(limit) and int((~t.inner).sum()) > limit
        short = self.relative_shortfall <= ROUNDING
        return [
            Check("no other allowed split gains more", short, f"at most {self.relative_shortfall:.1e} of a node's"),
            Check("every split keeps the limits on its sides", not narrow.any(), first_node(narrow)),
            Check("every split was allowed by the limits", not stray.any() and not too_many, first_node(stray)),
            Check("every leaf had a reason to stop", not idle.any(), first_node(idle)),
            Check("every node predicts what its rows imply", not self.wrong.any(), first_node(self.wrong)),
        ]


def first_node(mask: Array) -> str:
    """In words, the first node that a mask shows."""
    return f"node {int(np.flatnonzero(mask)[0])}" if mask.any() else ""
