"""Soft-margin machines on a grid: RBF, 5 000 × 20, 5 folds × 5 C × 5 γ, refit."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness import Entry, installed
from benchmarks.workloads.svc import data

WHAT = "RBF on 5 000 × 20, 5 folds × 5 C × 5 γ, refit"
GOAL = "≥ 5 times the best peer"
GRID = {"C": np.logspace(-1, 2, 5), "gamma": np.logspace(-3, -0.5, 5)}


def entries() -> list[Entry]:
    """certifit's Search; scikit-learn's GridSearchCV with libsvm (one process a core) and accelerated."""
    from sklearn import svm as libsvm
    from sklearn.model_selection import GridSearchCV

    from certifit.model_selection import Search
    from certifit.svm import SVC

    X, y = data(5000)
    reference: dict[str, Any] = {}

    def peer(machine: Any, n_jobs: int) -> Any:
        def run() -> Any:
            reference["search"] = GridSearchCV(machine, GRID, cv=5, n_jobs=n_jobs).fit(X, y)
            return reference["search"]

        return run

    def apart(search: Any) -> float | None:
        """Largest difference of any mean score from the peer's: a few labels of 5 000 at libsvm's tolerance."""
        if "search" not in reference:
            return None
        ours, theirs = (s.cv_results_["mean_test_score"] for s in (search, reference["search"]))
        return float(np.abs(ours - theirs).max())

    note = "gap: largest difference of a mean score"
    found = [
        Entry("certifit Search", lambda: Search(SVC(), GRID, cv=5).fit(X, y), apart, "ours", note, repeats=3),
        Entry("libsvm, a process a core", peer(libsvm.SVC(), -1), apart, "peer", "GridSearchCV", repeats=1),
    ]
    if installed("sklearnex"):
        from sklearnex import svm as accelerated

        found.append(
            Entry("scikit-learn-intelex", peer(accelerated.SVC(), 1), apart, "peer", "GridSearchCV", repeats=1)
        )
    return found
