"""The polynomial basis: dimensions, names, agreement with scikit-learn."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from certifit.linear_model import LinearRegression
from certifit.preprocessing import (
    PolynomialBasis,
)


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
