"""Least squares in rational numbers: the truth that certificates are held against."""

from fractions import Fraction

import numpy as np


def _columns(X, weights, offset):
    rows = [[Fraction(float(v)) for v in row] + [Fraction(1)] * offset for row in np.asarray(X, dtype=float)]
    return rows, [Fraction(float(v)) for v in weights]


def solve(H, q):
    """A solution of Hx = q by elimination, or None."""
    p = len(q)
    M = [[*row, v] for row, v in zip(H, q)]
    pivots, at = [], 0
    for column in range(p):
        found = next((i for i in range(at, p) if M[i][column] != 0), None)
        if found is None:
            continue
        M[at], M[found] = M[found], M[at]
        M[at] = [v / M[at][column] for v in M[at]]
        for i in range(p):
            if i != at and M[i][column] != 0:
                M[i] = [a - M[i][column] * b for a, b in zip(M[i], M[at])]
        pivots.append(column)
        at += 1
    if any(row[p] != 0 for row in M[at:]):
        return None
    x = [Fraction(0)] * p
    for i, column in enumerate(pivots):
        x[column] = M[i][p]
    return x


def _normal_equations(X, y, weights, offset, alpha=0.0):
    rows, s = _columns(X, weights, offset)
    y = [Fraction(float(v)) for v in y]
    p = len(rows[0])
    H = [[sum(w * r[i] * r[j] for w, r in zip(s, rows)) for j in range(p)] for i in range(p)]
    for j in range(p - offset):
        H[j][j] += Fraction(float(alpha))
    return rows, s, y, H, [sum(w * r[j] * t for w, r, t in zip(s, rows, y)) for j in range(p)]


def least_squares_solution(X, y, weights, offset, alpha=0.0):
    """(w, b) of Σ s(y − Xw − b)² + α‖w‖², as fractions."""
    _, _, _, H, q = _normal_equations(X, y, weights, offset, alpha)
    x = solve(H, q)
    return (x[:-1], x[-1]) if offset else (x, Fraction(0))


def least_squares_gap(X, y, weights, coef, intercept, offset, alpha=0.0):
    """How far the mean objective at these coefficients is above its minimum."""
    rows, s, y, H, q = _normal_equations(X, y, weights, offset, alpha)
    best = solve(H, q)
    mine = [Fraction(float(v)) for v in coef] + [Fraction(float(intercept))] * offset

    def value(theta):
        loss = sum(w * (t - sum(a * b for a, b in zip(r, theta))) ** 2 for w, r, t in zip(s, rows, y))
        return loss + Fraction(float(alpha)) * sum(v * v for v in theta[: len(coef)])

    return (value(mine) - value(best)) / sum(s)
