"""Linear soft-margin machine with the hinge, at relative gap 1e-4."""

from __future__ import annotations

import warnings
from typing import Any

from benchmarks.harness import Entry
from certifit.certificates import Data, issue
from certifit.svm import LinearSVC, linear_evidence_of

WHAT = "100000 x 50, hinge, relative gap 1e-4"
GOAL = "5 times the best peer"


def entries() -> list[Entry]:
    """certifit and liblinear; liblinear's gap is to its own objective, which penalises the offset."""
    from sklearn.datasets import make_classification
    from sklearn.svm import LinearSVC as Liblinear

    X, y = make_classification(
        n_samples=100_000, n_features=50, n_informative=20, n_redundant=5, flip_y=0.05, random_state=0
    )
    X = (X - X.mean(axis=0)) / X.std(axis=0)

    def gap(model: Any) -> float:
        own = not isinstance(model, LinearSVC)
        kind, evidence = linear_evidence_of(model, X, y, own_objective=own)
        return float(issue(kind, Data.of(X, y), evidence).relative_gap)

    def liblinear() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it may stop at max_iter: the gap beside it tells
            return Liblinear(loss="hinge", dual=True, tol=1e-1, max_iter=1000, random_state=0).fit(X, y)

    return [
        Entry("certifit", lambda: LinearSVC(loss="hinge", tol=1e-4).fit(X, y), gap, "ours", repeats=3),
        Entry("liblinear", liblinear, gap, repeats=1),
    ]
