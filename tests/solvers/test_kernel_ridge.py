"""Kernel ridge: the factor against the equations, and LMS, whose objective never rises and whose gap is proved."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certifit.exceptions import DivergenceError
from certifit.kernels import RBF
from certifit.solvers import Options
from certifit.solvers.kernel_ridge import closed_form, lms


def _task(seed, n=15):
    rng = np.random.default_rng(seed)
    K = RBF(gamma=0.5)(rng.normal(size=(n, 2)))
    return K, rng.normal(size=(n, 2)), np.array([0.3, 1.0]), rng.uniform(0.5, 2.0, n)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_lms_falls_to_the_closed_form(seed):
    K, Y, alpha, weights = _task(seed)
    exact = closed_form(K, Y, alpha, weights)
    np.testing.assert_allclose(weights[:, None] * (K @ exact - Y) + alpha * exact, 0.0, atol=1e-9)
    found = lms(K, Y, alpha, weights, Options(1e-14, trace=True))
    assert found.status == "converged"
    np.testing.assert_allclose(found.value, exact, atol=1e-5)
    values, gaps = found.trace["objective"], found.trace["gap"]
    assert all(b <= a + 1e-12 for a, b in itertools.pairwise(values))
    assert min(gaps) >= 0.0
    assert gaps[-1] == found.stats["gap"]
    assert np.array_equal(found.value, lms(K, Y, alpha, weights, Options(1e-14)).value)


def test_words_for_the_end():
    K, Y, alpha, weights = _task(0)
    assert lms(K, Y, alpha, weights, Options(1e-30, max_iter=3)).status == "max_iter"
    assert lms(K, Y, alpha, weights, Options(1e-30, time_budget=0.0)).status == "time_budget"
    assert lms(K, 0 * Y, alpha, weights).stats["n_iter"] == 0
    with pytest.raises(DivergenceError, match="step"):
        lms(K, Y, alpha, weights, Options(step=1e3))
