"""Why is an answer not the best one? The usual mistakes, tried one after another.

An answer that is optimal for another objective or for other data names its slip, with the proof of that.
With a step size and a number of passes, gradient descent is replayed as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from certifit._objective import Objective
from certifit._trace import Trace
from certifit._types import Array, Matrix, VectorLike, Weights
from certifit.certificates import Certificate, Data, issue
from certifit.glm import GLM
from certifit.judge._by_hand import certify_coefficients, certify_components
from certifit.judge._diagnose_clusters import diagnose_clusters
from certifit.judge._diagnose_conjugate import diagnose_conjugate
from certifit.judge._diagnose_counts import diagnose_counts
from certifit.judge._diagnose_densities import diagnose_density, diagnose_posterior
from certifit.judge._diagnose_machines import TUBES, diagnose_kernel_machine, diagnose_linear_machines, linear_machines
from certifit.judge._diagnose_neighbors import diagnose_neighbors
from certifit.judge._diagnose_networks import diagnose_isotonic, diagnose_network, diagnose_truth_table
from certifit.judge._diagnose_perceptron import diagnose_perceptron, diagnose_separation
from certifit.judge._diagnose_policy import diagnose_policy
from certifit.judge._diagnose_tree import diagnose_tree
from certifit.judge._findings import Candidate, Diagnosis, Finding, dense_rows, explained
from certifit.judge._written_down import objective
from certifit.losses import FamilyLoss, Loss, Softmax, Squared, get_loss
from certifit.losses._families import LINKS
from certifit.regularizers import L1, Regularizer, SquaredL2, Zero
from certifit.solvers.dual import evidence_of


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


def _no_offset(a: Answer) -> Answer | None:
    return replace(a, b=None) if a.b is not None and not np.any(a.b) else None


def _turned(a: Answer) -> Answer | None:
    return replace(a, w=-a.w, b=None if a.b is None else -a.b)


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


def _scaled(a: Answer) -> Answer | None:
    spread = a.X.std(axis=0)
    if not np.all(spread > 0) or (np.allclose(spread, 1) and np.allclose(a.X.mean(axis=0), 0)):
        return None
    return replace(a, X=(a.X - a.X.mean(axis=0)) / spread)


def _centred(a: Answer) -> Answer | None:
    return replace(a, X=a.X - a.X.mean(axis=0)) if a.b is not None else None


def _transposed(a: Answer) -> Answer | None:
    return replace(a, X=a.X.T) if a.X.shape[0] == a.X.shape[1] else None


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
    ("wrong sign", "Its negative is optimal: is a sign wrong, or are the labels swapped?", _turned),
    ("forgotten offset", "It is optimal among models without an offset: did you forget the offset?", _no_offset),
    ("labels 0/1 for −1/+1", "It is optimal for the other coding of the labels: are they 0 and 1, or −1 and +1?",
     _zero_one),
    ("one class ignored", "It is optimal if rows of the first class count for nothing: are labels 0/1 in a formula for "
     "−1/+1?", _only_ones),
    ("scaled columns", "It is optimal for standardised columns: did you forget to scale back?", _scaled),
    ("centred columns", "It is optimal for centred columns: did you forget to correct the offset?", _centred),
    ("transposed matrix", "It is optimal for the transposed matrix: are rows and columns exchanged?", _transposed),
    ("other norm", "It is optimal for the other norm: ‖w‖₁ or ‖w‖²?", _other_norm),
    ("no tube", "It is optimal for ε = 0: did you leave ε out?", _width(0.0)),
    ("2ε for ε", "It is optimal for 2ε: is ε half the width of the tube, or all of it?", _width(2.0)),
    ("ε/2 for ε", "It is optimal for ε/2: is ε half the width of the tube, or all of it?", _width(0.5)),
    ("other loss", "It is optimal for the other loss of its kind: is the loss squared, or is it not?", _other_loss),
)  # fmt: skip


_STRENGTHS = ("half the penalty", "twice the penalty", "sum for mean", "penalty times n", "half the penalty, summed")


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
        if "kernel" in certificate.evidence:
            return diagnose_kernel_machine(certificate, data, tol)
        if linear_machines(certificate):
            return diagnose_linear_machines(certificate, data, tol)
        return _linear(certificate, data, tol, run)
    if certificate.kind in _KINDS:
        return _KINDS[certificate.kind](certificate, data, tol)
    return Diagnosis(certificate, bool(certificate.holds and certificate.figures.get("relative_gap", 0.0) <= tol))


def _answer(told: Objective, c: Certificate, data: Data) -> Answer:
    """What was judged, with weights of classes as weights of rows, and a penalised offset as one more column."""
    weights = None if data.sample_weight is None else np.asarray(data.sample_weight, dtype=float)
    if told.class_weight is not None:
        weights = np.asarray(data.weights) * np.array(told.class_weight)[told.codes(np.asarray(data.y))]
    total = float(np.sum(data.weights if weights is None else weights))
    X, w = dense_rows(data), np.atleast_2d(c.evidence["coef"])
    b = np.atleast_1d(c.evidence["intercept"]) if told.fit_intercept else None
    if b is not None and told.padding is not None:
        X, w, b = np.column_stack([X, np.full(len(X), told.padding)]), np.column_stack([w, b / told.padding]), None
    return Answer(w, b, X, np.asarray(data.y), told.loss, told.regularizer, told.strength / total, weights)


def _linear(c: Certificate, data: Data, tol: float, run: Run | None) -> Diagnosis:
    answer = _answer(Objective.from_dict(c.evidence["objective"]), c, data)
    if c.holds and c.relative_gap <= tol:
        return Diagnosis(c, True)
    candidates = [(name, question, change(answer)) for name, question, change in SLIPS]
    candidates += [
        (f"class {label} left out", f"It is optimal without the rows of class {label}: were they left out?", changed)
        for label, changed in _left_out(answer)
    ]
    replayed = [] if run is None else _replay(c, answer, run)
    found = explained(c, tol, [(n, q, changed.certificate) for n, q, changed in candidates if changed is not None])
    if not found and not replayed:
        found = explained(c, tol, [(name, asks, both.certificate) for name, asks, both in _two(answer)])
    return Diagnosis(c, False, (*replayed, *found))


def _two(a: Answer) -> Iterator[tuple[str, str, Answer]]:
    """A wrong strength together with one other slip: both come with a formula that is copied from elsewhere."""
    for name, asks, change in SLIPS:
        changed = None if name in _STRENGTHS else change(a)
        for factor, also, weaken in SLIPS if changed is not None else ():
            both = weaken(changed) if changed is not None and factor in _STRENGTHS else None
            if both is not None:
                yield f"{name} and {factor}", f"Two slips together. {asks} {also}", both


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
    none = replace(objective_, regularizer=Zero(), strength=0.0)
    holds("no penalty", "The equations hold without a penalty: did you leave λ out?", none)
    holds("wrong sign", "They hold for its negative: is a sign wrong, or are the labels swapped?", objective_, -1.0)
    if isinstance(objective_.loss, FamilyLoss):
        for link in (*LINKS, "canonical"):
            if link != objective_.loss.link:
                other = replace(objective_, loss=replace(objective_.loss, link=link))
                holds("other link", f"The equations hold for the link {link!r}: which one was asked for?", other)
    return Diagnosis(c, False, found)


@dataclass(frozen=True)
class Run:
    """Gradient descent as somebody says that it was done."""

    eta: float
    passes: int
    start: Array | None = None

    @classmethod
    def of(cls, eta: float | None, passes: int | None, trace: Trace | None) -> Run | None:
        """From the step and the number of passes, or from a trace, which holds both and the start."""
        if trace is not None:
            steps = [row.step for row in trace if row.iteration > 0]
            if not steps or not np.all(np.isfinite(steps)) or np.ptp(steps) > 0:
                raise ValueError("A run can be replayed from a trace of gradient descent with a fixed step.")
            start = np.asarray(trace[0].theta, dtype=float) if "theta" in trace.columns else None
            return cls(float(steps[0]), int(trace[-1].iteration), start)
        if eta is None or passes is None:
            return None
        if not (0 < eta < np.inf and passes >= 1):
            raise ValueError(f"eta must be a positive number and passes at least 1, not {eta} and {passes}.")
        return cls(float(eta), int(passes))


def _replay(c: Certificate, a: Answer, run: Run) -> list[Finding]:
    """Gradient descent with this step: after how many passes does it give the answer?"""
    if isinstance(a.loss, FamilyLoss) or not a.loss.smooth or not isinstance(a.regularizer, (SquaredL2, Zero)):
        return []
    J = objective(a.loss, a.regularizer, a.X, a.y, a.lam, fit_intercept=a.b is not None, sample_weight=a.weights)
    goal = a.w.ravel() if a.b is None else np.append(a.w.ravel(), a.b)
    theta = np.zeros(len(goal)) if run.start is None else run.start
    if theta.shape != goal.shape:
        return []
    scale, eta, passes = max(float(np.abs(goal).max()), 1e-300), run.eta, run.passes
    same: list[int] = []
    for step in range(1, passes + 2):
        with np.errstate(all="ignore"):
            theta = theta - eta * J.gradient(theta)
            size = float(np.abs(theta).max())
        if not np.isfinite(size) or size > 1e12 * (1 + scale):
            return [Finding("step too large", f"Gradient descent with η = {eta:g} diverges: take a smaller step.", c)]
        if np.allclose(theta, goal, rtol=1e-6, atol=1e-8 * scale):
            same.append(step)
    if passes in same:
        early = f"Gradient descent with η = {eta:g} is there after {passes} passes: it needs more, or a larger step."
        return [Finding("stopped too early", early, c)]
    if same:
        return [Finding("off by a pass", f"This is gradient descent after {same[-1]} passes, not {passes}.", c)]
    return []


# components


def _components(c: Certificate, data: Data, tol: float) -> Diagnosis:
    U, dense = np.asarray(c.evidence["components"]), dense_rows(data)
    wrong = _variances(c, U, dense, tol)
    if c.holds and c.relative_gap <= tol and wrong is None:
        return Diagnosis(c, True)
    if wrong:
        return Diagnosis(c, False, wrong)
    spread = np.where(dense.std(axis=0) > 0, dense.std(axis=0), 1.0)
    candidates: list[Candidate] = [
        ("scaled columns", "They are the components of the standardised columns: were they meant to be scaled?",
         lambda: certify_components(U, dense / spread)),
        ("not centred", "They are the components of the data without centring: did you subtract the mean?",
         lambda: certify_components(U, np.vstack([dense, -dense]))),
        ("not of length one", "Divided by their lengths they are the components: normalise them.",
         lambda: certify_components(U / np.linalg.norm(U, axis=1, keepdims=True), dense)),
        ("means of rows subtracted", "They are the components after subtracting the mean of each row: subtract that of "
         "each column.", lambda: certify_components(U, _rows_centred(dense))),
    ]  # fmt: skip
    if U.shape[0] == U.shape[1]:
        candidates.append(("transposed", "Their transpose is optimal: are the components rows or columns?",
                           lambda: certify_components(U.T, dense)))  # fmt: skip
    if dense.shape[0] == dense.shape[1]:
        candidates.append(("transposed matrix", "They are the components of the transposed matrix: are rows and "
                           "columns exchanged?", lambda: certify_components(U, dense.T)))  # fmt: skip
    rest = _complement(U, dense)
    if 0 < len(rest) == len(U):
        candidates.append(("smallest for largest", "The directions at right angles to them keep the most variance: did "
                           "you take the smallest eigenvalues?", lambda: certify_components(rest, dense)))  # fmt: skip
    found = explained(c, tol, candidates)
    if not found and 0 < len(U) < min(dense.shape):
        last = np.linalg.svd(dense - dense.mean(axis=0), full_matrices=False)[2][-len(U) :]
        if np.allclose(np.abs(last @ U.T) ** 2 @ np.ones(len(U)), 1.0, atol=1e-6):
            asks = "They are the directions with the least variance: did you take the smallest eigenvalues?"
            found = (Finding("smallest for largest", asks, c),)
    return Diagnosis(c, False, found)


def _rows_centred(X: Array) -> Array:
    """Each row less its mean, beside its negative, so that columns have mean zero as well."""
    rows = X - X.mean(axis=1, keepdims=True)
    return np.vstack([rows, -rows])


def _variances(c: Certificate, U: Array, X: Array, tol: float) -> list[Finding] | None:
    """Slips of stated variances; None where they are those along the components."""
    own = np.square((X - X.mean(axis=0)) @ U.T).sum(axis=0) / max(len(X) - 1, 1)
    stated, n, scale = (
        np.asarray(c.evidence["variances"], dtype=float),
        len(X),
        max(float(own.max(initial=0.0)), 1e-300),
    )

    def same(other: Array) -> bool:
        return bool(np.all(np.abs(stated - other) <= tol * max(float(np.abs(other).max(initial=0.0)), 1e-300)))

    if np.all(np.abs(stated - own) <= tol * scale) or not len(U):
        return None
    slips = [
        ("n for n − 1", "The variances are divided by n: divide by n − 1.", own * (n - 1) / n),
        ("sums for variances", "These are sums of squares: divide by n − 1.", own * (n - 1)),
        ("standard deviations", "These are standard deviations: square them.", np.sqrt(own)),
        ("singular values", "These are singular values of the centred data: square them, and divide by n − 1.",
         np.sqrt(own * (n - 1))),
        ("shares of the variance", "These are shares of the whole variance.", own / X.var(axis=0, ddof=1).sum()),
    ]  # fmt: skip
    return [Finding(name, asks, c) for name, asks, other in slips if same(other)]


def _complement(U: Array, X: Array) -> Array:
    """The principal directions of the data at right angles to all rows of U."""
    rest = np.linalg.svd(U, full_matrices=True)[2][len(U) :]
    return np.linalg.svd((X - X.mean(axis=0)) @ rest.T, full_matrices=False)[2] @ rest


_KINDS: dict[str, Callable[[Certificate, Data, float], Diagnosis]] = {
    "principal-components": _components,
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
