"""Stochastic steps of Pegasos on padded rows.

For λ/2·‖w‖² + mean hinge the step 1/(λt) keeps w(t) = θ/(λt), θ the sum of yx over the rows that were short of margin
1 when visited. With an offset the last entry of θ belongs to a column of ones.
"""

from __future__ import annotations

import numpy as np

from certifit.loops._jit import njit


@njit()
def passes(X, y, order, lam, pad, t, theta, total, counts):
    """Visit rows in the given order; θ, the sum of the w(t), and the counts of short visits change in place."""
    d = X.shape[1]
    for i in order:
        score = pad * theta[d]
        for k in range(d):
            score += X[i, k] * theta[k]
        # At t = 0 the machine is w = 0: every row is short.
        short = t == 0 or y[i] * score < lam * t
        t += 1
        if short:
            for k in range(d):
                theta[k] += y[i] * X[i, k]
            theta[d] += pad * y[i]
            counts[i] += 1
        scale = 1.0 / (lam * t)
        for k in range(d + 1):
            total[k] += scale * theta[k]
    return t


def warm() -> None:
    """Compile for double precision."""
    X, y = np.ones((2, 1)), np.array([1.0, -1.0])
    passes(X, y, np.arange(2), 0.1, 1.0, 0, np.zeros(2), np.zeros(2), np.zeros(2, dtype=np.int64))
