"""Isotonic regression: no function that never falls fits better.

For distinct scores x₁ < … < x_m with weights W_g and weighted sums S_g of the answers, minimise Σ w (y − f(x))² over
f(x₁) ≤ … ≤ f(x_m). The conditions of Karush, Kuhn and Tucker: f never falls, the partial sums
λ_g = Σ_{h≤g} (S_h − W_h f_h) are never negative, λ_m = 0, and λ_g = 0 wherever f rises. The problem is convex, so
whoever meets them is optimal. Pooling adjacent violators in exact rationals finds such an f, the conditions are checked
as they stand, and the excess of the values in the evidence, which are floats, is
Σ W_g (v_g² − f_g²) − 2 S_g (v_g − f_g), exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from certifit._types import Array
from certifit.certificates._ball import rational, rationals
from certifit.certificates._data import Data, Evidence, Figures, Rigor
from certifit.certificates._record import Check, Kind, Proof, about, equal, register, upper
from certifit.certificates._schema import FINITE


@register
class Isotonic(Kind):
    """No non-decreasing function of the only column has a smaller squared error.

    Evidence: ``scores``, the distinct scores in order, and ``values``, the fitted value at each.
    """

    name = "isotonic"
    needs: ClassVar = {"scores": FINITE, "values": FINITE}
    theorem = "conditions of Karush, Kuhn and Tucker for isotonic regression, in exact arithmetic"

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        scores, values = (np.asarray(evidence[name], dtype=float) for name in ("scores", "values"))
        x, y = _column(data), data.real_targets()
        if y.shape != x.shape or not (np.all(np.isfinite(x)) and np.all(np.isfinite(y))):
            raise ValueError("one finite score and one finite prediction per row are needed")
        distinct, group = np.unique(x, return_inverse=True)
        if scores.shape != values.shape or not np.array_equal(scores, distinct):
            raise ValueError("one value for each distinct score of the data is needed, in order")
        weights, sums, square = _sums(y, data.weights, group, len(distinct))
        best = pooled(sums, weights)
        v = rationals(values)
        gap = sum(W * (a * a - f * f) - 2 * S * (a - f) for W, S, a, f in zip(weights, sums, v, best))
        total = sum(weights)
        value = (square + sum(W * a * a - 2 * S * a for W, S, a in zip(weights, sums, v))) / total
        figures = {
            "value": about(value),
            "gap": upper(gap / total),
            "relative_gap": upper(gap / total / value if value > 0 else gap / total),
            "rows": equal(len(y)),
        }
        rises = Check("the values never decrease", bool(np.all(np.diff(values) >= 0)))
        return Proof(figures, (rises, Check("the conditions of Karush, Kuhn and Tucker", _kkt(sums, weights, best))))

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        return (
            "No non-decreasing function of the score has a smaller mean squared error on these "
            f"{figures['rows']} rows by more than {figures['gap']:.0e}."
        )


def _column(data: Data) -> Array:
    X = data.X.toarray() if hasattr(data.X, "toarray") else np.asarray(data.X)
    if X.ndim != 2 or X.shape[1] != 1 or data.y is None:
        raise ValueError("isotonic regression has one column and one prediction per row")
    return np.asarray(X[:, 0], dtype=float)


def _sums(y: Array, w: Array, group: Array, count: int) -> tuple[list[Any], list[Any], Any]:
    """Exact Σ w and Σ w y per distinct score (of rows with a weight), and Σ w y²."""
    weights, sums, square = [rational(0.0)] * count, [rational(0.0)] * count, rational(0.0)
    for g, a, b in zip(group.tolist(), rationals(w), rationals(y)):
        weights[g] += a
        sums[g] += a * b
        square += a * b * b
    if any(W <= 0 for W in weights):
        raise ValueError("every distinct score needs a positive weight")
    return weights, sums, square


def pooled(sums: Sequence[Any], weights: Sequence[Any]) -> list[Any]:
    """The best non-decreasing values for Σ w y and Σ w > 0 of ordered groups: adjacent violators are pooled.

    Examples
    --------
    >>> pooled([1.0, 0.0, 2.0], [1.0, 1.0, 1.0])
    [0.5, 0.5, 2.0]
    """
    blocks: list[list[Any]] = []  # sum, weight, groups
    for S, W in zip(sums, weights):
        blocks.append([S, W, 1])
        while len(blocks) > 1 and blocks[-2][0] * blocks[-1][1] >= blocks[-1][0] * blocks[-2][1]:
            s, w, n = blocks.pop()
            blocks[-1] = [blocks[-1][0] + s, blocks[-1][1] + w, blocks[-1][2] + n]
    return [s / w for s, w, n in blocks for _ in range(n)]


def _kkt(sums: Sequence[Any], weights: Sequence[Any], f: Sequence[Any]) -> bool:
    multiplier = rational(0.0)
    for g in range(len(f)):
        multiplier += sums[g] - weights[g] * f[g]
        rises = g + 1 < len(f) and f[g + 1] > f[g]
        if multiplier < 0 or (multiplier != 0 and (rises or g + 1 == len(f))):
            return False
        if g + 1 < len(f) and f[g + 1] < f[g]:
            return False
    return True
