"""Studies of real and made tables of every kind, end to end."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import subprocess
import sys
import time
import types
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import certifit as cf
from certifit.datasets import load
from certifit.files import TableError, read_table
from certifit.study import TABLE, run

QUICK = {"folds": 3}


def study(table, target, **options):
    return run(table, target, **(QUICK | options))


def test_regression_with_missing_cells_and_categories(tmp_path):
    """Diabetes with holes and a ward."""
    rng = np.random.default_rng(0)
    columns = {k: np.array(v, dtype=float) for k, v in load("diabetes").columns.items()}
    columns["bmi"][rng.random(442) < 0.1] = np.nan
    table = columns | {"ward": rng.choice(["north", "south"], 442)}
    found = study(table, "progression", models=["least squares", "ridge"], out=tmp_path)
    assert found.record["verdict"]["winner"] in ("least squares", "ridge")
    assert 0.35 < found.record["comparison"]["standings"][0]["mean"] < 0.6
    assert found.record["data"]["missing_cells"] == int(np.isnan(columns["bmi"]).sum())
    assert "bmi is missing" in found.record["inside"]["names"]
    assert found.record["proofs"]["certificates"][0]["holds"]
    assert found.record["values"]["mae"] > 0
    assert cf.verify(tmp_path / "model.certifit", table).holds


def test_two_classes_of_text():
    example = load("breast-cancer")
    names = [*list(example.columns)[:6], example.target]
    found = study({n: example.columns[n] for n in names}, example.target, models=["logistic regression"])
    assert found.record["verdict"]["winner"] == "logistic regression"
    assert found.record["measure"]["name"] == "AUC"
    assert found.record["comparison"]["standings"][0]["mean"] > 0.95
    assert found.record["classes"]["labels"] == ["benign", "malignant"]
    assert set(found.model.predict({n: example.columns[n] for n in names})) == {"benign", "malignant"}


def test_many_classes():
    example = load("iris")
    found = study(dict(example.columns), example.target, models=["logistic regression", "nearest neighbours"])
    assert found.record["measure"]["name"] == "accuracy"
    assert found.record["comparison"]["standings"][0]["mean"] > 0.9
    matrix = np.array(found.record["classes"]["matrix"])
    assert matrix.shape == (3, 3)
    assert matrix.sum() == 150


def test_counts():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2))
    y = rng.poisson(np.exp(0.8 + 0.7 * x[:, 0]))
    found = study(
        {"a": x[:, 0], "b": x[:, 1], "visits": y},
        "visits",
        models=["Poisson regression", "nearest neighbours"],
        folds=8,
    )
    assert found.record["settings"]["task"] == "counts"
    assert found.record["verdict"]["winner"] == "Poisson regression"
    assert found.record["measure"]["name"] == "D²"
    with pytest.raises(TableError, match="no model 'ridge' for this task"):  # it would predict negative visits
        study({"a": x[:, 0], "visits": y}, "visits", models=["ridge"])


def test_yardsticks_are_compared_and_never_chosen():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, size=(120, 2))
    table = {"a": x[:, 0], "b": x[:, 1], "y": np.sign(x[:, 0] * x[:, 1]) + 0.1 * rng.normal(size=120)}
    found = study(table, "y")
    told = {y["name"]: y for y in found.record["comparison"]["yardsticks"]}
    assert set(told) == {"gradient boosting", "random forest"}
    assert not set(told) & {s["name"] for s in found.record["comparison"]["standings"]}
    forest, best = told["random forest"], found.record["verdict"]["winner"]
    standing = next(s for s in found.record["comparison"]["standings"] if s["name"] == best)
    assert forest["minus_winner"] == pytest.approx(forest["mean"] - standing["mean"])
    assert "against the chosen model" in forest["text"]
    assert not study(table, "y", yardstick=False, time_budget=1.0).record["comparison"]["yardsticks"]


def test_a_leak_is_named_and_the_rest_compared():
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    y = x + rng.normal(size=200)
    found = study({"x": x, "answer": 2 * y, "y": y}, "y", models=["least squares"])
    assert "answer" not in found.model.schema.names
    assert any("'answer' leaks the target" in r for r in found.record["data"]["remarks"])
    assert any("answer" in c for c in found.record["changes"])


def test_noise_gets_the_baseline():
    rng = np.random.default_rng(0)
    found = study({"x": rng.normal(size=80), "y": rng.normal(size=80)}, "y", models=["least squares"])
    assert found.record["verdict"]["winner"] == "baseline"
    assert not found.record["verdict"]["beats_baseline"]


def test_one_class_is_refused():
    with pytest.raises(TableError, match="only one class"):
        study({"x": np.arange(30.0), "y": ["same"] * 30}, "y")


def test_a_failing_candidate_does_not_end_the_study(monkeypatch):
    from certifit.linear_model import Ridge

    monkeypatch.setattr(Ridge, "predict", lambda self, X: 1 / 0)
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    found = study({"x": x, "y": x + 0.1 * rng.normal(size=60)}, "y", models=["least squares", "ridge"])
    assert found.record["verdict"]["winner"] == "least squares"
    assert any(name == "ridge" and "ZeroDivisionError" in why for name, why in found.record["comparison"]["skipped"])


SMALL = ["least squares", "ridge", "nearest neighbours"]


def small_table() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    return {"x": x, "y": x + rng.normal(size=60)}


def test_a_budget_too_short_for_all_names_what_it_skipped():
    found = study(small_table(), "y", time_budget=0.08, models=SMALL)
    assert {s["name"] for s in found.record["comparison"]["standings"]} == {"baseline", "least squares"}
    skipped = dict(found.record["comparison"]["skipped"])
    assert skipped["ridge"].startswith("the time budget is too short: it needs about 0.")
    assert found.verdict.startswith("Ridge and nearest neighbours, which often win, were not compared.")


def test_the_verdict_of_a_process_slowed_down_is_the_same(monkeypatch):
    """Every piece takes a thousand times its budget by the processor, and sleeps: nothing is left out, or differs."""
    from certifit.study import _runner

    fast = study(small_table(), "y", time_budget=0.08, models=SMALL)
    piece = _runner.run_piece

    def slow(*asked):
        time.sleep(0.1)
        return replace(piece(*asked), seconds=80.0)

    monkeypatch.setattr(_runner, "run_piece", slow)
    tired = study(small_table(), "y", time_budget=0.08, models=SMALL)
    assert tired.verdict == fast.verdict
    assert tired.record["verdict"] == fast.record["verdict"]
    for a, b in zip(fast.record["comparison"]["standings"], tired.record["comparison"]["standings"]):
        assert a["fold_scores"] == b["fold_scores"]
    assert fast.record["comparison"]["skipped"] == tired.record["comparison"]["skipped"]


def test_a_verdict_that_the_clock_cut_short_starts_by_saying_so(monkeypatch):
    from certifit.study import _runner

    now = itertools.count(time.monotonic(), 60.0)  # a minute passes with every look at the clock
    clock = types.SimpleNamespace(monotonic=lambda: next(now), process_time=time.process_time)
    monkeypatch.setattr(_runner, "time", clock)  # only here: other threads of the tests look at the clock, too
    found = study(small_table(), "y", time_budget=1.0, models=SMALL)
    assert re.match(r"Ended by the clock after [\d ]+ s, on a machine too slow .* before .* compared\. ", found.verdict)
    assert any("stopped by the time limit after" in why for _, why in found.record["comparison"]["skipped"])


def test_the_learning_curve_ends_at_the_headline():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 3))
    table = {f"x{j}": x[:, j] for j in range(3)} | {"y": x[:, 0] + rng.normal(size=80)}
    found = study(table, "y", models=["ridge"])
    curve = found.record["learning_curve"]
    assert curve[-1]["held_out"] == pytest.approx(found.record["comparison"]["standings"][0]["mean"], abs=1e-12)
    assert [p["rows"] for p in curve] == sorted(p["rows"] for p in curve)


def test_the_rare_class_is_positive_and_accuracy_stands_beside_the_commonest_class():
    rng = np.random.default_rng(0)
    x = rng.normal(size=150)
    table = {"x": x, "y": np.where(x + 0.5 * rng.normal(size=150) > 1.0, "a rare one", "b usual")}
    found = study(table, "y", models=["logistic regression"])
    classes = found.record["classes"]
    assert classes["roc"]["positive"] == "a rare one"
    assert classes["roc"]["pooled_auc"] == pytest.approx(found.record["comparison"]["standings"][0]["mean"], abs=0.03)
    assert classes["commonest"]["label"] == "b usual"
    assert classes["commonest"]["share"] == pytest.approx(np.mean(table["y"] == "b usual"))


def test_a_refit_without_time_takes_the_choice_of_most_folds():
    from certifit.study import _runner, _winner
    from certifit.study._design import Roles
    from certifit.study._facts import examine
    from certifit.study._judge import R2
    from certifit.study._plan import choose_candidates, plan_work

    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    facts = examine({"x": x, "y": x + rng.normal(size=60)}, "y")
    work = plan_work(facts, Roles(R2), 3, 0)
    ridge = _runner.Result(choose_candidates(facts, ["ridge"])[0][1])
    ridge.pieces = {k: _runner.Piece(None, 0.5, {"alpha": a}, 100.0) for k, a in enumerate((1.0, 10.0, 10.0))}
    pipeline, chosen, how = _winner.refit(ridge, work, 0.001)
    assert chosen == {"alpha": 10.0}
    assert pipeline.steps[-1][1].alpha == 10.0
    assert "the time budget is too short" in how


def test_folds_that_cannot_be_had_are_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(TableError, match=r"10 folds are too many: class b has 4 different rows"):
        run({"x": rng.normal(size=40), "y": ["a"] * 36 + ["b"] * 4}, "y", folds=10)
    with pytest.raises(TableError, match="30 folds are too many for 40 different rows"):
        run({"x": rng.normal(size=40), "y": rng.normal(size=40)}, "y", folds=30)


def test_workers_give_the_same_answer_and_end_in_time():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    table = {f"x{j}": X[:, j] for j in range(3)} | {"y": X @ [1.0, 2.0, 3.0] + rng.normal(size=120)}
    alone = study(table, "y", models=["least squares"])
    both = study(table, "y", models=["least squares"], workers=2)
    for a, b in zip(alone.record["comparison"]["standings"], both.record["comparison"]["standings"]):
        np.testing.assert_allclose(a["fold_scores"], b["fold_scores"], rtol=1e-9)


def test_files_are_complete_and_record_holds_their_digests(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    table = {"x": x, "colour": rng.choice(["red", "blue"], 60), "y": 2 * x + rng.normal(size=60)}
    found = study(table, "y", models=["least squares"], out=tmp_path)
    record = json.loads((tmp_path / "record.json").read_text())
    for name, digest in record["digests"].items():
        assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() == digest
    written = {"card.md", "model.certifit", "model.proof", "model.proof.csv", "record.json", "report.html"}
    assert {p.name for p in tmp_path.iterdir()} == written
    # in a fresh process, bit for bit; an unseen colour and a missing cell have stated answers
    (tmp_path / "new.csv").write_text("colour,x\nred,0.5\ngreen,\n,1.25\n")
    code = (
        "import certifit as cf, numpy as np;"
        f"np.save({str(tmp_path / 'p.npy')!r}, cf.load({str(tmp_path / 'model.certifit')!r}).predict({str(tmp_path / 'new.csv')!r}))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    here = found.model.predict(tmp_path / "new.csv")
    assert np.load(tmp_path / "p.npy").tobytes() == here.tobytes()
    assert found.model.read(tmp_path / "new.csv").unseen == {"colour": 1}
    with pytest.raises(TableError, match="lacks 1 column"):
        found.model.predict({"colour": ["red"]})


def test_the_same_seed_gives_the_same_study():
    """The whole record, apart from times."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(90, 2))
    table = {"x": x[:, 0], "z": x[:, 1], "c": rng.choice(["u", "v"], 90)}
    table["y"] = np.where(x[:, 0] + 0.5 * rng.normal(size=90) > 0, "a", "b")
    models = ["logistic regression", "perceptron", "naive Bayes", "decision tree", "nearest neighbours"]
    records = [study(table, "y", models=models, seed=7).record for _ in range(2)]
    for record in records:
        del record["made"], record["seconds"]
        for standing in record["comparison"]["standings"]:
            del standing["seconds"]
    assert json.dumps(records[0]) == json.dumps(records[1])
    other = study(table, "y", models=["logistic regression"], seed=8).record
    assert other["comparison"]["standings"][0]["fold_scores"] != records[0]["comparison"]["standings"][0]["fold_scores"]


