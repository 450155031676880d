"""k-means from the same starts until nothing changes, at equal or lower cost."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness import Entry, installed

ROWS, COLUMNS, CLUSTERS = 200_000, 20, 20
WHAT = f"{ROWS} x {COLUMNS}, k = {CLUSTERS}, the same starts, until labels no longer change"
GOAL = "1.5 times the best peer, at the same cost or a lower one"


def data() -> tuple[np.ndarray, np.ndarray]:
    """Overlapping groups of unequal size, and rows to start from."""
    rng = np.random.default_rng(0)
    centres = rng.normal(scale=2.0, size=(CLUSTERS, COLUMNS))
    group = rng.choice(CLUSTERS, p=rng.dirichlet(np.full(CLUSTERS, 5.0)), size=ROWS)
    X = centres[group] + rng.normal(scale=1.5, size=(ROWS, COLUMNS))
    return X, X[rng.choice(ROWS, size=CLUSTERS, replace=False)]


def entries() -> list[Entry]:
    """certifit, sklearnex, scikit-learn (both of its algorithms), faiss with as many iterations as Lloyd's needs."""
    from sklearn.cluster import KMeans as Plain

    from certifit.cluster import KMeans

    X, start = data()
    given: dict[str, Any] = {"init": start, "n_init": 1, "tol": 0.0, "max_iter": 1000}
    plain = Plain(CLUSTERS, **given).fit(X)
    least = plain.inertia_

    def gap(model: Any) -> float:
        """Cost above scikit-learn's, relative; below 0 where single moves went on."""
        return float(model.inertia_ / least - 1.0)

    found = [
        Entry("certifit", lambda: KMeans(CLUSTERS, **given).fit(X), gap, "ours", "with single moves", repeats=3),
        Entry("scikit-learn", lambda: Plain(CLUSTERS, **given).fit(X), gap, repeats=3),
        Entry("scikit-learn (elkan)", lambda: Plain(CLUSTERS, algorithm="elkan", **given).fit(X), gap, repeats=3),
    ]
    if installed("sklearnex"):
        from sklearnex.cluster import KMeans as Accelerated

        found.insert(1, Entry("sklearnex", lambda: Accelerated(CLUSTERS, **given).fit(X), gap, repeats=3))
    if installed("faiss"):
        import faiss

        small, first = X.astype(np.float32), start.astype(np.float32)

        def single() -> Any:
            run = faiss.Kmeans(COLUMNS, CLUSTERS, niter=plain.n_iter_, max_points_per_centroid=ROWS)
            run.train(small, init_centroids=first)
            return run

        note = f"{plain.n_iter_} iterations"
        found.append(
            Entry("faiss (single)", single, lambda run: float(run.obj[-1] / least - 1.0), note=note, repeats=3)
        )
    return found
