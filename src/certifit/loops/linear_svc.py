"""Inner loops of the smoothed Newton method for linear machines.

A row is ``short`` of what is asked: by 1 − yz of its margin (codes 0, 1), or by |y − z| − width of its tube (2, 3).
Even codes pay max(0, short), the corner rounded over a width h: short²/2h on 0 < short < h and short − h/2 above; odd
ones pay max(0, short)² (h unused).
"""

from __future__ import annotations

import numpy as np

from certifit.loops._jit import njit


@njit()
def at(z, y, cost, width, h, code, beta, curvature):
    """Multipliers β = −cost·dφ/dz and curvatures at scores z, written in place.

    Returns the value of the smoothed loss, of the true loss, Σ|β|, Σβ²/cost and Σβ.
    """
    smooth, true, total, square, balance = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(len(z)):
        side, short = y[i], 1.0 - y[i] * z[i]
        if code >= 2:
            side = 1.0 if y[i] > z[i] else -1.0
            short = abs(y[i] - z[i]) - width
        c = cost[i]
        a, k = 0.0, 0.0
        if short > 0.0 and c > 0.0:
            if code % 2 == 1:
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
        beta[i] = side * (c * a)
        curvature[i] = c * k
        total += c * a
        square += c * a * a
        balance += side * (c * a)
    return smooth, true, total, square, balance


@njit()
def slope_along(z, step, y, cost, width, h, code, t):
    """Derivative of the smoothed loss at z + t·step in t, and its own derivative (a generalised one at kinks)."""
    first, second = 0.0, 0.0
    for i in range(len(z)):
        there = z[i] + t * step[i]
        side, short = y[i], 1.0 - y[i] * there
        if code >= 2:
            side = 1.0 if y[i] > there else -1.0
            short = abs(y[i] - there) - width
        if short > 0.0:
            s = side * step[i]
            if code % 2 == 1:
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
    for code in range(4):
        at(z, y, np.ones(2), 0.1, 0.5, code, np.empty(2), np.empty(2))
        slope_along(z, y, y, np.ones(2), 0.1, 0.5, code, 0.5)
