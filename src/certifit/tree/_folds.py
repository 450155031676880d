"""Shared work of trees: one per fold answers every ccp_alpha, or every size (see `certifit.model_selection`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from certifit._sklearn import safe_indexing
from certifit._types import Answers, Array, BaseEstimator, Grid, Matrix, Record
from certifit.resampling import FoldAnswers, FoldTable, assemble, group_grid, is_number, require
from certifit.tree._pruning import sequence_of


def tree_answers(model: BaseEstimator, table: FoldTable, grid: Grid, response: tuple[str, ...]) -> FoldAnswers:
    """Grow once per fold and setting; read every α, or every number of leaves, off the nested trees."""
    if all(set(point) == {"max_leaf_nodes"} for point in grid):
        return _sizes(model, table, [p["max_leaf_nodes"] for p in grid], grid, response)
    require(all(p.get("pruning", model.pruning) is None for p in grid), "pruning on held-out rows does not use α")
    alphas = [p.get("ccp_alpha", model.ccp_alpha) for p in grid]
    require(all(is_number(a) and a >= 0 for a in alphas), "ccp_alpha is not a number ≥ 0")
    groups = group_grid(grid, lambda point: {name: v for name, v in point.items() if name != "ccp_alpha"})
    require(len(groups) < len(grid), "no two grid points grow the same tree")

    def scores(rest: Record, where: Sequence[int]) -> Iterator[Answers]:
        for train, test in table.folds:
            weights = None if table.weights is None else np.asarray(table.weights)[train]
            grown = clone(model).set_params(**{**rest, "ccp_alpha": 0.0})
            grown.fit(safe_indexing(table.X, train), safe_indexing(table.y, train), weights)
            yield _read(grown, safe_indexing(table.X, test), [alphas[i] for i in where], response)

    parts = [(where, scores(rest, where)) for rest, where in groups]
    return assemble(grid, parts, passes=len(groups) * len(table.folds))


def _sizes(
    model: BaseEstimator, table: FoldTable, sizes: Sequence[Any], grid: Grid, response: tuple[str, ...]
) -> FoldAnswers:
    """A tree that divides its best leaf first has all smaller ones in it: with m leaves, its first 2m − 1 nodes."""
    require(model.pruning is None and model.ccp_alpha == 0.0, "a pruned tree is not part of a larger one")
    whole = all(is_number(m) and m == int(m) and m >= 2 for m in sizes)
    require(whole and len(sizes) > 1, "max_leaf_nodes is not a number of leaves")

    def scores() -> Iterator[Answers]:
        for train, test in table.folds:
            weights = None if table.weights is None else np.asarray(table.weights)[train]
            grown = clone(model).set_params(max_leaf_nodes=int(max(sizes)))
            grown.fit(safe_indexing(table.X, train), safe_indexing(table.y, train), weights)
            tree, parent = grown.tree_, grown.tree_.parent
            reached = tree.apply(np.ascontiguousarray(grown._read_X(safe_indexing(table.X, test), reset=False)[0]))
            yield _said(grown, np.array([_up(reached, parent, 2 * int(m) - 2) for m in sizes]), response)

    return assemble(grid, [(list(range(len(grid))), scores())], passes=len(table.folds))


def _up(nodes: Array, parent: Array, last: int) -> Array:
    """The nearest ancestors with numbers up to ``last``."""
    nodes = nodes.copy()
    while np.any(late := nodes > last):
        nodes[late] = parent[nodes[late]]
    return nodes


def _read(grown: BaseEstimator, X: Matrix, alphas: Sequence[float], response: tuple[str, ...]) -> dict[str, Array]:
    # α = 0 leaves the tree as grown, splits without gain included; −1/2 lies below every link, above the leaves.
    asked = np.array([a if a > 0 else -0.5 for a in alphas])
    numbers = np.ascontiguousarray(grown._read_X(X, reset=False)[0])
    return _said(grown, sequence_of(grown.tree_).leaves(numbers, asked).T, response)


def _said(grown: BaseEstimator, leaves: Array, response: tuple[str, ...]) -> dict[str, Array]:
    """What the leaves (points, rows) answer."""
    value = grown.tree_.value[:, 0, :]
    if not grown.tree_.classifies:
        return {"predict": value[leaves, 0]}
    every = {"predict": lambda: np.asarray(grown.classes_)[np.argmax(value, axis=1)][leaves]}
    every["predict_proba"] = lambda: value[leaves]
    return {name: every[name]() for name in response}
