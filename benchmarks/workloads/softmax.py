"""Softmax regression with ten classes."""

import numpy as np
from sklearn.linear_model import LogisticRegression as Sklearn

import certifit as cf
from benchmarks.harness import Entry, installed
from certifit.linear_model import LogisticRegression

WHAT = "softmax regression, 50 000 × 50, 10 classes, gap 1e-6"
GOAL = "≥ 1.5× the best peer"


def entries() -> list[Entry]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50_000, 50))
    Z = 0.3 * X @ rng.standard_normal((50, 10)) + rng.gumbel(size=(50_000, 10))
    y = Z.argmax(axis=1)

    def gap(model):
        return cf.certify(model, X, y).relative_gap

    found = [Entry("certifit", lambda: LogisticRegression(tol=1e-2).fit(X, y), gap, "ours")]
    found.append(Entry("scikit-learn lbfgs", lambda: Sklearn().fit(X, y), gap))
    if installed("sklearnex"):
        from sklearnex.linear_model import LogisticRegression as Intel

        found.append(Entry("sklearnex", lambda: Intel().fit(X, y), gap))
    return found
