"""Soft-margin machines with a kernel: weak duality, the three KKT cases, and which labels are certain.

For each pair of classes, with labels y = ±1 and a cost for every row,

    P(w, b) = ½‖w‖² + Σ costᵢ max(0, 1 − yᵢ(w·φ(xᵢ) + b)),      w = Σ coefⱼ φ(xⱼ),
    D(α)    = Σ αᵢ − ½‖Σ yᵢαᵢφ(xᵢ)‖²,      Σ yᵢαᵢ = 0,  0 ≤ αᵢ ≤ costᵢ,

and D(α) ≤ P* ≤ P(w, b) for every Mercer kernel. All inner products of features are kernel values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from certifit._types import Array, Matrix
from certifit.certificates._ball import Ball, ball, dot
from certifit.certificates._data import Data, Rigor
from certifit.certificates._record import Check, Kind, Proof, equal, lower, register, upper
from certifit.certificates.gram import (
    GramSource,
    centre_of,
    codes_of,
    hinge_offsets,
    new_scores,
    radii,
    stable_sign,
)
from certifit.kernels import Kernel

_AT_BOUND = 1e-9  # a multiplier this close to its cost, relatively, is counted as being at it


@dataclass(frozen=True)
class PairProof:
    """What is proved about the machine of one pair of classes."""

    first: int
    second: int
    value: Ball
    bound: Ball
    null: Ball
    feasible: bool
    cases: tuple[int, int, int]
    violation: float
    offsets: tuple[float, float]
    reach: float  # ρ·maxᵢ‖φ(xᵢ) − c‖: how far the best offset may be from that of the optimum
    rho: float

    @property
    def gap(self) -> Ball:
        return self.value - self.bound


def pairs_of(classes: int) -> list[tuple[int, int]]:
    """Pairs (voted for when positive, voted for when negative), in scikit-learn's order."""
    if classes == 2:
        return [(1, 0)]
    return [(i, j) for i in range(classes) for j in range(i + 1, classes)]


def pair_coefficients(dual_coef: Array, codes: Array, classes: int) -> Array:
    """One column of coefficients a pair, from scikit-learn's layout (``codes``: class of each support vector)."""
    if classes == 2:
        return np.asarray(dual_coef)[0][:, None]
    columns = []
    for i, j in pairs_of(classes):
        columns.append(np.where(codes == i, dual_coef[j - 1], np.where(codes == j, dual_coef[i], 0.0)))
    return np.column_stack(columns)


class _Problem:
    """Data and evidence, unpacked."""

    def __init__(self, data: Data, evidence: Mapping[str, Any], rigor: Rigor) -> None:
        self.source = GramSource(data, evidence, rigor)
        self.classes = len(evidence["classes"])
        self.codes = codes_of(data.y, evidence["classes"])
        self.support = np.asarray(evidence["support"], dtype=int)
        if len(self.support) and (self.support.min() < 0 or self.support.max() >= len(self.codes)):
            raise IndexError("a support vector that is not a row of the data")
        own = self.codes[self.support]
        self.coef = pair_coefficients(evidence["dual_coef"], own, self.classes)
        self.dual = pair_coefficients(evidence.get("alpha", evidence["dual_coef"]), own, self.classes)
        self.intercept = np.asarray(evidence["intercept"], dtype=float)
        self.cost = np.asarray(evidence["class_cost"], dtype=float)[self.codes] * data.weights
        self.sane = bool(
            np.all(self.codes >= 0)
            and len(np.unique(self.support)) == len(self.support)
            and np.all(np.isfinite(self.cost))
            and np.all(self.cost >= 0)
            and len(self.intercept) == self.coef.shape[1]
        )


def pair_proofs(data: Data, evidence: Mapping[str, Any], rigor: Rigor = "float") -> tuple[list[PairProof], Ball]:
    """Everything that is proved about each pair, and the scores of the training rows."""
    p = _Problem(data, evidence, rigor)
    if not p.sane:
        raise ValueError("labels, costs, offsets or support vectors do not fit together")
    scores = p.source.scores(p.support, np.column_stack([p.coef, p.dual]))
    centre = centre_of(p.source.kernel, p.source.X) if p.source.kernel is not None else None
    radius = p.source.radii(centre)._outward()[1]  # floats, whatever the rigour
    pairs = pairs_of(p.classes)
    proofs = [_one_pair(p, k, pair, scores, radius) for k, pair in enumerate(pairs)]
    return proofs, scores[:, : len(pairs)]


