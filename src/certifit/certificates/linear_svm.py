"""Linear soft-margin machines: weak duality with hinge or squared hinge, one machine or one against the rest.

    P(w, b) = ½‖w‖² + Σ costᵢ φ(yᵢ(w·xᵢ + b)),      D(β) = −Σ costᵢ φ*(…) − ½‖Σ βᵢxᵢ‖²,      β = yα, Σβ = 0.

``offset_scale`` in the evidence means liblinear's objective instead: the offset is the weight of a constant column
of that size and is penalised like any weight; Σβ = 0 is then not asked for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from certifit._types import Array, Matrix
from certifit.certificates._ball import Ball, dot, dot_t, gamma
from certifit.certificates._data import Data, Rigor
from certifit.certificates._record import Check, Kind, Proof, equal, lower, register, upper
from certifit.certificates.gram import BALLS, codes_of, hinge_offsets


@dataclass(frozen=True)
class MachineProof:
    """What is proved about one machine."""

    value: Ball
    bound: Ball
    null: Ball
    feasible: bool
    offsets: tuple[float, float]
    rho: float
    reach: float


def machine_labels(codes: Array, classes: int) -> list[Array]:
    """±1 labels of each machine: one for two classes, one a class for more."""
    positive = [1] if classes == 2 else list(range(classes))
    return [np.where(codes == k, 1.0, -1.0) for k in positive]


def _distances(X: Matrix, centre: Array | None) -> Array:
    """Upper bounds of ‖x − c‖ for the rows."""
    if centre is None:
        return np.asarray(np.sqrt(BALLS.squares(X)).upper)
    return np.asarray(np.sqrt((Ball(X) - Ball(centre)).square().sum(axis=1)).upper)


def _centre(X: Matrix, fit_intercept: bool) -> Array | None:
    return None if scipy.sparse.issparse(X) or not fit_intercept else np.asarray(X.mean(axis=0))


def machine_proofs(data: Data, evidence: Mapping[str, Any]) -> list[MachineProof]:
    """Everything that is proved about each machine."""
    codes = codes_of(data.y, evidence["classes"])
    if np.any(codes < 0):
        raise ValueError("a label that is not among the classes")
    cost = np.asarray(evidence["class_cost"], dtype=float)[codes] * data.weights
    if not (np.all(np.isfinite(cost)) and np.all(cost >= 0)):
        raise ValueError("costs must be finite and not negative")
    distance = _distances(data.X, _centre(data.X, bool(evidence["fit_intercept"])))
    labels = machine_labels(codes, len(evidence["classes"]))
    return [_one(data.X, y, cost, k, evidence, distance) for k, y in enumerate(labels)]


def _one(X: Matrix, y: Array, cost: Array, k: int, evidence: Mapping[str, Any], distance: Array) -> MachineProof:
    w, b = np.asarray(evidence["coef"][k], dtype=float), float(evidence["intercept"][k])
    beta = np.asarray(evidence["beta"][k], dtype=float)
    scale = float(evidence.get("offset_scale", 0.0))
    free = bool(evidence["fit_intercept"]) and not scale
    plain = dot(X, w)
    short = (1.0 - (plain + b) * y).maximum(0.0)
    alpha = beta * y
    v = dot_t(X, beta)
    own, dual = Ball(w).square().sum(), v.square().sum()
    if scale:
        own = own + (Ball(b) / Ball(scale)).square()
        dual = dual + (Ball(beta).sum() * scale).square()
    if evidence["loss"] == "hinge":
        loss, conjugate = short * cost, Ball(alpha).sum()
        inside = bool(np.all(alpha <= cost))
    else:
        loss = short.square() * cost
        used = alpha != 0
        conjugate = Ball(alpha).sum() - 0.25 * (Ball(alpha[used]).square() / Ball(cost[used])).sum()
        inside = bool(np.all(cost[used] > 0))
    value, bound = 0.5 * own + loss.sum(), conjugate - 0.5 * dual
    feasible = inside and bool(np.all(alpha >= 0)) and (not free or math.fsum(beta) == 0.0)
    feasible = feasible and (bool(evidence["fit_intercept"]) or b == 0.0)
    rho = float(np.sqrt((2.0 * (value - bound)).maximum(0.0)).upper)
    offsets, reach = (b, b), 0.0
    if free:
        offsets = _best_offsets(plain, y, cost, b, evidence["loss"])
        reach = rho * float(distance[cost > 0].max())
    elif scale:
        reach = rho * scale
    return MachineProof(value, bound, _null(y, cost, evidence["loss"], free), feasible, offsets, rho, reach)


def _null(y: Array, cost: Array, loss: str, free: bool) -> Ball:
    """What w = 0 pays with the best offset (with no free offset: with none)."""
    plus, minus = Ball(cost[y > 0]).sum(), Ball(cost[y < 0]).sum()
    if not free:
        return plus + minus
    if loss == "hinge":
        return 2.0 * plus.minimum(minus)
    return 4.0 * plus * minus / (plus + minus)


def _best_offsets(scores: Ball, y: Array, cost: Array, b: float, loss: str) -> tuple[float, float]:
    """An interval that surely contains every best offset for these scores."""
    if loss == "hinge":
        return hinge_offsets(scores, y, cost)
    # Σ cost y max(0, 1 − y(score + b)) falls in b; the ends are where its sign is beyond doubt.
    size = 1.0 + abs(b) + float(np.abs(scores.mid).max(initial=0.0))
    step = 64.0 * gamma(len(y)) * size

    def pull(at: float) -> Ball:
        return ((1.0 - (scores + at) * y).maximum(0.0) * (cost * y)).sum()

    while step < 1e6 * size:
        if float(pull(b - step).lower) > 0.0 and float(pull(b + step).upper) < 0.0:
            return b - step, b + step
        step *= 4.0
    return -np.inf, np.inf


def certain_rows(data: Data, evidence: Mapping[str, Any], X: Matrix) -> Array:
    """Rows of X whose label is provably that of the exact optimum."""
    proofs = machine_proofs(data, evidence)
    scores = dot(X, np.asarray(evidence["coef"], dtype=float).T)
    far = _distances(X, _centre(data.X, bool(evidence["fit_intercept"])))
    return _sure(proofs, scores, far, np.asarray(evidence["intercept"], dtype=float))


def _sure(proofs: list[MachineProof], scores: Ball, far: Array, intercept: Array) -> Array:
    low, high = np.empty(scores.shape), np.empty(scores.shape)
    for k, p in enumerate(proofs):
        reach = p.rho * far + p.reach
        slack = 8 * 2.0**-53 * (np.abs(scores.mid[:, k]) + np.abs(p.offsets).max() + reach)
        low[:, k] = scores.lower[:, k] + p.offsets[0] - reach - slack
        high[:, k] = scores.upper[:, k] + p.offsets[1] + reach + slack
    now = scores.mid + intercept
    if len(proofs) == 1:
        return np.asarray(((low[:, 0] > 0) & (now[:, 0] > 0)) | ((high[:, 0] < 0) & (now[:, 0] <= 0)))
    top = now.argmax(axis=1)
    at = np.arange(len(now))
    others = high.copy()
    others[at, top] = -np.inf
    return np.asarray(low[at, top] > others.max(axis=1))


@register
class LinearMachines(Kind):
    """Soft-margin machines given by weights and offsets."""

    name: ClassVar[str] = "linear-svm"
    theorem: ClassVar[str] = "weak duality of the soft-margin machine"

    def prove(self, data: Data, evidence: Mapping[str, Any], rigor: Rigor) -> Proof:
        proofs = machine_proofs(data, evidence)
        value, bound, null = proofs[0].value, proofs[0].bound, proofs[0].null
        for p in proofs[1:]:
            value, bound, null = value + p.value, bound + p.bound, null + p.null
        gap = value - bound
        scores = dot(data.X, np.asarray(evidence["coef"], dtype=float).T)
        far = _distances(data.X, _centre(data.X, bool(evidence["fit_intercept"])))
        sure = _sure(proofs, scores, far, np.asarray(evidence["intercept"], dtype=float))
        figures = {
            "value": upper(value),
            "bound": lower(bound),
            "gap": upper(gap),
            "relative_gap": upper(gap / null),
            "certain_labels": equal(int(np.count_nonzero(sure))),
            "labels": equal(int(data.X.shape[0])),
            "machines": equal(len(proofs)),
            "support": equal(int(np.count_nonzero(np.any(np.asarray(evidence["beta"]) != 0, axis=0)))),
        }
        checks = (
            Check("every multiplier lies in its box, and they balance", all(p.feasible for p in proofs)),
            Check("the gap is a finite number", bool(np.isfinite(figures["gap"].stated))),
        )
        return Proof(figures, checks)

    def claim(self, figures: Mapping[str, Any], evidence: Mapping[str, Any]) -> str:
        words = "liblinear's objective (offset penalised): within" if "offset_scale" in evidence else "Within"
        many = "" if figures["machines"] == 1 else f" (all {figures['machines']} machines together)"
        return (
            f"{words} {figures['relative_gap']:.2g} of the best possible fit{many}, proved by weak duality; "
            f"{figures['certain_labels']} of {figures['labels']} training labels are provably those of the exact "
            "optimum."
        )
