"""The one engine: fit these candidates on these rows, judge them, and keep what is asked for.

`run` takes the shared road where it can (`certifit.model_selection._shared`) and says in a `Sharing` why not where it
cannot; then each candidate is fitted on each fold, side by side.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

import numpy as np
from sklearn import get_config
from sklearn.base import clone, is_classifier
from sklearn.exceptions import FitFailedWarning
from sklearn.pipeline import Pipeline
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from certifit._sklearn import check_method_params, has_callbacks, safe_indexing, safe_split
from certifit._types import Array, BaseEstimator, Estimator, Folds, Grid, MatrixLike, Named, VectorLike
from certifit.model_selection._progress import Progress, watched
from certifit.model_selection._scoring import NO_SCORES, Scoring
from certifit.model_selection._shared import Sharing, checked, fold_answers
from certifit.resampling import CannotShare, Fold, FoldTable, require


@dataclass
class Outcome:
    """What one candidate did on one fold."""

    scores: dict[str, float] = field(default_factory=dict)
    train_scores: dict[str, float] = field(default_factory=dict)
    fit_time: float = 0.0
    score_time: float = 0.0
    answers: Mapping[str, Array] = field(default_factory=dict)
    model: Any = None
    error: Exception | None = None


@dataclass(frozen=True)
class Keep:
    """What to keep of each fit besides its scores."""

    train_scores: bool = False
    answers: tuple[str, ...] = ()
    model: bool = False
    error_score: float | str = np.nan  # the score of a fit that fails, or "raise"


@dataclass(frozen=True)
class Trial:
    """What is fitted, to which rows, and how it is judged."""

    estimator: Estimator
    X: MatrixLike
    y: VectorLike | None
    scoring: Scoring = NO_SCORES
    weights: Array | None = None
    fit_params: Mapping[str, Any] = field(default_factory=dict)
    keep: Keep = Keep()


class WorkerOptions(TypedDict, total=False):
    """Keywords of functions that hand out work."""

    n_jobs: int | None
    progress: Progress


@dataclass(frozen=True)
class Workers:
    """Who does the work, and who hears how much is done; no result depends on it."""

    n_jobs: int | None = None
    progress: Progress = None
    what: str = "fitting"
    pre_dispatch: int | str = "2 * n_jobs"

    def collect(self, work: Iterable[Any], total: int) -> list[Any]:
        """The results of joblib's ``delayed`` calls, in their order."""
        pool = Parallel(n_jobs=self.n_jobs, return_as="generator", pre_dispatch=self.pre_dispatch)
        return list(self.watch(pool(work), total))

    def watch(self, items: Iterable[Any], total: int) -> Iterable[Any]:
        return watched(items, total, self.progress, self.what)


@dataclass(frozen=True)
class Run:
    """Outcomes (candidates outermost, folds within), what was shared, and a quicker way to refit where there is one."""

    outcomes: list[Outcome]
    sharing: Sharing
    refit: Callable[[Any], Any] | None = None


def run(trial: Trial, folds: Folds, grid: Grid, workers: Workers, share: bool = True) -> Run:
    """Every candidate on every fold, sharing work where that is possible and allowed."""
    found = attempt(trial, folds, grid, workers, share)
    if isinstance(found, Run):
        return found
    return Run(judge_all(trial, folds, grid, workers), one_by_one(len(grid) * len(folds), found))


def attempt(trial: Trial, folds: Folds, grid: Grid, workers: Workers, share: bool = True) -> Run | str:
    """Every candidate on every fold from shared work, or the reason why there is none."""
    try:
        require(share, "share=False")
        return _together(trial, folds, grid, workers)
    except CannotShare as error:
        return str(error)
    except np.linalg.LinAlgError:
        return "a matrix is singular"


def one_by_one(fits: int, reason: str) -> Sharing:
    """The record of a run that shared nothing."""
    return Sharing(False, fits, fits, reason=reason)


def hopeless(estimator: Estimator, share: bool) -> str:
    """Why sharing need not be tried at all: what is known before any fold is drawn; empty if it may work."""
    if not share:
        return "share=False"
    if get_config()["enable_metadata_routing"]:
        return "metadata routing is enabled"
    if has_callbacks(estimator):
        return "callbacks are called fit by fit"
    if get_config()["array_api_dispatch"]:
        return "array_api_dispatch is set"
    may = isinstance(estimator, Pipeline) or hasattr(type(estimator), "_fold_path")
    return "" if may else f"{type(estimator).__name__} shares no work across folds"


