"""Copies of this process: what they answer, and when there are none."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import pytest

from certifit import _copies
from tests.killing import outlived

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux only")


@pytest.fixture
def can(monkeypatch):
    """Other tests may have left threads."""
    monkeypatch.setattr(_copies, "possible", lambda: True)


def test_a_copy_has_what_was_there_and_answers_in_order():
    there = {"a": 1, "b": 2}
    copy = _copies.Copy(lambda key: (there[key], os.getpid()))
    copy.ask("b")
    copy.ask("a")
    there["a"] = 3  # here, not in the copy
    (second, other), (first, _) = copy.answer(), copy.answer()
    assert (first, second) == (1, 2)
    assert other != os.getpid()
    copy.end()


def test_errors_are_raised_here_and_a_lost_copy_is_noticed():
    copy = _copies.Copy(lambda pause: time.sleep(pause) if pause else 1 // pause)
    copy.ask(0)
    assert _copies.answered([copy], 30.0) == [copy]
    with pytest.raises(ZeroDivisionError):
        copy.answer()
    copy.ask(60)
    assert _copies.answered([copy], 0.0) == []
    copy.process.kill()
    assert _copies.answered([copy], 30.0) == [copy]
    with pytest.raises(EOFError):
        copy.answer()
    copy.end()


def test_work_aside_is_done_here_where_no_copy_can_be_made():
    assert _copies.aside(os.getpid)() == os.getpid()


def test_work_aside_is_done_in_a_copy_and_its_errors_are_raised(can):
    assert _copies.aside(os.getpid)() != os.getpid()
    assert _copies.aside(divmod, 7, 2)() == (3, 1)
    with pytest.raises(ZeroDivisionError):
        _copies.aside(divmod, 7, 0)()


def test_work_of_a_copy_that_is_lost_is_done_here(can):
    here = os.getpid()

    def work():
        return os.getpid() if os.getpid() == here else os._exit(1)

    assert _copies.aside(work)() == here


def test_a_copy_made_ahead_is_taken_once(can):
    with _copies.made_ahead("adding", lambda v: v + 1, 0):
        assert _copies.ahead("drawing") is None
        copy = _copies.ahead("adding")
        assert _copies.ahead("adding") is None
        copy.ask(41)
        assert copy.answer() == 42
    with _copies.made_ahead("failing", lambda v: 1 // v, 0):
        assert _copies.ahead("failing") is None


def test_copies_are_made_only_where_they_are_allowed_and_no_thread_runs():
    code = (
        "import threading, time\n"
        "from certifit import _copies\n"
        "print(_copies.possible())\n"
        "with _copies.allowed():\n"
        "    print(_copies.possible())\n"
        "    threading.Thread(target=time.sleep, args=(1.0,)).start()\n"
        "    print(_copies.possible())\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["False", "True", "False"]


def test_a_thread_that_runs_is_seen_whatever_started_it():
    stop, running = threading.Event(), []

    def spin():
        running.append(str(threading.get_native_id()))
        while not stop.is_set():
            pass

    thread = threading.Thread(target=spin)
    thread.start()
    try:
        end = time.monotonic() + 30.0
        while not (running and running[0] in _copies._running()) and time.monotonic() < end:
            time.sleep(0.001)
        assert running[0] in _copies._running() or time.monotonic() < end
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("signal", ["SIGTERM", "SIGINT", "SIGKILL"])
def test_copies_end_with_a_parent_that_is_killed(signal):
    code = (
        "import os, time\n"
        "from certifit import _copies\n"
        "copy = _copies.Copy(lambda _: os.getpid() if _ else time.sleep(60))\n"
        "copy.ask(1)\n"
        "pid = copy.answer()\n"
        "copy.ask(0)\n"
        "print(pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    assert not outlived(code, signal)
