"""Each compiled loop of the machines against a few lines of NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from certifit.loops import hulls, linear_svc, pegasos, smo
from certifit.solvers._box_dual import Box


def _problem(seed, n=12):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, 4))
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    return A, A @ A.T + 0.1 * np.eye(n), y


def test_smo_block_keeps_the_gradient_and_reaches_optimality():
    for dtype in (np.float32, np.float64):
        _, K, y = _problem(0)
        lo, hi = np.where(y > 0, 0.0, -1.0), np.where(y > 0, 1.0, 0.0)
        beta, F = np.zeros(12), -y.copy()
        steps, first = smo.solve_block(K.astype(dtype), F, beta, lo, hi, 1e-4, 10_000)
        assert steps > 0
        assert first == 2.0
        np.testing.assert_allclose(F, K @ beta - y, atol=1e-4)
        assert abs(beta.sum()) < 1e-12
        low, high = F[beta < hi].min(), F[beta > lo].max()
        assert smo.violation(F, beta, lo, hi) == (low, high)
        assert high - low <= 1.1e-4


def _plain_steps(K, F, beta, lo, hi, count):
    """The same pair steps in NumPy: i of least F, j of largest gain²/η."""
    for _ in range(count):
        i = int(np.argmin(np.where(beta < hi, F, np.inf)))
        gain = np.where(beta > lo, F - F[i], 0.0)
        j = int(np.argmax(np.maximum(gain, 0.0) ** 2 / (K[i, i] + np.diag(K) - 2 * K[i] + 1e-300)))
        t = min(gain[j] / (K[i, i] + K[j, j] - 2 * K[i, j]), hi[i] - beta[i], beta[j] - lo[j])
        beta[i] = hi[i] if t == hi[i] - beta[i] else beta[i] + t
        beta[j] = lo[j] if t == beta[j] - lo[j] else beta[j] - t
        F += t * (K[i] - K[j])


@pytest.mark.parametrize("scale", [2.0**-100, 1.0, 2.0**100])
def test_pair_steps_are_those_of_plain_numpy_at_any_scale(scale):
    _, K, y = _problem(4, n=40)
    K, cost = scale * K, 0.7 / scale
    lo, hi = np.where(y > 0, 0.0, -cost), np.where(y > 0, cost, 0.0)
    F = -y + 0.1 * np.random.default_rng(5).normal(size=40)  # no ties
    beta, other, G = np.zeros(40), np.zeros(40), F.copy()
    assert smo.solve_block(K, F, beta, lo, hi, 1e-9, 25)[0] == 25
    _plain_steps(K, G, other, lo, hi, 25)
    np.testing.assert_allclose(beta, other, rtol=1e-9, atol=1e-12 * cost)
    np.testing.assert_allclose(F, G, rtol=1e-9, atol=1e-12)


def test_a_block_without_movable_points_is_left_alone():
    K, F = np.eye(2), np.array([-1.0, 1.0])
    beta = np.array([1.0, -1.0])  # the one at its upper, the other at its lower end: neither may move as F asks
    assert smo.solve_block(K, F.copy(), beta, np.array([0.0, -1.0]), np.array([1.0, 0.0]), 1e-3, 10)[0] == 0
    assert smo.solve_block(K, F.copy(), beta, beta, beta, 1e-3, 10) == (0, 0.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [0, 1, 3, 4, 11])
def test_rows_of_a_stored_matrix(dtype, count):
    _, K, _ = _problem(5)
    K, i, j = K.astype(dtype), np.arange(count)[::-1].copy(), np.array([7, 0, 3])
    part = np.empty((count, 3), dtype)
    smo.cut(K, i, j, part)
    np.testing.assert_array_equal(part, K[np.ix_(i, j)])
    weights, total = np.linspace(-1.0, 1.0, count), np.ones(12)
    smo.add_rows(K, i, weights, total)
    np.testing.assert_allclose(total, 1.0 + weights @ K[i], rtol=1e-5 if dtype == np.float32 else 1e-12, atol=1e-12)


def test_gap_is_primal_minus_dual():
    _, K, y = _problem(1)
    lo, hi = np.where(y > 0, 0.0, -2.0), np.where(y > 0, 2.0, 0.0)
    beta = np.where(y > 0, 0.3, -0.3)
    F, b = K @ beta - y, 0.2
    primal = 0.5 * beta @ K @ beta + 2.0 * np.maximum(0, 1 - y * (K @ beta + b)).sum()
    dual = np.abs(beta).sum() - 0.5 * beta @ K @ beta
    np.testing.assert_allclose(smo.gap_at(F, beta, lo, hi, b), primal - dual)


@pytest.mark.parametrize("largest", [0, 4, 100])
@pytest.mark.parametrize("cost", [0.1, 10.0])
def test_rounds_end_at_the_gap_asked_for(cost, largest):
    _, K, y = _problem(6, n=60)
    trained = np.arange(60) % 5 > 0  # the others have no room to move
    lo, hi = np.where(trained & (y < 0), -cost, 0.0), np.where(trained & (y > 0), cost, 0.0)
    beta, F = np.zeros(60), -y.copy()
    steps, found, reached = smo.rounds(K, F, beta, lo, hi, 1e-6, 0.1, 20, largest, 20, np.empty(3_600))
    assert steps > 0
    np.testing.assert_allclose(F, K @ beta - y, atol=1e-10)
    assert abs(beta.sum()) < 1e-12
    assert not beta[~trained].any()
    offset, gap = Box(y, lo, hi).offset_and_gap(beta, F)
    assert -1e-12 <= gap <= 1e-6
    assert found == pytest.approx(offset, abs=1e-12)
    assert reached == pytest.approx(gap, abs=1e-12)
    again = smo.rounds(K, F, beta, lo, hi, 2 * gap + 1e-12, 0.1, 20, largest, 20, np.empty(3_600))
    assert again == (0, found, pytest.approx(gap, abs=1e-12))
    short = smo.rounds(K, -y.copy(), np.zeros(60), lo, hi, 0.0, 0.1, 20, largest, 0, np.empty(3_600))
    assert short == (0, 0.0, np.inf)  # no patience
    assert gap <= min(smo.gap_at(F, beta, lo, hi, offset + shift) for shift in (-1e-3, 1e-3)) + 1e-12


def test_smoothed_losses_and_their_slopes():
    _, _, labels = _problem(2)
    rng = np.random.default_rng(3)
    z, d, cost, h, width = rng.normal(size=12), rng.normal(size=12), rng.uniform(0.5, 2.0, 12), 0.4, 0.2
    for code in range(4):
        y = labels if code < 2 else labels + rng.normal(size=12)

        def shorts(t, code=code, y=y):
            at = z + t * d
            return np.maximum(0, 1 - y * at if code < 2 else np.abs(y - at) - width)

        def value(t, code=code, shorts=shorts):
            short = shorts(t)
            rounded = np.where(short < h, short**2 / (2 * h), short - h / 2)
            return cost @ (short**2 if code % 2 else rounded)

        beta, curvature = np.empty(12), np.empty(12)
        smooth, true, total, square, skew = linear_svc.at(z, y, cost, width, h, code, beta, curvature)
        np.testing.assert_allclose(smooth, value(0.0))
        short = shorts(0.0)
        np.testing.assert_allclose(true, cost @ (short**2 if code % 2 else short))
        np.testing.assert_allclose([total, skew], [np.abs(beta).sum(), beta.sum()])
        np.testing.assert_allclose(square, np.sum(beta**2 / cost))
        first, second = linear_svc.slope_along(z, d, y, cost, width, h, code, 0.3)
        np.testing.assert_allclose(first, (value(0.3 + 1e-6) - value(0.3 - 1e-6)) / 2e-6, rtol=1e-5)
        assert second >= 0
        np.testing.assert_allclose(linear_svc.slope_along(z, d, y, cost, width, h, code, 0.0)[0], -beta @ d)


def test_nearest_points_of_hulls():
    _, K, y = _problem(4)
    mu = np.zeros(12)
    mu[:2] = 1.0
    G = y * (K @ (y * mu))
    before = mu @ G
    _, worst = hulls.nearest_points(K, y, mu, G, 1e-8, 100_000)
    assert worst <= 1e-8
    np.testing.assert_allclose(G, y * (K @ (y * mu)), atol=1e-8)
    np.testing.assert_allclose([mu[y > 0].sum(), mu[y < 0].sum()], 1.0)
    assert mu.min() >= 0
    assert mu @ G < before
    for side in (1.0, -1.0):
        assert G[(y == side) & (mu > 0)].max() - G[y == side].min() <= 1e-7


def test_pegasos_steps():
    X, _, y = _problem(5)
    lam, order = 0.1, np.random.default_rng(0).permutation(12)
    theta, total, counts = np.zeros(5), np.zeros(5), np.zeros(12, dtype=np.int64)
    t = pegasos.passes(X, y, order, lam, 1.0, 0, theta, total, counts)
    padded, w, iterates = np.column_stack([X, np.ones(12)]), np.zeros(5), []
    for step, i in enumerate(order, start=1):
        short = y[i] * (padded[i] @ w) < 1
        w = (1 - 1 / step) * w + (y[i] * padded[i] / (lam * step) if short else 0.0)
        iterates.append(w)
    assert t == 12
    np.testing.assert_allclose(theta / (lam * 12), w, atol=1e-12)
    np.testing.assert_allclose(total, np.sum(iterates, axis=0), atol=1e-12)
    for module in (hulls, linear_svc, pegasos, smo):
        module.warm()
