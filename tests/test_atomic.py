"""Killed at any moment, a writer leaves the whole old or the whole new file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from certifit import _atomic
from certifit.files import write_atomic

WRITER = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("atomic", sys.argv[2])  # the one file: starts in no time
atomic = importlib.util.module_from_spec(spec)
spec.loader.exec_module(atomic)
k = 0
print("ready", flush=True)
while True:
    k += 1
    atomic.write_atomic(sys.argv[1], bytes([k % 251]) * 3_000_000)
"""


def test_replaces_the_whole_file_and_leaves_nothing_beside_it(tmp_path):
    path = tmp_path / "deep" / "file"
    write_atomic(path, b"old")
    write_atomic(path, b"new")
    assert path.read_bytes() == b"new"
    assert os.listdir(path.parent) == ["file"]


def test_a_failing_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    write_atomic(path, b"old")
    with pytest.raises(TypeError):
        write_atomic(path, "not bytes")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_killed_at_any_moment(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"\0" * 3_000_000)
    rng = np.random.default_rng(0)
    for _ in range(6):
        child = subprocess.Popen([sys.executable, "-c", WRITER, str(path), _atomic.__file__], stdout=subprocess.PIPE)
        assert child.stdout.readline() == b"ready\n"
        time.sleep(rng.uniform(0.0, 0.05))
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        child.stdout.close()
        data = path.read_bytes()
        assert len(data) == 3_000_000
        assert len(set(data)) == 1
