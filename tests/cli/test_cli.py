"""The command line: what it says, what it writes, how it ends."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from rich.console import Console

from certifit.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table with words, holes and a date, and a study of it."""
    where = tmp_path_factory.mktemp("cli")
    rng = np.random.default_rng(0)
    lines = ["id,age,sex,seen,zip,dose"]
    for i in range(90):
        age, sex = rng.normal(50, 10), rng.choice(["f", "m"])
        dose = 2 * age + (5 if sex == "m" else 0) + rng.normal()
        shown = "" if i % 20 == 0 else f"{age:.3f}"
        lines.append(f"P{i:03d},{shown},{sex},2024-0{1 + i % 9}-01,0{100 + i % 3},{dose:.4f}")
    (where / "t.csv").write_text("\n".join(lines) + "\n")
    options = ["--models", "least squares", "--folds", "3", "--workers", "1"]
    assert main(["study", str(where / "t.csv"), "--target", "dose", "--out", str(where / "out"), *options]) == 0
    return where


def test_study_says_what_it_did(folder, capsys):
    code = main(
        [
            "study",
            str(folder / "t.csv"),
            "--target",
            "dose",
            "--out",
            str(folder / "again"),
            "--models",
            "least squares",
        ]
        + ["--folds", "3", "--workers", "1"]
    )
    said = " ".join(capsys.readouterr().out.split())
    assert code == 0
    assert "90 rows, 4 columns (2 categories, 1 number, 1 date), 5 missing cells" in said
    assert "'id' is not used: identifier" in said
    assert "verdict Least squares" in said
    assert "proof Within" in said
    assert "record.json" in said


def test_help_is_quick_and_teaches():
    start = time.monotonic()
    told = subprocess.run([sys.executable, "-m", "certifit", "--help"], capture_output=True, text=True, check=True)
    quick = time.monotonic() - start
    assert "certifit study patients.csv --target disease" in told.stdout
    assert all(f" {c} " in told.stdout for c in ("study", "predict", "verify", "explain"))
    assert quick < 8  # half a second alone; the bound allows for a busy machine
    code = "import sys; from certifit.cli import main; main(['--help']); print([m for m in ('sklearn', 'numpy', 'numba') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[-1] == "[]"


def test_predict_writes_every_digit(folder, capsys):
    out = folder / "p.csv"
    assert main(["predict", str(folder / "out" / "model.certifit"), str(folder / "t.csv"), "--out", str(out)]) == 0
    import certifit as cf

    lines = out.read_text().splitlines()
    assert lines[0] == "id,prediction"  # identifiers are carried along
    expected = cf.load(folder / "out" / "model.certifit").predict(folder / "t.csv")
    assert [float(v.split(",")[1]) for v in lines[1:]] == expected.tolist()
    identifiers = [line.split(",")[0] for line in (folder / "t.csv").read_text().splitlines()]
    assert [v.split(",")[0] for v in lines] == identifiers
    assert main(["predict", str(folder / "out" / "model.certifit"), str(folder / "t.csv")]) == 0
    assert capsys.readouterr().out.splitlines() == lines
    assert main(["predict", str(folder / "out" / "model.certifit"), str(folder / "t.csv"), "--carry", "sex,zip"]) == 0
    assert capsys.readouterr().out.startswith("sex,zip,prediction\n")
    assert main(["predict", str(folder / "out" / "model.certifit"), str(folder / "t.csv"), "--carry", "none"]) == 2


def test_predict_states_what_did_not_fit(folder, capsys):
    (folder / "new.csv").write_text("sex,age,zip,seen,extra\nx,50,0100,2024-01-01,1\nf,old,0101,,2\n")
    assert main(["predict", str(folder / "out" / "model.certifit"), str(folder / "new.csv")]) == 0
    told = capsys.readouterr()
    assert len(told.out.splitlines()) == 3
    assert "1 cell of 'sex' holds a category that was not there" in told.err
    assert "1 cell of 'age' could not be read: counted as missing" in told.err
    assert "not used: extra" in told.err
    (folder / "short.csv").write_text("sex,zip\nf,0100\n")
    assert main(["predict", str(folder / "out" / "model.certifit"), str(folder / "short.csv")]) == 1
    assert "lacks 2 columns the model was fitted on: 'age', 'seen'" in capsys.readouterr().err


