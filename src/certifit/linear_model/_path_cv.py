"""Lasso and elastic net whose strength is chosen by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import check_scalar, column_or_1d

from certifit._certified import Certified
from certifit._linear_scores import LinearPredictions
from certifit._sklearn import Interval, StrOptions, routed, usual
from certifit._types import CV, Array, Matrix, RandomState, Record, VectorLike, Weights
from certifit.design import CentredColumns, as_design
from certifit.linear_model._base import read_regression
from certifit.linear_model._lasso import ElasticNet, Lasso, scalar_is_none
from certifit.linear_model._lasso_path import enet_path, lasso_path, strength_grid
from certifit.linear_model._multitask import LARGE, SMALL, MultiTaskElasticNet, MultiTaskLasso
from certifit.resampling import FoldTable
from certifit.solvers.lasso_folds import LassoFolds
from certifit.solvers.least_squares import solve_least_squares
from certifit.solvers.multitask import solve_multitask

_CONSTRAINTS: dict[str, Any] = {
    "alphas": [Interval(Integral, 1, None, closed="left"), "array-like"],
    "selection": [StrOptions({"cyclic", "random"})],
} | usual("eps>0 tol≥0 fit_intercept max_iter copy_X cv verbose n_jobs random_state")
_SINGLE: dict[str, Any] = {
    "precompute": [StrOptions({"auto"}), "array-like", "boolean"],
} | usual("positive")
_MIX: dict[str, Any] = {"l1_ratio": [Interval(Real, 0, 1, closed="both"), "array-like"]}


@dataclass(kw_only=True, eq=False, repr=False)
class _PathCV(Certified, LinearPredictions, RegressorMixin, BaseEstimator):
    """Choose α (and ρ) by the mean squared error of the folds, then fit to all rows."""

    _model: ClassVar[type[Any]]
    eps: float = 1e-3
    alphas: Any = 100
    fit_intercept: bool = True
    max_iter: int = 1000
    tol: float = 1e-4
    copy_X: bool = True
    cv: CV = None
    verbose: Any = False
    n_jobs: int | None = None
    random_state: RandomState = None
    selection: str = "cyclic"
    l1_ratio = 1.0  # a parameter of the elastic nets
    positive = False  # a parameter of the models of one target

    def _splitter(self) -> Any:
        from sklearn.model_selection import check_cv  # loads on first use

        return check_cv(self.cv)

    def fit(self, X: Matrix, y: VectorLike, sample_weight: Weights = None, **params: Any) -> Any:
        """Fit to rows X (n, d), dense or sparse, and targets y, weighted by ``sample_weight`` in fits and scores.

        With metadata routing ``params`` go to the splitter.
        """
        self._validate_params()
        parts = routed(self, "fit", params, sample_weight=sample_weight)
        sample_weight = scalar_is_none(sample_weight)
        X, Y, weights = read_regression(self, X, y, sample_weight)
        Y = self._read_target(Y)
        ratios = np.atleast_1d(np.asarray(self.l1_ratio, dtype=float))
        grids = self._grids(CentredColumns.of(as_design(X), weights, self.fit_intercept), Y, ratios)
        folds = list(self._splitter().split(X, Y, **parts.splitter.split))
        table = FoldTable(X, Y, [(np.asarray(a), np.asarray(b)) for a, b in folds], weights)
        errors = self._errors(table, ratios, grids)
        self.mse_path_ = np.squeeze(np.moveaxis(errors, 2, 1))
        mean = errors.mean(axis=1)
        best = np.unravel_index(np.argmin(mean), mean.shape)
        self.alpha_ = grids[best]
        self.alphas_ = grids if isinstance(self.alphas, Integral) and len(ratios) > 1 else grids[0]
        model = self._chosen(float(self.alpha_), float(ratios[best[0]]))
        model.fit(X, Y, sample_weight)
        if "l1_ratio" in self.get_params():
            self.l1_ratio_ = ratios[best[0]]
        self.coef_, self.intercept_ = model.coef_, model.intercept_
        self.dual_gap_, self.n_iter_ = model.dual_gap_, model.n_iter_
        self._take_certificates(model)
        return self

    def _read_target(self, Y: Array) -> Array:
        several = issubclass(self._model, MultiTaskLasso)
        if several and Y.ndim == 1:
            raise ValueError(f"For mono-task outputs, use {type(self).__name__.removeprefix('MultiTask')}")
        if not several and Y.ndim > 1 and Y.shape[1] > 1:
            raise ValueError(f"For multi-task outputs, use MultiTask{type(self).__name__}")
        return Y if several else column_or_1d(Y, warn=True)

    def _grids(self, columns: CentredColumns, Y: Array, ratios: Array) -> Array:
        """Strengths (ratios, a), largest first."""
        if isinstance(self.alphas, Integral):
            count = int(self.alphas)
            return np.array([strength_grid(columns, Y, count, self.eps, float(r), self.positive) for r in ratios])
        for i, alpha in enumerate(self.alphas):
            check_scalar(alpha, f"alphas[{i}]", Real, min_val=0.0, include_boundaries="left")
        falling = np.sort(np.asarray(self.alphas, dtype=float))[::-1]
        return np.tile(falling, (len(ratios), 1))

    def _errors(self, table: FoldTable, ratios: Array, grids: Array) -> Array:
        """Mean squared error (ratios, folds, strengths) of each fold's test rows."""
        one, tol = table.y.ndim == 1, self.tol if table.X.shape[1] >= LARGE else min(self.tol, SMALL)
        shared = LassoFolds(table, self.fit_intercept) if one else None
        found = np.empty((len(ratios), len(table.folds), grids.shape[1]))
        for i, (ratio, grid) in enumerate(zip(ratios, grids)):
            bent = grid * ratio > 0.0
            known = shared.paths(grid[bent], ratio, self.positive, tol) if shared and np.any(bent) else None
            for k, (_, test) in enumerate(table.folds):
                coef, offset = self._fold(table, k, grid, ratio, None if known is None else known[k])
                left = table.scores(k, coef, offset) - table.y[test].reshape(len(test), -1)
                s = None if table.weights is None else table.weights[test]
                found[i, k] = np.average(np.mean(left * left, axis=2), axis=1, weights=s)
        return found

    def _fold(
        self, table: FoldTable, k: int, grid: Array, ratio: float, known: tuple[Array, Array] | None
    ) -> tuple[Array, Array]:
        """Coefficients (a, t, d) and offsets (a, t) of one fold."""
        bent, d = grid * ratio > 0.0, table.X.shape[1]
        tasks = 1 if table.y.ndim == 1 else table.y.shape[1]
        coef, offset = np.zeros((len(grid), tasks, d)), np.zeros((len(grid), tasks))
        X, Y, weights = table.training(k)
        if known is not None:
            coef[bent, 0], offset[bent, 0] = known
        elif np.any(bent):
            design = as_design(X)
            found = solve_multitask(
                design, Y, grid[bent], ratio, weights, fit_intercept=self.fit_intercept, tol=self.tol
            )
            coef[bent], offset[bent] = found.value
        total = float(len(Y) if weights is None else weights.sum())
        for i in np.flatnonzero(~bent):  # no norm with a kink: least squares or ridge in closed form
            coef[i], offset[i] = solve_least_squares(
                as_design(X), Y.reshape(len(Y), -1), weights, alpha=float(grid[i]) * total,
                fit_intercept=self.fit_intercept, positive=self.positive,
            ).value  # fmt: skip
        return coef, offset

    def _chosen(self, alpha: float, ratio: float) -> Any:
        """The model of the chosen strength, with the parameters that both have."""
        model = self._model(alpha)
        both = set(model.get_params()) & set(self.get_params()) - {"l1_ratio", "precompute"}
        model.set_params(**{name: getattr(self, name) for name in both})
        if "l1_ratio" in model.get_params():
            model.l1_ratio = ratio
        return model

    def get_metadata_routing(self) -> MetadataRouter:
        """Metadata routing of the fit and the splitter."""
        mapping = MethodMapping().add(caller="fit", callee="split")
        return MetadataRouter(owner=self).add_self_request(self).add(splitter=self._splitter(), method_mapping=mapping)

    _tags: ClassVar[Record] = {
        "input_tags.sparse": True,
        "target_tags.single_output": lambda model: not issubclass(model._model, MultiTaskLasso),
        "target_tags.multi_output": lambda model: issubclass(model._model, MultiTaskLasso),
    }


