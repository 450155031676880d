"""Why is an answer not the best one? The usual mistakes, tried one after another.

An answer that is optimal for another objective or for other data names its slip, with the proof of that.
With a step size and a number of passes, gradient descent is replayed as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from certifit._objective import Objective
from certifit._trace import Trace
from certifit._types import Array, Matrix, VectorLike, Weights
from certifit.certificates import Certificate, Data, issue
from certifit.glm import GLM
from certifit.judge._by_hand import certify_coefficients
from certifit.judge._diagnose_clusters import diagnose_clusters
from certifit.judge._diagnose_components import diagnose_components
from certifit.judge._diagnose_conjugate import diagnose_conjugate
from certifit.judge._diagnose_counts import diagnose_counts
from certifit.judge._diagnose_densities import diagnose_density, diagnose_posterior
from certifit.judge._diagnose_machines import TUBES, diagnose_kernel_machine, diagnose_linear_machines, linear_machines
from certifit.judge._diagnose_multitask import diagnose_multitask, joint_penalty
from certifit.judge._diagnose_neighbors import diagnose_neighbors
from certifit.judge._diagnose_networks import diagnose_isotonic, diagnose_network, diagnose_truth_table
from certifit.judge._diagnose_perceptron import diagnose_perceptron, diagnose_separation
from certifit.judge._diagnose_policy import diagnose_policy
from certifit.judge._diagnose_tree import diagnose_tree
from certifit.judge._findings import Candidate, Diagnosis, Finding, dense_rows, explained, scalings
from certifit.judge._replay import Run, replay
from certifit.judge._strength import STRENGTHS, fitting_strengths
from certifit.judge._written_down import objective
from certifit.losses import FamilyLoss, Loss, Softmax, Squared, get_loss
from certifit.losses._families import LINKS
from certifit.regularizers import L1, Regularizer, SquaredL2, Zero
from certifit.solvers.dual import evidence_of
from certifit.svm._crammer_singer import padded


@dataclass(frozen=True)
class Answer:
    """Coefficients with the objective and the data they are meant for."""

    w: Array
    b: Array | None
    X: Array
    y: Array
    loss: Loss
    regularizer: Regularizer
    lam: float
    weights: Array | None = None

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.y)

    def coded(self) -> Array:
        """The targets as the loss takes them: −1/+1 for two classes, 0 … K − 1 for several, else numbers."""
        if self.loss.targets not in ("sign", "class"):
            return self.y.astype(float)
        codes = np.unique(self.y, return_inverse=True)[1]
        return codes if self.loss.targets == "class" else np.where(codes == 1, 1.0, -1.0)

    def certificate(self) -> Certificate:
        """How far it is from the best, as `certify_coefficients` says; for a family of GLMs beside our own fit."""
        if isinstance(self.loss, FamilyLoss):
            return self._of_family(self.loss)
        several = isinstance(self.loss, Softmax)
        w = self.w if several else self.w[0]
        b = None if self.b is None else self.b if several else float(self.b[0])
        return certify_coefficients(
            w, b, self.X, self.y, self.loss, self.regularizer, self.lam, sample_weight=self.weights
        )

    def _of_family(self, loss: FamilyLoss) -> Certificate:
        if not isinstance(self.regularizer, (SquaredL2, Zero)):
            raise ValueError("a family of GLMs has a squared penalty here")
        factor = self.regularizer.factor if isinstance(self.regularizer, SquaredL2) else 0.0
        alpha = 2.0 * self.lam * factor
        best = GLM(loss.family, loss.link, alpha=alpha, fit_intercept=self.b is not None, tol=1e-9)
        proved = best.fit(self.X, self.y, self.weights).certificate_
        own = {"coef": self.w, "intercept": np.zeros(1) if self.b is None else self.b}
        beside = {"witness_coef": proved.evidence["coef"], "witness_intercept": proved.evidence["intercept"]}
        return issue(proved.kind, Data.of(self.X, self.y, self.weights), {**proved.evidence, **own, **beside})


Slip = tuple[str, str, Callable[[Answer], Answer | None]]


def _strength(factor: Callable[[Answer], float]) -> Callable[[Answer], Answer | None]:
    return lambda a: replace(a, lam=a.lam * factor(a)) if a.lam > 0 and factor(a) != 1 else None


def _padded(a: Answer) -> Answer | None:
    """The offset as one more coefficient, which the penalty then reaches."""
    if a.b is None or a.lam == 0 or not isinstance(a.regularizer, (SquaredL2, L1)):
        return None
    return replace(a, X=np.column_stack([a.X, np.ones(a.n)]), w=np.column_stack([a.w, a.b]), b=None)


def _zero_one(a: Answer) -> Answer | None:
    """Squared loss on labels 0/1 where −1/+1 were meant, or the other way round."""
    values = np.unique(a.y)
    if not isinstance(a.loss, Squared) or len(values) != 2:
        return None
    if values.tolist() == [-1.0, 1.0]:
        return replace(a, y=(a.y + 1) / 2)
    return replace(a, y=2 * a.y - 1) if values.tolist() == [0.0, 1.0] else None


def _only_ones(a: Answer) -> Answer | None:
    """log(1 + exp(−yz)) with y = 0 for the first class: those rows say nothing."""
    if a.loss.targets != "sign" or a.b is not None:
        return None
    ones = (a.y == np.unique(a.y)[-1]).astype(float)
    share = float(ones.mean())
    return replace(a, weights=ones if a.weights is None else ones * a.weights, lam=a.lam / share)


def _scaled(a: Answer) -> Iterator[tuple[str, str, Answer]]:
    """Columns in other units: coefficients left in them, or scaled back after a penalty that saw the others."""
    for name, words, rows in scalings(a.X):
        yield name, f"It is optimal for {words}: did you forget to scale back?", replace(a, X=rows)
        scale, shift = a.X.std(axis=0) / rows.std(axis=0), a.X.mean(axis=0)
        if a.lam > 0 and a.b is not None and name == "scaled columns":
            back = replace(a, X=rows, w=a.w * scale, b=a.b + a.w @ shift)
            asks = f"It is optimal if the penalty is on coefficients for {words}: were they meant to be scaled?"
            yield "penalty on scaled columns", asks, back


def _other_norm(a: Answer) -> Answer | None:
    if a.lam == 0 or not isinstance(a.regularizer, (SquaredL2, L1)):
        return None
    return replace(a, regularizer=L1() if isinstance(a.regularizer, SquaredL2) else SquaredL2(1.0))


_PARTNERS = {"hinge": "squared_hinge", "squared_hinge": "hinge", "squared": "absolute", "absolute": "squared",
             "logistic": "exponential", "exponential": "logistic"}  # fmt: skip


def _other_loss(a: Answer) -> Answer | None:
    if isinstance(a.loss, TUBES):
        other = TUBES[1] if isinstance(a.loss, TUBES[0]) else TUBES[0]
        return replace(a, loss=other(a.loss.epsilon))
    return replace(a, loss=get_loss(_PARTNERS[a.loss.name])) if a.loss.name in _PARTNERS else None


def _width(factor: float) -> Callable[[Answer], Answer | None]:
    """A tube of another width."""

    def changed(a: Answer) -> Answer | None:
        if not isinstance(a.loss, TUBES) or not a.loss.epsilon:
            return None
        return replace(a, loss=replace(a.loss, epsilon=factor * a.loss.epsilon))

    return changed


def _left_out(a: Answer) -> Iterator[tuple[Any, Answer]]:
    """Fits to all classes but one (softmax: its line of weights is judged with the others)."""
    if a.loss.targets == "class":
        labels = np.unique(a.y)
        for k, label in enumerate(labels):
            rows, lines = a.y != label, np.arange(len(labels)) != k
            if len(labels) > 2 and a.b is not None:
                weights = None if a.weights is None else a.weights[rows]
                yield (
                    f"{label:g}" if isinstance(label, float) else label,
                    replace(a, X=a.X[rows], y=a.y[rows], w=a.w[lines], b=a.b[lines], weights=weights),
                )


SLIPS: tuple[Slip, ...] = (
    ("penalised offset", "It is optimal for a penalty that includes the offset: did you penalise the offset?", _padded),
    ("no penalty", "It is optimal without a penalty: did you leave λ out?", _strength(lambda a: 0.0)),
    ("half the penalty", "It is optimal for λ/2: is a factor ½ or 2 missing in the loss or in the penalty?",
     _strength(lambda a: 0.5)),
    ("twice the penalty", "It is optimal for 2λ: is a factor ½ or 2 too many in the loss or in the penalty?",
     _strength(lambda a: 2.0)),
    ("sum for mean", "It is optimal for λ/n: did you add up the losses instead of averaging them?",
     _strength(lambda a: 1.0 / a.n)),
    ("penalty times n", "It is optimal for λn: did you multiply the penalty by n, or divide the mean by n again?",
     _strength(lambda a: float(a.n))),
    ("half the penalty, summed", "It is optimal for λ/(2n): did you add up the losses, with a factor ½ besides?",
     _strength(lambda a: 0.5 / a.n)),
    ("wrong sign", "Its negative is optimal: is a sign wrong, or are the labels swapped?",
     lambda a: replace(a, w=-a.w, b=None if a.b is None else -a.b)),
    ("forgotten offset", "It is optimal among models without an offset: did you forget the offset?",
     lambda a: replace(a, b=None) if a.b is not None and not np.any(a.b) else None),
    ("labels 0/1 for −1/+1", "It is optimal for the other coding of the labels: are they 0 and 1, or −1 and +1?",
     _zero_one),
    ("one class ignored", "It is optimal if rows of the first class count for nothing: are labels 0/1 in a formula for "
     "−1/+1?", _only_ones),
    ("centred columns", "It is optimal for centred columns: did you forget to correct the offset?",
     lambda a: replace(a, X=a.X - a.X.mean(axis=0)) if a.b is not None else None),
    ("transposed matrix", "It is optimal for the transposed matrix: are rows and columns exchanged?",
     lambda a: replace(a, X=a.X.T) if a.X.shape[0] == a.X.shape[1] else None),
    ("other norm", "It is optimal for the other norm: ‖w‖₁ or ‖w‖²?", _other_norm),
    ("no tube", "It is optimal for ε = 0: did you leave ε out?", _width(0.0)),
    ("2ε for ε", "It is optimal for 2ε: is ε half the width of the tube, or all of it?", _width(2.0)),
    ("ε/2 for ε", "It is optimal for ε/2: is ε half the width of the tube, or all of it?", _width(0.5)),
    ("other loss", "It is optimal for the other loss of its kind: is the loss squared, or is it not?", _other_loss),
)  # fmt: skip


def _with_strength(a: Answer, least: int) -> tuple[str, str, Answer] | None:
    """A strength for which the answer may be optimal; None where fewer than ``least`` equations would say so.

    One coefficient alone satisfies its only equation for some λ: that one has to be a usual multiple.
    """
    asked = a.lam > 0 and not isinstance(a.regularizer, Zero)
    penalty = a.regularizer if asked else SquaredL2(1.0)
    total = np.ones(a.n) if a.weights is None else a.weights
    try:
        found = fitting_strengths(a.loss, penalty, a.w, a.b, a.X, a.coded(), total / total.sum())
    except TypeError:  # a penalty without a subgradient
        return None
    if found is None:
        return None
    if not asked:
        lam = found.low
        asks = f"It is optimal with a penalty λ‖w‖², λ = {lam:.4g}: did you add one that was not asked for?"
        return (
            ("penalty not asked for", asks, replace(a, lam=lam, regularizer=penalty)) if found.equations > 1 else None
        )
    lam, words = found.named(a.lam, a.n)
    if words is None and found.equations < least:
        return None
    changed = replace(a, lam=lam)
    if not np.any(a.w):
        return "another penalty", f"It is zero, which is optimal from λ = {lam:.4g} on, not for {a.lam:.4g}.", changed
    which = "" if words is None else f"which is {words}, "
    asks = f"It is optimal for λ = {lam:.4g}, {which}not {a.lam:.4g}: is a factor or a power wrong in the objective?"
    return STRENGTHS.get(words or "", "another penalty"), asks, changed


def diagnose(
    certificate: Certificate,
    X: Matrix,
    y: VectorLike | None = None,
    sample_weight: Weights = None,
    *,
    tol: float = 1e-5,
    eta: float | None = None,
    passes: int | None = None,
    trace: Trace | None = None,
) -> Diagnosis:
    """Try the usual mistakes on an answer that was certified; see `Certificate.diagnose`."""
    run = Run.of(eta, passes, trace)
    if not hasattr(X, "toarray") and np.ndim(X) == 1:  # one column, as `certify_density` takes it
        X = np.asarray(X)[:, None]
    verdict = certificate.verify(X, y, sample_weight)
    if not verdict.same_data:
        raise ValueError(verdict.reason)
    data = Data.of(X, y, sample_weight)
    if certificate.kind in ("duality", "local", "least-squares"):
        if certificate.holds and certificate.relative_gap <= tol:
            return Diagnosis(certificate, True)
        if "kernel" in certificate.evidence:
            return diagnose_kernel_machine(certificate, data, tol)
        if linear_machines(certificate):
            return diagnose_linear_machines(certificate, data, tol)
        if joint_penalty(certificate):
            return diagnose_multitask(certificate, data, tol)
        return _linear(certificate, data, tol, run)
    if certificate.kind in _KINDS:
        return _KINDS[certificate.kind](certificate, data, tol)
    return Diagnosis(certificate, bool(certificate.holds and certificate.figures.get("relative_gap", 0.0) <= tol))


def _answers(c: Certificate, data: Data) -> list[Answer]:
    """What was judged, one answer for each target that has a problem of its own.

    Weights of classes become weights of rows, and a penalised offset one more column.
    """
    told, W, X = c.evidence["objective"], np.atleast_2d(c.evidence["coef"]), dense_rows(data)
    offsets = np.broadcast_to(np.atleast_1d(c.evidence["intercept"]), (len(W),))
    objectives = [Objective.from_dict(o) for o in ([told] if isinstance(told, Mapping) else told)]
    parts = [slice(None)] if objectives[0].loss.targets == "class" else [slice(k, k + 1) for k in range(len(W))]
    found = []
    for k, part in enumerate(parts):
        o, labels = objectives[min(k, len(objectives) - 1)], np.asarray(data.y)
        weights = None if data.sample_weight is None else np.asarray(data.sample_weight, dtype=float)
        if o.class_weight is not None:
            weights = np.asarray(data.weights) * np.array(o.class_weight)[o.codes(labels)]
        y = labels if o.loss.targets in ("sign", "class") else o.encode(labels)[k].y
        rows, w, b = X, W[part], offsets[part] if o.fit_intercept else None
        if b is not None and o.padding is not None:
            rows, w, b = padded(X, o.padding), np.column_stack([w, b / o.padding]), None
        total = float(np.sum(data.weights if weights is None else weights))
        found.append(Answer(w, b, rows, y, o.loss, o.regularizer, o.strength / total, weights))
    return found


def _linear(c: Certificate, data: Data, tol: float, run: Run | None) -> Diagnosis:
    answers = _answers(c, data)
    replayed = [] if run is None or len(answers) > 1 else _replayed(c, answers[0], run)
    found = explained(c, tol, _together(answers, _one))
    if not found and not replayed:
        found = explained(c, tol, _together(answers, _two))
    return Diagnosis(c, False, (*replayed, *found))


def _together(answers: list[Answer], slips: Callable[[Answer], Iterator[tuple[str, str, Answer]]]) -> list[Candidate]:
    """Slips that make sense for all targets; their proof is the one with the largest gap."""
    each = [{name: (asks, changed) for name, asks, changed in slips(a)} for a in answers]

    def judge(name: str) -> Callable[[], Certificate]:
        return lambda: max((some[name][1].certificate() for some in each), key=_shortfall)

    return [(name, asks, judge(name)) for name, (asks, _) in each[0].items() if all(name in some for some in each)]


def _shortfall(c: Certificate) -> float:
    return float(c.figures.get("relative_gap", np.inf)) if c.holds else np.inf


def _one(a: Answer) -> Iterator[tuple[str, str, Answer]]:
    """The answer under each single slip that makes sense for it."""
    for name, asks, change in SLIPS:
        changed = change(a)
        if changed is not None:
            yield name, asks, changed
    other = _with_strength(a, 2)
    if other is not None and other[0] not in STRENGTHS.values():
        yield other
    yield from _scaled(a)
    for label, changed in _left_out(a):
        asks = f"It is optimal without the rows of class {label}: were they left out?"
        yield f"class {label} left out", asks, changed


def _two(a: Answer) -> Iterator[tuple[str, str, Answer]]:
    """A wrong strength together with one other slip: both come with a formula that is copied from elsewhere."""
    for name, asks, changed in _one(a) if a.lam > 0 else ():
        both = (
            None
            if name in (*STRENGTHS.values(), "no penalty", "another penalty", "penalty not asked for")
            else _with_strength(changed, 3)
        )
        if both is not None:
            yield f"{name} and {both[0]}", f"Two slips together. {asks} {both[1]}", both[2]


def _replayed(c: Certificate, a: Answer, run: Run) -> list[Finding]:
    """What gradient descent with this step says, for objectives that have a gradient."""
    if isinstance(a.loss, FamilyLoss) or not a.loss.smooth or not isinstance(a.regularizer, (SquaredL2, Zero)):
        return []
    J = objective(a.loss, a.regularizer, a.X, a.y, a.lam, fit_intercept=a.b is not None, sample_weight=a.weights)
    return replay(c, J, a.w.ravel() if a.b is None else np.append(a.w.ravel(), a.b), run)


def _equations(c: Certificate, data: Data, tol: float) -> Diagnosis:
    """Likelihood equations of a family without a proved gap: those of another strength, sign or link hold instead."""
    if c.holds:
        return Diagnosis(c, True)
    told, w, b = c.evidence["objective"], np.asarray(c.evidence["coef"]), np.asarray(c.evidence["intercept"])
    n, objective_, found = float(np.sum(data.weights)), Objective.from_dict(told), []

    def holds(name: str, asks: str, other: Objective, factor: float = 1.0) -> None:
        judged = issue("stationary", data, evidence_of(other, factor * w, factor * b))
        if judged.holds:
            found.append(Finding(name, asks, judged))

    for name, factor in (("λ/2", 0.5), ("2λ", 2.0), ("λ/n", 1 / n), ("λn", n)):
        asks = f"The equations hold for {name}: is the loss a sum or a mean, with ½ or without?"
        holds(f"{name} for λ", asks, replace(objective_, strength=objective_.strength * factor))
    answer = _answers(c, data)[0]
    other = _with_strength(answer, 2)
    if other is not None and other[0] == "another penalty":
        holds(other[0], other[1].replace("It is optimal", "The equations hold"),
              replace(objective_, strength=objective_.strength * other[2].lam / answer.lam))  # fmt: skip
    none = replace(objective_, regularizer=Zero(), strength=0.0)
    holds("no penalty", "The equations hold without a penalty: did you leave λ out?", none)
    holds("wrong sign", "They hold for its negative: is a sign wrong, or are the labels swapped?", objective_, -1.0)
    if isinstance(objective_.loss, FamilyLoss):
        for link in (*LINKS, "canonical"):
            if link != objective_.loss.link:
                other = replace(objective_, loss=replace(objective_.loss, link=link))
                holds("other link", f"The equations hold for the link {link!r}: which one was asked for?", other)
    return Diagnosis(c, False, found)


_KINDS: dict[str, Callable[[Certificate, Data, float], Diagnosis]] = {
    "principal-components": diagnose_components,
    "stationary": _equations,
    "tree": lambda c, data, tol: diagnose_tree(c, data),
    "clustering": diagnose_clusters,
    "policy": diagnose_policy,
    "perceptron": diagnose_perceptron,
    "training-errors": diagnose_separation,
    "neighbors": diagnose_neighbors,
    "finite-bayes": diagnose_posterior,
    "conjugate-posterior": diagnose_conjugate,
    "network-gradient": diagnose_network,
    "truth-table": diagnose_truth_table,
    "isotonic": diagnose_isotonic,
    **dict.fromkeys(("kernel-density", "histogram", "maximum-likelihood"), diagnose_density),
    **dict.fromkeys(
        ("gaussian-counts", "smoothed-counts", "mixed-counts", "complement-counts", "class-centres"), diagnose_counts
    ),
}
