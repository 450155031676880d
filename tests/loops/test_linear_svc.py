"""Sweeps of dual coordinate descent against a few lines of NumPy."""

import numpy as np
import pytest
import scipy.sparse

from certifit.loops.linear_svc import dual_sweep


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("labels", [True, False])
@pytest.mark.parametrize("room", [0.0, 1.5])
def test_a_sweep_minimises_over_one_multiplier_after_the_other(labels, room, kind):
    rng = np.random.default_rng(0)
    X = scipy.sparse.random(12, 7, 0.5, random_state=2, format="csr")
    y = np.where(rng.normal(size=12) > 0, 1.0, -1.0) if labels else rng.normal(size=12)
    cost, width = rng.uniform(0.1, 2.0, 12), 0.0 if labels else 0.2
    cost[3] = 0.0
    size, order = np.square(X.toarray()).sum(axis=1), rng.permutation(12)
    beta, w, at = np.zeros(12), np.zeros(7), 0.7
    columns = X.data, X.indices.astype(kind), X.indptr.astype(kind)
    for _ in range(3):
        at = dual_sweep(*columns, y, cost, width, labels, size, room, order, beta, w, at)
    K, low, high = (X @ X.T).toarray() + room, -cost, cost
    if labels:
        low, high = np.where(y > 0, 0.0, -cost), np.where(y > 0, cost, 0.0)
    slow = np.zeros(12)
    for _ in range(3):
        for i in order:
            grid = slow[i] - (K[i] @ slow + 0.7 - y[i]) / K[i, i] if K[i, i] > 0 else slow[i]
            grid = np.sign(grid) * max(abs(grid) - (width / K[i, i] if K[i, i] > 0 else 0.0), 0.0)
            slow[i] = np.clip(grid, low[i], high[i])
    np.testing.assert_allclose(beta, slow, atol=1e-12)
    np.testing.assert_allclose(w, X.T @ beta, atol=1e-12)
    assert at == pytest.approx(0.7 + room * beta.sum())
