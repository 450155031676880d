"""PCA of a tall table: one symmetric product, then a small eigenproblem."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness import Entry, Work, installed

WHAT = "PCA, 100 000 × 100 → 10, in float64 and float32"
GOAL = "≥ 1.5× the best peer"


def data(n: int = 100_000, d: int = 100) -> np.ndarray:
    """Rows with a falling spectrum."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)) @ (np.linspace(2.0, 0.5, d)[:, None] * rng.normal(size=(d, d)) / np.sqrt(d))


def entries() -> list[Entry]:
    """Both precisions."""
    return [entry for dtype in ("float64", "float32") for entry in _contest(dtype)]


def _contest(dtype: str) -> list[Entry]:
    """Ours, scikit-learn and its accelerated twin; the product XᵀX as the floor."""
    import sklearn.decomposition

    from certifit import certify
    from certifit.decomposition import PCA

    X = data().astype(dtype)

    def gap(model: Any) -> float:
        c = certify(model, X)
        return float(c.relative_gap) if c.holds else float("nan")

    work = Work(X.nbytes, X.shape[0] * X.shape[1] ** 2, dtype)
    found = [
        Entry("certifit", lambda: PCA(10).fit(X), gap, "ours", case=dtype, work=work),
        Entry("scikit-learn", lambda: sklearn.decomposition.PCA(10).fit(X), gap, case=dtype),
    ]
    if installed("sklearnex"):
        import sklearnex.decomposition

        found.append(Entry("sklearnex", lambda: sklearnex.decomposition.PCA(10).fit(X), gap, case=dtype))
    found.append(Entry("one product XᵀX", lambda: X.T @ X, kind="floor", case=dtype, work=work))
    return found