def _one_pair(p: _Problem, k: int, pair: tuple[int, int], scores: Ball, radius: Array) -> PairProof:
    positive, negative = pair
    rows = np.flatnonzero((p.codes == positive) | (p.codes == negative))
    y = np.where(p.codes == positive, 1.0, -1.0)
    f, g = scores[:, k], scores[:, k + p.coef.shape[1]]
    coef, dual = p.coef[:, k], p.dual[:, k]
    cost = p.cost[rows]
    margin = (f[rows] + ball(p.intercept[k], like=f)) * y[rows]
    hinge = (1.0 - margin).maximum(0.0)
    half = 0.5
    value = half * (ball(coef, like=f) * f[p.support]).sum() + (hinge * cost).sum()
    quadratic = (ball(dual, like=f) * g[p.support]).sum()
    alpha = dual * y[p.support]
    bound = ball(alpha, like=f).sum() - half * quadratic
    feasible = bool(
        math.fsum(dual) == 0.0
        and np.all(alpha >= 0)
        and np.all(alpha <= p.cost[p.support])
        and np.all(np.isfinite(dual))
    )
    plus = ball(cost[y[rows] > 0], like=f).sum()
    minus = ball(cost[y[rows] < 0], like=f).sum()
    null = 2.0 * plus.minimum(minus)
    gap = value - bound
    rho = float(np.sqrt((2.0 * gap).maximum(0.0))._outward()[1])
    counted = rows[cost > 0]
    largest = float(radius[counted].max()) if len(counted) else 0.0
    cases, violation = _cases(p, alpha, rows, margin)
    floats = f if not f.exact else Ball.between(*f._outward())
    offsets = hinge_offsets(floats[rows], y[rows], cost)
    return PairProof(
        positive, negative, value, bound, null, feasible, cases, violation, offsets, _up(rho * largest), _up(rho)
    )


def _up(x: float) -> float:
    return float(np.nextafter(x, np.inf))


def _cases(p: _Problem, alpha: Array, rows: Array, margin: Ball) -> tuple[tuple[int, int, int], float]:
    """How many multipliers are 0, inside, at the cost; and the largest violation of their condition."""
    full = np.zeros(len(p.codes))
    full[p.support] = alpha
    a, cost = full[rows], p.cost[rows]
    matters = cost > 0
    at_cost = matters & (a >= cost * (1.0 - _AT_BOUND))
    zero = ~at_cost & (a <= 0)
    inside = ~at_cost & ~zero
    low, high = margin._outward() if margin.exact else (margin.lower, margin.upper)
    short, over = np.maximum(0.0, 1.0 - low), np.maximum(0.0, high - 1.0)
    wrong = np.where(zero, short, np.where(at_cost, over, np.maximum(short, over)))
    largest = float(wrong[matters].max()) if matters.any() else 0.0
    return (int(zero.sum()), int(inside.sum()), int(at_cost.sum())), _up(largest)


def votes(proofs: list[PairProof], scores: Ball, reach: Array, intercept: Array, classes: int) -> Array:
    """Rows whose one-vs-one winner is surely the same under the exact optimum.

    ``reach``: ‖φ(x) − c‖ for each row. A pair's vote is sure when its sign cannot change; the winner is sure when
    its sure votes exceed what any other class could get at most.
    """
    n = scores.shape[0]
    sure, possible = np.zeros((n, classes)), np.zeros((n, classes))
    given = np.zeros((n, classes))
    for k, proof in enumerate(proofs):
        yes, no = stable_sign(scores[:, k], proof.offsets, proof.rho * reach + proof.reach)
        now = scores.mid[:, k] + intercept[k] > 0
        yes, no = yes & now, no & ~now
        sure[:, proof.first] += yes
        sure[:, proof.second] += no
        possible[:, proof.first] += ~no
        possible[:, proof.second] += ~yes
        given[:, proof.first] += now
        given[:, proof.second] += ~now
    winner = given.argmax(axis=1)
    others = possible.copy()
    others[np.arange(n), winner] = -1.0
    return np.asarray(sure[np.arange(n), winner] > others.max(axis=1))


