"""Progress of long work: a line on standard error, or any function of (done, total)."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")
Progress = None | bool | Callable[[int, int], None]
_EVERY = 0.2  # seconds between two redraws


def watched(items: Iterable[T], total: int, progress: Progress, what: str) -> Iterator[T]:
    """Pass items through, telling ``progress`` how many are done.

    ``None`` or False is silent, True draws a line on standard error, a function is called with (done, total).
    """
    tell = _Line(what) if progress is True else progress
    for done, item in enumerate(items, start=1):
        yield item
        if callable(tell):
            tell(done, total)


class _Line:
    """One line that grows: ``what  ━━━━━━  40 %  0:12``."""

    def __init__(self, what: str, stream: Any = None) -> None:
        self.what, self.stream = what, stream if stream is not None else sys.stderr
        self.start = self.last = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if done < total and now - self.last < _EVERY:
            return
        self.last = now
        bar = "━" * (20 * done // max(total, 1))
        minutes, seconds = divmod(int(now - self.start), 60)
        end = "\n" if done >= total else ""
        self.stream.write(
            f"\r  {self.what:<12} {bar:<20} {100 * done // max(total, 1):>3} %  {minutes}:{seconds:02d}{end}"
        )
        self.stream.flush()
