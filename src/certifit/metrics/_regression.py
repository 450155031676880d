r"""Figures for predicted numbers: errors and the fraction of variance explained, with intervals.

.. math:: R² = 1 - \frac{\sum w_i (y_i - ŷ_i)²}{\sum w_i (y_i - ȳ)²}.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from certifit._types import Array, VectorLike, Weights
from certifit.metrics._interval import (
    Figure,
    Interval,
    check_level,
    labels_and_weights,
    mean_figure,
    normal_quantile,
)


@dataclass(frozen=True)
class Errors:
    """Errors of predicted numbers; see `errors`.

    Attributes
    ----------
    residuals : (n,) array
        True minus predicted.
    truth, weights : (n,) arrays

    Examples
    --------
    >>> from certifit.metrics import errors
    >>> errors([1.0, 2.0, 3.0], [1.0, 2.0, 5.0]).residuals.tolist()
    [0.0, 0.0, -2.0]
    """

    residuals: Array
    truth: Array
    weights: Array

    @property
    def mse(self) -> Figure:
        """Mean squared error."""
        return mean_figure(np.square(self.residuals), self.weights)

    @property
    def mae(self) -> Figure:
        """Mean absolute error."""
        return mean_figure(np.abs(self.residuals), self.weights)

    @property
    def bias(self) -> Figure:
        """Mean of prediction minus truth."""
        return mean_figure(-self.residuals, self.weights)

    @property
    def rmse(self) -> Figure:
        """Root of the mean squared error."""
        square = self.mse

        def limits(level: float) -> Interval:
            low, high = square.interval(level)
            return Interval(math.sqrt(max(low, 0.0)), math.sqrt(high), level, "root of t")

        return Figure(math.sqrt(square), limits)

    @property
    def r2(self) -> Figure:
        """Share of the variance explained; delta-method interval over the rows."""
        w, n = self.weights, float(self.weights.sum())
        away = np.square(self.truth - w @ self.truth / n)
        left, total = float(w @ np.square(self.residuals)), float(w @ away)
        if total == 0:
            return Figure(1.0 if left == 0 else 0.0, lambda level: Interval(-math.inf, 1.0, level, "none"))
        value = 1.0 - left / total
        # ratio of two means: the slope along each row; moving ȳ changes the total only to second order
        rows = (np.square(self.residuals) - (1.0 - value) * away) / (total / n)

        def limits(level: float) -> Interval:
            reach = normal_quantile(level) * math.sqrt(float(w @ np.square(rows)) / max(n - 1, 1) / n)
            return Interval(value - reach, min(value + reach, 1.0), level, "delta method")

        return Figure(value, limits)

    def interval(self, name: str, level: float = 0.95) -> Interval:
        """Interval of "mse", "rmse", "mae", "bias" or "r2".

        Parameters
        ----------
        name : {"mse", "rmse", "mae", "bias", "r2"}
        level : float in (0, 1), default=0.95
        """
        if name not in ("mse", "rmse", "mae", "bias", "r2"):
            raise ValueError(f"There is no figure {name!r}; there are mse, rmse, mae, bias, r2.")
        figure: Figure = getattr(self, name)
        return figure.interval(check_level(level))


def errors(y: VectorLike, yhat: VectorLike, sample_weight: Weights = None) -> Errors:
    """Errors of predicted numbers.

    Parameters
    ----------
    y, yhat : array-like of shape (n,)
        True and predicted values.
    sample_weight : array-like of shape (n,), default=None
        Weight k counts as k rows.

    Returns
    -------
    Errors

    Examples
    --------
    >>> e = errors([3.0, -0.5, 2.0, 7.0], [2.5, 0.0, 2.0, 8.0])
    >>> e.mse, round(e.r2, 4), e.interval("mae")
    (0.375, 0.9486, -0.1496 to 1.15 (95 %, t))
    """
    a, b, w = labels_and_weights(y, yhat, sample_weight, "predictions")
    if a.dtype.kind not in "biuf" or b.dtype.kind not in "biuf":
        raise ValueError("Values must be numbers; for classes use confusion(y, yhat).")
    return Errors(a.astype(float) - b.astype(float), a.astype(float), w)
