"""One lasso fit, more columns than rows, with an offset."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import Entry, installed
from benchmarks.workloads.lasso_path import data, loosest

WHAT = "one fit, 1 000 × 10 000 with offset, α = α_max/50, gap 1e-6"
GOAL = "≥ 2× the best peer"


def entries() -> list[Entry]:
    """Each at the loosest tolerance that proves the gap."""
    from sklearn.linear_model import Lasso as Theirs

    from certifit import certify
    from certifit.linear_model import Lasso

    X, y = data(1000, 10_000, 100, 1)
    centred = y - y.mean()
    alpha = float(np.abs(X.T @ centred).max()) / len(y) / 50

    def gap(model: Any) -> float:
        return certify(model, X, y).relative_gap

    found = []

    def add(name: str, fit: Callable[[float], Any], tolerances: tuple[float, ...], kind: str = "peer") -> None:
        tol, run = loosest(fit, gap, tolerances)
        found.append(Entry(name, lambda: fit(tol), gap, kind, f"tol {tol:g}", known=run))

    add("certifit", lambda tol: Lasso(alpha, tol=tol).fit(X, y), (1e-2, 1e-3, 1e-4, 1e-5), "ours")
    if installed("celer"):
        import celer

        add("celer", lambda tol: celer.Lasso(alpha, tol=tol).fit(X, y), (1e-2, 1e-3, 1e-4, 1e-5))
    if installed("skglm"):
        import skglm

        add("skglm", lambda tol: skglm.Lasso(alpha, tol=tol).fit(X, y), (1e-1, 1e-2, 1e-3, 1e-4))
    add("scikit-learn", lambda tol: Theirs(alpha, tol=tol, max_iter=100_000).fit(X, y), (1e-3, 1e-4, 1e-5, 1e-6))
    return found
