"""Loops of kernel density against sums in NumPy."""

import numpy as np
import pytest

from certifit.loops import density


@pytest.mark.parametrize("kernel", range(6))
@pytest.mark.parametrize("metric", range(3))
@pytest.mark.parametrize("rtol", [0.0, 0.1])
def test_queries_enclose_the_direct_sum(kernel, metric, rtol):
    rng = np.random.default_rng(kernel)
    X, w, Q = rng.normal(size=(60, 2)), rng.integers(1, 4, size=60).astype(float), rng.normal(size=(7, 2))
    order = np.arange(60)
    tree = density.build(X, w, order, 4)
    assert sorted(order.tolist()) == list(range(60))
    assert tree[2][0] == w.sum()
    out = np.empty((7, 3))
    density.query(X, w, order, tree, Q, 0, 7, kernel, metric, 0.8, 0.0, rtol, out)
    gap = np.abs(Q[:, None] - X[None])
    u = [np.sqrt((gap**2).sum(axis=2)), gap.sum(axis=2), gap.max(axis=2)][metric] / 0.8
    inside = u < 1
    value = [
        np.exp(-0.5 * u * u),
        inside,
        inside * (1 - u * u),
        np.exp(-u),
        inside * (1 - u),
        inside * np.cos(np.pi * u / 2),
    ]
    direct = value[kernel] @ w
    assert np.all(np.exp(out[:, 0]) * out[:, 1] <= direct * (1 + 1e-12))
    assert np.all(np.exp(out[:, 0]) * out[:, 2] >= direct * (1 - 1e-12))
    assert np.all(out[:, 2] - out[:, 1] <= (rtol + 1e-10) * out[:, 1] + 1e-12)


def test_leaving_one_out():
    X, w = np.random.default_rng(1).normal(size=(20, 2)), np.arange(1.0, 21.0)
    out, h = np.zeros((20, 2)), np.array([0.5, 2.0])
    density.leave_one_out(X, w, 0, 20, 0, 0, h, out)
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    for m in range(2):
        assert np.allclose(out[:, m], np.exp(-0.5 * (D / h[m]) ** 2) @ w - w)
