r"""Optimality of (ridge) least squares without a detour over duality, and what conditioning does to it.

With rows scaled by √s, columns shifted by c and scaled by powers of two, P is a quadratic with Hessian 2H/S, and

.. math:: P(\theta) - P^* = \tfrac1S\, q^\top H^{-1} q \le \frac{\lVert T^\top q\rVert^2}{S\,(1-\varepsilon)},
          \qquad \varepsilon = \lVert T^\top H T - I \rVert_F < 1,

for half the gradient q and *any* matrix T: T comes from a Cholesky or QR factor, but nothing depends on how good that
factor is, because ε is computed. The same T bounds each coefficient's distance to the exact solution,
|θⱼ − θⱼ*| ≤ ‖Tⱼ‖‖Tᵀq‖/(1−ε): digits that are *proved*.

Columns that are dependent to working precision have no such T. Then the claim is the one that still can be proved:
no coefficients up to 1000 times as large fit better by more than the gap (the tangent plane bounds P from below).

Evidence: ``objective`` (squared loss with factor one, and the squared norm with factor one around a prior guess, or
none; one record for all targets or one each), ``coef`` (t, d) and ``intercept`` (t,).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from certifit._types import Array
from certifit.certificates._ball import UNIT, Ball, ball, dot, rationals, to_float
from certifit.certificates._data import Data, Rigor
from certifit.certificates._frame import Factor, Frame, gram_factor, qr_factor, rounded
from certifit.certificates._record import (
    Check,
    Figure,
    Kind,
    Proof,
    about,
    equal,
    lower,
    register,
    roughly,
    upper,
)
from certifit.certificates.optimality import line, numbers, read_objectives, sound, words
from certifit.losses import Squared
from certifit.objective import Objective
from certifit.regularizers import NonNegative, Regularizer, SquaredL2, Zero

_REACH = 1000.0  # how much larger than the fitted ones other coefficients may be, when rank is short
_SMALL = 1 << 14  # entries of X up to which residuals are computed in exact arithmetic


def _residual(data: Data, Y: Ball, coef: Array, intercept: Array, rigor: Rigor) -> Ball:
    """y − Xw − b; in exact arithmetic when asked or when the table is small enough."""
    if rigor == "exact" or data.X.shape[0] * data.X.shape[1] * len(coef) <= _SMALL:
        X = rationals(data.X)
        return Ball(rationals(to_float(Y.mid))) - dot(X, Ball(rationals(coef.T))) - rationals(intercept)
    return Y - dot(data.X, ball(coef.T)) - intercept


@dataclass(frozen=True)
class _Task:
    """Σ s r² + α‖w − w₀‖² for each target, perhaps with w ≥ 0."""

    alphas: Array  # (t,)
    prior: Array | None  # (t, d)
    positive: bool
    fit_intercept: bool

    @classmethod
    def of(cls, objectives: tuple[Objective, ...], columns: int) -> _Task:
        base: list[Regularizer] = []
        for o in objectives:
            inner = o.regularizer.base if isinstance(o.regularizer, NonNegative) else o.regularizer
            plain = o.loss == Squared() and (isinstance(inner, Zero) or getattr(inner, "factor", 0.0) == 1.0)
            if not plain or not isinstance(inner, (Zero, SquaredL2)) or o.padding is not None or o.offset:
                raise ValueError("this is for (y − z)² with the penalty α‖w − w₀‖² or none, and a free offset")
            base.append(inner)
        first, priors = objectives[0], [getattr(r, "prior", None) for r in base]
        if any(o.signed != first.signed or o.fit_intercept != first.fit_intercept for o in objectives):
            raise ValueError("all targets share the offset and the signs")
        alphas = np.array([0.0 if isinstance(r, Zero) else o.strength for o, r in zip(objectives, base)])
        prior = None
        if any(p is not None for p in priors):
            prior = np.array([np.zeros(columns) if p is None else np.array(p) for p in priors])
            if prior.shape != (len(base), columns):
                raise ValueError("a prior holds one number for each column")
        return cls(alphas, prior, first.signed, first.fit_intercept)

    def away(self, coef: Array) -> Array:
        """w − w₀, as floats."""
        return coef if self.prior is None else coef - self.prior


@register
class LeastSquares(Kind):
    """Claim: the least-squares fit is within ``gap`` of the best, and ``digits`` of its coefficients are right."""

    name: ClassVar[str] = "least-squares"
    theorem: ClassVar[str] = "a convex quadratic lies qᵀH⁻¹q above its minimum"

    def prove(self, data: Data, evidence: Mapping[str, Any], rigor: Rigor) -> Proof:
        d = data.X.shape[1]
        objectives, targets = read_objectives(data, evidence)
        task, Y = _Task.of(objectives, d), np.column_stack([t.y for t in targets])
        coef, intercept = (numbers(evidence, k) for k in ("coef", "intercept"))
        fits = coef.shape == (Y.shape[1], d) and intercept.shape == (len(coef),)
        checks = [Check("coefficients match the data", fits), *sound(objectives[0], targets[0], coef, intercept)]
        if not all(c.holds for c in checks):
            return Proof({}, tuple(checks))
        residual = _residual(data, Ball(Y), coef, intercept, rigor)
        if rigor == "exact":
            figures = _exact_figures(data, residual, coef, task)
        else:
            figures = _float_figures(data, Ball(Y), residual, coef, intercept, task)
            if "witness_coef" in evidence:
                figures = _through_witness(figures, data, Y, evidence, task)
        gap = figures["gap"].stated
        checks.append(Check("the gap is bounded", math.isfinite(gap), f"{gap:.3g}"))
        return Proof(figures, tuple(checks))

    def claim(self, figures: Mapping[str, Any], evidence: Mapping[str, Any]) -> str:
        text = words(figures, "the exact formula for quadratics", evidence.get("model"))
        if figures and figures["rank"] < figures["columns"]:
            text += (
                f" The columns are dependent (rank {figures['rank']} of {figures['columns']}): this is the smallest of "
                f"many equally good solutions, and the bound covers coefficients up to {_REACH:.0f} times as large."
            )
        return text

    def details(self, figures: Mapping[str, Any]) -> str:
        if not figures:
            return ""
        text = line(figures)
        if "condition" in figures:
            text += (
                f"\n  condition number {figures['condition']:.2g} (columns scaled)   coefficients right to "
                f"{figures['digits']:.1f} digits"
            )
            if figures["digits_if_rounded"] < 12:
                text += f" as stored; were the data rounded, {max(0.0, figures['digits_if_rounded']):.1f} are to be had"
        return text


def _float_figures(
    data: Data, Y: Ball, residual: Ball, coef: Array, intercept: Array, task: _Task
) -> dict[str, Figure]:
    weights, d = data.weights, data.X.shape[1]
    fit_intercept = task.fit_intercept
    frame = Frame.of(data.X, weights, fit_intercept)
    B = frame.matrix()
    S = ball(weights).sum()
    value, gap, shares, digits, survive, condition = Ball(0.0), Ball(0.0), [], [16.0], [16.0], 1.0
    factors: dict[float, Factor | None] = {}
    for t in range(len(coef)):
        alpha = float(task.alphas[t])
        if alpha not in factors:
            ridge = np.where(np.arange(B.shape[1]) < d, alpha, 0.0) / frame.scale**2
            factors[alpha] = gram_factor(B, ridge) or qr_factor(B, ridge)
        factor = factors[alpha]
        r = residual[:, t]
        q = frame.half_gradient(r, weights, data.X)
        r = rounded(r) if r.exact else r
        away = ball(task.away(coef)[t])
        own = (r.square() * weights).sum() + away.square().sum() * alpha
        pull = np.zeros(B.shape[1])
        pull[:d] = task.away(coef)[t]
        q = q - Ball(pull, np.abs(pull) * 2 * UNIT) * alpha / frame.scale
        if task.positive:  # where w = 0 only a push upwards counts
            rest = np.append(coef[t] == 0.0, [False] * (B.shape[1] - d))
            keep = ~(rest & (q.upper <= 0.0))
            q = Ball(np.where(keep, q.mid, 0.0), np.where(keep, np.broadcast_to(q.rad, q.shape), 0.0))
        theta = frame.coordinates(coef[t], float(intercept[t]))
        mine, sure = _one_gap(own, q, factor, theta, limited=alpha == 0.0)
        if sure is not None and factor is not None:
            digits.append(_digits(sure, theta))
            survive.append(_digits_if_rounded(B, factor, theta, r, weights))
            condition = max(condition, float(np.linalg.cond(factor.T)))
        value, gap = value + own, gap + mine
        shares.append(_share_of_null(mine, Y[:, t], weights, task, t))
    full = all(f is not None for f in factors.values())
    figures = {
        "value": about(value / S),
        "bound": lower(((value - gap) / S).maximum(0.0)),
        "gap": upper(gap / S),
        "relative_gap": upper(max(shares, key=lambda r: float(r.upper))),
        "rank": equal(d if full else min(d, _rank(B) - fit_intercept)),
        "columns": equal(d),
    }
    if full:
        figures["condition"] = roughly(condition)
        figures["digits"] = lower(min(digits))
        figures["digits_if_rounded"] = roughly(min(survive))
    return figures


def _through_witness(
    figures: dict[str, Figure], data: Data, Y: Array, evidence: Mapping[str, Any], task: _Task
) -> dict[str, Figure]:
    """The sharper bound P(model) − P(witness) + gap(witness), where the columns are dependent."""
    coef, b = np.atleast_2d(evidence["witness_coef"]), np.atleast_1d(evidence["witness_intercept"])
    residual = _residual(data, Ball(Y), coef, b, "float")
    there = _float_figures(data, Ball(Y), residual, coef, b, task)
    value, other = figures["value"].proved, there["value"].proved
    gap = Ball(max(value - other, 0.0), 1e-13 * (value + other)) + there["gap"].proved
    if not gap.upper < figures["gap"].proved:
        return figures
    null = figures["gap"].proved / figures["relative_gap"].proved if figures["relative_gap"].proved > 0 else np.inf
    return figures | {
        "bound": lower(Ball(value) - gap),
        "gap": upper(gap),
        "relative_gap": upper(gap / null if np.isfinite(null) and null > 0 else Ball(0.0)),
    }


def _one_gap(own: Ball, q: Ball, factor: Factor | None, theta: Array, limited: bool) -> tuple[Ball, Array | None]:
    """S·gap of one target, and a bound on each scaled coefficient's error where there is one."""
    if factor is None:
        reach = (_REACH + 1.0) * float(np.linalg.norm(theta)) * 1.01
        tangent = Ball(np.linalg.norm(q.magnitude) * 1.01) * (2.0 * reach)
        # P* ≥ 0 always: a perfect fit is optimal whatever the rank.
        return (own if own.upper <= tangent.upper else tangent), None
    t = dot(factor.T.T, q)
    length = t.square().sum()
    gap = length / (1.0 - factor.epsilon * 1.01)
    error = np.linalg.norm(factor.T, axis=1) * math.sqrt(float(length.upper)) * 1.01 / (1.0 - factor.epsilon)
    return (own if limited and own.upper <= gap.upper else gap), error


