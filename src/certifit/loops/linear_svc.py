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


@njit(nogil=True)
def dual_sweep(data, indices, indptr, y, cost, width, labels, size, room, order, beta, w, b):
    """One sweep of dual coordinate descent over sparse rows, for losses with a corner.

    Minimises ½‖Xᵀβ‖² + ½ room (Σβ)² + b Σβ − Σ yᵢβᵢ + width · Σ|βᵢ| with yᵢβᵢ from 0 to the cost, or |βᵢ| up to it
    where y are no labels. ``size`` holds ‖xᵢ‖². β and w = Xᵀβ are changed in place, and b, which begins as the
    derivative of the two terms in Σβ, follows and is returned.
    """
    for i in order:
        q, c = size[i] + room, cost[i]
        if c <= 0.0 or q <= 0.0:
            continue
        slope = b - y[i]
        for p in range(indptr[i], indptr[i + 1]):
            slope += data[p] * w[indices[p]]
        new, low, high = beta[i] - slope / q, -c, c
        if labels:
            low, high = (0.0, c) if y[i] > 0.0 else (-c, 0.0)
        else:
            new = max(new - width / q, 0.0) if new > 0.0 else min(new + width / q, 0.0)
        new = min(max(new, low), high)
        move = new - beta[i]
        if move != 0.0:
            beta[i] = new
            b += room * move
            for p in range(indptr[i], indptr[i + 1]):
                w[indices[p]] += data[p] * move
    return b


def warm() -> None:
    """Compile for double precision."""
    z, y = np.zeros(2), np.array([1.0, -1.0])
    for code in range(4):
        at(z, y, np.ones(2), 0.1, 0.5, code, np.empty(2), np.empty(2))
        slope_along(z, y, y, np.ones(2), 0.1, 0.5, code, 0.5)
    for kind in (np.int32, np.int64):
        indices, indptr, order = np.array([0, 0], kind), np.array([0, 1, 2], kind), np.arange(2)
        dual_sweep(y, indices, indptr, y, np.ones(2), 0.1, True, np.ones(2), 1.0, order, np.zeros(2), np.zeros(1), 0.0)
