"""Proximal Newton: zeros are exact, and the promise bounds what is left."""

import numpy as np
import pytest
import scipy.sparse as sp

from certifit._objective import Objective
from certifit.design import as_design
from certifit.losses import Logistic, Poisson, Softmax
from certifit.regularizers import mix_of_norms
from certifit.solvers import Options, Task, proximal_newton
from certifit.solvers._smooth_sum import SmoothSum, l1_weights
from certifit.solvers.proximal import proximal_descent
from certifit.solvers.proximal_newton import minimise_l1


@pytest.mark.parametrize("ratio", [1.0, 0.5])
@pytest.mark.parametrize("loss", [Logistic(), Poisson()], ids=lambda x: x.name)
def test_conditions_of_optimality(loss, ratio):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8))
    y = np.where(X[:, 0] + rng.normal(size=60) > 0, 1.0, -1.0) if loss.targets == "sign" else rng.poisson(2, 60) * 1.0
    task = Task(Objective(loss, mix_of_norms(ratio), 5.0 if loss.targets == "sign" else 12.0), as_design(X), y)
    f = SmoothSum.of(task)
    theta = minimise_l1(f, l1_weights(task, f.columns), np.zeros((9, 1)), 1e-14).value
    W, b = f.columns.raw(theta)
    w, lam = W[0], task.lam
    g = task.slope(w, float(b[0])) + lam * (1 - ratio) * w
    used = w != 0
    assert 0 < used.sum() < 8
    np.testing.assert_allclose(g[used], -lam * ratio * np.sign(w[used]), atol=1e-9)
    assert np.all(np.abs(g[~used]) <= lam * ratio + 1e-12)
    assert task.value(w, float(b[0])) - task.bound(w, task.best_intercept(w)) < 1e-8


def test_agrees_with_proximal_gradient_and_says_its_limits():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 4))
    task = Task(Objective(Logistic(), mix_of_norms(1.0), 3.0), as_design(X), np.where(X[:, 0] > 0.1, 1.0, -1.0))
    f = SmoothSum.of(task)
    kappa = l1_weights(task, f.columns)
    W, b = f.columns.raw(minimise_l1(f, kappa, np.zeros((5, 1)), 1e-13).value)
    slow = proximal_descent(task, Options(1e-8))
    assert task.value(W[0], float(b[0])) <= task.value(*slow.value) + 1e-12
    assert task.value(*slow.value) - task.value(W[0], float(b[0])) <= slow.stats["gap"] + 1e-12
    assert minimise_l1(f, kappa, np.zeros((5, 1)), 1e-13, Options(max_iter=1)).status == "max_iter"


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(("strength", "offset"), [(3.0, True), (0.05, True), (0.05, False)])
def test_many_columns_of_which_few_are_used(layout, strength, offset):
    """Far from the minimum more columns want to leave zero than one step lets; in the end none does."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 1500)) * rng.uniform(0.1, 10.0, size=1500)
    y = np.where(X[:, :3] @ [1.0, -1.0, 0.5] + rng.normal(size=80) > 0, 1.0, -1.0)
    task = Task(Objective(Logistic(), mix_of_norms(1.0), strength, fit_intercept=offset), as_design(layout(X)), y)
    f = SmoothSum.of(task)
    found = minimise_l1(f, l1_weights(task, f.columns), np.zeros((f.columns.width, 1)), 1e-12)
    W, b = f.columns.raw(found.value)
    w, g = W[0], task.slope(W[0], float(b[0]))
    assert found.status == "converged"
    assert 0 < np.count_nonzero(w) <= 80
    np.testing.assert_allclose(g[w != 0], -task.lam * np.sign(w[w != 0]), rtol=1e-6)
    assert np.all(np.abs(g[w == 0]) <= task.lam * (1.0 + 1e-6))


def test_a_model_of_some_coordinates_is_that_part_of_the_whole():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 6)) * 3.0 + 1.0, rng.integers(0, 3, 40)
    task = Task(Objective(Softmax(), mix_of_norms(0.5), 2.0, classes=(0, 1, 2)), as_design(X), y)
    f, theta = SmoothSum.of(task), rng.normal(size=(7, 3))
    keep = np.array([True, False, False, True, True, False, True])
    theta[~keep] = 0.0
    Z, part = f.scores(theta), f.among(keep)
    np.testing.assert_allclose(part.scores(theta[keep]), Z, rtol=1e-12)
    H = f.hessian(Z).reshape(3, 7, 3, 7)[:, keep][..., keep].reshape(12, 12)
    np.testing.assert_allclose(part.hessian(Z), H, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("offset", [True, False])
@pytest.mark.parametrize("loss", [Logistic(), Poisson(), Softmax()], ids=lambda x: x.name)
def test_sparse_rows_without_a_hessian(loss, offset, monkeypatch):
    """Sweeps over the rows and sweeps over the Hessian end at the same point."""
    rng = np.random.default_rng(4)
    X = sp.random(150, 60, 0.1, random_state=5, format="csr") * 3.0
    z = X @ np.where(np.arange(60) < 6, 2.0, 0.0)
    y = {"sign": np.where(z + rng.normal(size=150) > 1, 1.0, -1.0), "class": (z > 0.5).astype(int) + (z > 2.0)}
    y = y.get(loss.targets, rng.poisson(np.exp(0.3 * z)).astype(float))
    classes = (0, 1, 2) if loss.targets == "class" else None
    objective = Objective(loss, mix_of_norms(0.8), 2.0, fit_intercept=offset, classes=classes)
    task = Task(objective, as_design(X), y, rng.uniform(0.5, 2.0, 150))
    f = SmoothSum.of(task)
    start, kappa = np.zeros((f.columns.width, f.outputs)), l1_weights(task, f.columns)
    found = []
    for worth in (0, 10**9):  # no sweep over the rows is too dear; every one is
        monkeypatch.setattr(proximal_newton, "_SWEEP", worth)
        assert proximal_newton._thin(f, np.ones(len(start), bool)) == (worth == 0)
        found.append(minimise_l1(f, kappa, start, 1e-14).value)
        if offset and loss.targets == "class":  # equal shifts of all classes change nothing
            found[-1][60] -= found[-1][60].mean()
    assert 0 < np.count_nonzero(found[0]) < found[0].size
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)
    assert np.array_equal(found[0] != 0, found[1] != 0)


def test_sparse_columns_that_depend_on_each_other_end_with_a_hessian(monkeypatch):
    """Sweeps over the rows would take thousands of steps."""
    rng = np.random.default_rng(6)
    X = sp.csr_array(np.outer(rng.normal(size=120), np.ones(12)) + 1e-2 * rng.normal(size=(120, 12)))
    y = np.where(X @ np.ones(12) + 3.0 * rng.normal(size=120) > 0, 1.0, -1.0)
    task = Task(Objective(Logistic(), mix_of_norms(1.0), 1e-3), as_design(X), y)
    f = SmoothSum.of(task)
    monkeypatch.setattr(proximal_newton, "_SWEEP", 0)
    monkeypatch.setattr(proximal_newton, "_SWEEPS", 20)
    formed, descend = [], proximal_newton._descend
    monkeypatch.setattr(proximal_newton, "_descend", lambda *given: formed.append(given) or descend(*given))
    found = minimise_l1(f, l1_weights(task, f.columns), np.zeros((13, 1)), 1e-14)
    assert found.status == "converged"
    assert formed
    W, b = f.columns.raw(found.value)
    assert task.value(W[0], float(b[0])) - task.bound(W[0], float(b[0])) <= 1e-6 * task.null()
