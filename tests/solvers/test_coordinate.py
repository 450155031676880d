"""Lasso and elastic net: soft thresholds, paths, every road (Gram, working set, residual) to one answer."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

from certifit._objective import Objective
from certifit.design import CentredColumns, as_design
from certifit.losses import Squared
from certifit.regularizers import L1, mix_of_norms
from certifit.solvers import Options, Task, coordinate, solve_coordinate
from certifit.solvers.coordinate import coordinate_path
from certifit.solvers.proximal import proximal_descent
from tests.problems import CROSS


def _task(ratio=1.0, positive=False, n=40, d=60, strength=4.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-2, 3, size=d)
    y = X[:, :3] @ np.array([1.0, -2.0, 0.5]) / np.abs(X[:, :3]).max(axis=0).max() + rng.normal(size=n)
    objective = Objective(Squared(0.5), mix_of_norms(ratio, positive=positive), strength)
    return Task(objective, as_design(X), y, rng.uniform(0.5, 2.0, size=n))


@pytest.mark.parametrize("factor", [0.5, 1.0])
@pytest.mark.parametrize("ratio", [1.0, 0.4])
@pytest.mark.parametrize("positive", [False, True])
def test_orthogonal_columns_are_thresholded_one_by_one(factor, ratio, positive):
    X, best = CROSS
    task = Task(Objective(Squared(factor), mix_of_norms(ratio, positive=positive), 2.0), as_design(X), X @ best)
    cut, bend = 2.0 * ratio / (8 * factor), 2.0 * (1 - ratio) / (8 * factor)
    want = np.sign(best) * np.maximum(np.abs(best) - cut, 0.0) / (1.0 + bend)
    want = np.maximum(want, 0.0) if positive else want
    np.testing.assert_allclose(solve_coordinate(task, Options(1e-13)).value[0], want, atol=1e-9)


@pytest.mark.parametrize("ratio", [1.0, 0.3])
@pytest.mark.parametrize("positive", [False, True])
def test_every_road_leads_to_one_answer(ratio, positive, monkeypatch):
    task = _task(ratio, positive)
    found = {"set": solve_coordinate(task, Options(1e-12)), "gram": solve_coordinate(task, Options(1e-12), gram=True)}
    sparse = replace(task, design=as_design(scipy.sparse.csr_matrix(task.design.X)))
    found["sparse"] = solve_coordinate(sparse, Options(1e-12))
    found["random"] = solve_coordinate(task, Options(1e-12, random_state=0))
    monkeypatch.setattr(coordinate, "_CAP", 3)
    found["residual"] = solve_coordinate(task, Options(1e-9))
    assert "residual" in found["residual"].stats["method"]
    assert "Gram" in found["gram"].stats["method"]
    least = min(task.value(*f.value) for f in found.values())
    for name, f in found.items():
        assert f.converged, name
        assert task.value(*f.value) - least <= f.stats["gap"] + 1e-12
        assert f.stats["relative_gap"] <= 1e-9


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ratio", [1.0, 0.3])
def test_thin_sparse_columns_are_swept_as_they_are(ratio, weighted):
    rng = np.random.default_rng(5)
    X = scipy.sparse.random(80, 300, 0.04, format="csr", random_state=5)
    objective = Objective(Squared(0.5), mix_of_norms(ratio), 0.05)
    y, s = X @ rng.normal(size=300) + 0.1 * rng.normal(size=80), rng.uniform(0.5, 2.0, 80) if weighted else np.ones(80)
    thin, dense = (Task(objective, as_design(rows), y, s) for rows in (X, X.toarray()))
    strengths = np.geomspace(1.0, 0.05, 4)
    found, known = (coordinate_path(t, Options(1e-11, trace=True), strengths) for t in (thin, dense))
    assert found.stats["method"] == "coordinate descent, residual"
    assert found.converged
    assert found.stats["relative_gap"].max() <= 1e-11
    assert found.trace[-1].gap <= 1e-11
    np.testing.assert_allclose(found.value[0], known.value[0], atol=1e-4)
    far = as_design(X + 100.0 * _ones(X))  # a column whose mean dwarfs its spread is centred, and so dense
    assert not CentredColumns.of(far, None, True).thin


def _ones(X):
    """A stored one in the first column of every row."""
    return scipy.sparse.csr_matrix((np.ones(80), (np.arange(80), np.zeros(80, dtype=int))), shape=X.shape)


def test_agrees_with_proximal_gradient():
    task = _task(0.5, n=30, d=5)
    task = replace(task, design=as_design(task.design.X / np.abs(task.design.X).max(axis=0)))
    a, b = solve_coordinate(task, Options(1e-12)), proximal_descent(task, Options(1e-10))
    np.testing.assert_allclose(a.value[0], b.value[0], atol=1e-4)
    assert abs(task.value(*a.value) - task.value(*b.value)) <= b.stats["gap"] + 1e-12


@pytest.mark.parametrize("shape", [(40, 60), (200, 8)])
def test_a_path_is_its_points(shape):
    task = _task(n=shape[0], d=shape[1])
    strengths = np.geomspace(30.0, 0.3, 7)
    path = coordinate_path(task, Options(1e-11), strengths)
    for i, strength in enumerate(strengths):
        one = replace(task, objective=replace(task.objective, strength=strength))
        alone = solve_coordinate(one, Options(1e-11))
        value = one.value(path.value[0][i], path.value[1][i])
        assert abs(value - one.value(*alone.value)) <= path.stats["gap"][i] + alone.stats["gap"] + 1e-12


def test_above_the_largest_useful_strength_all_is_zero():
    task = _task()
    X, s = task.design.X, task.s
    centred = X - s @ X / s.sum()
    top = np.abs(centred.T @ (s * (task.y - s @ task.y / s.sum()))).max()
    for share, empty in ((1.001, True), (0.99, False)):
        at = replace(task, objective=Objective(Squared(0.5), L1(), share * top))
        assert (not np.any(solve_coordinate(at, Options(1e-12)).value[0])) is empty


def test_a_start_at_the_answer_needs_one_look_and_limits_are_said():
    task = _task()
    first = solve_coordinate(task, Options(1e-10))
    again = solve_coordinate(task, Options(1e-8, trace=True), start=first.value[0])
    assert again.stats["n_iter"] == 1
    assert again.trace[0].objective == pytest.approx(task.value(*first.value), rel=1e-6)
    assert solve_coordinate(task, Options(1e-15, max_iter=1)).status in ("max_iter", "precision", "converged")
