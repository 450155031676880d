"""Verdicts on separability: each is proved by its own witness and by no other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certifit.certificates import Data, issue
from certifit.certificates.separation import difference_rows, squared_lengths
from certifit.geometry import separability
from tests.attacks.siege import refused_by_checker

LINE = np.array([[0.0], [1.0], [2.0], [3.0]])
APART, TOUCH, MIXED = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([0, 1, 1, 0])


def judge(X, y, verdict, rigor="exact", **witness):
    return issue("separability", Data.of(X, y), {"verdict": verdict, "fit_intercept": True, **witness}, rigor=rigor)


def test_a_separator_proves_its_margin():
    found = judge(LINE, APART, "separable", weights=np.array([2.0, -3.0]))
    assert found.holds
    assert 0.5 * (1 - 1e-9) <= found.figures["margin"] <= 0.5
    assert not judge(LINE, APART, "separable", weights=np.array([2.0, -2.0])).holds  # row 1 is on the plane
    assert not judge(LINE, MIXED, "separable", weights=np.array([2.0, -3.0])).holds


@given(st.floats(-5, 5), st.floats(-5, 5))
def test_no_weights_separate_what_overlaps(w, b):
    assert not judge(LINE, MIXED, "separable", weights=np.array([w, b])).holds


def test_a_mixture_proves_overlap():
    # 1.5 is the middle of rows 0 and 3 and of rows 1 and 2.
    mixture = {"rows": [0, 3, 1, 2], "against": [1, 1, 0, 0], "multipliers": np.ones(4)}
    assert judge(LINE, MIXED, "overlapping", **mixture).holds
    assert judge(LINE, MIXED, "overlapping", "float", **mixture).holds
    assert not judge(LINE, MIXED, "overlapping", **(mixture | {"multipliers": np.array([1.0, 1.0, 1.0, -1.0])})).holds
    assert not judge(LINE, APART, "overlapping", **mixture).holds


def test_touching_needs_both_witnesses():
    X, y = np.array([[0.0], [1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    both = {"weights": np.array([1.0, -1.0]), "rows": [1, 2], "against": [1, 0], "multipliers": np.ones(2)}
    assert judge(X, y, "touching", **both).holds
    assert not judge(X, y, "touching", "float", **both).holds  # floats cannot tell zero from tiny
    assert not judge(X, y, "touching", **(both | {"weights": np.array([1.0, -1.5])})).holds
    assert not judge(LINE, TOUCH, "touching", **both).holds


@pytest.mark.parametrize("bad", [{"rows": [9, 3, 1, 2]}, {"against": [0, 1, 0, 0]}, {"rows": [0, 0, 1, 2]}])
def test_witnesses_that_are_no_rows_are_refused(bad):
    mixture = {"rows": [0, 3, 1, 2], "against": [1, 1, 0, 0], "multipliers": np.ones(4)}
    assert not judge(LINE, MIXED, "overlapping", **(mixture | bad)).holds


def test_difference_rows_are_differences_of_scores():
    rng = np.random.default_rng(0)
    X, own, other, W = rng.normal(size=(6, 2)), rng.integers(0, 3, 6), rng.integers(0, 3, 6), rng.normal(size=(3, 2))
    W[0] = 0.0
    apart = own != other
    Z = difference_rows(X[apart], own[apart], other[apart], 3)
    scores = X[apart] @ W.T
    at = np.arange(apart.sum())
    np.testing.assert_allclose(Z @ W[1:].ravel(), scores[at, own[apart]] - scores[at, other[apart]], atol=1e-12)


def test_lengths_are_enclosed():
    X = np.random.default_rng(1).normal(size=(20, 5)) * 1e3
    exact = [sum(int(v * 2**40) ** 2 for v in np.rint(x * 2**40) / 2**40) / 2**80 for x in X]
    found = squared_lengths(np.rint(X * 2**40) / 2**40)
    assert np.all((found.lower <= exact) & (exact <= found.upper))


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_margin_that_floats_cannot_hold_is_not_negative(fit_intercept):
    X, y = np.array([[1.0], [2.0], [-1.0], [-3.0]]) * 5e-324, [1, 1, 0, 0]
    certificate = separability(X, y, fit_intercept=fit_intercept).certificate
    assert certificate.holds
    assert certificate.figures["margin"] == 0.0
    assert "too small for floats" in certificate.claim
    assert refused_by_checker(certificate, X, np.asarray(y), None) is None
