"""Shared work of pruned trees: one tree per fold answers every ccp_alpha (see `certifit.model_selection`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from certifit._sklearn import safe_indexing
from certifit._types import Answers, Array, Grid
from certifit.resampling import FoldAnswers, FoldTable, assemble, group_grid, is_number, require
from certifit.tree._pruning import sequence_of


def tree_answers(model: Any, table: FoldTable, grid: Grid, response: tuple[str, ...]) -> FoldAnswers:
    """Grow once per fold and setting; read every α off the nested trees."""
    require(all(p.get("pruning", model.pruning) is None for p in grid), "pruning on held-out rows knows no α")
    alphas = [p.get("ccp_alpha", model.ccp_alpha) for p in grid]
    require(all(is_number(a) and a >= 0 for a in alphas), "ccp_alpha is no number ≥ 0")
    groups = group_grid(grid, lambda point: {name: v for name, v in point.items() if name != "ccp_alpha"})
    require(len(groups) < len(grid), "no two grid points grow the same tree")

    def scores(rest: dict[str, Any], where: Sequence[int]) -> Iterator[Answers]:
        for train, test in table.folds:
            weights = None if table.weights is None else np.asarray(table.weights)[train]
            grown = clone(model).set_params(**{**rest, "ccp_alpha": 0.0})
            grown.fit(safe_indexing(table.X, train), safe_indexing(table.y, train), weights)
            yield _read(grown, safe_indexing(table.X, test), [alphas[i] for i in where], response)

    parts = [(where, scores(rest, where)) for rest, where in groups]
    return assemble(grid, parts, passes=len(groups) * len(table.folds))


def _read(grown: Any, X: Any, alphas: Sequence[float], response: tuple[str, ...]) -> dict[str, Array]:
    # α = 0 leaves the tree as grown, questions without gain included; −1/2 lies below every link, above the leaves.
    asked = np.array([a if a > 0 else -0.5 for a in alphas])
    numbers = np.ascontiguousarray(grown._read_X(X, reset=False)[0])
    leaves = sequence_of(grown.tree_).leaves(numbers, asked).T
    value = grown.tree_.value[:, 0, :]
    if grown.tree_.n_classes == 0:
        return {"predict": value[leaves, 0]}
    every = {"predict": lambda: np.asarray(grown.classes_)[np.argmax(value, axis=1)][leaves]}
    every["predict_proba"] = lambda: value[leaves]
    return {name: every[name]() for name in response}
