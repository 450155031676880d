"""The verdict on separability against a linear programme written by hand for HiGHS."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness import Entry

WHAT = "10 000 × 20, both verdicts: labels of a hyperplane, and the same with noise"
GOAL = "≥ 8× the best linear programme, for either verdict"


def data(noise: float) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 20))
    y = np.where(X @ rng.normal(size=20) + noise * rng.normal(size=len(X)) > 0, 1, -1)
    return X, y


def by_highs(X: Any, y: Any) -> bool:
    """What people write: is y(w·x + b) ≥ 1 feasible? (Without a witness when it is not.)"""
    from scipy.optimize import linprog

    Z = y[:, None] * np.column_stack([X, np.ones(len(X))])
    return linprog(np.zeros(Z.shape[1]), A_ub=-Z, b_ub=-np.ones(len(Z)), bounds=(None, None)).status == 0


def entries() -> list[Entry]:
    import certifit as cf

    out = []
    for name, noise in (("separable", 0.0), ("overlapping", 1.0)):
        X, y = data(noise)
        out.append(Entry("certifit", lambda X=X, y=y: cf.separability(X, y), kind="ours", note="with proof", case=name))
        out.append(Entry("HiGHS", lambda X=X, y=y: by_highs(X, y), note="no proof", case=name))
    return out
