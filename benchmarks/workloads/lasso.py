"""One lasso fit, more columns than rows, with an offset."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness import Entry, installed
from benchmarks.workloads.lasso_path import data

WHAT = "one fit, 1 000 × 10 000 with offset, α = α_max/50, gap 1e-6"
GOAL = "≥ 2× the best peer"
GAP = 1e-6


def entries() -> list[Entry]:
    from certifit import certify
    from certifit.linear_model import Lasso

    X, y = data(1000, 10_000, 100, 1)
    centred = y - y.mean()
    alpha = float(np.abs(X.T @ centred).max()) / len(y) / 50

    def gap(model: Any) -> float:
        return certify(model, X, y).relative_gap

    found = [Entry("certifit", lambda: Lasso(alpha, tol=GAP).fit(X, y), gap, "ours")]
    if installed("celer"):
        import celer

        found.append(Entry("celer", lambda: celer.Lasso(alpha, tol=GAP / 2).fit(X, y), gap, note="tol 5e-7"))
    if installed("skglm"):
        import skglm

        found.append(Entry("skglm", lambda: skglm.Lasso(alpha, tol=1e-5).fit(X, y), gap, note="tol 1e-5"))
    from sklearn.linear_model import Lasso as Theirs

    fit = lambda: Theirs(alpha, tol=GAP, max_iter=100_000).fit(X, y)  # noqa: E731
    found.append(Entry("scikit-learn", fit, gap, note="tol 1e-6", repeats=3))
    return found
