"""Judging trees that were grown elsewhere or by hand: is every split the best one at its node?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.class_weight import compute_class_weight

from certifit._types import Array, BaseEstimator, MatrixLike, Record, VectorLike, Weights
from certifit.certificates import Certificate, Data, issue

_NO_LIMIT = 2**31 - 1


def certify_tree(
    tree: BaseEstimator,
    X: MatrixLike,
    y: VectorLike,
    criterion: str | None = None,
    *,
    max_depth: int | None = None,
    min_samples_split: int | None = None,
    min_samples_leaf: int | None = None,
    sample_weight: Weights = None,
) -> Certificate:
    """Is every split of this tree the best one at its node, and does every leaf predict what its rows imply?

    Parameters
    ----------
    tree : mapping or fitted tree
        A tree written down by hand: a leaf is its prediction, a split is
        ``{"feature": 0, "threshold": 1.5, "left": ..., "right": ...}`` with rows x ≤ threshold on the left. Or a
        fitted decision tree of scikit-learn. If it considers a random subset of the columns (``max_features``), the
        claim is that no other threshold of the chosen column is better; for random thresholds, only that every node
        respects the limits and predicts what its rows imply. A pruned tree is grown again to prove that no other
        pruning costs less. scikit-learn does not split between values that differ by at most 1e-7 in single precision;
        if a better split would do that, the claim excludes it and says so.
    X : array-like of shape (n, d)
    y : array-like of shape (n,), or (n, targets) for a fitted tree
    criterion : {"gini", "entropy", "squared_error"}, default=None
        None means the criterion of a fitted tree, and "gini" for a tree written by hand.
    max_depth : int ≥ 0, default=None
    min_samples_split : int ≥ 2, default=None
    min_samples_leaf : int ≥ 1, default=None
        Stopping rules: a leaf that none of them stops should have been split. None means the rule of a fitted tree,
        and no limit for a tree written by hand.
    sample_weight : array-like of shape (n,), default=None

    Returns
    -------
    Certificate
        ``shortfall`` bounds what another split could gain; ``holds`` is False, with the reason, if one gains more.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> certify_tree({"feature": 0, "threshold": 1.5, "left": 0, "right": 1}, X, y).holds
    True
    >>> certify_tree({"feature": 0, "threshold": 0.5, "left": 0, "right": 1}, X, y, max_depth=1).holds
    False
    """
    data = Data.of(X, y, sample_weight)
    given = {"criterion": criterion, "max_depth": max_depth, "min_samples_split": min_samples_split}
    given["min_samples_leaf"] = min_samples_leaf
    factors = _class_weights(tree, data)
    rules = _rules(tree, data, factors) | {name: value for name, value in given.items() if value is not None}
    rules["min_samples_split"] = max(rules["min_samples_split"], 2 * rules["min_samples_leaf"])
    if hasattr(tree, "tree_"):
        return _fitted(tree, data, rules, factors)
    nodes = _Nodes(tree, np.asarray(data.X, dtype=float), np.asarray(data.y), _weights(data, None), rules["criterion"])
    inner = np.array(nodes.feature) >= 0
    more = {"asks": inner, "alpha": 0.0, "drawn": None, "class_weight": None}
    return issue("tree", data, _evidence(data, rules, nodes, more))


def _evidence(data: Data, rules: Record, nodes: _Nodes, more: Record) -> Record:
    count, inner = len(nodes.feature), np.array(nodes.feature) >= 0
    return {
        **rules, **more,
        "left": np.array(nodes.left), "right": np.array(nodes.right),
        "feature": np.where(inner, nodes.feature, -2), "threshold": np.array(nodes.threshold),
        "missing_left": np.zeros(count, dtype=bool), "group": np.full(count, -1), "sets": np.zeros((1, 1), dtype=bool),
        "value": np.array(nodes.value), "classes": None if nodes.classes is None else nodes.classes.tolist(),
        "categories": [None] * data.X.shape[1], "validation": None,
    }  # fmt: skip


def _issue_fitted(kind: str, data: Data, evidence: Record) -> Certificate:
    """What is proved of a tree of scikit-learn, which divides no values that are too close in single precision.

    Where a better split is one between such values, the claim leaves them out and says so.
    """
    found = issue(kind, data, evidence)
    if found.holds:
        return found
    coarser = issue(kind, data, evidence | {"precision": "single"})
    return coarser if coarser.holds else found


def _fitted(tree: BaseEstimator, data: Data, rules: Record, factors: list[Array] | None) -> Certificate:
    """A fitted tree, by its own rules; what was pruned is grown again."""
    alpha = float(_told(tree).get("ccp_alpha", 0.0))
    grown, asking = (tree, None) if not alpha else _unpruned(tree, data)
    if _is_general(tree, data):
        return _general(tree, grown, data, rules, factors, asking)
    weights = _weights(data, factors)
    nodes = _Nodes(grown, np.asarray(data.X, dtype=float), np.asarray(data.y), weights, rules["criterion"])
    inner = np.array(nodes.feature) >= 0
    more = {
        "asks": inner if asking is None else inner & np.isin(nodes.origin, asking),
        "alpha": 0.0 if asking is None else alpha,
        "drawn": _drawn(tree, np.array(nodes.feature), data.X.shape[1], bool(alpha) and asking is None),
        "class_weight": None if factors is None else factors[0],
    }
    return _issue_fitted("tree", data, _evidence(data, rules, nodes, more))


def _told(tree: BaseEstimator) -> Record:
    return tree.get_params() if hasattr(tree, "tree_") and hasattr(tree, "get_params") else {}


def _rules(tree: BaseEstimator, data: Data, factors: list[Array] | None) -> Record:
    """How the tree was grown: what a fitted one says, else as far as it goes."""
    told, n = _told(tree), data.X.shape[0]

    def count(value: Any, least: int) -> int:
        return int(value) if isinstance(value, Integral) else max(least, math.ceil(value * n))

    depth = told.get("max_depth")
    criterion = told.get("criterion", "gini")
    return {
        "criterion": "squared_error" if criterion == "friedman_mse" else criterion,
        "max_depth": _NO_LIMIT if depth is None else int(depth),
        "min_samples_split": count(told.get("min_samples_split", 2), 2),
        "min_samples_leaf": count(told.get("min_samples_leaf", 1), 1),
        "min_weight_leaf": float(told.get("min_weight_fraction_leaf", 0.0)) * float(np.sum(_weights(data, factors))),
        "min_impurity_decrease": float(told.get("min_impurity_decrease", 0.0)),
        "max_leaf_nodes": int(told.get("max_leaf_nodes") or 0),
    }


def _columns_of(y: Any) -> Array:
    y = np.asarray(y)
    return y[:, None] if y.ndim == 1 else y


def _class_weights(tree: BaseEstimator, data: Data) -> list[Array] | None:
    """The factor of each class, for each target; None where a fitted tree has none."""
    told = _told(tree).get("class_weight")
    if told is None:
        return None
    names = tree.classes_ if isinstance(tree.classes_, list) else [tree.classes_]
    columns = _columns_of(data.y)
    each = told if isinstance(told, (list, tuple)) else [told] * len(names)
    return [
        np.asarray(compute_class_weight(w, classes=np.asarray(classes), y=columns[:, t]), dtype=float)
        for t, (w, classes) in enumerate(zip(each, names))
    ]


def _weights(data: Data, factors: list[Array] | None) -> Array:
    """Weights of the rows, times the factors of their classes."""
    weights, columns = np.asarray(data.weights, dtype=float), _columns_of(data.y)
    for t, factor in enumerate(factors or []):
        weights = weights * factor[np.unique(columns[:, t], return_inverse=True)[1].ravel()]
    return weights


def _drawn(tree: BaseEstimator, feature: Array, d: int, own_only: bool) -> Array | None:
    """With columns drawn at random, those known to be among them: the one that each node asks about."""
    features = getattr(tree, "max_features_", d)
    if not own_only and (features is None or features >= d):
        return None
    if features is not None and features < d:
        return np.asarray(feature[:, None] == np.arange(d)[None, :])
    return np.repeat((feature >= 0)[:, None], d, axis=1)  # what a leaf could ask was pruned: nothing is claimed of it


def _unpruned(tree: BaseEstimator, data: Data) -> tuple[Any, Array | None]:
    """The tree before pruning, grown again, and its nodes that still ask; else the tree itself and None."""
    again = clone(tree).set_params(ccp_alpha=0.0).fit(data.X, data.y, sample_weight=data.sample_weight)
    top, whole, asking = tree.tree_, again.tree_, []
    stack = [(0, 0)]
    while stack:
        a, b = stack.pop()
        if top.children_left[a] < 0:
            continue
        if (top.feature[a], top.threshold[a]) != (whole.feature[b], whole.threshold[b]):
            return tree, None  # equal gains were settled otherwise
        asking.append(b)
        stack += [(int(getattr(top, side)[a]), int(getattr(whole, side)[b])) for side in _SIDES]
    return again, np.array(asking, dtype=int)


_SIDES = ("children_left", "children_right")


def _is_general(tree: BaseEstimator, data: Data) -> bool:
    """Random thresholds, several targets, counts, missing values and directions have a proof of their own."""
    told = _told(tree)
    several = np.asarray(data.y).ndim > 1 and np.asarray(data.y).shape[1] > 1
    odd = told.get("criterion") == "poisson" or told.get("monotonic_cst") is not None
    odd = odd or bool(np.any(np.isnan(np.asarray(data.X, dtype=float))))
    return several or odd or told.get("splitter", "best") != "best"


def _general(
    tree: BaseEstimator,
    grown: BaseEstimator,
    data: Data,
    rules: Record,
    factors: list[Array] | None,
    asking: Array | None,
) -> Certificate:
    told, t = _told(tree), _Plain(grown.tree_)
    rows, weights = _rows_of(t, data), _weights(data, factors)
    kept = _needed(t, rows, list(_columns_of(data.y).T), weights)
    place = np.full(t.node_count, -1)
    place[kept] = np.arange(len(kept))
    left, right = (np.where(side[kept] >= 0, place[side[kept]], -1) for side in (t.children_left, t.children_right))
    inner, value = left >= 0, t.value[kept]
    classes = None
    if hasattr(grown, "classes_"):
        names = grown.classes_ if isinstance(grown.classes_, list) else [grown.classes_]
        classes = [np.asarray(c).tolist() for c in names]
        sums = value.sum(axis=2, keepdims=True)
        value = value / np.where(np.abs(sums - 1.0) < 1e-9, 1.0, sums)  # shares stay as they are predicted
    lost = t.missing_go_to_left[kept]
    pruned = float(told.get("ccp_alpha", 0.0)) > 0
    evidence = {
        **rules,
        "splitter": told.get("splitter", "best"),
        "left": left, "right": np.where(inner, right, -1),
        "feature": np.where(inner, t.feature[kept], -2), "threshold": np.where(inner, t.threshold[kept], -2.0),
        "missing_left": inner & lost if np.any(np.isnan(np.asarray(data.X, dtype=float))) else inner & False,
        "value": value, "asks": inner if asking is None else inner & np.isin(kept, asking),
        "alpha": 0.0 if asking is None else float(told["ccp_alpha"]),
        "drawn": _drawn(tree, np.where(inner, t.feature[kept], -2), data.X.shape[1], pruned and asking is None),
        "classes": classes, "class_weight": None if factors is None else [f.tolist() for f in factors],
        "monotonic": None if (signs := told.get("monotonic_cst")) is None else np.asarray(signs, dtype=int),
    }  # fmt: skip
    return _issue_fitted("tree-general", data, evidence)


class _Plain:
    """The arrays of a fitted tree, which may be changed."""

    def __init__(self, t: Any) -> None:
        self.node_count = int(t.node_count)
        self.children_left, self.children_right = np.array(t.children_left), np.array(t.children_right)
        self.feature, self.threshold = np.asarray(t.feature), np.array(t.threshold, dtype=float)
        self.value = np.asarray(t.value, dtype=float)
        lost = getattr(t, "missing_go_to_left", np.zeros(self.node_count))
        self.missing_go_to_left = np.asarray(lost, dtype=bool)


def _rows_of(t: _Plain, data: Data) -> list[Array]:
    """The rows of every node of a fitted tree; scikit-learn compares in single precision."""
    X = np.asarray(data.X, dtype=np.float32)
    rows: list[Array] = [np.arange(0)] * t.node_count
    rows[0] = np.arange(len(X))
    for node in range(t.node_count):  # children come after their parents
        if t.children_left[node] >= 0:
            v = X[rows[node], t.feature[node]]
            goes = np.where(np.isnan(v), t.missing_go_to_left[node], v <= t.threshold[node])
            t.threshold[node] = _dividing(
                t.threshold[node], np.asarray(data.X[rows[node], t.feature[node]], float), goes
            )
            rows[t.children_left[node]], rows[t.children_right[node]] = rows[node][goes], rows[node][~goes]
    return rows


def _dividing(threshold: float, v: Array, goes: Array) -> float:
    """A threshold that divides the values in double precision as the tree's own does in single precision."""
    below, above = v[goes & ~np.isnan(v)], v[~goes & ~np.isnan(v)]
    if np.all(below <= threshold) and np.all(above > threshold):
        return threshold
    return float(np.max(below, initial=np.nextafter(np.min(above, initial=threshold), -np.inf)))


