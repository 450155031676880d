"""Value, slopes and gradient of logistic and Poisson regression in one read of the rows.

Four rows at a time: the coefficients and the gradient, which stay in the nearest cache, are then loaded once for four.
"""

from __future__ import annotations

import numpy as np

from certifit.loops._jit import njit

_CAP = 700.0  # beyond it exp overflows; no minimiser is there


@njit()
def _loss(z, y, counts):
    """The loss, without what does not depend on z, and its slope; no exponential overflows."""
    if counts:
        mean = np.exp(min(z, _CAP))
        return mean - z * y, mean - y
    margin = y * z
    small = np.exp(-abs(margin))
    if margin > 0.0:
        return np.log1p(small), -y * small / (1.0 + small)
    return np.log1p(small) - margin, -y / (1.0 + small)


# The order of the terms of a dot product is left to the compiler, which sums in several lanes.
@njit(nogil=True, fastmath={"reassoc", "contract"})
def one_score_pass(X, y, s, w, b, counts, scores, gradient):
    """Scores Xw + b into ``scores``, Σ sᵢ L′(zᵢ) xᵢ added to ``gradient``; returns Σ sᵢ L(zᵢ) and Σ sᵢ L′(zᵢ).

    y is −1 or 1 (logistic loss), or with ``counts`` a number that is not negative (Poisson, without y log y − y).
    """
    n, d = X.shape
    value = total = 0.0
    whole = n - n % 4
    heavy = np.empty(4)
    for i in range(0, whole, 4):
        z0 = z1 = z2 = z3 = b
        for j in range(d):
            z0 += w[j] * np.float64(X[i, j])
            z1 += w[j] * np.float64(X[i + 1, j])
            z2 += w[j] * np.float64(X[i + 2, j])
            z3 += w[j] * np.float64(X[i + 3, j])
        scores[i], scores[i + 1], scores[i + 2], scores[i + 3] = z0, z1, z2, z3
        for k in range(4):
            loss, slope = _loss(scores[i + k], y[i + k], counts)
            heavy[k] = s[i + k] * slope
            value += s[i + k] * loss
            total += heavy[k]
        h0, h1, h2, h3 = heavy[0], heavy[1], heavy[2], heavy[3]
        for j in range(d):
            gradient[j] += (h0 * X[i, j] + h1 * X[i + 1, j]) + (h2 * X[i + 2, j] + h3 * X[i + 3, j])
    for i in range(whole, n):
        z = b
        for j in range(d):
            z += w[j] * np.float64(X[i, j])
        scores[i] = z
        loss, slope = _loss(z, y[i], counts)
        h = s[i] * slope
        value += s[i] * loss
        total += h
        for j in range(d):
            gradient[j] += h * np.float64(X[i, j])
    return value, total


def warm() -> None:
    """Compile for rows of float64 and float32, which are only read."""
    for dtype in (np.float64, np.float32):
        X, one = np.ones((1, 1), dtype), np.ones(1)
        X.flags.writeable = False
        one_score_pass(X, one, one, one, 0.0, False, np.empty(1), np.zeros(1))
