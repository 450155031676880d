"""Features: dimensions, names, frames, unknown and missing values, agreement with scikit-learn."""

from __future__ import annotations

from math import comb

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler

from certifit.linear_model import LinearRegression, Ridge
from certifit.preprocessing import (
    ColumnTransforms,
    CorrelationFilter,
    Factored,
    OneHot,
    PadOnes,
    PolynomialBasis,
    Standardizer,
    Thermometer,
)


# -- polynomial basis -----------------------------------------------------------------------------------
@given(st.integers(1, 5), st.integers(1, 4), st.booleans())
def test_basis_has_the_dimension_and_the_columns_of_scikit_learn(d, k, only):
    X = np.random.default_rng(d * 10 + k).normal(size=(4, d))
    mine = PolynomialBasis(k, interaction_only=only).fit(X)
    theirs = PolynomialFeatures(k, interaction_only=only).fit(X)
    if not only:
        assert mine.dimension_ == comb(k + d, d)
    np.testing.assert_allclose(mine.transform(X), theirs.transform(X), rtol=1e-12)
    assert list(mine.get_feature_names_out()) == list(theirs.get_feature_names_out())
    np.testing.assert_array_equal(mine.powers_, theirs.powers_)


def test_basis_without_the_constant_and_refusals():
    X = np.array([[2.0, 3.0]])
    basis = PolynomialBasis(2, include_one=False).fit(X)
    np.testing.assert_array_equal(basis.transform(X), [[2, 3, 4, 6, 9]])
    with pytest.raises(ValueError, match="monomials"):
        PolynomialBasis(12).fit(np.zeros((1, 40)))
    with pytest.raises(ValueError, match="no column"):
        PolynomialBasis(0, include_one=False).fit(X)


def test_polynomial_regression_finds_a_cubic():
    x = np.linspace(-1, 1, 20)[:, None]
    y = 1 - 2 * x[:, 0] + 3 * x[:, 0] ** 3
    model = make_pipeline(PolynomialBasis(3, include_one=False), LinearRegression()).fit(x, y)
    np.testing.assert_allclose(model[-1].coef_, [-2, 0, 3], atol=1e-12)


# -- scaling --------------------------------------------------------------------------------------------
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


# -- encodings ------------------------------------------------------------------------------------------
def test_one_hot_equals_scikit_learns():
    frame = pd.DataFrame({"colour": ["red", "blue", "red", "green"], "size": [1, 2, 2, 1]})
    mine, theirs = OneHot(), OneHotEncoder(sparse_output=False)
    np.testing.assert_array_equal(mine.fit_transform(frame), theirs.fit_transform(frame))
    assert list(mine.get_feature_names_out()) == [
        "colour=blue", "colour=green", "colour=red", "size=1", "size=2",
    ]  # fmt: skip
    first = OneHot(drop_first=True)
    np.testing.assert_array_equal(
        first.fit_transform(frame), OneHotEncoder(drop="first").fit_transform(frame).toarray()
    )
    assert OneHot().set_output(transform="pandas").fit_transform(frame).shape == (4, 5)


def test_unknown_and_missing_categories():
    code = OneHot().fit([["a"], ["b"]])
    with pytest.raises(ValueError, match="not seen in fit"):
        code.transform([["c"]])
    assert not np.any(OneHot(handle_unknown="ignore").fit([["a"], ["b"]]).transform([["c"]]))
    gaps = OneHot().fit(np.array([["a"], [None]], dtype=object))
    assert list(gaps.get_feature_names_out(["x"])) == ["x=a", "x=missing"]
    np.testing.assert_array_equal(gaps.transform(np.array([[None]], dtype=object)), [[0, 1]])
    with pytest.raises(ValueError, match="missing"):
        code.transform(np.array([[None]], dtype=object))
    with pytest.raises(ValueError, match="mixes"):
        OneHot().fit(np.array([["a"], [1]], dtype=object))
    assert OneHot().fit_transform([[1.0], [1.0]]).tolist() == [[1.0], [1.0]]


def test_thermometer():
    code = Thermometer().fit([[3], [1], [2]])
    np.testing.assert_array_equal(code.transform([[1], [2], [3]]), [[0, 0], [1, 0], [1, 1]])
    assert list(code.get_feature_names_out(["n"])) == ["n>=2", "n>=3"]
    with pytest.raises(ValueError, match="does not list"):
        Thermometer(order=[["low"]]).fit([["high"]])
    with pytest.raises(ValueError, match="all 1 columns"):
        Thermometer(order=[["low"], ["x"]]).fit([["low"]])
    assert Thermometer().fit_transform([[5], [5]]).shape == (2, 0)


def test_factored_codes_reach_unseen_combinations():
    code = Factored("-").fit([["A-pos"], ["B-neg"]])
    np.testing.assert_array_equal(code.transform([["B-pos"]]), [[0, 1, 0, 1]])
    parts = Factored(lambda v: (v[0], len(v))).fit([["ab"], ["c"]])
    assert list(parts.get_feature_names_out(["w"])) == ["w[0]=a", "w[0]=c", "w[1]=1", "w[1]=2"]
    with pytest.raises(ValueError, match="not seen"):
        code.transform([["C-pos"]])
    np.testing.assert_array_equal(Factored("-", handle_unknown="ignore").fit([["A-x"]]).transform([["B-x"]]), [[0, 1]])


# -- choice by correlation ------------------------------------------------------------------------------
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


# -- the types of data frames ---------------------------------------------------------------------------
def test_missing_values_of_data_frames_are_missing():
    words = pd.DataFrame({"c": pd.array(["r", None, "b"], dtype="string")})
    code = OneHot().fit(words)
    assert list(code.get_feature_names_out()) == ["c=b", "c=r", "c=missing"]
    np.testing.assert_array_equal(code.transform(words), [[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    np.testing.assert_array_equal(Factored().fit_transform(words), [[0, 1], [0, 0], [1, 0]])
    with pytest.raises(ValueError, match="missing"):
        Thermometer().fit(words)
    literal = pd.DataFrame({"c": ["missing", None]})
    assert list(OneHot().fit(literal).get_feature_names_out()) == ["c=missing", "c is missing"]


def test_thermometer_takes_the_order_of_the_data_frame():
    sizes = pd.DataFrame({"size": pd.Categorical(["s", "l", "m"], categories=["s", "m", "l"], ordered=True)})
    code = Thermometer().fit(sizes)
    assert list(code.get_feature_names_out()) == ["size>=m", "size>=l"]
    np.testing.assert_array_equal(code.transform(sizes), [[0, 0], [1, 1], [1, 0]])
    plain = sizes.astype({"size": pd.CategoricalDtype(["s", "m", "l"])})  # no order given: sorted
    assert list(Thermometer().fit(plain).get_feature_names_out()) == ["size>=m", "size>=s"]
    with pytest.raises(ValueError, match="twice"):
        Thermometer(order=[["s", "m", "m", "l"]]).fit(sizes)
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"size": ["s", "l", "m"]}, schema={"size": polars.Enum(["s", "m", "l"])})
    np.testing.assert_array_equal(Thermometer().fit_transform(frame), [[0, 0], [1, 1], [1, 0]])


def test_a_value_with_more_parts_than_seen_is_unknown():
    code = Factored("-").fit([["a-x"], ["b-y"]])
    with pytest.raises(ValueError, match="more parts"):
        code.transform([["a-x-z"]])
    ignoring = Factored("-", handle_unknown="ignore").fit([["a-x"], ["b-y"]])
    np.testing.assert_array_equal(ignoring.transform([["a-x-z"]]), [[1, 0, 1, 0]])