def _needed(t: _Plain, rows: list[Array], targets: list[Array], weights: Array) -> Array:
    """Nodes of a fitted tree without those below a node whose rows all agree.

    With weights, rounding may leave such a node a little impurity: its questions change no prediction.
    """
    kept, stack = [], [0]
    while stack:
        node = stack.pop()
        kept.append(node)
        mine = rows[node][weights[rows[node]] > 0]
        agree = all(len(np.unique(y[mine])) <= 1 for y in targets)
        if agree:
            t.children_left[node] = t.children_right[node] = -1
        elif t.children_left[node] >= 0:
            stack += [int(t.children_left[node]), int(t.children_right[node])]
    return np.sort(np.array(kept, dtype=int))


class _Nodes:
    """The nodes of a tree in depth-first order, with what its rows say at each."""

    def __init__(self, tree: BaseEstimator, X: Array, y: Array, weights: Array, criterion: str) -> None:
        if X.ndim != 2 or not np.all(np.isfinite(X)):
            raise ValueError("X must be a table of finite numbers with two dimensions.")
        self.X, self.y, self.weights, self.criterion = X, y, weights, criterion
        self.classes = None if criterion in ("squared_error", "absolute_error") else np.unique(y)
        self.left: list[int] = []
        self.right: list[int] = []
        self.feature: list[int] = []
        self.threshold: list[float] = []
        self.value: list[Array] = []
        self.origin: list[int] = []
        if hasattr(tree, "tree_"):
            self._names = np.asarray(getattr(tree, "classes_", []))
            self._read(_Plain(tree.tree_))
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
            raise ValueError("A node of this tree contains no rows.")
        if self.classes is None:
            return np.array([float(np.average(self.y[rows].astype(float), weights=s))])
        return np.array([float(s[self.y[rows] == c].sum()) for c in self.classes]) / float(s.sum())

    def _ask(self, node: int, feature: int, threshold: float, rows: Array) -> tuple[Array, Array]:
        if not 0 <= feature < self.X.shape[1] or not np.isfinite(threshold):
            raise ValueError(f"X has no column {feature}, or the threshold {threshold} is not a number.")
        self.feature[node], self.threshold[node] = feature, threshold
        goes = self.X[rows, feature] <= threshold
        return rows[goes], rows[~goes]

    def _written(self, tree: BaseEstimator, rows: Array) -> int:
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
            raise ValueError(f"A leaf predicts {answer!r}, which is not a label of y.")
        if self.value[node][where[0]] < self.value[node].max():
            self.value[node] = np.eye(len(self.classes))[where[0]]

    def _read(self, t: _Plain) -> None:
        """The nodes of a fitted tree in their own order, in which a tree with a limit on leaves was grown."""
        rows = _rows_of(t, Data.of(self.X))
        kept = _needed(t, rows, [self.y], self.weights)
        place = {int(node): k for k, node in enumerate(kept)}
        for node in kept:
            k = self._add(rows[node])
            self.origin.append(int(node))
            told = t.value[node][0]
            if self.classes is not None:
                told = np.array([told[self._names == c].sum() for c in self.classes]) / told.sum()
            # Medians may be any number between two rows; means and shares are the tree's own up to its rounding.
            if self.criterion == "absolute_error" or not np.allclose(told, self.value[k], rtol=1e-6, atol=1e-9):
                self.value[k] = told
            if t.children_left[node] >= 0:
                self.feature[k], self.threshold[k] = int(t.feature[node]), float(t.threshold[node])
                self.left[k], self.right[k] = (place[int(s[node])] for s in (t.children_left, t.children_right))
