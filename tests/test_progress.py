"""Long work inside `certifit.progress` says how far it has come; outside it is silent."""

from __future__ import annotations

import io

import numpy as np
import pytest

import certifit
from certifit._progress import Line, task
from certifit.cluster import KMeans, choose_k
from certifit.density import choose_bandwidth
from certifit.linear_model import LogisticRegression
from certifit.neural import MLPClassifier, MLPRegressor
from certifit.reinforcement import grid_world, policy_iteration, q_learning, sarsa, value_iteration
from certifit.semi_supervised import LabelPropagation, LabelSpreading, SelfTrainingClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = np.where(X[:, 0] > 0, 1, 0)
FEW = np.where(np.arange(60) < 10, Y, -1)
WORLD = grid_world(["...+", ".#.-", "...."], noise=0.1, living_reward=-0.04, discount=0.9)
WORK = {
    "k-means": lambda: KMeans(3, n_init=4, random_state=0).fit(X),
    "choose k": lambda: choose_k(X, [1, 2, 3], references=2, resamples=2, random_state=0),
    "bound": lambda: KMeans(3, n_init=1, random_state=0).fit(X).bound(time_budget=1),
    "bandwidth": lambda: choose_bandwidth(X, [0.2, 0.5]),
    "value iteration": lambda: value_iteration(WORLD),
    "policy iteration": lambda: policy_iteration(WORLD),
    "learning": lambda: q_learning(WORLD, episodes=5, random_state=0),
    "network": lambda: MLPClassifier((4,), solver="adam", max_iter=5, random_state=0).fit(X, Y),
    "labels": lambda: LabelPropagation(gamma=1.0).fit(X, FEW),
}
MORE = {
    "network": lambda: MLPRegressor(hidden_layer_sizes=(4,), solver="lbfgs", max_iter=5, random_state=0).fit(
        X, X[:, 0]
    ),
    "learning": lambda: sarsa(WORLD, episodes=5, random_state=0),
    "labels": lambda: LabelSpreading("knn", n_neighbors=5, solver="propagation", max_iter=2000).fit(X, FEW),
    "fit": lambda: SelfTrainingClassifier(LogisticRegression()).fit(X, FEW),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("what", "work"), [*WORK.items(), *MORE.items()])
def test_long_work_tells(what, work, capsys):
    seen = []
    with certifit.progress(lambda *told: seen.append(told)):
        work()
    mine = [(done, total) for name, done, total in seen if name == what]
    assert mine
    assert [d for d, _ in mine] == sorted(d for d, _ in mine) or what in ("fit", "labels")
    if mine[0][1] is not None:
        assert mine[-1][0] == mine[-1][1]
    seen.clear()
    work()
    assert not seen
    assert "━" not in capsys.readouterr().err  # the first call of a loop may say that it is compiled


def test_a_line_with_a_bar_and_one_without():
    stream = io.StringIO()
    line = Line("k-means", 4, after=0.0, stream=stream)
    line(1)
    line(2)  # too soon after the first
    line(4)
    line.close()
    drawn = stream.getvalue()
    assert drawn.count("\r") == 2
    assert "25 %" in drawn
    assert drawn.endswith("━" * 20 + " 100 %  0:00\n")
    stream = io.StringIO()
    line = Line("fit", after=0.0, stream=stream)
    line(7, 0.25)
    line.close()
    assert stream.getvalue() == "\r  fit          iteration 7, gap 2.5e-01  0:00\n"


def test_short_work_draws_nothing_and_errors_leave_nothing_behind(capsys):
    with certifit.progress():
        KMeans(2, n_init=2, random_state=0).fit(X)
        with pytest.raises(ZeroDivisionError), task("outer", 2):
            raise ZeroDivisionError
    assert "━" not in capsys.readouterr().err
    with task("outside", 3) as tell:
        tell(1)
    assert not capsys.readouterr().err