@dataclass(kw_only=True, eq=False, repr=False)
class _OneTarget(_PathCV):
    """What `LassoCV` and `ElasticNetCV` have beside their twins of several targets."""

    positive: bool = False
    precompute: Any = "auto"


class LassoCV(_OneTarget):
    r"""Lasso whose strength α has the smallest cross-validated squared error.

    .. math:: \frac1{2S}\sum_i s_i(y_i - w\cdot x_i - b)^2 + \alpha\lVert w\rVert_1

    All strengths and folds of tall data are fitted from one pass over the rows; then the best α is fitted to all rows.

    Parameters
    ----------
    eps : float > 0, default=1e-3
        Ratio of the smallest to the largest α of the grid, when ``alphas`` is a number.
    alphas : int ≥ 1 or array ≥ 0, default=100
        How many strengths (spaced evenly in the logarithm, from the smallest that gives w = 0), or the strengths.
    fit_intercept : bool, default=True
    max_iter : int ≥ 1, default=1000
        As in `Lasso`, for the last fit.
    tol : float ≥ 0, default=1e-4
        Proved relative gap at which each fit stops.
    cv : int, splitter or iterable, default=None
        Folds, as in scikit-learn; five when None.
    positive : bool, default=False
        Require w ≥ 0.
    precompute, copy_X, verbose, n_jobs, random_state, selection :
        Accepted for compatibility with scikit-learn and ignored.

    Attributes
    ----------
    alpha_ : float
        The chosen strength.
    alphas_ : (a,) array
    mse_path_ : (a, folds) array
        Mean squared error of each strength on each fold's test rows.
    coef_, intercept_, dual_gap_, n_iter_ : as in `Lasso`
    certificate_ : Certificate
        Of the last fit: the gap to the best possible one at ``alpha_``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = LassoCV(cv=5).fit(X, y)
    >>> round(float(model.alpha_), 4), model.certificate_.relative_gap < 1e-4
    (0.0038, True)
    """

    _model = Lasso
    path = staticmethod(lasso_path)
    _parameter_constraints: ClassVar[dict[str, Any]] = _CONSTRAINTS | _SINGLE


