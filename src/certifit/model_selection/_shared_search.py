"""What searches share: every point on every fold, for the price of about one fit where that is possible."""

from __future__ import annotations

import html
import time
import warnings
from collections.abc import Iterator
from itertools import count, takewhile
from typing import Any, Self

import numpy as np
from sklearn import get_config
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV
from sklearn.utils import Tags, get_tags, indexable

from certifit import _notebook
from certifit._errors import respelled
from certifit._limits import corrected_limits, held_out_share
from certifit._sklearn import check_sample_weight, has_callbacks
from certifit._types import Array, BaseEstimator, Folds, Grid, Matrix, MatrixLike, Named, Record, VectorLike, Weights
from certifit._validation import check_is_fitted
from certifit.certificates import Certificate
from certifit.metrics import Interval
from certifit.model_selection._run import (
    Keep,
    Run,
    Trial,
    Workers,
    attempt,
    fit_model,
    hopeless,
    judge_all,
    one_by_one,
    weight_name,
)
from certifit.model_selection._scoring import Scoring, scoring_or_none
from certifit.resampling import complexity, folds, one_standard_error, standard_error

Results = dict[str, Any]
"""scikit-learn's ``cv_results_``."""


_BaseSearch: Any = GridSearchCV.__bases__[0]  # what scikit-learn's searches have in common has no public name


