"""The shared road: all folds and grid points from one piece of work (protocol: package docstring)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from certifit._sklearn import safe_indexing
from certifit._types import Answers, BaseEstimator, Estimator, Grid, Named
from certifit.model_selection._scoring import depth
from certifit.resampling import CannotShare, FoldAnswers, FoldTable, assemble, group_grid, require

Response = tuple[str, ...]


@dataclass(frozen=True)
class Sharing:
    """What a search (or a cross-validation) shared across folds and grid points, or why it did not.

    Attributes
    ----------
    shared : bool
    fits : int
        Grid points times folds: the fits that would have been made one by one.
    passes : int
        Pieces of work that were done in their place (equal to ``fits`` where nothing was shared).
    parameters : tuple of str
        Parameters of the grid whose values shared one piece of work.
    reason : str
        Why nothing was shared; empty where something was.

    Examples
    --------
    >>> from certifit.linear_model import Ridge
    >>> from certifit.model_selection import Search
    >>> X = np.linspace(0, 1, 40)[:, None]
    >>> print(Search(Ridge(), {"alpha": [0.1, 1.0, 10.0]}).fit(X, X[:, 0] ** 2).sharing_)
    15 fits from 1 pass: shared across folds and alpha.
    >>> print(Search(Ridge(positive=True), {"alpha": [0.1, 1.0]}).fit(X, X[:, 0] ** 2).sharing_)
    10 fits one by one: positive=True has no closed form.
    """

    shared: bool
    fits: int
    passes: int
    parameters: tuple[str, ...] = ()
    reason: str = ""

    def __str__(self) -> str:
        fits = f"{self.fits} fit{'s' * (self.fits != 1)}"
        if not self.shared:
            return f"{fits} one by one: {self.reason}."
        across = " and ".join(filter(None, ["folds", ", ".join(self.parameters)]))
        return f"{fits} from {self.passes} pass{'es' * (self.passes != 1)}: shared across {across}."


def fold_answers(estimator: Estimator, table: FoldTable, grid: Grid, response: Response) -> FoldAnswers:
    """Each fold's answers for every grid point; raises `CannotShare` where this estimator or grid shares no work."""
    require(table.y is not None, "there are no targets")
    require(len(grid) > 0, "the grid is empty")
    if isinstance(estimator, Pipeline):
        return _pipeline(estimator, table, grid, response)
    return _own_path(estimator, table, grid, response)


def _own_path(estimator: BaseEstimator, table: FoldTable, grid: Grid, response: Response) -> FoldAnswers:
    require(_shares(estimator, response), f"{type(estimator).__name__} shares no work across folds")
    found: FoldAnswers = estimator._fold_path(table, grid, response)
    return found


def _shares(estimator: object, response: Response) -> bool:
    """Whether the class has a path, and no subclass has since changed how it fits or answers."""
    kind = type(estimator)
    path = depth(kind, "_fold_path")
    return hasattr(kind, "_fold_path") and all(path <= depth(kind, name) for name in ("fit", *response))


def checked(found: FoldAnswers, table: FoldTable, response: Response) -> Iterator[Answers]:
    """Refuse answers of the wrong shape early: a path that slips must not pass for a score."""
    count, points = 0, len(found.grid)
    for (_, test), answers in zip(table.folds, found):
        count += 1
        for name in response:
            shape = np.shape(answers[name])
            require(shape[:2] == (points, len(test)), f"{name} has shape {shape}, not ({points}, {len(test)}, ...)")
        yield answers
    require(count == len(table.folds), f"{count} of {len(table.folds)} folds were answered")


# -- pipelines: preprocessing is fitted once per fold (and per setting of its own parameters)
# ------------------
def _pipeline(pipeline: Pipeline, table: FoldTable, grid: Grid, response: Response) -> FoldAnswers:
    last, final = pipeline.steps[-1]
    plain = len(pipeline.steps) > 1 and pipeline.memory is None and hasattr(final, "fit")
    require(plain, "the pipeline has a memory, or no model after its preprocessing")
    names = {name for point in grid for name in point}
    require(all("__" in k and k not in dict(pipeline.steps) for k in names), "whole steps of the pipeline vary")
    points = [_split(point, last) for point in grid]
    bundles = _bundles(pipeline, [(head, where) for head, where in group_grid(points, lambda p: p[0])])
    own = _shares(final, response)
    shares = own or any(len(groups) > 1 for _, groups in bundles)
    require(shares, f"{type(final).__name__} shares no work across folds")
    if own and len(bundles) == 1 and hasattr(final, "_nested_path"):
        with suppress(CannotShare):
            return _at_once(pipeline, table, grid, bundles[0], response)
    serve = _one_fold if own else _one_by_one

    def scores(stage: _Preprocessing, columns: int | None, where: Sequence[int]) -> Iterator[Answers]:
        for k in range(len(table.folds)):
            rows = stage.fold(k)
            rows = rows if columns is None else replace(rows, X=np.ascontiguousarray(rows.X[:, :columns]))
            yield serve(final, rows, [points[i][1] for i in where], response)

    parts = []
    for head, groups in bundles:
        stage = _Preprocessing(clone(pipeline).set_params(**head), table, len(groups))
        parts += [(where, scores(stage, columns, where)) for columns, where in groups]
    return assemble(grid, parts, passes=len(bundles) * len(table.folds))


