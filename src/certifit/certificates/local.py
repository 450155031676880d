r"""Optimality of smooth fits without a detour over duality: the local bound.

For losses with |φ‴| ≤ φ″ (logistic, exponential, Poisson with log link) and a penalty c‖w − w₀‖² or none, with g and H
the gradient and Hessian over (w, b),

.. math:: q^2 = g^\top H^{-1} g,\qquad r = \max_i (\tilde x_i^\top H^{-1}\tilde x_i)^{1/2},\qquad u = qr .

If u < 1, an optimum exists, :math:`P - P^* \le q^2/(2(1-u))`, and every score lies within
:math:`q/(1-u)\cdot(\tilde x^\top H^{-1}\tilde x)^{1/2}` of its value at the exact optimum. (These are the simpler upper
bounds of (u + (1−u) log(1−u))/r² and −log(1−u)/r.) No penalty is needed, so maximum likelihood is covered too, and
the evidence is the coefficients alone.

H⁻¹ enters only through a matrix T with ‖TᵀHT − I‖ ≤ ε, as in `least_squares`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from certifit._types import Array, Matrix
from certifit.certificates._ball import UNIT, Ball, ball, dot, gamma
from certifit.certificates._data import Data, Rigor
from certifit.certificates._frame import Frame, gram_factor, qr_factor
from certifit.certificates._record import Check, Figure, Kind, Proof, about, equal, lower, register, upper
from certifit.certificates.duality import binary, changed, line, sound, witness_scores, words
from certifit.losses import Loss, best_offset, get_loss
from certifit.regularizers import SquaredL2, Zero, get_regularizer


@dataclass(frozen=True)
class Neighbourhood:
    """Where the exact optimum must be: every score is within ``radius(X)`` of its value there."""

    T: Array
    epsilon: float
    reach: float  # q/(1 − u)
    centre: Array
    scale: Array
    fit_intercept: bool

    def lengths(self, X: Matrix) -> Array:
        """Upper bounds of (x̃ᵀH⁻¹x̃)^½ for rows of X."""
        if scipy.sparse.issparse(X):
            X = X.toarray()
        d = len(self.centre)
        A = (X - self.centre) / self.scale[:d]
        if self.fit_intercept:
            A = np.column_stack([A, np.full(len(A), 1.0 / self.scale[d])])
        size = np.linalg.norm(A @ self.T, axis=1)
        slack = gamma(A.shape[1] + 12) * np.linalg.norm(A, axis=1) * np.linalg.norm(self.T)
        return (size + slack) * (1.0 + 1e-12) / math.sqrt(1.0 - self.epsilon)

    def radius(self, X: Matrix) -> Array:
        """How far a score may lie from that of the exact optimum."""
        return self.reach * (1.0 + 1e-12) * self.lengths(X)


def slopes(loss: Loss, z: Ball, y: Array) -> Ball:
    """φ′(z) as a ball: it grows with z, and its formula is good to 8 ulp."""
    low, high = loss.slope(z.lower, y), loss.slope(z.upper, y)
    return Ball.between(low - 16 * UNIT * np.abs(low), high + 16 * UNIT * np.abs(high))


@dataclass(frozen=True)
class _Local:
    """The bound and what it was computed from."""

    value: Ball
    null: float
    gap: Ball
    u: float
    scores: Ball
    weights: Array
    area: Neighbourhood | None


def examine(data: Data, evidence: Mapping[str, Any]) -> _Local:
    """All figures of the local bound (sums, not means)."""
    loss, penalty = get_loss(evidence["loss"]), get_regularizer(evidence.get("regularizer", "none"))
    if not loss.self_concordant or not isinstance(penalty, (SquaredL2, Zero)):
        raise ValueError("The local bound is for losses with |φ‴| ≤ φ″ and the penalty l2 or none.")
    y, weights = binary(data, evidence)
    y = np.asarray(y, dtype=float)
    w = np.asarray(evidence["coef"], dtype=float).reshape(-1)
    b = float(np.ravel(evidence["intercept"])[0])
    fit_intercept = bool(evidence["fit_intercept"])
    strength = float(np.ravel(evidence.get("lam", 0.0))[0])
    z = dot(data.X, ball(w)) + b
    z = z if data.offset is None else z + data.offset
    value = (loss.value(z, y) * weights).sum()
    if strength:
        value = value + penalty.value(ball(w)) * strength
    start = np.zeros(len(y)) if data.offset is None else data.offset
    at = best_offset(loss, start, y, weights) if fit_intercept else 0.0
    null = float(weights @ loss.value(start + at, y))
    curved = weights * loss.curvature(z.mid, y)
    frame = Frame.of(data.X, curved, fit_intercept)
    q = frame.half_gradient(slopes(loss, z, y), weights, data.X)
    ridge = np.zeros(len(frame.scale))
    if strength and isinstance(penalty, SquaredL2):
        d = len(w)
        ridge[:d] = strength * penalty.convexity
        away = ball(w) - (0.0 if penalty.prior is None else np.array(penalty.prior))
        pull = np.zeros(len(ridge)), np.zeros(len(ridge))
        pull[0][:d], pull[1][:d] = away.mid, away.rad
        q = q + Ball(*pull) * ridge / frame.scale
        ridge = ridge / frame.scale**2
    B = frame.matrix()
    factor = gram_factor(B, ridge) or qr_factor(B, ridge)
    if factor is None or not np.isfinite(value.upper):
        return _Local(value, null, Ball(np.inf), np.inf, z, weights, None)
    # Curvatures at z ± rad lie within a factor e^rad (|φ‴| ≤ φ″): all of H does.
    drift = math.expm1(float(np.max(np.broadcast_to(z.rad, z.shape), initial=0.0))) + 32 * UNIT
    epsilon = factor.epsilon + drift * (1.0 + factor.epsilon)
    if not epsilon < 0.5:
        return _Local(value, null, Ball(np.inf), np.inf, z, weights, None)
    length = dot(factor.T.T, q).square().sum() / (1.0 - 1.01 * epsilon)
    area = Neighbourhood(factor.T, epsilon, 0.0, frame.centre, frame.scale, fit_intercept)
    r = float(np.max(area.lengths(data.X)[weights > 0], initial=0.0))
    size = math.sqrt(max(float(length.upper), 0.0)) * (1.0 + 1e-12)
    u = size * r * (1.0 + 1e-12)
    if not u < 1.0:
        return _Local(value, null, Ball(np.inf), u, z, weights, None)
    gap = length / (2.0 * (1.0 - u * (1.0 + 1e-12)))
    area = Neighbourhood(factor.T, epsilon, size / (1.0 - u), frame.centre, frame.scale, fit_intercept)
    return _Local(value, null, gap, u, z, weights, area)


def _through_witness(data: Data, evidence: Mapping[str, Any], checks: list[Check]) -> Proof:
    """P(model) − P(witness) + the local bound at the witness."""
    here = {k: v for k, v in evidence.items() if not k.startswith("witness")}
    there = here | {"coef": evidence["witness_coef"], "intercept": evidence["witness_intercept"]}
    model, best = examine(data, here), examine(data, there)
    checks.append(Check("the witness is near the optimum", best.area is not None, f"u = {best.u:.3g}"))
    S = float(model.weights.sum())
    if best.area is None:
        return Proof({"value": about(model.value / S)}, tuple(checks))
    gap = model.value - best.value + best.gap
    gap = model.gap if model.gap.upper <= gap.upper else gap
    figures: dict[str, Figure] = {
        "value": about(model.value / S),
        "bound": lower((best.value - best.gap) / S),
        "gap": upper(gap / S),
        "relative_gap": upper(gap / model.null if model.null > 0 else gap * 0.0),
    }
    if "classes" in evidence:
        figures |= changed(model.scores, witness_scores(data, evidence))
    return Proof(figures, tuple(checks))


@register
class LocalBound(Kind):
    """Claim: the fit is within ``gap`` of the best, and that many training labels are the optimum's."""

    name: ClassVar[str] = "local"
    theorem: ClassVar[str] = "self-concordance: a small Newton decrement bounds the distance to the optimum"

    def prove(self, data: Data, evidence: Mapping[str, Any], rigor: Rigor) -> Proof:
        data = data.padded(evidence)
        d = data.X.shape[1]
        checks = [
            Check("coefficients match the data", np.size(evidence["coef"]) == d),
            *sound(evidence, *(np.asarray(part, dtype=float) for part in binary(data, evidence))),
            Check(
                "no offset where none is allowed", bool(evidence["fit_intercept"]) or not np.any(evidence["intercept"])
            ),
        ]
        if not all(c.holds for c in checks):
            return Proof({}, tuple(checks))
        if "witness_coef" in evidence:
            return _through_witness(data, evidence, checks)
        local = examine(data, evidence)
        checks.append(Check("the Newton decrement is small enough", local.area is not None, f"u = {local.u:.3g}"))
        S = float(local.weights.sum())
        if local.area is None:
            return Proof({"value": about(local.value / S)}, tuple(checks))
        figures: dict[str, Figure] = {
            "value": about(local.value / S),
            "bound": lower((local.value - local.gap) / S),
            "gap": upper(local.gap / S),
            "relative_gap": upper(local.gap / local.null if local.null > 0 else local.gap * 0.0),
        }
        if "classes" in evidence:
            sure = np.abs(local.scores.mid) - np.broadcast_to(local.scores.rad, local.scores.shape)
            figures["certain"] = equal(int(np.sum(sure > local.area.radius(data.X))))
            figures["rows"] = equal(len(data.weights))
        return Proof(figures, tuple(checks))

    def claim(self, figures: Mapping[str, Any], evidence: Mapping[str, Any]) -> str:
        if "gap" not in figures:
            return "No bound on the distance to the best possible fit could be proved."
        return words(figures, "self-concordance", evidence.get("model"))

    def details(self, figures: Mapping[str, Any]) -> str:
        return line(figures)
