"""The table of a search, in scikit-learn's form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata

from certifit._types import Array
from certifit.model_selection._run import Outcome
from certifit.model_selection._scoring import Scoring


def fold_scores(results: Mapping[str, Any], name: str, count: int) -> Array:
    return np.column_stack([results[f"split{k}_test_{name}"] for k in range(count)])


def search_table(
    outcomes: Sequence[Outcome],
    grid: Sequence[Mapping[str, Any]],
    n_folds: int,
    scoring: Scoring,
    train: bool,
) -> dict[str, Any]:
    """scikit-learn's ``cv_results_``: times, masked parameter columns, fold scores, mean, std, rank."""
    shape = (len(grid), n_folds)
    results: dict[str, Any] = {}
    for name in ("fit_time", "score_time"):
        times = np.array([getattr(o, name) for o in outcomes]).reshape(shape)
        results[f"mean_{name}"], results[f"std_{name}"] = times.mean(axis=1), times.std(axis=1)
    for name in sorted({k for point in grid for k in point}):
        results[f"param_{name}"] = _column([p.get(name, _ABSENT) for p in grid])
    results["params"] = list(grid)
    for score in scoring.scorers:
        kinds = {"test": [o.scores[score] for o in outcomes]}
        if train:
            kinds["train"] = [o.train_scores[score] for o in outcomes]
        for kind, values in kinds.items():
            table = np.array(values).reshape(shape)
            for k in range(n_folds):
                results[f"split{k}_{kind}_{score}"] = table[:, k]
            results[f"mean_{kind}_{score}"], results[f"std_{kind}_{score}"] = (
                table.mean(axis=1),
                table.std(axis=1),
            )
            if kind == "test":
                results[f"rank_test_{score}"] = _rank(table.mean(axis=1))
    return results


_ABSENT = object()


def _column(values: Sequence[Any]) -> Any:
    mask = [v is _ABSENT for v in values]
    seen = [v for v in values if v is not _ABSENT]
    plain = all(isinstance(v, (bool, int, float, np.generic)) for v in seen)
    kind: Any = np.result_type(*[np.asarray(v).dtype for v in seen]) if plain and seen else object
    column = np.ma.MaskedArray(np.empty(len(values), dtype=kind), mask=mask)
    for i, v in enumerate(values):
        if v is not _ABSENT:
            column[i] = v
    return column


def _rank(means: Array) -> Array:
    if np.all(np.isnan(means)):
        return np.ones(len(means), dtype=np.int32)
    filled = np.nan_to_num(means, nan=np.nanmin(means) - 1, posinf=np.inf, neginf=-np.inf)
    return rankdata(-filled, method="min").astype(np.int32, copy=False)
