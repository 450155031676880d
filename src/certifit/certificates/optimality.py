r"""Optimality of every convex fit with a penalty: one inequality over a linear map.

.. math:: F(w, b) = \sum_i s_i\,L(z_i, y_i) + \Lambda R(w), \qquad z_i = w\cdot\varphi(x_i) + b + o_i

For any dual variables β = s∘u with u in the domain of L*, Λv = −Σ βᵢφ(xᵢ) in the domain of R*, and Σβᵢ = 0 (only where
the offset is free), weak duality bounds F(w, b) − min F by a sum of Fenchel–Young terms,

.. math:: \sum_i s_i\,[L(z_i) + L^*(u_i) - u_i z_i] + \Lambda\,[R(w) + R^*(v) - v\cdot w],

each of which is ≥ 0: no large numbers are subtracted, so gaps far below the rounding of F itself can be proved. The
same lines serve scalar losses, softmax (scores (n, K), βᵢ = sᵢ(pᵢ − e_y)), multi-task penalties, hinge machines and
kernel ridge; columns or a kernel are the map φ (`maps`). Several targets, classes against the rest and pairs of classes
are several machines on the same data, whose terms are added.

Nothing is repaired here: β stands in the evidence, is checked exactly, and the terms are summed with rounding bounds.

Evidence: ``objective`` (a record of `Objective`, or one for each target), ``coef`` (outputs, d) and ``intercept``
(outputs,); ``dual`` (rows, outputs), for the rows ``support`` where given; with a kernel its record ``kernel`` (or the
matrix ``gram``), and ``coef`` (outputs, support). Optionally ``model`` (whose fit it is) and ``witness_coef``,
``witness_intercept``: a better fit, used for the figure `changed` alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from certifit._objective import Objective, Target, column_of
from certifit._types import Array
from certifit.certificates._ball import Ball, ball, to_float
from certifit.certificates._data import Data, Evidence, Figures, Rigor
from certifit.certificates._figures import above, at_least
from certifit.certificates._gap import SMALLEST, excess_of, line, share_of, words
from certifit.certificates._record import Check, Kind, Proof, ProvedNumber, about, equal, lower, register, upper
from certifit.certificates._schema import FINITE, MODEL, NUMBER, RECORD, WHOLE
from certifit.certificates.gram import given_kernel
from certifit.certificates.maps import ColumnMap, FeatureMap, KernelMap
from certifit.certificates.region import region_of

_DIGITS = 5e-10  # proof files state the objective to nine digits
_EXACTLY = 40_000  # kernel values that exact numbers are affordable for
_EXACT_CELLS = 4_000  # the same for cells of X, where rows with exponentials cost more
_AT_BOUND = 1e-9  # a multiplier this close to its cost, relatively, is counted as being at it


@dataclass(frozen=True)
class Model:
    """What the evidence says, read with distrust: every number has been looked at before it is used."""

    objectives: tuple[Objective, ...]  # one for each machine
    targets: tuple[Target, ...]
    coef: Array
    intercept: Array
    dual: Array  # (n, outputs)
    support: Array
    offset: Array | None

    @classmethod
    def read(cls, data: Data, evidence: Evidence) -> Model:
        objectives, targets = read_objectives(data, evidence)
        n, outputs = data.X.shape[0], sum(t.outputs for t in targets)
        support = np.arange(n)
        if "support" in evidence:
            support = np.asarray(evidence["support"])
            if support.dtype.kind not in "iu" and support.size:
                raise ValueError("the support must be row numbers")
            support = support.astype(int)
            if len(support) and not (support.min() >= 0 and support.max() < n):
                raise IndexError("a support vector that is not a row of the data")
            if len(np.unique(support)) != len(support):
                raise ValueError("a support vector is named twice")
        coef, intercept, part = (numbers(evidence, k) for k in ("coef", "intercept", "dual"))
        if coef.ndim != 2 or len(coef) != outputs or intercept.shape != (outputs,):
            raise ValueError(f"coefficients and offsets of {outputs} outputs are needed")
        if part.shape != (len(support), outputs):
            raise ValueError(f"dual variables of shape {(len(support), outputs)} are needed, not {part.shape}")
        dual = np.zeros((n, outputs))
        dual[support] = part
        return cls(objectives, targets, coef, intercept, dual, support, data.offset)

    def columns(self, k: int) -> slice:
        """The outputs of machine k."""
        start = sum(t.outputs for t in self.targets[:k])
        return slice(start, start + self.targets[k].outputs)


def numbers(evidence: Evidence, key: str) -> Array:
    """An array of floats of the evidence; anything else (text that looks like numbers, say) is rejected."""
    found = evidence[key]
    if not isinstance(found, np.ndarray) or found.dtype.kind not in "fiu":
        raise ValueError(f"{key} must be an array of numbers")
    return found.astype(float)


def read_objectives(data: Data, evidence: Evidence) -> tuple[tuple[Objective, ...], tuple[Target, ...]]:
    """The objective and the target of every machine."""
    record = evidence["objective"]
    several = isinstance(record, list)
    records = record if several else [record]
    found = tuple(Objective.from_dict(r) for r in records)
    if any(o.to_dict() != r for o, r in zip(found, records)):
        raise ValueError("the objective is not stored in its normal form")
    pairs = several and all(replace(o, class_weight=None) == replace(found[0], class_weight=None) for o in found)
    if not found or (several and not pairs and any(o.classes is not None for o in found)):
        raise ValueError("one objective is needed, or one for each target, and for each machine with its own costs")
    if any(o.offset != (data.offset is not None) for o in found):
        raise ValueError("the data have offsets of rows where the objective has none, or the other way round")
    y = data.real_targets() if found[0].classes is None else np.asarray(data.y)
    targets = found[0].encode(y, data.weights)
    if several and len(found) == len(targets):  # machines on pairs of classes may have costs of their own
        targets = tuple(o.encode(y, data.weights)[k] for k, o in enumerate(found))
    if several and len(found) != len(targets):
        raise ValueError("one objective is needed for each target")
    return (found if several else found * len(targets)), targets


def sound(objective: Objective, target: Target, coef: Array, intercept: Array) -> list[Check]:
    """What makes the problem a convex one, in which the model is an admissible point."""
    weights = target.weights
    # A penalised offset is one more coefficient.
    signed = [coef] if objective.padding is None else [coef, intercept]
    admissible = not objective.signed or all(bool(np.all(part >= 0.0)) for part in signed)
    return [
        Check("the loss is defined for the labels", objective.possible(target.y)),
        Check("weights are not negative", bool(np.all(weights >= 0.0) and np.all(np.isfinite(weights)))),
        Check("there is an offset only where the objective has one", objective.fit_intercept or not np.any(intercept)),
        Check("the coefficients satisfy the sign constraints", admissible),
    ]


@dataclass(frozen=True)
class Machine:
    """What is proved about one machine: F, a bound on F − min F, and F of the null model."""

    value: Ball
    gap: Ball
    null: Ball
    trouble: str


def _machine(model: Model, features: FeatureMap, k: int, plain: Ball) -> Machine:
    objective, target, at = model.objectives[k], model.targets[k], model.columns(k)
    coef, b, beta = model.coef[at], model.intercept[at], model.dual[:, at]
    y = target.y if objective.loss.targets == "class" else ball(target.y, like=plain)
    own = plain[:, at]

    def shifted(z: Ball) -> Ball:
        z = z if model.offset is None else z + model.offset[:, None]
        return z[:, 0] if target.outputs == 1 and len(y.shape) == 1 else z

    z = shifted(own + ball(b, like=own))
    value = objective.total(z, y, target.weights) + features.penalty(objective, coef, b, own)
    nothing = np.zeros_like(coef)
    flat = shifted(ball(np.zeros(own.shape), like=own) + objective.constants(target, model.offset))
    null = objective.total(flat, y, target.weights)
    if objective.free and objective.loss.name == "squared":  # the offset was rounded: less what the exact one gains
        pull = (flat - y) * column_of(target.weights, flat)
        gain = (pull * objective.loss.curvature_bound).sum(axis=0).square()
        null = null - gain.sum() / (ball(target.weights, like=own).sum() * (2.0 * objective.loss.curvature_bound))
    null = null + features.penalty(objective, nothing, np.zeros_like(b), own * 0.0)
    if target.outputs == 1 and len(y.shape) == 1:
        beta = beta[:, 0]
    if not objective.admits(beta, target.y, target.weights):
        return Machine(value, Ball(np.inf), null, "a multiplier outside its domain")
    if objective.free and any(math.fsum(column) != 0.0 for column in beta.reshape(len(beta), -1).T):
        return Machine(value, Ball(np.inf), null, "the multipliers do not balance")
    if perfect(objective, target, coef, b) and model.offset is None:
        return Machine(value, Ball(0.0), Ball(0.0), "")
    extra, trouble = features.gap(objective, coef, b, beta.reshape(len(beta), -1))
    if trouble:
        return Machine(value, Ball(np.inf), null, trouble)
    rows = np.flatnonzero(target.weights)
    s = target.weights[rows]
    u = ball(beta[rows], like=own)
    if np.any(s != 1.0):
        u = u / (s if u.mid.ndim == 1 else s[:, None])
    gap = objective.fenchel_young(z[rows], u, y[rows], s) + extra
    return Machine(value, gap, null, "")


def perfect(objective: Objective, target: Target, coef: Array, b: Array) -> bool:
    """Whether the null model fits without any loss, exactly, and is the model: no loss or penalty is below zero."""
    prior = getattr(objective.regularizer, "prior", None)
    if objective.loss.targets != "real" or objective.padding is not None or prior is not None:
        return False
    y = target.y[target.weights > 0.0].reshape(-1, len(b))
    if objective.loss.name.endswith("epsilon_insensitive"):  # a little less than ε: the difference is rounded
        return not np.any(coef) and bool(np.all(np.abs(y - b) <= objective.loss.params()["epsilon"] * (1.0 - 1e-15)))
    return objective.loss.name in ("squared", "absolute") and not np.any(coef) and bool(np.all(y == b))


def _blurred(value: Ball) -> bool:
    """Whether rounding hides digits of the objective that proof files state."""
    return bool(to_float(value.rad) > _DIGITS * abs(to_float(value.mid)))


def floats(x: Ball) -> Ball:
    """The same numbers as error-bounded floats."""
    return Ball.between(*x._outward()) if x.exact else x


@register
class Duality(Kind):
    """Claim: the fit is within ``gap`` of the best possible one, and that many training labels are the optimum's."""

    name: ClassVar[str] = "duality"
    theorem: ClassVar[str] = "weak duality (Fenchel)"
    needs: ClassVar = {"objective": RECORD, "coef": FINITE, "intercept": FINITE, "dual": FINITE}
    may: ClassVar = {"kernel": RECORD, "gram": FINITE, "support": WHOLE, "witness_coef": FINITE,
                     "witness_intercept": FINITE, "model": MODEL, "nu": NUMBER}  # fmt: skip

    def assumptions(self, evidence: Evidence) -> tuple[str, ...]:
        return super().assumptions(evidence) + given_kernel(evidence)

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        model = Model.read(data, evidence)
        features: FeatureMap = ColumnMap(data, rigor)
        checks = []
        if "kernel" in evidence or "gram" in evidence:
            features = KernelMap(data, evidence, rigor, model.support)
            given = features.source.given is not None
            checks.append(Check("the kernel is Mercer, or its values are given", given or features.source.mercer))
        checks.append(Check("coefficients match the data", model.coef.shape[1] == features.width))
        for k, (objective, target) in enumerate(zip(model.objectives, model.targets)):
            at = model.columns(k)
            found = sound(objective, target, model.coef[at], model.intercept[at])
            checks.extend(c for c in found if k == 0 or not c.holds)
        if "nu" in evidence:
            checks.append(_share(model, float(evidence["nu"])))
        if not all(c.holds for c in checks):
            return Proof({}, tuple(checks))
        plain = features.scores(model.coef)
        machines = [_machine(model, features, k, plain) for k in range(len(model.targets))]
        cells, most = data.X.shape[0] * max(features.width, 1), _EXACTLY if "kernel" in evidence else _EXACT_CELLS
        if rigor == "float" and cells <= most and any(_blurred(m.value) for m in machines):
            return self.prove(data, evidence, "exact")
        return self._figures(data, evidence, model, features, plain, machines, checks)

    def _figures(
        self, data: Data, evidence: Evidence, model: Model, features: FeatureMap, plain: Ball,
        machines: list[Machine], checks: list[Check],
    ) -> Proof:  # fmt: skip
        objective = model.objectives[0]
        value, gap, null = (_total([getattr(m, name) for m in machines]) for name in ("value", "gap", "null"))
        trouble = next((m.trouble for m in machines if m.trouble), "")
        scale = ball(model.targets[0].weights, like=plain).sum() if objective.stated == "mean" else Ball(1.0)
        finite = all(bool(np.isfinite(to_float(x.upper))) for x in (gap, value))
        finite = finite and bool(to_float(scale.lower) > 0.0)
        checks.append(Check("the gap is bounded", finite, trouble or f"{float(to_float(gap.upper)):.3g}"))
        if not finite:
            none = {"bound": about(-math.inf), "gap": about(math.inf), "relative_gap": about(math.inf)}
            return Proof({"value": about(value / scale)} | none, tuple(checks))
        figures: dict[str, ProvedNumber] = {
            # Never less than the objective is, where rounding leaves it open (a perfect fit of a large table).
            "value": about((Ball(value.upper) if _blurred(value) else value) / scale),
            "bound": lower((value - gap) / scale),
            "gap": upper(gap / scale),
            "relative_gap": upper(share_of(gap, null)),
            **excess_of(gap, value),
        }
        now = to_float(plain.mid) + model.intercept
        if "witness_coef" in evidence and objective.classes is not None and objective.layout == "rest":
            figures |= changed(now, witness_scores(data, evidence))
        region = None
        if objective.classes is not None:
            sums = [float(above(m.gap.upper)) for m in machines]
            apart = features.distances(objective.free)
            region = region_of(objective, model.targets, floats(plain), model.intercept, sums, apart)
            sure = np.zeros(len(now), dtype=bool)
            if region is not None:
                sure = region.judge(floats(plain), apart[0], now)
            counted, all_of_them = ("certain_labels", "labels") if objective.stated == "sum" else ("certain", "rows")
            if region is not None or objective.stated == "sum":
                figures |= {counted: at_least(int(np.count_nonzero(sure))), all_of_them: equal(len(now))}
        if objective.stated == "sum":
            figures |= _machine_figures(data, model, features, plain, float(above(gap.upper)))
        return Proof(figures, tuple(checks), region)

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        record = evidence.get("objective")
        first = record[0] if isinstance(record, list) and record else record
        padded = isinstance(first, Mapping) and first.get("padding") is not None
        text = words(figures, "weak duality", evidence.get("model"))
        many = figures.get("machines", 1)
        if many > 1:
            pairs = isinstance(first, Mapping) and first.get("layout") == "pairs"
            text = text.replace(
                SMALLEST, f"{SMALLEST} (all {many} {'pairs of classes' if pairs else 'machines'} together)"
            )
        if padded and evidence.get("model") is None:
            text = f"By liblinear's objective, which penalises the offset: {text[0].lower()}{text[1:]}"
        more = ""
        if "certain_labels" in figures:
            sure = f"{figures['certain_labels']} of {figures['labels']}"
            more = f"; {sure} training labels are provably those of the exact optimum"
        elif "prediction_error" in figures:
            more = f"; every prediction is within {figures['prediction_error']:.2g} times √k(x, x) of the exact one"
        if "nu" in evidence:
            more += f"; its multipliers add up to the fraction nu = {evidence['nu']:g} of the weights"
        return text[:-1] + more + "." if more else text

    def details(self, figures: Figures) -> str:
        if "machines" not in figures:
            return line(figures)
        return super().details(figures)


