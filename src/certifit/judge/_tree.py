"""Judging trees that were grown elsewhere or by hand: is every question the best one at its node?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np

from certifit._types import Array, MatrixLike, Record, VectorLike, Weights
from certifit.certificates import Certificate, Data, issue

_NO_LIMIT = 2**31 - 1


def certify_tree(
    tree: Any,
    X: MatrixLike,
    y: VectorLike,
    criterion: str | None = None,
    *,
    max_depth: int | None = None,
    min_samples_split: int | None = None,
    min_samples_leaf: int | None = None,
    sample_weight: Weights = None,
) -> Certificate:
    """Is every question of this tree the best one at its node, and does every leaf answer as its rows do?

    Parameters
    ----------
    tree : mapping or fitted tree
        A tree written down by hand: a leaf is its answer, a question is
        ``{"feature": 0, "threshold": 1.5, "left": ..., "right": ...}`` with rows x ≤ threshold on the left. Or a fitted
        decision tree of scikit-learn, whose ``tree_`` and rules of growing are read.
    X : array-like of shape (n, d)
    y : array-like of shape (n,)
    criterion : {"gini", "entropy", "squared_error"}, default=None
        None is what a fitted tree was grown by, and "gini" for one that was written down.
    max_depth : int ≥ 0, default=None
    min_samples_split : int ≥ 2, default=None
    min_samples_leaf : int ≥ 1, default=None
        The rules of growing: a leaf that they do not stop should have asked a question. None is the rule of a fitted
        tree, and no limit for one that was written down.
    sample_weight : array-like of shape (n,), default=None

    Returns
    -------
    Certificate
        ``shortfall`` is the most that another question could gain; ``holds`` is False, with the reason, when one does.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> certify_tree({"feature": 0, "threshold": 1.5, "left": 0, "right": 1}, X, y).holds
    True
    >>> certify_tree({"feature": 0, "threshold": 0.5, "left": 0, "right": 1}, X, y, max_depth=1).holds
    False
    """
    data = Data.of(X, y, sample_weight)
    rules = _rules(tree, data)
    given = {"criterion": criterion, "max_depth": max_depth, "min_samples_split": min_samples_split}
    given["min_samples_leaf"] = min_samples_leaf
    rules |= {name: value for name, value in given.items() if value is not None}
    rules["min_samples_split"] = max(rules["min_samples_split"], 2 * rules["min_samples_leaf"])
    nodes = _Nodes(tree, np.asarray(data.X, dtype=float), np.asarray(data.y), np.asarray(data.weights),
                   rules["criterion"])  # fmt: skip
    count, inner = len(nodes.feature), np.array(nodes.feature) >= 0
    evidence = {
        **rules,
        "left": np.array(nodes.left), "right": np.array(nodes.right),
        "feature": np.where(inner, nodes.feature, -2), "threshold": np.array(nodes.threshold),
        "missing_left": np.zeros(count, dtype=bool), "group": np.full(count, -1), "sets": np.zeros((1, 1), dtype=bool),
        "value": np.array(nodes.value), "asks": inner, "alpha": 0.0, "drawn": None,
        "classes": None if nodes.classes is None else nodes.classes.tolist(),
        "class_weight": None, "categories": [None] * data.X.shape[1], "validation": None,
    }  # fmt: skip
    return issue("tree", data, evidence)


def _rules(tree: Any, data: Data) -> Record:
    """How the tree was grown: what a fitted one says, else as far as it goes."""
    told = tree.get_params() if hasattr(tree, "tree_") and hasattr(tree, "get_params") else {}
    n, d = data.X.shape
    features = getattr(tree, "max_features_", d)
    odd = {
        "splitter": told.get("splitter", "best") != "best",
        "max_features": features is not None and features < d,
        "ccp_alpha": told.get("ccp_alpha", 0.0) > 0,
        "class_weight": told.get("class_weight") is not None,
    }
    if any(odd.values()):
        names = ", ".join(name for name, is_odd in odd.items() if is_odd)
        raise ValueError(f"certify_tree cannot judge a tree grown with {names}: certifit's own trees carry that proof.")

    def count(value: Any, least: int) -> int:
        return int(value) if isinstance(value, Integral) else max(least, math.ceil(value * n))

    depth = told.get("max_depth")
    criterion = told.get("criterion", "gini")
    return {
        "criterion": "squared_error" if criterion == "friedman_mse" else criterion,
        "max_depth": _NO_LIMIT if depth is None else int(depth),
        "min_samples_split": count(told.get("min_samples_split", 2), 2),
        "min_samples_leaf": count(told.get("min_samples_leaf", 1), 1),
        "min_weight_leaf": float(told.get("min_weight_fraction_leaf", 0.0)) * float(np.sum(data.weights)),
        "min_impurity_decrease": float(told.get("min_impurity_decrease", 0.0)),
        "max_leaf_nodes": int(told.get("max_leaf_nodes") or 0),
    }


class _Nodes:
    """The nodes of a tree in depth-first order, with what its rows say at each."""

    def __init__(self, tree: Any, X: Array, y: Array, weights: Array, criterion: str) -> None:
        if X.ndim != 2 or not np.all(np.isfinite(X)):
            raise ValueError("X must be a table of finite numbers with two dimensions.")
        self.X, self.y, self.weights, self.criterion = X, y, weights, criterion
        self.classes = None if criterion in ("squared_error", "absolute_error") else np.unique(y)
        self.left: list[int] = []
        self.right: list[int] = []
        self.feature: list[int] = []
        self.threshold: list[float] = []
        self.value: list[Array] = []
        if hasattr(tree, "tree_"):
            self._names = np.asarray(getattr(tree, "classes_", []))
            self._fitted(tree.tree_, 0, np.arange(len(y)))
        else:
            self._written(tree, np.arange(len(y)))

    def _add(self, rows: Array) -> int:
        self.left.append(-1)
        self.right.append(-1)
        self.feature.append(-2)
        self.threshold.append(-2.0)
        self.value.append(self._answer(rows))
        return len(self.left) - 1

    def _answer(self, rows: Array) -> Array:
        s = self.weights[rows]
        if not s.sum() > 0:
            raise ValueError("A node of this tree holds no rows: its question separates nothing.")
        if self.classes is None:
            return np.array([float(np.average(self.y[rows].astype(float), weights=s))])
        return np.array([float(s[self.y[rows] == c].sum()) for c in self.classes]) / float(s.sum())

    def _ask(self, node: int, feature: int, threshold: float, rows: Array) -> tuple[Array, Array]:
        if not 0 <= feature < self.X.shape[1] or not np.isfinite(threshold):
            raise ValueError(f"X has no column {feature}, or the threshold {threshold} is no number.")
        self.feature[node], self.threshold[node] = feature, threshold
        goes = self.X[rows, feature] <= threshold
        return rows[goes], rows[~goes]

    def _written(self, tree: Any, rows: Array) -> int:
        node = self._add(rows)
        if isinstance(tree, Mapping) and "feature" in tree:
            sides = self._ask(node, int(tree["feature"]), float(tree["threshold"]), rows)
            self.left[node], self.right[node] = (self._written(tree[k], r) for k, r in zip(("left", "right"), sides))
        else:
            self._leaf(node, tree["value"] if isinstance(tree, Mapping) else tree)
        return node

    def _leaf(self, node: int, answer: Any) -> None:
        """A leaf that answers otherwise than its rows keeps its own answer, which no proof then accepts."""
        if self.classes is None:
            if not np.isclose(float(answer), self.value[node][0], rtol=1e-6, atol=1e-9):
                self.value[node] = np.array([float(answer)])
            return
        where = np.flatnonzero(self.classes == answer)
        if not len(where):
            raise ValueError(f"A leaf answers {answer!r}, which is no label of y.")
        if self.value[node][where[0]] < self.value[node].max():
            self.value[node] = np.eye(len(self.classes))[where[0]]

    def _fitted(self, tree: Any, at: int, rows: Array) -> int:
        node = self._add(rows)
        told = np.asarray(tree.value[at], dtype=float)[0]
        if self.classes is not None:
            told = np.array([told[self._names == c].sum() for c in self.classes]) / told.sum()
        # Medians may be any number between two rows; means and shares are the tree's own up to its rounding.
        if self.criterion == "absolute_error" or not np.allclose(told, self.value[node], rtol=1e-6, atol=1e-9):
            self.value[node] = told
        if tree.children_left[at] >= 0:
            # scikit-learn compares in single precision
            wide, self.X = self.X, self.X.astype(np.float32).astype(float)
            sides = self._ask(node, int(tree.feature[at]), float(tree.threshold[at]), rows)
            self.X = wide
            children = (tree.children_left[at], tree.children_right[at])
            self.left[node], self.right[node] = (self._fitted(tree, c, r) for c, r in zip(children, sides))
        return node
