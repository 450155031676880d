"""What a study will do is settled before it does anything, by the table alone."""

from __future__ import annotations

import numpy as np
import pytest

from certifit.study import TABLE, examine
from certifit.study._plan import Budget, Step, StudyPlan, Work, plan_study


def table(rows: int, columns: int = 3) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(rows)
    X = rng.normal(size=(rows, columns))
    return {f"x{j}": X[:, j] for j in range(columns)} | {"y": X[:, 0] + rng.normal(size=rows)}


@pytest.mark.parametrize("rows", [40, 400])
def test_every_model_meets_every_fold_once_cheap_ones_first(rows):
    plan = plan_study(examine(table(rows), "y"), None, 4, seed=1)
    steps = plan.steps()
    assert len(set(steps)) == len(steps) == 4 * len(plan.candidates)
    assert steps[:4] == [Step(0, k) for k in range(4)]
    assert plan.candidates[0].name == "baseline"
    names = [plan.candidates[i].name for i in plan.order()]
    assert names.index("ridge") < names.index("nearest neighbours") <= names.index("kernel ridge")
    whole = [s.model for s in steps]
    assert [
        m for k, m in enumerate(whole) if k == 0 or m != whole[k - 1]
    ] == plan.order()  # a model is never interrupted


def test_the_plan_depends_on_the_table_and_the_seed_only():
    facts = examine(table(60), "y")
    one, two = (plan_study(facts, None, None, seed=3) for _ in range(2))
    assert one.steps() == two.steps()
    for a, b in zip(one.work.folds, two.work.folds):
        np.testing.assert_array_equal(a[1], b[1])


def test_models_that_do_not_suit_are_named_with_the_reason():
    plan = plan_study(examine(table(60, 45), "y"), None, 3, seed=0)
    assert ("ridge with squares and products", "45 features are too many for it (at most 40)") in plan.skipped
    assert "ridge with squares and products" not in [c.name for c in plan.candidates]


def test_effort_grows_as_declared():
    kernel = next(c for c in TABLE if c.name == "kernel ridge")
    ridge = next(c for c in TABLE if c.name == "ridge")
    assert kernel.effort(2000, 5) == pytest.approx(10 * kernel.effort(200, 5))
    assert ridge.effort(2000, 5) == ridge.effort(200, 5) < kernel.effort(200, 5)


def test_a_budget_is_shared_in_order():
    budget = Budget(100.0, start=5.0)
    assert (budget.comparison, budget.refit, budget.stop) == (75.0, 15.0, 305.0)
    assert Budget().comparison == Budget().refit == Budget().stop == float("inf")
    assert Budget().spent() >= 0.0


def test_folds_keep_equal_rows_together():
    rng = np.random.default_rng(0)
    x = np.repeat(rng.normal(size=20), 2)
    plan = plan_study(examine({"x": x, "y": np.repeat(rng.normal(size=20), 2)}, "y"), ["ridge"], 5, seed=0)
    assert isinstance(plan, StudyPlan)
    assert isinstance(plan.work, Work)
    for train, test in plan.work.folds:
        assert not set(x[train]) & set(x[test])
