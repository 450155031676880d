"""The one loop: counting, limits, divergence, the words for why it ended, and rows of the trace."""

import math
import time
from typing import NamedTuple

import pytest

from certifit.solvers import STATUS, Solution, drive
from certifit.solvers._status import limit_of, worst


class At(NamedTuple):
    objective: float
    gap: float = 1.0
    step: float = 0.5


def halve(s):
    return At(s.objective / 2, s.gap / 2)


def never(before, after):
    return False


def test_every_way_to_end_has_its_word():
    small = lambda before, after: after.gap < 0.1  # noqa: E731
    assert drive(At(1.0), halve, small, 50).status == "converged"
    assert drive(At(1.0), halve, never, 7).status == "max_iter"
    assert drive(At(1.0), halve, never, math.inf, time_budget=1e-3).status == "time_budget"
    run = drive(At(1.0), lambda s: At(math.nan), never, 7)
    assert (run.status, run.state.objective) == ("diverged", 1.0)
    assert drive(At(1.0), halve, lambda a, b: "precision" if b.gap < 0.1 else "", 50).status == "precision"


def test_limits_are_kept():
    assert drive(At(1.0), halve, never, 7).n_iter == 7
    begun = time.perf_counter()
    run = drive(At(1.0), lambda s: (time.sleep(0.005), s)[1], never, math.inf, time_budget=0.02)
    assert 0.02 <= run.seconds <= time.perf_counter() - begun
    assert run.n_iter <= 5
    assert drive(At(1.0), halve, never, math.inf, time_budget=0.0).n_iter == 1


def test_the_start_is_looked_at_only_when_asked():
    good = lambda before, after: after.gap <= 1.0  # noqa: E731
    assert drive(At(1.0), halve, good, 50).n_iter == 1
    run = drive(At(1.0), halve, good, 50, check_start=True)
    assert (run.n_iter, run.status) == (0, "converged")


def test_trace_has_a_row_an_iteration_or_what_events_say():
    plain = drive(At(1.0), halve, never, 3, trace=True)
    assert plain.trace["iteration"] == [0, 1, 2, 3]
    assert plain.trace["objective"] == [1.0, 0.5, 0.25, 0.125]
    assert plain.trace["seconds"] == sorted(plain.trace["seconds"])
    assert not len(drive(At(1.0), halve, never, 3).trace)
    run = drive(At(1.0), halve, never, 3, trace=True, events=lambda s: [{"row": k} for k in range(2)] * (s.gap < 1))
    assert run.trace["row"] == [0, 1] * 3
    assert run.trace["iteration"] == [1, 1, 2, 2, 3, 3]
    assert run.state == plain.state


def test_words():
    assert worst(["closed form", "converged"]) == "converged"
    assert worst(["converged", "diverged", "max_iter"]) == "diverged"
    assert limit_of("max_iter") == "max_iter"
    assert limit_of("precision") is None
    assert all(Solution(None, word).converged == (word in ("converged", "closed form")) for word in STATUS)
    with pytest.raises(AssertionError):
        Solution(None, "solved")
