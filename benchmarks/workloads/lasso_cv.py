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
    exact = np.mean([_errors(X[test], y[test], *found) for (_, test), found in _exact(X, y, folds, alphas)], axis=0)

    def ours() -> Any:
        search = Search(Lasso(), {"alpha": alphas}, cv=folds, scoring="neg_mean_squared_error").fit(X, y)
        return -np.asarray(search.cv_results_["mean_test_score"])

    def theirs() -> Any:
        return LassoCV(alphas=alphas, cv=folds).fit(X, y).mse_path_.mean(axis=1)

    def apart(errors: Any) -> float:
        """Largest relative difference of a mean error from that of the exact fits."""
        return float(np.max(np.abs(errors / exact - 1.0)))

    note = "tol 1e-4 (the default of both); gap: largest relative difference of a mean error from the exact one"
    return [Entry("certifit Search", ours, apart, "ours", note), Entry("scikit-learn", theirs, apart, repeats=3)]


def _exact(X: Any, y: Any, folds: Any, alphas: Any) -> Any:
    from certifit.design import FoldTable
    from certifit.solvers.lasso_folds import LassoFolds

    split = list(folds.split(X))
    return zip(split, LassoFolds(FoldTable(X, y, split)).paths(alphas, tol=1e-12))


def _errors(X: Any, y: Any, coef: Any, offset: Any) -> Any:
    return np.mean((coef @ X.T + offset[:, None] - y) ** 2, axis=1)
