"""Why a fit stopped: one set of words for solvers, estimators (``status_``) and warnings."""

from __future__ import annotations

from collections.abc import Iterable

STATUS = {
    "closed form": "solved directly; nothing was iterated",
    "converged": "the stopping rule was met: the gap asked for, or a pass without mistakes",
    "no improvement": "nothing improved by tol for n_iter_no_change passes",
    "precision": "rounding allows no further progress",
    "max_iter": "the limit on iterations was reached",
    "time_budget": "the time budget was used up",
    "cycle": "the weights returned to an earlier value: it would never stop",
    "not separable": "the classes overlap or touch: there is no margin to maximise",
    "diverged": "the numbers overflowed; the last finite state is kept",
}
"""Every status with its meaning, the best first."""

_LIMITS = {"max_iter": "max_iter", "time_budget": "the time budget"}


def worst(statuses: Iterable[str]) -> str:
    """The status of several runs together.

    Examples
    --------
    >>> worst(["converged", "time_budget", "max_iter"])
    'time_budget'
    """
    order = list(STATUS)
    return max(statuses, key=order.index)


def limit_of(status: str) -> str | None:
    """The limit that ended a run, as a warning names it; None when none did.

    Examples
    --------
    >>> limit_of("time_budget"), limit_of("converged")
    ('the time budget', None)
    """
    return _LIMITS.get(status)
