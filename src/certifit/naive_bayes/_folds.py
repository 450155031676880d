"""Cross-validation in one read: the statistics of a training set are the total minus the fold's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from certifit._types import Answers, Array, BaseEstimator, Grid, Matrix
from certifit.resampling import FoldAnswers, FoldSums, FoldTable, assemble, require, require_shared

# Settings that are applied to the statistics and do not change how a row is read.
SHAREABLE = {"alpha", "force_alpha", "fit_prior", "class_prior", "priors", "var_smoothing"}


class FoldFit(NamedTuple):
    """A model fitted to all rows but those of one fold.

    Attributes
    ----------
    fold : int
    params : mapping
    model : fitted estimator

    Examples
    --------
    >>> from certifit.naive_bayes import BernoulliNB, fit_folds
    >>> X, y = np.array([[0], [1], [0], [1]]), np.array([0, 1, 0, 1])
    >>> fit = next(iter(fit_folds(BernoulliNB(), X, y, [np.array([0, 1]), np.array([2, 3])], [{"alpha": 1.0}])))
    >>> fit.fold, fit.params
    (0, {'alpha': 1.0})
    """

    fold: int
    params: Mapping[str, Any]
    model: Any


class Tallies:
    """The statistics of each fold's training rows, from one read of all rows."""

    def __init__(self, model: BaseEstimator, table: FoldTable) -> None:
        self.model, self.reader = model, clone(model)
        self.reader._validate_params()
        self.rows, self.classes, codes, weight = self.reader._encoded(table.X, table.y, table.weights)

        def tally(index: Array | slice) -> Any:
            part = None if weight is None else weight[index]
            return self.reader._tally(self.rows[index], codes[index], len(self.classes), part)

        self.sums: FoldSums[Any] = FoldSums(table, tally)
        self._made: tuple[Grid, list[Any]] | None = None

    def fitted(self, fold: int, grid: Grid) -> Iterator[Any]:
        """The model with each point's settings, fitted to the training rows of a fold."""
        statistics = self.sums.training(fold)
        for one in self._points(grid):
            twin = copy(one)
            twin._adopt_seen(statistics, self.classes)
            twin._withhold_certificates("This model was fitted for cross-validation: fit it anew to have it proved.")
            yield twin

    def _points(self, grid: Grid) -> list[Any]:
        """The model with each point's settings and what reading the rows has found; the same for all folds."""
        if self._made is None or self._made[0] is not grid:
            settings, fresh = self.reader.get_params(), clone(self.model)
            read = {name: value for name, value in vars(self.reader).items() if name not in settings}
            made = [copy(fresh).set_params(**params) for params in grid]
            for one in made:
                one.__dict__.update(read)
            self._made = grid, made
        return self._made[1]

    def loses_categories(self) -> bool:
        """Whether some fold trains without a category: its model would not know it."""
        seen = _cells(self.sums.total)
        if seen is None:
            return False
        trained = [_cells(self.sums.training(k)) for k in range(len(self.sums.table.folds))]
        # Counts of training rows end at the largest category they hold.
        return any(len(mine) < len(seen) or bool(np.any((seen > 0) & (mine <= 0))) for mine in trained)


def _cells(statistics: Any) -> Any:
    """Column totals of category counts; None for models without categories."""
    categories = getattr(statistics, "categories", statistics)
    return None if getattr(categories, "sizes", None) is None else categories.cells.sum(axis=0)


def fit_folds(
    model: BaseEstimator,
    X: Matrix,
    y: Any,
    folds: Iterable[Array],
    grid: Iterable[Mapping[str, Any]] = ({},),
    sample_weight: Any = None,
) -> Iterator[FoldFit]:
    """Models for every fold and every setting, from one pass over the data.

    Parameters
    ----------
    model : a naive Bayes classifier
        Its settings; it is not changed.
    X, y, sample_weight :
        All rows.
    folds : iterable of ndarray of int
        The test rows of each fold.
    grid : iterable of dict, default=({},)
        Settings that do not change how a row is read (``alpha``, ``var_smoothing``, ``fit_prior``, ...).

    Yields
    ------
    FoldFit
        ``(fold, params, model)``: the model is fitted to the rows outside the fold.

    Examples
    --------
    >>> from certifit.naive_bayes import BernoulliNB, fit_folds
    >>> X, y = np.array([[1], [0], [1], [0]]), np.array([1, 0, 1, 0])
    >>> folds, grid = [np.array([0]), np.array([1])], [{"alpha": 0.5}, {"alpha": 1.0}]
    >>> [round(float(np.exp(f.model.feature_log_prob_[1, 0])), 4) for f in fit_folds(BernoulliNB(), X, y, folds, grid)]
    [0.75, 0.6667, 0.8333, 0.75]
    """
    grid = list(grid)
    strange = {name for params in grid for name in params} - SHAREABLE
    if strange:
        raise ValueError(
            f"{', '.join(sorted(strange))} changes how rows are read: folds can share {sorted(SHAREABLE)}."
        )
    tests, every = [np.asarray(test) for test in folds], np.arange(len(np.asarray(y)))
    table = FoldTable(X, y, [(np.delete(every, test), test) for test in tests], sample_weight)
    tallies = Tallies(model, table)
    for k in range(len(tests)):
        for params, fitted in zip(grid, tallies.fitted(k, grid)):
            yield FoldFit(k, params, fitted)


def bayes_answers(model: BaseEstimator, table: FoldTable, grid: Grid, response: tuple[str, ...]) -> FoldAnswers:
    """Answers of every setting on each fold."""
    require_shared(model, grid, SHAREABLE)
    require(table.complementary, "a fold does not train on all rows that it does not test")
    require(all(hasattr(model, name) for name in response), "the score needs other predictions")
    tallies = Tallies(model, table)
    require(not tallies.loses_categories(), "a category is seen only in rows that a fold tests")

    def scores() -> Iterator[Answers]:
        for k, (_, test) in enumerate(table.folds):
            models = list(tallies.fitted(k, grid))
            yield {name: np.stack([m._respond(name, tallies.rows[test]) for m in models]) for name in response}

    return assemble(grid, [(list(range(len(grid))), scores())])
