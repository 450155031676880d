"""Intervals, and numbers that carry one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

from certifit._limits import binomial_limits
from certifit._types import Array, Label, VectorLike, Weights


class Interval(tuple[float, float]):
    """A confidence interval: a pair ``(low, high)`` that knows its level and the method behind it.

    Parameters
    ----------
    low, high : float
    level : float in (0, 1)
    method : str
        Name of the method.

    Examples
    --------
    >>> low, high = Interval(0.81, 0.93, 0.95, "exact binomial")
    >>> Interval(0.81, 0.93, 0.95, "exact binomial")
    0.81 to 0.93 (95 %, exact binomial)
    """

    level: float
    method: str

    def __new__(cls, low: float, high: float, level: float, method: str) -> Interval:
        self = super().__new__(cls, (float(low), float(high)))
        self.level, self.method = level, method
        return self

    def __getnewargs__(self) -> tuple[float, float, float, str]:
        return (self[0], self[1], self.level, self.method)

    @property
    def low(self) -> float:
        """The lower end."""
        return self[0]

    @property
    def high(self) -> float:
        """The upper end."""
        return self[1]

    @property
    def width(self) -> float:
        """Upper end minus lower end."""
        return self[1] - self[0]

    def __contains__(self, value: object) -> bool:
        return isinstance(value, (int, float, np.number)) and bool(self[0] <= value <= self[1])

    def __repr__(self) -> str:
        return f"{self[0]:.4g} to {self[1]:.4g} ({100 * self.level:g} %, {self.method})"


class Figure(float):
    """A number with an interval: a plain float wherever one is expected.

    Parameters
    ----------
    value : float
    limits : callable
        From a level to an `Interval`.

    Examples
    --------
    >>> figure = share(17, 20)
    >>> figure, figure.interval(0.95)
    (0.85, 0.6211 to 0.9679 (95 %, exact binomial))
    """

    _limits: Callable[[float], Interval]

    def __new__(cls, value: float, limits: Callable[[float], Interval]) -> Figure:
        self = super().__new__(cls, value)
        self._limits = limits
        return self

    def interval(self, level: float = 0.95) -> Interval:
        """The interval at a confidence level between 0 and 1."""
        return self._limits(check_level(level))

    def __reduce__(self) -> Any:  # the interval's recipe is a closure: what is pickled is the number
        return float, (float(self),)


def check_level(level: float) -> float:
    """A confidence level strictly between 0 and 1, or one clear sentence."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"A confidence level lies strictly between 0 and 1; got {level!r}.")
    return float(level)


def normal_quantile(level: float) -> float:
    """z with P(|Z| ≤ z) = level."""
    return -float(scipy.special.ndtri((1.0 - level) / 2.0))


def wilson_limits(successes: float, trials: float, level: float) -> tuple[float, float]:
    """Wilson's score limits for a share: near the stated coverage on average, and shorter."""
    if trials <= 0:
        return 0.0, 1.0
    z2, p = normal_quantile(level) ** 2, successes / trials
    centre = (p + z2 / (2 * trials)) / (1 + z2 / trials)
    half = math.sqrt(z2 * (p * (1 - p) / trials + z2 / (4 * trials**2))) / (1 + z2 / trials)
    low, high = centre - half, centre + half
    return (0.0 if successes <= 0 else max(low, 0.0)), (1.0 if successes >= trials else min(high, 1.0))


def share_interval(successes: float, trials: float, level: float, method: str = "exact") -> Interval:
    """Interval for a share by ``method`` "exact" (Clopper-Pearson) or "wilson"."""
    if method == "exact":
        return Interval(*binomial_limits(successes, trials, level), level, "exact binomial")
    if method == "wilson":
        return Interval(*wilson_limits(successes, trials, level), level, "Wilson")
    raise ValueError(f"method must be 'exact' or 'wilson' for a share; got {method!r}.")


def share(successes: float, trials: float, method: str = "exact") -> Figure:
    """successes/trials with an interval; nan (interval 0 to 1) when there were no trials.

    Parameters
    ----------
    successes, trials : float ≥ 0
    method : {"exact", "wilson"}, default="exact"
        Clopper and Pearson's interval, or Wilson's.

    Examples
    --------
    >>> round(share(8, 10), 2), share(8, 10).interval()
    (0.8, 0.4439 to 0.9748 (95 %, exact binomial))
    """
    value = successes / trials if trials > 0 else math.nan
    return Figure(value, lambda level: share_interval(successes, trials, level, method))