def _share(model: Model, nu: float) -> Check:
    """Whether the multipliers of every machine add up to the share ν of its weights, to a billionth.

    Then the machine is also that of ν: with Σ|β| = νΣs the gap of the problem in which the margin (or the tube) has the
    price ν is the same number, up to the square of the margin.
    """
    off = 0.0
    for k, target in enumerate(model.targets):
        all_of_them = math.fsum(target.weights)
        off = max(off, abs(math.fsum(np.abs(model.dual[:, model.columns(k)]).ravel()) - nu * all_of_them) / all_of_them)
    return Check("the multipliers add up to the fraction nu of the weights", off <= 1e-9, f"off by {off:.1g}")


def _machine_figures(
    data: Data, model: Model, features: FeatureMap, plain: Ball, gap: float
) -> dict[str, ProvedNumber]:
    """What fits that are stated as sums (support vector machines, kernel ridge) say besides."""
    objective = model.objectives[0]
    if objective.classes is None and any(o.free for o in model.objectives):
        return {}  # a free offset may have more than one best value
    if objective.classes is None:
        weakest = min(o.convexity for o in model.objectives)
        return {"prediction_error": upper(np.sqrt(Ball(2.0 * gap) / weakest))}
    figures: dict[str, ProvedNumber] = {"machines": equal(len(model.targets))}
    if isinstance(features, ColumnMap):
        return figures | {"support": equal(int(np.count_nonzero(np.any(model.dual != 0.0, axis=1))))}
    cases, violation, codes = np.zeros(3, dtype=int), 0.0, objective.codes(np.asarray(data.y))
    for k, (target, pair) in enumerate(zip(model.targets, objective.machines)):
        rows = np.flatnonzero((codes == pair[0]) | (codes == pair[1]) | (pair[1] is None))
        margin = floats((plain[rows, k] + ball(model.intercept[k], like=plain)) * target.y[rows])
        counts, worst = kkt_cases(-(model.dual[:, k] * target.y)[rows], target.weights[rows], margin)
        cases, violation = cases + counts, max(violation, worst)
    names = ("multipliers_zero", "multipliers_inside", "multipliers_at_cost")
    return figures | {n: equal(int(c)) for n, c in zip(names, cases)} | {"largest_violation": upper(violation)}


