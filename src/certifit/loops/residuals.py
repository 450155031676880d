"""Residuals of a linear model and what least squares needs of them, in one read of rows in single precision.

Every product and sum is formed in double precision: only the rows as they lie in memory are narrow.
"""

from __future__ import annotations

import numpy as np

from certifit.loops._jit import njit


# The order of the terms of a dot product is left to the compiler, which sums in several lanes.
@njit(nogil=True, fastmath={"reassoc", "contract"})
def residual_sums(X, y, w, b, gradient):
    """Add Σ rᵢxᵢ to ``gradient``, with r = y − Xw − b; returns Σ r and Σ r²."""
    total = squares = 0.0
    for i in range(X.shape[0]):
        score = 0.0
        for j in range(X.shape[1]):
            score += np.float64(X[i, j]) * w[j]
        r = y[i] - score - b
        total += r
        squares += r * r
        for j in range(X.shape[1]):
            gradient[j] += np.float64(X[i, j]) * r
    return total, squares


def warm() -> None:
    """Call the loop once, so that it is compiled and cached."""
    residual_sums(np.ones((1, 1), dtype=np.float32), np.ones(1), np.ones(1), 0.0, np.zeros(1))