def _together(trial: Trial, folds: Folds, grid: Grid, workers: Workers) -> Run:
    keep, start = trial.keep, time.perf_counter()
    require(not keep.train_scores, "scores of the training rows are asked for")
    require(not keep.model, "the fitted models are asked for")
    require(not trial.fit_params, "fit is given parameters of its own")
    needed = trial.scoring.responses(trial.estimator)
    if needed is None:
        raise CannotShare("the score needs more than a model's predictions")
    response = tuple(dict.fromkeys((*needed, *keep.answers)))
    table = FoldTable(trial.X, trial.y, folds, trial.weights)
    answers = fold_answers(trial.estimator, table, grid, response)
    outcomes: list[list[Outcome]] = [[] for _ in grid]
    labels = np.unique(np.asarray(trial.y), return_inverse=True) if is_classifier(trial.estimator) else None
    seen = workers.watch(checked(answers, table, response), len(folds))
    for found, fold in zip(seen, folds):  # answers first: they are asked once more, and checked to the end
        scores = _scored(trial, fold, found, labels)
        for i, mine in enumerate(outcomes):
            kept = {name: found[name][i] for name in response} if keep.answers else {}
            mine.append(Outcome({name: float(values[i]) for name, values in scores.items()}, answers=kept))
    flat = [outcome for mine in outcomes for outcome in mine]
    for outcome in flat:
        outcome.fit_time = (time.perf_counter() - start) / len(flat)
    return Run(flat, Sharing(True, len(flat), answers.passes, answers.parameters), answers.refit)


def _scored(
    trial: Trial, fold: Fold, found: Mapping[str, Array], labels: tuple[Array, Array] | None
) -> Mapping[str, Array]:
    (train, test), classes = fold, None
    if labels is not None:  # columns of probabilities are the sorted labels of the fold's training rows
        known, code = labels
        classes = known[np.bincount(code[train].ravel(), minlength=len(known)) > 0]
    weights = None if trial.weights is None else trial.weights[test]
    y = trial.y[test] if isinstance(trial.y, np.ndarray) else safe_indexing(trial.y, test)
    return trial.scoring.of_answers(trial.estimator, found, classes, y, weights)


def fit_model(
    model: BaseEstimator,
    X: MatrixLike,
    y: VectorLike | None,
    weights: Array | None,
    fit_params: Mapping[str, Any] | None = None,
) -> BaseEstimator:
    """Fit in place, handing weights to the step that takes them."""
    extra = dict(fit_params or {})
    if weights is not None:
        extra[weight_name(model)] = weights
    return model.fit(X, **extra) if y is None else model.fit(X, y, **extra)


def weight_name(model: Estimator) -> str:
    """The fit parameter that carries sample weights (a pipeline's last step gets them)."""
    last = model.steps[-1] if isinstance(model, Pipeline) else None
    if not has_fit_parameter(last[1] if last else model, "sample_weight"):
        raise TypeError(f"{type(last[1] if last else model).__name__} takes no sample_weight: do not pass it.")
    return f"{last[0]}__sample_weight" if last else "sample_weight"


def judge(trial: Trial, fold: Fold, params: Named) -> Outcome:
    """Fit a copy on the training rows and judge it on the test rows."""
    (train, test), keep, scoring = fold, trial.keep, trial.scoring
    model = clone(trial.estimator).set_params(**{k: clone(v, safe=False) for k, v in params.items()})
    X_train, y_train = safe_split(model, trial.X, trial.y, train)
    X_test, y_test = safe_split(model, trial.X, trial.y, test, train)
    inner, outer = (None, None) if trial.weights is None else (trial.weights[train], trial.weights[test])
    found = Outcome()
    start = time.perf_counter()
    try:
        own = check_method_params(trial.X, dict(trial.fit_params), train)
        fit_model(model, X_train, y_train, inner, own)
        found.fit_time = time.perf_counter() - start
        start = time.perf_counter()
        found.scores = scoring.of_model(model, X_test, y_test, outer)
        found.score_time = time.perf_counter() - start
        if keep.train_scores:
            found.train_scores = scoring.of_model(model, X_train, y_train, inner)
        found.answers = {name: getattr(model, name)(X_test) for name in keep.answers}
        found.model = model if keep.model else None
    except Exception as error:
        if keep.error_score == "raise":
            raise
        found.fit_time = found.fit_time or time.perf_counter() - start
        nothing = {name: float(keep.error_score) for name in scoring.scorers}
        found.scores, found.train_scores = nothing, dict(nothing) if keep.train_scores else {}
        found.error = error
    return found


def judge_all(trial: Trial, folds: Folds, grid: Grid, workers: Workers) -> list[Outcome]:
    """Every candidate on every fold, candidates outermost, in the same order for any number of workers."""
    work = (delayed(judge)(trial, fold, params) for params in grid for fold in folds)
    outcomes: list[Outcome] = workers.collect(work, len(grid) * len(folds))
    _report_failures(outcomes)
    return outcomes


def _report_failures(outcomes: Sequence[Outcome]) -> None:
    failed = [o.error for o in outcomes if o.error is not None]
    if not failed:
        return
    if len(failed) == len(outcomes):
        raise failed[0]  # what every fit says is the user's answer
    warnings.warn(
        f"{len(failed)} of {len(outcomes)} fits failed and count as nan; the first error was: {failed[0]}",
        FitFailedWarning,
        stacklevel=3,
    )
