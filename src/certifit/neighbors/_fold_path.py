"""Shared work of k-nearest neighbours: one search answers every k, weighting and fold (see `model_selection`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils import check_array
from sklearn.utils.multiclass import type_of_target

from certifit._types import Array
from certifit.neighbors import _votes
from certifit.neighbors._metrics import NAMES, resolve
from certifit.neighbors._search import Index
from certifit.resampling import Fold, fold_numbers

Point = tuple[int, Any]  # k and the weighting
Answer = Callable[[Array, Array, Array | None, Array], dict[str, Array]]


def read_points(model: Any, grid: Sequence[Mapping[str, Any]], largest: int) -> list[Point] | None:
    """(k, weights) of each grid point; None when one asks for what a common list of neighbours cannot tell."""
    found = []
    for point in grid:
        if not set(point) <= {"n_neighbors", "weights"}:
            return None
        k, weights = point.get("n_neighbors", model.n_neighbors), point.get("weights", model.weights)
        if isinstance(k, bool) or not isinstance(k, Integral) or not 1 <= int(k) <= largest:
            return None
        # A bandwidth that is not given depends on k and on the training rows; a function might too.
        if weights not in (None, "uniform", "distance") and not (weights == "gaussian" and model.bandwidth is not None):
            return None
        found.append((int(k), weights))
    return found


def read_rows(model: Any, X: Any, y: Any, folds: Sequence[Fold]) -> tuple[Array, Array] | None:
    """Validated X and a vector y; None for input that is better met one fit at a time."""
    plain = isinstance(model.metric, str) and model.metric in NAMES and model.metric != "precomputed"
    if not plain or scipy.sparse.issparse(X) or any(np.any(np.diff(train) <= 0) for train, _ in folds):
        return None  # equal distances go by row number: training rows must be in order
    try:
        model._validate_params()
        X = check_array(X, dtype=(np.float64, np.float32), order="C")
        y = check_array(y, ensure_2d=False, dtype=None)
    except (TypeError, ValueError):
        return None  # a fit says what is wrong
    return (X, y) if y.ndim == 1 and len(y) == len(X) else None


def neighbour_lists(model: Any, X: Array, folds: Sequence[Fold], k_max: int) -> Iterator[tuple[Array, Array]]:
    """Distances and row numbers (of X) of the nearest training rows of each fold's test rows."""
    metric = resolve(model.metric, model.p, model.metric_params, model.feature_weights, X.shape[1])
    number = fold_numbers(folds, len(X))
    if number is not None:
        index = Index(X, metric, model.algorithm, model.leaf_size, model.n_jobs)
        distances, rows = index.query(index.X, k_max, number, number)
        for _, test in folds:
            yield distances[test], rows[test]
        return
    for train, test in folds:
        index = Index(X[train], metric, model.algorithm, model.leaf_size, model.n_jobs)
        distances, rows = index.query(X[test], k_max)
        yield distances, train[rows]


def answers(
    model: Any, X: Array, folds: Sequence[Fold], points: Sequence[Point], answer: Answer
) -> Iterator[dict[str, Array]]:
    """Every point's answers on each fold, one weighting at a time."""
    ks = np.array([k for k, _ in points])
    groups: dict[Any, list[int]] = {}
    for i, (_, weights) in enumerate(points):
        groups.setdefault("uniform" if weights is None else weights, []).append(i)
    for (train, _), (distances, rows) in zip(folds, neighbour_lists(model, X, folds, int(ks.max()))):
        found: dict[str, Array] = {}
        for weights, where in groups.items():
            most = int(ks[where].max())
            w = _votes.weigh(distances[:, :most], weights, model.bandwidth)
            for name, values in answer(train, rows[:, :most], w, ks[where]).items():
                if name not in found:
                    found[name] = np.empty((len(points), *values.shape[1:]), dtype=values.dtype)
                found[name][where] = values
        yield found


def class_votes(y: Array, response: tuple[str, ...]) -> Answer:
    """Labels and shares of every k from the classes of the neighbours."""
    classes, codes = np.unique(y, return_inverse=True)

    def answer(train: Array, rows: Array, w: Array | None, ks: Array) -> dict[str, Array]:
        present = np.unique(codes[train])
        own = np.searchsorted(present, codes)[rows]  # rows are training rows: their class is present
        # One plane of votes for each class; running sums along it are the votes of every k.
        votes = (own[None] == np.arange(len(present))[:, None, None]) * (1.0 if w is None else w)
        votes = np.cumsum(votes, axis=2)[:, :, ks - 1]
        found = {}
        if "predict" in response:
            found["predict"] = classes[present][_largest(votes)].T
        if "predict_proba" in response:
            found["predict_proba"] = np.transpose(votes / votes.sum(axis=0), (2, 1, 0))
        return found

    return answer


def _largest(planes: Array) -> Array:
    """The number of the plane that is largest, the lower one of equals: argmax along an axis of few."""
    best, which = planes[0].copy(), np.zeros(planes.shape[1:], np.intp)
    for c in range(1, len(planes)):
        which[planes[c] > best] = c
        np.maximum(best, planes[c], out=best)
    return which


def value_means(y: Array) -> Answer:
    """Means of every k from the values of the neighbours."""

    def answer(train: Array, rows: Array, w: Array | None, ks: Array) -> dict[str, Array]:
        held = y[rows]
        if w is None:
            means = np.cumsum(held, axis=1) / np.arange(1, rows.shape[1] + 1)
        else:
            means = np.cumsum(w * held, axis=1) / np.cumsum(w, axis=1)
        return {"predict": means.T[ks - 1]}

    return answer


def plain_classes(y: Array) -> bool:
    """Whether y is one column of class labels."""
    return type_of_target(y) in ("binary", "multiclass")
