"""Why is a question of a tree not the best one, or a leaf not what its rows say? Other criteria, limits and answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from certifit._types import Array
from certifit.certificates import Certificate, Data, issue
from certifit.judge._findings import Diagnosis, Finding, Record, dense_rows

_OTHERS = {
    "gini": ("entropy",),
    "entropy": ("gini",),
    "log_loss": ("gini",),
    "squared_error": ("absolute_error",),
    "absolute_error": ("squared_error",),
}
_SMALL = 200_000  # rows × columns up to which questions are compared by formulas that no tree is grown by
_NO_LIMIT = {"max_depth": 2**31 - 1, "min_samples_split": 2, "min_samples_leaf": 1, "min_weight_leaf": 0.0,
             "min_impurity_decrease": 0.0, "max_leaf_nodes": 0}  # fmt: skip

Impurity = Callable[[Array, Array], float]
"""Of the targets of some rows and their weights."""


def diagnose_tree(c: Certificate, data: Data) -> Diagnosis:
    """Criteria, limits, answers of leaves, and the side on which a row at the threshold belongs."""
    if c.holds:
        return Diagnosis(c, True)
    if c.kind != "tree" or any(k is not None for k in c.evidence["categories"]) or data.X.dtype == object:
        return Diagnosis(c, False)
    nodes = _Nodes(c.evidence, data)
    found: list[Finding] = []
    for name, asks, change in _changes(c, nodes):
        other = issue("tree", data, {**c.evidence, **change})
        if other.holds:
            found.append(Finding(name, asks, other))
    return Diagnosis(c, False, found or _by_formula(c, nodes))


def _changes(c: Certificate, nodes: _Nodes) -> list[tuple[str, str, Record]]:
    e = c.evidence
    answers = {"value": nodes.answers()}
    only_asked = np.repeat(nodes.inner[:, None], nodes.X.shape[1], axis=1)
    changes: list[tuple[str, str, Record]] = [
        ("other criterion", f"Every split is the best one by {name.replace('_', ' ')}: which criterion did you use?",
         {"criterion": name, **({} if name in ("gini", "entropy") else answers)})
        for name in _OTHERS.get(str(e["criterion"]), ())
    ]  # fmt: skip
    changes += [
        ("prediction of a leaf", "Every split is the best one, but a leaf predicts something else than its rows.",
         answers),
        ("stopped too early", "Every split is the best one, but a leaf could still be split.", {"drawn": only_asked}),
        ("grown too far", "Every split is the best one, but the limits allow fewer: did you stop too late?",
         {k: v for k, v in _NO_LIMIT.items() if e.get(k) is not None} | {"drawn": only_asked}),
    ]  # fmt: skip
    if e.get("classes") is not None and len(e["classes"]) == 2:
        changes.append(("labels swapped", "The tree is right with the two labels exchanged.",
                        {"value": np.asarray(e["value"])[:, ::-1]}))  # fmt: skip
    below = np.where(nodes.inner, np.nextafter(nodes.threshold, -np.inf), nodes.threshold)
    moved = _Nodes({**e, "threshold": below}, Data.of(nodes.X, nodes.y, nodes.weights))
    if moved.sound:
        changes.append(("rows at the threshold", "Rows at a threshold belong to the left: x ≤ threshold.",
                        {"threshold": below, "value": moved.answers()}))  # fmt: skip
    return changes


class _Nodes:
    """The rows of every node of a tree without categories."""

    def __init__(self, e: Record, data: Data) -> None:
        self.X = dense_rows(data)
        self.y, self.weights = np.asarray(data.y), np.asarray(data.weights, dtype=float)
        self.left, self.right, self.feature = (np.asarray(e[k], dtype=int) for k in ("left", "right", "feature"))
        self.threshold, self.value = np.asarray(e["threshold"], dtype=float), np.asarray(e["value"], dtype=float)
        self.inner = self.left >= 0
        self.classes = None if e.get("classes") is None else np.asarray(e["classes"])
        if self.classes is not None and e.get("class_weight") is not None:
            factor = dict(zip(self.classes.tolist(), np.asarray(e["class_weight"], dtype=float)))
            self.weights = self.weights * np.array([factor[v] for v in self.y.tolist()])
        self.rows: dict[int, Array] = {}
        self._fill(np.flatnonzero(self.weights > 0))

    def _fill(self, every: Array) -> None:
        stack = [(0, every)]
        while stack:
            node, rows = stack.pop()
            self.rows[node] = rows
            if self.inner[node]:
                goes = self.X[rows, self.feature[node]] <= self.threshold[node]
                stack += [(int(self.left[node]), rows[goes]), (int(self.right[node]), rows[~goes])]

    @property
    def sound(self) -> bool:
        """Whether every node has rows."""
        return all(len(rows) for rows in self.rows.values())

    def answers(self) -> Array:
        """What the rows of every node say: shares of the classes, or the mean."""
        out = self.value.copy()
        for node, rows in self.rows.items():
            if len(rows):
                w = self.weights[rows]
                out[node] = (
                    np.average(self.y[rows].astype(float), weights=w) if self.classes is None
                    else [float(w[self.y[rows] == k].sum()) / float(w.sum()) for k in self.classes]
                )  # fmt: skip
        return out


def _of_shares(formula: Callable[[Array], Any]) -> Impurity:
    """An impurity by the shares of the classes."""
    return lambda y, w: float(formula(np.array([w[y == k].sum() for k in np.unique(y)]) / w.sum()))


_gini = _of_shares(lambda p: 1 - p @ p)
_entropy = _of_shares(lambda p: -(p[p > 0] @ np.log(p[p > 0])))
_errors = _of_shares(lambda p: 1 - p.max())


def _variance(y: Array, w: Array) -> float:
    z = y.astype(float)
    return float(np.average((z - np.average(z, weights=w)) ** 2, weights=w))


def _by_formula(c: Certificate, nodes: _Nodes) -> list[Finding]:
    """Questions that are the best ones by a wrong formula, compared one by one."""
    if nodes.X.size * max(1, int(nodes.inner.sum())) > _SMALL or not nodes.sound:
        return []
    own: Impurity = {"gini": _gini, "entropy": _entropy, "log_loss": _entropy}.get(
        str(c.evidence["criterion"]), _variance
    )

    def weighted(impurity: Impurity, a: tuple[Array, Array], b: tuple[Array, Array]) -> float:
        return float(a[1].sum() * impurity(*a) + b[1].sum() * impurity(*b))

    formulas: list[tuple[str, str, Callable[[tuple[Array, Array], tuple[Array, Array]], float]]] = [
        ("sides not weighted", "Every split is the best one when both sides count equally: weight each side's "
         "impurity by its share of the rows.", lambda a, b: own(*a) + own(*b)),
        ("purest side only", "Every split makes one side as pure as possible: both sides count, by their share of "
         "the rows.", lambda a, b: min(own(*a), own(*b))),
        ("worst split", "Every split is the worst one: take the largest gain, that is the smallest impurity "
         "left.", lambda a, b: -weighted(own, a, b)),
    ]  # fmt: skip
    if nodes.classes is not None:
        formulas.append(("errors for impurity", "Every question makes the fewest errors: which criterion was asked "
                         "for?", lambda a, b: weighted(_errors, a, b)))  # fmt: skip
    return [Finding(name, asks, c) for name, asks, cost in formulas if _best_by(cost, nodes)][:2]


def _best_by(cost: Callable[[tuple[Array, Array], tuple[Array, Array]], float], nodes: _Nodes) -> bool:
    """Whether no other threshold of any column costs less, at every node that asks."""
    asked = np.flatnonzero(nodes.inner)
    for node in asked:
        rows = nodes.rows[int(node)]
        y, w = nodes.y[rows], nodes.weights[rows]

        def of(goes: Array, y: Array = y, w: Array = w) -> float:
            return cost((y[goes], w[goes]), (y[~goes], w[~goes]))

        chosen = of(nodes.X[rows, nodes.feature[node]] <= nodes.threshold[node])
        for j in range(nodes.X.shape[1]):
            for t in np.unique(nodes.X[rows, j])[:-1]:
                if of(nodes.X[rows, j] <= t) < chosen - 1e-12:
                    return False
    return len(asked) > 0
