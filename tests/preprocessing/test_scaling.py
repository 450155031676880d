"""Standardising, padding and transforms of columns, far from zero and with gaps."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

from certifit.linear_model import LinearRegression, Ridge
from certifit.preprocessing import (
    ColumnTransforms,
    PadOnes,
    Standardizer,
)


def test_standardizer_equals_scikit_learns_and_is_exact_far_from_zero():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3)) * [1, 10, 1e-6] + [0, 5, 1e6]
    X[:, 1] = 7.1
    mine = Standardizer().fit(X)
    np.testing.assert_allclose(mine.transform(X)[:, :2], StandardScaler().fit_transform(X)[:, :2], atol=1e-12)
    assert list(mine.constant_) == [False, True, False]
    assert not np.any(mine.transform(X)[:, 1])
    np.testing.assert_allclose(mine.transform(X)[:, 2].std(), 1.0)
    np.testing.assert_allclose(mine.inverse_transform(mine.transform(X)), X, rtol=1e-12)


def test_standardizer_weights_missing_values_and_ddof():
    X = np.array([[1.0, np.nan], [2.0, 4.0], [4.0, 8.0]])
    s = np.array([1, 2, 1])
    weighted, repeated = Standardizer().fit(X, sample_weight=s), Standardizer().fit(np.repeat(X, s, axis=0))
    np.testing.assert_allclose(weighted.mean_, repeated.mean_)
    np.testing.assert_allclose(weighted.scale_, repeated.scale_)
    assert np.isnan(weighted.transform(X)[0, 1])
    np.testing.assert_allclose(Standardizer(ddof=1).fit(X).scale_[0], np.std(X[:, 0], ddof=1))
    with pytest.raises(ValueError, match="ddof"):
        Standardizer(ddof=2).fit(X)


def test_padding_equals_offset():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 3))
    y = X @ [1, 2, 3] + 5 + rng.normal(size=30)
    padded = LinearRegression(fit_intercept=False).fit(PadOnes().fit_transform(X), y)
    offset = LinearRegression().fit(X, y)
    np.testing.assert_allclose(padded.coef_, np.append(offset.coef_, offset.intercept_), atol=1e-12)
    ridge = Ridge(10.0, fit_intercept=False).fit(PadOnes().fit_transform(X), y)
    assert abs(ridge.coef_[-1] - Ridge(10.0).fit(X, y).intercept_) > 0.5  # a penalty also falls on the padding
    large = Ridge(10.0, fit_intercept=False).fit(PadOnes(1e4).fit_transform(X), y)
    assert large.coef_[-1] * 1e4 == pytest.approx(Ridge(10.0).fit(X, y).intercept_, abs=1e-5)
    with pytest.raises(ValueError, match="value"):
        PadOnes(0.0).fit(X)


def test_column_transforms():
    frame = pd.DataFrame({"income": [1.0, 10.0], "age": [4.0, 9.0]})
    t = ColumnTransforms({"income": "log", "age": ["sqrt", "square"]}, keep=True).set_output(transform="pandas")
    out = t.fit_transform(frame)
    assert list(out.columns) == ["income", "log(income)", "age", "sqrt(age)", "square(age)"]
    np.testing.assert_allclose(out["log(income)"], np.log(frame["income"]))
    with pytest.raises(ValueError, match="row 1"):
        ColumnTransforms("log").fit([[1.0], [-3.0]])
    with pytest.raises(ValueError, match="Unknown transform"):
        ColumnTransforms("cube").fit([[1.0]])
    with pytest.raises(ValueError, match="no column 'height'"):
        ColumnTransforms({"height": "log"}).fit(frame)
    assert np.isnan(ColumnTransforms("log").fit_transform([[np.nan], [1.0]])[0, 0])
