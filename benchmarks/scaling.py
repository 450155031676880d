"""``make bench-scaling``: how the cost of every family grows with rows, columns, classes and points of a grid.

One size at a time is taken through its decades while the others stay at their usual values; processor time of one
thread is measured (several runs of short fits, the smallest counts), so that a busy machine disturbs little. A straight
line through the upper half of the logarithms gives the exponent: for small sizes the fixed cost of a call hides it. The
curves are kept as JSON, where families that are measured anew replace their old ones; docs/scaling.md and its picture
are made from all of them.
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
_NUMBERS = 100_000_000  # largest table: 0.8 gigabytes


def seconds(job: Job, sizes: dict[str, int]) -> float:
    """Processor time of one fit: the least of a few."""
    X, y = job.data(sizes)
    few = max(200, 4 * sizes.get("classes", 0))
    job.fit(X[:few], y[:few], sizes)  # compiled and loaded
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


def tables(kept: dict[str, Any]) -> str:
    """The page of the documentation."""
    about = kept["machine"]
    blas, versions = ", ".join(about["blas"]), about["versions"]
    text = [
        "# How cost grows",
        "",
        "In each row of the table one size grows by factors of three to ten, the others are fixed. Times are CPU",
        "seconds of one fit on one thread (for neighbours, of the fit and of predictions for a tenth of the rows).",
        "*Exponent* is the slope on logarithmic scales over the upper half of the sizes: 1 means that twice the",
        "size costs twice the time. It is lower than in theory where the fixed cost of a call matters, or where some",
        f"work does not grow. A curve ends after a fit of {_LONGEST:g} seconds, or at {_NUMBERS / 1e6:g} million",
        "numbers. `make bench-scaling` measures all of it and writes this page.",
        "",
        "Above theory, which counts the numbers that one step reads, are logistic regression, Poisson GLMs and linear",
        "SVMs with many columns, and logistic regression with many classes. Their steps are few because they are taken",
        "in a metric, a matrix of columns by columns: formed and factorised once from some of the rows, one block for",
        "all classes, or at every step from the rows at the margin (SVMs). A million states of a decision process no",
        "longer fit into a cache, and scores of thousands of strengths of a ridge take longer than their shared pass.",
        "",
        f"Measured on {kept['day']} (commit {kept['commit']}): {about['processor']}, {blas}, NumPy",
        f"{versions['numpy']}, Numba {versions['numba']}; other programs used {kept['others']:.0%} of the machine.",
        "",
        "```{image} images/scaling.png",
        ":alt: processor seconds against rows, columns, classes and grid points, one line for each family",
        "```",
        "",
        "| family | grows | others | seconds | exponent | theory |",
        "|---|---|---|---|---|---|",
    ]
    for r in kept["rows"]:
        others = ", ".join(f"{v:,} {k}" for k, v in r["usual"].items() if k != r["size"])
        shown = ", ".join(f"{v:,}: {s:.2g}" for v, s in r["points"])
        measured = "" if r["exponent"] is None else f"{r['exponent']:.2f}"
        promised = JOBS[r["family"]].promised[r["size"]]
        text.append(f"| {r['family']} | {r['size']} | {others} | {shown} | {measured} | {promised:g} |")
    return "\n".join(text) + "\n"


def draw(rows: list[dict[str, Any]]) -> None:
    """Processor seconds against every size, one line a family."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(10, 8), layout="constrained")
    colours = dict(zip(JOBS, plt.get_cmap("tab20")(np.arange(len(JOBS)) % 20)))
    dashes = dict(zip(JOBS, ["-"] * 20 + ["--"] * len(JOBS)))  # there are twenty colours
    for ax, size in zip(axes.flat, ("rows", "columns", "classes", "points")):
        for r in (r for r in rows if r["size"] == size and len(r["points"]) > 1):
            n, s = np.array(r["points"]).T
            look = {"color": colours[r["family"]], "linestyle": dashes[r["family"]]}
            ax.loglog(n, s, marker="o", markersize=3, label=r["family"], **look)
        ax.set_xlabel("grid points" if size == "points" else size)
        ax.set_ylabel("processor seconds of one fit")
        ax.grid(True, which="both", alpha=0.2)
    lines = {line.get_label(): line for ax in axes.flat for line in ax.get_lines()}
    figure.legend(list(lines.values()), list(lines), fontsize=8, loc="outside lower center", ncols=4)
    figure.savefig(PICTURE, dpi=90)
    plt.close(figure)


def keep(rows: list[dict[str, Any]], others: float) -> dict[str, Any]:
    """The curves of all families that were ever measured here, the latest of each, in the order of the jobs."""
    path = RESULTS / "scaling.json"
    old = json.loads(path.read_text())["rows"] if path.exists() else []
    latest = {(r["family"], r["size"]): r for r in [*old, *rows]}
    kept = {
        "machine": machine.describe(),
        "commit": commit(),
        "day": time.strftime("%Y-%m-%d"),
        "others": others,
        "rows": [latest[name, size] for name, job in JOBS.items() for size in job.grows if (name, size) in latest],
    }
    RESULTS.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(kept, indent=1))
    return kept


def main() -> None:
    """Measure the families named on the command line, or all; the page is written when all have been measured."""
    warnings.simplefilter("ignore")
    wanted = sys.argv[1:] or list(JOBS)
    unknown = sorted(set(wanted) - set(JOBS))
    if unknown:
        sys.exit(f"No family called {', '.join(unknown)}; there are {', '.join(JOBS)}.")
    watch = machine.Watch()
    for name in wanted:  # kept one by one: an error in a later one costs nothing
        kept = keep(measure([name]), watch.others())
    missing = [name for name in JOBS if name not in {r["family"] for r in kept["rows"]}]
    if missing:
        sys.exit(f"No page yet: not measured are {', '.join(missing)}.")
    draw(kept["rows"])
    PAGE.write_text(tables(kept))
    print(f"wrote {PAGE.name} and {PICTURE.name}")


if __name__ == "__main__":
    main()
