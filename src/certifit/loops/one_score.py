"""Value, slopes and gradient of logistic and Poisson regression in one read of the rows.

Four rows at a time: the coefficients and the gradient, which stay in the nearest cache, are then loaded once for four.
"""

from __future__ import annotations

import numpy as np

from certifit.loops._jit import njit
from certifit.loops._vectors import LINE, fetch

_CAP = 700.0  # beyond it exp overflows; no minimiser is there
_AHEAD = 8192  # bytes of X that are asked for ahead: the exponentials between the rows hide them from the processor


@njit()
def _loss(z, y, counts):
    """(l, e, slope) of a loss l + log(1 + e), without what does not depend on z; no exponential overflows."""
    if counts:
        mean = np.exp(min(z, _CAP))
        return mean - z * y, 0.0, mean - y
    margin = y * z
    small = np.exp(-abs(margin))
    # Which side a row is on cannot be foreseen: a choice between numbers, not between ways to go on.
    return max(-margin, 0.0), small, -y * (small if margin > 0.0 else 1.0) / (1.0 + small)


# The order of the terms of a dot product is left to the compiler, which sums in several lanes.
@njit(nogil=True, fastmath={"reassoc", "contract"})
def one_score_pass(X, y, s, w, b, counts, scores, gradient):
    """Scores Xw + b into ``scores``, Σ sᵢ L′(zᵢ) xᵢ added to ``gradient``; returns Σ sᵢ L(zᵢ) and Σ sᵢ L′(zᵢ).

    y is −1 or 1 (logistic loss), or with ``counts`` a number that is not negative (Poisson, without y log y − y).
    """
    n, d = X.shape
    value = total = 0.0
    whole = n - n % 4
    heavy, row = np.empty(4), d * X.itemsize
    for i in range(0, whole, 4):
        for place in range(i * row + _AHEAD, (i + 4) * row + _AHEAD, LINE):
            fetch(X, place)
        z0 = z1 = z2 = z3 = b
        for j in range(d):
            z0 += w[j] * np.float64(X[i, j])
            z1 += w[j] * np.float64(X[i + 1, j])
            z2 += w[j] * np.float64(X[i + 2, j])
            z3 += w[j] * np.float64(X[i + 3, j])
        scores[i], scores[i + 1], scores[i + 2], scores[i + 3] = z0, z1, z2, z3
        alike, product = s[i] == s[i + 1] == s[i + 2] == s[i + 3], 0.0
        for k in range(4):
            loss, small, slope = _loss(scores[i + k], y[i + k], counts)
            heavy[k] = s[i + k] * slope
            value += s[i + k] * (loss if alike else loss + np.log1p(small))
            product += small + product * small  # Π (1 + e) − 1: one logarithm serves rows of one weight
            total += heavy[k]
        if alike:
            value += s[i] * np.log1p(product)
        h0, h1, h2, h3 = heavy[0], heavy[1], heavy[2], heavy[3]
        for j in range(d):
            gradient[j] += (h0 * X[i, j] + h1 * X[i + 1, j]) + (h2 * X[i + 2, j] + h3 * X[i + 3, j])
    for i in range(whole, n):
        z = b
        for j in range(d):
            z += w[j] * np.float64(X[i, j])
        scores[i] = z
        loss, small, slope = _loss(z, y[i], counts)
        h = s[i] * slope
        value += s[i] * (loss + np.log1p(small))
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
