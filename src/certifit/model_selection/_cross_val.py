"""Scores and answers of held-out rows under scikit-learn's names and signatures, from shared work where possible."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import cross_val_predict as _theirs
from sklearn.utils import indexable

from certifit._types import CV, Array, Estimator, MatrixLike, VectorLike
from certifit.model_selection._cross_validate import cross_validate
from certifit.model_selection._run import Keep, Run, Trial, Workers, attempt, hopeless
from certifit.resampling import folds


def cross_val_score(
    estimator: Estimator,
    X: MatrixLike,
    y: VectorLike | None = None,
    *,
    groups: VectorLike | None = None,
    scoring: str | Callable[..., float] | None = None,
    cv: CV = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: Mapping[str, Any] | None = None,
    pre_dispatch: int | str = "2*n_jobs",
    error_score: float | str = np.nan,
) -> Array:
    """The score of every fold, an array (K,): `cross_validate` that returns the scores alone.

    Parameters
    ----------
    estimator : estimator
    X, y : array-like
    scoring : str, callable or None, default=None
        One score; None is the estimator's own.
    groups, cv, n_jobs, verbose, params, pre_dispatch, error_score :
        As in `cross_validate`.

    Returns
    -------
    ndarray of shape (K,)

    Examples
    --------
    >>> from certifit.linear_model import Ridge
    >>> X = np.linspace(0, 1, 40)[:, None]
    >>> cross_val_score(Ridge(), X, 3 * X[:, 0] + np.sin(20 * X[:, 0]), cv=4, scoring="neg_mean_squared_error").shape
    (4,)
    """
    check_scoring(estimator, scoring=scoring)  # one score, and a name that exists
    found = cross_validate(
        estimator, X, y, groups=groups, scoring=scoring, cv=cv, n_jobs=n_jobs, verbose=verbose, params=params,
        pre_dispatch=pre_dispatch, error_score=error_score,
    )  # fmt: skip
    return np.asarray(found["test_score"])


def cross_val_predict(
    estimator: Estimator,
    X: MatrixLike,
    y: VectorLike | None = None,
    *,
    groups: VectorLike | None = None,
    cv: CV = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: Mapping[str, Any] | None = None,
    pre_dispatch: int | str = "2*n_jobs",
    method: str = "predict",
) -> Array:
    """Predictions for every row by the model not fitted on it: row i gets f₋ₖ(xᵢ), where k is the fold that tests i.

    Parameters
    ----------
    estimator : estimator
    X, y : array-like
    method : {"predict", "predict_proba", "predict_log_proba", "decision_function"}, default="predict"
    groups, cv, n_jobs, verbose, params, pre_dispatch :
        As in `cross_validate`.

    Returns
    -------
    ndarray of shape (n, ...)

    Examples
    --------
    >>> from certifit.linear_model import Ridge
    >>> X = np.linspace(0, 1, 40)[:, None]
    >>> cross_val_predict(Ridge(alpha=1e-9), X, 3 * X[:, 0])[1:3].round(6)
    array([0.076923, 0.153846])
    """
    drawn: Any = cv
    if not hopeless(estimator, share=True) and y is not None and not params:
        X, y, groups = indexable(X, y, groups)
        drawn = folds(X, y, cv, classifier=is_classifier(estimator), groups=groups)
        if _serves(estimator, y, drawn):
            trial = Trial(estimator, X, y, keep=Keep(answers=(method,)))
            found = attempt(trial, drawn, [{}], Workers())
            if isinstance(found, Run):
                return _in_order(found, [test for _, test in drawn], method)
    options = {"n_jobs": n_jobs, "verbose": verbose, "params": params, "pre_dispatch": pre_dispatch, "method": method}
    theirs: Array = _theirs(estimator, X, y, groups=groups, cv=drawn, **options)
    return theirs


def _serves(estimator: Estimator, y: VectorLike, drawn: Any) -> bool:
    """Whether every row is tested once and, for a classifier, every fold is trained on all classes."""
    tests = np.concatenate([test for _, test in drawn])
    labels = np.asarray(y)
    once = len(tests) == len(labels) and len(np.unique(tests)) == len(tests)
    if not once or labels.ndim != 1:
        return False
    classes = len(np.unique(labels)) if is_classifier(estimator) else 0
    return all(len(np.unique(labels[train])) == classes for train, _ in drawn) if classes else True


def _in_order(found: Run, tests: list[Array], method: str) -> Array:
    rows = np.concatenate(tests)
    answers = np.concatenate([np.asarray(o.answers[method]) for o in found.outcomes])
    out = np.empty_like(answers)
    out[rows] = answers
    return out
