"""Ridge regression of the target's logarithm that predicts means of the target itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from certifit._certified import Certified
from certifit._types import Answers, Array, Grid, Matrix, VectorLike
from certifit._validation import check_is_fitted, validate_data
from certifit.linear_model import Ridge
from certifit.resampling import FoldAnswers, FoldTable, assemble, is_number, read_table, require, require_shared
from certifit.solvers.ridge_folds import ridge_folds

_BEYOND = 1.0  # predictions stay within a factor of e of the training targets


class LogRidge(Certified, RegressorMixin, BaseEstimator):
    r"""Ridge regression f of log y, predicting :math:`e^{f(x)} \cdot \frac1n \sum_i e^{\log y_i - f(x_i)}`.

    The exponential of a mean logarithm is a typical value, smaller than the mean. The second factor (Duan's smearing)
    makes up for it without assuming any distribution.

    Parameters
    ----------
    alpha : float > 0, default=1.0
        Strength of the penalty, as in `Ridge`.

    Attributes
    ----------
    coef_, intercept_ :
        Of f.
    smearing_ : float
        The factor.
    range_ : pair of float
        Smallest and largest logarithm of the training targets; f counts as at most 1 beyond them.
    certificate_ : Certificate
        Of the fit to log y (`certified_target`).

    Examples
    --------
    >>> X = np.arange(6.0)[:, None]
    >>> y = np.array([1.0, 2.1, 3.9, 8.2, 15.8, 32.5])
    >>> model = LogRidge(alpha=0.01).fit(X, y)
    >>> model.predict([[6.0]]).round(), model.certificate_.holds
    (array([64.]), True)
    """

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = alpha

    def fit(self, X: Matrix, y: VectorLike, sample_weight: Any = None) -> LogRidge:
        """Fit to rows X and targets y > 0."""
        X, y = validate_data(self, X, y, y_numeric=True, dtype=np.float64)
        logs = self.certified_target(y)
        inner = Ridge(alpha=self.alpha).fit(X, logs, sample_weight)
        self.coef_, self.intercept_ = np.asarray(inner.coef_), float(inner.intercept_)
        self.range_ = float(logs.min()), float(logs.max())
        shown = _within(X @ self.coef_ + self.intercept_, *self.range_)
        self.smearing_ = float(np.average(np.exp(logs - shown), weights=sample_weight))
        self._promise_certificates(lambda: inner.certificates_, X, logs, sample_weight)
        return self

    @staticmethod
    def certified_target(y: VectorLike) -> Array:
        """What the certificate speaks of: log y."""
        y = np.asarray(y, dtype=float)
        if not np.all(y > 0):
            raise ValueError("Only positive targets have logarithms.")
        return np.asarray(np.log(y))

    def predict(self, X: Matrix) -> Array:
        """Means of the target, all positive."""
        check_is_fitted(self, "coef_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.exp(_within(X @ self.coef_ + self.intercept_, *self.range_)) * self.smearing_

    def _fold_path(self, table: FoldTable, grid: Grid, response: tuple[str, ...]) -> FoldAnswers:
        """All folds and strengths from one pass, as `Ridge` (see `certifit.model_selection`)."""
        require(response == ("predict",), "the score needs more than predictions")
        require_shared(self, grid, {"alpha"})
        alphas = [point.get("alpha", self.alpha) for point in grid]
        require(all(is_number(a) and a > 0 for a in alphas), "an alpha is not a number > 0")
        read = read_table(table)
        require(read.y.ndim == 1 and np.all(read.y > 0), "fit rejects the targets")
        logs = np.log(read.y)
        found = ridge_folds(replace(read, y=logs[:, None]), np.array(alphas, dtype=float), True)

        def scores() -> Iterator[Answers]:
            for k, (coef, offset) in enumerate(found):
                train = read.folds[k][0]
                ends = float(logs[train].min()), float(logs[train].max())
                shown = _within(read.X[train] @ coef[:, 0].T + offset[:, 0], *ends)
                weights = None if read.weights is None else read.weights[train]
                factor = np.average(np.exp(logs[train][:, None] - shown), axis=0, weights=weights)
                tested = _within(read.scores(k, coef, offset)[:, :, 0], *ends)
                yield {"predict": np.exp(tested) * factor[:, None]}

        return assemble(grid, [(list(range(len(grid))), scores())])


def _within(logs: Array, low: float, high: float) -> Array:
    return np.clip(logs, low - _BEYOND, high + _BEYOND)
