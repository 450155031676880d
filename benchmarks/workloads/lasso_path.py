"""Lasso for a whole grid of strengths, more columns than rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness import Entry, installed

WHAT = "500 × 10 000 (correlated columns, 100 of them used), 100 α down to α_max/1000, gap 1e-6"
GOAL = "≥ 2× the best peer"
GAP = 1e-6


def data(n: int = 500, d: int = 10_000, used: int = 100, seed: int = 0) -> tuple[Any, Any]:
    """Columns that follow each other (correlation 0.5), Fortran-ordered as the peers like it; noise a fifth of it."""
    rng = np.random.default_rng(seed)
    X = np.empty((n, d), order="F")
    X[:, 0] = rng.standard_normal(n)
    for j in range(1, d):
        X[:, j] = 0.5 * X[:, j - 1] + np.sqrt(0.75) * rng.standard_normal(n)
    w = np.zeros(d)
    w[rng.choice(d, used, replace=False)] = rng.standard_normal(used)
    z = X @ w
    return X, z + rng.standard_normal(n) * np.std(z) / 5


def worst_gap(X: Any, y: Any, alphas: Any, coefs: Any) -> float:
    """The largest proved relative gap along a path, from the trusted part."""
    from certifit.certificates import Data, issue
    from certifit.losses import Squared, loss_spec
    from certifit.regularizers import L1, regularizer_spec

    known = {"loss": loss_spec(Squared(0.5)), "regularizer": regularizer_spec(L1()), "lam_per": "mean"}
    rows = Data.of(X, y)
    gaps = []
    for i in range(0, len(alphas), 9):
        evidence = known | {"coef": coefs[:, i][None], "intercept": np.zeros(1), "fit_intercept": False}
        gaps.append(issue("duality", rows, evidence | {"lam": float(alphas[i])}).relative_gap)
    return max(gaps)


def entries() -> list[Entry]:
    from certifit.linear_model import lasso_path

    X, y = data()
    alphas = np.geomspace(1.0, 1e-3, 100) * np.abs(X.T @ y).max() / len(y)

    def gap(result: Any) -> float:
        return worst_gap(X, y, result[0], result[1])

    found = [Entry("certifit", lambda: lasso_path(X, y, alphas=alphas, tol=GAP), gap, "ours")]
    if installed("celer"):
        from celer import celer_path

        found.append(
            Entry(
                "celer", lambda: celer_path(X, y, "lasso", alphas=alphas, tol=GAP / 2), gap, note="tol 5e-7", repeats=3
            )
        )
    if installed("skglm"):
        from skglm.datafits import Quadratic
        from skglm.penalties import L1
        from skglm.solvers import AndersonCD

        def skglm() -> Any:
            solver = AndersonCD(tol=1e-7, fit_intercept=False, max_iter=200, max_epochs=50_000)
            path = solver.path(X, y, Quadratic(), L1(1.0), alphas=alphas)
            return path[0], path[1]

        found.append(Entry("skglm", skglm, gap, note="tol 1e-7", repeats=1))
    from sklearn.linear_model import lasso_path as theirs

    run = lambda: theirs(X, y, alphas=alphas, tol=GAP / 2, max_iter=100_000)  # noqa: E731
    found.append(Entry("scikit-learn", run, gap, note="tol 5e-7", repeats=1))
    return found