def kkt_cases(alpha: Array, cost: Array, margin: Ball) -> tuple[Array, float]:
    """How many multipliers of the hinge are 0, inside, at the cost; and the largest violation of their condition."""
    matters = cost > 0.0
    at_cost = matters & (alpha >= cost * (1.0 - _AT_BOUND))
    zero = ~at_cost & (alpha <= 0.0)
    inside = ~at_cost & ~zero
    short, over = np.maximum(0.0, 1.0 - margin.lower), np.maximum(0.0, margin.upper - 1.0)
    wrong = np.where(zero, short, np.where(at_cost, over, np.maximum(short, over)))
    worst = float(np.max(wrong[matters], initial=0.0))
    return np.array([zero.sum(), inside.sum(), at_cost.sum()]), float(np.nextafter(worst, np.inf))


def _total(parts: list[Ball]) -> Ball:
    total = parts[0]
    for part in parts[1:]:
        if part.mid != 0 or part.rad != 0:  # adding nothing rounds nothing: no loss keeps a gap of zero
            total = total + part
    return total


def witness_scores(data: Data, evidence: Evidence) -> Array:
    """Scores of the witness, as floats."""
    W = np.atleast_2d(np.asarray(evidence["witness_coef"], dtype=float))
    return np.asarray(np.asarray(data.X @ W.T) + np.asarray(evidence["witness_intercept"], dtype=float))


def changed(mine: Array, witness: Array) -> dict[str, ProvedNumber]:
    """How many training labels differ between a model and the better one."""
    labels = [z[:, 0] > 0 if z.shape[1] == 1 else z.argmax(axis=1) for z in (mine, witness)]
    return {"changed": equal(int(np.sum(labels[0] != labels[1]))), "rows": equal(len(mine))}