def certain_labels(kernel: Kernel, data: Data, evidence: Mapping[str, Any], X: Matrix, V: Matrix) -> Array:
    """Rows of X whose label is provably that of the exact optimum (V: the support vectors)."""
    proofs, _ = pair_proofs(data, evidence)
    classes = len(evidence["classes"])
    own = codes_of(data.y, evidence["classes"])[np.asarray(evidence["support"], dtype=int)]
    coef = pair_coefficients(evidence["dual_coef"], own, classes)
    scores = new_scores(kernel, X, V, coef)
    reach = radii(kernel, X, centre_of(kernel, data.X)).upper
    return votes(proofs, scores, reach, np.asarray(evidence["intercept"], dtype=float), classes)


def certain_given(data: Data, evidence: Mapping[str, Any], K: Array, diagonal: Array) -> Array:
    """The same for given kernel values: K of the rows with all training rows, ``diagonal`` with themselves."""
    proofs, _ = pair_proofs(data, evidence)
    classes, support = len(evidence["classes"]), np.asarray(evidence["support"], dtype=int)
    coef = pair_coefficients(evidence["dual_coef"], codes_of(data.y, evidence["classes"])[support], classes)
    reach = np.sqrt(Ball(diagonal)).upper
    return votes(proofs, dot(K[:, support], coef), reach, np.asarray(evidence["intercept"], dtype=float), classes)


class _KernelMachine(Kind):
    theorem: ClassVar[str] = "weak duality of the soft-margin machine"

    def prove(self, data: Data, evidence: Mapping[str, Any], rigor: Rigor) -> Proof:
        proofs, scores = pair_proofs(data, evidence, rigor)
        source = GramSource(data, evidence, "float")
        value, bound, null = (_total([getattr(p, name) for p in proofs]) for name in ("value", "bound", "null"))
        gap = value - bound
        relative = gap / null
        radius = source.radii(centre_of(source.kernel, source.X) if source.kernel is not None else None).upper
        floats = scores if not scores.exact else Ball.between(*scores._outward())
        intercept = np.asarray(evidence["intercept"], dtype=float)
        sure = votes(proofs, floats, radius, intercept, len(evidence["classes"]))
        zero, inside, at_cost = (int(sum(p.cases[k] for p in proofs)) for k in range(3))
        figures = {
            "value": upper(value),
            "bound": lower(bound),
            "gap": upper(gap),
            "relative_gap": upper(relative),
            "multipliers_zero": equal(zero),
            "multipliers_inside": equal(inside),
            "multipliers_at_cost": equal(at_cost),
            "largest_violation": upper(max(p.violation for p in proofs)),
            "certain_labels": equal(int(np.count_nonzero(sure))),
            "labels": equal(int(data.X.shape[0])),
            "machines": equal(len(proofs)),
        }
        finite = bool(np.isfinite(figures["gap"].stated))
        checks = (
            Check("every multiplier lies between 0 and its cost, and they balance", all(p.feasible for p in proofs)),
            Check("the gap is a finite number", finite, f"{figures['gap'].stated:.3g}"),
            self._convex(source),
        )
        return Proof(figures, checks)

    def _convex(self, source: GramSource) -> Check:
        why = str(source.kernel.proof) if source.kernel is not None else ""
        return Check("the kernel is Mercer", source.mercer, why.splitlines()[0] if source.mercer else "no proof")

    def claim(self, figures: Mapping[str, Any], evidence: Mapping[str, Any]) -> str:
        many = figures["machines"]
        which = "" if many == 1 else f" (all {many} pairs of classes together)"
        sure, labels = int(figures["certain_labels"]), figures["labels"]
        return (
            f"Within {figures['relative_gap']:.2g} of the best possible fit{which}, proved by weak duality; "
            f"{sure} of {labels} training labels are provably those of the exact optimum."
        )


def _total(parts: list[Ball]) -> Ball:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


@register
class KernelMachine(_KernelMachine):
    """Soft-margin machine whose kernel is a formula with a proof of being Mercer."""

    name: ClassVar[str] = "svm"


@register
class GramMachine(_KernelMachine):
    """Soft-margin machine on given kernel values: a precomputed matrix, or a user's function."""

    name: ClassVar[str] = "svm-gram"
    assumes: ClassVar[tuple[str, ...]] = ("the given kernel values come from a Mercer kernel",)

    def _convex(self, source: GramSource) -> Check:
        return Check("kernel values are given", source.given is not None)