def _digits(error: Array, theta: Array) -> float:
    """Correct digits of the worst coefficient (those that are zero to rounding do not count)."""
    size = np.abs(theta)
    counts = size > 1e-12 * size.max(initial=0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        worst = np.max(error[counts] / size[counts], initial=0.0)
    return float(np.clip(-math.log10(worst), 0.0, 15.9)) if worst > 0 else 15.9


def _digits_if_rounded(B: Array, factor: Factor, theta: Array, residual: Ball, weights: Array) -> float:
    """Digits that survive if every number of the table was rounded to double precision (first order)."""
    row = np.linalg.norm(factor.T, axis=1)
    moved = float(np.linalg.norm(np.abs(B) @ np.abs(theta))) * UNIT
    r = math.sqrt(float(weights @ np.square(residual.mid)))
    error = row * (moved + float(np.linalg.norm(factor.T)) * r * UNIT)
    return _digits(error, theta)


def _rank(B: Array) -> int:
    s = np.linalg.svd(B, compute_uv=False)
    return int(np.sum(s > max(B.shape) * 2 * UNIT * s.max(initial=0.0)))


def _share_of_null(gap: Ball, y: Ball, weights: Array, task: _Task, t: int) -> Ball:
    total = weights.sum()
    b = float(weights @ y.mid / total) if task.fit_intercept and total > 0 else 0.0
    null = ((y - b).square() * weights).sum()
    if task.prior is not None:
        null = null + ball(task.prior[t]).square().sum() * float(task.alphas[t])
    if not gap.upper > 1e-300:
        return Ball(0.0)
    return gap / null if null.lower > 0 else Ball(np.inf)


def _exact_figures(data: Data, residual: Ball, coef: Array, task: _Task) -> dict[str, Figure]:
    """The same claim with P − P* = qᵀH⁺q/S computed in rational numbers."""
    if task.positive:
        raise ValueError("Exact rigour is not available for positive=True; use rigor='float'.")
    fit_intercept, weights = task.fit_intercept, rationals(data.weights)
    X = rationals(data.X)
    n, d = X.shape
    A = np.column_stack([X, rationals(np.ones(n))]) if fit_intercept else X
    S = weights.sum()
    G = A.T @ (weights[:, None] * A)
    value, gap, share, rank = rationals(0.0)[()], rationals(0.0)[()], 0.0, d
    for t in range(len(coef)):
        alpha, away = rationals(task.alphas[t])[()], rationals(task.away(coef)[t])
        r = residual.mid[:, t]
        own = (weights * r * r).sum() + alpha * (away * away).sum()
        q = A.T @ (weights * r)
        q[:d] -= alpha * away
        H = G.copy()
        H[np.arange(d), np.arange(d)] += alpha
        step, found = _solve(H, q)
        mine = (q * step).sum()
        rank = min(rank, found - fit_intercept)
        y = rationals(np.asarray(data.y, dtype=float).reshape(n, -1)[:, t])
        b = (weights * y).sum() / S if fit_intercept else rationals(0.0)[()]
        null = (weights * (y - b) * (y - b)).sum()
        share = max(share, to_float(mine / null) if null != 0 else (0.0 if mine == 0 else math.inf))
        value, gap = value + own, gap + mine
    best = to_float((value - gap) / S)
    return {
        "value": about(to_float(value / S)),
        "bound": lower(Ball(best, abs(best) * 2 * UNIT)),
        "gap": upper(Ball(to_float(gap / S), 4 * UNIT * to_float(gap / S))),
        "relative_gap": upper(Ball(share, 4 * UNIT * share)),
        "rank": equal(rank),
        "columns": equal(d),
    }


def _solve(H: Array, q: Array) -> tuple[Array, int]:
    """A solution of Hx = q in rationals (H symmetric, q in its range), and the rank: elimination with pivoting."""
    p = len(q)
    M = np.column_stack([H, q])
    pivots: list[tuple[int, int]] = []
    row = 0
    for column in range(p):
        candidates = [i for i in range(row, p) if M[i, column] != 0]
        if not candidates:
            continue
        M[[row, candidates[0]]] = M[[candidates[0], row]]
        M[row] = M[row] / M[row, column]
        for i in range(p):
            if i != row and M[i, column] != 0:
                M[i] = M[i] - M[i, column] * M[row]
        pivots.append((row, column))
        row += 1
    x = rationals(np.zeros(p))
    for i, column in pivots:
        x[column] = M[i, p]
    return x, len(pivots)
