"""Losses with a kink: vertices, duals, boxes."""

from dataclasses import replace

import numpy as np
import pytest

from certifit._objective import Objective
from certifit.design import as_design
from certifit.losses import Absolute, Hinge
from certifit.regularizers import L1, NonNegative, SquaredL2, Zero
from certifit.solvers import Options, Task
from certifit.solvers.interior_point import solve_kinked
from certifit.solvers.splitting import split_descent


def _task(loss, penalty, strength, n=40, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1.0, 10.0, 0.1]
    y = X @ [1.0, -0.2, 0.0] + rng.standard_t(2, size=n)
    return Task(
        Objective(loss, penalty, strength), as_design(X), y if loss.targets == "real" else np.where(y > 0, 1.0, -1.0)
    )


def test_a_linear_programme_ends_at_a_vertex():
    task = _task(Absolute(), Zero(), 0.0)
    w, b = solve_kinked(task, Options(1e-10)).value
    assert np.sum(np.abs(task.scores(w, b) - task.y) < 1e-10) >= 4


@pytest.mark.parametrize("loss", [Absolute(), Hinge()], ids=lambda x: x.name)
@pytest.mark.parametrize("penalty", [L1(), SquaredL2(0.5), NonNegative(L1())], ids=lambda r: r.name)
def test_the_multipliers_prove_the_gap(loss, penalty):
    task = _task(loss, penalty, 4.0)
    found = solve_kinked(task, Options(1e-9))
    bound, _ = task.bound_of(found.stats["dual"] * task.s)
    assert found.converged
    assert 0 <= task.value(*found.value) - bound <= 1e-6 * task.null()


def test_agrees_with_splitting():
    task = _task(Absolute(), L1(), 5.0)
    a, b = solve_kinked(task, Options(1e-10)), split_descent(task, Options(1e-6, 20_000))
    assert task.value(*a.value) <= task.value(*b.value) + 1e-9
    assert task.value(*b.value) - task.value(*a.value) <= b.stats["gap"] + 1e-9


def test_more_columns_than_rows_take_the_other_system():
    rng = np.random.default_rng(1)
    task = Task(Objective(Absolute(), SquaredL2(0.5), 1.0), as_design(rng.normal(size=(8, 20))), rng.normal(size=8))
    found = solve_kinked(task, Options(1e-9))
    assert task.value(*found.value) - task.bound_of(found.stats["dual"])[0] <= 1e-6


def test_rows_without_weight_have_no_multiplier_and_traces_state_the_objective():
    task = replace(_task(Absolute(), L1(), 5.0), weights=np.r_[np.zeros(5), np.ones(35)])
    found = solve_kinked(task, Options(1e-9, trace=True))
    assert not found.stats["dual"][:5].any()
    assert found.trace[-1].objective == pytest.approx(task.value(*found.value), rel=1e-5)
    assert solve_kinked(task, Options(1e-12, max_iter=1)).status == "max_iter"


def test_an_interval_closed_by_rounding_divides_by_no_zero():
    """At a tight tolerance a dual variable came within rounding of its limit; warnings are errors here."""
    from certifit.linear_model import LinearModel

    rng = np.random.default_rng(31)
    n, d = rng.integers(10, 60), rng.integers(1, 6)
    X = rng.normal(size=(n, d))
    y = X @ rng.normal(size=d) + rng.normal(size=n)
    model = LinearModel("absolute", "l2", 0.05, tol=1e-11).fit(X, y)
    assert model.certificate_.relative_gap < 1e-10
