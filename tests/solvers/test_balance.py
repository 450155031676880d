"""Multipliers that sum to zero exactly, and mixtures that vanish."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls

from certifit.solvers.balance import balance
from certifit.solvers.mixtures import mixture


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=12))
def test_the_sum_is_exactly_zero_and_signs_and_boxes_hold(values):
    beta = np.array(values)
    if beta.max() > 0 > beta.min():
        out = balance(beta.copy(), np.ones(len(beta)))
        assert math.fsum(out) == 0.0
        assert np.all(out * beta >= 0)
        assert np.all(np.abs(out) <= 1.0)


@pytest.mark.parametrize("seed", range(5))
def test_mixtures_agree_with_non_negative_least_squares(seed):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(20, 4))
    Z /= np.linalg.norm(Z, axis=1)[:, None]
    c = rng.normal(size=4)
    found = mixture(Z, c)
    nu = np.zeros(20)
    nu[found.support] = found.weights
    assert np.all(nu >= 0)
    assert np.linalg.norm(c - Z.T @ nu) <= nnls(Z.T, c)[1] + 1e-9
    np.testing.assert_allclose(found.residual, c - Z.T @ nu, atol=1e-10)
