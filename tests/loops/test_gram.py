"""The Gram matrix in tiles of registers, against plain NumPy."""

import os
import subprocess
import sys

import numpy as np
import pytest

from certifit.design._gram_pass import GramSum
from certifit.loops import gram


def sums(X, R, weights, shift, dtype=np.float64):
    """(X − c)ᵀS(X − c | R | 1) by the loop."""
    total = GramSum(shift, R.shape[1], len(weights) > 0, dtype)
    total.add(X, R, weights)
    return np.column_stack(total.parts())


def twin(X, R, weights, shift):
    """The same in NumPy."""
    A = X.astype(float) - shift
    right = np.hstack([A, R, np.ones((len(X), 1))])
    return A.T @ (right if len(weights) == 0 else right * weights[:, None])


def case(n, d, t=1, weighted=False, dtype=float, shifted=False):
    rng = np.random.default_rng(1000 * n + d)
    X = rng.normal(size=(n, d)).astype(dtype)
    weights = rng.random(n) if weighted else np.zeros(0)
    return X, rng.normal(size=(n, t)), weights, rng.normal(size=d) if shifted else np.zeros(d)


def agrees(problem, dtype=np.float64):
    """Whether loop and twin agree to the rounding of sums of products."""
    X, R, weights, shift = problem
    found, expected = sums(*problem, dtype), twin(*problem)
    size = twin(np.abs(X) + np.abs(shift), np.abs(R), weights, np.zeros_like(shift))
    assert found.shape == expected.shape
    return bool(np.all(np.abs(found - expected) <= 4.0 * np.finfo(dtype).eps * (4 + len(X)) * size))


@pytest.mark.parametrize("d", [*range(1, 41), 95, 96, 97, 100, 103, 199, 200])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_width(d, weighted):
    assert agrees(case(37, d, weighted=weighted, shifted=d % 2 == 0))


@pytest.mark.parametrize("n", [0, 1, 2, 127, 128, 129, 300])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("t", [0, 1, 9])
def test_rows_precisions_and_right_hand_sides(n, dtype, t):
    assert agrees(case(n, 11, t, weighted=True, dtype=dtype, shifted=True))


@pytest.mark.parametrize("d", [1, 4, 7, 8, 9, 23, 24, 25, 46, 47, 48, 49, 100])
@pytest.mark.parametrize("weighted", [False, True])
def test_single_precision(d, weighted):
    assert agrees(case(300, d, 2, weighted, np.float32, shifted=True), np.float32)


@pytest.mark.parametrize("d", [1, 7, 8, 16, 23, 47, 48, 50])
@pytest.mark.parametrize("t", [3, 4, 7, 8, 16, 20, 50])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_many_right_hand_sides(d, t, dtype):
    assert agrees(case(150, d, t, weighted=t % 2 == 0, dtype=dtype), dtype)