def test_verify_accepts_and_refuses_after_one_changed_number(folder, capsys):
    model = str(folder / "out" / "model.certifit")
    assert main(["verify", model, str(folder / "t.csv")]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1
    assert main(["verify", model, str(folder / "t.csv"), "--details"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("every claim holds")
    assert len(told.splitlines()) > 3
    text = (folder / "t.csv").read_text()
    cell = text.splitlines()[5].split(",")[1]
    (folder / "changed.csv").write_text(text.replace(cell, cell[:-1] + str((int(cell[-1]) + 1) % 10), 1))
    assert main(["verify", model, str(folder / "changed.csv")]) == 1
    assert "not the data" in capsys.readouterr().out
    whole = (folder / "out" / "model.certifit").read_bytes()
    (folder / "cut.certifit").write_bytes(whole[:-100])
    assert main(["verify", str(folder / "cut.certifit"), str(folder / "t.csv")]) == 1
    assert "DOES NOT HOLD" in capsys.readouterr().out


def test_prove_and_check(folder, capsys):
    model, proof = str(folder / "out" / "model.certifit"), str(folder / "fit.proof")
    assert main(["prove", model, str(folder / "t.csv"), "--out", proof]) == 0
    assert f"certifit check {proof} {proof}.csv" in capsys.readouterr().out
    assert main(["check", proof, f"{proof}.csv"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "PROVED"
    assert main(["check", str(folder / "out" / "model.proof"), str(folder / "out" / "model.proof.csv")]) == 0
    assert "model.proof.csv" in (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert "PROVED" in capsys.readouterr().out
    text = (folder / "fit.proof.csv").read_text()
    (folder / "fit.proof.csv").write_text(text.replace("1.0", "2.0", 1))
    assert main(["check", proof, f"{proof}.csv"]) == 1
    assert capsys.readouterr().out.startswith("NOT PROVED")
    assert main(["check", str(folder / "none.proof"), f"{proof}.csv"]) == 2


def test_evaluate_show_certify_and_explain(folder, capsys):
    model, table = str(folder / "out" / "model.certifit"), str(folder / "t.csv")
    assert main(["evaluate", model, table]) == 0
    assert "R² 0.9" in capsys.readouterr().out
    assert main(["show", model]) == 0
    shown = capsys.readouterr().out
    assert "zip (category: 0100, 0101, 0102)" in shown
    assert "id is not used: identifier" in shown
    assert main(["certify", model, table]) == 0
    assert "smallest possible training objective" in capsys.readouterr().out
    assert main(["explain", model, f"{table}:2"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("dose: ")
    terms = [line.split() for line in told.splitlines()[2:]]
    total = sum(float(t[-1]) for t in terms)
    assert abs(total - float(told.split()[1])) < 0.1
    assert {t[0] for t in terms} <= {"age", "sex", "seen", "zip", "(offset)"}  # the table's columns, no levels
    assert main(["explain", model, "age=50,sex=f"]) == 0


def test_fit_one_model(folder, capsys):
    out = folder / "one.certifit"
    table = str(folder / "t.csv")
    assert main(["fit", table, "--target", "dose", "--model", "ridge", "--set", "alpha=2.5", "--out", str(out)]) == 0
    assert "ridge with alpha = 2.5, fitted to 90 rows" in capsys.readouterr().out
    assert main(["verify", str(out), table]) == 0


def test_parameters_that_cannot_be_are_one_sentence(folder, capsys):
    table = str(folder / "t.csv")
    arguments = ["fit", table, "--target", "dose", "--model", "ridge", "--out", str(folder / "no.certifit"), "--set"]
    for setting, words in (("alpha=-1", "alpha"), ("beta=1", "has no parameter 'beta'"), ("alpha", "name=value")):
        assert main([*arguments, setting]) in (1, 2)
        told = capsys.readouterr().err.strip()
        assert words in told
        assert "TRACE" not in told
        assert len(told.splitlines()) == 1
    assert not (folder / "no.certifit").exists()


def test_certify_a_model_without_objective_checks_its_own_claim(folder, capsys):
    table, out = str(folder / "t.csv"), str(folder / "tree.certifit")
    assert main(["fit", table, "--target", "dose", "--model", "decision tree", "--out", out]) == 0
    capsys.readouterr()
    assert main(["certify", out, table]) == 0
    assert "A tree of" in capsys.readouterr().out
    text = (folder / "t.csv").read_text().splitlines()
    (folder / "less.csv").write_text("\n".join(text[:-1]) + "\n")
    assert main(["certify", out, str(folder / "less.csv")]) == 1
    assert "DOES NOT HOLD" in capsys.readouterr().out


def test_a_place_that_cannot_be_written_is_one_sentence(folder, capsys):
    model, table = str(folder / "out" / "model.certifit"), str(folder / "t.csv")
    assert main(["predict", model, table, "--out", str(folder / "t.csv" / "p.csv")]) == 1
    told = capsys.readouterr().err.strip()
    assert "TRACE" not in told
    assert len(told.splitlines()) == 1


def test_export_gives_the_values_of_predict(folder, capsys):
    import certifit

    runtime = pytest.importorskip("onnxruntime")
    saved, out, table = folder / "to_export.certifit", folder / "model.onnx", str(folder / "t.csv")
    asked = ["fit", table, "--target", "dose", "--model", "ridge", "--set", "alpha=1", "--out", str(saved)]
    assert main(asked) == 0
    assert main(["export", str(saved), "--out", str(out)]) == 0  # dates with their months and weekdays
    capsys.readouterr()
    assert main([*asked, "--drop", "seen"]) == 0
    assert "'seen' is not used: dropped as asked" in capsys.readouterr().out
    assert main(["export", str(saved), "--out", str(out)]) == 0
    assert "outputs value" in capsys.readouterr().out
    for language in ("sql", "python", "c"):
        written = folder / f"code.{language}"
        assert main(["export", str(saved), "--to", language, "--out", str(written)]) == 0
        assert "ridge that predicts dose" in written.read_text()
    assert main(["export", str(saved), "--to", "cobol"]) == 2
    model = certifit.load(saved)
    cells = {"age": "31", "sex": "f", "day": "2024-02-01", "zip": "0101"}
    row = {c.name: [cells.get(c.name, "")] for c in model.schema.columns}
    X = model.read(row).X
    feed = {
        c.name: np.array([row[c.name]], dtype=object) if c.kind == "category" else X[:, j : j + 1]
        for j, c in enumerate(model.schema.columns)
    }
    value = runtime.InferenceSession(out.read_bytes()).run(None, feed)[0]
    np.testing.assert_allclose(value, model.predict(row), rtol=1e-12)
    assert main(["export", str(folder / "nothing.certifit")]) == 2


def test_separable_has_a_proof_either_way(capsys):
    assert main(["separable", "example:breast-cancer"]) == 0
    assert capsys.readouterr().out.startswith("Separable")
    assert main(["separable", "example:iris"]) == 0
    assert capsys.readouterr().out.splitlines() == [  # nothing else: all three together are neither
        "setosa and versicolor: separable",
        "setosa and virginica: separable",
        "versicolor and virginica: overlapping",
    ]


def test_a_wrong_column_is_named_with_those_there_are(capsys):
    assert main(["separable", "example:breast-cancer", "--target", "diagnose"]) == 2
    said = capsys.readouterr().err
    assert "texture error and 19 more." in said
    assert "Did you mean 'diagnosis'?" in said


def test_certify_a_skops_file_of_scikit_learns(folder, capsys):
    import skops.io
    from sklearn.linear_model import Ridge

    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 2))
    y = X @ [1.0, -2.0] + rng.normal(size=50)
    rows = "\n".join(f"{a!r},{b!r},{c!r}" for a, b, c in zip(X[:, 0].tolist(), X[:, 1].tolist(), y.tolist()))
    (folder / "xy.csv").write_text(f"a,b,y\n{rows}\n")
    skops.io.dump(Ridge(alpha=1.0).fit(X, y), folder / "theirs.skops")
    assert main(["certify", str(folder / "theirs.skops"), str(folder / "xy.csv"), "--target", "y"]) == 0
    assert "Ridge" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["nonsense"], 2, "Unknown command"),
        (["study", "no.csv"], 2, "There is no file no.csv"),
        (["study", "example:nothing"], 2, "no bundled table"),
        (["study", "example:iris", "--folds", "x"], 2, "--folds"),
        (["study", "example:iris", "--folds", "1"], 2, "--folds must be 2 or more"),
        (["study", "example:iris", "--time-budget", "-1"], 2, "--time-budget"),
        (["study", "example:iris", "--workers", "0"], 2, "--workers must be 1 or more"),
        (["study", "example:iris", "--seed", "-1"], 2, "--seed"),
        (["study", "example:iris", "--task", "magic"], 2, "--task"),
        (["study", "example:iris", "--target", "colour"], 2, "no column 'colour'"),
        (["study", "example:diabetes", "--models", "magic"], 2, "There is no model 'magic'"),
        (["predict", "no.certifit", "no.csv"], 2, "There is no file no.certifit"),
        (["verify", "no.certifit", "example:iris"], 2, "There is no file"),
        (["predict"], 2, "MODEL"),
    ],
)
def test_errors_are_one_sentence_and_have_their_code(arguments, code, words, capsys):
    assert main(arguments) == code
    told = capsys.readouterr().err.strip()
    assert words.lower() in told.lower()
    assert len(told.splitlines()) == 1


def test_colons_are_no_pictures_and_one_column_is_explained(tmp_path, capsys):
    (tmp_path / "c.csv").write_text("a:b:y\n1:2:3\n" * 20)
    assert main(["study", str(tmp_path / "c.csv"), "--target", "y"]) == 2
    told = capsys.readouterr().err
    assert "a:b:y" in told
    assert "one column only" in told


def test_what_cannot_be_written_is_refused_before_the_work(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["study", "example:iris", "--out", str(tmp_path / "file" / "deep")]) == 2
    assert "Nothing can be written" in capsys.readouterr().err


def test_a_study_of_nothing_but_the_baseline_fails_and_says_what_to_raise(tmp_path, capsys):
    out = str(tmp_path / "o")
    options = ["--time-budget", "0.0001", "--workers", "1", "--folds", "2"]
    assert main(["study", "example:iris", "--out", out, *options]) == 1
    told = " ".join(capsys.readouterr().err.split())
    assert "No model besides the baseline could be compared" in told
    assert "the time budget is too short: it needs about 0." in told
    assert "s of work): raise --time-budget" in told
    assert not (tmp_path / "o").exists()


def test_a_table_without_a_target_option(folder, capsys):
    assert main(["study", str(folder / "t.csv")]) == 2
    assert "--target COLUMN (the last columns are: id, age, sex, seen, zip, dose)" in capsys.readouterr().err
    (folder / "one.csv").write_text("x,y\n" + "\n".join(f"{i},same" for i in range(30)) + "\n")
    assert main(["study", str(folder / "one.csv"), "--target", "y"]) == 1
    assert "only one class" in capsys.readouterr().err


KILLED = """
import sys
from certifit.files import Table
from certifit.study import run
table = {"x": list(range(40)), "y": [v * 2.0 + v % 3 for v in range(40)]}
study = run({"x": [v % 13 for v in range(40)], "y": table["y"]}, "y", models=["least squares"], folds=2)
print("ready", flush=True)
while True:
    study.write(sys.argv[1])
    print("written", flush=True)
"""


def test_killed_while_writing_every_file_is_whole(tmp_path):
    """SIGKILL at any moment: each file is a complete version, old or new."""
    child = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"ready\n"
    assert child.stdout.readline() == b"written\n"
    time.sleep(0.37)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdout.close()
    import certifit as cf

    record = json.loads((tmp_path / "record.json").read_text())
    assert (tmp_path / "report.html").read_text().rstrip().endswith("</html>")
    assert cf.load(tmp_path / "model.certifit").schema.target.name == "y"
    written = {"report.html", "model.certifit", "card.md", "model.proof", "model.proof.csv"}
    assert set(record["digests"]) == written


def test_the_time_left_only_falls(monkeypatch):
    from types import SimpleNamespace

    from certifit.cli import _screen

    clock = iter([0.0, *(float(k**2) for k in range(1, 40))])  # later pieces take longer and longer
    monkeypatch.setattr(_screen, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    with _screen.Screen(Console(file=io.StringIO())) as screen:
        screen.left = float("inf")
        screen.say("comparing", "9 models")
        told = []
        for done in range(1, 30):
            screen.progress(done, 30, "ridge")
            told.append(screen.left)
    assert told[0] == float("inf")  # nothing is promised before there is something to go by
    assert all(a >= b for a, b in itertools.pairwise(told))
    assert told[-1] < 40


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--metric", "foo"], 2, "choose one of: auc"),
        (["--models", "magic"], 2, "There is no model 'magic'"),
        (["--models", "random forest"], 2, "--allow-black-box"),
        (["--positive", "zz"], 2, "There is no class 'zz'"),
        (["--drop", "q"], 2, "There is no column 'q'"),
        (["--keep", "q"], 2, "There is no column 'q'"),
        (["--groups", "a", "--time", "b"], 2, "cannot be combined"),
        (["--time", "y"], 2, "cannot have another role"),
        (["--folds", "50"], 1, "50 folds are too many"),
        (["--task", "regression"], 1, "contains strings"),
    ],
)
def test_wrong_options_are_wrong_usage_and_data_that_do_not_suit_are_refused(options, code, words, tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n" + "\n".join(f"{i % 7},{i % 5},{'u' if i % 3 else 'v'}" for i in range(60)))
    assert main(["study", str(path), "--target", "y", "--out", str(tmp_path / "out"), *options]) == code
    assert words in " ".join(capsys.readouterr().err.split())


def test_explain_and_evaluate_speak_of_the_threshold_of_a_study(tmp_path, capsys):
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    ill = np.where(x + rng.normal(size=120) > 0.5, "yes", "no")
    rows = "\n".join(f"{a:.4f},{b}" for a, b in zip(x, ill))
    (tmp_path / "t.csv").write_text(f"x,ill\n{rows}\n")
    options = ["--models", "logistic regression", "--folds", "4", "--workers", "1", "--costs", "1,20"]
    out = str(tmp_path / "out")
    assert main(["study", str(tmp_path / "t.csv"), "--target", "ill", "--out", out, *options]) == 0
    model = f"{out}/model.certifit"
    assert main(["explain", model, "x=0.0"]) == 0
    assert "decision: yes (by the threshold of the study)" in capsys.readouterr().out
    assert main(["evaluate", model, str(tmp_path / "t.csv")]) == 0
    assert "predicting yes from a probability of" in capsys.readouterr().out


@pytest.mark.parametrize("models", [["--models", "ridge", "lasso"], ["--models", "ridge", "--models", "lasso"]])
def test_several_models_without_a_comma_are_told_how(folder, capsys, models):
    assert main(["study", str(folder / "t.csv"), "--target", "dose", *models]) == 2
    assert "separated by commas" in " ".join(capsys.readouterr().err.split())


@pytest.mark.skipif(sys.platform == "win32", reason="another signal there")
@pytest.mark.parametrize("seconds", [0.2, 3.0])
def test_an_interrupted_command_says_so_in_one_sentence_and_leaves_no_file(seconds, tmp_path):
    """While modules load, and (on most machines) while models are compared."""
    code = (
        "import signal, sys\n"
        "from certifit.cli import main\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "print(flush=True)\n"
        "sys.exit(main())\n"
    )
    command = [sys.executable, "-c", code, "study", "example:breast-cancer", "--out", str(tmp_path / "study")]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert run.stdout is not None
    run.stdout.readline()  # its handler of signals is set
    time.sleep(seconds)
    if run.poll() is not None:
        pytest.skip("the machine was paused, and the study had ended before it could be interrupted")
    run.send_signal(signal.SIGINT)
    _, said = run.communicate(timeout=60)
    assert run.returncode == 130
    assert said.strip().splitlines()[-1] == "certifit: interrupted; every file is either unchanged or complete."
    assert not (tmp_path / "study").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="another signal there")
@pytest.mark.parametrize("step", ["say", "progress"])
def test_an_interrupt_that_an_import_swallowed_ends_the_command_at_its_next_step(step, monkeypatch, capsys):
    from certifit.cli import _run, _screen

    def command(arguments):
        with contextlib.suppress(KeyboardInterrupt):  # as modules written in C do, sometimes
            signal.raise_signal(signal.SIGINT)
        screen = _screen.Screen(Console(file=io.StringIO()))
        if step == "say":
            screen.say("reading", "9 rows")
        else:
            screen.progress(1, 2, "ridge")
        return 0

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        monkeypatch.setattr(_run, "run", command)
        assert main(["study"]) == 130
        assert "certifit: interrupted" in capsys.readouterr().err
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        monkeypatch.setattr(_run, "run", lambda arguments: 0)
        assert main(["study"]) == 0  # it is forgotten
    finally:
        signal.signal(signal.SIGINT, before)
