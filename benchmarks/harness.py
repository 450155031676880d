"""Run a workload with certifit and with the peers that are installed, fairly, and print one table.

A workload is a module in `benchmarks.workloads` with

- ``WHAT``: the work in a few words; ``GOAL``: the goal in a few words;
- ``entries() -> list[Entry]``: certifit first, then peers, then floors (all on the same data).

Libraries alternate after a warm-up, so that noise hits all alike; the median of the repeats is reported, and
beside it the proved gap that each reached. A peer that needs long runs once, and one that needs minutes is stopped (it
then counts as if it had finished there, in its favour); one that fails is left out, and said to be. It is a
measurement, not a test: it never fails on a slow machine. Ratios mean something on a quiet machine only; where others
used more than a tenth of it, they are left out or marked.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
import signal
import threading
import time
import traceback
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks import machine
from certifit.loops._tiers import Switch

_PAUSE = 0.2  # seconds: idle threads of the library before spin (OpenBLAS: 2²⁸ cycles) at the expense of the next one
_LONG = 8.0  # seconds from which on a peer's first run is its only one: what it did not need again is little of that
_ENOUGH = 180.0  # seconds after which a peer is stopped
_MINUTES = ("first-call", "lasso-path", "ridge-grid", "study-", "svc-grid")


@dataclass(frozen=True)
class Work:
    """What has to be done whatever the program: bytes read from memory, and operations of matrix products."""

    bytes_read: float
    operations: float = 0.0
    dtype: str = "float64"


@dataclass
class Entry:
    """One contestant: what to time, and how to judge what came out."""

    name: str
    run: Callable[[], Any]
    gap: Callable[[Any], float | None] = lambda result: None
    kind: str = "peer"  # "ours", "peer" or "floor"
    note: str = ""
    repeats: int = 5
    case: str = ""  # entries are compared within a case
    work: Work | None = None
    known: tuple[Any, float] | None = None  # result and seconds of a run that was made before; it counts if it was long


@dataclass
class Row:
    """What was measured of one contestant."""

    workload: str
    case: str
    name: str
    kind: str
    seconds: float
    best: float
    gap: float | None
    memory_mb: float | None
    roofline: float | None  # seconds
    others: float  # fraction of the machine that other processes used meanwhile
    note: str


def installed(module: str) -> bool:
    """Whether a peer can be imported."""
    return importlib.util.find_spec(module) is not None


def names() -> list[str]:
    """All workloads, those that take minutes last."""
    from benchmarks import workloads

    found = (m.name.replace("_", "-") for m in pkgutil.iter_modules(workloads.__path__))
    return sorted(found, key=lambda name: (name == "first-call", name.startswith(_MINUTES), name))


def load(name: str) -> Any:
    """The module of a workload."""
    return importlib.import_module(f"benchmarks.workloads.{name.replace('-', '_')}")


def measure(name: str, most: int | None = None) -> list[Row]:
    """Time every contestant of one workload, at most so many times each; memory is left out of a single run."""
    module = load(name)
    if hasattr(module, "measure"):  # first calls: nothing can be warmed up or repeated
        return list(module.measure())
    with _compiled():
        return _measured(name, module, most)


@contextmanager
def _compiled() -> Iterator[None]:
    """Context in which every loop is compiled at its first call, here and in processes that start: in the warm-up.

    Otherwise a loop that has been edited, or a new copy of the project, would be timed in plain Python, or compiled
    while it is timed, once its allowance (`certifit.loops._tiers`) is used up.
    """
    variable = "CERTIFIT_COMPILE"
    before, said = Switch.always, os.environ.get(variable)
    Switch.always, os.environ[variable] = True, "always"
    try:
        yield
    finally:
        Switch.always = before
        if said is None:
            del os.environ[variable]
        else:
            os.environ[variable] = said


def _measured(name: str, module: Any, most: int | None) -> list[Row]:
    watch = machine.Watch()
    ran = [(e, *first) for e in module.entries() if (first := _first(e))]  # warm-up, and what the judge sees
    if not ran:
        raise RuntimeError("no contestant could run")
    entries, firsts = [e for e, _, _ in ran], [seconds for _, _, seconds in ran]
    once = [e.kind == "peer" and seconds >= _LONG for e, seconds in zip(entries, firsts)]
    meanwhile = watch.others() if any(once) else 0.0
    turns, others = alternate([e for e, o in zip(entries, once) if not o], most)
    left, rows = iter(turns), []
    for (e, result, seconds), o in zip(ran, once):
        floor = machine.roofline(e.work.bytes_read, e.work.operations, e.work.dtype) if e.work else None
        seen = [seconds] if o else next(left)
        memory = None if seconds >= _LONG or most == 1 else _peak(e.run)  # counting makes a run several times as long
        said = "" if not o else "stopped: takes longer" if isinstance(result, _Stopped) else "one run"
        note = "; ".join(part for part in (e.note, said) if part)
        gap = None if isinstance(result, _Stopped) else e.gap(result)
        middle, busy = seen[len(seen) // 2], max(others, meanwhile)
        rows.append(Row(name, e.case, e.name, e.kind, middle, seen[0], gap, memory, floor, busy, note))
    return rows


def _first(entry: Entry) -> tuple[Any, float] | None:
    """Result and seconds of the first run; None for a peer that fails, which must not end the race."""
    if entry.known is not None and entry.known[1] >= _LONG:
        return entry.known
    start = time.perf_counter()
    try:
        return _limited(entry.run, _ENOUGH if entry.kind == "peer" else 0.0), time.perf_counter() - start
    except _Stopped as stopped:
        return stopped, time.perf_counter() - start
    except Exception:
        if entry.kind == "ours":
            raise
        print(f"{entry.name} is left out:\n{traceback.format_exc(limit=-2)}", flush=True)
        return None


class _Stopped(BaseException):
    """A run that took too long; nothing that a library catches."""


def _limited(run: Callable[[], Any], seconds: float) -> Any:
    """``run()``, stopped after so many seconds (0: never), as soon as Python has a say again."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        return run()

    def stop(*_: Any) -> None:
        raise _Stopped

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return run()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def alternate(entries: list[Entry], most: int | None = None) -> tuple[list[list[float]], float]:
    """The sorted times of each contestant, who take turns, and the share of the machine that others used meanwhile.

    A turn in which others used too much is taken again, up to twice as many turns in all; the quietest ones count.
    """
    if not entries:
        return [], 0.0
    wanted = [min(e.repeats, most or e.repeats) for e in entries]
    taken: list[tuple[float, dict[int, float]]] = []
    for _ in range(2 * max(wanted)):
        quiet = sum(others <= machine.QUIET for others, _ in taken)
        if quiet >= max(wanted):
            break
        # Contestants that run less often than others sit out the later turns, as long as they had quiet ones.
        playing = [i for i, count in enumerate(wanted) if quiet < count]
        watch, seen = machine.Watch(), {}
        for i in playing:
            seen[i] = _seconds(entries[i])
        taken.append((watch.others(), seen))
    times, worst = [], 0.0
    for i, count in enumerate(wanted):
        best = sorted((t for t in taken if i in t[1]), key=lambda t: t[0])[:count]
        worst = max(worst, *(others for others, _ in best))
        times.append(sorted(seen[i] for _, seen in best))
    return times, worst


