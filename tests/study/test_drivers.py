"""What drives a model: importance on held-out rows, dependence, coefficients in own units with intervals."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

from certifit.study import run
from certifit.study._design import Design
from certifit.study._drivers import _Held, alike
from certifit.study._facts import examine
from certifit.study._judge import answers_of
from certifit.study._plan import plan_study, plan_work
from certifit.study._runner import make_pipeline


@pytest.fixture(scope="module")
def numbers():
    rng = np.random.default_rng(0)
    a, b, noise = rng.normal(50, 10, 200), rng.normal(size=200), rng.normal(size=200)
    ward = rng.choice(["north", "south", "west"], 200)
    y = 0.3 * a + 1.0 * b + 2.0 * (ward == "south") + rng.normal(size=200)
    table = {"a": a, "a again": a + 0.1 * rng.normal(size=200), "b": b, "noise": noise, "ward": ward, "y": y}
    return table, run(table, "y", models=["ridge"], folds=5)


def test_columns_that_say_the_same_are_shuffled_together(numbers):
    table, _ = numbers
    facts = examine(table, "y")
    groups = alike(plan_work(facts, Design().read(facts), 5, 0))
    assert groups == [[0, 1], [2], [3], [4]]


def test_importance_is_measured_on_held_out_rows_with_intervals(numbers):
    found = numbers[1].record["drivers"]["importance"]
    assert found[0]["columns"] == ["a", "a again"]
    low, high = found[0]["interval"]
    assert 0 < low < found[0]["lost"] < high
    noise = next(r for r in found if r["columns"] == ["noise"])
    assert noise["interval"][0] < 0.0 < noise["interval"][1] or abs(noise["lost"]) < 0.005


def test_memory_is_not_importance():
    """One neighbour learns noise by heart: shuffling it costs on training rows, and nothing on held-out ones."""
    rng = np.random.default_rng(1)
    x, noise = rng.normal(size=150), rng.normal(size=150)
    found = run({"x": x, "noise": noise, "y": x + 0.1 * rng.normal(size=150)}, "y", models=["decision tree"], folds=5)
    told = {r["columns"][0]: r for r in found.record["drivers"]["importance"]}
    assert told["x"]["interval"][0] > 0.3
    assert abs(told["noise"]["lost"]) < 0.05


@pytest.mark.parametrize("task", ["regression", "two classes", "three classes", "counts"])
def test_a_shuffled_column_changes_answers_as_a_table_with_that_column_shuffled(task, numbers):
    """For every model: features are shuffled instead of columns, and scores changed instead of features."""
    table = numbers[0] | {"day": np.array(["2024-01-01"], dtype="datetime64[D]") + np.arange(200) % 97}
    y, kind = table["y"] - np.min(table["y"]) + 0.1, task.partition(" ")[0]
    cut = {"two": [np.median(y)], "three": np.quantile(y, [0.3, 0.6])}
    table["y"] = np.array(list("abc"))[np.digitize(y, cut[kind])] if kind in cut else y
    if kind == "counts":
        table["y"] = np.random.default_rng(0).poisson(y / 4)
    facts = examine(table, "y", "classification" if kind in cut else task)
    plan = plan_study(facts, None, 5, 0)
    work, rows = plan.work, np.arange(50)
    for candidate in plan.candidates[1:]:
        model = make_pipeline(candidate, work).fit(work.X[50:], work.y[50:])
        held = _Held.of(model, work.X[rows])
        for columns in ([0, 1], [4], [5]):
            moved, order = work.X[rows], np.random.default_rng(3).permutation(50)
            moved[:, columns] = moved[np.ix_(order, columns)]
            found = answers_of(held.model, held.shuffled(columns, np.random.default_rng(3)))
            expected = answers_of(model, moved)
            for a, b in zip((found.scores, found.probabilities), (expected.scores, expected.probabilities)):
                assert (a is None) == (b is None)
                assert a is None or np.allclose(a, b, rtol=1e-9, atol=1e-12), candidate.name
            same = found.labels == expected.labels if kind in cut else np.isclose(found.labels, expected.labels)
            assert np.all(same), candidate.name


def test_dependence_of_a_linear_model_is_its_line(numbers):
    study = numbers[1]
    shown = {d["column"]: d for d in study.record["drivers"]["dependence"]}
    own = dict(zip(study.record["inside"]["names"], study.record["inside"]["own"]["values"][0]))
    at, mean = shown["b"]["at"], shown["b"]["curves"][0]["mean"]
    assert (mean[-1] - mean[0]) / (at[-1] - at[0]) == pytest.approx(own["b"], rel=1e-3)
    assert {"north", "south", "west"} == set(shown["ward"]["at"])
    assert len(shown["b"]["rows"]) == 25
    lines = np.array(shown["b"]["rows"])
    np.testing.assert_allclose(np.diff(lines, axis=1), np.diff(lines[:1], axis=1).repeat(25, 0), atol=1e-3)


def test_own_units_predict(numbers):
    table, study = numbers
    own, names = study.record["inside"]["own"], study.record["inside"]["names"]
    said = np.full(200, own["intercept"][0])
    for name, b in zip(names, own["values"][0]):
        column, _, level = name.partition(" = ")
        said += b * (np.asarray(table[column]) == level if level else np.asarray(table[column], dtype=float))
    np.testing.assert_allclose(said, study.model.predict(table), rtol=1e-9)


def test_effects_are_those_of_statsmodels(numbers):
    table, study = numbers
    rows = {r["name"]: r for r in study.record["inside"]["effects"]["rows"]}
    levels = [n.split(" = ")[1] for n in rows if n.startswith("ward")]
    X = np.column_stack([table[n] for n in ("a", "a again", "b", "noise")] + [table["ward"] == v for v in levels])
    fit = sm.OLS(table["y"], sm.add_constant(X.astype(float))).fit()
    np.testing.assert_allclose([r["estimate"] for r in rows.values()], fit.params[1:], rtol=1e-7)
    np.testing.assert_allclose([r["interval"] for r in rows.values()], fit.conf_int()[1:], rtol=1e-6)
    assert study.record["inside"]["effects"]["intercept"] == pytest.approx(fit.params[0], rel=1e-7)


def test_odds_ratios_are_those_of_statsmodels():
    rng = np.random.default_rng(0)
    age, dose = rng.normal(60, 10, 300), rng.normal(size=300)
    ill = rng.random(300) < 1 / (1 + np.exp(-(0.05 * (age - 60) + dose - 1)))
    table = {"age": age, "dose": dose, "y": np.where(ill, "ill", "well")}
    study = run(table, "y", models=["logistic regression"], folds=8)
    effects = study.record["inside"]["effects"]
    fit = sm.Logit(ill.astype(float), sm.add_constant(np.c_[age, dose])).fit(disp=0)
    rows = effects["rows"]
    assert effects["ratio"] == "odds ratio"
    np.testing.assert_allclose([r["ratio"] for r in rows], np.exp(fit.params[1:]), rtol=1e-6)
    np.testing.assert_allclose([r["ratio_interval"] for r in rows], np.exp(fit.conf_int()[1:]), rtol=1e-5)
    assert "probability" not in study.record["drivers"]["dependence"][0]
    assert study.record["drivers"]["dependence"][0]["curves"][0]["label"] == "ill"


def test_no_intervals_where_none_would_hold():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 20))
    table = {f"x{j}": x[:, j] for j in range(20)} | {"y": x[:, 0] + 0.1 * rng.normal(size=60)}
    effects = run(table, "y", models=["ridge"], folds=3).record["inside"]["effects"]
    assert "too many for 60 rows" in effects["why_not"]
    easy = {
        "x": np.r_[rng.normal(-5, 1, 40), rng.normal(5, 1, 40)],
        "y": ["a"] * 40 + ["b"] * 40,
        "z": rng.normal(size=80),
    }
    told = run(easy, "y", models=["logistic regression"], folds=3, keep=["x"]).record["inside"]["effects"]
    assert "why_not" in told


def test_a_word_and_its_code_are_shuffled_together_and_drawn_rows_are_spread_over_a_sorted_table():
    rng = np.random.default_rng(2)
    sex, rank = rng.integers(0, 2, 120), np.sort(rng.normal(size=120))
    words = np.where(sex == 1, "female", "male")
    table = {"sex": words, "code": sex, "rank": rank, "y": sex + 5.0 * rank + 0.1 * rng.normal(size=120)}
    found = run(table, "y", models=["ridge"], folds=5)
    groups = [set(r["columns"]) for r in found.record["drivers"]["importance"]]
    assert {"sex", "code"} in groups
    shown = next(d for d in found.record["drivers"]["dependence"] if d["column"] in ("sex", "code"))
    drawn = np.array(shown["rows"])[:, 0]
    assert drawn.min() < 5.0 * np.quantile(rank, 0.1)  # the first rows alone would be the smallest
    assert drawn.max() > 5.0 * np.quantile(rank, 0.9)
