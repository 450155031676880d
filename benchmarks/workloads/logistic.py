"""Two-class logistic regression on a tall table, at relative gap 1e-6."""

import numpy as np
from sklearn.linear_model import LogisticRegression as Sklearn

import certifit as cf
from benchmarks.harness import Entry, installed
from certifit.linear_model import LogisticRegression

WHAT = "logistic regression, 100 000 × 100, gap 1e-6, in float64 and float32"
GOAL = "≥ 1.5× the best peer"


def contest(dtype: str) -> list[Entry]:
    """All libraries on data of one precision."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100_000, 100))
    p = 1 / (1 + np.exp(-0.3 * X @ rng.standard_normal(100)))
    y = (rng.random(100_000) < p).astype(int)
    X = X.astype(dtype)

    def gap(model):
        return cf.certify(model, X, y).relative_gap

    found = [Entry("certifit", lambda: LogisticRegression(tol=1e-2).fit(X, y), gap, "ours", case=dtype)]
    found.append(Entry("scikit-learn lbfgs", lambda: Sklearn().fit(X, y), gap, case=dtype))
    found.append(
        Entry("scikit-learn newton", lambda: Sklearn(solver="newton-cholesky").fit(X, y), gap, repeats=3, case=dtype)
    )
    if installed("sklearnex"):
        from sklearnex.linear_model import LogisticRegression as Intel

        found.append(Entry("sklearnex", lambda: Intel().fit(X, y), gap, case=dtype))
    return found


def entries() -> list[Entry]:
    """Both precisions."""
    return contest("float64") + contest("float32")
