"""Ridge regression on a tall table."""

import numpy as np
from sklearn.linear_model import Ridge as Sklearn

import certifit as cf
from benchmarks.harness import Entry, installed
from certifit.linear_model import Ridge

WHAT = "ridge, 100 000 × 200"
GOAL = "≥ 1× the best peer; ≤ 2× one XᵀX"


def entries() -> list[Entry]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100_000, 200))
    y = X @ rng.standard_normal(200) + rng.standard_normal(100_000)

    def gap(model):
        return cf.certify(model, X, y).relative_gap

    found = [Entry("certifit", lambda: Ridge().fit(X, y), gap, "ours", repeats=9)]
    found.append(Entry("scikit-learn", lambda: Sklearn().fit(X, y), gap))
    if installed("sklearnex"):
        from sklearnex.linear_model import Ridge as Intel

        found.append(Entry("sklearnex", lambda: Intel().fit(X, y), gap, repeats=9))
    found.append(Entry("one XᵀX", lambda: X.T @ X, kind="floor", repeats=9))
    return found
