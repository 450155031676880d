"""Trees: at every node no other allowed question gains more, and no other pruning costs less.

The evidence is the tree as grown (questions, values), which nodes still ask after pruning, and the rules of
growing. The check sends the rows down level by level, compares every allowed question of every node in plain
NumPy, and then runs the bottom-up recursion for the least cost of a pruning.

`shortfall` is the most that any other question could gain beyond the one asked, as impurity decrease ×
share of the weight; what is left of it on a correct tree is rounding. The groupings of a categorical column
with more than ten categories in a node and more than two classes, and those under the absolute error, are
chosen by a heuristic and not compared; the claim then says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from certifit._types import Array
from certifit.certificates import tree_questions as tq
from certifit.certificates._ball import UNIT, Ball, gamma
from certifit.certificates._data import Data, Rigor
from certifit.certificates._record import Check, Kind, Proof, about, equal, register, upper

_EPS = float(np.finfo(float).eps)


@register
class TreeOptimality(Kind):
    """No other question gains more, node by node; no other pruning costs less."""

    name = "tree"
    theorem = "exhaustive comparison of the allowed questions; bottom-up recursion over prunings"

    def prove(self, data: Data, evidence: Mapping[str, Any], rigor: Rigor) -> Proof:
        tree = _Tree(evidence)
        table = _Table(data, evidence)
        walk = _Walk(tree, table, evidence)
        with np.errstate(all="ignore"):  # a NaN or an infinity fails the comparisons below
            walk.run()
        checks = [*tree.checks(), *walk.checks()]
        figures = {
            "questions": equal(int(tree.asks.sum())),
            "leaves": equal(int(tree.asks.sum()) + 1),
            "compared": equal(int(walk.compared)),
            "heuristic": equal(bool(walk.heuristic)),
            "shortfall": upper(walk.shortfall),
        }
        held = walk.node_cost[tree.final_leaves()]
        impurity = np.where(held.mid <= held.rad, 0.0, held.mid).sum() / walk.total  # what may be 0 counts as 0
        figures["impurity"] = about(float(impurity))
        if evidence.get("validation") is not None:
            loss, check = _validated(tree, table, evidence)
            checks.append(check)
            figures["validation_loss"] = about(loss)
        elif float(evidence["alpha"]) > 0:
            alpha = float(evidence["alpha"])
            excess = _pruning_excess(tree, walk, alpha)
            figures["pruning_shortfall"] = upper(excess)
            text = f"{excess:.1e} above the least"
            checks.append(Check("no other pruning costs less", excess <= 1e-9 * (walk.scale + alpha), text))
        return Proof(figures, tuple(checks))

    def claim(self, figures: Mapping[str, Any], evidence: Mapping[str, Any]) -> str:
        size = f"{figures['questions']} question{'s' if figures['questions'] != 1 else ''}"
        text = f"A tree of {size}: at each node no other allowed question gains more"
        text += f" ({figures['compared']} compared)"
        if figures["heuristic"]:
            text += ", groupings of categories too many to compare left aside"
        if "validation_loss" in figures:
            text += "; no other pruning errs less on the validation rows"
        elif "pruning_shortfall" in figures:
            text += f"; no other pruning costs less at alpha = {float(evidence['alpha']):.4g}"
        return text + "."


class _Tree:
    """The grown tree and its pruning, read from the evidence."""

    def __init__(self, e: Mapping[str, Any]) -> None:
        self.left, self.right, self.feature = (np.asarray(e[k]).astype(np.int64) for k in ("left", "right", "feature"))
        self.threshold = np.asarray(e["threshold"], dtype=float)
        self.missing_left = np.asarray(e["missing_left"]).astype(bool)
        self.group = np.asarray(e["group"]).astype(np.int64)
        self.sets = np.asarray(e["sets"]).astype(bool)
        self.value = np.asarray(e["value"], dtype=float)
        self.asks = np.asarray(e["asks"]).astype(bool)
        self.inner = self.left >= 0
        self.n = len(self.left)

    def checks(self) -> list[Check]:
        inner = np.flatnonzero(self.inner)
        children = np.sort(np.concatenate([self.left[inner], self.right[inner]]))
        sound = bool(np.array_equal(children, np.arange(1, self.n)))
        sound = sound and bool(np.all(self.left[inner] > inner) and np.all(self.right[inner] > inner))
        parent = np.zeros(self.n, dtype=np.int64)
        if sound:
            parent[self.left[inner]] = parent[self.right[inner]] = inner
        kept = bool(not np.any(self.asks & ~self.inner)) and bool(
            np.all(self.asks[parent[np.flatnonzero(self.asks)]] | (np.flatnonzero(self.asks) == 0))
        )
        return [
            Check("the nodes form a tree", sound),
            Check("the pruned tree is the top of the grown one", kept),
        ]

    def goes_left(self, node: Array, X: Array) -> Array:
        """Which of the rows (each at its own node) answer yes."""
        v = X[np.arange(len(node)), self.feature[node]]
        lost = np.isnan(v)
        grouped = self.group[node] >= 0
        out = v <= self.threshold[node]
        if grouped.any():
            code = np.where(lost | ~grouped, 0, v).astype(np.int64)
            out = np.where(grouped, self.sets[np.maximum(self.group[node], 0), code], out)
        return np.where(lost, self.missing_left[node], out)

    def final_leaves(self) -> Array:
        """The nodes that predict after pruning."""
        reached, level = [], np.array([0])
        while len(level):
            reached.append(level[~self.asks[level]])
            level = level[self.asks[level]]
            level = np.concatenate([self.left[level], self.right[level]])
        return np.concatenate(reached)


class _Table:
    """The data as numbers: coded X, class codes or values, weights; growing rows and validation rows."""

    def __init__(self, data: Data, e: Mapping[str, Any]) -> None:
        self.X = _coded(data.X, e["categories"])
        y = np.asarray(data.y)
        self.codes: Array | None = None
        self.y: Array | None = None
        weight = data.weights.astype(float)
        if e.get("classes") is not None:
            place = {_label(c): k for k, c in enumerate(e["classes"])}
            self.codes = np.array([place[_label(v)] for v in y])
            if e.get("class_weight") is not None:
                weight = weight * np.asarray(e["class_weight"], dtype=float)[self.codes]
        else:
            self.y = y.astype(float)
        self.weight = weight
        use = weight > 0
        held = np.zeros(len(weight), dtype=bool)
        if e.get("validation") is not None:
            held[np.asarray(e["validation"]).astype(np.int64)] = True
        self.growing, self.held = np.flatnonzero(use & ~held), np.flatnonzero(use & held)


def _label(v: Any) -> Any:
    return float(v) if isinstance(v, (int, float, np.number, bool, np.bool_)) else str(v)


def _coded(X: Any, categories: Any) -> Array:
    """X as floats, categories by their place in the list; NaN is missing or unknown."""
    if X.dtype != object and all(c is None for c in categories):
        return np.asarray(X, dtype=float)
    out = np.empty(X.shape)
    for j, known in enumerate(categories):
        if known is None:
            out[:, j] = [np.nan if _is_missing(v) else float(v) for v in X[:, j]]
        else:
            place = {_label(c): k for k, c in enumerate(known)}
            out[:, j] = [np.nan if _is_missing(v) else place.get(_label(v), np.nan) for v in X[:, j]]
    return out


def _is_missing(v: Any) -> bool:
    return v is None or type(v).__name__ in ("NAType", "NaTType") or (isinstance(v, float) and v != v)


class _Walk:
    """The rows on their way down: questions compared, costs and values of each node."""

    def __init__(self, tree: _Tree, table: _Table, e: Mapping[str, Any]) -> None:
        self.tree, self.e = tree, e
        rows = table.growing
        self.X, self.weight = table.X[rows], table.weight[rows]
        self.codes = None if table.codes is None else table.codes[rows]
        self.y = None if table.y is None else table.y[rows]
        self.criterion = "entropy" if e["criterion"] == "log_loss" else str(e["criterion"])
        self.k = 0 if table.codes is None else len(e["classes"])
        self.total = float(self.weight.sum())
        self.scale = 1.0  # of the impurity: at most log2 K or 1 for classes, the variance for values
        self.ranks = np.stack([np.unique(c, return_inverse=True)[1] for c in self.X.T], axis=1)
        self.missing = np.isnan(self.X)
        self.shortfall, self.compared, self.heuristic = 0.0, 0, False
        self.bad_leaf = self.bad_value = self.bad_gain = -1
        n = tree.n
        self.node_cost = Ball(np.zeros(n), np.zeros(n))
        self.gain_low, self.gain_high = np.full(n, -np.inf), np.full(n, -np.inf)
        self.room = np.zeros(n, dtype=bool)  # nodes that the rules allow to ask

    def run(self) -> None:
        at = np.zeros(len(self.X), dtype=np.int64)
        level, depth = np.array([0]), 0
        rows = np.arange(len(self.X))
        while len(level) and depth <= self.tree.n:
            place = np.zeros(self.tree.n, dtype=np.int64)
            place[level] = np.arange(len(level))
            self._level(level, rows, place[at[rows]], depth)
            go = self.tree.inner[at[rows]]
            rows = rows[go]
            left = self.tree.goes_left(at[rows], self.X[rows])
            at[rows] = np.where(left, self.tree.left[at[rows]], self.tree.right[at[rows]])
            level = level[self.tree.inner[level]]
            level = np.concatenate([self.tree.left[level], self.tree.right[level]])
            depth += 1
        self._best_first()

    def _level(self, level: Array, rows: Array, node: Array, depth: int) -> None:
        m, e, t = len(level), self.e, self.tree
        weight, w = self.weight[rows], np.bincount(node, self.weight[rows], minlength=m)
        count = np.bincount(node, minlength=m)
        z = centre = None
        if self.y is not None:
            centre = np.bincount(node, weight * self.y[rows], minlength=m) / np.maximum(w, 1e-300)
            z = self.y[rows] - centre[node]
        codes = None if self.codes is None else self.codes[rows]
        r = tq.Rows(node, m, weight, codes, z, self.k, self.criterion,
                    int(e["min_samples_leaf"]), float(e["min_weight_leaf"]))  # fmt: skip
        s = tq.fixed_point(r)
        totals = np.zeros((m, s.columns.shape[1]), dtype=np.int64)
        np.add.at(totals, node, s.columns)
        self._hold(level, rows, r, s, totals, count, centre)
        pure = self._pure(node, rows, m)
        open_ = ~pure & (depth < int(e["max_depth"])) & (count >= int(e["min_samples_split"]))
        open_ &= w * (1 + gamma(len(rows) + 1)) >= 2 * r.min_weight
        best = self._compare(level, rows, r, s, totals, open_)
        self.room[level] = open_ & best.askable
        whole = self._division_cost(r, s, np.zeros_like(totals), totals, count) if self.y is not None else None
        before = self.node_cost[level] if whole is None or self.criterion != "squared_error" else whole
        high = (before.upper - best.low) / self.total
        self.gain_high[level] = np.where(self.room[level], high + 4 * UNIT * np.abs(high), -np.inf)
        self.compared += int(best.compared.sum())
        asking = np.flatnonzero(t.inner[level])
        if not len(asking):
            return
        own = self._own_cost(level, rows, r, s, totals, count)
        short = (own.upper[asking] - best.low[asking]) / self.total
        self.shortfall = max(self.shortfall, float(np.max(short)) if not np.isnan(short).any() else np.inf)
        self.gain_low[level[asking]] = ((before - own).lower / self.total)[asking]

    def _pure(self, node: Array, rows: Array, m: int) -> Array:
        v = self.codes[rows].astype(float) if self.codes is not None else self.y[rows]  # type: ignore[index]
        low, high = np.full(m, np.inf), np.full(m, -np.inf)
        np.minimum.at(low, node, v)
        np.maximum.at(high, node, v)
        return low >= high

    def _compare(self, level: Array, rows: Array, r: Any, s: Any, totals: Array, open_: Array) -> tq.Best:
        best = tq.Best(len(level))
        for j in range(self.X.shape[1]):
            allowed = open_.copy()
            if self.e.get("drawn") is not None:
                allowed &= np.asarray(self.e["drawn"]).astype(bool)[level, j]
            if not allowed.any():
                continue
            if self.e["categories"][j] is not None:
                codes = np.where(self.missing[rows, j], np.inf, self.X[rows, j])
                self.heuristic |= tq.compare_groups(r, s, totals, codes, allowed, best)
            elif self.criterion == "absolute_error":
                assert self.y is not None
                tq.compare_absolute(r, self.y[rows], self.ranks[rows, j], self.missing[rows, j], allowed, best)
            else:
                tq.compare_numeric(r, s, totals, self.ranks[rows, j], self.missing[rows, j], allowed, best)
        return best

    def _division_cost(self, r: Any, s: Any, left: Array, totals: Array, count: Array) -> Ball:
        """−(sum)²/weight of undivided nodes: what a squared-error gain is measured from."""
        whole = s.ball(totals, count, np.arange(r.count))
        return -(whole[:, 1].square() / whole[:, 0])

    def _own_cost(self, level: Array, rows: Array, r: Any, s: Any, totals: Array, count: Array) -> Ball:
        """The cost of the question that each asking node asks (others: of a harmless stand-in)."""
        t = self.tree
        go = t.inner[level[r.node]]
        goes = np.zeros(len(rows), dtype=bool)
        goes[go] = t.goes_left(level[r.node[go]], self.X[rows[go]])
        if self.criterion == "absolute_error":
            return self._own_absolute(level, rows, r, goes)
        left = np.zeros_like(totals)
        np.add.at(left, r.node[goes], s.columns[goes])
        many = np.bincount(r.node[goes], minlength=r.count)
        bad = t.inner[level] & ((many < r.min_rows) | (count - many < r.min_rows))
        if bad.any():
            self.bad_gain = int(level[np.flatnonzero(bad)[0]])
        a, b = s.ball(left, many, np.arange(r.count)), s.ball(totals - left, count - many, np.arange(r.count))
        return tq.cost(a, b, self.criterion)

    def _own_absolute(self, level: Array, rows: Array, r: Any, goes: Array) -> Ball:
        assert self.y is not None
        low, high = np.zeros(r.count), np.zeros(r.count)
        for v in np.flatnonzero(self.tree.inner[level]):
            for side in (True, False):
                part = rows[(r.node == v) & (goes == side)]
                if len(part) < r.min_rows:
                    self.bad_gain = int(level[v])
                below, above = tq.absolute_costs(self.y[part], self.weight[part])
                low[v], high[v] = low[v] + below[-1], high[v] + above[-1]
        return Ball.between(low * (1 - 4 * UNIT), high * (1 + 4 * UNIT))

    def _hold(self, level: Array, rows: Array, r: Any, s: Any, totals: Array, count: Array, centre: Any) -> None:
        """Cost of each node as a leaf, and whether it predicts what its rows say."""
        at = np.arange(r.count)
        whole = s.ball(totals, count, at)
        value = self.tree.value[level]
        if self.codes is not None:
            held = tq.side_cost(whole, self.criterion)
            share = whole.mid / whole.mid.sum(axis=1)[:, None]
            wrong = np.abs(value - share).max(axis=1) > 1e-9
        elif self.criterion == "squared_error":
            q = r.weight * np.asarray(r.z) ** 2
            square = np.bincount(r.node, q, minlength=r.count)
            held = Ball(square, square * gamma(len(rows) + 8)) - whole[:, 1].square() / whole[:, 0]
            mean = centre + whole.mid[:, 1] / whole.mid[:, 0]
            wrong = np.abs(value[:, 0] - mean) > 1e-9 * (np.abs(np.asarray(self.y)).max() + 1e-300)
        else:
            low, high, wrong = np.zeros(r.count), np.zeros(r.count), np.zeros(r.count, dtype=bool)
            for v in at:
                part = rows[r.node == v]
                assert self.y is not None
                below, above = tq.absolute_costs(self.y[part], self.weight[part])
                low[v], high[v] = below[-1], above[-1]
                said = float((self.weight[part] * np.abs(self.y[part] - value[v, 0])).sum())
                wrong[v] = said > high[v] * (1 + 1e-9) + 1e-300
            held = Ball.between(low, high)
        self.node_cost.mid[level], self.node_cost.rad[level] = held.mid, held.rad
        if level[0] == 0:
            self.scale = max(float(held.mid[0]) / self.total, 1e-300)
        if wrong.any():
            self.bad_value = int(level[np.flatnonzero(wrong)[0]])

    def _best_first(self) -> None:
        """With a limit on leaves: each node divided gained at least what any leaf then open offered."""
        limit = int(self.e["max_leaf_nodes"])
        inner = np.flatnonzero(self.tree.inner)
        if not limit or not len(inner):
            return
        order = inner[np.argsort(self.tree.left[inner])]
        born = np.zeros(self.tree.n, dtype=np.int64)
        for step, node in enumerate(order):
            born[[self.tree.left[node], self.tree.right[node]]] = step + 1
        ended = np.full(self.tree.n, len(order))
        ended[order] = np.arange(len(order))
        for step, node in enumerate(order):
            rivals = (born <= step) & (ended >= step) & self.room
            rivals[node] = False
            if rivals.any():
                short = float(self.gain_high[rivals].max() - self.gain_low[node])
                self.shortfall = max(self.shortfall, short)

    def checks(self) -> list[Check]:
        t, e = self.tree, self.e
        least = float(e["min_impurity_decrease"])
        limit = int(e["max_leaf_nodes"])
        full = bool(limit) and int((~t.inner).sum()) >= limit
        idle = ~t.inner & self.room & (self.gain_high >= least + 1e-9 * self.scale) & (not full)
        if idle.any() and least > 0:  # the upper bound on the gain may be rounding: look at the size of it
            idle &= self.gain_high - least > 1e-9 * max(self.scale, least)
        stray = t.inner & (~self.room | (self.gain_low + 4 * _EPS + 1e-9 * self.scale < least))
        too_many = bool(limit) and int((~t.inner).sum()) > limit
        short = self.shortfall <= 1e-9 * max(self.scale, 1e-300)
        return [
            Check("no other allowed question gains more", short, f"shortfall at most {self.shortfall:.1e}"),
            Check("every question keeps the limits on its sides", self.bad_gain < 0, f"node {self.bad_gain}"),
            Check("every node that asks was allowed to", not stray.any() and not too_many, _first(stray)),
            Check("every leaf had a reason to stop", not idle.any(), _first(idle)),
            Check("every node predicts what its rows say", self.bad_value < 0, f"node {self.bad_value}"),
        ]


def _first(mask: Array) -> str:
    return f"node {int(np.flatnonzero(mask)[0])}" if mask.any() else ""


def _least(tree: _Tree, as_leaf_low: Array, as_leaf_high: Array, alpha: float) -> tuple[float, float]:
    """Least cost of any pruning (from below) and cost of the kept one (from above)."""
    best, kept = as_leaf_low + alpha, as_leaf_high + alpha
    for t in range(tree.n - 1, -1, -1):
        if tree.inner[t]:
            a, b = tree.left[t], tree.right[t]
            best[t] = min(best[t], best[a] + best[b])
            if tree.asks[t]:
                kept[t] = kept[a] + kept[b]
    room = gamma(tree.n + 4)
    return float(best[0] * (1 - room)), float(kept[0] * (1 + room))


def _pruning_excess(tree: _Tree, walk: _Walk, alpha: float) -> float:
    low = np.maximum(walk.node_cost.lower, 0.0) / walk.total * (1 - 4 * UNIT)
    high = np.maximum(walk.node_cost.upper, 0.0) / walk.total * (1 + 4 * UNIT)
    least, kept = _least(tree, low, high, alpha)
    return max(kept - least, 0.0)


def _validated(tree: _Tree, table: _Table, e: Mapping[str, Any]) -> tuple[float, Check]:
    """Mean loss of the kept tree on the validation rows, and that no other pruning has less."""
    rows = table.held
    X, w = table.X[rows], table.weight[rows]
    loss = np.zeros(tree.n)
    at = np.zeros(len(rows), dtype=np.int64)
    active = np.arange(len(rows))
    while len(active):
        node = at[active]
        value = tree.value[node]
        if table.codes is not None:
            miss = (np.argmax(value, axis=1) != table.codes[rows[active]]).astype(float)
        else:
            assert table.y is not None
            miss = (value[:, 0] - table.y[rows[active]]) ** 2
        np.add.at(loss, node, w[active] * miss)
        active = active[tree.inner[node]]
        go = tree.goes_left(at[active], X[active])
        at[active] = np.where(go, tree.left[at[active]], tree.right[at[active]])
    room = gamma(len(rows) + 8)
    least, kept = _least(tree, loss * (1 - room), loss * (1 + room), 0.0)
    text = f"loss {kept / w.sum():.6g}"
    ok = kept - least <= 1e-9 * max(float(loss[0]), 1e-300)
    return kept / float(w.sum()), Check("no other pruning errs less on the validation rows", ok, text)
