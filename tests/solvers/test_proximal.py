"""Step by step: proximal gradient, splitting and stochastic descent stop by a gap they prove."""

from dataclasses import replace

import numpy as np
import pytest

from certifit._objective import Objective
from certifit.design import as_design
from certifit.losses import Absolute, Squared
from certifit.regularizers import PNorm, SquaredL2
from certifit.solvers import Options, Task
from certifit.solvers.gradient_descent import descend
from certifit.solvers.least_squares import solve_quadratic
from certifit.solvers.proximal import proximal_descent
from certifit.solvers.sgd import sgd
from certifit.solvers.splitting import split_descent

ROADS = [proximal_descent, descend, sgd]


def _ridge(n=40, d=3, stated="mean"):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = X @ rng.normal(size=d) + 2 + rng.normal(size=n)
    return Task(Objective(Squared(), SquaredL2(), 0.2 * n, stated=stated), as_design(X), y)


@pytest.mark.parametrize("stated", ["mean", "sum"])
@pytest.mark.parametrize("road", ROADS, ids=lambda f: f.__name__)
def test_the_gap_is_proved_in_the_units_that_are_stated(road, stated):
    task = _ridge(stated=stated)
    best = task.value(*solve_quadratic(task).value)
    found = road(task, Options(1e-3, 3000, random_state=0, trace=True))
    assert found.converged
    assert 0 <= task.value(*found.value) - best <= found.stats["gap"] + 1e-9 * best
    assert found.stats["gap"] <= 1e-3 * task.null()
    assert found.trace[-1].objective == pytest.approx(task.value(*found.value), rel=1e-9)


@pytest.mark.parametrize("road", ROADS, ids=lambda f: f.__name__)
def test_limits_are_said(road):
    assert road(_ridge(), Options(1e-15, 2, random_state=0)).status == "max_iter"
    assert road(_ridge(), Options(1e-15, 10**6, time_budget=1e-9, random_state=0)).status == "time_budget"


def test_stochastic_descent_repeats_itself_with_a_seed():
    a, b, c = (sgd(_ridge(), Options(1e-9, 5, random_state=seed)).value[0] for seed in (0, 0, 1))
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)


@pytest.mark.parametrize("weighted", [False, True])
def test_splitting_proves_kinks_with_a_length(weighted):
    task = replace(_ridge(), objective=Objective(Absolute(), PNorm(2.0), 4.0))
    task = replace(task, weights=np.arange(40) % 3 * 1.0 if weighted else None)
    found = split_descent(task, Options(1e-6, 20_000))
    assert found.converged
    bound, _ = task.bound_of(found.stats["dual"] * task.s)
    assert task.value(*found.value) - bound <= 2e-6 * task.null()
