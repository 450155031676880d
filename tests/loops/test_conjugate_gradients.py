"""The compiled loop of conjugate gradients against systems solved in NumPy."""

import numpy as np
import pytest

from certifit.loops.conjugate_gradients import conjugate_gradients


def _systems(n, p, problems, dtype):
    rng = np.random.default_rng(n)
    X, h, g = rng.normal(size=(n, p)), rng.random((problems, n)), rng.normal(size=(problems, p))
    ridge = rng.random((problems, p)) + 0.5
    H = np.einsum("ni,bn,nj->bij", X, h, X) + ridge[:, :, None] * np.eye(p)
    scale = 1.0 / np.einsum("bii->bi", H)
    return H, [part.astype(dtype) for part in (X, h, ridge, scale, g)]


@pytest.mark.parametrize(("n", "p", "problems"), [(1, 1, 1), (3, 2, 2), (4, 5, 3), (7, 3, 1), (30, 9, 5)])
@pytest.mark.parametrize(("dtype", "tol"), [(np.float64, 1e-11), (np.float32, 1e-4)])
def test_steps_solve_the_systems_and_say_what_is_left(n, p, problems, dtype, tol):
    H, data = _systems(n, p, problems, dtype)
    g, step, rest = data[-1], *np.empty((2, problems, p), dtype)
    assert conjugate_gradients(*data, (0.1 * tol) ** 2, 4 * p + 10, step, rest)
    np.testing.assert_allclose(step, -np.linalg.solve(H, g[..., None].astype(float))[..., 0], atol=tol)
    np.testing.assert_allclose(rest, -g - np.einsum("bij,bj->bi", H, step), atol=tol)


def test_each_problem_ends_when_enough_is_gone():
    H, data = _systems(40, 12, 4, np.float64)
    scale, g = data[3:]
    g[1] = 0.0  # nothing to do
    step, rest = np.empty((2, 4, 12))
    assert conjugate_gradients(*data, 0.09, 100, step, rest)
    size = lambda r: np.einsum("bp,bp,bp->b", r, scale, r)  # noqa: E731
    assert np.all(size(rest) <= 0.09 * size(g))
    assert np.all(size(rest)[[0, 2, 3]] > 1e-6 * size(g)[[0, 2, 3]])
    np.testing.assert_array_equal(step[1], 0.0)
    np.testing.assert_allclose(rest, -g - np.einsum("bij,bj->bi", H, step), atol=1e-12)


def test_too_few_turns_are_told():
    _, data = _systems(40, 12, 4, np.float64)
    assert not conjugate_gradients(*data, 1e-20, 2, *np.empty((2, 4, 12)))


def test_what_is_no_number_ends():
    _, data = _systems(4, 2, 1, np.float64)
    data[-1][:] = np.nan
    step, rest = np.empty((2, 1, 2))
    assert conjugate_gradients(*data, 0.09, 10, step, rest)
    assert np.isnan(rest).all()
