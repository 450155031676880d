"""What Newton steps on the free support vectors cost a fit of SVC, and what they leave of its gap.

    python -m benchmarks.polish            # prints the table
    python -m benchmarks.polish --write    # puts it into docs/families/svm.md as well

Every table is fitted with the default settings and, in turns, without those steps (a fit then stops at the gap that
`tol` asks for); the least processor time of some repetitions counts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.preprocessing import scale

from certifit.kernels import Kernel
from certifit.solvers import Solution
from certifit.solvers._box_dual import Box
from certifit.solvers.polish import MOST_FREE
from certifit.svm import SVC
from certifit.svm._machine import solve_box

PAGE = Path(__file__).parent.parent / "docs" / "families" / "svm.md"
BEGIN, END = "<!-- cost of the last digits -->", "<!-- end of the cost -->"
SIZES, COSTS = (200, 500, 1000, 2000, 5000), (0.1, 1.0, 10.0, 100.0)
SHAPES = ((5, 0.1, 1.0), (20, 0.02, 1.0), (50, 0.2, 0.5))  # columns, labels flipped, separation
LONGEST = 1.0  # seconds of a fit without those steps: longer ones are left out


class Coarse(SVC):
    """SVC that stops at the gap that ``tol`` asks for."""

    def _solve(
        self, kernel: Kernel, X: Any, y: np.ndarray, cost: Callable[[float], np.ndarray]
    ) -> tuple[Solution, float]:
        costs = cost(self.C)
        null = 2.0 * min(costs[y > 0].sum(), costs[y < 0].sum())
        return solve_box(self, kernel, X, Box.of_labels(y, costs), null, rounded=False), self.C


def tables() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows and labels of every table."""
    for n in SIZES:
        for seed, (d, flipped, separation) in enumerate(SHAPES):
            X, y = make_classification(
                n, d, n_informative=min(d, 8), n_redundant=0, flip_y=flipped, class_sep=separation, random_state=seed
            )
            yield scale(X), y


def fitted(make: type[SVC], options: dict[str, Any], X: np.ndarray, y: np.ndarray) -> tuple[float, SVC]:
    """CPU seconds of a fit, and the machine."""
    start = time.process_time()
    model = make(**options).fit(X, y)
    return time.process_time() - start, model


def compared(kernel: str) -> np.ndarray:
    """Of every table and cost: time with the steps over time without, gaps before and after, free support vectors."""
    found = []
    for C in COSTS:
        for X, y in tables():
            options, least = {"kernel": kernel, "C": C}, [np.inf, np.inf]
            spent, first = fitted(Coarse, options | {"time_budget": LONGEST}, X, y)
            if first.status_ == "time_budget":
                continue
            for _ in range(int(np.clip(0.5 / spent, 2, 7))):
                turns = [fitted(make, options, X, y) for make in (Coarse, SVC)]
                least = [min(a, seconds) for a, (seconds, _) in zip(least, turns, strict=True)]
            (_, coarse), (_, fine) = turns
            null = 2.0 * C * min(np.count_nonzero(y), np.count_nonzero(y == 0))
            free = np.count_nonzero(np.abs(fine.dual_coef_) < C * (1 - 1e-12))
            found.append((least[1] / least[0], coarse.gap_ / null, fine.gap_ / null, free))
    return np.array(found)


def page() -> str:
    """The table in Markdown."""
    rows = [
        "| kernel | fits | time with / without, median | half of the fits | gap without, median | gap with, largest |",
        "|---|---|---|---|---|---|",
    ]
    every = []
    for kernel in ("rbf", "linear", "poly"):
        found = compared(kernel)
        every.append(found)
        rows.append(_row(kernel, found))
        print(rows[-1], flush=True)
    rows.append(_row("all", np.concatenate(every)))
    return "\n".join(rows)


def _row(name: str, found: np.ndarray) -> str:
    ratio, coarse, fine, free = found.T
    low, middle, high = np.percentile(ratio, [25, 50, 75])
    few = free <= MOST_FREE
    cells = name, len(found), f"{middle:.2f}", f"{low:.2f} to {high:.2f}", f"{np.median(coarse):.0e}"
    return "| " + " | ".join(map(str, (*cells, f"{fine[few].max():.0e}"))) + " |"


def main() -> None:
    """Print the table, and write it into the page if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    made = page()
    print(made)
    if parser.parse_args().write:
        text = PAGE.read_text(encoding="utf-8")
        before, _, rest = text.partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{made}\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
