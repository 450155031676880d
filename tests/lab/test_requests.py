"""What the page may ask: limits, malformed requests, and a person's own table."""

import base64
import json

import numpy as np
import pytest

from certifit.lab import Desk, Limits
from certifit.lab._worker import _answered

DESK = Desk(Limits(points=50, rows=1000))
GOOD = {"id": 1, "kind": "frame", "scene": "perceptron", "points": [[0, 0, 0], [1, 1, 1]], "view": [-1, 2, -1, 2]}


def problem(request):
    return DESK.answer(request)[0].get("problem")


@pytest.mark.parametrize(
    "change",
    [
        {"scene": "nothing"},
        {"scene": ["perceptron"]},
        {"points": "many"},
        {"points": [[0, 0, 0]] * 51},
        {"points": [[0, 0]]},
        {"points": [[0, "a", 0]]},
        {"points": [[0, float("nan"), 0]]},
        {"points": [[0, 1e200, 0]]},
        {"points": [[0, 0, 0.5]]},
        {"points": [[0, 0, -1]]},
        {"points": [[0, True, 1]]},
        {"view": None},
        {"view": [0, 0, 1, 1]},
        {"view": [0, 1]},
        {"params": [1]},
        {"step": "last"},
        {"step": True},
        {"axes": ["x"]},
        {"axes": ["x" * 1000, "y"]},
        {"classes": [1, 2]},
        {"kind": "delete"},
        {"kind": None},
        {"id": None},
    ],
)
def test_malformed_requests_get_one_sentence(change):
    said = problem({**GOOD, **change})
    assert said, change
    assert said.endswith("."), said
    assert DESK.answer(GOOD)[0].get("problem") is None


@pytest.mark.parametrize("request_", [None, 7, [], "x"])
def test_requests_are_objects(request_):
    assert "A request is an object" in problem(request_)


def test_steps_outside_are_the_nearest():
    assert DESK.answer({**GOOD, "step": -5})[0]["step"] == 0
    reply = DESK.answer({**GOOD, "step": 10**9})[0]
    assert reply["step"] == reply["steps"] - 1


def test_a_fault_of_ours_is_an_answer_too(monkeypatch, capfd):
    desk = Desk()
    monkeypatch.setitem(desk.kinds, "frame", lambda request, rasters: 1 / 0 if request["id"] == 1 else {"x": object()})
    text = json.loads(_answered(desk, json.dumps(GOOD).encode())[4:])
    assert text["problem"]
    text = json.loads(_answered(desk, json.dumps({**GOOD, "id": 2}).encode())[4:])
    assert "failed" in text["problem"]
    assert "TypeError" in capfd.readouterr().err


def table(text, name="t.csv", **more):
    data = base64.b64encode(text.encode() if isinstance(text, str) else text).decode()
    return DESK.answer({"id": 1, "kind": "table", "name": name, "data": data, "scene": "perceptron", **more})[0]


MIXED = "day,dose,group,code,ill\n2024-01-01,1.5,a,007,yes\n2024-01-03,2,b,008,no\n2024-01-05,,a,009,no\n2024-01-09,4,b,010,\n"


def test_columns_are_described():
    found = table(MIXED)["table"]
    assert [c["kind"] for c in found["columns"]] == ["date", "number", "category", "category", "category"]
    assert found["rows"] == 4


def test_dates_are_days_and_gaps_are_left_out_and_said():
    found = table(MIXED, choice={"x": "day", "y": "dose", "target": "ill"})["points"]
    assert found["points"] == [[0.0, 1.5, 1], [2.0, 2.0, 0]]
    assert found["axes"] == ["day (days since 2024-01-01)", "dose"]
    assert found["classes"] == ["no", "yes"]
    assert found["notes"] == ["2 rows with missing values skipped."]


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"x": "group", "y": "dose", "target": "ill"}, "group holds categories: choose one of day, dose"),
        ({"x": "day", "y": "dose"}, "Choose the column that holds the classes"),
        ({"x": "day", "y": "nothing", "target": "ill"}, "There is no column 'nothing'"),
        ({"x": "day", "y": "dose", "target": "code"}, "different values; this scene takes at most 2 classes"),
        (["day"], "Choose two columns"),
    ],
)
def test_what_cannot_be_shown_is_refused_in_one_sentence(choice, words):
    said = table(MIXED, choice=choice)["problem"]
    assert words in said
    assert said.count(". ") == 0


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("../../etc/passwd", "a,b\n1,2\n", "A table is one of"),
        ("/etc/passwd.csv", "", "The table"),
        ("t.csv.gz", "a\n1\n", "A table is one of"),
        (None, "a\n1\n", "A table is one of"),
        ("t.csv", "a\n" + "1\n" * 1001, "has 1001 rows"),
        ("t.parquet", "not parquet", "The table"),
    ],
)
def test_files_arrive_as_bytes_and_no_path_is_opened(name, data, words):
    said = table(data, name)["problem"]
    assert words in said
    assert "tmp" not in said
    broken = DESK.answer({"id": 1, "kind": "table", "name": "t.csv", "data": "%%%"})[0]
    assert "did not arrive whole" in broken["problem"]


def test_principal_components_say_what_was_done():
    rng = np.random.default_rng(0)
    rows = "\n".join(f"{a},{b},{c},{'u' if a > 0 else 'v'}" for a, b, c in rng.normal(size=(40, 3)) * [1, 100, 5])
    found = table(f"a,b,c,kind\n{rows}\n", choice={"components": True, "target": "kind"})["points"]
    assert found["axes"] == ["component 1", "component 2"]
    assert "divided by its standard deviation" in found["notes"][0]
    assert len(found["points"]) == 40
    assert abs(np.mean([p[0] for p in found["points"]])) < 1e-9


def test_large_tables_are_thinned_and_said():
    rows = "\n".join(f"{i},{i * i},{'ab'[i % 2]}" for i in range(200))
    found = table(f"x,y,k\n{rows}\n", choice={"x": "x", "y": "y", "target": "k"})["points"]
    assert len(found["points"]) == 50
    assert found["notes"] == ["50 of 200 rows, evenly spaced: the lab draws no more."]
