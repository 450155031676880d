"""Progress of long work: a line on standard error, or any function of (done, total)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from certifit._progress import Line

T = TypeVar("T")
Progress = None | bool | Callable[[int, int], None]


def watched(items: Iterable[T], total: int, progress: Progress, what: str) -> Iterator[T]:
    """Pass items through, telling ``progress`` how many are done.

    ``None`` or False is silent, True draws a line on standard error, a function is called with (done, total).
    """
    line = Line(what, total, after=0.0) if progress is True else None
    for done, item in enumerate(items, start=1):
        yield item
        if line is not None:
            line(done)
        elif callable(progress):
            progress(done, total)
    if line is not None:
        line.close()
