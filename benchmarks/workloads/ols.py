"""Least squares: one Gram matrix, whatever the library."""

import numpy as np
from sklearn.linear_model import LinearRegression as Sklearn

import certifit as cf
from benchmarks.harness import Entry, Work, installed
from certifit.linear_model import LinearRegression

WHAT = "least squares, 100 000 × 100, in float64 and float32"
GOAL = "≥ 1.5× the best peer; ≤ 1.3× one XᵀX"


def contest(dtype: str) -> list[Entry]:
    """All libraries on data of one precision."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100_000, 100))
    y = (X @ rng.standard_normal(100) + rng.standard_normal(100_000)).astype(dtype)
    X = X.astype(dtype)

    def gap(model):
        return cf.certify(model, X, y).relative_gap

    work = Work(X.nbytes, X.shape[0] * X.shape[1] ** 2, dtype)  # half of the product: XᵀX is symmetric
    found = [Entry("certifit", lambda: LinearRegression().fit(X, y), gap, "ours", repeats=9, case=dtype, work=work)]
    found.append(Entry("scikit-learn", lambda: Sklearn().fit(X, y), gap, repeats=3, case=dtype))
    if installed("sklearnex"):
        from sklearnex.linear_model import LinearRegression as Intel

        found.append(Entry("sklearnex", lambda: Intel().fit(X, y), gap, repeats=9, case=dtype))
    found.append(Entry("one XᵀX", lambda: X.T @ X, kind="floor", repeats=9, case=dtype, work=work))
    return found


def entries() -> list[Entry]:
    """Both precisions."""
    return contest("float64") + contest("float32")
