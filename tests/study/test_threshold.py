"""Thresholds by costs and by rule: the cheapest, and recall that is reached as often as it says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from certifit.exceptions import TableError
from certifit.study import decisions, evaluate, run
from certifit.study._threshold import Rule, _cheapest, _cost, _figures, by_rule, in_words, read_costs


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 10), st.booleans()), min_size=2, max_size=40),
    st.floats(0.1, 20),
    st.floats(0.1, 20),
)
def test_no_threshold_is_cheaper(rows, alarm, miss):
    p, happened = np.array([a / 10 for a, _ in rows]), np.array([b for _, b in rows])
    best = _cost(p, happened, _cheapest(p, happened, (alarm, miss)), (alarm, miss))
    tried = [_cost(p, happened, t, (alarm, miss)) for t in np.linspace(-0.05, 1.05, 23)]
    assert best <= min(tried) + 1e-12


def reached(rounds, figure, least, seed):
    """Shares of samples whose threshold reaches what was asked on the true law, and whose interval holds the truth."""
    rng = np.random.default_rng(seed)
    wide = rng.normal(size=200_000)
    good = inside = found = 0
    for _ in range(rounds):
        z = np.concatenate([rng.normal(1, 1, 150), rng.normal(-1, 1, 250)])
        happened = np.arange(400) < 150
        answer = by_rule(expit(z), happened, Rule(figure, least))
        if answer["threshold"] is None:
            continue
        at = np.log(answer["threshold"] / (1 - answer["threshold"]))
        recall, alarms = np.mean(wide + 1 >= at), np.mean(wide - 1 >= at)
        truth = {"recall": recall, "specificity": 1 - alarms}.get(
            figure, 150 * recall / max(150 * recall + 250 * alarms, 1e-12)
        )
        found += 1
        good += truth >= least - 1e-3
        inside += answer["interval"][0] - 1e-3 <= truth <= answer["interval"][1] + 1e-3
    return good / found, inside / found, found


@pytest.mark.parametrize(("figure", "least"), [("recall", 0.9), ("specificity", 0.9), ("precision", 0.7)])
def test_what_must_be_reached_is_reached(figure, least):
    good, inside, found = reached(150, figure, least, 0)
    assert found > 140
    assert good > 0.95 - 3 * np.sqrt(0.95 * 0.05 / found)
    assert inside > 0.95 - 3 * np.sqrt(0.95 * 0.05 / found)


@pytest.mark.slow
@pytest.mark.parametrize(("figure", "least"), [("recall", 0.9), ("specificity", 0.95), ("precision", 0.7)])
def test_what_must_be_reached_is_reached_in_many_samples(figure, least):
    good, inside, found = reached(2_000, figure, least, 1)
    assert min(good, inside) > 0.95 - 3 * np.sqrt(0.95 * 0.05 / found)


def test_what_cannot_be_reached_is_said():
    answer = by_rule(np.linspace(0, 1, 40), np.arange(40) % 2 == 0, Rule("recall", 0.99))
    assert answer["threshold"] is None
    assert in_words(answer, "ill").startswith("No threshold reaches recall ≥ 0.99")


def test_rules_and_costs_are_read():
    assert Rule.read("precision≥90%") == Rule("precision", 0.9)
    assert read_costs("1, 20") == (1.0, 20.0)
    for text in ("recall", "recall > 0.9", "recall >= 2", "speed >= 0.9"):
        with pytest.raises(TableError):
            Rule.read(text)
    for text in ("1", "1,2,3", "1,-2", "one,two"):
        with pytest.raises(TableError):
            read_costs(text)


@pytest.fixture(scope="module")
def ill():
    rng = np.random.default_rng(0)
    x = rng.normal(size=600)
    return {"x": x, "y": np.where(rng.random(600) < expit(1.5 * x - 1.5), "ill", "well")}


def test_costs_move_the_threshold(ill):
    cheap, dear = (
        run(ill, "y", models=["logistic regression"], folds=5, costs=costs).record["threshold"]
        for costs in ((1.0, 1.0), (1.0, 20.0))
    )
    assert dear["threshold"] < cheap["threshold"]
    assert dear["recall"] > 0.9
    assert dear["cost"] < min(dear["never"], dear["always"])
    assert dear["interval"][0] < dear["cost"] < dear["interval"][1]


def test_a_required_recall_leads_to_decisions(ill):
    from certifit.study import decisions

    study = run(ill, "y", models=["logistic regression"], folds=5, require="recall >= 0.9", positive="ill")
    at = study.model.about["threshold"]["threshold"]
    assert study.record["threshold"]["recall"] >= 0.9
    p = np.array([[at, 1 - at], [at - 1e-6, 1 - at + 1e-6]])
    assert dict(decisions(study.model, p))["decision"] == ["ill", "well"]
    with pytest.raises(TableError, match="does not have two"):
        run({"x": ill["x"], "y": ill["x"] + 1}, "y", costs=(1.0, 2.0), keep=["x"])


def test_costs_of_the_threshold_are_judged_on_a_table_too():
    """By `evaluate`, whose line is the mean of what the decisions of `predict` cost."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=300)
    table = {"x": x, "y": np.where(x + rng.normal(size=300) > 1, "ill", "well")}
    model = run(table, "y", models=["logistic regression"], folds=4, costs=(1.0, 9.0)).model
    said = dict(decisions(model, model.predict_proba(table)))["decision"]
    flagged, ill = np.array(said) == "ill", table["y"] == "ill"
    line = next(line for line in evaluate(model, table) if line.startswith("predicting ill from a probability of"))
    assert line.endswith(f"cost per row {np.mean((flagged & ~ill) + 9.0 * (~flagged & ill)):.3g}")
    assert f"recall {np.mean(flagged[ill]):.3f} (" in line


def test_costs_for_which_no_model_is_needed_are_named():
    found = {"by": "costs", "threshold": 0.1, "alarms": 1.0, "recall": 1.0, "precision": 0.5, "interval": [0.4, 0.6]}
    found |= {"cost": 0.5, "never": 4.0}
    assert in_words(found | {"always": 0.5}, "ill").endswith("With these costs always flagging costs no more.")
    assert "costs no more" not in in_words(found | {"always": 0.6}, "ill")


def test_the_confusion_matrix_is_that_of_the_threshold():
    p, happened = np.array([0.1, 0.2, 0.3, 0.6, 0.9]), np.array([False, True, False, False, True])
    found = _figures(p, happened, 0.2)
    assert found["matrix"] == [[1, 2], [0, 2]]
    assert (found["recall"], found["precision"], found["alarms"]) == (1.0, 0.5, 0.8)
