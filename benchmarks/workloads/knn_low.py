"""Ten nearest of 100 000 rows in three dimensions, for 100 000 queries: build and search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import Entry, installed

WHAT = "100 000 × 3, k = 10, 100 000 queries, fit and kneighbors"
GOAL = "≥ 1.5× best peer"


def data() -> tuple[Any, Any]:
    """Rows and queries."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(100_000, 3)), rng.normal(size=(100_000, 3))


def entries() -> list[Entry]:
    """certifit, sklearnex, pykdtree, SciPy."""
    from certifit.neighbors import KNeighborsRegressor

    X, Q = data()
    y = np.zeros(len(X))

    def ours() -> Any:
        return KNeighborsRegressor(n_neighbors=10).fit(X, y).kneighbors(Q)

    wanted = ours()[1]

    def note(run: Callable[[], Any]) -> str:
        return f"same rows {np.mean(run()[1] == wanted):.4%}"

    found = [Entry("certifit", ours, kind="ours", note="order exact, ties by row")]
    if installed("sklearnex"):
        from sklearnex.neighbors import NearestNeighbors

        def sklearnex() -> Any:
            return NearestNeighbors(n_neighbors=10, algorithm="kd_tree", n_jobs=-1).fit(X).kneighbors(Q)

        found.append(Entry("sklearnex", sklearnex, note=note(sklearnex)))
    if installed("pykdtree"):
        from pykdtree.kdtree import KDTree

        def pykdtree() -> Any:
            return KDTree(X).query(Q, k=10)

        found.append(Entry("pykdtree", pykdtree, note=note(pykdtree)))
    from scipy.spatial import cKDTree

    def scipy() -> Any:
        return cKDTree(X).query(Q, k=10, workers=-1)

    found.append(Entry("SciPy", scipy, note=note(scipy)))
    return found
