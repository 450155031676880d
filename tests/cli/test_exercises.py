"""certifit exercises: what is printed, and the exit codes."""

import json

import pytest

from certifit import exercises
from certifit.cli._run import run


def test_list_and_show(capsys):
    assert run(["exercises"]) == 0
    said = capsys.readouterr().out
    assert all(name in said for name in exercises.list())
    assert run(["exercises", "show", "candy-bag", "--seed", "3"]) == 0
    assert "prior = [0.1, 0.2" in capsys.readouterr().out


def test_answers_are_marked(tmp_path, capsys):
    file = tmp_path / "answer.json"
    task = exercises.load("gaussian-likelihood", 5)
    x = task.data["x"]
    file.write_text(json.dumps({"mean": x.mean(), "variance": x.var()}))
    assert run(["exercises", "run", "gaussian-likelihood", str(file), "--seed", "5"]) == 0
    assert "Right." in capsys.readouterr().out
    file.write_text(json.dumps({"mean": x.mean(), "variance": x.var(ddof=1)}))
    assert run(["exercises", "run", "gaussian-likelihood", str(file), "--seed", "5"]) == 1
    assert "n − 1" in capsys.readouterr().out


def test_a_notebook_is_written(tmp_path):
    assert run(["exercises", "notebook", "ridge-by-hand", "--out", str(tmp_path / "a.ipynb")]) == 0
    assert json.loads((tmp_path / "a.ipynb").read_text())["nbformat"] == 4


@pytest.mark.parametrize(
    "words", [["run"], ["show", "nothing"], ["run", "candy-bag"], ["run", "candy-bag", "none.json"]]
)
def test_wrong_usage_exits_with_2(words, capsys):
    assert run(["exercises", *words]) == 2
    assert capsys.readouterr().err.strip()
