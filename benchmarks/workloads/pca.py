"""PCA of a tall table: one symmetric product, then a small eigenproblem."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness import Entry, Work, installed

WHAT = "PCA, 100 000 × 100 → 10"
GOAL = "≥ 1.5× the best peer"


def data(n: int = 100_000, d: int = 100) -> np.ndarray:
    """Rows with a falling spectrum."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)) @ (np.linspace(2.0, 0.5, d)[:, None] * rng.normal(size=(d, d)) / np.sqrt(d))


def entries() -> list[Entry]:
    """Ours, scikit-learn and its accelerated twin; the product XᵀX as the floor."""
    import sklearn.decomposition

    from certifit import certificates
    from certifit.certificates import Data
    from certifit.decomposition import PCA

    X = data()
    ours = PCA(10).fit(X).certificate_.evidence

    def gap(model: Any) -> float:
        evidence = {
            "components": np.asarray(model.components_, dtype=float),
            "variances": np.asarray(model.explained_variance_, dtype=float),
            "mean": np.asarray(model.mean_, dtype=float),
            "slack": ours["slack"],
        }
        c = certificates.issue("principal-components", Data.of(X), evidence)
        return float(c.relative_gap) if c.holds else float("nan")

    work = Work(X.nbytes, X.shape[0] * X.shape[1] ** 2)
    found = [
        Entry("certifit", lambda: PCA(10).fit(X), gap, "ours", work=work),
        Entry("scikit-learn", lambda: sklearn.decomposition.PCA(10).fit(X), gap),
    ]
    if installed("sklearnex"):
        import sklearnex.decomposition

        found.append(Entry("sklearnex", lambda: sklearnex.decomposition.PCA(10).fit(X), gap))
    found.append(Entry("one product XᵀX", lambda: X.T @ X, kind="floor", work=work))
    return found
