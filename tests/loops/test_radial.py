"""Sums and blocks of the radial kernel in tiles of registers, against plain NumPy."""

import os
import subprocess
import sys

import numpy as np
import pytest

from certifit.design import blocks
from certifit.kernels import RBF
from certifit.loops import radial
from certifit.loops._vectors import LANES

UNIT = {np.float32: 2.0**-23, np.float64: 2.0**-52}


def case(m, n, d, dtype):
    """Factors whose products are at most 0, and weights."""
    rng = np.random.default_rng(1000 * m + 10 * n + d)
    left, right = (0.3 * rng.normal(size=(k, d)) for k in (m, n))
    right[:, 0], left[:, 0] = 1.0, -10.0 * rng.random(m) - np.abs(left[:, 1:] @ right[:, 1:].T).max(initial=0.0)
    return left.astype(dtype), right.astype(dtype), rng.normal(size=m).astype(dtype)


def agrees(m, n, d, dtype):
    """Whether both loops give exp(left · rightᵀ) to rounding, and do so in numbers of the right shape."""
    left, right, weights = case(m, n, d, dtype)
    size = np.abs(left).astype(float) @ np.abs(right).astype(float).T
    expected = np.exp(left.astype(float) @ right.astype(float).T)
    block, total = np.empty((m, n), dtype), np.ones(n)
    rows, panels = radial.padded(left), radial.panels(right)
    radial.radial_block(rows, panels, block)
    radial.radial_sums(rows, radial.padded(weights), panels, total)
    error = UNIT[dtype] * (4.0 + (d + 1) * size) * expected
    near = np.all(np.abs(block - expected) <= error)
    far = np.abs(total - 1.0 - weights.astype(float) @ expected) - 1e-15 * m
    return bool(near and np.all(far <= np.abs(weights) @ (error + 4.0 * UNIT[dtype] * expected)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("m", [1, 3, 4, 5, 9, 40])
@pytest.mark.parametrize("n", [1, 7, 47, 48, 49, 95, 96, 97, 200])
def test_every_shape(m, n, dtype):
    assert agrees(m, n, 5, dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 2, 3, 22, 300])
def test_every_number_of_columns(d, dtype):
    assert agrees(10, 100, d, dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_rows(dtype):
    total, rows = np.ones(3), radial.padded(np.zeros((0, 2), dtype))
    radial.radial_sums(rows, rows[:, 0].copy(), radial.panels(np.zeros((3, 2), dtype)), total)
    assert total.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exponentials_of_any_size(dtype):
    x = np.concatenate([-np.linspace(0.0, 1000.0, 100_001), [1e-6, -1e30, -np.inf, np.nan]]).astype(dtype)
    found = np.empty((1, len(x)), dtype)
    radial.radial_block(radial.padded(np.ones((1, 1), dtype)), radial.panels(x[:, None]), found)
    with np.errstate(under="ignore"):
        error = np.abs(found[0, :-1] - np.exp(x[:-1].astype(float)))
        assert np.all(error <= UNIT[dtype] * (2.0 + np.abs(x[:-1].clip(-1000))) * np.exp(x[:-1].astype(float)) + 3e-38)
    assert error.max() <= UNIT[dtype]
    assert np.isnan(found[0, -1])
    assert 0.0 < found[0, -2] < 2.0 * np.finfo(dtype).tiny


@pytest.mark.skipif(LANES == 0, reason="needs a processor with AVX2")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_of_many_points_are_those_of_few(dtype):
    rng = np.random.default_rng(0)
    X, kernel = rng.normal(size=(2500, 3)), RBF(gamma=0.4)
    many, few = blocks(kernel, X, dtype), kernel.gram(X, X)
    i, j, w = np.arange(7, 300, 3), rng.permutation(2500)[:130], rng.normal(size=98)
    near = {"atol": 30 * UNIT[dtype], "rtol": 0.0}
    assert type(many).__name__ == "RadialBlocks"
    np.testing.assert_allclose(many.block(i, j), few[np.ix_(i, j)], **near)
    np.testing.assert_allclose(many.take(j).block(np.arange(9), np.arange(30)), few[np.ix_(j[:9], j[:30])], **near)
    room = np.empty(20_000, dtype)
    assert np.shares_memory(many.block(i, j, room), room)
    near["atol"] *= 20
    np.testing.assert_allclose(many.combine(i, w), w @ few[i], **near)
    np.testing.assert_allclose(many.combine(i, w, j), w @ few[np.ix_(i, j)], **near)
    assert many.combine(i[:0], w[:0]).tolist() == [0.0] * 2500


PROGRAM = """
import numpy as np
from certifit.loops._vectors import LANES
from tests.loops.test_radial import agrees
print(LANES, all(agrees(m, n, 5, t) for m in (3, 9) for n in (1, 12, 24, 25, 50) for t in (np.float32, np.float64)))
"""


@pytest.mark.skipif(LANES == 0, reason="needs a processor with AVX2")
def test_narrower_vectors(tmp_path):
    features = {"NUMBA_CPU_FEATURES": "+avx,+avx2,+fma,+sse4.2", "NUMBA_CPU_NAME": "generic"}
    settings = os.environ | features | {"NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=settings, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["4", "True"]
