"""Scores of many candidates at once, from the matrix of their answers for one fold's test rows.

Each function takes the labels or targets y (n,), the candidates' answers (candidates, n) or (candidates, n, classes),
weights (n,) or None and the sorted labels of the training rows, and returns (candidates,) scores that equal
scikit-learn's scorer of the same name. A candidate whose answers the score is not defined for (not finite, or not
positive where a deviance needs it) scores nan, as a failed fit does. `QUICK` has them by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from certifit._types import Array

Weights = Array | None
Formula = Callable[[Array, Array, Weights, Array | None], Array]


@dataclass(frozen=True)
class Quick:
    """A score of many candidates at once: which answers it looks at (the first that a model gives), and the formula."""

    formula: Formula
    answers: tuple[str, ...] = ("predict",)
    suits: Callable[[Array, Array | None], bool] = lambda y, classes: True


def _mean(values: Array, w: Weights) -> Array:
    return np.asarray(values.mean(axis=1) if w is None else values @ w / w.sum())


def _squares(y: Array, p: Array, w: Weights) -> Array:
    gap = p - y
    return np.asarray(np.einsum("cn,cn->c", gap, gap) if w is None else np.einsum("cn,cn,n->c", gap, gap, w))


def _mse(y: Array, p: Array, w: Weights) -> Array:
    return _squares(y, p, w) / (len(y) if w is None else w.sum())


def _r2(y: Array, p: Array, w: Weights, classes: Array | None) -> Array:
    centre = np.average(y, axis=0, weights=w)
    total = np.square(y - centre) if w is None else w * np.square(y - centre)
    left, total = _squares(y, p, w), np.sum(total)
    if total == 0 or np.all(y == y[0]):  # scikit-learn's convention for equal values
        return np.where(left == 0, 1.0, 0.0)
    return np.asarray(1.0 - left / total)


def _balanced(y: Array, p: Array, w: Weights, classes: Array | None) -> Array:
    right = (p == y).astype(float)
    return np.asarray(
        np.mean([_mean(right[:, y == c], None if w is None else w[y == c]) for c in np.unique(y)], axis=0)
    )


def _poisson(y: Array, p: Array, w: Weights, classes: Array | None) -> Array:
    with np.errstate(all="ignore"):
        return _mean(-2.0 * np.where(p > 0, xlogy(y, y / p) - y + p, np.nan), w)


def _gamma(y: Array, p: Array, w: Weights, classes: Array | None) -> Array:
    with np.errstate(all="ignore"):
        return _mean(-2.0 * np.where(p > 0, np.log(p / y) + y / p - 1.0, np.nan), w)


def _log_loss(y: Array, p: Array, w: Weights, classes: Array | None) -> Array:
    """Mean logarithm of the probability of the true class, kept within rounding of 0 and 1 as scikit-learn does."""
    assert classes is not None
    eps = np.finfo(p.dtype).eps
    own = np.take_along_axis(p, np.searchsorted(classes, y)[None, :, None], axis=2)[:, :, 0]
    return _mean(np.log(np.clip(own, eps, 1.0 - eps)), w)


def _auc(y: Array, scores: Array, w: Weights, classes: Array | None) -> Array:
    """Share of (positive, negative) pairs ranked rightly, ties half: from the sum of the positives' ranks."""
    assert classes is not None
    scores = scores[:, :, 1] if scores.ndim == 3 else scores
    positive = y == classes[1]
    finite: Array = np.asarray(np.isfinite(scores).all(axis=1))
    if w is not None:
        return np.array([_pairs(positive, s, w) if ok else np.nan for s, ok in zip(scores, finite)])
    hits, misses = int(positive.sum()), int((~positive).sum())
    ranks = _rank_sums(np.where(finite[:, None], scores, 0.0), positive)
    return np.where(finite, (ranks - hits * (hits + 1) / 2) / (hits * misses), np.nan)


def _rank_sums(scores: Array, chosen: Array) -> Array:
    """The sum of the ranks (from 1, ties shared) of the chosen columns, in each row: exact, as halves are."""
    order = np.argsort(scores, axis=1)
    rising, places = np.take_along_axis(scores, order, axis=1), np.arange(scores.shape[1])
    new = rising[:, 1:] != rising[:, :-1]
    if new.all():  # no ties, as scores of most models have none
        return np.asarray(chosen[order] @ (places + 1.0))
    first, last = np.zeros(scores.shape, dtype=np.int64), np.full(scores.shape, len(places) - 1)
    first[:, 1:] = np.maximum.accumulate(np.where(new, places[1:], 0), axis=1)
    last[:, :-1] = np.minimum.accumulate(np.where(new, places[:-1], len(places) - 1)[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(((first + last + 2) * chosen[order]).sum(axis=1) / 2)


def _pairs(positive: Array, scores: Array, w: Array) -> float:
    """The same with weights: each positive counts the negatives below it, and half of those beside it."""
    level = np.unique(scores, return_inverse=True)[1]
    above = np.bincount(level, w * positive)
    beside = np.bincount(level, w * ~positive, len(above))
    below = np.cumsum(beside) - beside
    return float(above @ (below + 0.5 * beside) / (above.sum() * beside.sum()))


def _two(y: Array, classes: Array | None) -> bool:
    return classes is not None and len(classes) == 2 and np.array_equal(np.unique(y), classes)


def _all(y: Array, classes: Array | None) -> bool:
    return classes is not None and np.array_equal(np.unique(y), classes)


QUICK: Mapping[str, Quick] = {
    "r2": Quick(_r2, suits=lambda y, c: len(y) > 1),
    "neg_mean_squared_error": Quick(lambda y, p, w, c: -_mse(y, p, w)),
    "neg_root_mean_squared_error": Quick(lambda y, p, w, c: -np.sqrt(_mse(y, p, w))),
    "neg_mean_absolute_error": Quick(lambda y, p, w, c: -_mean(np.abs(p - y), w)),
    "neg_mean_poisson_deviance": Quick(_poisson, suits=lambda y, c: bool(np.min(y) >= 0)),
    "neg_mean_gamma_deviance": Quick(_gamma, suits=lambda y, c: bool(np.min(y) > 0)),
    "accuracy": Quick(lambda y, p, w, c: _mean((p == y).astype(float), w)),
    "balanced_accuracy": Quick(_balanced),
    "roc_auc": Quick(_auc, ("decision_function", "predict_proba"), _two),
    "neg_log_loss": Quick(_log_loss, ("predict_proba",), _all),
}
"""Scores that need no scorer call per candidate, by scikit-learn's names."""
