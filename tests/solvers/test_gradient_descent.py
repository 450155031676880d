"""Gradient descent as the notes give it."""

import numpy as np
import pytest

from certifit.exceptions import DivergenceError
from certifit.solvers import gradient_descent

A = np.diag([1.0, 10.0])


def f(t):
    return float(0.5 * t @ A @ t)


def grad(t):
    return A @ t


def test_convergence_theorem_bounds_every_step():
    start, eta = np.array([3.0, -2.0]), 0.1
    s = gradient_descent(f, grad, start, eta, 1e-14, trace=True)
    for row in s.trace[1:]:
        assert row.objective <= start @ start / (2 * eta * row.iteration) + 1e-15
    assert all(a.objective >= b.objective for a, b in zip(s.trace, s.trace[1:]))
    assert np.allclose(s.value, 0, atol=1e-6)


def test_a_step_that_is_too_large_is_named():
    with pytest.raises(DivergenceError, match=r"η = 0.9 exceeds 2/L = 0.2; try 0.1"):
        gradient_descent(f, grad, np.array([3.0, -2.0]), 0.9)


def test_decaying_steps():
    s = gradient_descent(f, grad, np.array([3.0, -2.0]), lambda t: 0.19 / np.sqrt(t), 1e-12)
    assert s.converged
    steps = gradient_descent(f, grad, np.ones(2), lambda t: 0.1 / t, 0.0, max_iter=5, trace=True).trace
    assert [row.step for row in steps[1:]] == pytest.approx([0.1, 0.05, 0.1 / 3, 0.025, 0.02])


def test_small_change_is_not_optimality_but_a_lower_bound_is():
    slow = gradient_descent(f, grad, np.array([1.0, 1.0]), 1e-6, 1e-4)
    assert slow.converged
    assert f(slow.value) > 1.0
    sure = gradient_descent(f, grad, np.array([1.0, 1.0]), 0.1, 1e-4, lower_bound=lambda t: 0.0)
    assert f(sure.value) <= 1e-4


def test_limits():
    assert gradient_descent(f, grad, np.ones(2), 1e-3, 0.0, max_iter=3).status == "max_iter"
    assert gradient_descent(f, grad, np.ones(2), 1e-9, 0.0, time_budget=0.01, max_iter=10**9).status == "time_budget"


@pytest.mark.parametrize(
    ("kwargs", "words"),
    [({"step": -1.0}, "positive"), ({"tol": -1.0}, "not be negative")],
)
def test_bad_arguments(kwargs, words):
    with pytest.raises(ValueError, match=words):
        gradient_descent(f, grad, np.ones(2), **kwargs)


def test_start_outside_the_domain():
    with pytest.raises(ValueError, match="start elsewhere"):
        gradient_descent(lambda t: float("nan"), grad, np.ones(2))


def test_backtracking_needs_no_constant():
    f = lambda t: float(np.exp(3 * t[0]) + np.exp(-t[0]) + t[1] ** 2)  # noqa: E731
    slope = lambda t: np.array([3 * np.exp(3 * t[0]) - np.exp(-t[0]), 2 * t[1]])  # noqa: E731
    found = gradient_descent(f, slope, np.array([4.0, -2.0]), step="backtracking", tol=1e-14, trace=True)
    assert found.status == "converged"
    assert np.allclose(found.value, [-np.log(3) / 4, 0], atol=1e-5)
    falls = -np.diff(found.trace["objective"])
    rounding = 1e-15 * np.abs(found.trace["objective"][:-1])
    assert np.all(falls >= 0.5 * np.array(found.trace["foreseen"][1:]) - rounding)
    with pytest.raises(ValueError, match="backtracking"):
        gradient_descent(f, slope, np.zeros(2), step="guess")
