"""Sample complexity of the hard margin and stability of ridge."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certifit import bounds
from certifit.linear_model import Ridge
from certifit.svm import LinearSVC


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
    with pytest.raises(ValueError, match="integer"):
        bounds.test_size(0.1, method="exact", mistakes=-1)


def directions(rng, rows, d=5):
    X = rng.normal(size=(rows, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def separated(rng, rows, margin=0.4):
    """Unit vectors at a distance of at least ``margin`` from the plane x₁ = 0, named by their side."""
    X = directions(rng, 12 * rows)
    X = X[np.abs(X[:, 0]) >= margin][:rows]
    return X, np.sign(X[:, 0])


def test_margin_bound_holds_in_simulation():
    """In no more than δ of the draws may the machine err more often than the bound says."""
    rng, broken, delta, m = np.random.default_rng(0), 0, 0.1, 250
    bound = bounds.hard_svm_error(1.0, 0.4, m, delta)
    assert bound.value < 0.6
    for _ in range(30):
        X, y = separated(rng, m)
        model = LinearSVC(loss="hinge", C=1e4, fit_intercept=False, tol=1e-6).fit(X, y)
        assert model.score(X, y) == 1.0
        fresh, side = separated(rng, 2000)
        broken += (1 - model.score(fresh, side)) > bound.value
    assert broken <= delta * 30


@pytest.mark.parametrize("noise", [0.1, 0.4])
def test_stability_bound_of_ridge_holds_in_simulation(noise):
    """Within ε of the best predictor of norm B, on average over draws of as many rows as the bound asks for."""
    rng, B, epsilon = np.random.default_rng(1), 1.0, 0.5
    bound = bounds.ridge_stability(epsilon, B)
    m, lam = int(bound.value), bound.details["penalty"]
    w = B * np.array([0.6, 0.0, 0.8, 0.0, 0.0])

    def draw(rows):
        X = directions(rng, rows)
        return X, np.clip(X @ w + noise * rng.uniform(-1, 1, size=rows), -1, 1)

    fresh, target = draw(40_000)
    best = np.mean((fresh @ w - target) ** 2)
    losses = []
    for _ in range(10):
        X, y = draw(m)
        model = Ridge(alpha=lam * m, fit_intercept=False).fit(X, y)
        losses.append(np.mean((model.predict(fresh) - target) ** 2))
        # Stability itself: one row more or less hardly moves the loss of any row.
        other = Ridge(alpha=lam * m, fit_intercept=False).fit(X[1:], y[1:])
        moved = np.abs((model.predict(fresh) - target) ** 2 - (other.predict(fresh) - target) ** 2).max()
        assert moved <= 48 / (lam * m)
    assert np.mean(losses) - best <= epsilon
