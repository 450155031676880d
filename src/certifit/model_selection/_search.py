"""`Search` over a grid and `RandomizedSearchCV` over draws, for the price of about one fit where that is possible."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import sklearn.model_selection
from sklearn.model_selection import GridSearchCV, ParameterGrid, ParameterSampler

from certifit._sklearn import StrOptions
from certifit._types import CV, Estimator, Grid, RandomState
from certifit.model_selection._progress import Progress
from certifit.model_selection._scoring import ScoringLike
from certifit.model_selection._shared_search import Results, SharedSearch

_OWN = {
    "scoring": [*GridSearchCV._parameter_constraints["scoring"], set],
    "rule": [StrOptions({"best", "one_se", "one-se"}, deprecated={"one-se"})],
    "simpler": [dict, None],
    "share": ["boolean"],
    "progress": ["boolean", callable, None],
}


class Search(SharedSearch, GridSearchCV):
    r"""Choose parameters by cross-validation, sharing the work of folds and grid points where possible.

    The score of grid point g is its mean over the folds, :math:`\bar s_g = \frac1K \sum_k s_{gk}`. Rule
    "best" takes the largest; rule "one_se" takes the simplest point with

    .. math:: \bar s_g ≥ \bar s_{best} - \mathrm{se}_{best}.

    Any scikit-learn estimator or pipeline works. It is a subclass of ``GridSearchCV``, so that tools for scikit-learn's
    searches accept it. An estimator with the shared-work method (see the package docstring) serves all folds and
    points from one piece of work; scores are those of fitting each point alone, and ``sharing_`` says what was shared.

    Parameters
    ----------
    estimator : estimator
        A classifier, regressor or pipeline.
    param_grid : dict or list of dicts
        Parameter names with the values to try, as in scikit-learn's ``GridSearchCV``.
    cv : int ≥ 2, splitter or iterable of (train, test), default=None
        An integer means folds in row order, stratified for classifiers; None means 5.
    scoring : str, callable, list or dict of these, default=None
        scikit-learn's names; None is the estimator's own ``score``. Greater is better.
    rule : {"best", "one_se"}, default="best"
    refit : bool, str or callable, default=True
        Fit the chosen point on all rows. With several scores: the name of the one that chooses. A callable
        gets ``cv_results_`` and returns the index to take.
    simpler : dict, default=None
        For "one_se": which values of a parameter are simpler, ``{"alpha": "larger"}``. Usual names are known.
    n_jobs : int, default=None
        Number of worker processes for fits that share no work; the choice does not depend on it.
    error_score : "raise" or float, default=nan
        Score of a fit that failed.
    return_train_score : bool, default=False
        Also score the training rows (then no work is shared).
    share : bool, default=True
        Whether shared work may be used.
    progress : bool or callable, default=None
        True draws a line on standard error; a function is called with (done, total).
    verbose : int ≥ 0, default=0
    pre_dispatch : int or str, default="2*n_jobs"
        As in ``GridSearchCV``, for fits that are made one by one.

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
    ``sample_weight`` weights the fits and the scores. Fits that share no work are made by scikit-learn's own search,
    with its warnings and errors. ``GridSearchCV`` is another name of this class.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 8)); y = X @ np.r_[3.0, np.zeros(7)] + rng.normal(size=60)
    >>> search = Search(Ridge(), {"alpha": [0.1, 1.0, 10.0, 100.0]}, rule="one_se").fit(X, y)
    >>> search.best_params_, round(search.best_score_, 3)
    ({'alpha': 10.0}, 0.773)
    >>> print(search.sharing_)
    20 fits one by one: Ridge shares no work across folds.
    """

    _parameter_constraints: dict[str, Any] = {**GridSearchCV._parameter_constraints, **_OWN}  # noqa: RUF012

    def __init__(
        self,
        estimator: Estimator,
        param_grid: Mapping[str, Any] | list[Mapping[str, Any]],
        cv: CV = None,
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
        self.rule, self.simpler, self.share, self.progress = rule, simpler, share, progress

    def _candidates(self) -> Grid:
        return list(ParameterGrid(self.param_grid))


class RandomizedSearchCV(SharedSearch, sklearn.model_selection.RandomizedSearchCV):
    r"""Choose among points drawn at random, sharing the work of folds and points where possible.

    The score of point g is its mean over the folds, :math:`\bar s_g = \frac1K \sum_k s_{gk}`; points are drawn as in
    scikit-learn, so that equal seeds give equal points.

    Parameters
    ----------
    estimator : estimator
        A classifier, regressor or pipeline.
    param_distributions : dict or list of dicts
        Parameter names with lists of values or distributions of SciPy.
    n_iter : int ≥ 1, default=10
        How many points are drawn.
    random_state : int, RandomState or None, default=None
        Seed of the draws.
    cv, scoring, rule, refit, simpler, n_jobs, error_score, return_train_score, share, progress, verbose, pre_dispatch :
        As in `Search`.

    Attributes
    ----------
    best_params_, best_index_, best_score_, best_estimator_, cv_results_, sharing_ :
        As in `Search`.

    Examples
    --------
    >>> from certifit.linear_model import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 8)); y = X @ np.r_[3.0, np.zeros(7)] + rng.normal(size=60)
    >>> search = RandomizedSearchCV(Ridge(), {"alpha": np.logspace(-3, 3, 50)}, n_iter=8, random_state=0).fit(X, y)
    >>> print(search.sharing_)
    40 fits from 1 pass: shared across folds and alpha.
    """

    _parameter_constraints: dict[str, Any] = {  # noqa: RUF012
        **sklearn.model_selection.RandomizedSearchCV._parameter_constraints,
        **_OWN,
    }

    def __init__(
        self,
        estimator: Estimator,
        param_distributions: Mapping[str, Any] | list[Mapping[str, Any]],
        *,
        n_iter: int = 10,
        scoring: ScoringLike = None,
        n_jobs: int | None = None,
        refit: bool | str | Callable[[Results], int] = True,
        cv: CV = None,
        verbose: int = 0,
        pre_dispatch: int | str = "2*n_jobs",
        random_state: RandomState = None,
        error_score: float | str = np.nan,
        return_train_score: bool = False,
        rule: str = "best",
        simpler: Mapping[str, str] | None = None,
        share: bool = True,
        progress: Progress = None,
    ) -> None:
        super().__init__(
            estimator, param_distributions, n_iter=n_iter, scoring=scoring, n_jobs=n_jobs, refit=refit, cv=cv,
            verbose=verbose, pre_dispatch=pre_dispatch, random_state=random_state, error_score=error_score,
            return_train_score=return_train_score,
        )  # fmt: skip
        self.rule, self.simpler, self.share, self.progress = rule, simpler, share, progress

    def _candidates(self) -> Grid:
        state = copy.deepcopy(self.random_state)  # should the work not be shared, scikit-learn draws the same points
        return list(ParameterSampler(self.param_distributions, self.n_iter, random_state=state))
