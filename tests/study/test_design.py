"""Designs: groups, time, weights, a test table, the positive class, the metric."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

import certifit as cf
from certifit.files import TableError
from certifit.study import run
from certifit.study._design import group_folds, time_folds
from certifit.study._judge import Answers, measure_named, score


@settings(max_examples=40, deadline=None)
@given(st.integers(30, 120), st.integers(4, 20), st.integers(0, 10**6), st.booleans())
def test_groups_are_never_parted_and_every_row_is_held_out_at_most_once(rows, kinds, seed, classes):
    rng = np.random.default_rng(seed)
    groups, y = rng.integers(0, kinds, rows), rng.integers(0, 2, rows)
    if len(np.unique(groups)) < 3:
        return
    held = np.zeros(rows, dtype=int)
    for train, test in group_folds(y.astype(float) if not classes else y, groups, classes, 3, seed):
        assert not set(groups[train]) & set(groups[test])
        assert len(train) + len(test) == rows
        held[test] += 1
    assert held.max(initial=0) <= 1


@settings(max_examples=40, deadline=None)
@given(st.integers(30, 120), st.integers(5, 60), st.integers(0, 10**6))
def test_time_trains_on_the_past_only(rows, moments, seed):
    rng = np.random.default_rng(seed)
    time, y = rng.integers(0, moments, rows).astype(float), rng.normal(size=rows)
    held = []
    for train, test in time_folds(y, time, False, 4):
        assert time[train].max() < time[test].min()
        assert set(np.flatnonzero(time < time[test].min())) == set(train)  # all of the past
        held.append(test)
    if held:
        whole = np.concatenate(held)
        assert len(set(whole)) == len(whole)


def test_a_study_by_groups_does_not_learn_a_patient_by_heart():
    """Each patient's x and answer are unlike all others': only rows of the same patient tell."""
    rng = np.random.default_rng(0)
    luck, patient = rng.normal(size=40), np.repeat(np.arange(40), 4)
    key = rng.permutation(40).astype(float)
    table = {"patient": patient, "x": key[patient] + 0.01 * rng.normal(size=160), "y": luck[patient]}
    loose = run(table, "y", models=["nearest neighbours"], folds=4, drop=["patient"])
    strict = run(table, "y", models=["nearest neighbours"], folds=4, groups="patient")
    assert loose.record["comparison"]["standings"][0]["mean"] > 0.8
    assert strict.record["verdict"]["winner"] == "baseline"
    assert strict.model.schema.names == ("x",)
    assert any("belong together (--groups)" in r for r in strict.record["data"]["remarks"])
    assert strict.record["settings"]["groups"] == "patient"


def test_a_study_in_time_holds_out_the_later_rows_only():
    rng = np.random.default_rng(0)
    day = np.arange("2020-01-01", "2020-07-19", dtype="datetime64[D]")
    x = rng.normal(size=200)
    table = {"day": day.astype(str), "x": x, "y": 2 * x + 0.3 * rng.normal(size=200)}
    found = run(table, "y", models=["ridge"], folds=4, time="day")
    assert found.record["verdict"]["winner"] == "ridge"
    assert len(found.record["values"]["true"]) == 160  # a fifth is only ever the past
    assert found.record["settings"]["folds"] == 4
    assert "day" not in found.model.schema.names
    labels = np.where(x > 0, "up", "down")
    classes = run(
        {"day": day.astype(str), "x": x + rng.normal(size=200), "y": labels},
        "y",
        models=["logistic regression"],
        time="day",
    )
    assert np.array(classes.record["classes"]["matrix"]).sum() < 200


def test_weights_are_those_of_repeated_rows():
    """A row of weight 3 is three rows: the refitted model, and the proof, speak of the weighted problem."""
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(80, 2)), rng.integers(1, 4, 80)
    y = x @ [1.0, -2.0] + rng.normal(size=80)
    table = {"a": x[:, 0], "b": x[:, 1], "w": w, "y": y}
    found = run(table, "y", models=["least squares"], folds=4, weights="w")
    many = {k: np.repeat(np.asarray(v), w) for k, v in table.items() if k != "w"}
    again = run(many, "y", models=["least squares"], folds=4)
    new = {"a": [0.3, -1.0], "b": [0.1, 2.0]}
    np.testing.assert_allclose(found.model.predict(new), again.model.predict(new), rtol=1e-9)
    assert found.record["proofs"]["certificates"][0]["holds"]
    assert cf.files.verify_model(found.model, table).holds
    assert not cf.files.verify_model(found.model, table | {"w": w[::-1]}).holds
    assert not cf.files.verify_model(found.model, table | {"w": np.ones(80)}).holds


def test_models_without_weights_are_named(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=90)
    table = {"x": x, "w": rng.uniform(0.5, 2, 90), "y": x + rng.normal(size=90) > 0}
    found = run(
        table,
        "y",
        models=["logistic regression", "nearest neighbours"],
        folds=3,
        weights="w",
        out=tmp_path,
    )
    assert ["nearest neighbours", "takes no weights"] in found.record["comparison"]["skipped"]
    assert cf.verify(tmp_path / "model.certifit", table).holds


def test_a_test_table_is_judged_once_at_the_end():
    rng = np.random.default_rng(0)
    x = rng.normal(size=130)
    y = np.where(x + 0.3 * rng.normal(size=130) > 0, "yes", "no")
    found = run(
        {"x": x[:90], "y": y[:90]},
        "y",
        models=["logistic regression"],
        folds=3,
        test={"x": x[90:], "y": y[90:]},
    )
    right = np.mean(found.model.predict({"x": x[90:]}) == y[90:])
    assert found.record["test"]["lines"][0] == "40 rows"
    assert any(line.startswith(f"accuracy {right:.3f}") for line in found.record["test"]["lines"])
    with pytest.raises(TableError, match="lacks 1 column"):
        run({"x": x, "y": y}, "y", test={"z": x, "y": y})


def test_the_positive_class_can_be_named():
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    table = {"x": x, "y": np.where(x + 0.3 * rng.normal(size=120) > 0.7, "ill", "well")}
    for asked in ("ill", "well"):
        found = run(table, "y", models=["logistic regression"], folds=3, positive=asked, metric="f1")
        assert found.record["classes"]["roc"]["positive"] == asked
        assert asked in found.record["measure"]["words"]
    with pytest.raises(TableError, match="no class 'sick'"):
        run(table, "y", positive="sick")
    with pytest.raises(TableError, match="names a class"):
        run({"x": x, "y": rng.normal(size=120)}, "y", positive="1")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"groups": "a", "time": "b"}, "cannot be combined"),
        ({"time": "word"}, "neither dates nor numbers"),
        ({"weights": "b"}, "negative numbers"),
        ({"weights": "hole"}, "without a number"),
        ({"groups": "y"}, "is the target"),
        ({"metric": "auc"}, "does not apply to this target; choose one of: r2"),
        ({"groups": "a", "folds": 50}, "50 folds are too many: there are 5 groups"),
    ],
)
def test_what_cannot_be_is_refused(options, words):
    rng = np.random.default_rng(0)
    table = {
        "a": np.arange(60) % 5,
        "b": rng.normal(size=60),
        "word": ["one", "two", "three"] * 20,
        "hole": [1.0, np.nan] * 30,
        "y": rng.normal(size=60),
    }
    with pytest.raises(TableError, match=words):
        run(table, "y", models=["ridge"], **options)


@pytest.mark.parametrize("weighted", [False, True])
def test_measures_are_scikit_learns(weighted):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    p = 1 / (1 + np.exp(-(y + rng.normal(size=200))))
    said = Answers((p > 0.5).astype(int), p, np.c_[1 - p, p])
    w = rng.uniform(0.1, 2, 200) if weighted else None
    share = np.average(y, weights=w)
    null = np.full(200, share)

    def ours(name, y=y, said=said, task="classification"):
        classes = np.array([0, 1]) if task == "classification" else None
        return score(measure_named(name, task, y, 1), y, said, classes, w)

    assert ours("auc") == pytest.approx(metrics.roc_auc_score(y, p, sample_weight=w), abs=1e-12)
    assert ours("average_precision") == pytest.approx(metrics.average_precision_score(y, p, sample_weight=w), abs=1e-12)
    assert ours("f1") == pytest.approx(metrics.f1_score(y, said.labels, sample_weight=w), abs=1e-12)
    assert ours("accuracy") == pytest.approx(metrics.accuracy_score(y, said.labels, sample_weight=w), abs=1e-12)
    balanced = metrics.balanced_accuracy_score(y, said.labels, sample_weight=w)
    assert ours("balanced_accuracy") == pytest.approx(balanced, abs=1e-12)
    loss = [metrics.log_loss(y, q, sample_weight=w) for q in (p, null)]
    assert ours("log_loss") == pytest.approx(1 - loss[0] / loss[1], abs=1e-12)
    brier = [metrics.brier_score_loss(y, q, sample_weight=w) for q in (p, null)]
    assert ours("brier") == pytest.approx(1 - brier[0] / brier[1], abs=1e-12)
    counts, guess = rng.poisson(2.0, 200).astype(float), rng.uniform(1, 3, 200)
    numbers = Answers(guess)
    r2 = metrics.r2_score(counts, guess, sample_weight=w)
    assert ours("rmse", counts, numbers, "regression") == pytest.approx(r2, abs=1e-12)
    explained = metrics.d2_absolute_error_score(counts, guess, sample_weight=w)
    assert ours("mae", counts, numbers, "regression") == pytest.approx(explained, abs=1e-9)
    deviance = metrics.d2_tweedie_score(counts, guess, sample_weight=w, power=1)
    assert ours("deviance", counts, numbers, "counts") == pytest.approx(deviance, abs=1e-12)


def test_every_metric_leads_a_study():
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    y = np.where(x + rng.normal(size=120) > 0.3, "b", "a")
    for metric in ("auc", "accuracy", "balanced_accuracy", "average_precision", "f1", "log_loss", "brier"):
        found = run({"x": x, "y": y}, "y", models=["logistic regression"], folds=3, metric=metric)
        standing = {s["name"]: s["mean"] for s in found.record["comparison"]["standings"]}
        assert standing["logistic regression"] > standing["baseline"], metric
    three = np.array(["p", "q", "r"])[np.clip(np.round(x + 1 + 0.3 * rng.normal(size=120)), 0, 2).astype(int)]
    for metric in ("auc", "f1", "log_loss"):
        assert run({"x": x, "y": three}, "y", models=["logistic regression"], folds=3, metric=metric).record["verdict"]
