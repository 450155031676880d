"""Running a plan: what a deadline allows, and what becomes of failures."""

from __future__ import annotations

import numpy as np
import pytest

from certifit.study import TABLE, _runner
from certifit.study._facts import examine
from certifit.study._plan import StudyPlan, Work, plan_study

WORK = Work(np.zeros((9, 1)), np.zeros(9), None, None, ((np.arange(6), np.arange(6, 9)),) * 3, 3, 0)
PLAN = StudyPlan(tuple(c for c in TABLE if "classification" in c.tasks), WORK)


@pytest.fixture
def pieces(monkeypatch):
    """Pieces of a second of work each, whatever the clock says."""

    def piece(candidate, k, work):
        return _runner.Piece(None, 0.5, {}, 1.0, error="broke" if candidate.name == "perceptron" else "")

    monkeypatch.setattr(_runner, "run_piece", piece)


@pytest.mark.parametrize("seconds", [0.0, 5.0, 12.0, 100.0])
def test_a_budget_decides_how_far_down_the_plan_one_gets(pieces, seconds):
    results = _runner.execute(PLAN, _runner.Allowance(seconds))
    ran = [i for i in PLAN.order() if results[i].pieces]
    assert ran == PLAN.order()[: len(ran)]
    assert all(results[i].complete(3) for i in ran[:-1] if results[i].name != "perceptron")
    assert results[0].complete(3)  # the baseline is never skipped
    if seconds == 12.0:
        assert [r.name for r in results if r.complete(3)][:2] == ["baseline", "logistic regression"]
    if seconds == 100.0:
        assert len(ran) == len(results)


def test_a_busy_machine_changes_nothing_until_the_clock_ends_all(pieces, monkeypatch):
    """Hours pass between pieces: the same models run as long as the work fits in; only the last resort cuts it."""
    now = [0.0]

    def monotonic():
        now[0] += 3600.0
        return now[0]

    monkeypatch.setattr(_runner.time, "monotonic", monotonic)
    free = _runner.execute(PLAN, _runner.Allowance(12.0))
    assert sum(len(r.pieces) for r in free) == 13
    ended = _runner.execute(PLAN, _runner.Allowance(12.0, stop=now[0] + 7 * 3600.0))
    assert 3 <= sum(len(r.pieces) for r in ended) < 13


def test_a_model_that_failed_is_not_tried_on_other_folds(pieces):
    heard = []
    results = _runner.execute(PLAN, progress=lambda done, total, name: heard.append((done, total, name)))
    broken = next(r for r in results if r.name == "perceptron")
    assert broken.error == "broke"
    assert len(broken.pieces) == 1
    assert [done for done, _, _ in heard] == list(range(1, len(heard) + 1))
    assert len(heard) == 3 * len(PLAN.candidates) - 2


@pytest.mark.parametrize("name", ["logistic regression", "additive model"])
def test_one_column_whose_every_penalty_ranks_alike_gets_useful_probabilities(name):
    """With one column all C have the same AUC; the smallest would say about a half for every row."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    table = {"x": x, "y": np.where(x + 0.5 * rng.normal(size=200) > 0, "yes", "no")}
    facts = examine(table, "y")
    plan = plan_study(facts, [name], 3, 0)
    model, chosen = _runner.choose_and_fit(plan.candidates[1], plan.work, np.arange(200))
    p = model.predict_proba(facts.X)[:, 1]
    assert chosen["C"] >= 0.1
    assert p.min() < 0.1
    assert p.max() > 0.9
