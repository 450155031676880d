"""Why is an answer not the best one? The usual slips, tried one after another.

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
from certifit._types import Array, Matrix
from certifit.certificates import Certificate, Data, issue
from certifit.judge._by_hand import certify_coefficients, certify_components, certify_dual
from certifit.judge._diagnose_clusters import diagnose_clusters
from certifit.judge._diagnose_policy import diagnose_policy
from certifit.judge._findings import Candidate, Diagnosis, Finding, explained
from certifit.judge._written_down import objective
from certifit.kernels import rebuild
from certifit.losses import Loss, Softmax, Squared
from certifit.regularizers import L1, Regularizer, SquaredL2, Zero


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
        """How far it is from the best, as `certify_coefficients` says."""
        several = isinstance(self.loss, Softmax)
        w = self.w if several else self.w[0]
        b = None if self.b is None else self.b if several else float(self.b[0])
        return certify_coefficients(
            w, b, self.X, self.y, self.loss, self.regularizer, self.lam, sample_weight=self.weights
        )


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
    from certifit.losses import get_loss

    return replace(a, loss=get_loss(_PARTNERS[a.loss.name])) if a.loss.name in _PARTNERS else None


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
    ("other loss", "It is optimal for the other loss of its kind: is the loss squared, or is it not?", _other_loss),
)  # fmt: skip


def diagnose(
    certificate: Certificate,
    X: Matrix,
    y: Any = None,
    sample_weight: Any = None,
    *,
    tol: float = 1e-5,
    eta: float | None = None,
    passes: int | None = None,
    trace: Trace | None = None,
) -> Diagnosis:
    """Try the usual slips on an answer that was judged; see `Certificate.diagnose`."""
    run = Run.of(eta, passes, trace)
    verdict = certificate.verify(X, y, sample_weight)
    if not verdict.same_data:
        raise ValueError(verdict.reason)
    data = Data.of(X, y, sample_weight)
    if certificate.kind in ("duality", "local", "least-squares"):
        if "support" in certificate.evidence:
            return _dual(certificate, data, tol)
        return _linear(certificate, data, tol, run)
    if certificate.kind == "principal-components":
        return _components(certificate, data, tol)
    if certificate.kind == "tree":
        return _tree(certificate, data)
    if certificate.kind == "clustering":
        return diagnose_clusters(certificate, data, tol)
    if certificate.kind == "policy":
        return diagnose_policy(certificate, data, tol)
    raise ValueError(f"A certificate of kind {certificate.kind!r} cannot be diagnosed: its claim holds or does not.")


def _dense(data: Data) -> Array:
    return data.X.toarray() if hasattr(data.X, "toarray") else np.asarray(data.X, dtype=float)


def _linear(c: Certificate, data: Data, tol: float, run: Run | None) -> Diagnosis:
    told, total = Objective.from_dict(c.evidence["objective"]), float(np.sum(data.weights))
    answer = Answer(
        np.atleast_2d(c.evidence["coef"]),
        np.atleast_1d(c.evidence["intercept"]) if told.fit_intercept else None,
        _dense(data), np.asarray(data.y), told.loss, told.regularizer, told.strength / total,
        None if data.sample_weight is None else np.asarray(data.sample_weight, dtype=float),
    )  # fmt: skip
    if c.holds and c.relative_gap <= tol:
        return Diagnosis(c, True)
    candidates = [(name, question, change(answer)) for name, question, change in SLIPS]
    candidates += [
        (f"class {label} left out", f"It is optimal without the rows of class {label}: were they left out?", changed)
        for label, changed in _left_out(answer)
    ]
    replayed = [] if run is None else _replay(c, answer, run)
    found = explained(c, tol, [(n, q, changed.certificate) for n, q, changed in candidates if changed is not None])
    return Diagnosis(c, False, (*replayed, *found))


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
    if isinstance(a.loss, Softmax) or not a.loss.smooth or not isinstance(a.regularizer, (SquaredL2, Zero)):
        return []
    J = objective(a.loss, a.regularizer, a.X, a.y, a.lam, fit_intercept=a.b is not None, sample_weight=a.weights)
    goal = a.w[0] if a.b is None else np.append(a.w[0], a.b[0])
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


# support vector machines and components


def _dual(c: Certificate, data: Data, tol: float) -> Diagnosis:
    if c.holds and c.relative_gap <= tol:
        return Diagnosis(c, True)
    told = Objective.from_dict(c.evidence["objective"])
    kernel = rebuild(c.evidence["kernel"])
    alpha = np.zeros(len(np.asarray(data.y)))
    alpha[np.asarray(c.evidence["support"], dtype=int)] = np.abs(np.asarray(c.evidence["dual"])).ravel()
    C, n = 1.0 / told.strength if told.class_weight is None else told.class_weight[0], len(alpha)
    factors = {"C/2": 0.5, "2C": 2.0, "C/n": 1.0 / n, "nC": float(n)}

    def judge(cost: float, labels: Array) -> Callable[[], Certificate]:
        return lambda: certify_dual(alpha, data.X, labels, cost, kernel)

    labels = np.asarray(data.y)
    first, second = np.unique(labels)
    candidates: list[Candidate] = [
        (f"{name} for C", f"It is optimal for {name}: is the penalty on the slack a sum or a mean, with ½ or without?",
         judge(C * factor, labels)) for name, factor in factors.items()
    ]  # fmt: skip
    swapped = np.where(labels == first, second, first)
    candidates.append(("labels swapped", "It is optimal with the labels exchanged.", judge(C, swapped)))
    return Diagnosis(c, False, explained(c, tol, candidates))


def _components(c: Certificate, data: Data, tol: float) -> Diagnosis:
    if c.holds and c.relative_gap <= tol:
        return Diagnosis(c, True)
    U, dense = np.asarray(c.evidence["components"]), _dense(data)
    spread = np.where(dense.std(axis=0) > 0, dense.std(axis=0), 1.0)
    candidates: list[Candidate] = [
        ("scaled columns", "They are the components of the standardised columns: were they meant to be scaled?",
         lambda: certify_components(U, dense / spread)),
        ("not centred", "They are the components of the data without centring: did you subtract the mean?",
         lambda: certify_components(U, np.vstack([dense, -dense]))),
    ]  # fmt: skip
    if U.shape[0] == U.shape[1]:
        candidates.append(("transposed", "Their transpose is optimal: are the components rows or columns?",
                           lambda: certify_components(U.T, dense)))  # fmt: skip
    rest = _complement(U, dense)
    if 0 < len(rest) == len(U):
        candidates.append(("smallest for largest", "The directions at right angles to them keep the most variance: did "
                           "you take the smallest eigenvalues?", lambda: certify_components(rest, dense)))  # fmt: skip
    return Diagnosis(c, False, explained(c, tol, candidates))


def _complement(U: Array, X: Array) -> Array:
    """The principal directions of the data at right angles to all rows of U."""
    rest = np.linalg.svd(U, full_matrices=True)[2][len(U) :]
    return np.linalg.svd((X - X.mean(axis=0)) @ rest.T, full_matrices=False)[2] @ rest


def _tree(c: Certificate, data: Data) -> Diagnosis:
    """Questions that are the best ones by another criterion."""
    if c.holds:
        return Diagnosis(c, True)
    others = {
        "gini": "entropy",
        "entropy": "gini",
        "squared_error": "absolute_error",
        "absolute_error": "squared_error",
    }
    name = others.get(str(c.evidence["criterion"]), "gini")
    other = issue("tree", data, {**c.evidence, "criterion": name})
    question = f"Every question is the best one by {name.replace('_', ' ')}: which criterion did you use?"
    return Diagnosis(c, False, (Finding("other criterion", question, other),) if other.holds else ())
