"""Digits of numbers, and their sums by class, against NumPy."""

import numpy as np
import pytest

from certifit.certificates.sums import WIDTH, Side
from certifit.loops.digits import class_sums, cut


def columns(seed: int, rows: int):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(4, rows)) * np.array([[1.0], [1e-6], [1e12], [0.0]])
    centre = X.mean(axis=1)
    return X, centre, np.frexp(np.abs(X - centre[:, None]).max(axis=1))[1]


@pytest.mark.parametrize("rows", [1, 15, 16, 17, 100])
@pytest.mark.parametrize("digits", [1, 2, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_digits_are_those_of_a_side(rows, digits, weighted):
    X, centre, exponent = columns(rows, rows + 5)
    root = np.random.default_rng(1).random(rows + 5) if weighted else np.empty(0)
    out, largest = np.full((digits, 6, rows), 7.0), np.full(6, 7.0)
    cut.compiled(X, root, centre, np.ldexp(1.0, WIDTH - exponent), 5, out, 1, largest)
    meant = (X - centre[:, None])[:, 5:] * (root[5:] if weighted else 1.0)
    twin = Side(exponent, digits).slices(meant).reshape(digits, 4, rows)
    assert np.array_equal(out[:, 1:5], twin)
    assert np.array_equal(largest[1:5], np.abs(meant).max(axis=1))
    assert np.all(out[:, [0, 5]] == 7.0)  # what stands beside is left alone
    assert np.all(largest[[0, 5]] == 7.0)


@pytest.mark.parametrize("rows", [1, 17, 2048, 2100])
def test_sums_by_class(rows):
    X, centre, exponent = columns(rows, rows)
    codes = np.random.default_rng(2).integers(0, 3, rows)
    member = (np.arange(3)[:, None] == codes).astype(float)
    total, largest = np.ones((3, 3, 8)), np.empty(8)
    scales = (np.ldexp(1.0, WIDTH - exponent), np.ldexp(1.0, WIDTH - 2 * exponent))
    class_sums.compiled(X, member, centre, *scales, total, largest)
    t = X - centre[:, None]
    both = np.vstack([t, t * t])
    twin = Side(np.append(exponent, 2 * exponent), 3).slices(both).reshape(3, 8, rows)
    assert np.array_equal(total - 1.0, np.einsum("ci,kji->ckj", member, twin))
    assert np.array_equal(largest, np.abs(both).max(axis=1))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("place", [0, 40])
def test_what_is_not_finite_shows(bad, place):
    X, centre, exponent = columns(0, 41)
    X[1, place] = bad
    scale = np.ldexp(1.0, WIDTH - exponent)
    out, largest = np.empty((2, 4, 41)), np.empty(4)
    cut.compiled(X, np.empty(0), centre, scale, 0, out, 0, largest)
    assert not (np.all(np.isfinite(out)) and np.all(np.isfinite(largest)))
    total, most = np.zeros((1, 2, 8)), np.empty(8)
    class_sums.compiled(X, np.ones((1, 41)), centre, scale, scale, total, most)
    assert not (np.all(np.isfinite(total)) and np.all(np.isfinite(most)))
