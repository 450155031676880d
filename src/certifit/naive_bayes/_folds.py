"""Cross-validation in one read: the statistics of a training set are the total minus the fold's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from certifit._types import Array

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
    """The statistics of all rows and of each fold's own, from one read."""

    def __init__(self, model: Any, X: Any, y: Any, tests: Sequence[Array], sample_weight: Any = None) -> None:
        self.reader = clone(model)
        self.reader._validate_params()
        self.rows, self.classes, codes, weight = self.reader._encoded(X, y, sample_weight)
        self.tests = [np.asarray(t) for t in tests]

        def tally(index: Any) -> Any:
            part = None if weight is None else weight[index]
            return self.reader._tally(self.rows[index], codes[index], len(self.classes), part)

        self.parts = [tally(t) for t in self.tests]
        if len(self.tests) > 1 and np.all(np.bincount(np.concatenate(self.tests), minlength=len(codes)) == 1):
            self.total = self.parts[0]  # a partition: its parts add up to the whole
            for part in self.parts[1:]:
                self.total = self.total + part
        else:
            self.total = tally(slice(None))

    def without(self, fold: int) -> Any:
        """Statistics of the rows outside a fold."""
        return self.total - self.parts[fold]

    def fitted(self, model: Any, fold: int, params: Mapping[str, Any]) -> Any:
        """A copy of the model with these settings, fitted to the rows outside a fold."""
        twin = clone(model).set_params(**params)
        settings = twin.get_params()
        twin.__dict__.update({name: v for name, v in vars(self.reader).items() if name not in settings})
        twin._adopt_seen(self.without(fold), self.classes)
        twin._withhold_certificates("This model was fitted for cross-validation: fit it anew to have it proved.")
        return twin

    def loses_categories(self) -> bool:
        """Whether some category is seen in one fold only: a model of the other rows would not know it."""
        seen = _cells(self.total)
        return seen is not None and any(
            bool(np.any((seen > 0) & (_cells(self.without(k)) <= 0))) for k in range(len(self.parts))
        )


def _cells(statistics: Any) -> Any:
    """Column totals of category counts; None for models without categories."""
    categories = getattr(statistics, "categories", statistics)
    return None if getattr(categories, "sizes", None) is None else categories.cells.sum(axis=0)


def fit_folds(
    model: Any,
    X: Any,
    y: Any,
    folds: Iterable[Array],
    grid: Iterable[Mapping[str, Any]] = ({},),
    sample_weight: Any = None,
) -> Iterator[FoldFit]:
    """Models for every fold and every setting, from one read of the data.

    Parameters
    ----------
    model : a naive Bayes classifier
        Its settings; it is not changed.
    X, y, sample_weight :
        All rows.
    folds : iterable of ndarray of int
        The rows each fold holds back for testing.
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
    tallies = Tallies(model, X, y, list(folds), sample_weight)
    for k in range(len(tallies.parts)):
        for params in grid:
            yield FoldFit(k, params, tallies.fitted(model, k, params))


def fold_answers(
    model: Any, X: Any, y: Any, folds: Any, grid: Any, response: Sequence[str], sample_weight: Any
) -> Iterator[dict[str, Array]] | None:
    """What `model_selection` asks of a model that shares work: answers per fold, stacked over the grid."""
    n = len(np.asarray(y))
    if any(name not in SHAREABLE for params in grid for name in params):
        return None
    if any(len(train) + len(test) != n or len(np.union1d(train, test)) != n for train, test in folds):
        return None  # a training set is not all rows but the fold's
    if any(not hasattr(model, name) for name in response):
        return None
    tallies = Tallies(model, X, y, [test for _, test in folds], sample_weight)
    if tallies.loses_categories():
        return None

    def answers() -> Iterator[dict[str, Array]]:
        for k, test in enumerate(tallies.tests):
            rows = tallies.rows[test]
            found: dict[str, list[Array]] = {name: [] for name in response}
            for params in grid:
                twin = tallies.fitted(model, k, params)
                for name in response:
                    found[name].append(twin._respond(name, rows))
            yield {name: np.stack(parts) for name, parts in found.items()}

    return answers()
