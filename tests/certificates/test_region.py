"""Which labels cannot change: every point of the region gives the labels that are called certain."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from certifit._objective import Target
from certifit.certificates import ball
from certifit.certificates.region import Region, hinge_offsets, offsets
from certifit.losses import Hinge, Logistic

RNG = np.random.default_rng(14)
X = RNG.normal(size=(60, 2))


def test_certain_labels_are_those_of_every_point_within_reach():
    w, b, rho = np.array([[1.0, -0.5]]), 0.2, 0.15
    region = Region("sign", np.array([rho]), np.array([b]), np.array([b]), np.zeros(1), None, 0.0)
    now = X @ w.T + b
    sure = region.rows(X, w, np.array([b]), now)
    assert 0 < sure.sum() < len(X)
    for angle in np.linspace(0, 2 * np.pi, 73):
        other = X @ (w[0] + rho * np.array([np.cos(angle), np.sin(angle)])) + b
        assert np.array_equal((other > 0)[sure], (now[:, 0] > 0)[sure])
    moved = np.abs(now[:, 0]) <= rho * np.linalg.norm(X, axis=1)  # some point of the ball changes these labels
    assert not np.any(sure & moved)


def test_several_classes_compare_intervals():
    W = RNG.normal(size=(3, 2))
    region = Region("rest", np.full(3, 0.1), np.zeros(3), np.zeros(3), np.zeros(3), None, 0.0)
    sure = region.rows(X, W, np.zeros(3), X @ W.T)
    assert 0 < sure.sum() < len(X)
    for seed in range(200):
        step = np.random.default_rng(seed).normal(size=(3, 2))
        step *= 0.1 / np.linalg.norm(step, axis=1, keepdims=True)
        assert np.array_equal((X @ (W + step).T).argmax(axis=1)[sure], (X @ W.T).argmax(axis=1)[sure])


def test_pairs_count_sure_votes():
    W = RNG.normal(size=(3, 2))
    region = Region(
        "pairs", np.full(3, 0.1), np.zeros(3), np.zeros(3), np.zeros(3), None, 0.0, ((0, 1), (0, 2), (1, 2))
    )

    def winners(scores):
        votes = np.zeros((len(X), 3))
        for k, (first, second) in enumerate(region.pairs):
            votes[:, first] += scores[:, k] > 0
            votes[:, second] += scores[:, k] <= 0
        return votes.argmax(axis=1)

    sure = region.rows(X, W, np.zeros(3), X @ W.T)
    assert 0 < sure.sum() < len(X)
    for seed in range(200):
        step = np.random.default_rng(seed).normal(size=(3, 2))
        step *= 0.1 / np.linalg.norm(step, axis=1, keepdims=True)
        assert np.array_equal(winners(X @ (W + step).T)[sure], winners(X @ W.T)[sure])


@given(st.lists(st.tuples(st.integers(-6, 6), st.booleans(), st.integers(1, 3)), min_size=2, max_size=10))
def test_the_interval_holds_every_best_offset_of_hinge(rows):
    z, y, cost = (np.array(v, dtype=float) for v in zip(*rows))
    y = np.where(y > 0, 1.0, -1.0)
    low, high = hinge_offsets(ball(z), y, cost)
    grid = np.arange(-12.0, 12.5, 0.5)  # all kinks are integers
    loss = np.array([cost @ np.maximum(0.0, 1.0 - y * (z + b)) for b in grid])
    best = grid[loss <= loss.min() + 1e-9]
    inner = best[(best > -12) & (best < 12)]
    assert np.all((low <= inner) & (inner <= high))


@pytest.mark.parametrize("loss", [Logistic(), Hinge()], ids=["logistic", "hinge"])
def test_the_bracket_is_around_the_minimiser(loss):
    z, y, s = RNG.normal(size=40), np.where(RNG.uniform(size=40) < 0.4, 1.0, -1.0), RNG.uniform(0.5, 2.0, 40)
    found = minimize_scalar(
        lambda b: float(s @ loss.value(z + b, y)), bounds=(-9, 9), method="bounded", options={"xatol": 1e-12}
    )
    start = found.x if loss.name == "logistic" else 0.0
    low, high = offsets(loss, ball(z), Target(y, s, 1), start)
    assert low - 1e-6 <= found.x <= high + 1e-6
    assert high - low < 1e-3 or loss.name == "hinge"
    assert found.fun >= float(s @ loss.value(z + (low + high) / 2, y)) - 1e-6
