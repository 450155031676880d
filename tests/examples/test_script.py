"""Scripts and notebooks of the worked examples: public, whole, and each of them runs."""

import re

import matplotlib as mpl
import pytest

from certifit import examples

QUICK = ("xor", "spam_perceptron", "play_tennis", "candy_bag", "circle_multiplier")


@pytest.mark.parametrize("name", examples.names())
def test_a_script_uses_public_names_and_no_types(name):
    source = examples.script(name)
    compile(source, name, "exec")
    assert not re.search(r"certifit\._|from __future__|\bRecord\b|\bCallable\b|\) -> ", source)
    assert source.endswith("numbers = run()\ndraw(numbers)\n")


def _execute(name, capsys):
    mpl.use("Agg")
    cells = [cell["source"] for cell in examples.notebook(name)["cells"] if cell["cell_type"] == "code"]
    space = {"__name__": "__main__"}
    for cell in cells:
        exec(compile(cell, name, "exec"), space)
    mpl.pyplot.close("all")
    assert space["figure"] is not None
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("name", QUICK)
def test_quick_notebooks_run(name, capsys):
    _execute(name, capsys)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(examples.names()) - set(QUICK)))
def test_every_other_notebook_runs(name, capsys):
    _execute(name, capsys)


def test_every_example_stands_in_one_group():
    members = [name for group in examples.GROUPS.values() for name in group]
    assert sorted(members) == examples.names()


def test_an_unknown_example_is_one_sentence():
    for make in (examples.script, examples.notebook):
        with pytest.raises(ValueError, match="There is no example 'nothing'; there are: "):
            make("nothing")