@pytest.mark.parametrize("n", [0, 1, 127, 128, 400, 3000])
@pytest.mark.parametrize("d", [2, 10, 22, 24, 48, 54, 94, 100])
@pytest.mark.parametrize(("dtype", "block"), [("f8", "f8"), ("f4", "f4"), ("f4", "f8")])
def test_prints_beside_are_those_of_the_lines_alone(n, d, dtype, block):
    X, R, _, shift = case(n, d, dtype=dtype, shifted=True)
    lines = X.view(np.uint64)
    of_line = np.random.default_rng(n).integers(0, 2**64, 50, np.uint64)
    of_word = np.arange(3, 2 * lines.shape[1] + 3, 2).astype(np.uint64)
    exponent, lowest = np.uint64(96), np.uint64(32)
    alone, beside = (np.zeros(-(-n // 50), np.uint64) for _ in range(2))
    expected = gram.fold_lines(lines, of_line, of_word, exponent, lowest, alone)
    total = GramSum(shift, 1, False, np.dtype(block).type)
    total.add(X, R, np.zeros(0), (of_line, of_word, beside))
    assert np.array_equal(alone, beside)
    found, size = np.column_stack(total.parts()), twin(np.abs(X) + np.abs(shift), np.abs(R), np.zeros(0), 0.0 * shift)
    assert np.all(np.abs(found - twin(X, R, np.zeros(0), shift)) <= 4.0 * np.finfo(block).eps * (4 + n) * size)
    assert int(expected) == int(np.bitwise_or.reduce((lines & exponent) + lowest, axis=None))
    for k, print_of_block in enumerate(alone):
        words, factors, low = lines[50 * k : 50 * (k + 1)], of_line[:, None], np.uint64(2**32 - 1)
        factors, half = factors[: len(words)], np.uint64(32)
        sums = ((words & low) * (factors & low) + (words >> half) * (factors >> half)).sum(axis=0)
        assert print_of_block == (((sums >> np.uint64(31)) ^ sums) * of_word).sum()


def test_sums_of_blocks_are_in_double_precision():
    X = np.zeros((1001, 1), np.float32)
    X[0], X[500:] = 4096.0, 1.0  # in single precision adding ones to 4096² would change nothing
    assert sums(X, np.zeros((1001, 0)), np.zeros(0), np.zeros(1), np.float32)[0, 0] == 4096**2 + 501


def test_whole_numbers_are_summed_exactly():
    rng = np.random.default_rng(0)
    X, R = rng.integers(-50, 50, size=(1000, 19)).astype(float), rng.integers(-9, 9, size=(1000, 2)).astype(float)
    problem = X, R, rng.integers(0, 4, 1000).astype(float), np.arange(19.0)
    found, expected = sums(*problem), twin(*problem)
    assert np.array_equal(found, expected)


def test_infinities_and_nan_are_not_lost():
    X = np.ones((5, 3))
    X[2, 1], X[4, 2] = np.inf, np.nan
    found = sums(X, np.zeros((5, 0)), np.zeros(0), np.zeros(3))
    assert found[0, 0] == 5.0
    assert found[0, 1] == np.inf
    assert np.isnan(found[:, 2]).all()


def test_read_only_rows_need_no_other_code():
    X, R, weights, shift = case(5, 3)
    sums(X, R, weights, shift)
    count = len(gram.gram_rows.signatures)
    for array in (X, R, shift):
        array.flags.writeable = False
    sums(X, R, weights, shift)
    assert len(gram.gram_rows.signatures) == count


PROGRAM = """
import numpy as np
from certifit.loops import gram
from tests.loops.test_gram import agrees, case
from certifit.design import gram_pass
right = all(agrees(case(37, d, weighted=d % 2 == 0)) for d in (1, 4, 5, 12, 13, 30)) if gram.LANES else True
print(gram.LANES, right and agrees(case(37, 30, dtype=np.float32), np.float32) if gram.LANES else True)
X = np.random.default_rng(0).normal(size=(60_000, 100))
print(np.allclose(gram_pass(X)[0], X.T @ X))
print(sum(gram.gram_rows.stats.cache_misses.values()))
"""


def other(features, folder):
    """What the program prints on a processor with these features, as far as Numba knows."""
    settings = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": features, "NUMBA_CACHE_DIR": str(folder)}
    run = [sys.executable, "-c", PROGRAM]
    return subprocess.run(run, env=os.environ | settings, capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.skipif(gram.LANES == 0, reason="needs a processor with AVX2")
def test_narrower_vectors_and_the_cache(tmp_path):
    features = "+avx,+avx2,+fma,+sse4.2"
    assert other(features, tmp_path) == ["4", "True", "True", "2"]
    assert other(features, tmp_path)[-1] == "0"  # the second process compiles nothing


def test_without_vectors_numpy_does_it(tmp_path):
    assert other("", tmp_path) == ["0", "True", "True", "0"]
