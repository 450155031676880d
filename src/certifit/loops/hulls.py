"""Inner loop of the nearest-points problem between the convex hulls of two classes.

Minimise ½‖Σ yᵢμᵢφ(xᵢ)‖² over μ ≥ 0 with Σ₊μ = Σ₋μ = 1; G = y∘(K(y∘μ)) is its gradient. A step moves mass t from row
j to row i of the same class, which helps while Gᵢ < Gⱼ.
"""

from __future__ import annotations

import numpy as np

from certifit.loops._jit import njit


@njit(fastmath={"reassoc", "contract"})
def nearest_points(K, y, mu, G, eps, max_steps):
    """Mass moves with second-order choice; μ and G change in place. Returns the steps and the last violation."""
    n = len(mu)
    worst = 0.0
    for step in range(max_steps):
        i, j, best, worst = -1, -1, 0.0, 0.0
        for side in (1.0, -1.0):
            low, at = np.inf, -1
            for k in range(n):
                if y[k] == side and G[k] < low:
                    low = G[k]
                    at = k
            for k in range(n):
                if y[k] == side and mu[k] > 0.0:
                    gain = G[k] - low
                    worst = max(worst, gain)
                    if gain > 0.0:
                        eta = max(K[at, at] + K[k, k] - 2.0 * K[at, k], 1e-14 * (K[at, at] + K[k, k]) + 1e-300)
                        # The objective falls by at most what the mass of k allows.
                        t = min(gain / eta, mu[k])
                        score = t * (gain - 0.5 * t * eta)
                        if score > best:
                            best = score
                            i, j = at, k
        if worst <= eps or i < 0:
            return step, worst
        eta = max(K[i, i] + K[j, j] - 2.0 * K[i, j], 1e-14 * (K[i, i] + K[j, j]) + 1e-300)
        t = (G[j] - G[i]) / eta
        if t >= mu[j]:
            t = mu[j]
            mu[j] = 0.0
        else:
            mu[j] -= t
        mu[i] += t
        for k in range(n):
            G[k] += t * y[k] * y[i] * (K[i, k] - K[j, k])
    return max_steps, worst


def warm() -> None:
    """Compile for double precision."""
    y = np.array([1.0, -1.0])
    nearest_points(np.eye(2), y, np.ones(2), np.ones(2), 1e-3, 10)
