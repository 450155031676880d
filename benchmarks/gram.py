"""The race of the models that need one Gram matrix (workloads ``ols`` and ``ridge``)."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

import certifit as cf
from benchmarks.harness import Entry, Work, installed


def contest(ours: Any, theirs: Any, columns: int, dtype: str) -> list[Entry]:
    """All libraries on 100 000 rows of one precision; sklearnex has the class under scikit-learn's name."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100_000, columns))
    y = (X @ rng.standard_normal(columns) + rng.standard_normal(100_000)).astype(dtype)
    X = X.astype(dtype)

    def gap(model: Any) -> float:
        return float(cf.certify(model, X, y).relative_gap)

    work = Work(X.nbytes, X.shape[0] * X.shape[1] ** 2, dtype)  # half of the product: XᵀX is symmetric
    found = [Entry("certifit", lambda: ours().fit(X, y), gap, "ours", repeats=9, case=dtype, work=work)]
    found.append(Entry("scikit-learn", lambda: theirs().fit(X, y), gap, repeats=3, case=dtype))
    if installed("sklearnex"):
        intel = getattr(importlib.import_module("sklearnex.linear_model"), theirs.__name__)
        found.append(Entry("sklearnex", lambda: intel().fit(X, y), gap, repeats=9, case=dtype))
    found.append(Entry("one XᵀX", lambda: X.T @ X, kind="floor", repeats=9, case=dtype, work=work))
    return found
