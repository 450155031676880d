"""Results of runs: the latest of every workload, all runs by their time, a picture, and two runs side by side."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.harness import Row

RESULTS = Path(__file__).parent / "results"
LATEST = RESULTS / "results.json"


def commit() -> str:
    """The commit that is checked out, with + when files were changed since."""
    said = subprocess.run(["git", "describe", "--always", "--dirty=+"], capture_output=True, text=True, check=False)
    return said.stdout.strip() or "unknown"


class Run:
    """One call of ``make bench``: saved after every workload, so that nothing is lost when it is stopped."""

    def __init__(self, machine: dict[str, Any], idle: float) -> None:
        self.record: dict[str, Any] = {
            "began": time.strftime("%Y-%m-%d %H:%M:%S"),
            "commit": commit(),
            "machine": machine,
            "others_before": idle,
            "rows": [],
        }
        stamp = time.strftime("%Y%m%d-%H%M%S")
        self.path = RESULTS / "history" / f"{stamp}-{self.record['commit'].rstrip('+')}.json"

    def add(self, rows: list[Row], others_after: float) -> None:
        """Keep the rows of a workload, here and in the file of latest results."""
        fresh = [asdict(r) for r in rows]
        self.record["rows"] += fresh
        self.record["others_after"] = others_after
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(self.record, indent=1))
        old = json.loads(LATEST.read_text()) if LATEST.exists() else []
        mine = {r["workload"] for r in fresh}
        LATEST.write_text(json.dumps([r for r in old if r["workload"] not in mine] + fresh, indent=1))


def _ratios(rows: list[dict[str, Any]]) -> dict[tuple[str, str], tuple[float, float | None]]:
    """Seconds of ours, and how many times as fast as the best peer, for every workload and case."""
    found: dict[tuple[str, str], tuple[float, float | None]] = {}
    for r in rows:
        if r["kind"] == "ours":
            key = (r["workload"], r["case"])
            peers = [p["seconds"] for p in rows if (p["workload"], p["case"]) == key and p["kind"] == "peer"]
            found.setdefault(key, (r["seconds"], min(peers) / r["seconds"] if peers else None))
    return found


def compare(old: dict[str, Any], new: dict[str, Any]) -> str:
    """Two runs side by side. Ratios to the peers of the same run can be compared; seconds hardly."""
    before, after = _ratios(old["rows"]), _ratios(new["rows"])
    lines = [f"{'':<34}{old['commit']:>12}{new['commit']:>12}   (times as fast as the best peer; else seconds)"]
    for key in sorted(before.keys() & after.keys()):
        (s0, r0), (s1, r1) = before[key], after[key]
        name = ", ".join(part for part in key if part)
        if r0 is None or r1 is None:
            change, cells = s0 / s1, f"{s0:>11.4f}s{s1:>11.4f}s"
        else:
            change, cells = r1 / r0, f"{r0:>12.2f}{r1:>12.2f}"
        lines.append(f"{name:<34}{cells}   {'slower' if change < 0.9 else 'faster' if change > 1.1 else 'level'}")
    for name, there in (("new", after.keys() - before.keys()), ("gone", before.keys() - after.keys())):
        if there:
            lines.append(f"{name}: " + "; ".join(", ".join(p for p in key if p) for key in sorted(there)))
    return "\n".join(lines)


def draw() -> Path:
    """A picture of the latest results: how many times faster than the best peer, per workload."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    found = _ratios(json.loads(LATEST.read_text()))
    shown = {", ".join(p for p in key if p): ratio for key, (_, ratio) in sorted(found.items()) if ratio}
    figure, ax = plt.subplots(figsize=(7, 0.35 * len(shown) + 1.2), layout="constrained")
    ax.barh(list(shown), list(shown.values()), color=["#0072B2" if r >= 1 else "#D55E00" for r in shown.values()])
    ax.axvline(1.0, color="black", linewidth=0.8)
    ax.set_xscale("log")
    ax.invert_yaxis()
    ax.set_xlabel("times as fast as the fastest peer, at equal proved gap (log scale)")
    path = RESULTS / "speed.png"
    figure.savefig(path, dpi=130)
    plt.close(figure)
    return path


def main() -> None:
    """``python -m benchmarks.history OLD.json NEW.json``: what `make bench-compare` calls."""
    if len(sys.argv) != 3:
        sys.exit("Two files of benchmarks/results/history are needed: make bench-compare OLD=... NEW=...")
    try:
        old, new = (json.loads(Path(name).read_text()) for name in sys.argv[1:])
    except (OSError, json.JSONDecodeError) as reason:
        sys.exit(f"Not a file of results: {reason}")
    print(compare(old, new))


if __name__ == "__main__":
    main()
