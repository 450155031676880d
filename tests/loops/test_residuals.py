"""The compiled pass over residuals against a few lines of NumPy."""

import numpy as np
import pytest

from certifit.loops.residuals import residual_sums


@pytest.mark.parametrize(("n", "d"), [(1, 1), (7, 3), (500, 37)])
def test_sums_of_residuals_are_those_of_numpy(n, d):
    rng = np.random.default_rng(n)
    X, y, w = rng.normal(size=(n, d)).astype(np.float32), rng.normal(size=n), rng.normal(size=d)
    found = np.zeros(d)
    total, squares = residual_sums(X, y, w, 0.5, found)
    r = y - X.astype(float) @ w - 0.5
    size = np.abs(X.astype(float)).T @ np.abs(r)
    np.testing.assert_array_less(np.abs(found - X.astype(float).T @ r), 1e-12 * size + 1e-300)
    assert total == pytest.approx(r.sum(), abs=1e-12 * np.abs(r).sum())
    assert squares == pytest.approx(r @ r, rel=1e-12)


def test_sums_are_formed_in_double_precision():
    X = np.array([[1.0], [1.0]], dtype=np.float32)
    found = np.zeros(1)
    total, _ = residual_sums(X, np.array([1e9 + 1.0, -1e9]), np.zeros(1), 0.0, found)
    assert total == 1.0
    assert found[0] == 1.0
