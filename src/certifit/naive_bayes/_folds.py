"""Cross-validation in one read: the statistics of a training set are the total minus the fold's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from certifit._types import Array
from certifit.naive_bayes._base import NaiveBayes


class FoldFit(NamedTuple):
    """A model fitted to all rows but those of one fold."""

    fold: int
    params: Mapping[str, Any]
    model: Any


def fit_folds(
    model: NaiveBayes,
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
    >>> fits = fit_folds(BernoulliNB(), X, y, [np.array([0]), np.array([1])], [{"alpha": a} for a in (0.5, 1.0)])
    >>> [round(float(np.exp(f.model.feature_log_prob_[1, 0])), 4) for f in fits]
    [0.75, 0.6667, 0.8333, 0.75]
    """
    reader = clone(model)
    reader._validate_params()
    rows, classes, codes, weight = reader._encoded(X, y, sample_weight)
    K, grid, folds = len(classes), list(grid), [np.asarray(f) for f in folds]

    def tally(index: Any) -> Any:
        return reader._tally(rows[index], codes[index], K, None if weight is None else weight[index])

    parts = [tally(f) for f in folds]
    covered = np.bincount(np.concatenate(folds), minlength=len(codes)) if folds else np.zeros(0)
    if len(folds) > 1 and np.all(covered == 1):  # the folds are a partition: their sum is the total
        total = parts[0]
        for part in parts[1:]:
            total = total + part
    else:
        total = tally(slice(None))
    for k, part in enumerate(parts):
        rest = total - part
        for params in grid:
            fitted = clone(model).set_params(**params)
            fitted.__dict__.update({n: v for n, v in vars(reader).items() if n not in reader.get_params()})
            fitted._adopt_seen(rest, classes)
            fitted._withhold_certificates(
                "This model was fitted for cross-validation: fit it anew to have it proved."
            )
            yield FoldFit(k, params, fitted)
