"""Why is this no end of a perceptron's run? The mistakes are added up anew, with each of the usual slips.

Weights without a list of mistakes are asked for separation alone: their negative, another offset or other columns may
separate the classes where they do not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from certifit._types import Array, Record
from certifit.certificates import Certificate, Data, issue
from certifit.certificates.perceptron import problem
from certifit.certificates.separation import padded
from certifit.geometry import separability
from certifit.judge._findings import Diagnosis, Finding, other_orders


@dataclass(frozen=True)
class _Run:
    """One class against the rest: what its mistakes add up to, and the weights that were stated."""

    c: int
    name: Any
    X: Array
    signs: Array
    eta: float
    offset: bool
    part: Record

    @property
    def start(self) -> Array:
        return np.asarray(self.part["start"], dtype=float)

    @property
    def stated(self) -> Array:
        return np.asarray(self.part["coef"], dtype=float)

    def sums(self, shift: int = 0) -> tuple[Array, Array]:
        """η Σ x̃ over the mistakes on rows of the class, and on the others."""
        rows, times = np.asarray(self.part["mistaken"], dtype=int) + shift, np.asarray(self.part["times"], dtype=float)
        if np.any(rows < 0) or np.any(rows >= len(self.X)):
            raise IndexError("mistakes on rows that do not exist")
        weights = np.asarray(self.part["class_weights"], dtype=float)
        up = self.signs[rows] > 0
        steps = self.eta * times * np.where(up, weights[1], weights[0])
        return self.X[rows[up]].T @ steps[up], self.X[rows[~up]].T @ steps[~up]

    @property
    def end(self) -> Array:
        """Where the mistakes lead."""
        up, down = self.sums()
        return self.start + up - down

    @property
    def reach(self) -> float:
        """The size of all steps together."""
        rows = np.asarray(self.part["mistaken"], dtype=int)
        size = np.abs(self.X[rows]).T @ np.asarray(self.part["times"], dtype=float)
        return float(np.max(np.abs(self.start) + self.eta * size, initial=0.0)) + 1e-300

    def near(self, other: Array, tol: float) -> bool:
        return bool(np.all(np.abs(self.stated - other) <= tol * self.reach))

    def separates(self, weights: Array) -> Certificate:
        """That no row is wrong with these weights; it does not hold where one is."""
        rows = self.X[:, :-1] if self.offset else self.X
        told = {"verdict": "separable", "fit_intercept": self.offset, "weights": weights}
        return issue("separability", Data.of(rows, self.signs), told)


def _runs(c: Certificate, data: Data) -> list[_Run]:
    classes, labels, offset = c.evidence["classes"], np.asarray(data.y), bool(c.evidence["fit_intercept"])
    X, targets = padded(data.X, offset), classes[1:] if len(classes) == 2 else classes
    return [
        _Run(k, name, X, np.where(labels == name, 1.0, -1.0), float(c.evidence["eta0"]), offset, problem(c.evidence, k))
        for k, name in enumerate(targets)
    ]


Wrong = Callable[[_Run], "Array | None"]


def _last(run: _Run, value: float) -> Array | None:
    """The right weights with another offset."""
    return np.append(run.end[:-1], value) if run.offset else None


def _own_step(factor: float | None) -> Wrong:
    """Steps of another size; None leaves η out."""

    def wrong(run: _Run) -> Array | None:
        size = 1.0 / run.eta if factor is None else factor
        return run.start + size * (run.end - run.start) if size != 1.0 else None

    return wrong


SLIPS: tuple[tuple[str, str, Wrong], ...] = (
    ("wrong sign", "Every step has the opposite sign: is it w − yx instead of w + yx, or are the classes swapped?",
     lambda r: 2 * r.start - r.end),
    ("labels 0/1 for −1/+1", "Mistakes on rows of the first class moved nothing: are labels 0 and 1 in a formula for "
     "−1 and +1?", lambda r: r.start + r.sums()[0]),
    ("label left out", "Every mistake added its row, whatever the label: is it w + x instead of w + yx?",
     lambda r: r.start + sum(r.sums())),
    ("step left out", "The weights are right for η = 1: did you leave the step η out?", _own_step(None)),
    ("step doubled", "Every step is twice as long as η: is a factor 2 too many?", _own_step(2.0)),
    ("step halved", "Every step is half as long as η: is a factor ½ too many?", _own_step(0.5)),
    ("offset not moved", "The weights are right, but the offset stayed where it was: b becomes b + ηy as well.",
     lambda r: _last(r, r.start[-1])),
    ("offset of the wrong sign", "The weights are right, but the offset moved the other way: b becomes b + ηy.",
     lambda r: _last(r, 2 * r.start[-1] - r.end[-1])),
    ("offset without the step", "The weights are right, but the offset moved by y: b becomes b + ηy.",
     lambda r: _last(r, r.start[-1] + (r.end[-1] - r.start[-1]) / r.eta)),
    ("start left out", "The steps are right, but they begin at zero and not at the start.",
     lambda r: r.end - r.start if np.any(r.start) else None),
    ("counted from 1", "The weights are right when rows are counted from 1: count them from 0.",
     lambda r: r.start + r.sums(-1)[0] - r.sums(-1)[1]),
)  # fmt: skip


def diagnose_perceptron(c: Certificate, data: Data, tol: float) -> Diagnosis:
    """Right where the mistakes lead to the weights, and no row is wrong any more (if some line has none wrong)."""
    runs = _runs(c, data)
    led = all(run.near(run.end, tol) for run in runs)
    proved = c if c.holds or not led else _with(c, data, [run.end for run in runs])
    if led and proved.holds:
        unfinished = [finding for run in runs for finding in _unfinished(run, proved, tol)]
        return Diagnosis(c, not unfinished, unfinished)
    found: list[Finding] = []
    for name, asks, wrong in SLIPS:
        if _explains(wrong, runs, tol):
            ends = [r.start + r.sums(-1)[0] - r.sums(-1)[1] if name == "counted from 1" else r.end for r in runs]
            found.append(Finding(name, asks, _with(c, data, ends, -1 if name == "counted from 1" else 0)))
    if led:
        asks = "The weights are the sum of these steps, but no run can make so many mistakes: count them again."
        found.append(Finding("too many mistakes", asks, c))
    return Diagnosis(c, False, found or [*_miscounted(c, data, runs, tol)])


def _explains(wrong: Wrong, runs: list[_Run], tol: float) -> bool:
    """Whether the stated weights are those with this slip, in every problem, and other than the right ones."""
    differs = False
    for run in runs:
        try:
            other = wrong(run)
        except IndexError:
            return False
        if other is None or not run.near(other, tol):
            return False
        differs = differs or not run.near(run.end, 100 * tol)
    return differs


def _with(c: Certificate, data: Data, ends: list[Array], shift: int = 0) -> Certificate:
    """The certificate of these weights (and rows)."""
    told = dict(c.evidence)
    for k, end in enumerate(ends):
        told[f"coef_{k}"] = end
        told[f"mistaken_{k}"] = np.asarray(told[f"mistaken_{k}"], dtype=int) + shift
    return issue(c.kind, data, told)


def _unfinished(run: _Run, c: Certificate, tol: float) -> Iterator[Finding]:
    """A row that is wrong though some line has none wrong.

    A score of zero is wrong; one that rounding of the weights may have moved across zero is not held against anybody.
    """
    if run.part["verdict"] != "separable" or len(set(run.signs.tolist())) < 2 or run.separates(run.stated).holds:
        return
    scores = run.signs * (run.X @ run.stated)
    wrong = (scores == 0.0) | (scores < -tol * run.reach * np.abs(run.X).sum(axis=1))
    if not np.any(wrong):
        return
    row = int(np.argmin(np.where(wrong, scores, np.inf)))
    if not np.any(run.stated) and not len(run.part["mistaken"]):
        asks = f"No mistake was made on class {run.name} against the rest, whose weights stayed zero: was it missed?"
        yield Finding(f"class {run.name} missed", asks, c)
    else:
        asks = f"Row {row} is still wrong, y(w·x + b) = {scores[row]:.6g}: go on until no row is."
        yield Finding("stopped too early", asks, c)


def _miscounted(c: Certificate, data: Data, runs: list[_Run], tol: float) -> Iterator[Finding]:
    """One mistake more or less on one row leads to the weights that were stated."""
    off = [run for run in runs if not run.near(run.end, tol)]
    if len(off) != 1:
        return
    run = off[0]
    weights = np.asarray(run.part["class_weights"], dtype=float)
    steps = run.eta * run.signs * np.where(run.signs > 0, weights[1], weights[0])
    gap = run.stated - run.end
    times = np.zeros(len(run.X), dtype=int)
    times[np.asarray(run.part["mistaken"], dtype=int)] = np.asarray(run.part["times"], dtype=int)
    for change, words in ((1, "missing from the list"), (-1, "once too often in the list")):
        moved = change * steps[:, None] * run.X
        for i in np.flatnonzero(np.all(np.abs(moved - gap) <= tol * run.reach, axis=1)):
            told, counts = dict(c.evidence), times.copy()
            counts[i] += change
            if counts[i] >= 0:
                rows = np.flatnonzero(counts)
                told |= {f"mistaken_{run.c}": rows, f"times_{run.c}": counts[rows]}
                proof = issue(c.kind, data, told)
                asks = f"The weights are right if a mistake on row {i} is {words}."
                yield Finding("mistakes miscounted", asks, proof)


# weights alone


def diagnose_separation(c: Certificate, data: Data, tol: float) -> Diagnosis:
    """Right where no row is on the wrong side, or where no weights at all do that."""
    X, labels = padded(data.X, False), np.asarray(data.y)
    W, b = np.atleast_2d(np.asarray(c.evidence["coef"])), np.atleast_1d(np.asarray(c.evidence["intercept"]))
    if not c.holds or c.value == 0:
        return Diagnosis(c, bool(c.holds))
    exists = separability(X, labels).certificate
    if not (exists.holds and exists.verdict == "separable"):
        return Diagnosis(c, True)

    def judge(W: Array, b: Array, rows: Array = X) -> Certificate:
        return issue(c.kind, Data.of(rows, labels), {"coef": W, "intercept": b})

    found = [
        Finding(name, asks, proof)
        for name, asks, proof in _other_weights(W, b, X, labels, judge)
        if proof.holds and proof.value == 0
    ]
    return Diagnosis(c, False, found or [_wrong_side(c, W, b, X, labels)])


def _other_weights(
    W: Array, b: Array, X: Array, labels: Array, judge: Callable[..., Certificate]
) -> Iterator[tuple[str, str, Certificate]]:
    asks = "Its negative separates the classes: is it w − yx instead of w + yx, or are the classes swapped?"
    yield "wrong sign", asks, judge(-W, -b)
    if np.any(b):
        yield "offset of the wrong sign", "With −b it separates the classes: is the sign of b wrong?", judge(W, -b)
    if len(W) == 1:
        scores, second = X @ W[0], labels == np.unique(labels)[1]
        middle = -(scores[second].min() + scores[~second].max()) / 2
        name, stays = ("offset not moved", " stayed zero") if not np.any(b) else ("wrong offset", " is wrong")
        asks = f"With the offset {middle:.6g} it separates the classes: the weights are good, and b{stays}."
        yield name, asks, judge(W, np.array([middle]))
    for order in map(list, other_orders(len(W))):
        asks = f"With its lines in the order {order} it separates the classes: classes are sorted."
        yield "classes in another order", asks, judge(W[order], b[order])
    mean, spread = X.mean(axis=0), X.std(axis=0)
    if np.all(spread > 0):
        asks = "It separates the classes after standardising the columns: did you forget to scale back?"
        yield "scaled columns", asks, judge(W, b, (X - mean) / spread)
        asks = "It separates the classes after centring the columns: did you forget to correct the offset?"
        yield "centred columns", asks, judge(W, b, X - mean)


def _wrong_side(c: Certificate, W: Array, b: Array, X: Array, labels: Array) -> Finding:
    classes, own = np.unique(labels, return_inverse=True)
    scores = X @ W.T + b
    scores = np.column_stack([np.zeros(len(X)), scores[:, 0]]) if len(W) == 1 else scores
    wrong = np.argmax(scores, axis=1) != own
    for k, name in enumerate(classes):
        if len(classes) > 2 and np.array_equal(wrong, own == k):
            asks = f"The rows of class {name} are wrong, all of them, and no others: was the class missed?"
            return Finding(f"class {name} missed", asks, c)
    row = int(np.flatnonzero(wrong)[0]) if np.any(wrong) else 0
    asks = f"Row {row} is on the wrong side, though weights exist that separate the classes: go on until no row is."
    return Finding("stopped too early", asks, c)
