"""Targets that share their columns: blocks are thresholded by their length."""

import numpy as np

from certifit._objective import Objective
from certifit.design import as_design
from certifit.losses import Squared
from certifit.regularizers import L1
from certifit.solvers import Options, Task, solve_coordinate
from certifit.solvers.multitask import solve_multitask
from tests.problems import CROSS


def test_orthogonal_columns_shrink_along_themselves():
    X, _ = CROSS
    best = np.array([[3.0, 4.0], [0.3, 0.4]])  # rows of length 5 and 0.5
    found = solve_multitask(as_design(X), X @ best, np.array([1.0]), fit_intercept=False, tol=1e-13)
    np.testing.assert_allclose(found.value[0][0].T, [[2.4, 3.2], [0.0, 0.0]], atol=1e-9)


def test_one_target_is_the_lasso():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 12)), rng.normal(size=30)
    task = Task(Objective(Squared(0.5), L1(), 0.1 * 30), as_design(X), y)
    found = solve_multitask(as_design(X), y[:, None], np.array([0.1]), tol=1e-12)
    np.testing.assert_allclose(found.value[0][0][0], solve_coordinate(task, Options(1e-12)).value[0], atol=1e-6)


def test_the_gap_bounds_the_distance_and_limits_are_said():
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(25, 40)), rng.normal(size=(25, 3))
    design, alpha = as_design(X), np.array([0.2])

    def value(found):
        W, b = found.value[0][0], found.value[1][0]
        return 0.5 * np.mean(np.sum((Y - X @ W.T - b) ** 2, axis=1)) + 0.2 * np.linalg.norm(W, axis=0).sum()

    rough, fine = solve_multitask(design, Y, alpha, tol=1e-2), solve_multitask(design, Y, alpha, tol=1e-12)
    assert value(rough) - value(fine) <= rough.stats["gap"][0] + 1e-12
    assert fine.converged
