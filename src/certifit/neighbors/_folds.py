"""Shared work of k-nearest neighbours: one search answers every k, weighting and fold (see `model_selection`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from certifit._types import Answers, Array, BaseEstimator, Grid
from certifit.nearest import NAMES, Index, resolve
from certifit.neighbors import _votes
from certifit.resampling import (
    FoldAnswers,
    FoldTable,
    assemble,
    group_grid,
    is_number,
    models_of,
    read_table,
    require,
    require_shared,
)

Point = tuple[int, Any]  # k and the weighting
Answer = Callable[[Array, Array, Array | None, Array], dict[str, Array]]


def read_neighbors(model: BaseEstimator, table: FoldTable, grid: Grid, labels: bool) -> tuple[FoldTable, list[Point]]:
    """Validated rows, and k and the weighting of each grid point."""
    require(table.weights is None, "nearest neighbours do not support sample_weight")
    require_shared(model, grid, {"n_neighbors", "weights"})
    models_of(model, [{}], ())
    points = [(p.get("n_neighbors", model.n_neighbors), p.get("weights", model.weights)) for p in grid]
    largest = min(len(train) for train, _ in table.folds)
    plain = all(isinstance(k, Integral) and is_number(k) and 1 <= int(k) <= largest for k, _ in points)
    require(plain, "n_neighbors is not between 1 and the number of training rows")
    for _, weights in points:
        # A bandwidth that is not given depends on k and on the training rows; a function might too.
        known = weights in (None, "uniform", "distance") or (weights == "gaussian" and model.bandwidth is not None)
        require(known, "these weights are not those of one list of neighbours")
    named = isinstance(model.metric, str) and model.metric in NAMES and model.metric != "precomputed"
    require(named, "the metric is not one of the named ones")
    sorted_rows = all(np.all(np.diff(train) > 0) for train, _ in table.folds)
    require(sorted_rows, "equal distances go by row number: training rows must be in order")
    read = read_table(table, labels=labels, dtype=(np.float64, np.float32), order="C")
    require(read.y.ndim == 1, "several targets are fitted one by one")
    return read, [(int(k), "uniform" if weights is None else weights) for k, weights in points]


def neighbor_answers(
    model: BaseEstimator, table: FoldTable, grid: Grid, points: Sequence[Point], answer: Answer
) -> FoldAnswers:
    """Every point's answers on each fold, from one list of neighbours."""
    ks = np.array([k for k, _ in points])
    groups = group_grid(points, lambda point: point[1])
    passes = 1 if table.number is not None else len(table.folds)

    def scores() -> Iterator[Answers]:
        for (train, _), (distances, rows) in zip(table.folds, _neighbors(model, table, int(ks.max()))):
            parts = []
            for weights, where in groups:
                most = int(ks[where].max())
                w = _votes.weigh(distances[:, :most], weights, model.bandwidth)
                parts.append((where, [answer(train, rows[:, :most], w, ks[where])]))
            yield next(iter(assemble(grid, parts)))

    return assemble(grid, [(list(range(len(grid))), scores())], passes)


def _neighbors(model: BaseEstimator, table: FoldTable, most: int) -> Iterator[tuple[Array, Array]]:
    """Distances and row numbers (of X) of the nearest training rows of each fold's test rows."""
    X = table.X
    metric = resolve(model.metric, model.p, model.metric_params, model.feature_weights, X.shape[1])
    if table.number is not None:
        index = Index(X, metric, model.algorithm, model.leaf_size, model.n_jobs)
        distances, rows = index.query(index.X, most, table.number, table.number)
        for _, test in table.folds:
            yield distances[test], rows[test]
        return
    for train, test in table.folds:
        index = Index(X[train], metric, model.algorithm, model.leaf_size, model.n_jobs)
        distances, rows = index.query(X[test], most)
        yield distances, train[rows]


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
