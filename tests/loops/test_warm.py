"""The cache of compiled loops is filled module by module, side by side where there are cores."""

import ast
from pathlib import Path

import pytest

from certifit import loops, parallel
from certifit.cli import main
from certifit.loops import __main__ as warming
from certifit.loops import pegasos
from certifit.loops._tiers import Switch


@pytest.mark.parametrize("cores", [1, 2])
def test_every_module_is_compiled(cores, monkeypatch, capsys):
    names = ["pegasos", "_tiers", "hulls"]  # what begins with an underscore has no loops
    monkeypatch.setattr(warming.pkgutil, "iter_modules", lambda path: [type("Info", (), {"name": n}) for n in names])
    monkeypatch.setattr(parallel, "cores", lambda: cores)
    monkeypatch.setattr(Switch, "always", Switch.always)
    calls = []
    monkeypatch.setattr(pegasos, "warm", lambda: calls.append(Switch.always))
    assert main(["warm"]) == 0
    assert calls == [True] * (cores == 1)  # else in another process
    assert capsys.readouterr().out.startswith("compiled loops ready: 2 files")


def test_large_modules_come_first():
    assert warming.files()[0] == "tree_growing"


@pytest.mark.parametrize("name", warming.files())
def test_no_loop_is_left_out(name):
    """What `warm` does not call, directly or by way of another loop, would be interpreted after ``certifit warm``."""
    tree = ast.parse(Path(loops.__path__[0], f"{name}.py").read_text())
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    reached, ahead = set(), ["warm"]
    while ahead:
        names = {node.id for node in ast.walk(functions[ahead.pop()]) if isinstance(node, ast.Name)}
        ahead += (names & set(functions)) - reached
        reached |= names
    assert {name for name, node in functions.items() if node.decorator_list} <= reached
