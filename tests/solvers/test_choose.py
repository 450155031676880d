"""Every solver on every problem it fits, against minima known by hand."""

import numpy as np
import pytest

from certifit._objective import Objective
from certifit.design import as_design
from certifit.exceptions import PairingError
from certifit.losses import Absolute, Exponential, Hinge, Logistic, Squared, SquaredHinge
from certifit.regularizers import L1, PNorm, SquaredL2, Zero
from certifit.solvers import Options, Task
from certifit.solvers.choose import METHODS, choose_solver
from tests.problems import PAIR_NAMES, PAIRS, PROBLEMS, solve, twice

ROUGH = {"sgd": 5e-2, "splitting": 1e-6, "proximal": 1e-6, "gradient_descent": 1e-6}


@pytest.mark.parametrize(("method", "known"), PAIRS, ids=PAIR_NAMES)
def test_the_known_minimum_is_found(method, known):
    found = solve(method, known)
    w, b = found.value
    room = ROUGH.get(method.name, 1e-9) * max(known.value, 1.0)
    assert known.value - 1e-12 <= known.task.value(w, b) <= known.value + room
    assert known.task.value(known.w, known.b) == pytest.approx(known.value, rel=1e-12)
    if method.name not in ROUGH:
        np.testing.assert_allclose(np.append(w, b), np.append(known.w, known.b), atol=1e-6)


@pytest.mark.parametrize(("method", "known"), PAIRS, ids=PAIR_NAMES)
def test_the_gap_that_is_reported_is_a_bound(method, known):
    found = solve(method, known, tol=1e-4)
    w, b = found.value
    gap = found.stats.get("gap", np.nan)
    proved = known.task.objective.strength > 0 and method.name not in ("newton", "closed_form")
    if proved and found.converged:
        assert known.task.value(w, b) - known.value <= gap + 1e-12
        assert gap <= 1e-4 * known.task.null() * (1 + 1e-9)
    else:
        assert known.task.value(w, b) >= known.value - 1e-12


@pytest.mark.parametrize("known", PROBLEMS, ids=lambda k: k.name)
def test_weight_k_is_k_copies(known):
    objective = known.task.objective
    method = choose_solver(objective.loss, objective.regularizer, weighted=True)
    rng = np.random.default_rng(0)
    weighted, copied = twice(known.task, rng.integers(1, 4, size=len(known.task.y)))
    values = []
    for task in (weighted, copied):
        found = method.run(task, Options(1e-9, 20_000))
        values.append(task.value(*found.value))
    assert values[0] == pytest.approx(values[1], rel=1e-7, abs=1e-9)


def test_best_first_and_named_refusals():
    assert choose_solver(Squared(), SquaredL2()).name == "closed_form"
    assert choose_solver(Squared(), PNorm(2.0)).name == "proximal"
    assert choose_solver(Logistic(), Zero()).name == "newton"
    with pytest.raises(PairingError, match="splitting"):
        choose_solver(Absolute(), PNorm(2.0), "newton")
    with pytest.raises(ValueError, match="Unknown solver"):
        choose_solver(Squared(), L1(), "magic")


def test_every_problem_has_two_solvers_or_a_reason():
    served = {k.name: [m.name for m in METHODS if (m, k) in PAIRS] for k in PROBLEMS}
    assert all(served.values())
    assert sum(len(v) > 1 for v in served.values()) >= len(PROBLEMS) - 3


def test_exponential_type_losses_cannot_overflow():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 3)) * 1e3
    y = np.where(X[:, 0] + rng.normal(size=30) * 1e3 > 0, 1.0, -1.0)
    for loss in (Exponential(), Logistic(), SquaredHinge()):
        for solver in ("newton", "proximal", "sgd"):
            task = Task(Objective(loss, SquaredL2(), 3.0), as_design(X), y)
            found = choose_solver(loss, SquaredL2(), solver).run(task, Options(1e-6, 200, 5.0, False, 0))
            assert np.all(np.isfinite(found.value[0]))
            assert np.isfinite(task.value(*found.value))


def test_hinge_by_interior_point_and_newton_on_logistic():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] + rng.normal(size=60) > 0, 1.0, -1.0)
    for loss in (Hinge(), Logistic()):
        task = Task(Objective(loss, SquaredL2(0.5), 6.0), as_design(X), y)
        found = choose_solver(loss, SquaredL2(0.5)).run(task, Options(1e-10))
        assert found.converged
        other = choose_solver(loss, SquaredL2(0.5), "sgd").run(task, Options(1e-6, 300, random_state=0))
        assert task.value(*found.value) <= task.value(*other.value) + 1e-9


def test_every_method_serves_some_pairing():
    losses = [Squared(), Absolute(), Hinge(), Logistic(), Exponential()]
    for method in METHODS:
        assert any(method.fits(loss, r, False) for loss in losses for r in (Zero(), SquaredL2(), L1(), PNorm(3.0)))
