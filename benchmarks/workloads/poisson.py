"""Poisson regression with log link."""

import numpy as np
from sklearn.linear_model import PoissonRegressor

import certifit as cf
from benchmarks.harness import Entry, installed
from certifit.glm import GLM

WHAT = "Poisson GLM, 100 000 × 50, alpha 1e-3, in float64 and float32"
GOAL = "≥ 2× the best peer at gap 1e-6"


def contest(dtype: str) -> list[Entry]:
    """All libraries on data of one precision."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100_000, 50))
    y = rng.poisson(np.exp(0.1 * X @ rng.standard_normal(50))).astype(float)
    X = X.astype(dtype)

    def gap(model):
        return cf.certify(model, X, y).relative_gap

    newton = PoissonRegressor(alpha=1e-3, solver="newton-cholesky")
    found = [
        Entry("certifit", lambda: GLM("poisson", alpha=1e-3, tol=1e-3).fit(X, y), gap, "ours", case=dtype),
        Entry("scikit-learn lbfgs", lambda: PoissonRegressor(alpha=1e-3).fit(X, y), gap, case=dtype),
        Entry("scikit-learn newton", lambda: newton.fit(X, y), gap, case=dtype),
    ]
    if installed("glum"):
        from glum import GeneralizedLinearRegressor

        glum = GeneralizedLinearRegressor(family="poisson", alpha=1e-3, l1_ratio=0)
        found.append(Entry("glum", lambda: glum.fit(X, y), gap, repeats=3, case=dtype))
    return found


def entries() -> list[Entry]:
    """Both precisions."""
    return contest("float64") + contest("float32")
