"""The compiled pass of logistic and Poisson regression against a few lines of NumPy."""

import numpy as np
import pytest

from certifit.loops import one_score
from certifit.loops.one_score import one_score_pass
from certifit.losses import Logistic, Poisson


@pytest.mark.parametrize(("n", "d"), [(1, 1), (3, 2), (4, 5), (7, 3), (32, 8), (95, 16), (502, 37), (20_000, 9)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("alike", [False, True])
def test_sums_are_those_of_numpy(n, d, dtype, counts, alike):
    rng = np.random.default_rng(n)
    X, w, s = rng.normal(size=(n, d)).astype(dtype), rng.normal(size=d) / np.sqrt(d), rng.random(n)
    s[:] = s[:1] if alike else s
    y = rng.poisson(2.0, n).astype(float) if counts else np.where(rng.random(n) < 0.5, 1.0, -1.0)
    Z, gradient = np.empty((n, 1)), np.zeros(d)
    X.flags.writeable = False
    value, total = one_score_pass(X, y, s, w, 0.5, counts, Z[:, 0], gradient)
    z = X.astype(float) @ w + 0.5
    losses, slopes = Poisson().above_level(z, y) if counts else Logistic().value_slope(z, y)
    np.testing.assert_allclose(Z[:, 0], z, atol=1e-13)
    assert value == pytest.approx(s @ losses, rel=1e-13)
    assert total == pytest.approx(s @ slopes, abs=1e-13 * n)
    np.testing.assert_allclose(gradient, X.astype(float).T @ (s * slopes), atol=1e-13 * n)


def test_exponentials_are_those_of_numpy():
    rng = np.random.default_rng(0)
    for size in (1e-300, 1e-8, 1.0, 30.0, 699.9):
        x = rng.uniform(-size, size, one_score._ROWS)
        room, bits = x.copy(), np.zeros(len(x), np.int64)
        one_score._exponential(room, bits)
        np.testing.assert_allclose(room, np.exp(x), rtol=3e-16)
    room[:] = [-np.inf, -1e4, np.nan, 700.0] * (len(x) // 4)
    one_score._exponential(room, bits)
    np.testing.assert_allclose(room[:4], [np.exp(-700.0), np.exp(-700.0), np.nan, np.exp(700.0)], rtol=3e-16)


def test_many_rows_of_large_scores():
    """As `test_scores_of_any_size`, in vectors: one logarithm serves thousands of rows, of losses of any size."""
    X = np.zeros((64, 9))
    X[:5, 0] = [1e4, -1e4, 0.0, 800.0, -800.0]
    Z, gradient = np.empty(64), np.zeros(9)
    X.flags.writeable = False
    value, total = one_score_pass(X, np.ones(64), np.ones(64), np.ones(9), 0.0, False, Z, gradient)
    assert value == pytest.approx(1e4 + 60 * np.log(2.0) + 800.0, rel=1e-14)
    assert total == pytest.approx(-32.0, rel=1e-14)
    assert gradient.tolist() == [10800.0] + 8 * [0.0]


def test_scores_of_any_size():
    X = np.array([[1e4], [-1e4], [0.0], [800.0], [-800.0]])
    Z, gradient = np.empty((5, 1)), np.zeros(1)
    X.flags.writeable = False
    value, total = one_score_pass(X, np.ones(5), np.ones(5), np.ones(1), 0.0, False, Z[:, 0], gradient)
    assert value == pytest.approx(1e4 + np.log(2.0) + 800.0)
    assert total == pytest.approx(-2.5)
    assert gradient[0] == pytest.approx(1e4 + 800.0)


def test_means_of_any_size():
    X = np.array([[1e4], [-1e4]])
    Z, gradient = np.empty((2, 1)), np.zeros(1)
    X.flags.writeable = False
    value, total = one_score_pass(X, np.ones(2), np.ones(2), np.ones(1), 0.0, True, Z[:, 0], gradient)
    assert value == pytest.approx(np.exp(700.0))
    assert total == pytest.approx(np.exp(700.0))


@pytest.mark.parametrize("size", [1e-3, 1.0, 30.0, 200.0])
def test_small_losses_keep_their_digits(size):
    """Rows far on the right side have losses far below rounding of 1; four of one weight share a logarithm."""
    rng = np.random.default_rng(0)
    X = size * (1.0 + rng.random((40, 1)))
    X.flags.writeable = False
    value, _ = one_score_pass(X, np.ones(40), np.full(40, 0.7), np.ones(1), 0.0, False, np.empty(40), np.zeros(1))
    assert value == pytest.approx(0.7 * np.log1p(np.exp(-X[:, 0])).sum(), rel=1e-14)


def test_a_score_that_is_no_number_shows():
    X = np.array([[0.0], [np.nan], [1.0], [2.0]])
    X.flags.writeable = False
    for counts in (False, True):
        found = one_score_pass(X, np.ones(4), np.ones(4), np.ones(1), 0.0, counts, np.empty(4), np.zeros(1))
        assert np.isnan(found).all()
