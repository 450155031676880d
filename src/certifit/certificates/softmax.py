r"""Optimality of softmax regression by weak duality, and labels that cannot change.

.. math:: P(W, b) = \frac1S\Big(\sum_i s_i\,[\operatorname{lse}(z_i) - z_{i,y_i}] + \Lambda R(W)\Big),
          \qquad z_i = Wx_i + b

The dual variables of a row are probabilities p; the row adds s·[lse(z) + Σ p log p − p·z] ≥ 0 to the gap, and the
penalty Λ[R(W) + R*(V) − V·W] with ΛV = −Σ sᵢ(pᵢ − e_{yᵢ})xᵢᵀ. An unpenalised offset demands Σ sᵢ(pᵢ − e_{yᵢ}) = 0: the
weight that flows from class a to class b (βᵢb = sᵢpᵢb over rows of class a) must flow back. Flows are kept as multiples
of one power of two, so that this holds exactly; p of the own class is what is left of one.

Labels: with strong convexity ‖W − W*‖ ≤ ρ = √(2·gap·S/(Λm)), a label is certain when its score leads by more than
√2ρ(‖x − c‖ + (K−1)·maxᵢ‖xᵢ − c‖), plus √2 times how far b is from the best offset for W.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from certifit._types import Array, Matrix
from certifit.certificates._ball import Ball, ball, dot, dot_t
from certifit.certificates._data import Data, Rigor
from certifit.certificates._record import Check, Figure, Kind, Proof, about, equal, lower, register, upper
from certifit.certificates.duality import changed, line, witness_scores, words
from certifit.regularizers import Regularizer, get_regularizer


def codes(data: Data, evidence: Mapping[str, Any]) -> tuple[Array, Array]:
    """Class codes 0..K−1 and weights with those of the classes multiplied in."""
    classes = np.asarray(evidence["classes"])
    y = np.asarray(data.y)
    hits = y[:, None] == classes
    if not np.all(hits.sum(axis=1) == 1):
        raise ValueError("y holds labels that the evidence does not name")
    code = hits.argmax(axis=1)
    weights = data.weights
    if "class_weight" in evidence:
        weights = weights * np.asarray(evidence["class_weight"], dtype=float)[code]
    return code, weights


def _lse(Z: Ball) -> Ball:
    """log Σ exp over the columns."""
    top = Z.mid.max(axis=1)
    return np.log(np.exp(Z - top[:, None]).sum(axis=1)) + top


def _probabilities(Z: Array) -> Array:
    P = np.exp(Z - Z.max(axis=1, keepdims=True))
    return P / P.sum(axis=1, keepdims=True)


def _flows(P: Array, code: Array, weights: Array, balance: bool) -> Array | None:
    """β (n, K) with zeros at the own class, multiples of a power of two, what flows out of a class flowing back in."""
    n, K = P.shape
    beta = P * weights[:, None]
    beta[np.arange(n), code] = 0.0
    size = float(beta.sum())
    if size == 0.0 or not balance:
        return beta
    grid = 2.0 ** (math.ceil(math.log2(size)) - 50)
    q = np.rint(beta / grid)
    excess = q.sum(axis=0) - np.array([q[code == k].sum() for k in range(K)])
    for a in np.argsort(-excess):
        for b in np.argsort(excess):
            move = min(excess[a], -excess[b])
            if move <= 0:
                continue
            rows = np.flatnonzero((code == a) & (weights > 0))
            if len(rows) == 0:
                return None
            # Rows of class a send more to class b, in proportion to what they have to give.
            room = np.maximum(weights[rows] / grid - q[rows].sum(axis=1), 0.0)
            if room.sum() < 2 * move:
                return None
            extra = np.floor(move * (room / room.sum()))
            extra[np.argsort(-room)[: int(move - extra.sum())]] += 1.0
            q[rows, b] += extra
            excess[a] -= extra.sum()
            excess[b] += extra.sum()
    return q * grid if not np.any(excess) else None


@dataclass(frozen=True)
class SoftmaxStability:
    """How far scores may move between the fit and the exact optimum."""

    rho: float
    drift: float  # distance of the offsets from the best ones for W
    reach: float  # max ‖xᵢ − c‖
    centre: Array
    outputs: int

    def radius(self, X: Matrix) -> Array:
        """By how much the best score must lead for the label to be certain."""
        X = X.toarray() if scipy.sparse.issparse(X) else X
        away = np.linalg.norm(X - self.centre, axis=1) * (1.0 + 1e-12)
        return math.sqrt(2.0) * (self.rho * (away + (self.outputs - 1) * self.reach) + self.drift) * (1.0 + 1e-12)


@dataclass(frozen=True)
class _Parts:
    X: Matrix
    code: Array
    weights: Array
    regularizer: Regularizer
    strength: float
    fit_intercept: bool

    def scores(self, W: Array, b: Array) -> Ball:
        return dot(self.X, ball(W.T)) + b

    def total(self, W: Array, b: Array) -> Ball:
        """S·P."""
        Z = self.scores(W, b)
        own = Z[np.arange(len(self.code)), self.code]
        return ((_lse(Z) - own) * self.weights).sum() + self.regularizer.value(ball(W.ravel())) * self.strength

    def _moves(self, beta: Array) -> Ball:
        """s(p − e_y): the flows, and at the own class what they take away (exact on the grid of powers of two)."""
        own, out = (np.arange(len(beta)), self.code), Ball(beta).sum(axis=1)
        mid, rad = beta.copy(), np.zeros_like(beta)
        mid[own] = -out.mid
        if not self.fit_intercept:
            rad[own] = out.rad
        return Ball(mid, rad)

    def _slopes(self, U: Ball) -> Ball:
        """V, as one long vector like W."""
        return (-dot_t(self.X, U).T / self.strength).reshape(-1)

    def gap(self, W: Array, b: Array) -> tuple[Ball, str]:
        """S·(bound on P − P*)."""
        Z = self.scores(W, b)
        beta = _flows(_probabilities(Z.mid), self.code, self.weights, self.fit_intercept)
        if beta is None or self.strength <= 0:
            return Ball(np.inf), "no feasible multipliers"
        V = self._slopes(self._moves(beta))
        size = float(ball(self.regularizer.gauge(V)).upper)
        if size > 1.0:
            if not math.isfinite(size):
                return Ball(np.inf), "the multipliers cannot be made feasible"
            probability = beta / np.where(self.weights > 0, self.weights, 1.0)[:, None]
            for slack in 10.0 ** np.arange(-14, -7):  # rounding to the grid may leave v a little too large
                shrunk = _flows(probability * ((1.0 - slack) / size), self.code, self.weights, self.fit_intercept)
                if shrunk is None:
                    continue
                beta = shrunk
                V = self._slopes(self._moves(beta))
                if float(ball(self.regularizer.gauge(V)).upper) <= 1.0:
                    break
            else:
                return Ball(np.inf), "the multipliers cannot be made feasible"
        rows = np.flatnonzero(self.weights > 0)
        p = ball(beta[rows]) / self.weights[rows][:, None]
        rest = 1.0 - p.sum(axis=1)
        if np.any(rest.lower < 0.0):
            return Ball(np.inf), "a probability is negative"
        P = Ball(p.mid.copy(), np.broadcast_to(p.rad, p.shape).copy())
        P.mid[np.arange(len(rows)), self.code[rows]] = rest.mid
        P.rad[np.arange(len(rows)), self.code[rows]] = rest.rad
        terms = _lse(Z)[rows] - P.entropy().sum(axis=1) - (P * Z[rows]).sum(axis=1)
        return (terms * self.weights[rows]).sum() + self.regularizer.fenchel_young(
            ball(W.ravel()), V
        ) * self.strength, ""

    def stability(self, W: Array, b: Array, gap: float) -> SoftmaxStability | None:
        """Section "labels" of the module docstring; None where nothing is certain."""
        m = self.regularizer.convexity
        if not (m > 0 and self.strength > 0 and math.isfinite(gap)):
            return None
        X = self.X.toarray() if scipy.sparse.issparse(self.X) else self.X
        used = self.weights > 0
        centre = self.weights @ X / self.weights.sum()
        reach = float(np.linalg.norm(X[used] - centre, axis=1).max()) * (1.0 + 1e-12)
        drift = 0.0
        if self.fit_intercept:
            P = _probabilities(self.scores(W, b).mid)
            sP = P * self.weights[:, None]
            H = np.diag(sP.sum(axis=0)) - sP.T @ P
            curved = float(np.linalg.eigvalsh(H)[1]) * 0.99
            target = np.bincount(self.code, self.weights, P.shape[1])
            q = (float(np.linalg.norm(sP.sum(axis=0) - target)) + 1e-12 * target.sum()) / math.sqrt(max(curved, 1e-300))
            u = q * math.sqrt(2.0 / max(curved, 1e-300))
            if not u < 0.5:
                return None
            drift = q / (1.0 - u) / math.sqrt(curved)
        rho = math.sqrt(2.0 * max(gap, 0.0) / (self.strength * m)) * (1.0 + 1e-12)
        return SoftmaxStability(rho, drift, reach, centre, len(W))


def parts(data: Data, evidence: Mapping[str, Any]) -> _Parts:
    """The problem that the evidence speaks about."""
    code, weights = codes(data, evidence)
    return _Parts(
        data.X,
        code,
        weights,
        get_regularizer(evidence["regularizer"]),
        float(np.ravel(evidence["lam"])[0]),
        bool(evidence["fit_intercept"]),
    )


@register
class SoftmaxDuality(Kind):
    """Claim: the softmax fit is within ``gap`` of the best possible one."""

    name: ClassVar[str] = "softmax-duality"
    theorem: ClassVar[str] = "weak duality (Fenchel), entropy as the conjugate of log-sum-exp"

    def prove(self, data: Data, evidence: Mapping[str, Any], rigor: Rigor) -> Proof:
        W = np.asarray(evidence["coef"], dtype=float)
        b = np.asarray(evidence["intercept"], dtype=float)
        K = len(evidence["classes"])
        _, weights = codes(data, evidence)
        checks = [
            Check("coefficients match the data", W.shape == (K, data.X.shape[1]) and b.shape == (K,)),
            Check("weights are not negative", bool(np.all((weights >= 0) & np.isfinite(weights)))),
            Check("no offset where none is allowed", bool(evidence["fit_intercept"]) or not np.any(b)),
        ]
        if not all(c.holds for c in checks):
            return Proof({}, tuple(checks))
        p = parts(data, evidence)
        S = float(p.weights.sum())
        gap, why = p.gap(W, b)
        if "witness_coef" in evidence:
            V, c = np.asarray(evidence["witness_coef"]), np.asarray(evidence["witness_intercept"])
            there, why_there = p.gap(V, c)
            through = there + p.total(W, b) - p.total(V, c)
            if not gap.upper <= through.upper:
                gap, why = through, why_there
        value = p.total(W, b)
        finite = bool(np.isfinite(gap.upper))
        checks.append(Check("the gap is bounded", finite, why or f"{float(gap.upper) / S:.3g}"))
        if not finite:
            return Proof({"value": about(value / S)}, tuple(checks))
        shares = np.bincount(p.code, p.weights, K) / S
        null = S * float(-np.sum(shares * np.log(np.maximum(shares, 1e-300)))) if p.fit_intercept else S * math.log(K)
        figures: dict[str, Figure] = {
            "value": about(value / S),
            "bound": lower((value - gap) / S),
            "gap": upper(gap / S),
            "relative_gap": upper(gap / null if null > 0 else Ball(np.inf)),
        }
        if "witness_coef" in evidence:
            figures |= changed(p.scores(W, b), witness_scores(data, evidence))
        stability = p.stability(W, b, float(gap.upper))
        if stability is not None:
            top = np.sort(p.scores(W, b).mid, axis=1)
            sure = top[:, -1] - top[:, -2] > stability.radius(data.X)
            figures["certain"] = equal(int(sure.sum()))
            figures["rows"] = equal(len(sure))
        return Proof(figures, tuple(checks))

    def claim(self, figures: Mapping[str, Any], evidence: Mapping[str, Any]) -> str:
        if "gap" not in figures:
            return "No bound on the distance to the best possible fit could be proved."
        return words(figures, "weak duality", evidence.get("model"))

    def details(self, figures: Mapping[str, Any]) -> str:
        return line(figures)
