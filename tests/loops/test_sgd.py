"""One pass of SGD against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from certifit.loops.sgd import sgd_pass, slope_of
from certifit.losses import Loss, get_loss, loss_names

CODES = {
    name: loss.sgd_code
    for name, loss in ((n, get_loss(n)) for n in loss_names())
    if isinstance(loss, Loss) and loss.sgd_code is not None
}


@pytest.mark.parametrize("name", sorted(CODES))
def test_slopes_are_those_of_the_losses(name):
    loss = get_loss(name)
    for y in (-1.0, 1.0):
        for z in (-3.0, -0.5, 0.3, 2.0):
            expected = float(loss.slope(np.array([z]), np.array([y]))[0])
            assert slope_of(CODES[name], 1.0, z, y) == pytest.approx(expected)


def test_a_pass():
    rng = np.random.default_rng(0)
    A, y, order = rng.normal(size=(6, 3)), rng.normal(size=6), rng.permutation(6)
    l1, l2, centre = np.full(3, 0.01), np.full(3, 0.1), rng.normal(size=3)
    w, average = np.zeros(3), np.zeros(3)
    b, average_b, t = sgd_pass(
        A, y, order, CODES["squared"], 0.5, w, 0.0, average, 0.0, l1, l2, centre, True, 0.1, 0.3, 0.0, 2.0
    )
    v, c, mean, mean_c = np.zeros(3), 0.0, np.zeros(3), 0.0
    for step, i in enumerate(order):
        eta = 0.1 / (1 + 0.3 * 0.1 * step)
        g = A[i] @ v + c - y[i]
        u = (v - eta * g * A[i] + eta * l2 * centre) / (1 + eta * l2)
        v = np.sign(u) * np.maximum(np.abs(u) - eta * l1 / (1 + eta * l2), 0)
        c -= eta * g
        share = 1 / max(step + 1 - 2, 1)
        mean, mean_c = mean + share * (v - mean), mean_c + share * (c - mean_c)
    np.testing.assert_allclose(w, v, atol=1e-13)
    np.testing.assert_allclose(average, mean, atol=1e-13)
    assert (b, average_b, t) == (pytest.approx(c), pytest.approx(mean_c), 6)
