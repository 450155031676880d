"""The summary on top of a report: its first lines are those that a decision needs."""

from __future__ import annotations

from certifit.study._summary import summary


def _share(value):
    return {"value": value, "interval": [value - 0.1, value + 0.1]}


def _record():
    rows = [{"label": name, "recall": _share(0.6), "precision": _share(0.7)} for name in ("no", "yes")]
    lines = [
        "90 rows",
        "accuracy 0.8",
        "AUC 0.9",
        "no: recall 0.9",
        "yes: recall 0.4",
        "predicting yes from 0.2: recall 0.9",
    ]
    return {
        "classes": {
            "accuracy": _share(0.8),
            "commonest": {"label": "no", "share": 0.66},
            "roc": {"positive": "yes"},
            "classes": rows,
        },
        "test": {"lines": lines},
        "comparison": {},
        "proofs": {"certificates": []},
        "verdict": {"winner": "logistic regression"},
    }


def test_of_a_test_table_the_class_to_find_is_told():
    told = {line["head"]: line["text"] for line in summary(_record())}
    assert list(told) == ["Kinds of errors", "On the test table"]
    assert told["Kinds of errors"].startswith("80.0 % (70.0 to 90.0) of rows")
    assert told["On the test table"] == "90 rows; accuracy 0.8; AUC 0.9; yes: recall 0.4."


def test_a_threshold_that_was_asked_for_comes_early_and_is_judged_on_the_test_table():
    told = {
        line["head"]: line["text"] for line in summary(_record() | {"threshold": {"text": "Predict yes from 0.2."}})
    }
    assert list(told) == ["Kinds of errors", "Threshold", "On the test table"]
    assert told["Kinds of errors"].startswith("By the larger probability, 80.0 %")
    assert told["On the test table"].endswith("yes: recall 0.4; predicting yes from 0.2: recall 0.9.")
