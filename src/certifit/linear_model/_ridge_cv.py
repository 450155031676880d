"""Ridge regression and ridge classifier whose strength is chosen by cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.metrics import check_scoring, get_scorer, get_scorer_names
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import check_scalar

from certifit._certified import Certified
from certifit._linear_scores import LinearPredictions
from certifit._sklearn import Interval, StrOptions, routed, routing_enabled, usual
from certifit._types import CV, Array, ClassWeight, Matrix, Record, VectorLike, Weights
from certifit.design import as_design
from certifit.linear_model._base import read_regression
from certifit.linear_model._ridge import Ridge
from certifit.linear_model._ridge_classifier import RidgeClassifier, SignVotes, votes
from certifit.resampling import FoldTable
from certifit.solvers.leave_one_out import LeaveOneOut
from certifit.solvers.ridge_folds import ridge_folds

_CONSTRAINTS: dict[str, Any] = {
    "alphas": ["array-like", Interval(Real, 0, None, closed="neither")],
    "scoring": [StrOptions(set(get_scorer_names())), callable, None],
} | usual("store_cv_results fit_intercept cv")


class _Numbers(RegressorMixin, BaseEstimator):
    """Stands in for a fitted regressor in front of a scorer: its predictions are what it is asked about."""

    def predict(self, X: Matrix) -> Any:
        return X


class _Scores(ClassifierMixin, BaseEstimator):
    """Stands in for a fitted classifier in front of a scorer: its scores are what it is asked about."""

    def __init__(self, classes: Any = None) -> None:
        self.classes = classes

    @property
    def classes_(self) -> Any:
        return self.classes

    def decision_function(self, X: Matrix) -> Any:
        return X

    def predict(self, X: Matrix) -> Any:
        return votes(X, self.classes)


class _RidgeSearch:
    """The choice of α: leave-one-out from one decomposition, or folds that share theirs."""

    alphas: Any
    fit_intercept: bool
    scoring: Any
    cv: Any
    gcv_mode: str | None = None
    store_cv_results: bool
    alpha_per_target: bool = False
    _default_score: str
    alpha_: Any
    best_score_: Any
    cv_results_: Array

    def _read_alphas(self) -> Array:
        if np.ndim(self.alphas) > 0:
            lowest = "neither" if self.cv is None else "left"
            for i, alpha in enumerate(self.alphas):
                name = "alphas" if len(self.alphas) == 1 else f"alphas[{i}]"
                check_scalar(alpha, name, Real, min_val=0.0, include_boundaries=lowest)
        return np.atleast_1d(np.asarray(self.alphas, dtype=float))

    def _scorer(self) -> Any:
        """Asks for weights where metadata routing is on and no score was named, as scikit-learn does."""
        if routing_enabled() and self.scoring is None:
            return get_scorer(self._default_score).set_score_request(sample_weight=True)
        return check_scoring(self, scoring=self.scoring, allow_none=True)

    def _leave_one_out(
        self, X: Matrix, Y: Array, weights: Array | None, y: Array, stand_in: Any, score_params: Record
    ) -> None:
        """Sets ``alpha_``, ``best_score_`` and ``cv_results_``; y is what a scorer compares with."""
        alphas, each = self._read_alphas(), self.alpha_per_target and Y.shape[1] > 1
        if self.gcv_mode == "svd" and issparse(X):
            warnings.warn(
                "The 'svd' mode is not supported for sparse X: the smaller Gram matrix is decomposed ('eigen'). "
                "Passing gcv_mode='svd' will be an error in scikit-learn 1.11.",
                FutureWarning,
                stacklevel=4,
            )
        known = LeaveOneOut.of(as_design(X), weights, self.fit_intercept, self.gcv_mode == "eigen")
        scorer = None if self.scoring is None else self._scorer()
        kept, scores = [], []
        for alpha in alphas:
            errors = known.errors(float(alpha), Y)
            answers = errors**2
            if scorer is None:
                scores.append(-answers.mean(axis=0) if self.alpha_per_target else -answers.mean())
            else:
                answers = Y - errors / np.where(known.root > 0.0, known.root, 1.0)[:, None]
                shown = answers.reshape(y.shape) if isinstance(stand_in, _Numbers) else _flat(answers)
                if each:
                    scores.append([scorer(stand_in, a, b, **score_params) for a, b in zip(shown.T, y.T)])
                else:
                    scores.append(scorer(stand_in, shown, y, **score_params))
            if self.store_cv_results:
                kept.append(answers)
        table = np.array(scores, dtype=float)
        best = np.argmax(table, axis=0)
        self.alpha_ = alphas[best] if each else float(alphas[int(np.ravel(best)[0])])
        self.best_score_ = table.max(axis=0) if each else float(np.max(table))
        if self.store_cv_results:
            stored = np.stack(kept, axis=-1).astype(X.dtype)
            self.cv_results_ = stored[:, 0] if y.ndim == 1 and isinstance(stand_in, _Numbers) else stored

    def _by_folds(self, X: Matrix, Y: Array, weights: Array | None, y: Array, given: Record) -> None:
        """Sets ``alpha_`` and ``best_score_`` by k-fold cross-validation; ``given`` is what the user passed to fit."""
        from sklearn.model_selection import GridSearchCV, check_cv  # loads on first use

        for name in ("store_cv_results", "alpha_per_target"):
            if getattr(self, name):
                raise ValueError(f"cv!=None and {name}=True are incompatible")
        alphas, classifies = self._read_alphas(), isinstance(self, ClassifierMixin)
        plain = not routing_enabled() and not callable(self.scoring) and isinstance(X, np.ndarray)
        if plain:
            folds = list(check_cv(self.cv, y, classifier=classifies).split(X, y))
            seen = not classifies or all(len(np.unique(y[a])) == len(np.unique(y)) for a, _ in folds)
            plain = seen and (not classifies or y.ndim == 1)
        if not plain:
            model = (RidgeClassifier if classifies else Ridge)(fit_intercept=self.fit_intercept)
            if routing_enabled():
                model.set_fit_request(sample_weight=True)
            search = GridSearchCV(model, {"alpha": alphas}, cv=self.cv, scoring=self._scorer())
            weighed = {} if weights is None else {"sample_weight": weights}
            search.fit(X, y, **given, **weighed)
            self.alpha_, self.best_score_ = search.best_params_["alpha"], search.best_score_
            return
        scorer = get_scorer(self.scoring or self._default_score)
        stand_in = _Scores(np.unique(y)) if classifies else _Numbers()
        scores = np.empty((len(folds), len(alphas)))
        table = FoldTable(X, Y, folds, weights)
        for k, found in enumerate(ridge_folds(table, alphas, self.fit_intercept)):
            test = folds[k][1]
            for i, answers in enumerate(table.scores(k, *found)):
                shown = _flat(answers) if classifies else answers.reshape(y[test].shape)
                scores[k, i] = scorer(stand_in, shown, y[test])
        mean = scores.mean(axis=0)
        self.alpha_, self.best_score_ = alphas[int(np.argmax(mean))], float(mean.max())

    def get_metadata_routing(self) -> MetadataRouter:
        """Metadata routing of the fit, the scorer and the splitter."""
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(scorer=self._scorer(), method_mapping=MethodMapping().add(caller="fit", callee="score"))
        return router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))


def _flat(scores: Array) -> Array:
    return scores[:, 0] if scores.shape[1] == 1 else scores


@dataclass(eq=False, repr=False)
class RidgeCV(_RidgeSearch, Certified, MultiOutputMixin, LinearPredictions, RegressorMixin, BaseEstimator):
    r"""Ridge regression whose strength α is chosen by cross-validation, leave-one-out by default.

    .. math:: \sum_i s_i\,(y_i - w\cdot x_i - b)^2 + \alpha\lVert w\rVert^2

    The leave-one-out errors of all rows and all α come from one singular value decomposition
    (`certifit.solvers.leave_one_out`); folds share their moments. The chosen α is then fitted to all rows.

    Parameters
    ----------
    alphas : float or array > 0, default=(0.1, 1.0, 10.0)
        Strengths to choose from (0 is allowed with folds).
    fit_intercept : bool, default=True
    scoring : str, callable or None, default=None
        None: the mean squared error with leave-one-out, R² with folds.
    cv : int, splitter, iterable or None, default=None
        None is leave-one-out.
    gcv_mode : {"auto", "svd", "eigen"} or None, default=None
        "eigen" decomposes the smaller Gram matrix, which is faster and less accurate; the others X itself, unless it is
        sparse.
    store_cv_results : bool, default=False
        Keep the leave-one-out values of every row and α in ``cv_results_``.
    alpha_per_target : bool, default=False
        Choose one α for each target (leave-one-out).

    Attributes
    ----------
    alpha_ : float or (t,) array
    best_score_ : float or (t,) array
    cv_results_ : (n, a) or (n, t, a) array
        Squared errors (times the weight) without ``scoring``, else the predictions.
    coef_, intercept_ : as in `Ridge`
    certificate_ : Certificate
        Of the last fit: the gap to the best possible one at ``alpha_``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RidgeCV(alphas=[1e-3, 1e-2, 1e-1, 1]).fit(X, y)
    >>> model.alpha_, round(model.score(X, y), 4), model.certificate_.holds
    (0.01, 0.5166, True)
    """

    _default_score = "r2"
    _parameter_constraints: ClassVar[dict[str, Any]] = (
        _CONSTRAINTS | {"gcv_mode": [StrOptions({"auto", "svd", "eigen"}), None]} | usual("alpha_per_target")
    )

    alphas: npt.ArrayLike = (0.1, 1.0, 10.0)
    _: KW_ONLY
    fit_intercept: bool = True
    scoring: str | Callable[..., float] | None = None
    cv: CV = None
    gcv_mode: str | None = None
    store_cv_results: bool = False
    alpha_per_target: bool = False

    def fit(self, X: Matrix, y: VectorLike, sample_weight: Weights = None, **params: Any) -> RidgeCV:
        """Fit to rows X (n, d) and targets y (n,) or (n, t), weighted by ``sample_weight``.

        With metadata routing ``params`` go to scorer and splitter.
        """
        self._validate_params()
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        parts = routed(self, "fit", params, **given)
        X, y, weights = read_regression(self, X, y, sample_weight)
        Y = y.reshape(len(y), -1)
        if self.cv is None:
            scored = parts.scorer.score if routing_enabled() else given
            self._leave_one_out(X, Y, weights, y, _Numbers(), scored)
        else:
            self._by_folds(X, Y, weights, y, params)
        model = Ridge(self.alpha_, fit_intercept=self.fit_intercept).fit(X, y, sample_weight)
        self.coef_, self.intercept_ = model.coef_, model.intercept_
        if y.ndim == 2 and y.shape[1] == 1:
            self.coef_ = np.ravel(self.coef_)
        self._take_certificates(model)
        return self


@dataclass(eq=False, repr=False)
class RidgeClassifierCV(_RidgeSearch, SignVotes):
    r"""Ridge regression on labels coded −1/+1, its strength α chosen by cross-validation.

    .. math:: \sum_i s_i\,(t_i - w\cdot x_i - b)^2 + \alpha\lVert w\rVert^2, \qquad t_i = \pm1

    Parameters
    ----------
    alphas, fit_intercept, cv : as in `RidgeCV`
    scoring : str, callable or None, default=None
        None: the mean squared error with leave-one-out, the accuracy with folds.
    class_weight : dict or "balanced", default=None
    store_cv_results : bool, default=False

    Attributes
    ----------
    alpha_, best_score_ : float
    cv_results_ : (n, machines, a) array
    classes_, coef_, intercept_, certificate_ : as in `RidgeClassifier`

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RidgeClassifierCV(alphas=[0.01, 0.1, 1.0]).fit(X, y)
    >>> model.alpha_, round(model.score(X, y), 3), model.certificate_.relative_gap < 1e-10
    (1.0, 0.853, True)
    """

    _default_score = "accuracy"
    _parameter_constraints: ClassVar[dict[str, Any]] = _CONSTRAINTS | {
        "class_weight": [dict, StrOptions({"balanced"}), None]
    }

    alphas: npt.ArrayLike = (0.1, 1.0, 10.0)
    _: KW_ONLY
    fit_intercept: bool = True
    scoring: str | Callable[..., float] | None = None
    cv: CV = None
    class_weight: ClassWeight = None
    store_cv_results: bool = False

    def fit(self, X: Matrix, y: VectorLike, sample_weight: Weights = None, **params: Any) -> RidgeClassifierCV:
        """Fit to rows X (n, d) with labels y (n,), or 0/1 in (n, labels), weighted by ``sample_weight``.

        With metadata routing ``params`` go to scorer and splitter.
        """
        self._validate_params()
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        parts = routed(self, "fit", params, **given)
        X, y, targets, weights, factors = self._read_labels(X, y, sample_weight)
        if self.cv is None:
            # With several labels a row scikit-learn's scorers see the one of largest score; so do ours.
            code = targets.argmax(axis=1) if self._several else np.searchsorted(self.classes_, y)
            scored = parts.scorer.score if routing_enabled() else given
            self._leave_one_out(X, targets, weights, code, _Scores(np.arange(len(self.classes_))), scored)
        else:
            self._by_folds(X, targets, weights, y, params)
        model = Ridge(self.alpha_, fit_intercept=self.fit_intercept).fit(X, targets, weights)
        self._name(model, X, y, sample_weight, factors)
        return self
