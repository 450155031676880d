"""k of k-nearest neighbours on a grid: 5 000 × 10, k = 1…30, 10 folds."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness import Entry, installed

WHAT = "k-NN on 5 000 × 10, k = 1…30, 10 folds, refit"
GOAL = "≥ 20 times the best peer"
GRID = {"n_neighbors": list(range(1, 31))}


def entries() -> list[Entry]:
    """certifit's Search against GridSearchCV over scikit-learn's k-NN (brute, tree) and the accelerated one."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.neighbors import KNeighborsClassifier as SklearnKNN

    from certifit.model_selection import Search
    from certifit.neighbors import KNeighborsClassifier

    rng = np.random.default_rng(0)
    y = np.arange(5000) % 3
    X = rng.normal(size=(5000, 10)) + 0.7 * y[:, None]
    reference = GridSearchCV(SklearnKNN(algorithm="brute"), GRID, cv=10).fit(X, y)

    def apart(search: Any) -> float:
        """Largest difference of any mean score from scikit-learn's."""
        return float(np.abs(search.cv_results_["mean_test_score"] - reference.cv_results_["mean_test_score"]).max())

    def peer(model: Any) -> Any:
        return lambda: GridSearchCV(model, GRID, cv=10).fit(X, y)

    found = [
        Entry(
            "certifit Search",
            lambda: Search(KNeighborsClassifier(), GRID, cv=10).fit(X, y),
            apart,
            "ours",
            "gap: largest difference of a mean score",
        ),
        Entry("scikit-learn, brute", peer(SklearnKNN(algorithm="brute")), apart, "peer", "GridSearchCV", repeats=3),
        Entry("scikit-learn, tree", peer(SklearnKNN(algorithm="kd_tree")), apart, "peer", "GridSearchCV", repeats=1),
    ]
    if installed("sklearnex"):
        from sklearnex.neighbors import KNeighborsClassifier as FastKNN

        found.append(
            Entry("scikit-learn-intelex", peer(FastKNN(algorithm="brute")), apart, "peer", "GridSearchCV", repeats=3)
        )
    return found
