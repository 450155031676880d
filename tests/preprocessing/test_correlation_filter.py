"""The correlation filter: what it keeps, and that it leaks nothing inside a fold."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline

from certifit.linear_model import LinearRegression
from certifit.preprocessing import (
    CorrelationFilter,
)


def test_filter_keeps_what_scikit_learn_keeps():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(40, 12)), rng.normal(size=40)
    mine = CorrelationFilter(4).fit(X, y)
    np.testing.assert_array_equal(mine.get_support(), SelectKBest(f_regression, k=4).fit(X, y).get_support())
    np.testing.assert_allclose(mine.correlations_, [np.corrcoef(x, y)[0, 1] for x in X.T], atol=1e-12)


def test_filter_edges():
    X = np.array([[1.0, 5.0, 1e300], [2.0, 5.0, 2e300], [3.0, 5.0, 3e300]])
    found = CorrelationFilter(2).fit(X, np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(found.correlations_, [1, 0, 1])
    assert CorrelationFilter(3, threshold=0.5).fit(X, np.array([1.0, 2.0, 3.0])).get_support().sum() == 2
    words = CorrelationFilter(1).fit(np.array([[0.0, 1], [0, 2], [1, 1], [1, 2], [2, 1], [2, 2]]), list("aabbcc"))
    np.testing.assert_allclose(words.correlations_, [1, 0], atol=1e-12)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    assert list(CorrelationFilter(1).set_output(transform="pandas").fit(frame, [1, 2, 4]).transform(frame)) == ["a"]


def test_choosing_outside_the_folds_leaks():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(50, 2000)), rng.normal(size=50)
    cv = KFold(5, shuffle=True, random_state=0)
    inside = cross_val_score(make_pipeline(CorrelationFilter(10), LinearRegression()), X, y, cv=cv).mean()
    outside = cross_val_score(LinearRegression(), CorrelationFilter(10).fit_transform(X, y), y, cv=cv).mean()
    assert outside > 0.2
    assert inside < 0.05