def logit_interval(value: float, variance: float, level: float, method: str) -> Interval:
    """Interval for a figure in (0, 1) whose log-odds are about normal; ``variance`` is that of the figure."""
    if not 0.0 < value < 1.0 or not math.isfinite(variance):
        return Interval(0.0, 1.0, level, method)
    reach = normal_quantile(level) * math.sqrt(variance) / (value * (1.0 - value))
    centre = float(scipy.special.logit(value))
    return Interval(scipy.special.expit(centre - reach), scipy.special.expit(centre + reach), level, method)


def mean_figure(values: Array, weights: Array, method: str = "t") -> Figure:
    """Weighted mean of per-row values with Student's interval; weight k counts as k rows.

    x̄ = Σ sᵢxᵢ / S and x̄ ± t √(Σ sᵢ(xᵢ − x̄)² / (S(S − 1))), S = Σ sᵢ.

    Parameters
    ----------
    values : (n,) array
    weights : (n,) array
    method : str, default="t"
        Name of the interval.

    Examples
    --------
    >>> mean = mean_figure(np.array([1.0, 2.0, 3.0]), np.ones(3))
    >>> float(mean), round(mean.interval(0.95).low, 3)
    (2.0, -0.484)
    """
    n = float(weights.sum())
    mean = float(weights @ values / n)
    spread = float(weights @ np.square(values - mean))

    def limits(level: float) -> Interval:
        if n <= 1:
            return Interval(-math.inf, math.inf, level, method)
        t = -float(scipy.special.stdtrit(n - 1.0, (1.0 - level) / 2.0))
        reach = t * math.sqrt(spread / (n - 1.0) / n)
        return Interval(mean - reach, mean + reach, level, method)

    return Figure(mean, limits)


def multinomial_variance(function: Callable[[Array], Any], counts: Array) -> float:
    """Delta-method variance of ``function(counts)`` when the cells are multinomial counts.

    The slope comes from a complex step (exact to rounding for the rational functions used here); counts have
    covariance diag(c) − ccᵀ/n.
    """
    flat = np.asarray(counts, dtype=float).ravel()
    n = flat.sum()
    step = 1e-30
    slope = np.empty(len(flat))
    for i in range(len(flat)):
        moved = flat.astype(complex)
        moved[i] += 1j * step
        slope[i] = function(moved.reshape(counts.shape)).imag / step
    variance = float(flat @ slope**2 - (flat @ slope) ** 2 / n) if n > 0 else math.nan
    return max(variance, 0.0)


def labels_and_weights(
    y: VectorLike, other: VectorLike, sample_weight: Weights, what: str
) -> tuple[Array, Array, Array]:
    """Two equally long vectors and their weights, or one clear sentence about what is wrong."""
    a, b = np.asarray(y), np.asarray(other)
    a = a[:, 0] if a.ndim == 2 and a.shape[1] == 1 else a
    b = b[:, 0] if b.ndim == 2 and b.shape[1] == 1 else b
    if a.ndim != 1 or b.ndim != 1:
        raise ValueError(f"Labels and {what} must be vectors; got shapes {a.shape} and {b.shape}.")
    if len(a) != len(b):
        raise ValueError(f"There are {len(a)} labels but {len(b)} {what}: give one for each row.")
    if len(a) == 0:
        raise ValueError(f"There are no rows: labels and {what} are empty.")
    w = np.ones(len(a)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    if w.shape != a.shape or not np.all(np.isfinite(w)) or np.any(w < 0) or w.sum() == 0:
        raise ValueError("sample_weight needs one finite number ≥ 0 per row, not all zero.")
    for v, name in ((a, "labels"), (b, what)):
        if v.dtype.kind == "f" and not np.all(np.isfinite(v)):
            raise ValueError(f"The {name} hold NaN or infinity (first at row {np.flatnonzero(~np.isfinite(v))[0]}).")
    return a, b, w


def positive_label(classes: Array, positive: Label | None) -> Any:
    """The label counted as positive: the one asked for, or the last of two in sorted order."""
    if positive is None:
        if len(classes) > 2:
            raise ValueError(f"There are {len(classes)} classes: say which one is positive.")
        return classes[-1]
    if positive not in classes.tolist():
        raise ValueError(f"The positive label {positive!r} does not occur; labels are {classes.tolist()}.")
    return positive


def find_classes(*vectors: Array) -> Array:
    """All labels that occur, sorted; mixed kinds are rejected."""
    if len({v.dtype.kind in "biuf" for v in vectors}) > 1:
        raise ValueError("Labels mix numbers and strings: use one type in both vectors.")
    return np.unique(np.concatenate(vectors))
