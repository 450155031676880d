"""The worked examples on features and penalties come out as told."""

from __future__ import annotations

import numpy as np
import pytest

from certifit.examples import correlation_filter, padding_offset, polynomial_degree, ridge_lasso_paths
from tests.examples.telling import told


def test_polynomials_of_growing_degree():
    numbers = told(polynomial_degree)
    training, test = numbers["training"], numbers["test"]
    assert np.all(np.diff(training) <= 1e-12)
    assert 3 <= numbers["best"] <= 7
    assert test[-1] > 5 * min(test)
    assert all(value < test[-1] / 3 for value in numbers["penalised"].values())


def test_ridge_and_lasso_paths():
    numbers = told(ridge_lasso_paths)
    assert sorted(numbers["order"][:3]) == [0, 1, 2]
    assert numbers["order"][:2] == [0, 1]
    assert np.all(numbers["ridge"] != 0)
    assert not np.any(numbers["lasso"][:, 0])
    assert numbers["kept"] == 3
    assert numbers["gap"] < 1e-8
    assert numbers["ridge_gap"] < 1e-10
    on = numbers["lasso"] != 0
    assert np.mean(on[:, 1:] >= on[:, :-1]) > 0.99


def test_padding_is_an_offset_unless_penalised():
    numbers = told(padding_offset)
    assert numbers["apart"] < 1e-12
    off = np.abs(np.array(numbers["padded"]) - numbers["offset"])
    assert off[0] > 1.0
    assert off[-1] < 1e-4
    assert np.all(np.diff(off) < 0)


def test_filtering_outside_the_folds_explains_noise():
    numbers = told(correlation_filter)
    assert min(numbers["outside"]) > 0.1
    assert np.mean(numbers["outside"]) > 0.3
    assert max(numbers["inside"]) < 0.1
    assert np.mean(numbers["inside"]) == pytest.approx(-0.3, abs=0.3)
