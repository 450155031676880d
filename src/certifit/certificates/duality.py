r"""Optimality of regularised linear models by weak duality.

.. math:: P(w, b) = \frac1S \Big(\sum_i s_i\,\varphi_i(w\cdot x_i + b + o_i) + \Lambda R(w)\Big),\qquad S=\sum_i s_i

For any u with βᵢ = sᵢuᵢ, Σβᵢ = 0 (only when there is an offset) and Λv = −Σβᵢxᵢ, the difference P(w, b) − P* is at
most the sum of Fenchel–Young terms

.. math:: \frac1S \Big(\sum_i s_i[\varphi_i(z_i) + \varphi_i^*(u_i) - u_i z_i]
          + \Lambda\,[R(w) + R^*(v) - v\cdot w]\Big),

each of which is ≥ 0: no large numbers are subtracted, so gaps far below the rounding of P itself can be proved.
u is taken as the slope at the witness coefficients (the model's own, or better ones found by somebody else), then
repaired to be feasible. If a witness other than the model is used, P(model) − P(witness) is added.

Evidence: ``coef`` (t, d), ``intercept`` (t,), ``loss``, ``regularizer`` (name and parameters), ``lam`` (per target),
``lam_per`` ("mean": Λ = λS; "sum": Λ = λ), ``fit_intercept``; optionally ``witness_coef``/``witness_intercept``,
``dual`` (n, t), and ``classes`` (two labels: the second counts as +1).
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
from certifit.certificates._record import Check, Figure, Kind, Proof, about, equal, lower, register, upper
from certifit.losses import Loss, best_offset, get_loss
from certifit.regularizers import NonNegative, Regularizer, get_regularizer


@dataclass(frozen=True)
class _Problem:
    """One target: everything P and D need."""

    X: Any
    y: Ball
    weights: Array
    offset: Array | None
    loss: Loss
    regularizer: Regularizer
    strength: Ball  # Λ
    fit_intercept: bool

    def scores(self, w: Any, b: Any) -> Ball:
        z = dot(self.X, ball(w, like=self.y)) + b
        return z if self.offset is None else z + self.offset

    def total(self, w: Any, b: Any) -> Ball:
        """S·P(w, b)."""
        data = (self.loss.value(self.scores(w, b), self.y) * self.weights).sum()
        return data + self.strength * self.regularizer.value(ball(w, like=self.y))

    def null(self) -> Ball:
        """S·P(0, best b)."""
        y = to_float(self.y.mid)
        start = np.zeros_like(y) if self.offset is None else self.offset
        b = best_offset(self.loss, start, y, self.weights) if self.fit_intercept else 0.0
        return self.total(np.zeros(self.X.shape[1]), b)

    def multipliers(self, w: Array, b: float, dual: Array | None) -> Array | None:
        """β = s∘u, feasible: inside the domain of the conjugate, and summing to zero if there is an offset."""
        y = to_float(self.y.mid)
        u = self.loss.slope(to_float(self.scores(w, b).mid), y) if dual is None else dual
        low, high = self.loss.domain(y)
        with np.errstate(invalid="ignore"):  # weight zero times an infinite end: the row does not count
            low, high = (
                np.nan_to_num(self.weights * low, nan=0.0),
                np.nan_to_num(self.weights * high, nan=0.0),
            )
        beta = np.clip(self.weights * u, low, high)
        return balance(beta, low, high) if self.fit_intercept else beta

    def gap(self, w: Array, b: float, dual: Array | None) -> tuple[Ball, str]:
        """S·(bound on P(w, b) − P*), and what went wrong if there is none."""
        beta = self.multipliers(w, b, dual)
        if beta is None or not np.all(np.isfinite(beta)):
            return Ball(np.inf), "no feasible multipliers"
        v = self._slopes(beta)
        size = to_float(ball(self.regularizer.gauge(v)).upper)
        if size > 1.0:  # a norm: shrink the multipliers until v lies in the dual ball
            if not math.isfinite(size):
                return Ball(np.inf), "the multipliers cannot be made feasible"
            full = beta
            for slack in 10.0 ** np.arange(-14, -7):  # rounding to the grid may leave v a little too large
                beta = full * ((1.0 - slack) / float(size))
                if self.fit_intercept:
                    low, high = np.minimum(full, 0.0), np.maximum(full, 0.0)
                    beta = balance(beta, low, high)
                    if beta is None:
                        continue
                v = self._slopes(beta)
                if to_float(ball(self.regularizer.gauge(v)).upper) <= 1.0:
                    break
            else:
                return Ball(np.inf), "the multipliers cannot be made feasible"
        if self.fit_intercept and math.fsum(beta) != 0.0:
            return Ball(np.inf), "the multipliers do not sum to zero"
        return self._fenchel_young(w, b, beta, v), ""

    def _slopes(self, beta: Array) -> Ball:
        return -(dot_t(self.X, ball(beta, like=self.y))) / self.strength

    def _fenchel_young(self, w: Array, b: float, beta: Array, v: Ball) -> Ball:
        rows = np.flatnonzero(self.weights)
        weights = self.weights[rows]
        u = ball(beta[rows], like=self.y)
        if np.any(weights != 1.0):
            u = u / weights
        terms = self.loss.fenchel_young(self.scores(w, b)[rows], u, self.y[rows]) * weights
        return terms.sum() + self.strength * self.regularizer.fenchel_young(ball(w, like=self.y), v)


def binary(data: Data, evidence: Mapping[str, Any]) -> tuple[Array, Array]:
    """y as −1/+1 where ``classes`` names two labels, and weights with those of the classes multiplied in."""
    y, weights = np.asarray(data.y), data.weights
    if "classes" not in evidence:
        return y, weights
    negative, positive = (y == c for c in np.asarray(evidence["classes"]))
    if not np.all(negative | positive):
        raise ValueError("y holds labels that the evidence does not name")
    if "class_weight" in evidence:
        low, high = np.asarray(evidence["class_weight"], dtype=float)
        weights = weights * np.where(positive, high, low)
    return np.where(positive, 1.0, -1.0), weights


def sound(evidence: Mapping[str, Any], y: Array, weights: Array) -> list[Check]:
    """What makes the problem of the evidence a convex one, in which the model is an admissible point."""
    loss, lam = get_loss(evidence["loss"]), np.asarray(evidence.get("lam", 0.0), dtype=float)
    specs = evidence.get("regularizer", "none")
    signed = any(isinstance(get_regularizer(s), NonNegative) for s in (specs if isinstance(specs, list) else [specs]))
    points = [np.asarray(evidence[k], dtype=float) for k in ("coef", "witness_coef") if k in evidence]
    return [
        Check("the labels are such as the loss is for", bool(np.all(loss.possible(y)))),
        Check("weights are not negative", bool(np.all(weights >= 0.0) and np.all(np.isfinite(weights)))),
        Check("the penalty is not negative", bool(np.all((lam >= 0.0) & (lam < np.inf)))),
        Check("no coefficient is negative where none may be", not signed or all(np.all(p >= 0.0) for p in points)),
    ]


def _targets(data: Data, evidence: Mapping[str, Any], rigor: Rigor) -> list[_Problem]:
    loss = get_loss(evidence["loss"])
    y, weights = binary(data, evidence)
    X, ys = Data(data.X, y).numbers(rigor)
    n = data.X.shape[0]
    ys = ys.reshape(n, -1)
    total = ball(weights, like=ys).sum()
    lam = np.atleast_1d(np.asarray(evidence["lam"], dtype=float))
    specs = evidence["regularizer"]
    problems = []
    for t in range(ys.shape[1]):
        spec = specs[t] if isinstance(specs, list) else specs
        strength = ball(lam[t % len(lam)], like=ys)
        if evidence["lam_per"] == "mean":
            strength = strength * total
        problems.append(
            _Problem(
                X,
                ys[:, t],
                weights,
                data.offset,
                loss,
                get_regularizer(spec),
                strength,
                bool(evidence["fit_intercept"]),
            )
        )
    return problems


@register
class Duality(Kind):
    """Claim: the fit is within ``gap`` of the best possible one."""

    name: ClassVar[str] = "duality"
    theorem: ClassVar[str] = "weak duality (Fenchel)"

    def prove(self, data: Data, evidence: Mapping[str, Any], rigor: Rigor) -> Proof:
        data = data.padded(evidence)
        coef = np.atleast_2d(evidence["coef"])
        intercept = np.atleast_1d(np.asarray(evidence["intercept"], dtype=float))
        problems = _targets(data, evidence, rigor)
        checks = [Check("coefficients match the data", coef.shape == (len(problems), data.X.shape[1]))]
        checks.extend(sound(evidence, *(np.asarray(part, dtype=float) for part in binary(data, evidence))))
        free = bool(evidence["fit_intercept"]) or not np.any(intercept)
        checks.append(Check("no offset where none is allowed", free))
        if not all(c.holds for c in checks):
            return Proof({}, tuple(checks))
        S = ball(problems[0].weights, like=problems[0].y).sum()
        value, gap, shares, trouble = Ball(0.0), Ball(0.0), [], ""
        for t, problem in enumerate(problems):
            b = intercept[t % len(intercept)]
            own, why = self._gap(problem, coef[t], b, evidence, t)
            value, gap, trouble = value + problem.total(coef[t], b), gap + own, trouble or why
            shares.append(_share(own, problem.null()))
        value, gap = value / S, gap / S
        finite = bool(np.isfinite(to_float(gap.upper)) and np.isfinite(to_float(value.upper)))
        checks.append(Check("the gap is bounded", finite, trouble or f"{float(to_float(gap.upper)):.3g}"))
        figures: dict[str, Figure] = {
            "value": about(value),
            "bound": lower(value - gap) if finite else about(-math.inf),
            "gap": upper(gap) if finite else about(math.inf),
            "relative_gap": upper(max(shares, key=lambda r: float(to_float(r.upper)))) if finite else about(math.inf),
        }
        if "classes" in evidence and "witness_coef" in evidence:
            figures |= changed(problems[0].scores(coef[0], intercept[0]), witness_scores(data, evidence))
        return Proof(figures, tuple(checks))

    @staticmethod
    def _gap(problem: _Problem, w: Array, b: float, evidence: Mapping[str, Any], t: int) -> tuple[Ball, str]:
        """The smaller of the bounds that the model itself and the witness give."""
        dual = evidence.get("dual")
        own, why = problem.gap(w, b, None if dual is None else np.atleast_2d(dual.T)[t])
        if "witness_coef" not in evidence:
            return own, why
        witness = np.atleast_2d(evidence["witness_coef"])[t]
        at = float(np.atleast_1d(evidence["witness_intercept"])[t])
        there, why_there = problem.gap(witness, at, None)
        through = there + problem.total(w, b) - problem.total(witness, at)
        better = not to_float(own.upper) <= to_float(through.upper)
        return (through, why_there) if better else (own, why)

    def claim(self, figures: Mapping[str, Any], evidence: Mapping[str, Any]) -> str:
        return words(figures, "weak duality", evidence.get("model"))

    def details(self, figures: Mapping[str, Any]) -> str:
        return line(figures)


def _share(gap: Ball, null: Ball) -> Ball:
    """gap / null, with 0/0 = 0."""
    if to_float(gap.upper) <= 1e-300:
        return gap * 0.0
    if not to_float(null.lower) > 0.0:
        return Ball(np.inf)
    return gap / null


def witness_scores(data: Data, evidence: Mapping[str, Any]) -> Array:
    """Scores of the witness, as floats."""
    W = np.atleast_2d(np.asarray(evidence["witness_coef"], dtype=float))
    Z = np.asarray(data.X @ W.T) + np.asarray(evidence["witness_intercept"], dtype=float)
    return Z[:, 0] if Z.shape[1] == 1 else Z


def changed(model: Ball, witness: Array) -> dict[str, Figure]:
    """How many training labels differ between a model and the better one."""
    mine = to_float(model.mid)
    labels = [z > 0 if z.ndim == 1 else z.argmax(axis=1) for z in (mine, witness)]
    return {"changed": equal(int(np.sum(labels[0] != labels[1]))), "rows": equal(len(mine))}


def words(figures: Mapping[str, Any], theorem: str, model: str | None = None) -> str:
    """The claim about a gap in one sentence; ``model`` names somebody else's fit that was judged."""
    if not figures or not math.isfinite(figures["relative_gap"]):
        return "No bound on the distance to the best possible fit could be proved."
    share = figures["relative_gap"]
    share = max(share, 1e-16)  # below the last digit of a float it means nothing to a person
    if model is not None:
        size = f"{100 * share:.2g} %" if share >= 1e-4 else f"{share:.0e} (as a share)"
        text = f"{model}: at most {size} above the best possible fit, proved by {theorem}"
        if "changed" in figures:
            text += f"; {figures['changed']} of {figures['rows']} training labels change there"
        return text + "."
    if share < 1e-4:
        return f"Within {share:.0e} of the best possible fit, proved by {theorem}."
    return f"At most {100 * share:.2g} % above the best possible fit, proved by {theorem}."


def line(figures: Mapping[str, Any]) -> str:
    """Objective, bound and gap in one line; below it, how many labels are certain."""
    if "gap" not in figures:
        return ""
    text = (
        f"objective {figures['value']:.6g}   lower bound {figures['bound']:.6g}   "
        f"gap {figures['gap']:.1e} ({figures['relative_gap']:.0e} of the null model)"
    )
    if "certain" in figures:
        text += f"\n  {figures['certain']} of {figures['rows']} training labels are provably those of the exact optimum"
    return text
