"""What is said while loops are compiled, and what is not."""

import os
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from certifit.loops import _announce


def event(module):
    return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=SimpleNamespace(__module__=module))})


@pytest.fixture
def watch(monkeypatch):
    monkeypatch.setattr(_announce, "AFTER", 0.05)
    return _announce.Watch()


def compile_for(watch, module, seconds):
    outer, inner = event(module), event("numba.np.arrayobj")
    watch.on_start(outer)
    watch.on_start(inner)
    time.sleep(seconds)
    watch.on_end(inner)
    watch.on_end(outer)


def test_a_long_wait_is_announced_once(watch, capsys):
    for _ in range(2):
        compile_for(watch, "certifit.loops.tree_growing", 0.3)
    assert capsys.readouterr().err == "certifit: compiling tree growing, once per installation …\n"
    assert watch.spent["tree growing"] >= 0.6


def test_a_short_wait_and_the_code_of_others_are_not(watch, capsys):
    compile_for(watch, "certifit.loops.active_set", 0.0)
    compile_for(watch, "elsewhere.module", 0.2)
    assert capsys.readouterr().err == ""
    assert watch.spent.keys() == {"the lasso"}


def test_short_waits_add_up(watch, capsys):
    for _ in range(6):
        compile_for(watch, "certifit.loops.smo", 0.02)
    assert "support vector machines" in capsys.readouterr().err


def test_settings_of_a_loop_end_with_it(watch):
    settings = _announce._SETTINGS
    before = settings.LOOP_VECTORIZE, settings.OPT
    watch.on_start(event("certifit.loops.tree_growing"))
    assert (settings.LOOP_VECTORIZE, settings.OPT) == (0, 2)
    watch.on_end(event("certifit.loops.tree_growing"))
    assert before == (settings.LOOP_VECTORIZE, settings.OPT)


def test_every_file_of_loops_has_words():
    from certifit import loops

    files = {f[:-3] for f in os.listdir(loops.__path__[0]) if f.endswith(".py") and not f.startswith("_")}
    assert _announce.WORDS.keys() <= files
    for file in files:
        assert "_" not in _announce.about(event(f"certifit.loops.{file}"))


def test_numba_calls_us(tmp_path):
    code = (
        "import numpy as np; from certifit.loops import pegasos, _announce; _announce.AFTER = 0.0; pegasos.warm(); "
        "print(0.0 < _announce.WATCH.seconds < 100)"
    )
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
    assert done.stderr == "certifit: compiling pegasos, once per installation …\n"
