"""The cache of compiled loops is filled module by module, side by side where there are cores."""

import pytest

from certifit import parallel
from certifit.cli import main
from certifit.loops import __main__ as warming
from certifit.loops import pegasos
from certifit.loops._tiers import Switch


@pytest.mark.parametrize("cores", [1, 2])
def test_every_module_is_compiled(cores, monkeypatch, capsys):
    names = ["pegasos", "words", "_tiers", "hulls"]  # words has nothing to compile
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
