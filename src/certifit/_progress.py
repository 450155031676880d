"""Progress of long work: inside ``with certifit.progress():`` every long loop says how far it has come.

Loops announce themselves by `task`; only the outermost is shown, since its steps are what somebody waits for. Outside
of the context a task costs one look at a variable.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

Tell = Callable[[str, int, int | None], Any]
_ACTIVE: ContextVar[Any] = ContextVar("certifit_progress", default=None)
_AFTER = 0.5  # seconds before anything is drawn: short work stays silent
_EVERY = 0.2  # seconds between two redraws


@contextmanager
def progress(tell: Tell | None = None) -> Iterator[None]:
    """Show the progress of long computations: a line on standard error, or any function.

    A line with a bar where the number of steps is known (starts of k-means, episodes, numbers of clusters, rows of a
    search for a bandwidth, blocks of a bound), and otherwise the number of iterations and the current gap.

    Parameters
    ----------
    tell : callable, default=None
        Called with the task ("k-means"), the number of steps done, and their total or None; by default a progress
        line is drawn for work that takes more than half a second.

    Examples
    --------
    >>> import numpy as np
    >>> from certifit.cluster import KMeans
    >>> seen = []
    >>> with progress(lambda what, done, total: seen.append((what, done, total))):
    ...     model = KMeans(2, n_init=3, random_state=0).fit(np.random.default_rng(0).normal(size=(40, 2)))
    >>> seen
    [('k-means', 1, 3), ('k-means', 2, 3), ('k-means', 3, 3)]
    """
    token = _ACTIVE.set(Line if tell is None else lambda what, total: _Function(tell, what, total))
    try:
        yield
    finally:
        _ACTIVE.reset(token)


@contextmanager
def task(what: str, total: int | None = None) -> Iterator[Callable[..., None]]:
    """The steps of one piece of work: call what this gives with the number done (and the gap, where there is one)."""
    make = _ACTIVE.get()
    if make is None:
        yield _silent
        return
    shown = make(what, total)
    token = _ACTIVE.set(None)  # the work inside its steps is theirs
    try:
        yield shown
    finally:
        _ACTIVE.reset(token)
        shown.close()


def _silent(done: int, gap: float = math.nan) -> None:
    """Nobody is watching."""


class _Function:
    """Somebody's own function."""

    def __init__(self, tell: Tell, what: str, total: int | None) -> None:
        self.tell, self.what, self.total = tell, what, total

    def __call__(self, done: int, gap: float = math.nan) -> None:
        self.tell(self.what, done, self.total)

    def close(self) -> None:
        """Nothing to clear away."""


class Line:
    """One line that is drawn again and again: ``what  ━━━━━━  40 %  0:12``."""

    def __init__(self, what: str, total: int | None = None, after: float = _AFTER, stream: Any = None) -> None:
        self.what, self.total, self.stream = what, total, stream if stream is not None else sys.stderr
        self.start = time.monotonic()
        self.next, self.length = self.start + after, 0

    def __call__(self, done: int, gap: float = math.nan) -> None:
        now = time.monotonic()
        last = done == self.total and (self.length or self.next <= self.start)
        if now < self.next and not last:
            return
        self.next = now + _EVERY
        minutes, seconds = divmod(int(now - self.start), 60)
        if self.total:
            middle = f"{'━' * (20 * done // self.total):<20} {100 * done // self.total:>3} %"
        else:
            middle = f"iteration {done}" + (f", gap {gap:.1e}" if math.isfinite(gap) else "")
        text = f"  {self.what:<12} {middle}  {minutes}:{seconds:02d}"
        self.stream.write(f"\r{text:<{self.length}}")
        self.length = len(text)
        self.stream.flush()

    def close(self) -> None:
        """End the line, if it was drawn."""
        if self.length:
            self.stream.write("\n")
            self.stream.flush()
            self.length = 0
