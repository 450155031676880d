"""Mercer or not: each verdict is proved, and none can be forged."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certifit.certificates import Data
from certifit.kernels import RBF, Linear, Sigmoid, mercer
from tests.certificates.tampering import forged, reissued


@given(st.integers(0, 10**6), st.integers(1, 8))
def test_the_verdict_is_the_sign_of_the_least_eigenvalue(seed, n):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    for K in (A @ A.T, A + A.T):
        c = mercer(K)
        least = float(np.linalg.eigvalsh(K)[0])
        size = np.abs(K).max()
        if least < -1e-9 * size:
            assert (c.verdict, c.holds) == ("not mercer", True)
            assert c.least_eigenvalue >= least * (1 + 1e-9)
        elif least > 1e-9 * size:
            assert (c.verdict, c.holds) == ("mercer", True)
            assert c.least_eigenvalue <= least
        assert c.verify(K).holds == c.holds


@pytest.mark.parametrize("K", [np.zeros((5, 5)), np.zeros((1, 1)), np.ones((3, 3)), np.diag([1.0, 0.0])])
def test_singular_matrices_are_mercer(K):
    c = mercer(K)
    assert (c.verdict, c.holds) == ("mercer", True)
    assert -1e-14 <= c.least_eigenvalue <= 0.0
    assert c.verify(K).holds


def test_an_asymmetric_matrix_is_no_gram_matrix():
    K = np.array([[1.0, 5.0], [-5.0, 1.0]])  # vᵀKv > 0 for every v
    assert not mercer(K).holds
    good = mercer(np.eye(2))
    assert not reissued(good, Data.of(K)).holds


def test_a_negative_eigenvalue_is_not_called_rounding():
    K = np.diag([1.0, -1e-10])
    refuted = mercer(K)
    assert (refuted.verdict, refuted.holds) == ("not mercer", True)
    hidden = reissued(refuted, Data.of(K), method="cholesky", shift=2e-10, vector=None)
    assert not hidden.holds
    assert hidden.verdict != "mercer"


def test_a_proved_matrix_claims_no_more_than_its_bound():
    c = mercer(Sigmoid(gamma=0.1), np.random.default_rng(0).normal(size=(20, 2)))
    assert "positive semi-definite" not in c.claim
    assert f"{c.least_eigenvalue:.2g}" in c.claim or c.verdict == "undecided"


@pytest.mark.parametrize(
    "kernel", [["rbf", float("nan")], ["rbf", float("inf")], ["sum", ["linear"], ["rbf", float("nan")]]]
)
def test_parameters_that_are_no_numbers_are_refused(kernel):
    X = np.array([[0.0], [1.0]])
    good = mercer(Linear() + RBF(), X)
    assert good.verify(X).holds
    assert not forged(good, kernel=kernel).verify(X).holds


def test_no_points_say_nothing():
    with pytest.raises(ValueError, match="at least one point"):
        mercer(np.zeros((0, 0)))