def _at_once(pipeline: Pipeline, table: FoldTable, grid: Grid, bundle: Bundle, response: Response) -> FoldAnswers:
    """One preprocessing for all points, of which each uses some columns: the last step takes all folds at once."""
    (last, final), (head, groups) = pipeline.steps[-1], bundle
    widths = {i: columns for columns, where in groups for i in where if columns is not None}
    require(len(widths) == len(grid), "the points do not differ in their number of columns")
    require(final._nested_suits(len(table.folds), table.n, max(widths.values())), "the tables are large")
    stage = _Preprocessing(clone(pipeline).set_params(**head), table, 1)
    tables = [stage.fold(k) for k in range(len(table.folds))]
    own = [_split(point, last)[1] for point in grid]
    found: FoldAnswers = final._nested_path(tables, own, [widths[i] for i in range(len(grid))], response)
    return replace(found, grid=grid)


def _split(point: Named, step: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters of all other steps, and those of this one under their own names."""
    mine = f"{step}__"
    others = {k: v for k, v in point.items() if not k.startswith(mine)}
    return others, {k.removeprefix(mine): v for k, v in point.items() if k.startswith(mine)}


Bundle = tuple[dict[str, Any], list[tuple[int | None, list[int]]]]
"""One preprocessing, and the groups it serves: each uses so many of its first columns (None: all of them)."""


def _bundles(pipeline: Pipeline, groups: Sequence[tuple[dict[str, Any], list[int]]]) -> list[Bundle]:
    """Groups whose preprocessing differs only in how many columns it keeps, together."""
    name, step = pipeline.steps[-2]
    nested = getattr(step, "_nested_columns", None)
    found: list[Bundle] = []
    for others, members in group_grid(groups, lambda group: _split(group[0], name)[0]):
        own = [_split(groups[i][0], name)[1] for i in members]
        answer = nested(own) if nested is not None and len(own) > 1 else None
        if answer is None:
            found += [(groups[i][0], [(None, groups[i][1])]) for i in members]
        else:
            head = others | {f"{name}__{k}": v for k, v in answer[0].items()}
            found.append((head, [(count, groups[i][1]) for count, i in zip(answer[1], members)]))
    return found


class _Preprocessing:
    """The steps before the last, fitted to one fold at a time and kept until all its users have asked."""

    def __init__(self, pipeline: Pipeline, table: FoldTable, users: int) -> None:
        self.steps, self.table, self.users = pipeline[:-1], table, users
        self.waiting: list[FoldTable] = []

    def fold(self, k: int) -> FoldTable:
        """The preprocessed rows of fold k, as a table of this fold alone: training rows come first."""
        if not self.waiting:
            self.waiting = [self._fitted(k)] * self.users
        return self.waiting.pop()

    def _fitted(self, k: int) -> FoldTable:
        train, test = self.table.folds[k]
        X, y, both = self.table.X, self.table.y, np.concatenate([train, test])
        steps = clone(self.steps)
        try:
            inner = steps.fit_transform(safe_indexing(X, train), safe_indexing(y, train))
            outer = steps.transform(safe_indexing(X, test))
        except ValueError as error:
            raise CannotShare("the preprocessing fails") from error  # fits alone tell where
        dense = isinstance(inner, np.ndarray) and isinstance(outer, np.ndarray)
        require(dense, "the preprocessing gives something other than dense arrays")
        fold = (np.arange(len(train)), np.arange(len(train), len(both)))
        weights = None if self.table.weights is None else self.table.weights[both]
        return FoldTable(np.concatenate([inner, outer]), safe_indexing(y, both), [fold], weights)


def _one_fold(final: BaseEstimator, table: FoldTable, grid: Grid, response: Response) -> Answers:
    """The last step's own path, on this fold alone."""
    return next(iter(final._fold_path(table, grid, response)))


def _one_by_one(final: BaseEstimator, table: FoldTable, grid: Grid, response: Response) -> Answers:
    """The last step fitted point by point: only the preprocessing is shared."""
    train, test = table.folds[0]
    extra = {} if table.weights is None else {"sample_weight": table.weights[train]}
    labels = safe_indexing(table.y, train)
    try:
        models = [clone(final).set_params(**point).fit(table.X[train], labels, **extra) for point in grid]
    except ValueError as error:
        raise CannotShare("a fit of the last step fails") from error
    return {name: np.array([getattr(model, name)(table.X[test]) for model in models]) for name in response}
