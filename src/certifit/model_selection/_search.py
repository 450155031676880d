"""`Search`: every point of a grid on every fold, for the price of about one fit where that is possible."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import ParameterGrid
from sklearn.utils import get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from certifit._sklearn import HasMethods, StrOptions, check_sample_weight, safe_indexing
from certifit._types import Array
from certifit.certificates.evaluation import corrected_limits
from certifit.model_selection._progress import watched
from certifit.model_selection._run import Outcome, Wishes, fit_model, judge_all, weight_name
from certifit.model_selection._scoring import Scoring
from certifit.model_selection._shared import classes_of, fold_answers
from certifit.model_selection._table import fold_scores, search_table
from certifit.resampling import CannotShare, Fold, complexity, folds, one_standard_error, standard_error


def _has(name: str) -> Any:
    def check(self: Any) -> bool:
        model = getattr(self, "best_estimator_", None) or self.estimator
        getattr(model, name)  # its own AttributeError says why
        return True

    return check


class Search(MetaEstimatorMixin, BaseEstimator):
    r"""Choose parameters by cross-validation, sharing the work of folds and grid points where possible.

    The score of grid point g is its mean over the folds, :math:`\bar s_g = \frac1K \sum_k s_{gk}`. Rule
    "best" takes the largest; rule "one-se" takes the simplest point with

    .. math:: \bar s_g ≥ \bar s_{best} - \mathrm{se}_{best}.

    Any scikit-learn estimator or pipeline works. An estimator with the shared-work method (see the package
    docstring) serves all folds and points from one piece of work; scores are those of fitting each point
    alone.

    Parameters
    ----------
    estimator : estimator
        A classifier, regressor or pipeline.
    param_grid : dict or list of dicts
        Parameter names with the values to try, as in scikit-learn's ``GridSearchCV``.
    cv : int ≥ 2, splitter or iterable of (train, test), default=5
        An integer means folds in row order, stratified for classifiers.
    scoring : str, callable, list or dict of these, default=None
        scikit-learn's names; None is the estimator's own ``score``. Greater is better.
    rule : {"best", "one-se"}, default="best"
    refit : bool, str or callable, default=True
        Fit the chosen point on all rows. With several scores: the name of the one that chooses. A callable
        gets ``cv_results_`` and returns the index to take.
    simpler : dict, default=None
        For "one-se": which values of a parameter are simpler, ``{"alpha": "larger"}``. Usual names are known.
    n_jobs : int, default=None
        Worker processes of the ordinary road; the choice does not depend on it.
    error_score : "raise" or float, default=nan
        Score of a fit that failed.
    return_train_score : bool, default=False
        Also judge on the training rows (takes the ordinary road).
    share : bool, default=True
        Whether shared work may be used.
    progress : bool or callable, default=None
        True draws a line on standard error; a function is called with (done, total).

    Attributes
    ----------
    best_params_, best_index_, best_score_, best_estimator_, cv_results_, n_splits_, scorer_, refit_time_,
    multimetric_
        As in ``GridSearchCV``.
    shared_ : bool
        Whether the work was shared.
    seconds_ : float
        Time of the whole search, refit included.

    Notes
    -----
    Differs from ``GridSearchCV``: ``sample_weight`` also weights the scores. Not in certifit: ``verbose``
    (use ``progress``), ``pre_dispatch``.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 8)); y = X @ np.r_[3.0, np.zeros(7)] + rng.normal(size=60)
    >>> search = Search(Ridge(), {"alpha": [0.1, 1.0, 10.0, 100.0]}, rule="one-se").fit(X, y)
    >>> search.best_params_, round(search.best_score_, 3)
    ({'alpha': 10.0}, 0.773)
    """

    _parameter_constraints: dict[str, Any] = {  # noqa: RUF012
        "estimator": [HasMethods(["fit"])],
        "param_grid": [dict, list],
        "cv": ["cv_object"],
        "rule": [StrOptions({"best", "one-se"})],
        "refit": ["boolean", str, callable],
        "simpler": [dict, None],
        "n_jobs": [int, None],
        "error_score": [StrOptions({"raise"}), float],
        "return_train_score": ["boolean"],
        "share": ["boolean"],
        "progress": ["boolean", callable, None],
    }

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        cv: Any = 5,
        scoring: Any = None,
        rule: str = "best",
        refit: Any = True,
        *,
        simpler: Mapping[str, str] | None = None,
        n_jobs: int | None = None,
        error_score: Any = np.nan,
        return_train_score: bool = False,
        share: bool = True,
        progress: Any = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.refit = refit
        self.simpler = simpler
        self.n_jobs = n_jobs
        self.error_score = error_score
        self.return_train_score = return_train_score
        self.share = share
        self.progress = progress

    # -- fit ----------------------------------------------------------------------------------------
    def fit(self, X: Any, y: Any = None, *, groups: Any = None, sample_weight: Any = None, **fit_params: Any) -> Search:
        """Judge every point of the grid on every fold, choose, and refit.

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
        scoring = Scoring.of(self.estimator, self.scoring)
        chooser = self._chooser(scoring)
        X, y, groups = indexable(X, y, groups)
        if y is None and get_tags(self.estimator).target_tags.required:
            raise ValueError(f"{type(self.estimator).__name__} requires y to be passed, but the target y is None.")
        weights = None if sample_weight is None else check_sample_weight(sample_weight, X)
        if weights is not None:
            weight_name(self.estimator)
        split = folds(X, y, self.cv, classifier=is_classifier(self.estimator), groups=groups)
        grid = list(ParameterGrid(self.param_grid))
        shared = self._shared_outcomes(X, y, split, grid, scoring, weights) if not fit_params else None
        outcomes, answers = (None, None) if shared is None else shared
        self.shared_ = outcomes is not None
        if outcomes is None:
            wishes = Wishes(train_scores=self.return_train_score, error_score=self.error_score)
            outcomes = judge_all(
                self.estimator, X, y, split, grid, scoring, weights=weights, fit_params=fit_params,
                wishes=wishes, n_jobs=self.n_jobs, progress=self.progress, what="searching",
            )  # fmt: skip
        results = search_table(outcomes, grid, len(split), scoring, self.return_train_score)
        self._choose(results, grid, split, chooser)
        self.multimetric_, self.n_splits_ = scoring.several, len(split)
        self.scorer_ = dict(scoring.scorers) if scoring.several else scoring.scorers["score"]
        if self.refit:
            self._refit(X, y, weights, fit_params, answers)
        self.seconds_ = time.perf_counter() - start
        return self

    def _chooser(self, scoring: Scoring) -> str | None:
        """Name of the score that chooses."""
        if not scoring.several:
            return "score"
        if isinstance(self.refit, str) and self.refit in scoring.scorers:
            return self.refit
        if callable(self.refit) or not self.refit:
            return None
        raise ValueError(
            f"With several scores, refit must name the one that chooses ({', '.join(scoring.scorers)}), be a "
            f"callable, or be False; got {self.refit!r}."
        )

    def _shared_outcomes(
        self, X: Any, y: Any, split: Sequence[Fold], grid: Sequence[Any], scoring: Scoring, weights: Any
    ) -> tuple[list[Outcome], Any] | None:
        response = scoring.responses(self.estimator) if self.share and not self.return_train_score else None
        if response is None:
            return None
        start = time.perf_counter()
        try:
            answers = fold_answers(self.estimator, X, y, split, grid, response, weights)
            if answers is None:
                return None
            scored = watched(
                self._scored(answers, X, y, split, scoring, weights), len(split), self.progress, "searching"
            )
            by_fold = list(scored)
        except (CannotShare, np.linalg.LinAlgError):
            return None
        each = (time.perf_counter() - start) / (len(grid) * len(split))
        outcomes = [
            Outcome({name: float(fold[name][i]) for name in scoring.scorers}, fit_time=each)
            for i in range(len(grid))
            for fold in by_fold
        ]
        return outcomes, answers

    def _scored(
        self, answers: Iterable[Any], X: Any, y: Any, split: Sequence[Fold], scoring: Scoring, weights: Any
    ) -> Iterable[dict[str, Array]]:
        for (train, test), found in zip(split, answers):
            outer = None if weights is None else weights[test]
            classes = classes_of(self.estimator, y, train)
            # Scorers that look at answers only never see the rows themselves.
            yield scoring.of_answers(self.estimator, found, classes, None, safe_indexing(y, test), outer)

    # -- the choice ---------------------------------------------------------------------------------
    def _choose(self, results: dict[str, Any], grid: Sequence[Any], split: Sequence[Fold], chooser: str | None) -> None:
        self.cv_results_ = results
        self._held_out = float(np.mean([len(test) / len(train) for train, test in split]))
        for name in ("best_index_", "best_params_", "best_score_", "best_estimator_"):
            self.__dict__.pop(name, None)
        if callable(self.refit):
            index = int(self.refit(results))
            if not 0 <= index < len(grid):
                raise IndexError(f"refit returned {index}, outside the {len(grid)} grid points.")
            self.best_index_ = index
        elif chooser is None:
            return
        elif self.rule == "one-se":
            self.best_index_ = one_standard_error(
                fold_scores(results, chooser, len(split)), complexity(grid, self.simpler)
            )
        else:
            self.best_index_ = int(results[f"rank_test_{chooser}"].argmin())
        self.best_params_ = results["params"][self.best_index_]
        if chooser is not None:
            self.best_score_ = float(results[f"mean_test_{chooser}"][self.best_index_])
            scores = fold_scores(results, chooser, len(split))[self.best_index_]
            self._best_scores = scores

    def _refit(self, X: Any, y: Any, weights: Any, fit_params: Mapping[str, Any], answers: Any) -> None:
        params = {k: clone(v, safe=False) for k, v in self.best_params_.items()}
        model = clone(self.estimator).set_params(**params)
        start = time.perf_counter()
        fitted = answers.refit(model) if hasattr(answers, "refit") else None
        self.best_estimator_ = fit_model(model, X, y, weights, fit_params) if fitted is None else fitted
        self.refit_time_ = time.perf_counter() - start
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_

    def interval(self, level: float = 0.95) -> Any:
        """Interval of the chosen point's score, corrected for overlapping folds (not for having been chosen).

        The best of many points looks better than it is: `nested_cross_validate` judges the search itself.

        Parameters
        ----------
        level : float in (0, 1), default=0.95
        """
        from certifit.metrics import Interval as Limits

        check_is_fitted(self, "best_index_")
        low, high, _ = corrected_limits(self._best_scores, self._held_out, level)
        return Limits(low, high, level, "corrected t (Nadeau and Bengio), before choosing")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "cv_results_")

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        if not hasattr(self, "best_index_"):
            return super().__repr__(N_CHAR_MAX=N_CHAR_MAX)
        chosen = ", ".join(f"{k} {_short(v)}" for k, v in self.best_params_.items())
        rule = "one-standard-error rule" if self.rule == "one-se" else "best mean"
        score = ""
        if hasattr(self, "best_score_"):
            score = f"; score {self.best_score_:.4g} ± {float(standard_error(self._best_scores)):.2g}"
        return f"chosen {chosen} ({rule}){score}; {self.seconds_:.2g} s"

    # -- the chosen model ---------------------------------------------------------------------------
    def _best(self, what: str) -> Any:
        if not self.refit:
            raise AttributeError(f"This Search has refit=False: {what} is available after refit=True.")
        check_is_fitted(self)
        return self.best_estimator_

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The score that chose, of the refitted model on new rows."""
        model = self._best("score")
        scoring = Scoring.of(self.estimator, self.scoring)
        name = self.refit if scoring.several and isinstance(self.refit, str) else next(iter(scoring.scorers))
        return scoring.of_model(model, X, y, sample_weight)[name]

    @available_if(_has("predict"))
    def predict(self, X: Any) -> Any:
        """Predictions of the refitted model."""
        return self._best("predict").predict(X)

    @available_if(_has("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the refitted model."""
        return self._best("predict_proba").predict_proba(X)

    @available_if(_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> Any:
        """Log-probabilities of the refitted model."""
        return self._best("predict_log_proba").predict_log_proba(X)

    @available_if(_has("decision_function"))
    def decision_function(self, X: Any) -> Any:
        """Decision values of the refitted model."""
        return self._best("decision_function").decision_function(X)

    @available_if(_has("score_samples"))
    def score_samples(self, X: Any) -> Any:
        """Per-row scores of the refitted model."""
        return self._best("score_samples").score_samples(X)

    @available_if(_has("transform"))
    def transform(self, X: Any) -> Any:
        """The refitted model's transform."""
        return self._best("transform").transform(X)

    @available_if(_has("inverse_transform"))
    def inverse_transform(self, X: Any) -> Any:
        """The refitted model's inverse transform."""
        return self._best("inverse_transform").inverse_transform(X)

    @property
    def certificate_(self) -> Any:
        """Certificate of the refitted model (when it carries one)."""
        return self._best("certificate_").certificate_

    @property
    def certificates_(self) -> Any:
        """All certificates of the refitted model."""
        return self._best("certificates_").certificates_

    @property
    def classes_(self) -> Any:
        """Class labels (classifiers only)."""
        _has("classes_")(self)
        return self.best_estimator_.classes_

    @property
    def n_features_in_(self) -> Any:
        """Number of columns seen in fit."""
        try:
            check_is_fitted(self)
        except NotFittedError as error:
            raise AttributeError(f"{type(self).__name__} has no n_features_in_ before fit.") from error
        return self.best_estimator_.n_features_in_

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.transformer_tags, tags.target_tags = inner.transformer_tags, inner.target_tags
        tags.input_tags.pairwise = inner.input_tags.pairwise
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags


def _short(v: Any) -> str:
    return f"{v:.4g}" if isinstance(v, float) else str(v)
