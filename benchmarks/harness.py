"""Run a workload with certifit and with the peers that are installed, fairly, and print one table.

A workload is a module in `benchmarks.workloads` with

- ``WHAT``: the work in a few words; ``GOAL``: the goal in a few words;
- ``entries() -> list[Entry]``: certifit first, then peers, then floors (all on the same data).

Libraries alternate after a warm-up, so that noise hits all alike; the median of the repeats is reported, and
beside it the proved gap that each reached. It is a measurement, not a test: it never fails on a slow machine.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import pkgutil
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

_PAUSE = 0.08  # seconds: idle threads of the library before spin for a while, at the expense of the next one
RESULTS = Path(__file__).parent / "results"


@dataclass
class Entry:
    """One contestant: what to time, and how to judge what came out."""

    name: str
    run: Callable[[], Any]
    gap: Callable[[Any], float | None] = lambda result: None
    kind: str = "peer"  # "ours", "peer" or "floor"
    note: str = ""
    repeats: int = 5


@dataclass
class Row:
    """What was measured of one contestant."""

    workload: str
    name: str
    kind: str
    seconds: float
    best: float
    gap: float | None
    memory_mb: float
    note: str


def installed(module: str) -> bool:
    """Whether a peer can be imported."""
    return importlib.util.find_spec(module) is not None


def names() -> list[str]:
    """All workloads."""
    from benchmarks import workloads

    return sorted(m.name.replace("_", "-") for m in pkgutil.iter_modules(workloads.__path__))


def measure(name: str) -> list[Row]:
    """Time every contestant of one workload."""
    module = importlib.import_module(f"benchmarks.workloads.{name.replace('-', '_')}")
    entries: list[Entry] = module.entries()
    results = {e.name: e.run() for e in entries}  # warm-up, and what the judge sees
    times: dict[str, list[float]] = {e.name: [] for e in entries}
    for turn in range(max(e.repeats for e in entries)):
        for e in entries:
            if turn < e.repeats:
                _wait()
                start = time.perf_counter()
                e.run()
                times[e.name].append(time.perf_counter() - start)
    rows = []
    for e in entries:
        seen = sorted(times[e.name])
        memory = _peak(e.run)
        rows.append(Row(name, e.name, e.kind, seen[len(seen) // 2], seen[0], e.gap(results[e.name]), memory, e.note))
    return rows


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


def table(name: str, rows: list[Row]) -> str:
    """The rows as text, with ratios to the best peer and to the floor."""
    module = importlib.import_module(f"benchmarks.workloads.{name.replace('-', '_')}")
    peers = [r.seconds for r in rows if r.kind == "peer"]
    floors = [r.seconds for r in rows if r.kind == "floor"]
    lines = [
        f"{name}: {module.WHAT}   (goal: {module.GOAL})",
        f"  {'library':<24}{'seconds':>10}{'best peer ÷':>13}{'÷ floor':>9}{'proved gap':>12}{'peak MB':>9}",
    ]
    for r in rows:
        ratio = f"{min(peers) / r.seconds:.2f}" if peers else ""
        floor = f"{r.seconds / min(floors):.2f}" if floors else ""
        gap = "" if r.gap is None else f"{r.gap:.1e}"
        lines.append(f"  {r.name:<24}{r.seconds:>10.4f}{ratio:>13}{floor:>9}{gap:>12}{r.memory_mb:>9.0f}  {r.note}")
    return "\n".join(lines)


def save(rows: list[Row]) -> Path:
    """Write the rows as JSON; later runs of a workload replace earlier ones."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / "results.json"
    old = json.loads(path.read_text()) if path.exists() else []
    fresh = {r.workload for r in rows}
    kept = [r for r in old if r["workload"] not in fresh]
    path.write_text(json.dumps(kept + [asdict(r) for r in rows], indent=1))
    return path


def draw() -> Path:
    """A picture of all saved rows: how many times faster than the best peer, per workload."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rows = json.loads((RESULTS / "results.json").read_text())
    names_seen = sorted({r["workload"] for r in rows})
    ratios = []
    for name in names_seen:
        ours = [r["seconds"] for r in rows if r["workload"] == name and r["kind"] == "ours"]
        peers = [r["seconds"] for r in rows if r["workload"] == name and r["kind"] == "peer"]
        ratios.append(min(peers) / ours[0] if ours and peers else float("nan"))
    figure, ax = plt.subplots(figsize=(7, 0.35 * len(names_seen) + 1.2), layout="constrained")
    colours = ["#0072B2" if r >= 1 else "#D55E00" for r in ratios]
    ax.barh(names_seen, ratios, color=colours)
    ax.axvline(1.0, color="black", linewidth=0.8)
    ax.set_xscale("log")
    ax.invert_yaxis()
    ax.set_xlabel("times as fast as the fastest peer, at equal proved gap (log scale)")
    path = RESULTS / "speed.png"
    figure.savefig(path, dpi=130)
    plt.close(figure)
    return path
