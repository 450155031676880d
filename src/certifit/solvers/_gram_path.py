"""Lasso or elastic net along a falling sequence of strengths, given the Gram matrix of all columns.

The lasso's path is piecewise linear in α. So the strengths are solved a few apart, those between are interpolated, and
the duality gap, which costs a pass over d numbers, says whether that is good enough; where it is not, the strength in
the middle is solved too. Interpolation never leaves the dual's box: if |q| ≤ l1 holds at both ends, it holds
between them. Only coefficients that enter or leave on the way open a gap, and these are small there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from certifit._types import Array
from certifit.solvers._gram_descent import Active, GramState, Penalty, descend_gram

_LONGEST = 16  # strengths that one step may span
_SMALL = 0.1  # fraction of columns in use below which every strength is solved, which costs little
_INNER = 0.5  # fraction of the tolerance granted to each strength, solved or interpolated


def descend_path(
    G: Array, q: Array, r2: float, strengths: Array, penalty: Callable[[float], Penalty], tol: float
) -> tuple[Array, Array]:
    """Coefficients (a, d) and gaps (a,) for strengths in strictly falling order, from w = 0.

    ``G`` = AᵀA (the leading block of a contiguous matrix), ``q`` = Aᵀy and ``r2`` = ‖y‖²; ``tol`` is the largest gap,
    as a fraction of ½‖y‖².
    """
    path = _Path(G, GramState(np.zeros(len(q)), q.copy(), r2), strengths, penalty, tol * 0.5 * r2, tol)
    path.walk()
    return path.coef, path.gaps


class _Path:
    def __init__(
        self,
        G: Array,
        start: GramState,
        strengths: Array,
        penalty: Callable[[float], Penalty],
        tol: float,
        share: float,
    ) -> None:
        self.G, self.start, self.strengths, self.tol, self.share = G, start, strengths, tol, share
        self.penalties = [penalty(float(a)) for a in strengths]
        self.active = Active()
        self.coef, self.gaps = np.empty((len(strengths), len(start.w))), np.empty(len(strengths))

    def walk(self) -> None:
        """From each strength that is solved to the next one, in steps that lengthen while interpolation serves."""
        last = len(self.strengths) - 1
        left, at, length = self.solve(0, self.start), 0, 1
        while at < last:
            ends = [(min(at + length, last), self.solve(min(at + length, last), left))]
            halved = False
            while ends:
                right, state = ends[-1]
                if self.between(at, left, right, state):
                    left, at = state, right
                    ends.pop()
                else:
                    halved = True
                    middle = (at + right) // 2
                    ends.append((middle, self.solve(middle, self.mixed(at, left, right, state, middle))))
            if np.count_nonzero(left.w) < _SMALL * len(left.w):
                length = 1
            else:
                length = max(length // 2, 1) if halved else min(2 * length, _LONGEST)

    def solve(self, i: int, start: GramState) -> GramState:
        """Solve at strength i, beginning at a state (which stays as it is)."""
        state, penalty = start.copy(), self.penalties[i]
        descend_gram(self.G, state, penalty, _INNER * self.tol, _INNER * self.share, self.active, loose=True)
        self.coef[i], self.gaps[i] = state.w, penalty.gap(state.w, state.q, state.r2)[0]
        return state

    def mixed(self, a: int, left: GramState, b: int, right: GramState, i: int) -> GramState:
        """Linear interpolation at strength i; the correlations follow exactly, being linear in w."""
        t = (self.strengths[a] - self.strengths[i]) / (self.strengths[a] - self.strengths[b])
        w, q = left.w + t * (right.w - left.w), left.q + t * (right.q - left.q)
        return GramState(w, q, max(self.start.r2 - float(w @ (self.start.q + q)), 0.0))

    def between(self, a: int, left: GramState, b: int, right: GramState) -> bool:
        """Whether interpolation serves all strengths between a and b, the middle (where it is worst) first."""
        for i in sorted(range(a + 1, b), key=lambda i: abs(2 * i - a - b)):
            state = self.mixed(a, left, b, right, i)
            gap = self.penalties[i].gap(state.w, state.q, state.r2)[0]
            if not gap <= _INNER * self.tol:
                return False
            self.coef[i], self.gaps[i] = state.w, gap
        return True
