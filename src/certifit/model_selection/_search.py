"""`Search`: every point of a grid on every fold, for the price of about one fit where that is possible."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.utils import get_tags, indexable
from sklearn.utils.validation import check_is_fitted

from certifit._sklearn import StrOptions, check_sample_weight
from certifit._types import CV, Array, Estimator, Folds, Grid, MatrixLike, VectorLike, Weights
from certifit.certificates import Certificate
from certifit.certificates.evaluation import corrected_limits
from certifit.metrics import Interval
from certifit.model_selection._progress import Progress
from certifit.model_selection._run import Keep, Run, Trial, Workers, fit_model, run, weight_name
from certifit.model_selection._scoring import Scoring, ScoringLike
from certifit.model_selection._shared import Sharing
from certifit.resampling import complexity, folds, one_standard_error, standard_error

Results = dict[str, Any]
"""scikit-learn's ``cv_results_``."""


class Search(GridSearchCV):
    r"""Choose parameters by cross-validation, sharing the work of folds and grid points where possible.

    The score of grid point g is its mean over the folds, :math:`\bar s_g = \frac1K \sum_k s_{gk}`. Rule
    "best" takes the largest; rule "one-se" takes the simplest point with

    .. math:: \bar s_g ≥ \bar s_{best} - \mathrm{se}_{best}.

    Any scikit-learn estimator or pipeline works, and what knows scikit-learn's searches knows this one: it is a
    ``GridSearchCV``. An estimator with the shared-work method (see the package docstring) serves all folds and
    points from one piece of work; scores are those of fitting each point alone, and ``sharing_`` says what was shared.

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
    verbose : int ≥ 0, default=0
        Above 0 it is ``progress=True``.
    pre_dispatch : int or str, default="2*n_jobs"
        As in ``GridSearchCV``.

    Attributes
    ----------
    best_params_, best_index_, best_score_, best_estimator_, cv_results_, n_splits_, scorer_, refit_time_,
    multimetric_
        As in ``GridSearchCV``.
    sharing_ : Sharing
        What was shared across folds and grid points, or why nothing was.
    shared_ : bool
        Whether anything was.
    seconds_ : float
        Time of the whole search, refit included.

    Notes
    -----
    ``sample_weight`` weights the fits and the scores. Where scikit-learn's metadata routing is enabled, its own search
    runs, without shared work.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 8)); y = X @ np.r_[3.0, np.zeros(7)] + rng.normal(size=60)
    >>> search = Search(Ridge(), {"alpha": [0.1, 1.0, 10.0, 100.0]}, rule="one-se").fit(X, y)
    >>> search.best_params_, round(search.best_score_, 3)
    ({'alpha': 10.0}, 0.773)
    >>> print(search.sharing_)
    20 fits one by one: Ridge shares no work across folds.
    """

    _parameter_constraints: dict[str, Any] = {  # noqa: RUF012
        **GridSearchCV._parameter_constraints,
        "scoring": [*GridSearchCV._parameter_constraints["scoring"], set],
        "rule": [StrOptions({"best", "one-se"})],
        "simpler": [dict, None],
        "share": ["boolean"],
        "progress": ["boolean", callable, None],
    }

    def __init__(
        self,
        estimator: Estimator,
        param_grid: Mapping[str, Any] | list[Mapping[str, Any]],
        cv: CV = 5,
        scoring: ScoringLike = None,
        rule: str = "best",
        refit: bool | str | Callable[[Results], int] = True,
        *,
        simpler: Mapping[str, str] | None = None,
        n_jobs: int | None = None,
        error_score: float | str = np.nan,
        return_train_score: bool = False,
        share: bool = True,
        progress: Progress = None,
        verbose: int = 0,
        pre_dispatch: int | str = "2*n_jobs",
    ) -> None:
        super().__init__(
            estimator, param_grid, scoring=scoring, n_jobs=n_jobs, refit=refit, cv=cv, verbose=verbose,
            pre_dispatch=pre_dispatch, error_score=error_score, return_train_score=return_train_score,
        )  # fmt: skip
        self.rule = rule
        self.simpler = simpler
        self.share = share
        self.progress = progress

    # -- fit ----------------------------------------------------------------------------------------
    def fit(
        self,
        X: MatrixLike,
        y: VectorLike | None = None,
        *,
        groups: VectorLike | None = None,
        sample_weight: Weights = None,
        **fit_params: Any,
    ) -> Search:
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
        if get_config()["enable_metadata_routing"]:
            return self._fit_routed(X, y, {"groups": groups, "sample_weight": sample_weight} | fit_params)
        scoring = Scoring.of(self.estimator, self.scoring)
        scorer, chooser = self._scorer(scoring)
        X, y, groups = indexable(X, y, groups)
        if y is None and get_tags(self.estimator).target_tags.required:
            raise ValueError(f"{type(self.estimator).__name__} requires y to be passed, but the target y is None.")
        weights = None if sample_weight is None else check_sample_weight(sample_weight, X)
        if weights is not None:
            weight_name(self.estimator)
        split = folds(X, y, self.cv, classifier=is_classifier(self.estimator), groups=groups)
        grid = list(ParameterGrid(self.param_grid))
        keep = Keep(train_scores=self.return_train_score, error_score=self.error_score)
        trial = Trial(self.estimator, X, y, scoring, weights, fit_params, keep)
        workers = Workers(self.n_jobs, self.progress or self.verbose > 0, "searching", self.pre_dispatch)
        found = run(trial, split, grid, workers, self.share)
        self.n_splits_, self.multimetric_, self.scorer_ = len(split), scoring.several, scorer
        self.sharing_, self.shared_ = found.sharing, found.sharing.shared
        self._choose(self._table(found, grid), split, chooser)
        if self.refit:
            self._refit(trial, found)
        self.seconds_ = time.perf_counter() - start
        return self

    def _fit_routed(self, X: MatrixLike, y: VectorLike | None, params: Mapping[str, Any]) -> Search:
        """scikit-learn's own search, which hands metadata to whoever requested them."""
        start = time.perf_counter()
        super().fit(X, y, **{name: value for name, value in params.items() if value is not None})
        fits = len(self.cv_results_["params"]) * self.n_splits_
        self.sharing_, self.shared_ = Sharing(False, fits, fits, reason="metadata routing is enabled"), False
        self._held_out = np.nan  # the folds were drawn out of sight
        if hasattr(self, "best_score_"):
            name = self.refit if self.multimetric_ else "score"
            self._best_scores = self._fold_scores(self.cv_results_, name)[self.best_index_]
        self.seconds_ = time.perf_counter() - start
        return self

    def _scorer(self, scoring: Scoring) -> tuple[Any, str | None]:
        """scikit-learn's scorer (or dict of them), and the name of the score that chooses."""
        if not scoring.several:
            return self._get_scorers()[0], "score"
        if isinstance(self.refit, str) and self.refit in scoring.scorers:
            return dict(scoring.scorers), self.refit
        if callable(self.refit) or not self.refit:
            return dict(scoring.scorers), None
        raise ValueError(
            f"With several scores, refit must name the one that chooses ({', '.join(scoring.scorers)}), be a "
            f"callable, or be False; got {self.refit!r}."
        )

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
        if callable(refit) or self.rule == "best":
            return int(super()._select_best_index(refit, refit_metric, results))
        order = complexity(results["params"], self.simpler)
        return one_standard_error(self._fold_scores(results, refit_metric), order)

    def _fold_scores(self, results: Results, name: str) -> Array:
        return np.column_stack([results[f"split{k}_test_{name}"] for k in range(self.n_splits_)])

    def _choose(self, results: Results, split: Folds, chooser: str | None) -> None:
        self.cv_results_ = results
        self._held_out = float(np.mean([len(test) / len(train) for train, test in split]))
        for name in ("best_index_", "best_params_", "best_score_", "best_estimator_"):
            self.__dict__.pop(name, None)
        if chooser is None and not callable(self.refit):
            return
        self.best_index_ = self._select_best_index(self.refit, chooser or "score", results)
        self.best_params_ = results["params"][self.best_index_]
        if chooser is not None:
            self.best_score_ = float(results[f"mean_test_{chooser}"][self.best_index_])
            self._best_scores = self._fold_scores(results, chooser)[self.best_index_]

    def _refit(self, trial: Trial, found: Run) -> None:
        params = {k: clone(v, safe=False) for k, v in self.best_params_.items()}
        model = clone(self.estimator).set_params(**params)
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

        The best of many points looks better than it is: `nested_cross_validate` judges the search itself.

        Parameters
        ----------
        level : float in (0, 1), default=0.95
        """
        check_is_fitted(self, "best_index_")
        low, high, _ = corrected_limits(self._best_scores, self._held_out, level)
        return Interval(low, high, level, "corrected t (Nadeau and Bengio), before choosing")

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

    def score(self, X: MatrixLike, y: VectorLike | None = None, sample_weight: Weights = None) -> float:
        """The score that chose, of the refitted model on new rows."""
        model = self._best("score")
        scoring = Scoring.of(self.estimator, self.scoring)
        name = self.refit if scoring.several and isinstance(self.refit, str) else next(iter(scoring.scorers))
        weights = None if sample_weight is None else np.asarray(sample_weight)
        return scoring.of_model(model, X, y, weights)[name]

    @property
    def certificate_(self) -> Certificate:
        """Certificate of the refitted model (when it carries one)."""
        return self._best("certificate_").certificate_

    @property
    def certificates_(self) -> tuple[Certificate, ...]:
        """All certificates of the refitted model."""
        return self._best("certificates_").certificates_

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.transformer_tags, tags.target_tags = inner.transformer_tags, inner.target_tags
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.array_api_support = False  # folds and scores are NumPy's
        return tags


def _short(v: object) -> str:
    return f"{v:.4g}" if isinstance(v, float) else str(v)
