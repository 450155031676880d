"""Shared work of pruned trees: one tree per fold answers every ccp_alpha (see `certifit.model_selection`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from certifit._sklearn import safe_indexing
from certifit._types import Array
from certifit.resampling import Fold
from certifit.tree._pruning import sequence_of

Group = tuple[dict[str, Any], list[int], list[float]]  # growing parameters, places in the grid, their α


def read_groups(model: Any, grid: Sequence[Mapping[str, Any]]) -> list[Group] | None:
    """Grid points that grow the same tree, together; None when no two of them do, or an α makes no sense."""
    groups: list[Group] = []
    for i, point in enumerate(grid):
        rest = {k: v for k, v in point.items() if k != "ccp_alpha"}
        alpha = point.get("ccp_alpha", model.ccp_alpha)
        number = isinstance(alpha, (int, float, np.number)) and not isinstance(alpha, bool)
        if rest.get("pruning", model.pruning) is not None or not number or not 0 <= alpha < np.inf:
            return None
        for known, where, alphas in groups:
            if known.keys() == rest.keys() and all(known[k] is rest[k] or _equal(known[k], rest[k]) for k in rest):
                where.append(i)
                alphas.append(float(alpha))
                break
        else:
            groups.append((rest, [i], [float(alpha)]))
    return groups if len(groups) < len(grid) else None


def _equal(a: Any, b: Any) -> bool:
    return type(a) is type(b) and isinstance(a, (str, int, float)) and a == b


def answers(
    model: Any,
    X: Any,
    y: Any,
    folds: Sequence[Fold],
    groups: Sequence[Group],
    response: tuple[str, ...],
    sample_weight: Any,
) -> Iterator[dict[str, Array]]:
    """Grow once per fold and setting; read every α off the nested trees."""
    size = sum(len(where) for _, where, _ in groups)
    for train, test in folds:
        found: dict[str, Array] = {}
        weights = None if sample_weight is None else np.asarray(sample_weight)[train]
        for rest, where, alphas in groups:
            grown = clone(model).set_params(**{**rest, "ccp_alpha": 0.0})
            grown.fit(safe_indexing(X, train), safe_indexing(y, train), weights)
            for name, values in _read(grown, safe_indexing(X, test), alphas, response).items():
                if name not in found:
                    found[name] = np.empty((size, *values.shape[1:]), dtype=values.dtype)
                found[name][where] = values
        yield found


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
