"""Paired comparison of models on the same folds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Unpack

import numpy as np
import scipy.special
from sklearn.base import is_classifier
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold

from certifit import _notebook
from certifit._limits import corrected_limits
from certifit._types import CV, Array, Estimator, MatrixLike, RandomState, VectorLike, Weights
from certifit.metrics import Interval
from certifit.model_selection._cross_validate import CrossValidation, cross_validate
from certifit.model_selection._run import WorkerOptions
from certifit.model_selection._scoring import ScoringLike
from certifit.resampling import folds


@dataclass(frozen=True)
class Difference:
    """Score of one model minus that of another on the same folds.

    Attributes
    ----------
    first, second : str
    value : float
        Mean difference; positive when the first is better.
    interval : Interval
        Corrected for overlapping folds.
    p_value : float
        Two-sided, of the corrected resampled t test.
    adjusted : float
        The same with Holm's correction for the pairs compared.

    Examples
    --------
    >>> from certifit.linear_model import LinearRegression, Ridge
    >>> from certifit.model_selection import compare
    >>> X = np.linspace(0, 1, 40)[:, None]
    >>> y = 3 * X[:, 0] + np.sin(20 * X[:, 0])
    >>> d = compare({"line": LinearRegression(), "flat": Ridge(1e6)}, X, y, cv=5).differences[0]
    >>> d.first, d.second, d.value > 0
    ('line', 'flat', True)
    """

    first: str
    second: str
    value: float
    interval: Interval
    p_value: float
    adjusted: float

    @property
    def decided(self) -> bool:
        """Whether the adjusted p-value is below one minus the level."""
        return self.adjusted < 1.0 - self.interval.level

    @property
    def sentence(self) -> str:
        """The finding in plain words."""
        half = self.interval.width / 2
        amount = f"difference {abs(self.value):.3g} ± {half:.2g}"
        better, worse = (self.first, self.second) if self.value >= 0 else (self.second, self.first)
        if self.decided:
            return f"{better} is significantly better than {worse} ({amount}, p = {self.adjusted:.2g})."
        return f"{better} and {worse} are statistically indistinguishable ({amount}, p = {self.adjusted:.2g})."


@dataclass(frozen=True)
class Comparison:
    """Result of `compare`.

    Attributes
    ----------
    results : dict of name → CrossValidation
    differences : list of Difference
        Every pair, in the order of the names.
    level : float
        Of the intervals.

    Examples
    --------
    >>> from certifit.linear_model import LinearRegression, Ridge
    >>> from certifit.model_selection import compare
    >>> X = np.linspace(0, 1, 40)[:, None]
    >>> result = compare({"line": LinearRegression(), "flat": Ridge(1e6)}, X, 3 * X[:, 0] + np.sin(20 * X[:, 0]), cv=5)
    >>> result.best, len(result.differences)
    ('line', 1)
    """

    results: Mapping[str, CrossValidation]
    differences: Sequence[Difference]
    level: float

    @property
    def ranking(self) -> list[str]:
        """Names by mean score, best first."""
        return sorted(self.results, key=lambda name: -float(self.results[name].mean()))

    @property
    def best(self) -> str:
        """Name of the model with the best mean score."""
        return self.ranking[0]

    def difference(self, first: str, second: str) -> Difference:
        """The pair's difference, first minus second."""
        for d in self.differences:
            if (d.first, d.second) == (first, second):
                return d
            if (d.first, d.second) == (second, first):
                turned = Interval(-d.interval.high, -d.interval.low, d.interval.level, d.interval.method)
                return Difference(first, second, -d.value, turned, d.p_value, d.adjusted)
        raise ValueError(f"{first!r} and {second!r} were not compared; there are {', '.join(self.results)}.")

    @property
    def sentence(self) -> str:
        """The best model against each other one, in plain words."""
        return " ".join(self.difference(self.best, other).sentence for other in self.ranking[1:])

    def __str__(self) -> str:
        width = max(map(len, self.results))
        lines = [
            f"{name:<{width}}  {float(self.results[name].mean()):.4g}  {self.results[name].interval(self.level)}"
            for name in self.ranking
        ]
        return "\n".join([*lines, self.sentence])

    def __repr__(self) -> str:
        return f"<Comparison of {len(self.results)} models: {self.best} has the best mean score>"

    def _repr_html_(self) -> str:
        rows = [
            (name, f"{float(self.results[name].mean()):.4g}", str(self.results[name].interval(self.level)))
            for name in self.ranking
        ]
        return _notebook.card(self.sentence, [_notebook.table(["model", "mean score", "interval"], rows)])


