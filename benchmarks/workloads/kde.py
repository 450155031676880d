"""Kernel density at many points, at the same relative error."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness import Entry

ROWS, COLUMNS, POINTS, ERROR = 100_000, 3, 10_000, 1e-3
WHAT = f"{ROWS} x {COLUMNS}, {POINTS} queries, relative error {ERROR:g}, gaussian, Scott's bandwidth"
GOAL = "3 times scikit-learn"


def entries() -> list[Entry]:
    """certifit and scikit-learn with either of its trees; the figure is the largest relative error of 200 points."""
    from sklearn.neighbors import KernelDensity as Plain

    from certifit.density import KernelDensity

    rng = np.random.default_rng(0)
    centres = rng.normal(scale=2.0, size=(10, COLUMNS))
    X, Q = (centres[rng.integers(10, size=n)] + rng.normal(size=(n, COLUMNS)) for n in (ROWS, POINTS))
    exact = KernelDensity(bandwidth="scott").fit(X).score_samples(Q[:200])
    given: dict[str, Any] = {"bandwidth": "scott", "rtol": ERROR}

    def error(logs: Any) -> float:
        return float(np.abs(np.expm1(logs[:200] - exact)).max())

    def plain(tree: str) -> Any:
        return Plain(algorithm=tree, **given).fit(X).score_samples(Q)

    return [
        Entry("certifit", lambda: KernelDensity(**given).fit(X).score_samples(Q), error, "ours", repeats=3),
        Entry("scikit-learn", lambda: plain("kd_tree"), error, repeats=3),
        Entry("scikit-learn (ball)", lambda: plain("ball_tree"), error, repeats=1),
    ]
