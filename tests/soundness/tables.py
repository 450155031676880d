"""Tables of awkward numbers."""

import numpy as np
import scipy.sparse

REGIMES = (
    "plain", "plain", "whole", "wild", "huge", "tiny", "subnormal", "far", "collinear", "constant", "repeated", "single",
    "wide", "sparse",
)  # fmt: skip


def table(rng, regime=None):
    """X, dense or sparse, in one of the regimes."""
    regime = regime or str(rng.choice(REGIMES))
    n, d = int(rng.integers(4, 9)), int(rng.integers(1, 4))
    if regime == "wide":
        n, d = 4, 6
    X = rng.normal(size=(n, d))
    if regime == "whole":
        X = rng.integers(-3, 4, size=(n, d)).astype(float)
    scales = {"wild": (-8, 8), "huge": (100, 300), "tiny": (-300, -100), "subnormal": (-312, -309)}
    if regime in scales:
        X = X * 10.0 ** rng.uniform(*scales[regime], size=d)
    if regime == "far":
        X = X + 10.0 ** rng.uniform(1, 8, size=d)
    if regime == "collinear" and d > 1:
        X[:, -1] = X[:, 0] * rng.choice([1.0, 2.0, 1 / 3, -0.7])
    if regime == "constant":
        X[:, 0] = rng.choice([0.0, 1.0, 3.7])
    if regime == "repeated":
        X = X[rng.integers(0, n, n)]
    if regime == "single":
        X = X.astype(np.float32)
    if regime == "sparse":
        X = scipy.sparse.csr_matrix(X * (rng.random(X.shape) < 0.6))
        X.data[rng.random(len(X.data)) < 0.2] = 0.0  # zeros that are stored
    return X


def weights(rng, n):
    """Weights of rows: none, some zero, far apart."""
    kind = rng.integers(0, 6)
    if kind < 3:
        return None
    if kind == 3:
        s = rng.integers(0, 3, n).astype(float)
        s[[0, -1]] = 1.0
        return s
    return 10.0 ** rng.uniform(-6, 6, n) if kind == 4 else rng.uniform(0.1, 2.0, n)


def labels(rng, n, k):
    """k classes, each of them there."""
    y = rng.integers(0, k, n)
    y[:k] = np.arange(k)
    return y
