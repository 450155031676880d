"""The compiled fold against NumPy: the same numbers, and every infinity and NaN found."""

import numpy as np
import pytest

from certifit.design import _fingerprint, fingerprint, look


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int16, np.uint8])
@pytest.mark.parametrize("shape", [(20_011, 17), (3001, 100), (70, 9001), (3, 70_001), (300_001,)])
def test_the_same_numbers_as_numpy(layout, dtype, shape, monkeypatch):
    A = layout((np.random.default_rng(0).normal(size=shape) * 50).astype(dtype))
    plain = fingerprint(A)
    monkeypatch.setattr(_fingerprint, "_LARGE", 1)
    assert fingerprint(A) == plain
    assert look(A) == (plain, np.dtype(dtype).kind == "f")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("bad", [np.nan, -np.nan, np.inf, -np.inf])
def test_finds_what_is_not_finite_anywhere(dtype, bad, monkeypatch):
    monkeypatch.setattr(_fingerprint, "_LARGE", 1)
    rng = np.random.default_rng(1)
    extremes = np.array([0.0, -0.0, 1.0, np.finfo(dtype).max, -np.finfo(dtype).max, np.finfo(dtype).tiny], dtype)
    A = rng.choice(extremes[[0, 1, 2, 5]], size=300_003)
    A[: 256 * 1000] = rng.choice(extremes, size=256 * 1000)  # whole lines are judged by their bits: no sum overflows
    assert look(A)[1]
    for at in [0, 1, len(A) - 1, *rng.integers(len(A), size=40)]:
        B = A.copy()
        B[at] = bad
        assert not look(B)[1], at