def compare(
    models: Mapping[str, Estimator] | Sequence[Estimator],
    X: MatrixLike,
    y: VectorLike,
    *,
    cv: CV = 10,
    repeats: int = 1,
    scoring: ScoringLike = None,
    level: float = 0.95,
    sample_weight: Weights = None,
    random_state: RandomState = 0,
    **workers: Unpack[WorkerOptions],
) -> Comparison:
    """Compare models on the same folds: paired, corrected for overlapping folds and for the number of pairs.

    The t statistic of the fold-by-fold differences d is d̄ / (s_d √(1/J + n_test/n_train)) with J − 1 degrees of
    freedom (Nadeau and Bengio 2003); p-values are adjusted by Holm's rule.

    Parameters
    ----------
    models : dict of name → estimator, or list of estimators
    X, y : array-like
    cv : int ≥ 2, splitter or iterable, default=10
        An integer means shuffled folds, stratified for classifiers.
    repeats : int ≥ 1, default=1
        Repetitions of shuffled folds (with an integer ``cv``).
    scoring : str or callable, default=None
    level : float in (0, 1), default=0.95
    sample_weight : array-like, default=None
    random_state : int, default=0
    **workers
        ``n_jobs`` and ``progress``, as in `cross_validate`.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.dummy import DummyRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 3)); y = X[:, 0] + rng.normal(size=100)
    >>> result = compare({"line": LinearRegression(), "mean": DummyRegressor()}, X, y)
    >>> print(result.sentence)
    line is significantly better than mean (difference 0.625 ± 0.27, p = 0.00056).
    """
    named = dict(models) if isinstance(models, Mapping) else _named(models)
    if len(named) < 2:
        raise ValueError("A comparison needs at least two models.")
    classes = any(is_classifier(m) for m in named.values())
    if isinstance(cv, (int, np.integer)):
        kind = RepeatedStratifiedKFold if classes else RepeatedKFold
        cv = kind(n_splits=int(cv), n_repeats=repeats, random_state=random_state)
    split = folds(X, y, cv, classifier=classes)
    results = {
        name: cross_validate(model, X, y, cv=split, scoring=scoring, sample_weight=sample_weight, **workers)
        for name, model in named.items()
    }
    pairs = list(combinations(named, 2))
    tests = [_test(results[a], results[b], level) for a, b in pairs]
    adjusted = _holm([p for _, _, p in tests])
    differences = [
        Difference(a, b, value, interval, p, q) for (a, b), (value, interval, p), q in zip(pairs, tests, adjusted)
    ]
    return Comparison(results, differences, level)


def _named(models: Sequence[Estimator]) -> dict[str, Estimator]:
    found: dict[str, Estimator] = {}
    for model in models:
        name = type(model).__name__
        taken = sum(k == name or k.startswith(f"{name} ") for k in found)
        found[f"{name} {taken + 1}" if taken else name] = model
    return found


def _test(first: CrossValidation, second: CrossValidation, level: float) -> tuple[float, Interval, float]:
    gaps = first.scores() - second.scores()
    low, high, error = corrected_limits(gaps, first.held_out, level)
    value = float(gaps.mean())
    if error == 0:
        p = 1.0 if value == 0 else 0.0
    else:
        p = float(2 * scipy.special.stdtr(len(gaps) - 1, -abs(value) / error))
    return value, Interval(low, high, level, "paired corrected t (Nadeau and Bengio)"), p if math.isfinite(p) else 1.0


def _holm(p_values: Sequence[float]) -> Array:
    """Holm's step-down adjustment: the k-th smallest p times the number of hypotheses left, made monotone."""
    p = np.asarray(p_values)
    order = np.argsort(p)
    stepped = np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p))))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted
