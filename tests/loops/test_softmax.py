"""The compiled pass of softmax regression against a few lines of NumPy."""

import os
import subprocess
import sys

import numpy as np
import pytest

from certifit.loops import softmax
from certifit.losses import Softmax


def run(X, y, s, W, b):
    """Value, scores and gradient (with that of the offsets last) by the loop."""
    (n, d), K, pad = X.shape, len(b), softmax.padded(len(b))
    Z, gradient, (total, own) = np.empty((n, K)), np.zeros((d + 1, len(pad))), np.empty((2, n))
    given = X, y, s, np.ascontiguousarray(W[:, pad]), b[pad]
    for array in given:
        array.flags.writeable = False
    softmax.softmax_pass(*given, Z, total, own, gradient)
    return float(s @ (np.log(total) - own)), Z, gradient[:, :K]


def agrees(n, d, K, dtype=np.float64, size=1.0):
    """Whether loop and NumPy agree to the rounding of sums of products."""
    rng = np.random.default_rng(1000 * n + d)
    X, W, b = rng.normal(size=(n, d)).astype(dtype), size * rng.normal(size=(d, K)), rng.normal(size=K)
    y, s = rng.integers(0, K, n), rng.random(n)
    value, Z, gradient = run(X, y, s, W, b)
    A = np.column_stack([X.astype(float), np.ones(n)])
    losses, slopes = Softmax().value_slope(A @ np.vstack([W, b]), y)
    near = 1e-14 * size * d
    same = np.abs(Z - A @ np.vstack([W, b])).max() < near and abs(value - s @ losses) <= near * n
    return bool(same and np.abs(gradient - A.T @ (slopes * s[:, None])).max() < near * n)


@pytest.mark.parametrize("K", [2, 3, 4, 5, 8, 9, 16, 17, 24, 25, 33, 60])
def test_every_number_of_classes(K):
    assert agrees(70, 11, K)


@pytest.mark.parametrize(("n", "d"), [(1, 1), (3, 2), (8, 8), (63, 9), (64, 7), (65, 16), (500, 37), (129, 100)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_columns_and_precisions(n, d, dtype):
    assert agrees(n, d, 10, dtype)


def test_scores_of_any_size():
    assert agrees(200, 5, 4, size=1e4)
    X, y, W = np.array([[1e5], [-1e5], [0.0]]), np.array([0, 0, 2]), np.array([[1.0, 0.0, -1.0]])
    value, _, gradient = run(X, y, np.ones(3), W, np.zeros(3))
    assert value == pytest.approx(2e5 + np.log(3.0))
    np.testing.assert_allclose(gradient[0], [1e5, 0.0, -1e5], atol=1e-200)


def test_exponentials_are_right_to_the_last_digits():
    z = -np.concatenate([np.linspace(0.0, 600.0, 100_001), np.geomspace(1e-300, 1.0, 1000), [0.0, 0.5 * np.log(2.0)]])
    found = z.copy()
    softmax._exponentials(found, np.empty(len(z)))
    np.testing.assert_allclose(found, np.exp(z), rtol=1e-15)


PROGRAM = """
from certifit.loops import softmax
from tests.loops.test_softmax import agrees
print(softmax.LANES, all(agrees(70, 11, K) for K in (2, 4, 5, 9, 13, 30)) and agrees(200, 5, 4, size=1e4))
"""


@pytest.mark.skipif(softmax.LANES == 0, reason="needs a processor with AVX2")
def test_narrower_vectors(tmp_path):
    features = {"NUMBA_CPU_FEATURES": "+avx,+avx2,+fma,+sse4.2", "NUMBA_CPU_NAME": "generic"}
    settings = os.environ | features | {"NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=settings, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["4", "True"]