class SharedSearch(_BaseSearch):
    """What searches have in common: shared work, the choice, the chosen model. Leaves say which points are tried."""

    _at_last: Named = {}  # noqa: RUF012  # parameters of the final fit alone, such as a finer tolerance
    cv: Any
    best_index_: int
    best_score_: float

    def _candidates(self) -> Grid:
        raise NotImplementedError

    # -- fit ----------------------------------------------------------------------------------------
    def fit(
        self,
        X: MatrixLike,
        y: VectorLike | None = None,
        *,
        groups: VectorLike | None = None,
        sample_weight: Weights = None,
        **fit_params: Any,
    ) -> Self:
        """Evaluate every point of the grid on every fold, choose, and refit.

        Parameters
        ----------
        X, y : array-like
            The data; anything the estimator takes.
        groups : array-like, default=None
            For splitters that keep groups together.
        sample_weight : array-like of shape (n,), default=None
            Used in fitting and in scoring.
        **fit_params
            Passed to the estimator's ``fit`` (rows are taken where the length fits).

        Returns
        -------
        self
        """
        self._validate_params()
        start = time.perf_counter()
        if y is None and get_tags(self.estimator).target_tags.required:
            raise ValueError(f"{type(self.estimator).__name__} requires y to be passed, but the target y is None.")
        scoring = scoring_or_none(self.estimator, self.scoring)
        reason = hopeless(self.estimator, self.share)
        if scoring is None:
            reason = "this scoring is evaluated by scikit-learn"
        elif has_callbacks(self):
            reason = "callbacks are called fit by fit"
        ours = sample_weight is not None or bool(
            self.progress
        )  # scikit-learn neither weights scores nor tells progress
        there = get_config()["enable_metadata_routing"] or has_callbacks(self)
        if scoring is None or there or (reason and not ours):
            if sample_weight is not None and has_callbacks(self):
                said = "With callbacks, scikit-learn's search runs: sample_weight weights the fits, not the scores."
                warnings.warn(said, stacklevel=2)
            params = {"groups": groups, "sample_weight": sample_weight} | fit_params
            return self._fit_there(X, y, params, reason, start)
        return self._fit_here(X, y, groups, sample_weight, fit_params, scoring, start)

    def _fit_here(
        self, X: Matrix, y: Any, groups: Any, sample_weight: Any, fit_params: Any, scoring: Scoring, start: float
    ) -> Self:
        scorer, metric = self._get_scorers()
        chooser = metric if isinstance(metric, str) else None
        X, y, groups = indexable(X, y, groups)
        weights = None if sample_weight is None else check_sample_weight(sample_weight, X)
        if weights is not None:
            weight_name(self.estimator)
            scoring.warn_of_weights(type(self).__name__)
        split = folds(X, y, self.cv, classifier=is_classifier(self.estimator), groups=groups)
        grid = self._candidates()
        keep = Keep(train_scores=self.return_train_score, error_score=self.error_score)
        trial = Trial(self.estimator, X, y, scoring, weights, fit_params, keep)
        workers = Workers(self.n_jobs, self.progress, "searching", self.pre_dispatch)
        found = attempt(trial, split, grid, workers, self.share)
        if isinstance(found, str) and weights is None and not self.progress:
            return self._fit_there(X, y, {"groups": groups} | fit_params, found, start, split)
        if isinstance(found, str):
            found = Run(judge_all(trial, split, grid, workers), one_by_one(len(grid) * len(split), found))
        self.n_splits_, self.multimetric_, self.scorer_ = len(split), scoring.several, scorer
        self.sharing_, self.shared_ = found.sharing, found.sharing.shared
        self._choose(self._table(found, grid), split, chooser)
        if self.refit:
            self._refit(trial, found)
        self.seconds_ = time.perf_counter() - start
        return self

    def _fit_there(
        self,
        X: Matrix,
        y: Any,
        params: Named,
        reason: str,
        start: float,
        split: Folds | None = None,
    ) -> Self:
        """scikit-learn's own search, one fit after the other, with its warnings and errors."""
        given = self.cv
        try:
            self.cv = given if split is None else split  # an iterator can be drawn from only once
            super().fit(X, y, **{name: value for name, value in params.items() if value is not None})
        finally:
            self.cv = given
        self.sharing_ = one_by_one(len(self.cv_results_["params"]) * self.n_splits_, reason)
        self.shared_ = False
        self._held_out = self._share_judged(X, y, params.get("groups"), split)
        if hasattr(self, "best_score_"):
            self.best_score_ = float(self.best_score_)
            name = self.refit if self.multimetric_ else "score"
            self._best_scores = self._fold_scores(self.cv_results_, name)[self.best_index_]
        self.seconds_ = time.perf_counter() - start
        return self

    def _share_judged(self, X: Matrix, y: VectorLike, groups: Any, split: Folds | None) -> float:
        """Rows judged as a fraction of the rows fitted, averaged over the folds; nan where folds are unknown."""
        if split is None:
            config = get_config()
            if config["enable_metadata_routing"] or config["array_api_dispatch"] or isinstance(self.cv, Iterator):
                return np.nan
            X, y, groups = indexable(X, y, groups)
            split = folds(X, y, self.cv, classifier=is_classifier(self.estimator), groups=groups)
        return held_out_share(split)

    def _table(self, found: Run, grid: Grid) -> Results:
        """``cv_results_``, laid out by scikit-learn."""
        rows = []
        for o in found.outcomes:
            row: dict[str, Any] = {"fit_time": o.fit_time, "score_time": o.score_time, "test_scores": o.scores}
            rows.append(row | {"train_scores": o.train_scores} if self.return_train_score else row)
        with warnings.catch_warnings():
            if any(o.error is not None for o in found.outcomes):
                warnings.simplefilter("ignore", UserWarning)  # that fits failed has been said
            results: Results = self._format_results(grid, self.n_splits_, rows)
        return results

    # -- the choice ---------------------------------------------------------------------------------
    def _select_best_index(self, refit: Any, refit_metric: str, results: Results) -> int:
        if callable(refit) or respelled("rule", self.rule) == "best":
            return int(super()._select_best_index(refit, refit_metric, results))
        order = complexity(results["params"], self.simpler)
        return one_standard_error(self._fold_scores(results, refit_metric), order)

    def _fold_scores(self, results: Results, name: str) -> Array:
        # scikit-learn 1.8 chooses before it sets n_splits_: the folds are counted by their columns.
        columns = takewhile(results.__contains__, (f"split{k}_test_{name}" for k in count()))
        return np.column_stack([results[column] for column in columns])

    def _choose(self, results: Results, split: Folds, chooser: str | None) -> None:
        self.cv_results_ = results
        self._held_out = held_out_share(split)
        for name in ("best_index_", "best_params_", "best_score_", "best_estimator_"):
            self.__dict__.pop(name, None)
        if chooser is None and not callable(self.refit):
            return
        self.best_index_ = self._select_best_index(self.refit, chooser or "score", results)
        self.best_params_ = results["params"][self.best_index_]
        if chooser is not None and not callable(self.refit):
            self.best_score_ = float(results[f"mean_test_{chooser}"][self.best_index_])
        if chooser is not None:
            self._best_scores = self._fold_scores(results, chooser)[self.best_index_]

    def _refit(self, trial: Trial, found: Run) -> None:
        params = {k: clone(v, safe=False) for k, v in self.best_params_.items()}
        model = clone(self.estimator).set_params(**params, **self._at_last)
        start = time.perf_counter()
        if found.refit is not None:
            self.best_estimator_ = found.refit(model)
        else:
            self.best_estimator_ = fit_model(model, trial.X, trial.y, trial.weights, trial.fit_params)
        self.refit_time_ = time.perf_counter() - start
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_

    def interval(self, level: float = 0.95) -> Interval:
        """Interval of the chosen point's score, corrected for overlapping folds (not for having been chosen).

        The score of the best of many points is too optimistic: `nested_cross_validate` evaluates the search itself.

        Parameters
        ----------
        level : float in (0, 1), default=0.95
        """
        check_is_fitted(self, "best_index_")
        low, high, _ = corrected_limits(self._best_scores, self._held_out, level)
        return Interval(low, high, level, "corrected t (Nadeau and Bengio), before choosing")

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        if not hasattr(self, "best_index_"):
            return str(super().__repr__(N_CHAR_MAX=N_CHAR_MAX))
        chosen = ", ".join(f"{k} {_short(v)}" for k, v in self.best_params_.items())
        rule = "one-standard-error rule" if self.rule != "best" else "best mean"
        score = ""
        if hasattr(self, "best_score_"):
            score = f"; score {self.best_score_:.4g} ± {float(standard_error(self._best_scores)):.2g}"
        return f"chosen {chosen} ({rule}){score}; {self.seconds_:.2g} s"

    def _repr_mimebundle_(self, **options: Any) -> Record:
        """scikit-learn's diagram, below the sentence that says what was chosen."""
        bundle: dict[str, Any] = super()._repr_mimebundle_(**options)
        if "text/html" in bundle and hasattr(self, "best_index_"):
            bundle["text/html"] = _notebook.card(repr(self)) + bundle["text/html"]
        return bundle

    def _display_(self) -> _notebook.Shown:
        """What marimo shows, which would otherwise draw the diagram alone, on white in dark notebooks too."""
        if not hasattr(self, "best_index_"):
            return _notebook.Shown(f"<pre>{html.escape(repr(self))}</pre>")
        best = html.escape(repr(getattr(self, "best_estimator_", self.estimator)))
        return _notebook.Shown(_notebook.card(repr(self), [_notebook.fold("best estimator", f"<pre>{best}</pre>")]))

    # -- the chosen model ---------------------------------------------------------------------------
    def _best(self, what: str) -> BaseEstimator:
        if not self.refit:
            raise AttributeError(f"This Search has refit=False: {what} is available after refit=True.")
        check_is_fitted(self)
        return self.best_estimator_

    def score(
        self, X: MatrixLike, y: VectorLike | None = None, sample_weight: Weights = None, **score_params: Any
    ) -> float:
        """The score that chose, of the refitted model on new rows X with targets y, weighted by ``sample_weight``.

        With metadata routing ``score_params`` go to the scorer.
        """
        model = self._best("score")
        if sample_weight is None or get_config()["enable_metadata_routing"]:
            weighed = {} if sample_weight is None else {"sample_weight": sample_weight}
            score: float = super().score(X, y, **weighed, **score_params)
            return score
        scoring = Scoring.of(self.estimator, self.scoring)
        name = self.refit if scoring.several and isinstance(self.refit, str) else next(iter(scoring.scorers))
        weights = None if sample_weight is None else np.asarray(sample_weight)
        return scoring.of_model(model, X, y, weights)[name]

    @property
    def certificate_(self) -> Certificate:
        """Certificate of the refitted model (when it carries one)."""
        found: Certificate = self._best("certificate_").certificate_
        return found

    @property
    def certificates_(self) -> tuple[Certificate, ...]:
        """All certificates of the refitted model."""
        found: tuple[Certificate, ...] = self._best("certificates_").certificates_
        return found

    def __sklearn_tags__(self) -> Tags:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.transformer_tags, tags.target_tags = inner.transformer_tags, inner.target_tags
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.array_api_support = False  # folds and scores are NumPy's
        return tags


def _short(v: object) -> str:
    return f"{v:.4g}" if isinstance(v, float) else str(v)
