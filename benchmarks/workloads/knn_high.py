"""Ten nearest of 20 000 rows in 64 dimensions, for 20 000 queries: brute force."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import Entry, installed

WHAT = "20 000 × 64, k = 10, 20 000 queries, fit and kneighbors"
GOAL = "≥ 1.5× best peer"


def entries() -> list[Entry]:
    """certifit, sklearnex, scikit-learn, faiss; the floor is one matrix product in single precision."""
    from sklearn.neighbors import NearestNeighbors as Plain

    from certifit.neighbors import KNeighborsRegressor

    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(20_000, 64)), rng.normal(size=(20_000, 64))
    y = np.zeros(len(X))
    small_x, small_q = X.astype(np.float32), Q.astype(np.float32)

    def ours() -> Any:
        return KNeighborsRegressor(n_neighbors=10).fit(X, y).kneighbors(Q)

    wanted = ours()[1]

    def note(run: Callable[[], Any]) -> str:
        return f"same rows {np.mean(run()[1] == wanted):.4%}"

    def floor() -> None:
        for i in range(0, len(Q), 512):
            small_q[i : i + 512] @ small_x.T

    def plain() -> Any:
        return Plain(n_neighbors=10, algorithm="brute").fit(X).kneighbors(Q)

    found = [Entry("certifit", ours, kind="ours", note="order exact, ties by row")]
    if installed("sklearnex"):
        from sklearnex.neighbors import NearestNeighbors

        def sklearnex() -> Any:
            return NearestNeighbors(n_neighbors=10, algorithm="brute").fit(X).kneighbors(Q)

        found.append(Entry("sklearnex", sklearnex, note=note(sklearnex)))
    found.append(Entry("scikit-learn", plain, note=note(plain), repeats=3))
    if installed("faiss"):
        import faiss

        def flat() -> Any:
            index = faiss.IndexFlatL2(64)
            index.add(small_x)
            return index.search(small_q, 10)

        found.append(Entry("faiss (single)", flat, note=note(flat), repeats=3))
    found.append(Entry("one product (single)", floor, kind="floor"))
    return found
