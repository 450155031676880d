"""The first fit and prediction of every estimator, with an empty cache of compiled loops and with a full one."""

from __future__ import annotations

from benchmarks import machine
from benchmarks.first_call import cold_and_warm, names
from benchmarks.harness import Row

WHAT = "first fit and predict on 1,000 × 10, a process each; processor seconds, import not counted"
GOAL = "≤ 3 s with nothing compiled"


def measure() -> list[Row]:
    """One cold and one warm call of each: nothing is repeated, since only the first call counts."""
    watch, calls = machine.Watch(), [(path, *cold_and_warm(path)) for path in names()]
    others, rows = watch.others(), []
    for path, cold, warm in calls:
        for name, call in (("nothing compiled", cold), ("next process", warm)):
            note = f"import {call.importing:.2f} s, compiling {call.compiling:.2f} s"
            spent = call.calling
            rows.append(Row("first-call", path, name, "ours", spent, spent, None, None, None, others, note))
    return rows
