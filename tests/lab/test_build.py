"""What the browser tests need is installed where that is possible; else the reason is printed and nothing is built."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def machine(monkeypatch):
    """`lab/build.py` on an imagined machine: what is installed, who runs it, whether the package servers answer."""
    spec = importlib.util.spec_from_file_location("lab_build", ROOT / "lab" / "build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.installed, module.ran, module.online, module.built = set(), [], True, []

    def run(command, **options):
        module.ran.append(" ".join(command[:2]))
        if module.online and command[0] == "apt-get" and "install" in command:
            module.installed.add("chromium")
        if module.online and command[0] == sys.executable:
            module.installed.add("npm")
        return type("Done", (), {"returncode": 0 if module.online else 1})

    monkeypatch.setattr(module.shutil, "which", lambda name: name if name in module.installed else None)
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(module.subprocess, "run", run)
    monkeypatch.setattr(module.os, "geteuid", lambda: 0, raising=False)
    monkeypatch.setattr(module, "is_built", lambda: False)
    monkeypatch.setattr(module, "build", lambda: module.built.append(True))
    monkeypatch.setattr(sys, "argv", ["build.py", "--for-tests"])
    return module


def test_root_on_debian_gets_node_and_a_browser(machine, capsys):
    machine.installed = {"apt-get"}
    machine.main()
    assert machine.ran == [f"{sys.executable} -m", "apt-get update", "apt-get install"]
    assert machine.built
    assert "skipped" not in capsys.readouterr().out


def test_what_is_there_is_not_installed_again(machine):
    machine.installed = {"apt-get", "google-chrome", "npm"}
    machine.main()
    assert machine.ran == []
    assert machine.built


@pytest.mark.parametrize(
    ("installed", "user", "online"),
    [({"npm", "apt-get"}, 1000, True), ({"npm"}, 0, True), ({"npm", "apt-get"}, 0, False)],
)
def test_elsewhere_the_tests_are_skipped_with_the_reason(machine, monkeypatch, capsys, installed, user, online):
    machine.installed, machine.online = installed, online
    monkeypatch.setattr(machine.os, "geteuid", lambda: user)
    machine.main()
    assert not machine.built
    assert "browser tests will be skipped, not found: a browser" in capsys.readouterr().out
