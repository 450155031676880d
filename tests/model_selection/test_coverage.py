"""The intervals of resampling cover as often as they say (small by default, thousands of draws when slow).

What is covered: for cross-validation the expected score of the learner when trained on as many rows as a fold leaves;
for the bootstrap the expected error of the learner trained on all n rows.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from certifit.linear_model import LinearRegression
from certifit.model_selection import bootstrap, cross_validate

_SHIFT = np.array([1.0, 0.5])


def _draw_classes(rng, n):
    y = rng.integers(2, size=n)
    return rng.normal(size=(n, 2)) + np.outer(2 * y - 1, _SHIFT) / 2, y


def _true_error(model):
    """Exact error of a linear rule for two Gaussian classes."""
    w, b = model.coef_[0], model.intercept_[0]
    size = np.linalg.norm(w)
    return 0.5 * (norm.cdf(-(w @ _SHIFT / 2 + b) / size) + norm.cdf(-(w @ _SHIFT / 2 - b) / size))


def _expected_error(n, draws=2000):
    rng = np.random.default_rng(99)
    models = (LinearDiscriminantAnalysis().fit(*_draw_classes(rng, n)) for _ in range(draws))
    return float(np.mean([_true_error(m) for m in models]))


def _cv_regression(draws, n=60, folds=10):
    """Mean squared error of least squares: E = σ²(1 + 1/m + d/(m − d − 2)·(1 + 1/m)) for m Gaussian rows."""
    m, d = n - n // folds, 2
    truth = (1 + 1 / m) * (1 + d / (m - d - 2))
    rng, hits = np.random.default_rng(5), 0
    for _ in range(draws):
        X = rng.normal(size=(n, d))
        y = X.sum(axis=1) + rng.normal(size=n)
        result = cross_validate(LinearRegression(), X, y, cv=folds, scoring="neg_mean_squared_error")
        hits += -truth in result.interval()
    return hits / draws


def _cv_accuracy(draws, n=100, folds=10):
    truth = 1 - _expected_error(n - n // folds)
    rng, hits = np.random.default_rng(6), 0
    for _ in range(draws):
        X, y = _draw_classes(rng, n)
        hits += truth in cross_validate(LinearDiscriminantAnalysis(), X, y, cv=folds).interval()
    return hits / draws


def _bootstrap_accuracy(draws, n=60, rounds=60):
    truth = _expected_error(n)
    rng, hits = np.random.default_rng(7), 0
    for i in range(draws):
        X, y = _draw_classes(rng, n)
        result = bootstrap(LinearDiscriminantAnalysis(), X, y, rounds=rounds, random_state=i)
        hits += truth in result.interval()
    return hits / draws


def test_cross_validated_error_small():
    assert 0.88 <= _cv_regression(200) <= 1.0


@pytest.mark.slow
def test_cross_validated_error():
    found = _cv_regression(4000)
    print(f"cross-validated squared error: {found:.3f}")
    assert 0.93 <= found <= 0.985


@pytest.mark.slow
def test_cross_validated_accuracy():
    found = _cv_accuracy(2000)
    print(f"cross-validated accuracy: {found:.3f}")
    assert 0.93 <= found <= 0.99


@pytest.mark.slow
def test_bootstrap_error():
    found = _bootstrap_accuracy(300)
    print(f"bootstrap .632+ error: {found:.3f}")
    assert 0.88 <= found <= 0.99
