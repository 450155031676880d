"""Encodings: names, frames, unknown and missing values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import OneHotEncoder

from certifit.preprocessing import (
    Factored,
    OneHot,
    Thermometer,
)


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


def test_a_thermometer_with_all_its_bits_is_the_shorter_one_with_a_column_of_ones():
    X = np.array([["b"], ["a"], ["c"], ["a"]], dtype=object)
    short, full = (Thermometer(drop_first=drop).fit(X) for drop in (True, False))
    assert full.get_feature_names_out(["x"]).tolist() == ["x>=a", "x>=b", "x>=c"]
    np.testing.assert_array_equal(full.transform(X), np.column_stack([np.ones(4), short.transform(X)]))
    lenient = Thermometer(drop_first=False, handle_unknown="ignore").fit(X)
    assert lenient.transform(np.array([["z"]], dtype=object)).tolist() == [[0.0, 0.0, 0.0]]
