"""Decision trees, exact in double precision.

Trees whose splits are on numbers become one ``TreeEnsemble`` operator (ai.onnx.ml 5, which has float64
thresholds); its answer is the number of the leaf, from which the leaf's values are looked up. Splits on
categories are walked with plain operators, one level of the tree after the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper

from certifit._types import Array, BaseEstimator
from certifit.files._onnx._graph import INT64, Answer, Graph


def classifier(g: Graph, model: BaseEstimator, x: str) -> Answer:
    """Class shares of the leaf, and the largest of them."""
    leaf, shares = _leaf(g, model, x), model.tree_.value[:, 0, :]
    code = g("Gather", shares.argmax(axis=1), leaf)
    return Answer(code=code, shares=g("Gather", shares, leaf, axis=0), classes=model.classes_)


def regressor(g: Graph, model: BaseEstimator, x: str) -> Answer:
    """The value of the leaf."""
    return Answer(value=g("Gather", model.tree_.value[:, 0, 0], _leaf(g, model, x)))


def _leaf(g: Graph, model: BaseEstimator, x: str) -> str:
    """The node in which each row ends, (n,) int64."""
    tree, x = model.tree_, _coded(g, model.columns_, x)
    return _walk(g, tree, x) if np.any(tree.group >= 0) else _ensemble(g, tree, x)


def _coded(g: Graph, columns: Any, x: str) -> str:
    """Categories that are numbers become their position (NaN: never seen); words came in as positions already."""
    if all(c is None or any(isinstance(v, str) for v in c) for c in columns.categories):
        return x
    parts = []
    for j, categories in enumerate(columns.categories):
        part = g("Gather", x, [j], axis=1)
        if categories is not None and not any(isinstance(v, str) for v in categories):
            same = g("Equal", part, np.array(categories, dtype=float)[None])
            seen = g("ReduceMax", g("Cast", same, to=INT64), [1], keepdims=1)
            place = g.numbers_of(g("ArgMax", g("Cast", same, to=INT64), axis=1, keepdims=1))
            part = g("Where", g("Equal", seen, 1), place, np.nan)
        parts.append(part)
    return g.joined(parts)


def _ensemble(g: Graph, tree: Any, x: str) -> str:
    inner, leaves = np.flatnonzero(~tree.is_leaf), np.flatnonzero(tree.is_leaf)
    if not len(inner):  # the operator knows no tree without a split: add one that does not matter
        inner, leaves = np.array([0]), np.array([0])
    place = np.zeros(tree.node_count, dtype=np.int64)
    place[leaves] = np.arange(len(leaves))
    if tree.node_count > 1:
        place[inner] = np.arange(len(inner))
    left, right = tree.children_left[inner], tree.children_right[inner]
    if tree.node_count == 1:
        left, right = np.array([0]), np.array([0])
    splits = tree.threshold[inner].astype(float) if tree.node_count > 1 else np.zeros(1)
    attributes = {
        "n_targets": 1,
        "aggregate_function": 1,
        "post_transform": 0,
        "tree_roots": [0],
        "nodes_modes": helper.make_tensor("modes", TensorProto.UINT8, (len(inner),), [0] * len(inner)),
        "nodes_featureids": np.maximum(tree.feature[inner], 0).tolist(),
        "nodes_splits": helper.make_tensor("splits", TensorProto.DOUBLE, (len(inner),), splits.tolist()),
        "nodes_truenodeids": place[left].tolist(),
        "nodes_trueleafs": tree.is_leaf[left].astype(int).tolist(),
        "nodes_falsenodeids": place[right].tolist(),
        "nodes_falseleafs": tree.is_leaf[right].astype(int).tolist(),
        "nodes_missing_value_tracks_true": tree.missing_go_to_left[inner].astype(int).tolist(),
        "leaf_targetids": [0] * len(leaves),
        "leaf_weights": helper.make_tensor("leaves", TensorProto.DOUBLE, (len(leaves),), leaves.astype(float).tolist()),
    }
    found = g.several("TreeEnsemble", 1, x, domain="ai.onnx.ml", **attributes)[0]
    return g("Cast", g("Squeeze", found, [1]), to=INT64)


def _walk(g: Graph, tree: Any, x: str) -> str:
    """All rows go down one level at a time; leaves lead back to themselves."""
    itself = np.arange(tree.node_count)
    left = np.where(tree.is_leaf, itself, tree.children_left)
    right = np.where(tree.is_leaf, itself, tree.children_right)
    grouped, sets = tree.group >= 0, _sets(tree)
    threshold = np.where(grouped | tree.is_leaf, 0.0, tree.threshold)
    node = g("Expand", np.array(0), g("Shape", x, start=0, end=1))
    for _ in range(tree.max_depth):
        asked = g("Gather", np.maximum(tree.feature, 0), node)
        value = g("Squeeze", g("GatherElements", x, g("Unsqueeze", asked, [1]), axis=1), [1])
        missing = g("IsNaN", value)
        known = g("Where", missing, 0.0, value)
        code = g("Cast", g("Clip", known, 0.0, float(sets.shape[1] - 1)), to=INT64)
        at = g("Concat", g("Unsqueeze", g("Gather", tree.group.clip(0), node), [1]), g("Unsqueeze", code, [1]), axis=1)
        member = g("GatherND", sets, at)
        by_group = g("Gather", grouped, node)
        by_size = g("LessOrEqual", known, g("Gather", threshold, node))
        says = g("Or", g("And", by_group, member), g("And", g("Not", by_group), by_size))
        absent = g("And", missing, g("Gather", tree.missing_go_to_left.astype(bool), node))
        go = g("Or", absent, g("And", g("Not", missing), says))
        node = g("Where", go, g("Gather", left, node), g("Gather", right, node))
    return node


def _sets(tree: Any) -> Array:
    """sets[group, category]: whether the category goes left."""
    nodes = np.flatnonzero(tree.group >= 0)
    going = {int(tree.group[n]): tree.left_categories(int(n)) for n in nodes}
    width = 64 * tree.bits.shape[1]
    out = np.zeros((max(going) + 1, width), dtype=bool)
    for group, members in going.items():
        out[group, np.asarray(members, dtype=int)] = True
    return out
