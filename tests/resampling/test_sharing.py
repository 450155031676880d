"""Grids put together by what they share, and answers laid out in the order of the grid."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from certifit.linear_model import LogisticRegression
from certifit.resampling import CannotShare, FoldTable, assemble, group_grid, models_of, read_table, require_shared

POINTS = st.lists(st.fixed_dictionaries({"a": st.integers(0, 3), "b": st.sampled_from(["x", "y", None])}), max_size=12)


@given(POINTS)
def test_groups_are_a_partition_by_the_common_part(grid):
    groups = group_grid(grid, lambda p: {"b": p["b"]})
    assert sorted(i for _, where in groups for i in where) == list(range(len(grid)))
    for common, where in groups:
        assert where == sorted(where)
        assert all(grid[i]["b"] == common["b"] for i in where)
    assert len(groups) == len({p["b"] for p in grid})


def test_arrays_objects_and_kinds_of_numbers():
    same = np.array([1.0, 2.0])
    points = [same, same.copy(), np.array([1.0, 3.0]), 1, 1.0, True, (same, "a"), (same.copy(), "a"), [same]]
    assert [where for _, where in group_grid(points, lambda p: p)] == [[0, 1], [2], [3], [4], [5], [6, 7], [8]]

    class Odd:
        def __eq__(self, other):
            raise ValueError

        __hash__ = None

    odd = Odd()
    assert len(group_grid([odd, Odd(), odd], lambda p: p)) == 2


@given(POINTS.filter(len), st.integers(1, 3))
def test_assembled_answers_stand_in_the_order_of_the_grid(grid, folds):
    groups = group_grid(grid, lambda p: p["b"])
    answers = np.array([[10 * p["a"] + k for k in range(folds)] for p in grid], dtype=float)

    def part(where):
        return ({"predict": answers[where, k][:, None]} for k in range(folds))

    whole = assemble(grid, [(where, part(where)) for _, where in groups])
    assert whole.passes == len(groups)
    assert set(whole.parameters) <= {"a"}  # within a group b never varies
    np.testing.assert_array_equal(np.hstack([found["predict"] for found in whole]), answers)


def test_refusals_say_why():
    with pytest.raises(CannotShare, match="LogisticRegression does not share work across max_iter, trace"):
        require_shared(LogisticRegression(), [{"C": 1.0, "trace": True}, {"max_iter": 3}], {"C"})
    with pytest.raises(CannotShare, match="fit rejects a parameter"):
        models_of(LogisticRegression(), [{"C": "large"}], {"C"})
    rows = np.arange(4.0)[:, None]
    for X, y, weights, reason in (
        (scipy.sparse.csr_matrix(rows), rows[:, 0], None, "sparse"),
        (np.full((4, 1), np.nan), rows[:, 0], None, "rejects the data"),
        (rows, list("abcd"), None, "rejects the data"),
        (rows, rows[:3, 0], None, "shape"),
        (rows, rows[:, 0], -np.ones(4), "weights"),
    ):
        with pytest.raises(CannotShare, match=reason):
            read_table(FoldTable(X, y, [], weights))
