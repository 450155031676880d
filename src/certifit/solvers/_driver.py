"""The one loop: iteration, counting, time, non-finite numbers and traces are handled here and nowhere else."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from certifit.solvers._solution import TraceRow


class State(Protocol):
    """What the driver reads of a solver's state."""

    @property
    def objective(self) -> float: ...
    @property
    def gap(self) -> float: ...
    @property
    def step(self) -> float: ...


S = TypeVar("S", bound=State)


@dataclass(frozen=True)
class Run:
    """How a drive ended."""

    state: Any
    status: str
    n_iter: int
    seconds: float
    trace: list[TraceRow]

    @property
    def stats(self) -> dict[str, Any]:
        """The part that every solution reports."""
        return {"n_iter": self.n_iter, "seconds": self.seconds, "trace": self.trace}


def drive(
    state: S,
    advance: Callable[[S], S],
    finished: Callable[[S, S], bool],
    max_iter: int,
    time_budget: float | None = None,
    trace: bool = False,
) -> Run:
    """Advance a state until ``finished(before, after)``, ``max_iter`` steps, or the time is over.

    Parameters
    ----------
    state : State
        Where to start; has ``objective``, ``gap`` and ``step``.
    advance : callable
        One iteration: state in, next state out.
    finished : callable
        Whether to stop, given the states before and after an iteration.
    max_iter : int
    time_budget : float, default=None
        Seconds; None is no limit.
    trace : bool, default=False
        Record a `TraceRow` per iteration.

    Returns
    -------
    Run
        With status "converged", "max_iter", "time_budget" or "diverged" (the last finite state is kept).

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
    rows: list[TraceRow] = []

    def note(i: int, s: S) -> None:
        if trace:
            rows.append(TraceRow(i, s.objective, s.gap, s.step, time.perf_counter() - start))

    note(0, state)
    status, i = "max_iter", 0
    while i < max_iter:
        after = advance(state)
        i += 1
        if not math.isfinite(after.objective):
            status = "diverged"
            break
        note(i, after)
        before, state = state, after
        if finished(before, after):
            status = "converged"
            break
        if time_budget is not None and time.perf_counter() - start >= time_budget:
            status = "time_budget"
            break
    return Run(state, status, i, time.perf_counter() - start, rows)
