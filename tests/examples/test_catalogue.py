"""Worked examples by name, in Python and in the terminal; each has a story, a test and a picture."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from certifit import examples
from certifit.cli import main

# The ten that the library promises.
PROMISED = {
    "spam_perceptron",
    "candy_bag",
    "xor",
    "circle_multiplier",
    "play_tennis",
    "quadratic_kernel",
    "bootstrap_law",
    "mistake_bound",
    "ridge_augmented",
    "bias_variance_polynomial",
}


def test_all_that_are_promised_exist():
    assert set(examples.names()) >= PROMISED


@pytest.mark.parametrize("name", examples.names())
def test_each_has_a_title_a_story_and_a_test_of_its_numbers(name):
    title, story = examples.told(name)
    assert 10 < len(title) < 100
    assert len(story) > 100
    tests = [p.read_text() for p in Path(__file__).parent.glob("test_*.py") if p.name != Path(__file__).name]
    assert any(name in text for text in tests), name


def test_unknown_names_are_told():
    with pytest.raises(ValueError, match=r"There is no example 'yor'; there are: .*xor"):
        examples.run("yor")


def test_the_command_lists_runs_and_draws(tmp_path, capsys, monkeypatch):
    assert main(["examples", "--names"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in examples.names())
    assert main(["examples", "spam-perceptron", "--out", str(tmp_path / "new")]) == 0
    said = capsys.readouterr().out
    assert examples.told("spam_perceptron")[0] in said
    assert (tmp_path / "new" / "spam_perceptron.png").read_bytes().startswith(b"\x89PNG")
    assert main(["examples", "nothing"]) == 2
    assert "There is no example 'nothing'" in capsys.readouterr().err
    monkeypatch.setattr(examples, "names", lambda: ["candy_bag", "xor"])  # all of them take half a minute
    assert main(["examples", "--out", str(tmp_path / "all")]) == 0
    assert sorted(p.name for p in (tmp_path / "all").iterdir()) == ["candy_bag.png", "xor.png"]


@pytest.mark.parametrize("paper", ["light", "dark"])
@pytest.mark.parametrize("name", ["candy_bag", "circle_multiplier", "play_tennis", "spam_perceptron", "xor"])
def test_pictures_follow_the_paper(name, paper):
    from matplotlib.colors import to_rgb

    from certifit.plot._style import PALETTES

    picture = examples.draw(name, examples.run(name, say=lambda line: None), paper)
    ink, ground = (to_rgb(c) for c in (PALETTES[paper].ink, PALETTES[paper].paper))
    assert picture.get_facecolor()[:3] == pytest.approx(ground)
    assert all(ax.title.get_color() in (PALETTES[paper].ink, ink) for ax in picture.axes)


def test_colours_stay_when_the_style_is_left():
    from matplotlib.colors import to_hex

    from certifit.plot import COLOURS

    picture = examples.draw("ridge_augmented", examples.run("ridge_augmented", say=lambda line: None))
    drawn = {to_hex(line.get_color()).upper() for line in picture.axes[1].get_lines()}
    assert set(COLOURS[:6]) <= drawn  # as when it was drawn, not the next caller's


@pytest.mark.parametrize(
    ("name", "panels"),
    [("ridge_augmented", 2), ("padding_offset", 2), ("quadratic_kernel", 3), ("bootstrap_law", 2), ("xor", 3)],
)
def test_pictures_show_the_point_beside_the_figures(name, panels):
    picture = examples.draw(name, examples.run(name, say=lambda line: None))
    assert len(picture.axes) == panels
    assert all(ax.get_title(loc="left") or ax.get_title() for ax in picture.axes)


def test_the_terminal_writes_a_notebook(tmp_path, capsys):
    assert main(["examples", "xor", "--notebook", "--out", str(tmp_path)]) == 0
    book = json.loads((tmp_path / "xor.ipynb").read_text())
    assert book["nbformat"] == 4
    assert book["cells"][0]["source"].startswith("# XOR")
    assert "xor.ipynb" in capsys.readouterr().out
    assert main(["examples", "nothing", "--notebook"]) == 2
