"""Shared work of logistic regression: all folds and grid points together (see `certifit.model_selection`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import expit, logit, softmax
from sklearn.base import clone
from sklearn.utils import check_array, compute_class_weight

from certifit._types import Array
from certifit.linear_model._base import read_weights
from certifit.resampling import CannotShare, Fold
from certifit.solvers.logistic_folds import FoldRows, logistic_folds

_WITHOUT_EFFECT = {"dual", "intercept_scaling", "random_state", "verbose", "n_jobs", "solver"}
_SHARED = {"penalty", "C", "l1_ratio", "fit_intercept", "class_weight", "prior", "threshold", "costs", "tol"}


def labels(scores: Array, classes: Array, threshold: float) -> Array:
    """The likelier class; for two (scores without an axis for classes), the second where it exceeds the threshold."""
    if len(classes) == 2:
        return classes[(scores > logit(threshold)).astype(int)]
    return classes[scores.argmax(axis=-1)]


def probabilities(scores: Array, classes: Array) -> Array:
    """Probabilities of the classes along the last axis."""
    if len(classes) == 2:
        return np.stack([expit(-scores), expit(scores)], axis=-1)
    return softmax(scores, axis=-1)


def logistic_fold_path(
    model: Any,
    X: Any,
    y: Any,
    folds: Sequence[Fold],
    grid: Sequence[Mapping[str, Any]],
    response: tuple[str, ...],
    sample_weight: Any,
) -> Iterator[dict[str, Array]] | None:
    """Answers of every grid point on each fold's test rows; None for what is better met one fit at a time."""
    if any(not set(point) <= _SHARED | _WITHOUT_EFFECT for point in grid):
        return None
    if model.time_budget is not None or model.max_iter < 50 or model.trace:
        return None
    try:
        models = [clone(model).set_params(**point) for point in grid]
        for m in models:
            m._validate_params()
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
        y = check_array(y, ensure_2d=False, dtype=None)
        weights = read_weights(sample_weight, X)
    except (TypeError, ValueError):
        return None  # a fit says what is wrong
    if y.ndim != 1 or len(y) != X.shape[0]:
        return None
    classes, code = np.unique(y, return_inverse=True)
    if len(classes) < 2 or any(_lacks(code[train], weights, train, len(classes)) for train, _ in folds):
        return None
    return _answers(models, X, classes, code, weights, folds, response)


def _lacks(code: Array, weights: Array | None, train: Array, count: int) -> bool:
    """Whether a fold trains without one of the classes."""
    return bool(np.any(np.bincount(code, None if weights is None else weights[train], count) <= 0))


def _answers(
    models: Sequence[Any],
    X: Any,
    classes: Array,
    code: Array,
    weights: Array | None,
    folds: Sequence[Fold],
    response: tuple[str, ...],
) -> Iterator[dict[str, Array]]:
    K = 1 if len(classes) == 2 else len(classes)
    coef, intercept = np.empty((len(folds), len(models), K, X.shape[1])), np.empty((len(folds), len(models), K))
    for where in _alike(models):
        found = _coefficients([models[i] for i in where], X, classes, code, weights, folds)
        coef[:, where], intercept[:, where] = found
    coef, intercept = coef.astype(X.dtype), intercept.astype(X.dtype)
    for j, (_, test) in enumerate(folds):
        rows = X[test]
        scores = np.asarray((rows @ coef[j].reshape(-1, X.shape[1]).T).T).reshape(len(models), K, -1)
        scores = scores + intercept[j][:, :, None]
        scores = scores[:, 0] if K == 1 else scores.transpose(0, 2, 1)
        answers: dict[str, Array] = {}
        if "decision_function" in response:
            answers["decision_function"] = scores
        if "predict_proba" in response:
            answers["predict_proba"] = probabilities(scores, classes)
        if "predict" in response:
            answers["predict"] = np.array([labels(s, classes, m._cut()) for s, m in zip(scores, models)])
        yield answers


def _alike(models: Sequence[Any]) -> list[list[int]]:
    """Positions of models that differ in their strength (or what only answers depend on) alone."""
    groups: list[list[int]] = []
    for i, m in enumerate(models):
        for g in groups:
            other = models[g[0]]
            same = (m._penalty()[1], m.fit_intercept, m.tol) == (other._penalty()[1], other.fit_intercept, other.tol)
            if same and m.class_weight == other.class_weight and np.array_equal(m.prior, other.prior):
                g.append(i)
                break
        else:
            groups.append([i])
    return groups


def _coefficients(
    models: Sequence[Any], X: Any, classes: Array, code: Array, weights: Array | None, folds: Sequence[Fold]
) -> tuple[Array, Array]:
    one = models[0]
    ratio = one._penalty()[1]
    factors = np.array(
        [
            compute_class_weight(
                one.class_weight,
                classes=classes,
                y=classes[code[train]],
                sample_weight=None if weights is None else weights[train],
            )
            for train, _ in folds
        ]
    )
    strengths, which = np.unique([m._penalty()[0] for m in models], return_inverse=True)
    rows = FoldRows(X, code, len(classes), folds, weights, factors)
    found = logistic_folds(
        rows,
        strengths,
        ratio,
        fit_intercept=one.fit_intercept,
        prior=one._read_prior(len(classes), X.shape[1], ratio),
        tol=one.tol**2 / 10,
    )
    if found is None:
        raise CannotShare("a fit alone is the better road")
    return found[0][:, which], found[1][:, which]
