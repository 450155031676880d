"""Copies of this process, made in milliseconds with everything that is loaded (on Linux, for the command line).

A process that starts anew imports and loads for seconds; a copy (a fork) repeats nothing. But it has only the thread
that made it, and a lock that another thread held would stay shut. So copies are made only where this process is the
command line's own (`allowed`), while no other thread of Python exists and the threads of libraries sleep: those of
OpenBLAS, Arrow and its allocator, which all see to forks themselves. No OpenMP region has run on several threads by
then. Talking to a copy needs no thread either: questions and answers go through a pipe, which is read when asked.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

_LOOK = 1.0  # seconds between two looks whether the parent of a worker process is still there
_PR_SET_PDEATHSIG = 1  # of <sys/prctl.h>
_PATIENCE = 0.1  # seconds for other threads to fall asleep after their work
_ALLOWED: set[str] = set()
_TASKS = Path("/proc/self/task")


@contextmanager
def allowed() -> Iterator[None]:
    """Context in which this process may copy itself: nobody else's code has run in it."""
    _ALLOWED.add("here")
    try:
        yield
    finally:
        _ALLOWED.discard("here")


def possible() -> bool:
    """Whether a copy can be made now.

    Examples
    --------
    >>> possible()  # not allowed
    False
    """
    if not (_ALLOWED and sys.platform == "linux" and _TASKS.is_dir() and threading.active_count() == 1):
        return False
    until = time.monotonic() + _PATIENCE
    while running := _running():
        if time.monotonic() > until:
            break
        time.sleep(0.001)
    return not running


def _running() -> list[str]:
    """The other threads of this process that run at this moment, of whatever library."""
    found = []
    for task in _TASKS.iterdir():
        if task.name != str(threading.get_native_id()):
            with suppress(OSError):  # it has ended
                state = (task / "stat").read_text().rpartition(")")[2].split()[0]
                found += [] if state == "S" else [task.name]
    return found


class Copy:
    """A copy of this process that answers questions by ``work(question)``, in their order, until it is ended.

    ``work`` and all it refers to are there already; questions and answers are pickled. At most a few short questions
    may wait at a time, or one long one: pipes hold 64 kB.
    """

    def __init__(self, work: Callable[[Any], Any]) -> None:
        self.pipe, theirs = multiprocessing.Pipe()
        fork = multiprocessing.get_context("fork")
        self.process = fork.Process(target=_serve, args=(work, theirs, os.getpid()), daemon=True)
        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # of threads: see above
            self.process.start()
        theirs.close()
        self.waiting = 0

    def ask(self, question: Any) -> None:
        """Send a question; `answer` will be about the oldest one."""
        with suppress(OSError):  # it has come to an end, which the answer tells
            self.pipe.send(question)
        self.waiting += 1

    def answer(self) -> Any:
        """Wait for the next answer; raises what the work raised, and `EOFError` if the copy has come to an end."""
        self.waiting -= 1
        try:
            done, found = self.pipe.recv()
        except OSError as error:
            raise EOFError("the copy has come to an end") from error
        if not done:
            raise found
        return found

    def end(self) -> None:
        """End the copy, whatever it is doing."""
        self.process.kill()
        self.process.join()
        self.process.close()
        self.pipe.close()


def answered(copies: Sequence[Copy], seconds: float | None = None) -> list[Copy]:
    """The copies whose next answer is there, or that have come to an end; waits so long for the first of them."""
    open_pipes = {copy.pipe: copy for copy in copies if copy.waiting}
    return [open_pipes[pipe] for pipe in wait(list(open_pipes), seconds)]  # type: ignore[index]


def _serve(work: Callable[[Any], Any], pipe: Any, parent: int) -> None:
    from threadpoolctl import threadpool_limits

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it too, and ends this process
    _die_with(parent)
    threadpool_limits(1)
    with suppress(EOFError):
        while True:
            question = pipe.recv()
            try:
                answer = True, work(question)
            except Exception as error:
                answer = False, error
            pipe.send(answer)


def _die_with(parent: int) -> None:
    """Let Linux end this process with its parent, which may be killed; a thread that looks would forbid more copies."""
    import ctypes

    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it came before
        os._exit(1)


def end_with(parent: int) -> None:
    """End this process soon after its parent, which may have been killed: it would wait for work for ever."""
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os._exit(1)


_AHEAD: dict[str, Copy] = {}


@contextmanager
def made_ahead(name: str, work: Callable[[Any], Any], first: Any) -> Iterator[None]:
    """Context in which a copy is kept for later work, and is asked a ``first`` question now: to load what it needs."""
    _AHEAD[name] = copy = Copy(work)
    copy.ask(first)
    try:
        yield
    finally:
        _AHEAD.pop(name, None)
        copy.end()


def ahead(name: str) -> Copy | None:
    """The copy that was made under this name, if any, after its first answer."""
    copy = _AHEAD.pop(name, None)
    if copy is not None:
        try:
            copy.answer()
        except Exception:  # without it the work is done here, where its error is raised again
            return None
    return copy


def aside(work: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    """Begin some work in a copy of this process; the answer is there when it is called.

    Where no copy can be made, or it fails, the work is done by that call.

    Examples
    --------
    >>> later = aside(max, [3, 5])
    >>> later()
    5
    """
    if not possible():
        return lambda: work(*arguments)
    copy = Copy(lambda _: work(*arguments))
    copy.ask(None)

    def answer() -> Any:
        try:
            return copy.answer()
        except Exception:  # what was wrong with the work itself is raised here again
            return work(*arguments)
        finally:
            copy.end()

    return answer
