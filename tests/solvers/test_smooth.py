"""Newton's methods on smooth losses: known minima, warm starts, existence, the two gears."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

from certifit._objective import Objective
from certifit.design import as_design
from certifit.losses import Logistic, Softmax
from certifit.regularizers import L1, SquaredL2, Zero, mix_of_norms
from certifit.solvers import Options, Task
from certifit.solvers.newton import ON_A_SHARE
from certifit.solvers.smooth import null_value, solve_smooth
from tests.problems import POISSON, PROBLEMS

SMOOTH = [k for k in PROBLEMS if k.task.objective.loss.smooth and k.task.objective.regularizer.name in ("l2", "none")]


@pytest.mark.parametrize("known", [*SMOOTH, POISSON], ids=lambda k: k.name)
def test_known_minima(known):
    W, b = solve_smooth(known.task, Options(1e-14)).value
    np.testing.assert_allclose(np.append(W, b), np.append(known.w, known.b), rtol=1e-7, atol=1e-8)


def test_an_l1_part_is_met_exactly():
    known = next(k for k in PROBLEMS if k.name == "logistic and l1")
    W, b = solve_smooth(known.task, Options(1e-10)).value
    np.testing.assert_allclose(np.append(W, b), [0.5, 0.0], atol=1e-8)
    heavy = replace(known.task, objective=replace(known.task.objective, strength=4.0))  # the slope at w = 0
    assert solve_smooth(heavy, Options(1e-10)).value[0].tolist() == [[0.0]]


def test_softmax_without_a_penalty_meets_the_shares_of_each_group():
    y = np.array([0, 0, 0, 1, 2, 0, 1, 1, 2, 2])
    X = (np.arange(10) >= 5).astype(float)[:, None]
    task = Task(Objective(Softmax(), Zero(), 0.0, classes=(0, 1, 2)), as_design(X), y)
    W, b = solve_smooth(task, Options(1e-13)).value
    for x, shares in ((0.0, [0.6, 0.2, 0.2]), (1.0, [0.2, 0.4, 0.4])):
        z = np.exp(W[:, 0] * x + b)
        np.testing.assert_allclose(z / z.sum(), shares, atol=1e-7)
    np.testing.assert_allclose(W.sum(axis=0), 0.0, atol=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
def test_many_rows_shift_to_the_other_gear_and_agree_with_few(classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(13_000, 3)) * [1.0, 100.0, 1e-3] + 5.0
    score = (X - 5.0) / [1.0, 100.0, 1e-3] @ rng.normal(size=(3, classes)) + rng.gumbel(size=(13_000, classes))
    code = score.argmax(axis=1)
    loss, names = (Logistic(), None) if classes == 2 else (Softmax(), (0, 1, 2))
    y = np.where(code == 1, 1.0, -1.0) if classes == 2 else code
    task = Task(Objective(loss, SquaredL2(0.5), 1.0, classes=names), as_design(X), y)
    share = solve_smooth(task, Options(1e-12))
    assert share.stats["method"] == ON_A_SHARE
    sparse = replace(task, design=as_design(scipy.sparse.csr_matrix(X)))
    np.testing.assert_allclose(share.value[0], solve_smooth(sparse, Options(1e-12)).value[0], rtol=1e-6, atol=1e-9)


def test_existence_is_seen():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    apart, mixed = np.array([-1.0, -1, 1, 1]), np.array([-1.0, 1, -1, 1])
    free = Objective(Logistic(), Zero(), 0.0)
    assert solve_smooth(Task(free, as_design(X), mixed), Options(1e-12), ask_existence=True).stats["exists"] is True
    assert solve_smooth(Task(free, as_design(X), apart), Options(1e-12), ask_existence=True).stats["exists"] is False


def test_a_warm_start_is_where_it_begins():
    known = next(k for k in SMOOTH if k.name == "logistic and l2")
    cold = solve_smooth(known.task, Options(1e-12, trace=True))
    warm = solve_smooth(known.task, Options(1e-12, trace=True), cold.value)
    assert warm.stats["n_iter"] <= 1 < cold.stats["n_iter"]
    assert warm.trace[0].objective == pytest.approx(known.value, rel=1e-12)


def test_null_value_is_what_constants_pay():
    y = np.array([-1.0, 1.0, 1.0, 1.0])
    task = Task(Objective(Logistic(), mix_of_norms(0.5), 1.0), as_design(np.zeros((4, 1))), y)
    assert null_value(task) == pytest.approx(task.null(), rel=1e-9)
    assert null_value(replace(task, objective=replace(task.objective, fit_intercept=False))) == pytest.approx(np.log(2))
    other = replace(task, objective=Objective(Logistic(), L1(), 1.0, stated="sum"))
    assert null_value(other) == pytest.approx(4 * null_value(task))


def test_limits_are_said():
    known = next(k for k in SMOOTH if k.name == "exponential and none")
    assert solve_smooth(known.task, Options(1e-14, max_iter=1)).status == "max_iter"
    assert solve_smooth(known.task, Options(1e-14, time_budget=1e-9)).status == "time_budget"
