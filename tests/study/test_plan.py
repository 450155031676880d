"""What a study will do is settled before it does anything, by the table alone."""

from __future__ import annotations

import numpy as np
import pytest

from certifit.study import TABLE, examine
from certifit.study._effort import KNOWN, estimated
from certifit.study._models import YARDSTICKS
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


def test_several_workers_begin_with_what_takes_longest():
    plan = plan_study(examine(table(40), "y"), None, 4, seed=1)
    steps = plan.longest_first()
    assert sorted(steps, key=lambda s: (s.model, s.fold)) == sorted(plan.steps(), key=lambda s: (s.model, s.fold))
    seconds = [plan.seconds(plan.candidates[s.model]) for s in steps]
    assert seconds == sorted(seconds, reverse=True)


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


def test_a_model_that_few_rows_leave_out_is_not_blamed_on_the_classes():
    """Interactions need a thousand rows: with 60, seven classes are not the reason."""
    rows = table(60)
    rows["y"] = np.array(list("abcdefg"))[np.arange(60) % 7]
    plan = plan_study(examine(rows, "y"), None, 3, seed=0)
    assert "additive model with interactions" not in {name for name, _ in plan.skipped}
    asked = plan_study(examine(rows, "y"), ["additive model with interactions"], 3, seed=0)
    assert asked.skipped == (("additive model with interactions", "7 classes are too many for it (at most 6)"),)


def test_the_work_of_every_candidate_is_estimated():
    for c in (*TABLE, *YARDSTICKS):
        for task in c.tasks:
            assert c.name in KNOWN["classification" if task == "classification" else "numbers"], c.name
    kernel = next(c for c in TABLE if c.name == "kernel ridge")
    ridge = next(c for c in TABLE if c.name == "ridge")
    assert kernel.seconds(2000, 5) > 10 * kernel.seconds(500, 5)  # more than rows squared would be 16 times
    assert ridge.seconds(2000, 5) < 4 * ridge.seconds(500, 5)
    trees = next(c for c in TABLE if c.name == "decision tree" and "classification" in c.tasks)
    assert trees.seconds(100, 5, 6) == pytest.approx(3 * trees.seconds(100, 5, 2))


def test_a_budget_that_is_short_goes_to_models_that_usually_matter_first():
    """Of 1 000 rows and 1 000 columns, half a minute compares logistic regression rather than its cheaper variants."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000, 1_000))
    table = {f"x{j}": X[:, j] for j in range(1_000)} | {"y": np.where(X[:, 0] > 0, "yes", "no")}
    plan = plan_study(examine(table, "y"), None, None, seed=0)
    names = [c.name for c in plan.within(Budget(30.0).comparison).candidates]
    assert "logistic regression" in names
    assert "linear SVM" not in names


def test_a_budget_is_shared_in_order():
    budget = Budget(100.0, start=5.0)
    assert (budget.comparison, budget.refit, budget.stop) == (75.0, 15.0, 1005.0)
    assert Budget(1.0, start=5.0).stop == 305.0  # a slow start does not end a short study
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


def test_softmax_on_many_columns_is_estimated_by_the_square_of_the_classes():
    two, six = (estimated("logistic regression with squares and products", 1_000, 30, k) for k in (2, 6))
    assert six == pytest.approx(9 * two)
    assert estimated("naive Bayes", 1_000, 30, 6) == pytest.approx(3 * estimated("naive Bayes", 1_000, 30, 2))