@dataclass(kw_only=True, eq=False, repr=False)
class ElasticNetCV(_OneTarget):
    r"""Elastic net whose strength α and mixture ρ have the smallest cross-validated squared error.

    .. math:: \frac1{2S}\sum_i s_i(y_i - w\cdot x_i - b)^2
              + \alpha\big(\rho\lVert w\rVert_1 + \tfrac12(1-\rho)\lVert w\rVert^2\big)

    Parameters
    ----------
    l1_ratio : float in [0, 1] or array, default=0.5
        ρ, or several among which to choose. With ρ = 0 the strengths must be given.
    eps, alphas, fit_intercept, precompute, max_iter, tol, cv, copy_X, verbose :
        As in `LassoCV`.
    n_jobs, positive, random_state, selection :
        As in `LassoCV`.

    Attributes
    ----------
    alpha_, l1_ratio_ : float
        The chosen strength and mixture.
    alphas_ : (a,) or (ratios, a) array
    mse_path_ : (a, folds) or (ratios, a, folds) array
    coef_, intercept_, dual_gap_, n_iter_, certificate_ : as in `LassoCV`

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ElasticNetCV(l1_ratio=[0.5, 0.9]).fit(X, y)
    >>> round(float(model.alpha_), 4), float(model.l1_ratio_), model.mse_path_.shape
    (0.0024, 0.9, (2, 100, 5))
    """

    _model = ElasticNet
    path = staticmethod(enet_path)
    _parameter_constraints: ClassVar[dict[str, Any]] = _CONSTRAINTS | _SINGLE | _MIX

    l1_ratio: Any = 0.5
    verbose: Any = 0


class MultiTaskLassoCV(MultiOutputMixin, _PathCV):
    r"""Multi-task lasso whose strength α has the smallest cross-validated squared error.

    .. math:: \frac1{2S}\sum_i s_i\lVert y_i - Wx_i - b\rVert^2 + \alpha\sum_j\lVert W_{\cdot j}\rVert_2

    Parameters
    ----------
    eps, alphas, fit_intercept, max_iter, tol, copy_X, cv, verbose, n_jobs, random_state, selection :
        As in `LassoCV`.

    Attributes
    ----------
    alpha_, alphas_, mse_path_ : as in `LassoCV`
    coef_ : (t, d) array
    intercept_ : (t,) array
    dual_gap_, n_iter_, certificate_ : as in `MultiTaskLasso`

    Examples
    --------
    >>> from sklearn.datasets import load_linnerud
    >>> X, Y = load_linnerud(return_X_y=True)
    >>> model = MultiTaskLassoCV(cv=4).fit(X, Y)
    >>> round(float(model.alpha_)), model.certificate_.relative_gap < 1e-4
    (171, True)
    """

    _model = MultiTaskLasso
    path = staticmethod(lasso_path)
    _parameter_constraints: ClassVar[dict[str, Any]] = _CONSTRAINTS


@dataclass(kw_only=True, eq=False, repr=False)
class MultiTaskElasticNetCV(MultiOutputMixin, _PathCV):
    r"""Multi-task elastic net whose strength α and mixture ρ have the smallest cross-validated squared error.

    .. math:: \frac1{2S}\sum_i s_i\lVert y_i - Wx_i - b\rVert^2
              + \alpha\Big(\rho\sum_j\lVert W_{\cdot j}\rVert_2 + \tfrac12(1-\rho)\lVert W\rVert_F^2\Big)

    Parameters
    ----------
    l1_ratio : float in [0, 1] or array, default=0.5
        ρ, or several among which to choose.
    eps, alphas, fit_intercept, max_iter, tol, cv, copy_X, verbose, n_jobs, random_state, selection :
        As in `LassoCV`.

    Attributes
    ----------
    alpha_, l1_ratio_, alphas_, mse_path_ : as in `ElasticNetCV`
    coef_, intercept_, dual_gap_, n_iter_, certificate_ : as in `MultiTaskLassoCV`

    Examples
    --------
    >>> from sklearn.datasets import load_linnerud
    >>> X, Y = load_linnerud(return_X_y=True)
    >>> model = MultiTaskElasticNetCV(cv=4).fit(X, Y)
    >>> model.coef_.shape, model.certificate_.relative_gap < 1e-4
    ((3, 3), True)
    """

    _model = MultiTaskElasticNet
    path = staticmethod(enet_path)
    _parameter_constraints: ClassVar[dict[str, Any]] = _CONSTRAINTS | _MIX

    l1_ratio: Any = 0.5
    verbose: Any = 0
