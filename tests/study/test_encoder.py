"""The table encoder learns from its training rows only."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone

from certifit.study._encoder import TableEncoder

NAMES, KINDS = ("a", "b", "c"), ("number", "category", "boolean")
LEVELS = ((), ("p", "q", "r"), ())


def encoder(**options):
    return TableEncoder(NAMES, KINDS, LEVELS, min_count=1, **options)


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=n), rng.integers(-1, 3, n), rng.integers(0, 2, n)]).astype(float)
    X[rng.random((n, 3)) < 0.2] = np.nan
    return X


def test_no_gaps_come_out_and_numbers_are_standardised():
    X = rows(200)
    Z = encoder().fit_transform(X)
    assert np.isfinite(Z).all()
    np.testing.assert_allclose([Z[:, 0].mean(), Z[:, 0].std()], [0.0, 1.0], atol=1e-12)


@given(arrays(float, (7, 3), elements=st.floats(-5, 5) | st.just(float("nan"))))
def test_rows_are_encoded_one_by_one(X):
    fitted = encoder().fit(rows(50))
    whole = fitted.transform(X)
    np.testing.assert_array_equal(whole, np.vstack([fitted.transform(x[None]) for x in X]))


def test_unseen_levels_are_zero_everywhere_and_missing_has_its_column():
    X = np.array([[1.0, 0, 0], [2.0, 1, 1], [3.0, np.nan, 0], [4.0, 0, 1]])
    fitted = encoder().fit(X)
    names = fitted.get_feature_names_out().tolist()
    assert names == ["a", "c", "b = p", "b = q", "b is missing"]
    Z = fitted.transform(np.array([[1.0, 2, 0], [1.0, -1, 0], [1.0, np.nan, 0]]))
    np.testing.assert_array_equal(Z[:, 2:], [[0, 0, 0], [0, 0, 0], [0, 0, 1]])


def test_reference_levels_make_columns_independent():
    X = rows(300)
    Z = encoder(reference=True).fit_transform(X)
    assert np.linalg.matrix_rank(np.column_stack([Z, np.ones(len(Z))])) == Z.shape[1] + 1


def test_rare_levels_get_no_column():
    X = np.column_stack([np.arange(20.0), [0.0] * 10 + [1.0] * 8 + [2.0] * 2, np.arange(20) % 2])
    fitted = TableEncoder(NAMES, KINDS, LEVELS, min_count=3).fit(X)
    assert "b = r" not in fitted.get_feature_names_out()
    assert TableEncoder(NAMES, KINDS, LEVELS, min_count=1, max_levels=1).fit(X).level_.tolist() == [0.0]


def test_other_rows_change_nothing():
    X = rows(60)
    first = encoder().fit(X[:40]).transform(X[:40])
    X[40:] = 1e9
    np.testing.assert_array_equal(first, encoder().fit(X[:40]).transform(X[:40]))


def test_clone_and_parameters():
    a = encoder(standardize=False)
    assert clone(a).get_params() == a.get_params()


def test_owners_are_the_columns_that_features_change_with():
    """Also the parts of a date, the marks of gaps and the levels of a category, and with gaps left in."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rows(60), rng.integers(15_000, 20_000, 60) + rng.random(60)])
    for options in ({}, {"standardize": False}, {"reference": True}, {"gaps": True}):
        fitted = TableEncoder((*NAMES, "day"), (*KINDS, "date"), (*LEVELS, ()), min_count=1, **options).fit(X)
        assert len(fitted.owners_) == fitted.transform(X).shape[1]
        for j in range(4):
            moved, order = X.copy(), rng.permutation(60)
            moved[:, j] = X[order, j]
            Z, mine = fitted.transform(X), fitted.owners_ == j
            Z[:, mine] = Z[order][:, mine]
            np.testing.assert_array_equal(fitted.transform(moved), Z)
