"""The bundled tables are scikit-learn's, with named columns and labels in words."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.datasets

from certifit.datasets import load, names


@pytest.mark.parametrize("name", names())
def test_every_table_is_scikit_learns(name):
    table = load(name)
    bunch = getattr(sklearn.datasets, f"load_{name.replace('-', '_')}")()
    assert list(table.columns) == [*map(str, bunch.feature_names), table.target]
    for j, column in enumerate(bunch.feature_names):
        np.testing.assert_array_equal(table.columns[str(column)], bunch.data[:, j])
    labels = table.columns[table.target]
    if name == "diabetes":
        np.testing.assert_array_equal(labels, bunch.target)
    else:
        np.testing.assert_array_equal(labels, bunch.target_names[bunch.target])
    assert str(len(labels)) in table.story


def test_an_unknown_name_is_answered_with_those_known():
    with pytest.raises(ValueError, match=r"no bundled table 'mnist'.*iris"):
        load("mnist")
