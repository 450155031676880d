"""What may have gone wrong in a network, in a truth table of threshold units, or in an isotonic fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from certifit._types import Array
from certifit.certificates import Certificate, Data, issue
from certifit.judge._findings import Candidate, Diagnosis, Finding, dense_rows

_FLATTER = 0.01  # a slip explains a network if the gradient falls to this fraction of its size
_STRENGTHS: tuple[tuple[str, str, Callable[[int], float]], ...] = (
    ("no penalty", "The gradient vanishes without a penalty: did you leave α out?", lambda n: 0.0),
    ("half the penalty", "The gradient vanishes for α/2: is a factor ½ or 2 missing?", lambda n: 0.5),
    ("twice the penalty", "The gradient vanishes for 2α: is a factor ½ or 2 too many?", lambda n: 2.0),
    ("sum for mean", "The gradient vanishes for α/n: did you divide the penalty by n twice?", lambda n: 1.0 / n),
    ("penalty times n", "The gradient vanishes for αn: did you average the losses but not the penalty?", float),
)


def diagnose_network(c: Certificate, data: Data, tol: float) -> Diagnosis:
    """Another strength of the penalty, or exchanged classes, under which the gradient all but vanishes."""
    own = float(c.figures.get("gradient", np.inf))
    if c.holds and own <= tol:
        return Diagnosis(c, True)
    found = [
        Finding(name, asks, other)
        for name, asks, judge in _network_slips(c, data)
        if (other := judge()).holds and other.figures["gradient"] <= _FLATTER * own
    ]
    found.sort(key=lambda finding: float(finding.certificate.figures["gradient"]))
    return Diagnosis(c, bool(c.holds and not found), found)


def _network_slips(c: Certificate, data: Data) -> Iterator[Candidate]:
    alpha, n = float(c.evidence["alpha"]), len(np.asarray(data.y))
    for name, asks, factor in _STRENGTHS if alpha > 0 else ():
        yield name, asks, partial(issue, c.kind, data, {**c.evidence, "alpha": alpha * factor(n)})
    classes = np.unique(np.asarray(data.y)) if c.evidence["task"] == "classes" else np.zeros(0)
    if len(classes) == 2:
        swapped = np.where(np.asarray(data.y) == classes[0], classes[1], classes[0])
        asks = "The gradient vanishes with the classes exchanged: are the labels swapped?"
        yield "labels swapped", asks, lambda: issue(c.kind, replace(data, y=swapped), c.evidence)


def diagnose_truth_table(c: Certificate, data: Data, tol: float) -> Diagnosis:
    """Slips after whose undoing the network computes the table."""
    if c.holds:
        return Diagnosis(c, True)
    X, y, e = dense_rows(data), np.asarray(data.y, dtype=float), dict(c.evidence)
    layers = range(int(e["layers"]))

    def changed(weights: Callable[[int, Array], Array], bias: Callable[[int, Array, Array], Array]) -> dict[str, Any]:
        W = {i: np.asarray(e[f"weights_{i}"], dtype=float) for i in layers}
        b = {i: np.asarray(e[f"intercept_{i}"], dtype=float) for i in layers}
        out = {f"weights_{i}": weights(i, W[i]) for i in layers}
        return {**e, **out, **{f"intercept_{i}": bias(i, W[i], b[i]) for i in layers}}

    slips: tuple[tuple[str, str, Callable[[], Certificate]], ...] = (
        ("outputs inverted", "It computes the negation: are 0 and 1 exchanged in the output?",
         lambda: issue(c.kind, replace(data, y=1.0 - y), e)),
        ("inputs in reverse order", "It is right with the inputs in reverse order: which one comes first?",
         lambda: issue(c.kind, replace(data, X=X[:, ::-1].copy()), e)),
        ("sign of the thresholds", "It is right with −b for b: is the rule w·x > θ with θ = −b?",
         lambda: issue(c.kind, data, changed(lambda i, W: W, lambda i, W, b: -b))),
        ("inputs −1 and +1", "It is right for inputs −1 and +1: the table has 0 and 1.",
         lambda: issue(c.kind, data, changed(lambda i, W: W * 2 if i == 0 else W,
                                             lambda i, W, b: b - W.sum(axis=0) if i == 0 else b))),
        ("units of one layer −1 and +1", "It is right if units give −1 and +1: here they give 0 and 1.",
         lambda: issue(c.kind, data, changed(lambda i, W: W * 2 if i else W,
                                             lambda i, W, b: b - W.sum(axis=0) if i else b))),
    )  # fmt: skip
    found = [Finding(name, asks, other) for name, asks, judge in slips if (other := judge()).holds]
    return Diagnosis(c, False, found)


def diagnose_isotonic(c: Certificate, data: Data, tol: float) -> Diagnosis:
    """A decreasing fit, forgotten weights, or the running maximum of the means."""
    if c.holds and c.figures["relative_gap"] <= tol:
        return Diagnosis(c, True)
    y, values = np.asarray(data.y, dtype=float), np.asarray(c.evidence["values"], dtype=float)
    e = dict(c.evidence)
    candidates: list[Candidate] = [
        ("decreasing for increasing", "No decreasing function fits better: which direction was asked for?",
         lambda: issue(c.kind, replace(data, y=-y), {**e, "values": -values})),
        ("targets of the other sign", "It is optimal for −y: is a sign wrong?",
         lambda: issue(c.kind, replace(data, y=-y), e)),
    ]  # fmt: skip
    if data.sample_weight is not None:
        asks = "It is optimal if all rows count alike: were the weights forgotten?"
        candidates.append(("weights forgotten", asks, lambda: issue(c.kind, replace(data, sample_weight=None), e)))
    tried = [(name, asks, judge()) for name, asks, judge in candidates]
    found = [Finding(*t) for t in tried if t[2].holds and t[2].figures["relative_gap"] <= tol]
    scores, group = np.unique(dense_rows(data)[:, 0], return_inverse=True)
    w = np.asarray(data.weights, dtype=float)
    means = np.bincount(group, w * y, len(scores)) / np.bincount(group, w, len(scores))
    for name, asks, other in (
        ("means of each score", "These are the means at each score: they were not pooled where they decrease.", means),
        ("running maximum", "This is the running maximum of the means: neighbours that decrease are to be averaged.",
         np.maximum.accumulate(means)),
    ):  # fmt: skip
        if values.shape == other.shape and np.allclose(values, other, rtol=tol, atol=0.0):
            found.append(Finding(name, asks, c))
    return Diagnosis(c, False, found)
