"""An independent exact decision of separability: a textbook simplex in rationals with Bland's rule.

max Σt subject to z·u ≥ t and 0 ≤ t ≤ 1. The cone of admissible u is closed under addition, so at the optimum t is
one wherever z·u can be positive and zero elsewhere: all ones is separable, all zeros overlapping, else touching.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np


def difference_list(X, y, fit_intercept):
    """All difference rows, written out naively with every class in its own block."""
    X = [[Fraction(float(v)) for v in row] + ([Fraction(1)] if fit_intercept else []) for row in np.asarray(X)]
    classes = sorted(set(y))
    p = len(X[0]) if X else 0
    out = []
    for row, label in zip(X, y):
        for k in classes:
            if k == label:
                continue
            z = [Fraction(0)] * (p * len(classes))
            a, b = classes.index(label) * p, classes.index(k) * p
            z[a : a + p] = row
            z[b : b + p] = [-v for v in row]
            out.append(z)
    return out


def decision(X, y, fit_intercept=True) -> str:
    """The verdict by exact linear programming."""
    if len(set(y)) == 2:  # the difference of the two blocks is enough
        Z = [z[: len(z) // 2] for z in difference_list(X, y, fit_intercept)]
    else:
        Z = difference_list(X, y, fit_intercept)
    n, p = len(Z), len(Z[0])
    # Columns: u⁺ (p), u⁻ (p), t (n), slacks (2n), right-hand side; the start u = t = 0 is feasible.
    table = []
    for i, z in enumerate(Z):
        t = [Fraction(int(i == j)) for j in range(n)]
        slack = [Fraction(int(i == j)) for j in range(2 * n)]
        table.append([-v for v in z] + list(z) + t + slack + [Fraction(0)])
    for i in range(n):
        t = [Fraction(int(i == j)) for j in range(n)]
        slack = [Fraction(int(n + i == j)) for j in range(2 * n)]
        table.append([Fraction(0)] * (2 * p) + t + slack + [Fraction(1)])
    cost = [Fraction(0)] * (2 * p) + [Fraction(1)] * n + [Fraction(0)] * (2 * n + 1)
    basis = [2 * p + n + i for i in range(2 * n)]
    while True:
        j = next((j for j in range(len(cost) - 1) if cost[j] > 0), None)
        if j is None:
            break
        ratios = [(table[i][-1] / table[i][j], basis[i], i) for i in range(2 * n) if table[i][j] > 0]
        _, _, i = min(ratios)
        pivot = table[i][j]
        table[i] = [v / pivot for v in table[i]]
        for k in range(2 * n):
            if k != i and table[k][j] != 0:
                f = table[k][j]
                table[k] = [a - f * b if b else a for a, b in zip(table[k], table[i])]
        f = cost[j]
        cost = [a - f * b if b else a for a, b in zip(cost, table[i])]
        basis[i] = j
    total = -cost[-1]
    return "separable" if total == n else "overlapping" if total == 0 else "touching"
