"""How long each model of a study takes by the size of the table: ``python -m benchmarks.study_effort [TASK ...]``.

One outer fold of each candidate on numeric columns, in processor seconds on one thread. A line per model gives the
constants of `certifit.study._effort`: seconds = fixed + unit · rowsᵃ · featuresᵇ, by least squares in logarithms,
and how far the worst measurement lies from them. ``--raw FILE`` keeps the measurements, or reads them.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import least_squares
from threadpoolctl import threadpool_limits

SIZES = [(300, 10), (2_000, 10), (2_000, 80), (400, 400), (20_000, 10), (100_000, 20)]
LONG = 4.0  # seconds after which larger tables are not tried
Point = tuple[int, int, float]  # rows, features, seconds


def table(rows: int, columns: int, task: str) -> dict[str, Any]:
    """Normal columns; the target depends on half of them, not only linearly."""
    rng = np.random.default_rng(rows + columns)
    X = rng.normal(size=(rows, columns))
    score = X[:, : columns // 2] @ rng.normal(size=columns // 2) / np.sqrt(columns) + np.sin(2 * X[:, 0])
    score += 0.5 * rng.normal(size=rows)
    y: Any = np.where(score > 0, "yes", "no") if task == "classification" else np.exp(score)
    if task == "counts":
        y = rng.poisson(np.exp(np.clip(score, -3.0, 3.0)))
    return {f"x{j}": X[:, j] for j in range(columns)} | {"y": y}


def measure(task: str) -> dict[str, list[Point]]:
    """Seconds of one outer fold of every candidate of a task on tables of growing size."""
    from certifit.study import _runner, examine
    from certifit.study._plan import plan_study

    found: dict[str, list[Point]] = {}
    for rows, columns in SIZES:
        plan = plan_study(examine(table(rows, columns, task), "y", task), None, None, 0, True)
        _runner.warm(plan)
        for candidate in plan.candidates:
            past = found.setdefault(candidate.name, [])
            if any(s > LONG and n <= rows and p <= columns for n, p, s in past):
                continue
            seconds = _runner.run_piece(candidate, 0, plan.work).seconds
            past.append((rows, columns, seconds))
            print(f"{task} {candidate.name} {rows} {columns} {seconds:.3f}", flush=True)
    return found


def fit(points: list[Point]) -> tuple[float, float, float, float, float]:
    """Fixed seconds, unit (of 1,000 rows and 10 features), powers of rows and features, and the worst ratio."""
    n, p, s = (np.array(v, dtype=float) for v in zip(*points))

    def said(v: Any) -> Any:
        return np.log(np.exp(v[0]) + np.exp(v[1]) * (n / 1e3) ** v[2] * (p / 10) ** v[3])

    start = [np.log(s.min()), np.log(np.median(s)), 1.0, 1.0]
    limits = ([-9.0, -14.0, 0.3, 0.0], [1.0, 6.0, 3.0, 3.0])
    v = least_squares(lambda v: said(v) - np.log(s), np.clip(start, *limits), bounds=limits, loss="soft_l1").x
    return float(np.exp(v[0])), float(np.exp(v[1])), v[2], v[3], float(np.exp(np.abs(said(v) - np.log(s)).max()))


def main() -> None:
    """Measure the tasks named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", default=["classification", "regression", "counts"])
    parser.add_argument("--raw", type=Path, help="measurements: read if the file is there, written otherwise")
    asked = parser.parse_args()
    if asked.raw is not None and asked.raw.exists():
        found = json.loads(asked.raw.read_text())
    else:
        with threadpool_limits(1):
            found = {task: measure(task) for task in asked.tasks}
    if asked.raw is not None:
        asked.raw.write_text(json.dumps(found))
    for task in found:
        for name, points in found[task].items():
            fixed, unit, a, b, worst = fit(points)
            print(f"{task:15s} {name:52s} {fixed:8.3f} {unit:8.4f} {a:5.2f} {b:5.2f}   worst ×{worst:.1f}")


if __name__ == "__main__":
    main()
