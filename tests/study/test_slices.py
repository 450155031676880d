"""Where a model fails: slices with intervals that hold together; evaluate by column, training tables, drift."""

from __future__ import annotations

import numpy as np
import pytest

from certifit.files import Column
from certifit.study import evaluate, run
from certifit.study._slices import slices

COLUMNS = [Column("ward", "category", ("a", "b", "c", "d", "e")), Column("age", "number"), Column("sex", "boolean")]


def table(rng, rows):
    return np.column_stack([rng.integers(0, 5, rows), rng.normal(size=rows), rng.integers(0, 2, rows)]).astype(float)


def false_alarms(rounds, seed):
    """Shares of tables whose errors do not depend on any column in which some slice is called different."""
    rng = np.random.default_rng(seed)
    called = 0
    for _ in range(rounds):
        found = slices(table(rng, 400), COLUMNS, rng.random(400) < 0.2)
        called += any(not row["interval"][0] <= 0.2 <= row["interval"][1] for row in found)
    return called / rounds


def test_intervals_hold_together():
    assert false_alarms(150, 0) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 150)


@pytest.mark.slow
def test_intervals_hold_together_in_many_tables():
    assert false_alarms(3_000, 1) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 3_000)


def test_a_bad_ward_is_found():
    rng = np.random.default_rng(0)
    X = table(rng, 600)
    X[::7, 1] = np.nan
    found = slices(X, COLUMNS, rng.random(600) < np.where(X[:, 0] == 3, 0.5, 0.1))
    assert found[0]["name"] == "ward = d"
    assert found[0]["differs"]
    names = [row["name"] for row in found]
    assert "age is missing" in names
    assert sum(name.startswith(("age", "−0", "-0")) or "< age" in name for name in names) == 4
    assert sum(row["rows"] for row in found if row["column"] == "ward") == 600


@pytest.fixture(scope="module")
def wards():
    rng = np.random.default_rng(0)
    x, ward = rng.normal(size=(2, 400)), rng.choice(["north", "south"], (2, 400))
    noise = np.where(ward == "north", 3.0, 0.2) * rng.normal(size=(2, 400))
    tables = [{"x": x[k], "ward": ward[k], "note": ["a", "b"] * 200, "y": x[k] + noise[k]} for k in range(2)]
    return tables, run(tables[0], "y", models=["ridge"], folds=5, drop=["note"])


def test_a_study_says_where_it_fails(wards):
    worst = wards[1].record["slices"]["slices"][0]
    assert worst["name"] == "ward = north"
    assert worst["differs"]


def test_evaluate_by_column_and_training_table(wards):
    (old, new), study = wards
    lines = evaluate(study.model, new, by=["ward", "note"])
    assert lines[0] == "400 rows"
    assert not any("training table" in line for line in lines)
    north = next(line for line in lines if line.strip().startswith("ward = north"))
    assert north.endswith("differs")
    assert not next(line for line in lines if "note = a" in line).endswith("differs")
    assert not any(line.startswith("drifted") for line in lines)
    assert "this is the training table" in evaluate(study.model, old)[1]
    half = {k: np.concatenate([np.asarray(old[k])[:200], np.asarray(new[k])[:200]]) for k in old}
    assert "50 % of the rows were in the training table" in evaluate(study.model, half)[1]


def test_drift_is_named(wards):
    (_, new), study = wards
    moved = new | {"x": new["x"] + 1.5}
    assert [line.split(":")[1] for line in evaluate(study.model, moved) if line.startswith("drifted")] == [" x"]
    closed = new | {"ward": ["south"] * 400}
    assert any(line.startswith("drifted: ward: ") and "was" in line for line in evaluate(study.model, closed))
    holes = new | {"x": np.where(np.arange(400) % 3 == 0, np.nan, new["x"])}
    assert any("missing in 34 % of rows, was 0 %" in line for line in evaluate(study.model, holes))


def test_drift_is_seldom_a_false_alarm():
    from certifit.files import Schema, TableModel
    from certifit.study._drift import drifted, remember

    rng = np.random.default_rng(0)
    schema, alarms = Schema(tuple(COLUMNS)), 0
    for _ in range(60):
        known = remember(table(rng, 300), np.zeros(300), schema, 0)
        alarms += bool(drifted(TableModel(None, schema, {"training": known}), table(rng, 200)))
    assert alarms <= 3


def test_few_values_are_slices_of_their_own():
    x = np.repeat([[0.0], [1.0], [np.nan]], 40, axis=0)
    found = slices(x, [Column("code", "number")], np.arange(120) % 4 == 0)
    assert {s["name"] for s in found} == {"code = 0", "code = 1", "code is missing"}


def test_evaluate_by_a_column_that_never_varies_says_so(wards):
    (_, new), study = wards
    table = {k: v[:50] for k, v in new.items()} | {"ward": ["north"] * 50}
    assert any("ward is the same in all of them" in line for line in evaluate(study.model, table, by=["ward"]))
