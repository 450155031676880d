"""The race of the models that need one Gram matrix (workloads ``ols`` and ``ridge``)."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

import certifit as cf
from benchmarks.harness import Entry, Work, installed


def contest(ours: Any, theirs: Any, columns: int, dtype: str) -> list[Entry]:
    """All libraries on 100 000 rows of one precision; sklearnex has the class under scikit-learn's name.

    In single precision the peers' gaps are a thousand times as large as ours. So they meet us twice: as they are, and
    at an equal gap, for which they convert the rows.
    """
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
        found.append(Entry("sklearnex", lambda: _intel(theirs)().fit(X, y), gap, repeats=9, case=dtype))
    found.append(Entry("one XᵀX", lambda: X.T @ X, kind="floor", repeats=9, case=dtype, work=work))
    return found + _at_equal_gap(ours, theirs, X, y, gap) if dtype == "float32" else found


def _at_equal_gap(ours: Any, theirs: Any, X: Any, y: Any, gap: Any) -> list[Entry]:
    """The race of rows in single precision that ends at the gap of double precision."""
    peers = {"scikit-learn": theirs}
    if installed("sklearnex"):
        peers["sklearnex"] = _intel(theirs)

    def converted(peer: Any) -> Any:
        return lambda: peer().fit(X.astype(float), y.astype(float))

    case = "float32, equal gap"
    found = [Entry("certifit", lambda: ours().fit(X, y), gap, "ours", case=case)]
    return found + [Entry(f"{name}, converted", converted(peer), gap, case=case) for name, peer in peers.items()]


def _intel(theirs: Any) -> Any:
    return getattr(importlib.import_module("sklearnex.linear_model"), theirs.__name__)