def test_every_row_of_the_table_names_things_that_exist_or_does_not_appear():
    assert len({(c.name, t) for c in TABLE for t in c.tasks}) == sum(len(c.tasks) for c in TABLE)
    for candidate in TABLE:
        if candidate.available():
            steps = dict(candidate.steps(0))
            for name in candidate.parameters(1000, 30):
                step, parameter = name.split("__")
                assert parameter in steps[step].get_params(deep=False)


def big_file(path: Path, rows: int = 100_000) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, 8))
    score = x[:, 0] - 0.5 * x[:, 1] + rng.normal(size=rows)
    city = rng.choice(["Köln", "Bonn", "Aachen", "Trier"], rows)
    with path.open("w", encoding="utf-8") as f:
        f.write(",".join([f"x{j}" for j in range(8)] + ["city", "zip", "bought"]) + "\n")
        for i in range(rows):
            cells = [f"{v:.6f}" for v in x[i]] + [city[i], f"0{1000 + i % 50}", "yes" if score[i] > 0.7 else "no"]
            f.write(",".join(cells) + "\n")


@pytest.mark.slow
def test_a_hundred_thousand_rows_in_stated_time_and_memory(tmp_path):
    """Within 150 s and 1.5 GB on two cores (the default budget)."""
    big_file(tmp_path / "big.csv")
    code = (
        "import resource, sys, time; from certifit.cli import main; t = time.monotonic();"
        f"code = main(['study', {str(tmp_path / 'big.csv')!r}, '--target', 'bought', '--out', {str(tmp_path / 'out')!r}]);"
        "print(time.monotonic() - t, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,"
        " resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6); sys.exit(code)"
    )
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    seconds, own, children = (float(v) for v in out.splitlines()[-1].split())
    print(f"{seconds:.0f} s, {own:.2f} GB, workers {children:.2f} GB each")
    assert seconds < 180
    assert own < 1.5
    assert children < 1.5
    assert read_table(tmp_path / "big.csv").rows == 100_000
    assert cf.load(tmp_path / "out" / "model.certifit").schema.target.classes == ("no", "yes")


@pytest.mark.parametrize(("apart", "method"), [(9.0, "Wilson, perfect ranking"), (0.5, "DeLong")])
def test_the_interval_of_the_area_is_named_by_its_own_method(apart, method):
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 40)
    table = {"x": rng.normal(size=80) + apart * (y == "b"), "y": y}
    found = run(table, "y", models=["naive Bayes"], folds=4, keep=["x"])
    assert found.record["classes"]["roc"]["method"] == method
    assert f", {method}). The band" in cf.report.render(found.record)
