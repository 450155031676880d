"""Shared work of least squares, ridge and lasso: all folds and all α from one pass (see `certifit.model_selection`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils import check_array

from certifit._types import Array
from certifit.linear_model._base import read_weights
from certifit.parallel import side_by_side
from certifit.resampling import Fold
from certifit.solvers.coordinate import is_tall
from certifit.solvers.lasso_folds import LassoFolds
from certifit.solvers.ridge_folds import ridge_folds, rows_of

_FINEST = 1e-13  # the smallest gap worth asking for
_LARGE = 200  # columns below which a path is solved nearly exactly, whatever the tolerance: it costs next to nothing
_SMALL = 1e-9


def penalties(model: Any, grid: Sequence[Mapping[str, Any]]) -> list[tuple[bool, float]] | None:
    """(fit_intercept, α) of each grid point; None when a point asks for more than closed forms give."""
    if model.positive:
        return None
    found = []
    for point in grid:
        if not set(point) <= {"alpha", "fit_intercept"}:
            return None
        alpha = point.get("alpha", getattr(model, "alpha", 0.0))
        offset = point.get("fit_intercept", model.fit_intercept)
        plain = isinstance(alpha, (int, float, np.number)) and not isinstance(alpha, bool)
        if not plain or not 0 <= alpha < np.inf or not isinstance(offset, bool):
            return None
        found.append((offset, float(alpha)))
    return found


def ridge_fold_path(
    X: Any,
    y: Any,
    folds: Sequence[Fold],
    settings: Sequence[tuple[bool, float]],
    response: tuple[str, ...],
    sample_weight: Any,
) -> Iterator[dict[str, Array]] | None:
    """Predictions of every setting on each fold's test rows; None for input that is better met one fit at a time."""
    table = _read(X, y, response, sample_weight)
    return None if table is None else _predictions(table[0], table[1], folds, settings, table[2])


def _read(X: Any, y: Any, response: tuple[str, ...], sample_weight: Any) -> tuple[Array, Array, Array | None] | None:
    """Dense rows, real targets and weights; None for input that is better met one fit at a time."""
    if response != ("predict",) or scipy.sparse.issparse(X):
        return None
    try:
        X = check_array(X, dtype=[np.float64, np.float32])
        y = check_array(y, dtype="numeric", ensure_2d=False, allow_nd=False)
        weights = read_weights(sample_weight, X)
    except (TypeError, ValueError):
        return None  # a fit says what is wrong
    if len(X) != len(y) or np.asarray(y).dtype.kind not in "biuf":
        return None
    return X, np.asarray(y, dtype=float), weights


def _predictions(
    X: Array, y: Array, folds: Sequence[Fold], settings: Sequence[tuple[bool, float]], weights: Array | None
) -> Iterator[dict[str, Array]]:
    groups = [[i for i, (b, _) in enumerate(settings) if b is flag] for flag in (True, False)]
    groups = [g for g in groups if g]
    Y = y.reshape(len(y), -1)
    paths = [
        ridge_folds(X, Y, folds, np.array([settings[i][1] for i in g]), weights, settings[g[0]][0]) for g in groups
    ]
    for (_, test), *found in zip(folds, *paths):
        rows = X[rows_of(test)]
        parts = [_scores(coef, offset, rows) for coef, offset in found]
        out = parts[0]
        if len(parts) > 1:
            out = np.empty((len(settings), *parts[0].shape[1:]))
            for where, part in zip(groups, parts):
                out[where] = part
        yield {"predict": out[:, :, 0] if y.ndim == 1 else out}


def _scores(coef: Array, offset: Array, rows: Array) -> Array:
    """(a, rows, t)."""
    a, t, d = coef.shape
    scores = coef.reshape(a * t, d) @ rows.T
    scores += offset.reshape(a * t, 1)
    return scores.reshape(a, t, -1).transpose(0, 2, 1)


def lasso_fold_path(
    model: Any,
    X: Any,
    y: Any,
    folds: Sequence[Fold],
    grid: Sequence[Mapping[str, Any]],
    response: tuple[str, ...],
    sample_weight: Any,
) -> LassoAnswers | None:
    """Predictions of a lasso or elastic net for every grid point on each fold; None unless the data are tall."""
    settings = [
        (float(p.get("l1_ratio", model._ratio())), float(p.get("alpha", model.alpha)))
        for p in grid
        if set(p) <= {"alpha", "l1_ratio"} and all(isinstance(v, (int, float, np.number)) for v in p.values())
    ]
    table = _read(X, y, response, sample_weight)
    if table is None or len(settings) < len(grid) or table[1].ndim != 1:
        return None
    valid = all(0.0 < ratio <= 1.0 and 0.0 < alpha < np.inf for ratio, alpha in settings)
    tall = all(is_tall(len(train), table[0].shape[1]) for train, _ in folds)
    return LassoAnswers(model, *table, folds, settings, (X, y, sample_weight)) if valid and tall else None


class LassoAnswers:
    """Predictions fold by fold, and the fit to all rows afterwards, from the same moments."""

    def __init__(
        self,
        model: Any,
        X: Array,
        y: Array,
        weights: Array | None,
        folds: Sequence[Fold],
        settings: Sequence[tuple[float, float]],
        given: tuple[Any, Any, Any],
    ) -> None:
        self.model, self.X, self.folds, self.settings, self.given = model, X, folds, settings, given
        self.known = LassoFolds(X, y, folds, weights, model.fit_intercept)

    def __iter__(self) -> Iterator[dict[str, Array]]:
        groups: dict[float, list[int]] = {}
        for i, (ratio, _) in enumerate(self.settings):
            groups.setdefault(ratio, []).append(i)
        tol = self.model.tol if self.X.shape[1] >= _LARGE else min(self.model.tol, _SMALL)
        found = [
            self.known.paths(np.array([self.settings[i][1] for i in g]), ratio, self.model.positive, max(tol, _FINEST))
            for ratio, g in groups.items()
        ]

        def answers(fold: int) -> dict[str, Array]:
            rows = self.X[rows_of(self.folds[fold][1])]
            out = np.empty((len(self.settings), len(rows)))
            for where, path in zip(groups.values(), found):
                coef, offset = path[fold]
                out[where] = coef @ rows.T + offset[:, None]
            return {"predict": out}

        yield from side_by_side(answers, range(len(self.folds)))

    def refit(self, model: Any) -> Any:
        """Fit a model (of the same class and offset) to all rows."""
        same = model.fit_intercept == self.known.fit_intercept
        return model._fit(*self.given, gram=self.known.gram() if same else None)
