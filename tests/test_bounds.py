"""Sample complexity of the hard margin and stability of ridge."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certifit import bounds


@given(ratio=st.floats(1.0, 50.0), epsilon=st.floats(0.01, 0.9), delta=st.floats(0.001, 0.5))
def test_rows_and_error_are_inverse(ratio, epsilon, delta):
    m = int(bounds.hard_svm_rows(ratio, 1.0, epsilon, delta).value)
    assert bounds.hard_svm_error(ratio, 1.0, m, delta).value <= epsilon
    if m > 1:
        assert bounds.hard_svm_error(ratio, 1.0, m - 1, delta).value >= epsilon * (1 - 1e-9)


def test_formula_of_the_error():
    expected = math.sqrt(4 * 9 / 100) + math.sqrt(2 * math.log(20) / 100)
    assert bounds.hard_svm_error(3.0, 1.0, 100, 0.1).value == pytest.approx(expected, rel=1e-14)


def test_ridge_takes_four_times_the_rows_without_the_half():
    whole, half = bounds.ridge_stability(0.1, 2.0), bounds.ridge_stability(0.1, 2.0, "half_squared")
    assert whole.value == 4 * half.value == 240000
    assert whole.details["penalty"] == pytest.approx(0.1 / 12)


def test_assumptions_are_stated():
    for bound in (bounds.hard_svm_error(1, 1, 10), bounds.hard_svm_rows(1, 1, 0.1), bounds.ridge_stability(0.1, 1)):
        assert bounds.INDEPENDENT in bound.assumes
        assert "if rows are independent" in str(bound)
        assert float(bound) == bound.value


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: bounds.hard_svm_error(0.0, 1.0, 10), "radius"),
        (lambda: bounds.hard_svm_error(1.0, -1.0, 10), "margin"),
        (lambda: bounds.hard_svm_rows(1.0, 1.0, 1.5), "epsilon"),
        (lambda: bounds.ridge_stability(0.1, 1.0, "cubic"), "loss"),
        (lambda: bounds.hard_svm_error(1.0, 1.0, 10, 0.0), "delta"),
    ],
)
def test_bad_numbers_are_named(call, word):
    with pytest.raises(ValueError, match=word):
        call()


@given(epsilon=st.floats(0.01, 0.5), delta=st.floats(0.001, 0.4), mistakes=st.integers(0, 20))
def test_test_rows_are_enough_and_one_fewer_is_not(epsilon, delta, mistakes):
    n = int(bounds.test_size(epsilon, delta, "exact", mistakes).value)

    def tail(rows):
        return sum(math.comb(rows, j) * epsilon**j * (1 - epsilon) ** (rows - j) for j in range(mistakes + 1))

    assert tail(n) <= delta * (1 + 1e-9)
    assert n == mistakes + 1 or tail(n - 1) > delta * (1 - 1e-9)
    h = int(bounds.test_size(epsilon, delta).value)
    assert (
        2 * math.exp(-2 * h * epsilon**2) <= delta * (1 + 1e-9) < 2 * math.exp(-2 * (h - 1) * epsilon**2) * (1 + 2e-9)
    )


def test_test_size_refuses_in_a_sentence():
    with pytest.raises(ValueError, match="method must be"):
        bounds.test_size(0.1, method="guess")
    with pytest.raises(ValueError, match="whole number"):
        bounds.test_size(0.1, method="exact", mistakes=-1)
