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
from certifit.certificates._ball import UNIT, gamma
from certifit.certificates._data import Data, Evidence, Figures, Rigor
from certifit.certificates._record import Check, Kind, Proof, about, equal, register, upper
from certifit.certificates._schema import FINITE, FLAGS, LABELS, LISTS, NUMBER, NUMBERS, TRUTHS, WHOLE, word
from certifit.certificates.tree_walk import ROUNDING, Walk

_CRITERIA = {"gini": "gini", "entropy": "entropy", "log_loss": "entropy", "squared_error": "squared_error",
             "absolute_error": "absolute_error"}  # fmt: skip
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
        table = Table(data, evidence)
        walk = Walk(tree, table, evidence, rules)
        with np.errstate(all="ignore"):  # a NaN or an infinity fails the comparisons below
            walk.run()
        checks = walk.checks()
        figures = {
            "questions": equal(int(tree.asks.sum())),
            "leaves": equal(int(tree.asks.sum()) + 1),
            "compared": equal(int(walk.best.compared.sum())),
            "heuristic": equal(bool(walk.heuristic)),
            "shortfall": upper(walk.shortfall),
        }
        if table.missing:
            figures["missing"] = equal(table.missing)
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
            checks.append(Check("no other pruning costs less", share <= ROUNDING, text))
        else:
            checks.append(Check("nothing was pruned", bool(np.array_equal(tree.asks, tree.inner))))
        return Proof(figures, tuple(checks))

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        rules = GrowingRules.of(evidence)
        size = f"{figures['questions']} split{'s' if figures['questions'] != 1 else ''}"
        within = f" within {rules.words}" if rules.words else ""
        drawn = " about the columns drawn for it" if evidence.get("drawn") is not None else ""
        text = f"A tree of {size}{within}: at each node no other allowed split{drawn} gains more by {rules.criterion}"
        text += f" ({figures['compared']} compared, to {ROUNDING:.0e} of the node's impurity)"
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
        v = X.ravel().take(rows * X.shape[1] + self.feature.take(node))
        lost = np.isnan(v)
        out = v <= self.threshold.take(node)
        if np.any(self.group >= 0):
            grouped = self.group[node] >= 0
            code = np.where(lost | ~grouped, 0, v).astype(np.int64)
            out = np.where(grouped, self.sets[np.maximum(self.group[node], 0), code], out)
        return np.where(lost, self.missing_left[node], out) if lost.any() else out

    def final_leaves(self) -> Array:
        """The nodes that predict after pruning."""
        reached, level = [], np.array([0])
        while len(level):
            reached.append(level[~self.asks[level]])
            level = level[self.asks[level]]
            level = np.concatenate([self.left[level], self.right[level]])
        return np.concatenate(reached)


class Table:
    """The data as numbers: coded X, class codes or values, weights; growing rows and validation rows."""

    def __init__(self, data: Data, e: Evidence) -> None:
        self.X, self.missing = tq.finite_or_missing(_coded(data.X, e["categories"]))
        y = np.asarray(data.y)
        self.codes: Array | None = None
        self.y: Array | None = None
        weight = data.weights.astype(float)
        if e.get("classes") is not None:
            place = tq.places_of(e["classes"])
            self.codes = tq.codes_of(y, e["classes"], place)
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


def _pruning_excess(tree: GrownTree, walk: Walk, alpha: float) -> tuple[float, float]:
    low = np.maximum(walk.node_cost.lower, 0.0) / walk.total * (1 - 4 * UNIT)
    high = np.maximum(walk.node_cost.upper, 0.0) / walk.total * (1 + 4 * UNIT)
    return _excess(tree, *least_costs_below(tree, low, high, alpha))


def _validated(tree: GrownTree, table: Table, e: Evidence) -> tuple[float, Check]:
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
    ok = _excess(tree, least, kept)[1] <= ROUNDING
    return mean, Check("no other pruning has fewer errors on the validation rows", ok, f"loss {mean:.6g}")
