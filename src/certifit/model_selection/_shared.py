"""The shared road: all folds and grid points from one piece of work (protocol: package docstring)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from certifit._types import Array
from certifit.model_selection._scoring import depth
from certifit.resampling import CannotShare, Fold

Answers = Mapping[str, Array]
Params = Mapping[str, Any]


def fold_answers(
    estimator: Any,
    X: Any,
    y: Any,
    folds: Sequence[Fold],
    grid: Sequence[Params],
    response: tuple[str, ...],
    sample_weight: Any = None,
) -> Iterable[Answers] | None:
    """Each fold's answers for every grid point, or None when this estimator or grid shares no work."""
    if y is None or not grid:
        return None
    if isinstance(estimator, Pipeline):
        return _pipeline(estimator, X, y, folds, grid, response, sample_weight)
    if not _shares(estimator, response):
        return None
    found = estimator._fold_path(X, y, folds, grid, response, sample_weight)
    return None if found is None else Answered(found, folds, grid, response)


class Answered:
    """Checked answers, fold by fold, and the path's own fit to all rows where it has one."""

    def __init__(self, found: Any, folds: Sequence[Fold], grid: Sequence[Params], response: tuple[str, ...]) -> None:
        self.found, self.folds, self.grid, self.response = found, folds, grid, response

    def __iter__(self) -> Iterator[Answers]:
        return _checked(self.found, self.folds, self.grid, self.response)

    def refit(self, model: Any) -> Any:
        """The model fitted to all rows, or None where the path has no quicker way than ``fit``."""
        return self.found.refit(model) if hasattr(self.found, "refit") else None


def _shares(estimator: Any, response: tuple[str, ...]) -> bool:
    """Whether the class has a path, and no subclass has since changed how it fits or answers."""
    kind = type(estimator)
    path = depth(kind, "_fold_path")
    return hasattr(kind, "_fold_path") and all(path <= depth(kind, name) for name in ("fit", *response))


def _checked(found: Any, folds: Sequence[Fold], grid: Sequence[Params], response: Any) -> Iterator[Answers]:
    """Refuse answers of the wrong shape early: a path that slips must not pass for a score."""
    count = 0
    for (_, test), answers in zip(folds, found):
        count += 1
        for name in response:
            shape = np.shape(answers[name])
            if shape[:2] != (len(grid), len(test)):
                raise CannotShare(f"{name} has shape {shape}, not ({len(grid)}, {len(test)}, ...)")
        yield answers
    if count != len(folds):
        raise CannotShare(f"{count} of {len(folds)} folds were answered")


def classes_of(estimator: Any, y: Any, train: Array) -> Any:
    """Columns of probabilities: the sorted labels of the fold's training rows."""
    return np.unique(np.asarray(y)[train]) if is_classifier(estimator) else None


# -- pipelines: preprocessing is fitted once per fold (and per setting of its own parameters)
# ------------------
def _pipeline(
    pipeline: Any,
    X: Any,
    y: Any,
    folds: Sequence[Fold],
    grid: Sequence[Params],
    response: tuple[str, ...],
    sample_weight: Any,
) -> Iterator[Answers] | None:
    last, final = pipeline.steps[-1]
    if len(pipeline.steps) < 2 or pipeline.memory is not None or not _shares(final, response):
        return None
    if any(k == last or k in dict(pipeline.steps) or "__" not in k for point in grid for k in point):
        return None  # whole steps are exchanged: no common work to speak of
    groups = _groups(grid, last)
    return _pipeline_folds(pipeline, X, y, folds, groups, len(grid), response, sample_weight)


def _groups(grid: Sequence[Params], last: str) -> list[tuple[dict[str, Any], list[int], list[dict[str, Any]]]]:
    """Grid points of equal preprocessing together: (its parameters, positions, the last step's)."""
    groups: list[tuple[dict[str, Any], list[int], list[dict[str, Any]]]] = []
    for i, point in enumerate(grid):
        head = {k: v for k, v in point.items() if not k.startswith(f"{last}__")}
        tail = {k[len(last) + 2 :]: v for k, v in point.items() if k.startswith(f"{last}__")}
        for known, where, tails in groups:
            if known.keys() == head.keys() and all(known[k] is head[k] or _equal(known[k], head[k]) for k in head):
                where.append(i)
                tails.append(tail)
                break
        else:
            groups.append((head, [i], [tail]))
    return groups


def _equal(a: Any, b: Any) -> bool:
    try:
        return type(a) is type(b) and bool(a == b)
    except ValueError:  # arrays: taken as different, which only costs time
        return False


def _pipeline_folds(
    pipeline: Any,
    X: Any,
    y: Any,
    folds: Sequence[Fold],
    groups: Any,
    size: int,
    response: Any,
    sample_weight: Any,
) -> Iterator[Answers]:
    final = pipeline.steps[-1][1]
    for train, test in folds:
        found: dict[str, Array] = {}
        both = np.concatenate([train, test])
        rows = [(np.arange(len(train)), np.arange(len(train), len(both)))]
        labels = _safe_indexing(y, both)
        weights = None if sample_weight is None else np.asarray(sample_weight)[both]
        for head, where, tails in groups:
            before = clone(pipeline).set_params(**head)[:-1]
            inner = before.fit_transform(_safe_indexing(X, train), _safe_indexing(y, train))
            outer = before.transform(_safe_indexing(X, test))
            path = final._fold_path(_stack(inner, outer), labels, rows, tails, response, weights)
            if path is None:
                raise CannotShare("the last step cannot serve what the preprocessing gives")
            for name, values in next(iter(path)).items():
                if name not in found:
                    found[name] = np.empty((size, *values.shape[1:]), dtype=values.dtype)
                found[name][where] = values
        yield found


def _stack(a: Any, b: Any) -> Any:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.concatenate([a, b])
    raise CannotShare("preprocessing gives something other than dense arrays")
