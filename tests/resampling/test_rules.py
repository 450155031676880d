"""Bootstrap draws and the one-standard-error rule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certifit.resampling import bootstrap_counts, complexity, one_standard_error, standard_error


@given(st.integers(1, 60), st.integers(1, 20))
def test_every_round_draws_n_rows(n, rounds):
    assert np.all(bootstrap_counts(n, rounds, 0).sum(axis=1) == n)


def test_known_directions_and_asked_ones():
    grid = [{"C": 1.0, "gamma": 0.1}, {"C": 1.0, "gamma": 1.0}, {"C": 10.0, "gamma": 1.0}]
    assert complexity(grid).tolist() == [0.0, 1.0, 2.0]
    assert complexity([{"svc__C": 1.0}, {"svc__C": 0.1}]).tolist() == [1.0, 0.0]
    assert complexity([{"max_depth": None}, {"max_depth": 3}]).tolist() == [1.0, 0.0]
    assert complexity([{"size": 1}, {"size": 2}], {"size": "larger"}).tolist() == [1.0, 0.0]
    with pytest.raises(ValueError, match="which values of 'size' are simpler"):
        complexity([{"size": 1}, {"size": 2}])
    with pytest.raises(ValueError, match="needs numbers"):
        complexity([{"alpha": "a"}, {"alpha": "b"}])


def test_the_rule_takes_the_simplest_within_one_error():
    scores = np.array([[0.8, 0.9, 1.0], [0.84, 0.85, 0.88], [0.7, 0.7, 0.7]])
    error = standard_error(scores[0])
    assert error == pytest.approx(np.std(scores[0], ddof=1) / np.sqrt(3))
    assert one_standard_error(scores, np.array([2.0, 1.0, 0.0])) == 1
    assert one_standard_error(scores, np.array([0.0, 1.0, 2.0])) == 0
    assert one_standard_error(np.array([[np.nan, 1.0], [0.5, 0.5]]), np.array([0.0, 1.0])) == 1
