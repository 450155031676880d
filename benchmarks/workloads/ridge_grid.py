"""Ridge on a grid: 50 000 × 100, 10 folds × 50 α, refit."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness import Entry, installed

WHAT = "ridge on 50 000 × 100, 10 folds × 50 α, refit"
GOAL = "≥ 50 times the best peer"
ALPHAS = np.logspace(-3, 3, 50)


def _data() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50_000, 100)) * rng.uniform(0.5, 2.0, size=100)
    return X, X @ rng.normal(size=100) + 10.0 * rng.normal(size=len(X))


def entries() -> list[Entry]:
    """certifit's Search, scikit-learn's GridSearchCV, and the same with accelerated ridge."""
    from sklearn.linear_model import Ridge as SklearnRidge
    from sklearn.model_selection import GridSearchCV

    from certifit.linear_model import Ridge
    from certifit.model_selection import Search

    X, y = _data()
    grid = {"alpha": ALPHAS}
    reference: dict[str, Any] = {}

    def ours() -> Any:
        return Search(Ridge(), grid, cv=10).fit(X, y)

    def peer(ridge: Any) -> Any:
        def run() -> Any:
            reference["search"] = GridSearchCV(ridge, grid, cv=10).fit(X, y)
            return reference["search"]

        return run

    def apart(search: Any) -> float | None:
        """Largest difference of any mean score from the peer's: the same answers, not only as fast."""
        if "search" not in reference:
            return None
        return float(
            np.abs(search.cv_results_["mean_test_score"] - reference["search"].cv_results_["mean_test_score"]).max()
        )

    note = "gap: largest difference of a mean score"
    found = [
        Entry("certifit Search", ours, apart, "ours", note),
        Entry("scikit-learn", peer(SklearnRidge()), apart, "peer", "GridSearchCV", repeats=1),
    ]
    if installed("sklearnex"):
        from sklearnex.linear_model import Ridge as FastRidge

        found.append(Entry("scikit-learn-intelex", peer(FastRidge()), apart, "peer", "GridSearchCV", repeats=1))
    return found
