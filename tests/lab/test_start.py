"""Starting the lab: the command line refuses early, and the server itself loads nothing heavy."""

import subprocess
import sys

import pytest

from certifit.cli import main
from certifit.lab import _server


def test_the_server_imports_nothing_heavy():
    code = "import sys, certifit.lab._server; print([m for m in ('numpy', 'scipy', 'sklearn', 'numba') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.csv"], "There is no file nowhere.csv."),
        (["--target", "y"], "--target names a column of a table"),
        (["--port", "70000"], "--port must be between 0 and 65535."),
    ],
)
def test_wrong_usage_is_told_before_a_browser_opens(arguments, words, capsys):
    assert main(["lab", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_a_wrong_target_is_told(tmp_path, capsys):
    file = tmp_path / "t.csv"
    file.write_text("a,b\n1,2\n")
    assert main(["lab", str(file), "--target", "c"]) == 2
    assert "There is no column 'c'" in capsys.readouterr().err


def test_a_missing_page_is_one_sentence_and_exit_code_1(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(_server.read_page, "__defaults__", (tmp_path,))
    assert main(["lab", "--no-browser"]) == 1
    said = capsys.readouterr().err.strip()
    assert said.startswith("certifit: The page of the lab is not built: run  make lab")
    assert "\n" not in said