def _seconds(entry: Entry) -> float:
    _wait()
    start = time.perf_counter()
    entry.run()
    return time.perf_counter() - start


def _wait() -> None:
    """Let other threads come to rest, without letting the core fall asleep."""
    start = time.perf_counter()
    while time.perf_counter() - start < _PAUSE:
        pass


def _peak(run: Callable[[], Any]) -> float:
    """Peak of what Python and NumPy allocate during one run, in MB."""
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def ratio(row: Row, rows: list[Row], kind: str) -> float | None:
    """How many times as fast as the best of a kind in the same case; None where there is none."""
    seconds = [r.seconds for r in rows if r.case == row.case and r.kind == kind]
    return min(seconds) / row.seconds if seconds else None


def table(name: str, rows: list[Row], anyway: bool = False) -> str:
    """The rows as text, with ratios to the best peer, to the floor and to the roofline."""
    module = load(name)
    busy = max(r.others for r in rows) > machine.QUIET
    mark = "~" if busy else ""

    def show(value: float | None, form: str) -> str:
        if value is None:
            return ""
        return "busy" if busy and not anyway else mark + format(value, form)

    head = f"{'seconds':>10}{'best peer ÷':>13}{'÷ floor':>9}{'of peak':>9}{'proved gap':>12}{'peak MB':>9}"
    lines = [f"{name}: {module.WHAT}   (goal: {module.GOAL})", f"  {'library':<34}{head}"]
    for r in rows:
        floor = ratio(r, rows, "floor")
        cells = (
            f"{r.seconds:>10.4f}{show(ratio(r, rows, 'peer'), '.2f'):>13}"
            f"{show(floor and 1.0 / floor, '.2f'):>9}{show(r.roofline and r.roofline / r.seconds, '.0%'):>9}"
        )
        gap = "" if r.gap is None else f"{r.gap:.1e}"
        label = f"{r.case}: {r.name}" if r.case else r.name
        memory = "" if r.memory_mb is None else f"{r.memory_mb:.0f}"
        lines.append(f"  {label:<34}{cells}{gap:>12}{memory:>9}  {r.note}")
    if busy:
        said = "ratios are marked ~" if anyway else "no ratios; --anyway prints them"
        lines.append(f"  Not quiet: other processes used {max(r.others for r in rows):.0%} of the machine ({said}).")
    return "\n".join(lines)
