"""Running a plan: what a deadline allows, and what becomes of failures."""

from __future__ import annotations

import os
import sys

import numpy as np
import pytest

from certifit.study import _runner
from certifit.study._facts import examine
from certifit.study._plan import StudyPlan, plan_study


def made(rows: int = 60) -> StudyPlan:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, 2))
    table = {"a": x[:, 0], "b": x[:, 1], "y": np.where(x[:, 0] + rng.normal(size=rows) > 0, "yes", "no")}
    return plan_study(examine(table, "y"), None, 3, 0, yardsticks=rows < 60)


PLAN = made()


@pytest.fixture
def pieces(monkeypatch):
    """Pieces of a second of work each, whatever the clock says."""

    def piece(candidate, k, work):
        return _runner.Piece(None, 0.5, {}, 1.0, error="broke" if candidate.name == "perceptron" else "")

    monkeypatch.setattr(_runner, "run_piece", piece)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.4, 1.0])
def test_a_budget_decides_how_far_down_the_plan_one_gets(pieces, share):
    """By estimated work: what fits in runs on all folds, in the order of the plan, and the rest is named."""
    whole = sum(PLAN.seconds(c) for c in PLAN.candidates)
    plan = PLAN.within(share * whole * (1 + 1e-9))
    names = [c.name for c in plan.candidates]
    assert names[0] == "baseline"  # never skipped
    assert sum(PLAN.seconds(c) for c in plan.candidates[1:]) <= share * whole
    assert {name for name, why in plan.skipped if "it needs about" in why} == {c.name for c in PLAN.candidates} - {
        *names
    }
    assert len(names) == (len(PLAN.candidates) if share == 1.0 else 1 if share == 0.0 else len(names))
    results = _runner.execute(plan)
    assert all(r.complete(3) for r in results if r.name != "perceptron")


def test_a_slow_machine_changes_nothing_until_the_clock_ends_all(pieces, monkeypatch):
    """Hours pass between pieces, and each is said to take hours of work: the same models run."""
    now = [0.0]

    def monotonic():
        now[0] += 3600.0
        return now[0]

    monkeypatch.setattr(_runner.time, "monotonic", monotonic)
    monkeypatch.setattr(_runner.time, "process_time", monotonic)
    plan = PLAN.within(1.0)
    free = _runner.execute(plan)
    assert sum(len(r.pieces) for r in free) == 3 * len(plan.candidates) - 2  # the perceptron fails at once
    ended = _runner.execute(plan, stop=now[0] + 7 * 3600.0)
    assert 3 <= sum(len(r.pieces) for r in ended) < 13
    assert ended[0].complete(3)


def test_a_model_that_failed_is_not_tried_on_other_folds(pieces):
    heard = []
    results = _runner.execute(PLAN, progress=lambda done, total, name: heard.append((done, total, name)))
    broken = next(r for r in results if r.name == "perceptron")
    assert broken.error == "broke"
    assert len(broken.pieces) == 1
    assert [done for done, _, _ in heard] == sorted(done for done, _, _ in heard)
    assert heard[-1][:2] == (1000, 1000)
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


@pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux only")
@pytest.mark.parametrize("workers", [2, 4])
def test_copies_of_this_process_find_the_same(monkeypatch, workers):
    plan = made(59)  # with yardsticks
    here = _runner.execute(plan)
    monkeypatch.setattr(_runner._copies, "possible", lambda: True)
    beside = _runner.execute(plan, workers=workers)
    assert [r.name for r in beside] == [r.name for r in here]
    for a, b in zip(here, beside):
        assert sorted(b.pieces) == [0, 1, 2]
        np.testing.assert_array_equal(a.scores, b.scores)
        assert [a.pieces[k].chosen for k in range(3)] == [b.pieces[k].chosen for k in range(3)]


@pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux only")
def test_what_a_copy_does_not_finish_is_done_here(monkeypatch):
    """Copies that end at their second piece, a model that fails, and no time at all."""
    here, run = os.getpid(), {"pieces": 0}

    def piece(candidate, k, work):
        run["pieces"] += 1
        if os.getpid() != here and run["pieces"] > 1:
            os._exit(1)
        return _runner.Piece(None, 0.5, {}, 1.0, error="broke" if candidate.name == "perceptron" else "")

    monkeypatch.setattr(_runner, "run_piece", piece)
    monkeypatch.setattr(_runner, "warm", lambda plan: None)
    monkeypatch.setattr(_runner._copies, "possible", lambda: True)
    results = _runner.execute(PLAN, workers=2)
    assert all(r.complete(3) for r in results if r.name != "perceptron")
    late = _runner.execute(PLAN, stop=0.0, workers=2)
    assert late[0].complete(3)
    assert not any(r.pieces for r in late[1:])
