"""The one loop: iteration, counting, time, non-finite numbers and traces are handled here and nowhere else."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from certifit._progress import task
from certifit._trace import Trace, TraceRow
from certifit._types import Record


class State(Protocol):
    """What the driver reads of a solver's state."""

    @property
    def objective(self) -> float: ...
    @property
    def gap(self) -> float: ...
    @property
    def step(self) -> float: ...


S = TypeVar("S", bound=State)
Events = Callable[[S], Iterable[Mapping[str, Any]]]
"""The algorithm's own columns of the rows that an iteration adds to the trace."""


@dataclass(frozen=True)
class DriveEnd:
    """How a drive ended."""

    state: Any
    status: str
    n_iter: int
    seconds: float
    trace: Trace

    @property
    def stats(self) -> Record:
        """The part that every solution reports."""
        return {"n_iter": self.n_iter, "seconds": self.seconds, "trace": self.trace}


def drive(
    state: S,
    advance: Callable[[S], S],
    finished: Callable[[S, S], bool | str],
    max_iter: float,
    time_budget: float | None = None,
    trace: bool = False,
    *,
    events: Events[S] | None = None,
    check_start: bool = False,
    what: str = "fit",
) -> DriveEnd:
    """Advance a state until ``finished(before, after)``, ``max_iter`` steps, or the end of the time budget.

    Parameters
    ----------
    state : State
        Where to start; has ``objective``, ``gap`` and ``step``.
    advance : callable
        One iteration: state in, next state out. Where the inner iteration is compiled, one call of that loop.
    finished : callable
        Whether to stop, given the states before and after an iteration: a bool, or the status (a word of
        `certifit.solvers.STATUS`; "" goes on).
    max_iter : float
        math.inf is no limit.
    time_budget : float, default=None
        Seconds; None is no limit. One iteration is always made.
    trace : bool, default=False
        Record a `TraceRow` per iteration.
    events : callable, default=None
        ``events(state)`` gives the rows that this state adds to the trace, each as a mapping of the algorithm's own
        columns (or of common ones that differ); None adds one row without any.
    check_start : bool, default=False
        Whether the start may be the answer: ``finished(state, state)`` is asked first.
    what : str, default="fit"
        What `certifit.progress` calls it.

    Returns
    -------
    Run
        With status "converged", "max_iter", "time_budget" or "diverged" (the last finite state is kept), or the word
        that ``finished`` gave.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> class At(NamedTuple):
    ...     objective: float
    ...     gap: float
    ...     step: float
    >>> halve = lambda s: At(s.objective / 2, s.gap / 2, 1.0)
    >>> run = drive(At(1.0, 1.0, 0.0), halve, lambda before, after: after.gap < 0.1, max_iter=50)
    >>> run.status, run.state.gap
    ('converged', 0.0625)
    """
    start = time.perf_counter()
    rows = Trace()

    def note(i: int, s: S) -> None:
        if trace:
            base = TraceRow(i, s.objective, s.gap, s.step, time.perf_counter() - start)
            for own in ({},) if events is None else events(s):
                rows.append(base._replace(**own))

    def verdict(before: S, after: S) -> str:
        said = finished(before, after)
        return said if isinstance(said, str) else "converged" if said else ""

    note(0, state)
    status, i = verdict(state, state) if check_start else "", 0
    with task(what) as tell:
        while not status:
            if i >= max_iter:
                status = "max_iter"
                break
            after = advance(state)
            i += 1
            if not math.isfinite(after.objective):
                status = "diverged"
                break
            note(i, after)
            tell(i, after.gap)
            before, state = state, after
            status = verdict(before, after)
            if not status and time_budget is not None and time.perf_counter() - start >= time_budget:
                status = "time_budget"
    return DriveEnd(state, status, i, time.perf_counter() - start, rows)
