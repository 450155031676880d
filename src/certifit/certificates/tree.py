"""Trees: at every node no other allowed split gains more, and no other pruning costs less.

The evidence is the tree as grown (splits, values), which nodes are still split after pruning, and the rules of
growing. The check sends the rows down level by level, compares every allowed split of every node in plain
NumPy, and then runs the bottom-up recursion for the least cost of a pruning.

`shortfall` is the most that any other split could gain beyond the one chosen, as impurity decrease × fraction of the
weight; what is left of it on a correct tree is rounding, and no more than a billionth of the impurity of the node
itself: one heavy or outlying row elsewhere excuses nothing. A leaf may stop where no split gains more than that. Of a
limit on the weight of a leaf a billionth is left open: a split may use it, and none has to, since sums of weights are
rounded. The groupings of a categorical column
with more than ten categories in a node and more than two classes, and those under the absolute error, are
chosen by a heuristic and not compared; the claim then says so.

scikit-learn reads columns in single precision and divides no neighbouring values that are at most 1e-7 apart in it:
with ``precision="single"`` such splits are not compared, and the claim says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from certifit._types import Array, Matrix
from certifit.certificates import tree_questions as tq
from certifit.certificates._ball import UNIT, Ball, gamma
from certifit.certificates._data import Data, Evidence, Figures, Rigor
from certifit.certificates._record import Check, Kind, Proof, about, equal, register, upper
from certifit.certificates._schema import FINITE, FLAGS, LABELS, LISTS, NUMBER, NUMBERS, TRUTHS, WHOLE, word

_CRITERIA = {"gini": "gini", "entropy": "entropy", "log_loss": "entropy", "squared_error": "squared_error",
             "absolute_error": "absolute_error"}  # fmt: skip
_ROUNDING = 1e-9  # of a node's own impurity: what a split, and of a cost, what a pruning may fall short by
_NO_DEPTH = 2**31 - 1  # stands for no limit on the depth


@dataclass(frozen=True)
class GrowingRules:
    """The rules of growing and pruning, read from the evidence and refused where they make no sense."""

    criterion: str
    max_depth: int
    min_samples_split: int
    min_samples_leaf: int
    max_leaf_nodes: int
    min_weight_leaf: float
    min_impurity_decrease: float
    alpha: float

    @classmethod
    def of(cls, e: Evidence) -> GrowingRules:
        whole = {"max_depth": 0, "min_samples_split": 2, "min_samples_leaf": 1, "max_leaf_nodes": 0}
        found: dict[str, Any] = {}
        for name, least in whole.items():
            if isinstance(e[name], bool) or int(e[name]) != e[name] or int(e[name]) < least:
                raise ValueError(f"{name} is an integer of at least {least}, not {e[name]}")
            found[name] = int(e[name])
        for name in ("min_weight_leaf", "min_impurity_decrease", "alpha"):
            found[name] = float(e[name])
            if not 0.0 <= found[name] < np.inf:
                raise ValueError(f"{name} is a finite number of at least 0, not {e[name]}")
        return cls(_CRITERIA[str(e["criterion"])], **found)

    @property
    def words(self) -> str:
        """The limits that were set."""
        unset = {"max_depth": _NO_DEPTH, "min_samples_split": max(2, 2 * self.min_samples_leaf), "min_samples_leaf": 1}
        limits = [f"{n} = {getattr(self, n)}" for n, usual in unset.items() if getattr(self, n) != usual]
        for name in ("max_leaf_nodes", "min_weight_leaf", "min_impurity_decrease"):
            if getattr(self, name):
                limits.append(f"{name} = {getattr(self, name):g}{' to 1e-09' if name == 'min_weight_leaf' else ''}")
        return ", ".join(limits)


@register
class TreeOptimality(Kind):
    """No other split gains more, node by node; no other pruning costs less."""

    name = "tree"
    theorem = "exhaustive comparison of the allowed splits; bottom-up recursion over prunings"
    needs: ClassVar = {
        "criterion": word(*_CRITERIA), "left": WHOLE, "right": WHOLE, "feature": WHOLE, "threshold": NUMBERS,
        "missing_left": FLAGS, "group": WHOLE, "sets": FLAGS, "value": FINITE, "asks": TRUTHS, "alpha": NUMBER,
        "max_depth": NUMBER, "min_samples_split": NUMBER, "min_samples_leaf": NUMBER, "max_leaf_nodes": NUMBER,
        "min_weight_leaf": NUMBER, "min_impurity_decrease": NUMBER, "categories": LISTS,
    }  # fmt: skip
    may: ClassVar = {"classes": LABELS, "class_weight": FINITE, "drawn": FLAGS, "validation": WHOLE,
                     "precision": word("single")}  # fmt: skip

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        tree, rules = GrownTree(evidence, data.X.shape[1]), GrowingRules.of(evidence)
        tq.check_match(tree.value.shape[1], tree.group[tree.inner], tree.feature[tree.inner], rules.criterion, evidence)
        table = _Table(data, evidence)
        walk = _Walk(tree, table, evidence, rules)
        with np.errstate(all="ignore"):  # a NaN or an infinity fails the comparisons below
            walk.run()
        checks = walk.checks()
        figures = {
            "questions": equal(int(tree.asks.sum())),
            "leaves": equal(int(tree.asks.sum()) + 1),
            "compared": equal(int(walk.compared)),
            "heuristic": equal(bool(walk.heuristic)),
            "shortfall": upper(walk.shortfall),
        }
        missing = int(np.isnan(table.X).sum())
        if missing:
            figures["missing"] = equal(missing)
        held = walk.node_cost[tree.final_leaves()]
        impurity = np.where(held.mid <= held.rad, 0.0, held.mid).sum() / walk.total  # what may be 0 counts as 0
        figures["impurity"] = about(float(impurity))
        known = bool(np.all(np.isfinite(held.upper)) and np.isfinite(impurity))
        checks.append(Check("the impurity is a finite number", known))
        if evidence.get("validation") is not None:
            loss, check = _validated(tree, table, evidence)
            checks.append(check)
            figures["validation_loss"] = about(loss)
        elif rules.alpha > 0:
            excess, share = _pruning_excess(tree, walk, rules.alpha)
            figures["pruning_shortfall"] = upper(excess)
            text = f"{excess:.1e} above the least"
            checks.append(Check("no other pruning costs less", share <= _ROUNDING, text))
        else:
            checks.append(Check("nothing was pruned", bool(np.array_equal(tree.asks, tree.inner))))
        return Proof(figures, tuple(checks))

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        rules = GrowingRules.of(evidence)
        size = f"{figures['questions']} split{'s' if figures['questions'] != 1 else ''}"
        within = f" within {rules.words}" if rules.words else ""
        drawn = " about the columns drawn for it" if evidence.get("drawn") is not None else ""
        text = f"A tree of {size}{within}: at each node no other allowed split{drawn} gains more by {rules.criterion}"
        text += f" ({figures['compared']} compared, to {_ROUNDING:.0e} of the node's impurity)"
        groups = [str(j) for j, c in enumerate(evidence["categories"]) if c is not None]
        text += tq.close_values(evidence)
        if groups:
            text += f", column{'s' if len(groups) > 1 else ''} {', '.join(groups)} by groups of categories"
            limited = rules.min_samples_leaf > 1 or rules.min_weight_leaf > 0
            if (
                limited and len(evidence.get("classes") or ()) <= 2
            ):  # the best of all groupings may be no cut in this order
                text += " that follow one another in the order of their means"
        if figures["heuristic"]:
            text += ", except for groupings of categories too many to compare"
        if evidence.get("class_weight") is not None:
            text += ", classes weighted"
        if "validation_loss" in figures:
            text += f"; no other pruning has fewer errors on the {len(evidence['validation'])} validation rows"
        elif "pruning_shortfall" in figures:
            text += f"; no other pruning costs less at alpha = {rules.alpha:.4g}"
        return text + "."


class GrownTree:
    """The grown tree and its pruning, read from the evidence."""

    def __init__(self, e: Evidence, columns: int) -> None:
        self.left, self.right, self.feature = (np.asarray(e[k]).astype(np.int64) for k in ("left", "right", "feature"))
        self.threshold = np.asarray(e["threshold"], dtype=float)
        self.missing_left = np.asarray(e["missing_left"]).astype(bool)
        self.group = np.asarray(e["group"]).astype(np.int64)
        self.sets = np.asarray(e["sets"]).astype(bool)
        self.value = np.asarray(e["value"], dtype=float)
        self.asks = np.asarray(e["asks"]).astype(bool)
        self.inner = self.left >= 0
        self.n = len(self.left)
        self._check_shapes(columns)
        self._check_tree()

    def _check_shapes(self, columns: int) -> None:
        """Every node has its entries; a leaf has no split, an inner node one on a column that exists."""
        lines = (self.left, self.right, self.feature, self.threshold, self.missing_left, self.group, self.asks)
        if self.n == 0 or any(v.shape != (self.n,) for v in lines) or self.sets.ndim != 2:
            raise ValueError("every node needs its own entries")
        if self.value.ndim != 2 or len(self.value) != self.n:
            raise ValueError("every node needs a value")
        leaf = ~self.inner
        blank = (self.left == -1) & (self.right == -1) & (self.feature == -2) & (self.threshold == -2.0)
        if not np.all((blank & (self.group == -1) & ~self.missing_left)[leaf]):
            raise ValueError("a leaf has no split")
        inside = (self.feature >= 0) & (self.feature < columns) & (self.group >= -1) & (self.group < len(self.sets))
        if not np.all(inside[self.inner]):
            raise ValueError("a split is on a column of the data, or a group of its categories")

    def _check_tree(self) -> None:
        """The nodes form one tree, children after their parents, and the pruned tree is its top."""
        inner = np.flatnonzero(self.inner)
        children = np.sort(np.concatenate([self.left[inner], self.right[inner]]))
        sound = bool(np.array_equal(children, np.arange(1, self.n)))
        if not sound or not np.all((self.left[inner] > inner) & (self.right[inner] > inner)):
            raise ValueError("the nodes do not form a tree")
        parent = np.zeros(self.n, dtype=np.int64)
        parent[self.left[inner]] = parent[self.right[inner]] = inner
        asking = np.flatnonzero(self.asks)
        if np.any(self.asks & ~self.inner) or not np.all(self.asks[parent[asking]] | (asking == 0)):
            raise ValueError("the pruned tree is not the top of the grown one")

    def goes_left(self, node: Array, X: Array, rows: Array) -> Array:
        """Which of these rows of X (each at its own node) answer yes."""
        v = X[rows, self.feature[node]]
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

    def __init__(self, data: Data, e: Evidence) -> None:
        self.X = tq.finite_or_missing(_coded(data.X, e["categories"]))
        y = np.asarray(data.y)
        self.codes: Array | None = None
        self.y: Array | None = None
        weight = data.weights.astype(float)
        if e.get("classes") is not None:
            place = tq.places_of(e["classes"])
            self.codes = tq.by_value(y, lambda v: place[tq.label_key(v)])
            if e.get("class_weight") is not None:
                factor = np.asarray(e["class_weight"], dtype=float)
                if factor.shape != (len(place),) or not np.all((factor >= 0) & np.isfinite(factor)):
                    raise ValueError("class weights are finite and not negative, one per class")
                weight = weight * factor[self.codes]
        else:
            self.y = data.real_targets().reshape(y.shape)
        self.weight = weight
        use = weight > 0
        held = np.zeros(len(weight), dtype=bool)
        if e.get("validation") is not None:
            rows = np.asarray(e["validation"])
            if rows.ndim != 1 or len(np.unique(rows)) != len(rows) or not np.all(np.isin(rows, np.arange(len(weight)))):
                raise ValueError("validation rows are rows of the data, each once")
            held[rows.astype(np.int64)] = True
        self.growing, self.held = np.flatnonzero(use & ~held), np.flatnonzero(use & held)


def _coded(X: Matrix, categories: Any) -> Array:
    """X as floats, categories by their place in the list; NaN is missing."""
    if len(categories) != X.shape[1]:
        raise ValueError("the evidence has another number of columns than the data")
    if X.dtype != object and all(c is None for c in categories):
        return np.asarray(X, dtype=float)
    out = np.empty(X.shape)
    for j, known in enumerate(categories):
        if known is None:
            out[:, j] = [np.nan if _is_missing(v) else float(v) for v in X[:, j]]
        else:
            place = tq.places_of(known)  # a value that is not listed would be hidden: KeyError
            out[:, j] = [np.nan if _is_missing(v) else place[tq.label_key(v)] for v in X[:, j]]
    return out


def _is_missing(v: object) -> bool:
    return v is None or type(v).__name__ in ("NAType", "NaTType") or (isinstance(v, float) and v != v)


class _Walk:
    """The rows on their way down: splits compared, costs and values of each node."""

    def __init__(self, tree: GrownTree, table: _Table, e: Evidence, rules: GrowingRules) -> None:
        self.tree, self.e, self.rules = tree, e, rules
        rows = table.growing
        self.X, self.weight = table.X[rows], table.weight[rows]
        self.codes = None if table.codes is None else table.codes[rows]
        self.y = None if table.y is None else table.y[rows]
        self.criterion = rules.criterion
        self.k = 0 if table.codes is None else len(e["classes"])
        self.total = float(self.weight.sum())
        single = e.get("precision") == "single"
        numeric = [j for j, c in enumerate(e["categories"]) if c is None]
        self.columns = {j: tq.Column.of(np.ascontiguousarray(self.X[:, j]), single) for j in numeric}
        self.shortfall, self.compared, self.heuristic = 0.0, 0, False
        self.relative_shortfall = 0.0  # of the impurity of the node
        self.drawn = tq.drawn_columns(e, tree.inner, tree.feature, self.X.shape[1])
        self.bad_value = self.bad_gain = -1
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
            go = self.tree.inner[at[rows]]
            left = np.zeros(len(rows), dtype=bool)
            left[go] = self.tree.goes_left(at[rows[go]], self.X, rows[go])
            self._level(level, rows, place[at[rows]], depth, left)
            rows, left = rows[go], left[go]
            at[rows] = np.where(left, self.tree.left[at[rows]], self.tree.right[at[rows]])
            side = np.full(len(at), 2, dtype=np.int8)
            side[rows] = ~left
            self.columns = {j: column.divided(side) for j, column in self.columns.items()}
            level = level[self.tree.inner[level]]
            level = np.concatenate([self.tree.left[level], self.tree.right[level]])
            depth += 1
        self._best_first()

    def _level(self, level: Array, rows: Array, node: Array, depth: int, goes: Array) -> None:
        """The nodes of one level: ``node`` and ``goes`` say where each row is, and whether it goes left from there."""
        m, t, rules = len(level), self.tree, self.rules
        weight, w = self.weight[rows], np.bincount(node, self.weight[rows], minlength=m)
        count = np.bincount(node, minlength=m)
        z = centre = None
        if self.y is not None:
            centre = np.bincount(node, weight * self.y[rows], minlength=m) / np.maximum(w, 1e-300)
            z = self.y[rows] - centre[node]
        codes = None if self.codes is None else self.codes[rows]
        r = tq.LevelRows(node, m, weight, codes, z, self.k, self.criterion,
                    self.rules.min_samples_leaf, self.rules.min_weight_leaf, _ROUNDING)  # fmt: skip
        s = tq.fixed_point(r)
        totals = s.by_node(node, s.columns, m)
        self._hold(level, rows, r, s, totals, count, centre)
        pure = self._pure(node, rows, m)
        open_ = ~pure & (depth < rules.max_depth) & (count >= rules.min_samples_split)
        open_ &= w * (1 + gamma(len(rows) + 1)) >= 2 * (1 - _ROUNDING) * r.min_weight
        best = self._compare(level, rows, r, s, totals, open_)
        self.room[level] = open_ & ((best.compared > 0) | t.inner[level])
        before = self.node_cost[level]
        if self.criterion == "squared_error":  # costs of splits leave out what no split changes: so does this one
            whole = s.ball(totals, count, np.arange(m))
            before = -(whole[:, 1].square() / whole[:, 0])
        high = tq.per_weight(before.upper - best.low, self.total)
        self.gain_high[level] = np.where(self.room[level], high, -np.inf)
        self.compared += int(best.compared.sum())
        asking = np.flatnonzero(t.inner[level])
        if not len(asking):
            return
        own = self._own_cost(level, rows, r, s, totals, count, goes)
        self._fall_short(tq.per_weight(own.upper[asking] - best.low[asking], self.total), level[asking])
        gain = (before - own) / self.total
        self.gain_low[level[asking]] = gain.lower[asking]
        self.gain_high[level[asking]] = np.maximum(self.gain_high[level[asking]], gain.upper[asking])

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

    def _pure(self, node: Array, rows: Array, m: int) -> Array:
        if self.codes is not None:
            seen = np.bincount(node * self.k + self.codes[rows], minlength=m * self.k).reshape(m, self.k) > 0
            return np.asarray(seen.sum(axis=1) <= 1)
        v = self.y[rows]  # type: ignore[index]
        low, high = np.full(m, np.inf), np.full(m, -np.inf)
        np.minimum.at(low, node, v)
        np.maximum.at(high, node, v)
        return low >= high

    def _compare(self, level: Array, rows: Array, r: Any, s: Any, totals: Array, open_: Array) -> tq.Best:
        best = tq.Best(len(level))
        if not open_.any():
            return best
        line = tq.Line(r, s, totals, rows, len(self.X))
        where = line.places(open_)
        for j in range(self.X.shape[1]):
            allowed = open_ if self.drawn is None else open_ & self.drawn[level, j]
            if not allowed.any():
                continue
            if j not in self.columns:
                codes = np.where(np.isnan(self.X[rows, j]), np.inf, self.X[rows, j])
                self.heuristic |= tq.compare_groups(r, s, totals, codes, allowed, best)
            elif self.criterion == "absolute_error":
                assert self.y is not None
                tq.compare_absolute(r, self.y, rows, self.columns[j], allowed, best)
            else:
                line.compare(self.columns[j], where if self.drawn is None else line.places(allowed), best)
        return best

    def _own_cost(self, level: Array, rows: Array, r: Any, s: Any, totals: Array, count: Array, goes: Array) -> Ball:
        """The cost of the split of each inner node (others: of a harmless stand-in)."""
        t = self.tree
        if self.criterion == "absolute_error":
            return self._own_absolute(level, rows, r, goes)
        left = s.by_node(r.node[goes], s.columns[goes], r.count)
        many = np.bincount(r.node[goes], minlength=r.count)
        bad = t.inner[level] & ((many < r.min_rows) | (count - many < r.min_rows))
        if bad.any():
            self.bad_gain = int(level[np.flatnonzero(bad)[0]])
        a, b = s.ball(left, many, np.arange(r.count)), s.ball(totals - left, count - many, np.arange(r.count))
        self._weigh(level, r, np.minimum(*(tq.mass(side, r).lower for side in (a, b))))
        return tq.cost(a, b, self.criterion)

    def _weigh(self, level: Array, r: Any, lighter: Array) -> None:
        """The lighter side of every split may fall short of the limit by no more than its sum may have been rounded."""
        bad = self.tree.inner[level] & ~(lighter >= (1 - r.spare) * r.min_weight)
        if r.min_weight > 0 and bad.any():
            self.bad_gain = int(level[np.flatnonzero(bad)[0]])

    def _own_absolute(self, level: Array, rows: Array, r: Any, goes: Array) -> Ball:
        assert self.y is not None
        low, high, lighter = np.zeros(r.count), np.zeros(r.count), np.full(r.count, np.inf)
        for v in np.flatnonzero(self.tree.inner[level]):
            for side in (True, False):
                part = rows[(r.node == v) & (goes == side)]
                if len(part) < r.min_rows:
                    self.bad_gain = int(level[v])
                below, above = tq.absolute_costs(self.y[part], self.weight[part])
                low[v], high[v] = low[v] + below[-1], high[v] + above[-1]
                lighter[v] = min(lighter[v], float(self.weight[part].sum()) * (1 - gamma(len(part))))
        self._weigh(level, r, lighter)
        return Ball.between(low * (1 - 4 * UNIT), high * (1 + 4 * UNIT))

    def _hold(self, level: Array, rows: Array, r: Any, s: Any, totals: Array, count: Array, centre: Any) -> None:
        """Cost of each node as a leaf, and whether it predicts what its rows say."""
        at = np.arange(r.count)
        whole = s.ball(totals, count, at)
        value = self.tree.value[level]
        if self.codes is not None:
            held = tq.side_cost(whole, self.criterion)
            total = whole.sum(axis=1).reshape(-1, 1)
            off = np.abs(value * total.mid - whole.mid) - (whole.rad + np.abs(value) * total.rad)
            wrong = ~np.all(off <= 1e-9 * np.abs(whole.mid), axis=1)
        elif self.criterion == "squared_error":
            q = r.weight * np.asarray(r.z) ** 2
            square = np.bincount(r.node, q, minlength=r.count)
            held = Ball(square, square * gamma(len(rows) + 8)) - whole[:, 1].square() / whole[:, 0]
            mean = centre + whole.mid[:, 1] / whole.mid[:, 0]
            size = np.zeros(r.count)
            np.maximum.at(size, r.node, np.abs(np.asarray(self.y)[rows]))
            # Squares that underflow leave a spread of 1e-162: no more than that of the largest number is meant.
            spread = np.minimum(np.sqrt(np.maximum(held.upper, 0.0) / whole.mid[:, 0]), size)
            wrong = ~(np.abs(value[:, 0] - mean) <= 1e-9 * spread + 256 * UNIT * size)
        else:
            low, high, wrong = np.zeros(r.count), np.zeros(r.count), np.zeros(r.count, dtype=bool)
            for v in at:
                part = rows[r.node == v]
                assert self.y is not None
                below, above = tq.absolute_costs(self.y[part], self.weight[part])
                low[v], high[v] = below[-1], above[-1]
                said = float((self.weight[part] * np.abs(self.y[part] - value[v, 0])).sum())
                wrong[v] = not tq.as_low_as(said, high[v])
            held = Ball.between(low, high)
        self.node_cost.mid[level], self.node_cost.rad[level] = held.mid, held.rad
        if wrong.any():
            self.bad_value = int(level[np.flatnonzero(wrong)[0]])

    def _best_first(self) -> None:
        """With a limit on leaves: each node divided gained at least what any leaf then open offered."""
        if self.rules.max_leaf_nodes:
            for node, rivals in tq.in_order(self.tree.left, self.tree.right, self.room):
                short = float(self.gain_high[rivals].max() - self.gain_low[node])
                self._fall_short(np.array([short]), np.array([node]))

    def checks(self) -> list[Check]:
        t, least, limit = self.tree, self.rules.min_impurity_decrease, self.rules.max_leaf_nodes
        full = bool(limit) and int((~t.inner).sum()) >= limit
        rounding = _ROUNDING * (self._share(np.arange(t.n)) + least)
        compared = (self.gain_high > -np.inf) | (least > 0)
        little = compared & (self.gain_high <= least + rounding)
        idle = ~t.inner & self.room & (not full) & ~little
        stray = t.inner & (~self.room | ~(self.gain_low + rounding >= least))
        too_many = bool(limit) and int((~t.inner).sum()) > limit
        short = self.relative_shortfall <= _ROUNDING
        return [
            Check("no other allowed split gains more", short, f"at most {self.relative_shortfall:.1e} of a node's"),
            Check("every split keeps the limits on its sides", self.bad_gain < 0, f"node {self.bad_gain}"),
            Check("every split was allowed by the limits", not stray.any() and not too_many, first_node(stray)),
            Check("every leaf had a reason to stop", not idle.any(), first_node(idle)),
            Check("every node predicts what its rows imply", self.bad_value < 0, f"node {self.bad_value}"),
        ]


def first_node(mask: Array) -> str:
    return f"node {int(np.flatnonzero(mask)[0])}" if mask.any() else ""


def least_costs_below(tree: GrownTree, as_leaf_low: Array, as_leaf_high: Array, alpha: float) -> tuple[Array, Array]:
    """At each node, the least cost of any pruning below it (from below) and the cost of the kept one (from above)."""
    best, kept = as_leaf_low + alpha, as_leaf_high + alpha
    for t in range(tree.n - 1, -1, -1):
        if tree.inner[t]:
            a, b = tree.left[t], tree.right[t]
            best[t] = min(best[t], best[a] + best[b])
            if tree.asks[t]:
                kept[t] = kept[a] + kept[b]
    room = gamma(tree.n + 4)
    return best * (1 - room), kept * (1 + room)


def _excess(tree: GrownTree, best: Array, kept: Array) -> tuple[float, float]:
    """How far the kept pruning is above the least: in all, and as a fraction of the cost of some part of it."""
    asked = np.append(np.flatnonzero(tree.asks), 0)
    parts = np.unique(np.concatenate([asked, tree.left[asked[:-1]], tree.right[asked[:-1]]]))
    above = np.maximum(kept[parts] - best[parts], 0.0)
    share = np.max(np.where(above > 0, above / np.maximum(kept[parts], 1e-300), 0.0))
    return float(max(kept[0] - best[0], 0.0)), float(share)


def _pruning_excess(tree: GrownTree, walk: _Walk, alpha: float) -> tuple[float, float]:
    low = np.maximum(walk.node_cost.lower, 0.0) / walk.total * (1 - 4 * UNIT)
    high = np.maximum(walk.node_cost.upper, 0.0) / walk.total * (1 + 4 * UNIT)
    return _excess(tree, *least_costs_below(tree, low, high, alpha))


def _validated(tree: GrownTree, table: _Table, e: Evidence) -> tuple[float, Check]:
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
        go = tree.goes_left(at[active], X, active)
        at[active] = np.where(go, tree.left[at[active]], tree.right[at[active]])
    room = gamma(len(rows) + 8)
    least, kept = least_costs_below(tree, loss * (1 - room), loss * (1 + room), 0.0)
    mean = float(kept[0]) / float(w.sum())
    ok = _excess(tree, least, kept)[1] <= _ROUNDING
    return mean, Check("no other pruning has fewer errors on the validation rows", ok, f"loss {mean:.6g}")
