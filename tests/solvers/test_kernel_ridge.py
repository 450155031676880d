"""Kernel ridge: the closed form solves its equations, and the steps walk to it."""

import numpy as np
import pytest

from certifit._errors import DivergenceError
from certifit.solvers.kernel_ridge import closed_form, lms


def _problem(seed=0, n=15):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    return K, rng.normal(size=(n, 2)), np.array([0.5, 2.0]), rng.uniform(0.5, 2.0, size=n)


def test_the_equations_hold():
    K, Y, alpha, s = _problem()
    C = closed_form(K, Y, alpha, s)
    np.testing.assert_allclose(s[:, None] * (Y - K @ C), alpha * C, atol=1e-12)


def test_steps_walk_to_the_closed_form_and_long_ones_are_refused():
    K, Y, alpha, s = _problem()
    found = lms(K, Y, alpha, s, step=None, tol=1e-16, max_iter=20_000, time_budget=None)
    value = found[0] if isinstance(found, tuple) else found.value
    np.testing.assert_allclose(value, closed_form(K, Y, alpha, s), atol=1e-6)
    with pytest.raises(DivergenceError, match="exceeds 2/L"):
        lms(K, Y, alpha, s, step=10.0, tol=1e-8, max_iter=10, time_budget=None)
