r"""Optimality of a multi-task lasso or elastic net by weak duality.

.. math:: P(W, b) = \frac1S\Big(\tfrac12\sum_i s_i\lVert y_i - Wx_i - b\rVert^2
          + \Lambda\sum_j\big(\rho\lVert W_j\rVert + \tfrac12(1-\rho)\lVert W_j\rVert^2\big)\Big), \qquad S=\sum_i s_i

with Wⱼ the coefficients of column j in all targets. For any β (n, t) whose columns sum to zero (only when there is an
offset), with Λv = Xᵀβ, the difference P(W, b) − P* is at most the sum of Fenchel–Young terms

.. math:: \frac1S\Big(\sum_i\tfrac{s_i}2\lVert y_i - Wx_i - b - \beta_i/s_i\rVert^2
          + \Lambda\sum_j[r(W_j) + r^*(v_j) - v_j\cdot W_j]\Big),

where r* is (‖v‖−ρ)₊²/(2(1−ρ)) for ρ < 1 and zero on ‖v‖ ≤ 1 for ρ = 1 (β is shrunk until that holds). β is taken from
the residuals of the witness; P(model) − P(witness) is added.

Evidence: ``coef`` (t, d), ``intercept`` (t,), ``witness_coef``, ``witness_intercept``, ``lam``, ``l1_ratio``,
``fit_intercept``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from certifit._types import Array
from certifit.certificates._balance import balance
from certifit.certificates._ball import Ball, ball, dot, dot_t, to_float
from certifit.certificates._data import Data, Rigor
from certifit.certificates._record import Check, Figure, Kind, Proof, about, lower, register, upper
from certifit.certificates.duality import line, words


@dataclass(frozen=True)
class _Problem:
    X: Any
    Y: Ball  # (n, t)
    weights: Array
    strength: Ball  # Λ
    ratio: float
    fit_intercept: bool

    @property
    def targets(self) -> range:
        return range(self.Y.shape[1])

    def residual(self, W: Array, b: Array, t: int) -> Ball:
        return self.Y[:, t] - dot(self.X, ball(W[t], like=self.Y)) - float(b[t])

    def lengths(self, rows: list[Ball]) -> Ball:
        """‖Wⱼ‖ over the targets."""
        return np.sqrt(self.squares(rows))

    @staticmethod
    def squares(rows: list[Ball]) -> Ball:
        total = rows[0].square()
        for row in rows[1:]:
            total = total + row.square()
        return total

    def rows(self, W: Array) -> list[Ball]:
        return [ball(W[t], like=self.Y) for t in self.targets]

    def total(self, W: Array, b: Array) -> Ball:
        """S·P(W, b)."""
        fit = Ball(0.0)
        for t in self.targets:
            fit = fit + (self.residual(W, b, t).square() * self.weights).sum()
        return fit * 0.5 + self.strength * self.penalty(self.rows(W))

    @property
    def rest(self) -> Ball:
        """1 − ρ."""
        return ball(1.0, like=self.Y) - self.ratio

    def penalty(self, rows: list[Ball]) -> Ball:
        """Σⱼ (ρ‖Wⱼ‖ + ½(1−ρ)‖Wⱼ‖²)."""
        return self.lengths(rows).sum() * self.ratio + self.squares(rows).sum() * self.rest * 0.5

    def null(self) -> Ball:
        """S·P(0, best b)."""
        y, s = to_float(self.Y.mid), self.weights
        b = s @ y / s.sum() if self.fit_intercept else np.zeros(y.shape[1])
        return self.total(np.zeros((y.shape[1], self.X.shape[1])), b)

    def multipliers(self, W: Array, b: Array, shrink: float) -> Array | None:
        columns = []
        for t in self.targets:
            beta = self.weights * to_float(self.residual(W, b, t).mid) * shrink
            if self.fit_intercept:
                some = np.where(self.weights > 0, np.inf, 0.0)
                balanced = balance(beta, -some, some)
                if balanced is None or math.fsum(balanced) != 0.0:
                    return None
                beta = balanced
            columns.append(beta)
        B = np.stack(columns, axis=1)
        return B if np.all(np.isfinite(B)) else None

    def gap(self, W: Array, b: Array) -> Ball:
        """S·(bound on P(W, b) − P*)."""
        best, shrinks = Ball(np.inf), [1.0]
        size = self._largest(W, b)
        if size > 1.0 and math.isfinite(size):
            shrinks += [(1.0 - slack) / size for slack in (1e-14, 1e-12, 1e-10, 1e-8)]
        for shrink in shrinks:
            found = self._fenchel_young(W, b, shrink)
            if to_float(found.upper) < to_float(best.upper):
                best = found
                if shrink < 1.0:
                    break
        return best

    def _slopes(self, B: Array) -> list[Ball]:
        return [dot_t(self.X, ball(B[:, t], like=self.Y)) / self.strength for t in self.targets]

    def _largest(self, W: Array, b: Array) -> float:
        """The largest ‖vⱼ‖ / ρ of the residuals as they are."""
        B = self.multipliers(W, b, 1.0)
        return math.inf if B is None else float(to_float(self.lengths(self._slopes(B)).max().upper)) / self.ratio

    def _fenchel_young(self, W: Array, b: Array, shrink: float) -> Ball:
        B = self.multipliers(W, b, shrink)
        if B is None:
            return Ball(np.inf)
        slopes, rows = self._slopes(B), self.rows(W)
        reach, penalty = self.lengths(slopes), self.penalty(rows)
        if self.ratio < 1.0:
            penalty = penalty + (reach - self.ratio).maximum(0.0).square().sum() / (self.rest * 2.0)
        elif np.any(to_float(reach.upper) > 1.0):
            return Ball(np.inf)
        for t in self.targets:
            penalty = penalty - (slopes[t] * rows[t]).sum()
        used = np.flatnonzero(self.weights)
        fit = Ball(0.0)
        for t in self.targets:
            u = ball(B[used, t], like=self.Y) / self.weights[used]
            fit = fit + ((self.residual(W, b, t)[used] - u).square() * self.weights[used]).sum()
        return fit * 0.5 + self.strength * penalty


@register
class MultiTask(Kind):
    """Claim: the multi-task fit is within ``gap`` of the best possible one."""

    name: ClassVar[str] = "multitask"
    theorem: ClassVar[str] = "weak duality (Fenchel)"

    def prove(self, data: Data, evidence: Mapping[str, Any], rigor: Rigor) -> Proof:
        X, Y = data.numbers(rigor)
        Y = Y.reshape(data.X.shape[0], -1)
        coef, witness = (np.atleast_2d(np.asarray(evidence[k], dtype=float)) for k in ("coef", "witness_coef"))
        b, at = (np.atleast_1d(np.asarray(evidence[k], dtype=float)) for k in ("intercept", "witness_intercept"))
        ratio, offset = float(evidence["l1_ratio"]), bool(evidence["fit_intercept"])
        shape = (Y.shape[1], data.X.shape[1])
        checks = [
            Check(
                "coefficients match the data", coef.shape == witness.shape == shape and len(b) == len(at) == shape[0]
            ),
            Check("weights are not negative", bool(np.all(data.weights >= 0.0))),
            Check("no offset where none is allowed", offset or not (np.any(b) or np.any(at))),
            Check("strengths are positive", 0.0 < ratio <= 1.0 and float(evidence["lam"]) > 0.0),
            Check("the model has no offsets of rows", data.offset is None),
        ]
        if not all(c.holds for c in checks):
            return Proof({}, tuple(checks))
        S = ball(data.weights, like=Y).sum()
        problem = _Problem(X, Y, data.weights, ball(float(evidence["lam"]), like=Y) * S, ratio, offset)
        value = problem.total(coef, b)
        gap = problem.gap(witness, at) + (value - problem.total(witness, at))
        own = problem.gap(coef, b)
        gap = own if to_float(own.upper) < to_float(gap.upper) else gap
        null = problem.null()
        finite = bool(np.isfinite(to_float(gap.upper)))
        checks.append(Check("the gap is bounded", finite, f"{float(to_float(gap.upper)):.3g}"))
        positive = bool(to_float(null.lower) > 0.0)
        share = gap / null if finite and positive else Ball(0.0 if finite and to_float(gap.upper) <= 0.0 else np.inf)
        figures: dict[str, Figure] = {
            "value": about(value / S),
            "bound": lower((value - gap) / S) if finite else about(-math.inf),
            "gap": upper(gap / S) if finite else about(math.inf),
            "relative_gap": upper(share) if finite and positive else about(float(to_float(share.mid))),
        }
        return Proof(figures, tuple(checks))

    def claim(self, figures: Mapping[str, Any], evidence: Mapping[str, Any]) -> str:
        return words(figures, "weak duality", evidence.get("model"))

    def details(self, figures: Mapping[str, Any]) -> str:
        return line(figures)
