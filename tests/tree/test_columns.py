"""Kinds of columns and their codes: what is learnt of a table is what is read from it again."""

import numpy as np
import pandas as pd
import pytest

from certifit.tree import DecisionTreeRegressor
from certifit.tree._columns import columns_of, learn, plain

FRAME = pd.DataFrame(
    {
        "size": [1.5, 2.0, np.nan, 4.0],
        "colour": ["red", "blue", None, "red"],
        "shape": pd.Categorical(["round", "square", "round", "round"]),
        "new": [True, False, True, True],
    }
)
NAMES = tuple(FRAME.columns)


def test_types_tell_the_kind():
    found = learn(FRAME, "from_dtype", NAMES)
    assert found.kinds == ("numeric", "categorical", "categorical", "boolean")
    assert found.categories == (None, ("blue", "red"), ("round", "square"), None)
    assert found.sizes.tolist() == [0, 2, 2, 0]


def test_codes_are_places_and_the_unknown_is_missing():
    found = learn(FRAME, "from_dtype", NAMES)
    later = pd.DataFrame({"size": [3.0], "colour": ["green"], "shape": ["square"], "new": [False]})
    assert found.encode(later).tolist()[0][2:] == [1.0, 0.0]
    assert np.isnan(found.encode(later)[0, 1])
    codes = found.encode(FRAME)
    known = codes[:, 1] == codes[:, 1]
    assert [found.categories[1][int(c)] for c in codes[known, 1]] == ["red", "blue", "red"]


@pytest.mark.parametrize("which", [[1], ["colour"], np.array([False, True, False, False])])
def test_columns_are_named_by_place_name_or_mask(which):
    assert learn(FRAME, which, NAMES).kinds[1] == "categorical"


@pytest.mark.parametrize(
    ("which", "why"), [([7], "from 0 to 3"), (["weight"], "not a column"), (np.array([True]), "one entry per column")]
)
def test_what_is_no_column_is_refused(which, why):
    with pytest.raises(ValueError, match=why):
        learn(FRAME, which, NAMES)


def test_arrays_and_lists():
    assert [c.tolist() for c in columns_of([[1, 2], [3, 4]])] == [[1, 3], [2, 4]]
    assert plain(None, 2, booleans=True).kinds == ("boolean", "boolean")
    assert plain(None, 2).name(1) == "x[1]"
    with pytest.raises(ValueError, match="could not convert"):
        plain(None, 1).encode([["word"]])


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_a_leaf_may_stop_where_the_limits_leave_no_group_of_categories(criterion):
    """Three rows of one category and one of another: with two rows to a leaf nothing can be divided."""
    X = np.array([["a"], ["a"], ["a"], ["b"]], dtype=object)
    model = DecisionTreeRegressor(criterion=criterion, min_samples_leaf=2, categorical_features=[0])
    certificate = model.fit(X, [0.0, 1.0, 2.0, 9.0]).certificate_
    assert certificate.holds, certificate.failures
    assert certificate.figures["questions"] == 0
