"""How every loop is compiled: kept on disk, by one process at a time, and without a way in from C that nobody uses.

That way in takes a tenth to a fifth of the time a loop takes to compile. Processes that start side by side would all
compile the same loops: instead, one does, and the others wait for it and load what it kept. As loops call only loops of
their own file, there is one lock per file, and no two processes or threads can wait for each other.

Python's garbage collector rests meanwhile: a compiler makes many objects, and with a large program in memory looking
through all of them again and again takes a tenth to a fifth of the time.

And Numba's flags, thirty options that are part of the keys of its tables, are compared by those that are set: Numba
itself makes a dictionary of all thirty of either side each time, a quarter of the time that a study compiles.
"""

from __future__ import annotations

import contextlib
import gc
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
from numba.core.targetconfig import TargetConfig


def njit(**options: Any) -> Any:
    """`numba.njit` with these options, cached."""
    compiler: Any = numba.njit  # its types do not know of the wrappers

    def decorate(function: Callable[..., Any]) -> Any:
        loop = compiler(cache=True, no_cfunc_wrapper=True, **options)(function)
        if hasattr(loop, "compile"):  # NUMBA_DISABLE_JIT gives the function back
            plain = loop.compile

            def compile_in_turn(signature: Any) -> Any:
                with _turn(function.__module__, loop.stats.cache_path):
                    return plain(signature)

            loop.compile = compile_in_turn
        return loop

    return decorate


class _Turns:
    """Who compiles a module now: one thread, which may come back for the loops that a loop calls."""

    def __init__(self) -> None:
        self.lock, self.depth = threading.RLock(), 0


@contextlib.contextmanager
def _turn(module: str, folder: str | None) -> Iterator[None]:
    """The only thread of the only process that compiles this module now; without a place to write, of this process."""
    turns = _turns.setdefault(module, _Turns())
    with turns.lock, contextlib.ExitStack() as stack:
        if turns.depth == 0 and folder is not None:
            with contextlib.suppress(OSError, ImportError):
                import fcntl

                Path(folder).mkdir(parents=True, exist_ok=True)
                file = stack.enter_context((Path(folder) / f"{module}.lock").open("w"))
                fcntl.flock(file, fcntl.LOCK_EX)
        turns.depth += 1
        collecting = gc.isenabled()
        gc.disable()
        try:
            with _quick_flags():
                yield
        finally:
            turns.depth -= 1
            if collecting:
                gc.enable()


def same_flags(one: Any, other: Any) -> Any:
    """Whether two sets of Numba's flags are equal; an option that neither of them sets has its default in both."""
    if type(one) is not type(other):
        return _all_flags(one, other)
    a, b = one._values, other._values
    return a == b or all(getattr(one, k) == getattr(other, k) for k in a.keys() | b.keys())


@contextlib.contextmanager
def _quick_flags() -> Iterator[None]:
    """Numba with `same_flags` in place of its own comparison."""
    flags: Any = TargetConfig
    before, flags.__eq__ = flags.__eq__, same_flags
    try:
        yield
    finally:
        flags.__eq__ = before


_all_flags: Any = TargetConfig.__eq__
_turns: dict[str, _Turns] = {}
os.register_at_fork(after_in_child=_turns.clear)  # the thread that held a lock is not in the child
