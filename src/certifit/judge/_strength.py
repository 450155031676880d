r"""For which strength of the penalty is an answer optimal? Read off the condition of optimality.

With :math:`g(s) = \frac1S\sum_i s_i\,x_i` for slopes :math:`s_i` of the losses at the answer, a minimiser has
:math:`g(s) + \lambda r = 0` with r a subgradient of the penalty, and slopes that add up to zero if the offset is free.
At a kink the slope is any number between the one on the left and the one on the right. The λ that comes nearest is a
guess; whether the answer is optimal for it is then proved like any other claim.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.optimize

from certifit._types import Array
from certifit.judge._written_down import subgradient
from certifit.losses import Loss
from certifit.regularizers import L1, Regularizer

_NEAR = 1e-6  # how near to a kink a score is at it, as a fraction of its size
_KINK = 1e-3  # by how much the slopes on both sides differ there, at least

STRENGTHS = {
    "λ/2": "half the penalty", "2λ": "twice the penalty", "λ/n": "sum for mean", "λn": "penalty times n",
    "λ/(2n)": "half the penalty, summed",
}  # fmt: skip
"""Multiples of λ that have a name as a slip."""


class Strengths(NamedTuple):
    """From which to which λ an answer may be optimal, and how many equations it then satisfies."""

    low: float
    high: float
    equations: int

    def named(self, lam: float, n: int) -> tuple[float, str | None]:
        """A usual multiple of λ among them, in words: "4λ", "λ/n", "λ²"; else one of them without words."""
        usual = {
            "λ/2": 0.5, "2λ": 2.0, "λ/n": 1.0 / n, "λn": float(n), "λ/(2n)": 0.5 / n, "2λn": 2.0 * n, "λ/4": 0.25,
            "4λ": 4.0, "2λ/n": 2.0 / n, "λn/2": 0.5 * n, "λ/n²": 1.0 / n**2, "λn²": float(n) ** 2, "λ²": lam,
            "√λ": lam**-0.5, "λ/10": 0.1, "10λ": 10.0, "λ/100": 0.01, "100λ": 100.0,
        }  # fmt: skip
        for words, factor in usual.items():
            if self.low * (1.0 - 1e-4) <= factor * lam <= self.high * (1.0 + 1e-4):
                return min(max(factor * lam, self.low), self.high), words
        return float(np.sqrt(self.low * self.high)), None


def fitting_strengths(
    loss: Loss, penalty: Regularizer, w: Array, b: Array | None, X: Array, y: Array, weights: Array
) -> Strengths | None:
    """Those λ under which (w, b) comes nearest to optimal; None where there is none above 0.

    y is as the loss takes it: numbers, −1/+1, or the codes of K classes. The weights add up to one.
    """
    pull = subgradient(penalty, w.ravel()).reshape(w.shape)
    used = np.abs(w) > 1e-9 * np.abs(w).max()
    z = X @ w.T + (0.0 if b is None else b)
    if loss.targets == "class":
        slopes, kinks = loss.slope(z, y), np.zeros(len(y), dtype=bool)
    else:
        near = _NEAR * (1.0 + np.abs(z[:, 0]))
        left, at, right = (loss.slope(z[:, 0] + shift, y) for shift in (-near, 0.0, near))
        kinks = right - left > _KINK
        slopes = np.where(kinks, 0.0, at)[:, None]
    fixed = weights[:, None] * slopes
    if not np.any(pull):  # zero is optimal from some strength of a 1-norm on
        norm = getattr(penalty, "l1_ratio", 1.0 if isinstance(penalty, L1) else 0.0)
        least = float(np.abs(fixed.T @ X).max()) / norm * (1.0 + 1e-9) if norm and not kinks.any() else 0.0
        return Strengths(least, least, w.size) if least > 0 else None
    target = np.append(-(fixed.T @ X)[used], [] if b is None else -fixed.sum(axis=0))
    A = np.append(pull[used], [] if b is None else np.zeros(len(b)))[:, None]
    if not kinks.any():
        low = high = float(A[:, 0] @ target) / float(A[:, 0] @ A[:, 0])
    else:  # one output: the slope of every row at a kink is an unknown
        rows = (weights[kinks, None] * X[kinks])[:, used[0]].T
        A = np.column_stack([A, rows if b is None else np.vstack([rows, weights[kinks]])])
        low, high = _range(A, target, [(0.0, None), *zip(left[kinks], right[kinks], strict=True)])
    return Strengths(low, high, len(A)) if 0.0 < low <= high < np.inf else None


def _range(A: Array, target: Array, limits: Sequence[tuple[float, float | None]]) -> tuple[float, float]:
    """The smallest and the largest first unknown of those that come nearest to Ax = target within the limits."""
    bounds = np.array([(low, np.inf if high is None else high) for low, high in limits]).T
    nearest = scipy.optimize.lsq_linear(A, target, bounds, tol=1e-14).x
    first, scale = np.eye(A.shape[1])[0], np.abs(A).max(axis=1, keepdims=True)
    ends = [
        scipy.optimize.linprog(sign * first, A_eq=A / scale, b_eq=(A / scale) @ nearest, bounds=limits)
        for sign in (1.0, -1.0)
    ]
    low, high = (float(e.x[0]) if e.status == 0 else float(nearest[0]) for e in ends)
    return min(low, high), max(low, high)
