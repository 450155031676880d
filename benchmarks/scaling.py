"""``make bench-scaling``: how the cost of every family grows with rows, columns, classes and points of a grid.

One size at a time is taken through its decades while the others stay at their usual values; processor time is measured
(several runs of short fits, the smallest counts), so that a busy machine disturbs little. A straight line through the
upper half of the logarithms gives the exponent: for small sizes the fixed cost of a call hides it. Written are JSON,
a picture a family and the tables of docs/scaling.md.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import machine
from benchmarks.history import RESULTS, commit
from benchmarks.jobs import JOBS, Job

PAGE = Path(__file__).parents[1] / "docs" / "scaling.md"
PICTURE = PAGE.parent / "images" / "scaling.png"
_LONGEST = 5.0  # seconds of one fit after which a curve ends
_NUMBERS = 30_000_000  # largest table: a quarter of a gigabyte


def seconds(job: Job, sizes: dict[str, int]) -> float:
    """Processor time of one fit: the least of a few."""
    X, y = job.data(sizes)
    job.fit(X[:200], y[:200], sizes)  # compiled and loaded
    best, spent = np.inf, 0.0
    for _ in range(7):
        start = time.process_time()
        job.fit(X, y, sizes)
        last = time.process_time() - start
        best, spent = min(best, last), spent + last
        if spent > 1.0:
            break
    return float(best)


def curve(job: Job, size: str) -> list[tuple[int, float]]:
    """(value, seconds) along one size."""
    found: list[tuple[int, float]] = []
    for value in job.grows[size]:
        sizes = job.usual | {size: value}
        if sizes["rows"] * sizes["columns"] > _NUMBERS or (found and found[-1][1] > _LONGEST):
            break
        found.append((value, seconds(job, sizes)))
    return found


def exponent(points: list[tuple[int, float]]) -> float | None:
    """Slope of the upper half (three points at least) in logarithms."""
    if len(points) < 3:
        return None
    upper = np.log(np.array(points[-max(3, len(points) // 2 + 1) :]))
    return float(np.polyfit(upper[:, 0], upper[:, 1], 1)[0])


def measure(names: list[str]) -> list[dict[str, Any]]:
    """All curves of the named families, printed as they come."""
    rows = []
    for name in names:
        job = JOBS[name]
        for size in job.grows:
            points = curve(job, size)
            found = exponent(points)
            rows.append({"family": name, "size": size, "points": points, "exponent": found, "usual": job.usual})
            shown = "  ".join(f"{v:,}: {s:.3g}" for v, s in points)
            measured = "" if found is None else f"{found:.2f}"
            print(f"{name:<30}{size:<9}{measured:>6} (theory {job.promised[size]:g})   {shown}", flush=True)
    return rows


def tables(rows: list[dict[str, Any]], about: dict[str, Any]) -> str:
    """The page of the documentation."""
    blas, versions = ", ".join(about["blas"]), about["versions"]
    text = [
        "# How cost grows",
        "",
        "Measured by `make bench-scaling`: one size is taken through its decades while the others stay at the values",
        "named. Times are processor seconds of one fit (all threads together), so other programs disturb little.",
        "*Exponent* is the slope in logarithms over the upper half of the sizes: 1 means that twice the size costs",
        "twice the time. It is lower where the fixed cost of a call still counts, or where some work does not grow.",
        "",
        f"Machine: {about['processor']}, {about['cores']} cores, {blas}; NumPy {versions['numpy']}, "
        f"Numba {versions['numba']}; commit {commit()}.",
        "",
        "```{image} images/scaling.png",
        ":alt: processor seconds against rows for every family",
        "```",
        "",
        "| family | grows | others | seconds | exponent | theory |",
        "|---|---|---|---|---|---|",
    ]
    for r in rows:
        others = ", ".join(f"{v:,} {k}" for k, v in r["usual"].items() if k != r["size"])
        shown = ", ".join(f"{v:,}: {s:.2g}" for v, s in r["points"])
        measured = "" if r["exponent"] is None else f"{r['exponent']:.2f}"
        promised = JOBS[r["family"]].promised[r["size"]]
        text.append(f"| {r['family']} | {r['size']} | {others} | {shown} | {measured} | {promised:g} |")
    return "\n".join(text) + "\n"


def draw(rows: list[dict[str, Any]]) -> None:
    """Processor seconds against rows, one line a family."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(9, 5.5), layout="constrained")
    lines = [r for r in rows if r["size"] == "rows" and len(r["points"]) > 1]
    colours = plt.get_cmap("tab20")(np.linspace(0, 1, max(1, len(lines))))
    for r, colour in zip(lines, colours):
        n, s = np.array(r["points"]).T
        ax.loglog(n, s, marker="o", markersize=3, color=colour, label=f"{r['family']} ({r['exponent'] or 0:.1f})")
    ax.set_xlabel("rows")
    ax.set_ylabel("processor seconds of one fit")
    ax.grid(True, which="both", alpha=0.2)
    ax.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5), title="family (exponent)")
    figure.savefig(PICTURE, dpi=110)
    plt.close(figure)


def main() -> None:
    """Measure the families named on the command line, or all; only a whole run rewrites the page."""
    warnings.simplefilter("ignore")
    wanted = sys.argv[1:] or list(JOBS)
    unknown = sorted(set(wanted) - set(JOBS))
    if unknown:
        sys.exit(f"No family called {', '.join(unknown)}; there are {', '.join(JOBS)}.")
    about = machine.describe()
    rows = measure(wanted)
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "scaling.json").write_text(json.dumps({"machine": about, "commit": commit(), "rows": rows}, indent=1))
    if wanted == list(JOBS):
        draw(rows)
        PAGE.write_text(tables(rows, about))
        print(f"wrote {PAGE.name} and {PICTURE.name}")


if __name__ == "__main__":
    main()
