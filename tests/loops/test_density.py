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
    density.query(X[order], w[order], tree, Q, 0, 7, kernel, metric, 0.8, 0.0, rtol, out)
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


@pytest.mark.parametrize("kernel", [0, 2, 3, 4, 5])
def test_moments_bound_the_mean_of_a_node_far_from_zero(kernel):
    rng = np.random.default_rng(kernel)
    for offset, size in ((0.0, 1.0), (1e6, 1e-3), (-1e9, 1.0)):
        X, w = offset + size * rng.normal(size=(50, 3)), rng.uniform(0.1, 2.0, size=50)
        low, high, _, _, _, first, second = density.build(X, w, np.arange(50), 1)
        for x in X[:5] + 0.3 * size:
            near, far = density._reach(0, x, low, high, 0)
            mean, slack = density._mean_square(x, low, high, first, second, 50, 0)
            squares = ((X - x) ** 2).sum(axis=1)
            assert abs(mean - w @ squares / w.sum()) <= slack + 1e-13 * squares.max()
            for h in (0.5 * size, 3.0 * size):
                a, b = density._convex(kernel, near, far, mean, slack, h, 0.0, 3)
                c, d = density._between(kernel, near, far, h, 0.0, 3)
                truth = w @ [density._value(kernel, u, 0.0) for u in np.sqrt(squares) / h] / w.sum()
                assert c <= a <= truth * (1 + 1e-9)
                assert truth * (1 - 1e-9) <= b <= d


def test_leaving_one_out():
    X, w = np.random.default_rng(1).normal(size=(20, 2)), np.arange(1.0, 21.0)
    out, h = np.zeros((20, 2)), np.array([0.5, 2.0])
    order = np.arange(20)
    tree = density.build(X, w, order, 3)
    moved = np.zeros_like(out)
    density.leave_one_out(X[order], w[order], tree, 0, 20, 0, 0, h, moved)
    out[order] = moved
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    for m in range(2):
        assert np.allclose(out[:, m], np.exp(-0.5 * (D / h[m]) ** 2) @ w - w)


@pytest.mark.parametrize("kernel", range(6))
@pytest.mark.parametrize("metric", range(3))
def test_nodes_out_of_reach_add_nothing(kernel, metric):
    """Rows in two far groups, so that small bandwidths leave whole nodes out."""
    rng = np.random.default_rng(2)
    X = np.concatenate([rng.normal(size=(150, 2)), rng.normal(1000.0, 1.0, size=(150, 2))])
    w, h = rng.integers(1, 4, size=300).astype(float), np.array([1e-3, 0.3, 2.0, 1e4])
    order, out = np.arange(300), np.zeros((300, 4))
    tree = density.build(X, w, order, 6)
    X, w = X[order], w[order]
    density.leave_one_out(X, w, tree, 0, 300, kernel, metric, h, out)
    gaps = np.abs(X[:, None] - X[None])
    D = np.sqrt((gaps**2).sum(axis=2)) if metric == 0 else gaps.sum(axis=2) if metric == 1 else gaps.max(axis=2)
    for m in range(4):
        K = np.array([[density._value(kernel, u, 0.0) for u in row] for row in D / h[m]])
        np.fill_diagonal(K, 0.0)
        assert np.allclose(out[:, m], K @ w, rtol=1e-12, atol=0.0)
