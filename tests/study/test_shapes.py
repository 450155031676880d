"""Shapes of an additive model add up to its score."""

from __future__ import annotations

import numpy as np
import pytest

from certifit.study import examine, run
from certifit.study._design import Design
from certifit.study._plan import choose_candidates, plan_work
from certifit.study._runner import make_pipeline
from certifit.study._shapes import shapes

RNG = np.random.default_rng(0)
N = 400


def table():
    day = np.datetime64("2021-01-01") + RNG.integers(0, 700, N).astype("timedelta64[D]")
    age = np.where(RNG.random(N) < 0.1, np.nan, RNG.uniform(20, 80, N).round())
    ward = RNG.choice(["north", "south", "east"], N)
    sick = RNG.choice(["yes", "no"], N)
    signal = np.sin(np.nan_to_num(age, nan=50) / 10) + (ward == "north") - 0.5 * (sick == "yes")
    return {"age": age, "ward": ward, "sick": sick, "day": day}, signal


def fitted(columns, y, name="additive model"):
    facts = examine(columns | {"y": y}, "y")
    work = plan_work(facts, Design().read(facts), 3, 0)
    candidate = next(c for c in choose_candidates(facts, [name])[0] if c.name == name)
    return make_pipeline(candidate, work).fit(work.X, work.y), work


def value_at(shape, cell, line):
    """A shape read off at one cell of the features' matrix."""
    return np.interp(cell, shape["at"], shape["add"][line])


@pytest.mark.parametrize("kind", ["numbers", "two classes", "three classes"])
def test_shapes_add_up_to_the_score(kind):
    columns, signal = table()
    noisy = signal + 0.2 * RNG.normal(size=N)
    cuts = {"numbers": None, "two classes": [0.5], "three classes": [0.0, 0.8]}[kind]
    y = noisy if cuts is None else np.array(["low", "mid", "top"])[np.digitize(noisy, cuts)]
    model, work = fitted(columns, y)
    found = shapes(model, work)
    encoder, basis, last = (step for _, step in model.steps)
    Z = encoder.transform(work.X)
    names = list(encoder.feature_names_)
    coef = np.atleast_2d(last.coef_)
    flip = -1.0 if kind == "two classes" and work.positive == work.classes[0] else 1.0
    for line, row in enumerate(coef):
        score = flip * (basis.transform(Z) @ row)
        added = np.zeros(N)
        for shape in found["shapes"]:
            if shape["rows"]:
                added += value_at(shape, Z[:, names.index(shape["column"])], line)
                continue
            told = dict(zip(shape["at"], shape["add"][line]))
            missing = shape["column"].endswith(" is missing")
            marks = [
                (w, names.index(shape["column"] if missing else f"{shape['column']} = {w}")) for w in told if w != "no"
            ]
            rest = np.full(N, told.get("no", told.get("(others)", 0.0)))
            for word, j in marks:
                rest = np.where(Z[:, j] == 1, told[word], rest)
            added += rest
        np.testing.assert_allclose(added, score - score.mean(), atol=2e-3 * np.ptp(score))
    assert found["shapes"] == sorted(found["shapes"], key=lambda s: (-s["spread"], s["column"]))


def test_pairs_are_named_and_other_models_have_no_shapes():
    a, b = RNG.uniform(-1, 1, (2, 500))
    model, work = fitted({"a": a, "b": b}, 3 * a * b + 0.05 * RNG.normal(size=500), "additive model with interactions")
    pairs = shapes(model, work)["pairs"]
    assert pairs[0]["columns"] == ["a", "b"]
    assert pairs[0]["spread"] > 0.5
    assert shapes(*fitted({"a": a, "b": b}, a + b * 1.5, "ridge")) is None


def test_the_report_draws_them(tmp_path):
    columns, signal = table()
    study = run(columns | {"y": signal}, "y", models=["additive model"], folds=3, yardstick=False, out=tmp_path)
    page = (tmp_path / "report.html").read_text()
    assert "Contribution of each column" in page
    assert page.count('role="img"') >= len(study.record["inside"]["shapes"]["shapes"])
    assert {"age", "ward", "day (month)"} <= {s["column"] for s in study.record["inside"]["shapes"]["shapes"]}
