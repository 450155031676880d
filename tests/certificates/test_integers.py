"""Exact linear algebra on floats."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from certifit.certificates import _integers as integers

FLOATS = st.floats(-1e12, 1e12, allow_subnormal=True)


@pytest.fixture(params=["flint", "plain"], autouse=True)
def _arithmetic(request, monkeypatch):
    if request.param == "plain":
        monkeypatch.setattr(integers, "_fmpz_mat", lambda: None)


@given(arrays(float, (3, 2), elements=FLOATS))
def test_columns_become_the_same_numbers_times_a_power_of_two(A):
    d = integers.Dyadic(A)
    rows = d.rows(np.arange(3))
    for i in range(3):
        for j in range(2):
            assert Fraction(int(rows[i, j])) == Fraction(A[i, j]) * Fraction(2) ** int(d.common - d.level[j])


@given(arrays(np.int64, (3, 5), elements=st.integers(-4, 4)))
def test_reduced_form_and_null_space(M):
    M = M.astype(object)
    R, den, pivots = integers.reduced(M)
    assert len(pivots) == np.linalg.matrix_rank(M.astype(float))
    for i, j in enumerate(pivots):
        assert [int(v) for v in R[:, j]] == [den * (k == i) for k in range(3)]
    null = integers.null_space(M)
    assert len(null) == 5 - len(pivots)
    assert not np.any(M @ null.T)
    assert not len(null) or np.linalg.matrix_rank(null.astype(float)) == len(null)


def test_first_violation_finds_it_in_small_and_large_numbers():
    for factor in (1, 10**30):
        A = integers.Dyadic(np.array([[1.0, 1.0], [2.0, 2.0], [0.1, 0.1]]))
        assert integers.first_violation(A, np.array([factor, -factor], dtype=object)) is None
        A = integers.Dyadic(np.array([[1.0, 1.0], [2.0, 2.0], [0.5, 0.1]]))
        assert integers.first_violation(A, np.array([factor, -factor], dtype=object)) == 2


def test_words_hold_numbers_of_any_size():
    numbers = np.array([0, -7, 3**20000], dtype=object)
    assert (integers.from_words(integers.to_words(numbers)) == numbers).all()
    assert integers.as_floats(np.array([3, -1, 0], dtype=object)).tolist() == [0.75, -0.25, 0.0]
