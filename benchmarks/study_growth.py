"""How a study's cost grows: ``python -m benchmarks.study_growth [ROWSxCOLUMNS ...] [--budget SECONDS]``.

Two classes, half of the columns without meaning; processor seconds of one process on one thread, without yardsticks.
Beyond the budget models are skipped (dear ones first), so that cost levels off: the line says how many were compared.
"""

from __future__ import annotations

import argparse
import resource
import time
from typing import Any

import numpy as np

SIZES = ("1000x10", "10000x10", "100000x10", "1000000x10", "1000x100", "1000x1000")


def table(rows: int, columns: int) -> dict[str, Any]:
    """Normal columns; the class depends on half of them, not only linearly."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, columns))
    score = X[:, : columns // 2] @ rng.normal(size=columns // 2) / np.sqrt(columns) + np.sin(2 * X[:, 0])
    y = np.where(score + 0.5 * rng.normal(size=rows) > 0, "yes", "no")
    return {f"x{j}": X[:, j] for j in range(columns)} | {"y": y}


def measure(size: str, budget: float) -> str:
    """One line of the table in the documentation."""
    from certifit.study import run

    rows, columns = (int(v) for v in size.split("x"))
    data = table(rows, columns)
    began = time.process_time()
    study = run(data, "y", time_budget=budget, yardstick=False)
    seconds = time.process_time() - began
    compared = study.record["comparison"]["standings"]
    work = sum(s["seconds"] for s in compared)
    late = sum("time budget" in why for _, why in study.record["comparison"]["skipped"])
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return (
        f"| {rows:,} × {columns:,} | {len(compared) - 1} | {late} | {work:.1f} | {seconds:.1f} | {memory:.1f} GB | "
        f"{study.record['verdict']['winner']} |"
    ).replace(",", " ")


def main() -> None:
    """Measure the sizes named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", default=SIZES)
    parser.add_argument("--budget", type=float, default=150.0)
    asked = parser.parse_args()
    print("| rows × columns | models compared | too dear for the budget | comparing, s | all, s | memory | chosen |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for size in asked.sizes:
        print(measure(size, asked.budget), flush=True)


if __name__ == "__main__":
    main()
