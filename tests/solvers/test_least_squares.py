"""Least squares: every road to one answer, and what rank does."""

import numpy as np
import pytest
import scipy.sparse

from certifit._objective import Objective
from certifit.design import as_design
from certifit.losses import Squared
from certifit.regularizers import NonNegative, SquaredL2
from certifit.solvers import Task, solve_least_squares
from certifit.solvers.least_squares import solve_quadratic
from tests.problems import PROBLEMS


@pytest.mark.parametrize("name", ["least squares", "ridge", "ridge towards 3", "w ≥ 0"])
def test_known_minima(name):
    known = next(k for k in PROBLEMS if k.name == name)
    w, b = solve_quadratic(known.task).value
    np.testing.assert_allclose(np.append(w, b), np.append(known.w, known.b), rtol=1e-12)


@pytest.mark.parametrize("method", ["cholesky", "qr", "svd", "lsmr"])
@pytest.mark.parametrize("alpha", [0.0, 3.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_roads_agree_and_the_gradient_vanishes(method, alpha, weighted):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(30, 4)) + 5, rng.normal(size=(30, 2))
    s = rng.integers(0, 3, size=30).astype(float) if weighted else np.ones(30)
    prior = rng.normal(size=(2, 4))
    W, b = solve_least_squares(
        as_design(scipy.sparse.csr_matrix(X) if method == "lsmr" else X), Y, s, alpha=alpha, prior=prior, method=method
    ).value
    R = Y - X @ W.T - b
    np.testing.assert_allclose(X.T @ (s[:, None] * R), alpha * (W - prior).T, atol=1e-8)
    np.testing.assert_allclose(s @ R, 0.0, atol=1e-9)


def test_dependent_columns_give_the_least_norm():
    rng = np.random.default_rng(1)
    A = rng.normal(size=(20, 2))
    X, y = np.column_stack([A, A[:, 0]]), rng.normal(size=20)
    found = solve_least_squares(as_design(X), y[:, None], fit_intercept=False)
    assert found.stats["rank"] == 2
    np.testing.assert_allclose(found.value[0][0], np.linalg.pinv(X) @ y, atol=1e-10)


def test_wide_ridge_equals_its_dual_form():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(6, 15)), rng.normal(size=6)
    found = solve_least_squares(as_design(X), y[:, None], alpha=2.0, fit_intercept=False)
    assert found.stats["method"] == "dual cholesky"
    np.testing.assert_allclose(found.value[0][0], X.T @ np.linalg.solve(X @ X.T + 2 * np.eye(6), y), rtol=1e-9)


def test_non_negative_meets_the_conditions_of_optimality():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(25, 6)), rng.normal(size=25)
    task = Task(Objective(Squared(), NonNegative(SquaredL2()), 1.0), as_design(X), y)
    w, b = solve_quadratic(task).value
    g = task.slope(w, b) + 2 * task.lam * w
    assert np.all(w >= 0)
    assert np.all(g >= -1e-10)
    np.testing.assert_allclose(g * w, 0.0, atol=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_large_ridge_on_nearly_dependent_columns_needs_no_qr(weighted):
    rng = np.random.default_rng(0)
    levels = np.eye(20)[rng.integers(20, size=40_000)]
    x = rng.normal(size=(40_000, 1))
    X = np.hstack([levels, x, x + 1e-4 * rng.normal(size=x.shape), levels[:, :10] * x])
    Y = x**2 + levels[:, :1]
    weights = rng.uniform(0.5, 2.0, size=len(X)) if weighted else None
    found = solve_least_squares(as_design(X), Y, weights, alpha=0.01)
    careful = solve_least_squares(as_design(X), Y, weights, alpha=0.01, method="qr")
    assert found.stats["method"] == "cholesky"
    assert found.stats["condition"] > 1e3  # of the columns: too large for normal equations without refinement
    assert np.abs(X @ (found.value[0] - careful.value[0]).T + found.value[1] - careful.value[1]).max() < 1e-9
