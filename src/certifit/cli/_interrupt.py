"""Ctrl-C in the command line.

A module written in C can swallow the KeyboardInterrupt that reaches it while it is imported. So it is also
remembered, and raised again at the next step of the command.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

__all__ = ["raise_if_interrupted", "remembering_interrupts"]

_interrupts: list[int] = []


@contextlib.contextmanager
def remembering_interrupts() -> Iterator[None]:
    """Remember interrupts meanwhile, unless somebody else handles them or this is not the main thread."""
    _interrupts.clear()
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, _hear)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def raise_if_interrupted() -> None:
    """Raise KeyboardInterrupt if there was one."""
    if _interrupts:
        raise KeyboardInterrupt


def _hear(number: int, frame: FrameType | None) -> None:
    _interrupts.append(number)
    raise KeyboardInterrupt
