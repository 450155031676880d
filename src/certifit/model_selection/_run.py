"""The ordinary road: fit one candidate on one fold, judge it, and do that for all of them side by side."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.pipeline import Pipeline
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from certifit._sklearn import check_method_params, safe_split
from certifit._types import Array
from certifit.model_selection._progress import Progress, watched
from certifit.model_selection._scoring import Scoring
from certifit.resampling import Fold


@dataclass
class Outcome:
    """What one candidate did on one fold."""

    scores: dict[str, float] = field(default_factory=dict)
    train_scores: dict[str, float] = field(default_factory=dict)
    fit_time: float = 0.0
    score_time: float = 0.0
    answers: dict[str, Array] = field(default_factory=dict)
    model: Any = None
    error: Exception | None = None


@dataclass(frozen=True)
class Wishes:
    """What to keep of each fit."""

    train_scores: bool = False
    answers: tuple[str, ...] = ()
    model: bool = False
    error_score: Any = np.nan


def fit_model(model: Any, X: Any, y: Any, weights: Array | None, fit_params: Mapping[str, Any] | None = None) -> Any:
    """Fit in place, handing weights to the step that takes them."""
    extra = dict(fit_params or {})
    if weights is not None:
        extra[weight_name(model)] = weights
    return model.fit(X, **extra) if y is None else model.fit(X, y, **extra)


def weight_name(model: Any) -> str:
    """The fit parameter that carries sample weights (a pipeline's last step gets them)."""
    last = model.steps[-1] if isinstance(model, Pipeline) else None
    if not has_fit_parameter(last[1] if last else model, "sample_weight"):
        raise TypeError(f"{type(last[1] if last else model).__name__} takes no sample_weight: leave it out.")
    return f"{last[0]}__sample_weight" if last else "sample_weight"


def judge(
    estimator: Any,
    X: Any,
    y: Any,
    fold: Fold,
    params: Mapping[str, Any],
    scoring: Scoring,
    weights: Array | None,
    fit_params: Mapping[str, Any] | None,
    wishes: Wishes,
) -> Outcome:
    """Fit a copy on the training rows and judge it on the test rows."""
    train, test = fold
    model = clone(estimator).set_params(**{k: clone(v, safe=False) for k, v in params.items()})
    X_train, y_train = safe_split(model, X, y, train)
    X_test, y_test = safe_split(model, X, y, test, train)
    inner, outer = (None, None) if weights is None else (weights[train], weights[test])
    found = Outcome()
    start = time.perf_counter()
    try:
        fit_model(model, X_train, y_train, inner, check_method_params(X, dict(fit_params or {}), train))
        found.fit_time = time.perf_counter() - start
        start = time.perf_counter()
        found.scores = scoring.of_model(model, X_test, y_test, outer)
        found.score_time = time.perf_counter() - start
        if wishes.train_scores:
            found.train_scores = scoring.of_model(model, X_train, y_train, inner)
        found.answers = {name: getattr(model, name)(X_test) for name in wishes.answers}
        found.model = model if wishes.model else None
    except Exception as error:
        if wishes.error_score == "raise":
            raise
        found.fit_time = found.fit_time or time.perf_counter() - start
        nothing = {name: float(wishes.error_score) for name in scoring.scorers}
        found.scores, found.train_scores = nothing, dict(nothing) if wishes.train_scores else {}
        found.error = error
    return found


def judge_all(
    estimator: Any,
    X: Any,
    y: Any,
    folds: Sequence[Fold],
    grid: Sequence[Mapping[str, Any]],
    scoring: Scoring,
    *,
    weights: Array | None = None,
    fit_params: Mapping[str, Any] | None = None,
    wishes: Wishes,
    n_jobs: int | None = None,
    progress: Progress = None,
    what: str = "fitting",
) -> list[Outcome]:
    """Every candidate on every fold, candidates outermost, in the same order for any number of workers."""
    work = (
        delayed(judge)(estimator, X, y, fold, params, scoring, weights, fit_params, wishes)
        for params in grid
        for fold in folds
    )
    total = len(grid) * len(folds)
    results: Iterator[Outcome] = Parallel(n_jobs=n_jobs, return_as="generator")(work)
    outcomes = list(watched(results, total, progress, what))
    _report_failures(outcomes)
    return outcomes


def _report_failures(outcomes: Sequence[Outcome]) -> None:
    failed = [o.error for o in outcomes if o.error is not None]
    if not failed:
        return
    if len(failed) == len(outcomes):
        raise failed[0]  # what every fit says is the user's answer
    warnings.warn(
        f"{len(failed)} of {len(outcomes)} fits failed and count as nan; the first one said: {failed[0]}",
        FitFailedWarning,
        stacklevel=3,
    )
