"""Lasso for all folds and strengths: 10 000 × 1 000, 10 folds × 100 α, refit."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness import Entry
from benchmarks.workloads.lasso_path import data

WHAT = "lasso on 10 000 × 1 000 (100 columns used), 10 folds × 100 α, refit"
GOAL = "≥ 10 times the best peer"


def entries() -> list[Entry]:
    """certifit's Search against scikit-learn's LassoCV (celer's does not run with scikit-learn 1.9)."""
    from sklearn.linear_model import LassoCV
    from sklearn.model_selection import KFold

    from certifit.linear_model import Lasso
    from certifit.model_selection import Search

    X, y = data(10_000, 1_000, 100, 2)
    alphas = np.geomspace(1.0, 1e-3, 100) * np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() / len(y)
    folds = KFold(10)
    reference: dict[str, Any] = {}

    def ours() -> Any:
        search = Search(Lasso(), {"alpha": alphas}, cv=folds, scoring="neg_mean_squared_error").fit(X, y)
        return -np.asarray(search.cv_results_["mean_test_score"])

    def theirs() -> Any:
        reference["errors"] = LassoCV(alphas=alphas, cv=folds).fit(X, y).mse_path_.mean(axis=1)
        return reference["errors"]

    def apart(errors: Any) -> float | None:
        """Largest relative difference of a mean error from scikit-learn's."""
        return float(np.max(np.abs(errors / reference["errors"] - 1.0))) if reference else None

    note = "gap: largest relative difference of a mean error"
    return [Entry("certifit Search", ours, apart, "ours", note), Entry("scikit-learn", theirs, apart, repeats=3)]
