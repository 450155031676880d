"""Results of runs: the latest of every workload, all runs by their time, a picture, and two runs side by side."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.harness import Row, load
from benchmarks.machine import QUIET

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

    @classmethod
    def resumed(cls, machine: dict[str, Any], idle: float) -> Run:
        """The newest run of this commit, to be continued; a new one where there is none."""
        run = cls(machine, idle)
        same = sorted(run.path.parent.glob(f"*-{run.path.name.split('-', 2)[2]}"))
        if same:
            run.path, run.record = same[-1], json.loads(same[-1].read_text())
        return run

    @property
    def done(self) -> set[str]:
        """The workloads that were measured."""
        return {r["workload"] for r in self.record["rows"]}

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


def _wanted(goal: str, case: str) -> float | None:
    """The least ratio to the best peer that a goal names, for a case if it names that; None where it names none."""
    named = re.search(rf"{re.escape(case)} ≥ ([\d.]+)", goal) if case else None
    first = named or re.search(r"([\d.]+) ?(?:×|times)", goal)
    return float(first[1]) if first else 1.0 if "as fast as" in goal else None


def markdown(record: dict[str, Any]) -> str:
    """A run as a table to paste, best ratio first; ratios in bold miss their goal, and a busy machine has none."""
    lines, rows = [], record["rows"]
    for r in rows:
        mine = [p for p in rows if (p["workload"], p["case"]) == (r["workload"], r["case"])]
        peers, floors = ([p for p in mine if p["kind"] == kind] for kind in ("peer", "floor"))
        if r["kind"] != "ours" or not peers:
            continue
        module, best = load(r["workload"]), min(peers, key=lambda p: p["seconds"])
        ratio, least = best["seconds"] / r["seconds"], _wanted(module.GOAL, r["case"])
        shown = (
            "busy" if r["others"] > QUIET else f"{ratio:.3g}" if least is None or ratio >= least else f"**{ratio:.3g}**"
        )
        gap = "" if r["gap"] is None else f"{r['gap']:.0e}"
        floor = f"{r['seconds'] / min(p['seconds'] for p in floors):.2f}" if floors else ""
        what = f"{module.WHAT}: {r['case']}" if r["case"] else module.WHAT
        cells = (what, best["name"], shown, module.GOAL, _time(r["seconds"]), _time(best["seconds"]), floor, gap)
        lines.append((ratio, "| " + " | ".join(cells) + " |"))
    about = record["machine"]
    head = [
        f"{about['processor']}, {about['cores']} cores, {', '.join(about['blas'])}, {record['began']}, "
        f"commit {record['commit']}; in use by others before {record['others_before']:.0%}, "
        f"after {record['others_after']:.0%}.\n",
        "| workload | best peer | ratio | goal | certifit | peer | ÷ floor | proved gap |",
        "|---|---|---|---|---|---|---|---|",
    ]
    return "\n".join(head + [line for _, line in sorted(lines, reverse=True)])


def proofs(record: dict[str, Any]) -> str:
    """What proofs cost, as a table to paste: multiples of the fit, and the share of the least work that verify is."""
    cases = dict.fromkeys(r["case"] for r in record["rows"] if r["workload"] == "proof")
    lines = []
    for case in cases:
        by = {r["name"]: r for r in record["rows"] if (r["workload"], r["case"]) == ("proof", case)}
        family, size = case.rsplit(", ", 1) if "×" in case else (case, "")
        fit, read, check = (by[name]["seconds"] for name in ("fit", "certificate_", "verify"))
        least = by["verify"]["roofline"]
        rest = ("", "") if least is None else (f"{least / fit:.1f}", f"{least / check:.0%}")
        cells = (family, size, f"{1e3 * fit:.1f}", f"{read / fit:.1f}", f"{check / fit:.1f}", *rest)
        lines.append("| " + " | ".join(cells) + " |")
    head = ["| family | size | fit, ms | `certificate_` ÷ fit | `verify` ÷ fit | least ÷ fit | least ÷ `verify` |"]
    return "\n".join([*head, "|---|---|---|---|---|---|---|", *lines]) if lines else ""


def first_calls(record: dict[str, Any]) -> str:
    """The first call of every estimator as a table to paste, the slowest first."""
    by: dict[str, dict[str, dict[str, Any]]] = {}
    for r in record["rows"]:
        if r["workload"] == "first-call":
            by.setdefault(r["case"].rsplit(".", 1)[-1], {})[r["name"]] = r
    lines = []
    for name, calls in sorted(by.items(), key=lambda item: -item[1]["nothing compiled"]["seconds"]):
        cold, warm = calls["nothing compiled"], calls["next process"]
        compiling = re.search(r"compiling ([\d.]+) s", cold["note"])
        cells = (
            f"`{name}`",
            *(f"{s:.2f}" for s in (cold["seconds"], float(compiling[1] if compiling else 0.0), warm["seconds"])),
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(["| estimator | cold | compiling | warm |", "|---|---|---|---|", *lines]) if lines else ""


def _time(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1e3 * seconds:.3g} ms"


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
    """``python -m benchmarks.history [RUN.json]``: one run (the newest) as Markdown; two of them are compared."""
    given = sys.argv[1:] or [str(path) for path in sorted((RESULTS / "history").glob("*.json"))[-1:]]
    if len(given) not in (1, 2):
        sys.exit("One file of benchmarks/results/history for a table, two for make bench-compare OLD=... NEW=...")
    try:
        runs = [json.loads(Path(name).read_text()) for name in given]
    except (OSError, json.JSONDecodeError) as reason:
        sys.exit(f"Not a file of results: {reason}")
    tables = [compare(*runs)] if len(runs) == 2 else [markdown(*runs), proofs(*runs), first_calls(*runs)]
    print("\n\n".join(table for table in tables if table))


if __name__ == "__main__":
    main()
