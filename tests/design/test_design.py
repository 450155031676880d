"""Dense and sparse designs give the same numbers; compensated products are exact."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from certifit.design import Coordinates, as_design, compensated_product, compensated_product_t
from certifit.design._design import Design, Narrow


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("centre", [False, True])
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_moments(weighted, centre, shift):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 3)) * (rng.random((9000, 3)) < 0.4) + shift
    Y = rng.normal(size=(9000, 2))
    w = rng.uniform(0, 2, 9000) if weighted else None
    s = np.ones(9000) if w is None else w
    m = np.average(X, axis=0, weights=s) if centre else np.zeros(3)
    k = np.average(Y, axis=0, weights=s) if centre else np.zeros(2)
    for Z in (X, sp.csr_array(X), sp.csc_array(X)):
        got = as_design(Z).moments(Y, w, centre)
        assert np.allclose(got.mean, m, rtol=1e-13)
        scale = 1e-9 * (1.0 if centre else shift**2 + 1) * 9000
        assert np.allclose(got.gram, (X - m).T @ (s[:, None] * (X - m)), rtol=1e-9, atol=scale)
        assert np.allclose(got.cross, (X - m).T @ (s[:, None] * (Y - k)), atol=1e-5 if shift else 1e-9)
        assert got.total == pytest.approx(s.sum())
        assert np.allclose(got.target_squares, s @ np.square(Y - k), rtol=1e-12)


numbers = st.floats(-1e8, 1e8, allow_nan=False, allow_subnormal=False)


@given(
    A=arrays(float, (5, 4), elements=numbers),
    w=arrays(float, 4, elements=numbers),
    y=arrays(float, 5, elements=numbers),
)
def test_compensated_products_are_nearly_exact(A, w, y):
    got = compensated_product(A, w, y)
    for i in range(5):
        exact = Fraction(y[i]) - sum(Fraction(a) * Fraction(b) for a, b in zip(A[i], w))
        size = abs(y[i]) + math.fsum(abs(a * b) for a, b in zip(A[i], w))
        assert abs(Fraction(got[i]) - exact) <= Fraction(2.3e-16) * abs(exact) + Fraction(1e-30) * Fraction(size + 1)
    down = compensated_product_t(A, y, np.zeros(5))
    for j in range(4):
        exact = sum(Fraction(a) * Fraction(b) for a, b in zip(A[:, j], y))
        assert abs(Fraction(down[j]) - exact) <= Fraction(4.5e-16) * abs(exact) + Fraction(1e-10)


def test_single_precision_rows_are_widened_block_by_block():
    rng = np.random.default_rng(0)
    single = rng.normal(size=(30_000, 40)).astype(np.float32)
    narrow, wide = as_design(single), as_design(single.astype(float))
    assert "X" not in vars(narrow)
    w, r, Y = rng.normal(size=(40, 2)), rng.normal(size=30_000), rng.normal(size=(30_000, 1))
    np.testing.assert_allclose(narrow.product(w), wide.product(w), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(narrow.product(w[:, 0]), wide.product(w[:, 0]), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(narrow.product_t(r), wide.product_t(r), rtol=1e-11, atol=1e-10)
    np.testing.assert_allclose(narrow.moments(Y, None, True).gram, wide.moments(Y, None, True).gram, rtol=1e-13)
    assert narrow.shape == wide.shape
    assert not narrow.is_sparse
    assert "X" not in vars(narrow)  # nothing above needed a copy of all rows
    assert np.array_equal(narrow.X, wide.X)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_some_rows_as_they_are_have_the_products_of_rows_that_are_centred(dtype):
    rng = np.random.default_rng(5)
    X, rows, h = (3.0 + rng.normal(size=(900, 6))).astype(dtype), np.arange(0, 900, 2), rng.random(450)
    design = Narrow(X) if dtype == np.float32 else Design(X)
    columns = Coordinates.of(design, np.ones(900), True)
    some, theta = columns.taken(rows), rng.normal(size=(7, 1))
    assert some.design.stored.dtype == dtype
    np.testing.assert_allclose(some.product(theta), columns.product(theta)[rows], rtol=1e-12)
    A = columns.rows(rows)
    np.testing.assert_allclose(some.gram(h), A.T @ (h[:, None] * A), atol=1e-11)
    np.testing.assert_allclose(some.gram(h, rough=True), A.T @ (h[:, None] * A), atol=1e-3)
