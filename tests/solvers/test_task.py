"""A task's value, slope and lower bound."""

from dataclasses import replace

import numpy as np
import pytest

from certifit._objective import Objective
from certifit.design import as_design
from certifit.losses import Logistic, Poisson, Squared
from certifit.regularizers import L1, SquaredL2, Zero
from certifit.solvers import Task
from tests.problems import PROBLEMS


@pytest.mark.parametrize("known", PROBLEMS, ids=lambda k: k.name)
def test_bound_lies_below_the_minimum_and_meets_it_at_the_optimum(known):
    task, rng = known.task, np.random.default_rng(0)
    for _ in range(5):
        w = known.w + rng.normal(size=len(known.w))
        assert task.bound(w, task.best_intercept(w)) <= known.value + 1e-12
    if task.objective.strength > 0 and task.objective.loss.smooth:
        assert task.bound(known.w, known.b) == pytest.approx(known.value, abs=1e-7)


@pytest.mark.parametrize("loss", [Squared(), Logistic(), Poisson()], ids=lambda x: x.name)
@pytest.mark.parametrize("stated", ["mean", "sum"])
def test_slope_is_the_derivative_of_the_value(loss, stated):
    rng = np.random.default_rng(1)
    y = {"real": rng.normal(size=9), "sign": np.where(rng.random(9) > 0.5, 1.0, -1.0)}.get(loss.targets, np.ones(9))
    objective = Objective(loss, Zero(), 0.0, stated=stated, offset=True)
    task = Task(objective, as_design(rng.normal(size=(9, 3))), y, rng.uniform(0.5, 2, 9), rng.normal(size=9))
    w, step = rng.normal(size=3), 1e-6
    numeric = [(task.value(w + step * e, 0.3) - task.value(w - step * e, 0.3)) / (2 * step) for e in np.eye(3)]
    np.testing.assert_allclose(task.slope(w, 0.3), numeric, rtol=1e-5, atol=1e-8)


def test_the_sum_is_the_mean_times_the_weights():
    rng = np.random.default_rng(2)
    s = rng.uniform(0, 3, 6)
    mean = Task(Objective(Squared(), L1(), 2.0), as_design(rng.normal(size=(6, 2))), rng.normal(size=6), s)
    total = replace(mean, objective=replace(mean.objective, stated="sum"))
    w, b = rng.normal(size=2), 0.7
    assert total.value(w, b) == pytest.approx(s.sum() * mean.value(w, b))
    assert total.bound(w, b) == pytest.approx(s.sum() * mean.bound(w, b))


def test_rows_without_weight_take_no_part():
    X, y = np.arange(8.0).reshape(4, 2), np.arange(4.0)
    task = Task(Objective(Squared(), SquaredL2(), 1.0), as_design(X), y, np.array([1.0, 0.0, 1.0, 1.0]))
    used = task.used()
    assert used.weights is None
    assert used.y.tolist() == [0.0, 2.0, 3.0]
    assert used.value(np.ones(2), 0.5) == pytest.approx(task.value(np.ones(2), 0.5))
