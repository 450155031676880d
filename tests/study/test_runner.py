"""Running a plan: what a deadline allows, and what becomes of failures."""

from __future__ import annotations

import numpy as np
import pytest

from certifit.study import TABLE, _runner
from certifit.study._plan import StudyPlan, Work

WORK = Work(np.zeros((9, 1)), np.zeros(9), None, None, ((np.arange(6), np.arange(6, 9)),) * 3, 3, 0)
PLAN = StudyPlan(tuple(c for c in TABLE if "classification" in c.tasks), WORK)


@pytest.fixture
def clock(monkeypatch):
    """Pieces of a second each, on a clock that nothing else moves."""
    now = [0.0]
    monkeypatch.setattr(_runner.time, "monotonic", lambda: now[0])

    def piece(candidate, k, work):
        now[0] += 1.0
        return _runner.Piece(None, 0.5, {}, 1.0, error="broke" if candidate.name == "perceptron" else "")

    monkeypatch.setattr(_runner, "run_piece", piece)
    return now


@pytest.mark.parametrize("deadline", [0.0, 5.0, 12.0, 100.0])
def test_a_deadline_decides_how_far_down_the_plan_one_gets(clock, deadline):
    results = _runner.execute(PLAN, deadline)
    ran = [i for i in PLAN.order() if results[i].pieces]
    assert ran == PLAN.order()[: len(ran)]
    assert all(results[i].complete(3) for i in ran[:-1] if results[i].name != "perceptron")
    assert results[0].complete(3)  # the baseline is never skipped
    if deadline == 12.0:
        assert [r.name for r in results if r.complete(3)][:2] == ["baseline", "logistic regression"]
    if deadline == 100.0:
        assert len(ran) == len(results)


def test_a_model_that_failed_is_not_tried_on_other_folds(clock):
    heard = []
    results = _runner.execute(PLAN, progress=lambda done, total, name: heard.append((done, total, name)))
    broken = next(r for r in results if r.name == "perceptron")
    assert broken.error == "broke"
    assert len(broken.pieces) == 1
    assert [done for done, _, _ in heard] == list(range(1, len(heard) + 1))
    assert len(heard) == 3 * len(PLAN.candidates) - 2
