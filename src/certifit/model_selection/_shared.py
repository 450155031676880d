"""The shared road: all folds and grid points from one piece of work (protocol: package docstring)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline

from certifit._sklearn import safe_indexing
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
    if len(pipeline.steps) < 2 or pipeline.memory is not None or not hasattr(final, "fit"):
        return None
    if any(k == last or k in dict(pipeline.steps) or "__" not in k for point in grid for k in point):
        return None  # whole steps are exchanged: no common work to speak of
    bundles = _bundles(pipeline, _groups(grid, last))
    if not _shares(final, response) and not any(len(b.groups) > 1 for b in bundles):
        return None
    return _pipeline_folds(pipeline, X, y, folds, bundles, len(grid), response, sample_weight)


_Group = tuple[dict[str, Any], list[int], list[dict[str, Any]]]


def _groups(grid: Sequence[Params], last: str) -> list[_Group]:
    """Grid points of equal preprocessing together: (its parameters, positions, the last step's)."""
    return _merge(
        [
            (
                {k: v for k, v in point.items() if not k.startswith(f"{last}__")},
                [i],
                [{k[len(last) + 2 :]: v for k, v in point.items() if k.startswith(f"{last}__")}],
            )
            for i, point in enumerate(grid)
        ]
    )


def _merge(points: Sequence[_Group]) -> list[_Group]:
    """Those with equal parameters in one."""
    groups: list[_Group] = []
    for head, where, tails in points:
        for known, places, others in groups:
            if known.keys() == head.keys() and all(known[k] is head[k] or _equal(known[k], head[k]) for k in head):
                places += where
                others += tails
                break
        else:
            groups.append((head, list(where), list(tails)))
    return groups


def _equal(a: Any, b: Any) -> bool:
    try:
        return type(a) is type(b) and bool(a == b)
    except ValueError:  # arrays: taken as different, which only costs time
        return False


@dataclass(frozen=True)
class _Bundle:
    """Groups served by one preprocessing: each uses the first so many of its columns (None: all of them)."""

    head: dict[str, Any]
    groups: list[tuple[int | None, list[int], list[dict[str, Any]]]]


def _bundles(pipeline: Any, groups: Any) -> list[_Bundle]:
    """Groups whose preprocessing differs only in how many columns it keeps, together."""
    name, step = pipeline.steps[-2]
    nested = getattr(step, "_nested_columns", None)
    if nested is None or len(groups) == 1:
        return [_Bundle(head, [(None, where, tails)]) for head, where, tails in groups]
    rest: list[_Group] = [
        ({k: v for k, v in head.items() if not k.startswith(f"{name}__")}, [i], [])
        for i, (head, _, _) in enumerate(groups)
    ]
    found = []
    for others, where, _ in _merge(rest):
        own = [{k[len(name) + 2 :]: v for k, v in groups[i][0].items() if k.startswith(f"{name}__")} for i in where]
        answer = nested(own) if len(own) > 1 else None
        if answer is None:
            found += [_Bundle(groups[i][0], [(None, *groups[i][1:])]) for i in where]
        else:
            head = others | {f"{name}__{k}": v for k, v in answer[0].items()}
            found.append(_Bundle(head, [(count, *groups[i][1:]) for count, i in zip(answer[1], where)]))
    return found


def _pipeline_folds(
    pipeline: Any,
    X: Any,
    y: Any,
    folds: Sequence[Fold],
    bundles: Sequence[_Bundle],
    size: int,
    response: Any,
    sample_weight: Any,
) -> Iterator[Answers]:
    final = pipeline.steps[-1][1]
    serve = _last_path if _shares(final, response) else _last_alone
    for train, test in folds:
        found: dict[str, Array] = {}
        both = np.concatenate([train, test])
        labels = safe_indexing(y, both)
        weights = None if sample_weight is None else np.asarray(sample_weight)[both]
        for bundle in bundles:
            before = clone(pipeline).set_params(**bundle.head)[:-1]
            try:
                inner = before.fit_transform(safe_indexing(X, train), safe_indexing(y, train))
                outer = before.transform(safe_indexing(X, test))
            except ValueError as error:
                raise CannotShare("the preprocessing fails") from error  # fits alone tell where
            rows = _stack(inner, outer)
            for count, where, tails in bundle.groups:
                part = rows if count is None else np.ascontiguousarray(rows[:, :count])
                for name, values in serve(final, part, labels, len(train), tails, response, weights).items():
                    if name not in found:
                        found[name] = np.empty((size, *values.shape[1:]), dtype=values.dtype)
                    found[name][where] = values
        yield found


def _last_path(final: Any, rows: Any, labels: Any, n: int, tails: Any, response: Any, weights: Any) -> Answers:
    """The last step's own path, on this fold alone: its first n rows are for training."""
    fold = [(np.arange(n), np.arange(n, len(rows)))]
    path = final._fold_path(rows, labels, fold, tails, response, weights)
    if path is None:
        raise CannotShare("the last step cannot serve what the preprocessing gives")
    return next(iter(path))


def _last_alone(final: Any, rows: Any, labels: Any, n: int, tails: Any, response: Any, weights: Any) -> Answers:
    """The last step fitted point by point: only the preprocessing is shared."""
    y = safe_indexing(labels, np.arange(n))
    extra = {} if weights is None else {"sample_weight": weights[:n]}
    try:
        models = [clone(final).set_params(**tail).fit(rows[:n], y, **extra) for tail in tails]
    except ValueError as error:
        raise CannotShare("a fit of the last step fails") from error
    return {name: np.array([getattr(model, name)(rows[n:]) for model in models]) for name in response}


def _stack(a: Any, b: Any) -> Any:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.concatenate([a, b])
    raise CannotShare("preprocessing gives something other than dense arrays")
