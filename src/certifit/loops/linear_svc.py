"""Inner loops of the smoothed Newton method for linear machines.

Losses of the margin m, by code: 0 is the hinge max(0, 1 − m) with its corner rounded over a width h,
(1 − m)²/2h on 1 − h < m < 1 and 1 − m − h/2 below; 1 is the squared hinge max(0, 1 − m)² (h unused).
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def at(z, y, cost, h, code, alpha, curvature):
    """Multipliers α = −cost·φ′ and curvatures at scores z, written in place.

    Returns the value of the smoothed loss, of the true loss, Σα, Σα²/cost and Σyα.
    """
    smooth, true, total, square, balance = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(len(z)):
        short = 1.0 - y[i] * z[i]
        c = cost[i]
        a, k = 0.0, 0.0
        if short > 0.0 and c > 0.0:
            if code == 1:
                smooth += c * short * short
                true += c * short * short
                a, k = 2.0 * short, 2.0
            else:
                true += c * short
                if short < h:
                    smooth += c * 0.5 * short * short / h
                    a, k = short / h, 1.0 / h
                else:
                    smooth += c * (short - 0.5 * h)
                    a = 1.0
        alpha[i] = c * a
        curvature[i] = c * k
        total += c * a
        square += c * a * a
        balance += y[i] * c * a
    return smooth, true, total, square, balance


@njit(cache=True)
def slope_along(z, step, y, cost, h, code, t):
    """Derivative of the smoothed loss at z + t·step in t, and its own derivative (a generalised one at kinks)."""
    first, second = 0.0, 0.0
    for i in range(len(z)):
        short = 1.0 - y[i] * (z[i] + t * step[i])
        if short > 0.0:
            s = y[i] * step[i]
            if code == 1:
                first -= 2.0 * cost[i] * short * s
                second += 2.0 * cost[i] * s * s
            elif short < h:
                first -= cost[i] * s * short / h
                second += cost[i] * s * s / h
            else:
                first -= cost[i] * s
    return first, second


def warm() -> None:
    """Compile for double precision."""
    z, y = np.zeros(2), np.array([1.0, -1.0])
    for code in (0, 1):
        at(z, y, np.ones(2), 0.5, code, np.empty(2), np.empty(2))
        slope_along(z, y, y, np.ones(2), 0.5, code, 0.5)
