"""One answer for every row: nobody who ignores the columns does better.

Squared loss, answer c, weighted mean ȳ: mean (y − c)² = mean (y − ȳ)² + (c − ȳ)², so the excess over the best
constant is (c − ȳ)².

Log loss, answer q, shares p of the classes: the excess −Σ p log q + Σ p log p is at most log Σ p²/q (Jensen), hence
at most Σ (p − q)²/q + |1 − Σ q|, which needs no logarithm of what is nearly one.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from certifit.certificates._ball import Ball, ball, rationals
from certifit.certificates._by_class import class_codes
from certifit.certificates._data import Data, Evidence, Figures, Rigor
from certifit.certificates._gap import share_of
from certifit.certificates._record import Check, Kind, Proof, about, equal, register, upper
from certifit.certificates._schema import FINITE, LABELS, TEXT, check_form, word

_SQUARED = {"value": FINITE}
_LOG = {"classes": LABELS, "shares": FINITE}


@register
class Constant(Kind):
    """The mean is the best constant, or class frequencies are.

    Evidence: ``loss`` "squared" and ``value``; or ``loss`` "log", ``classes`` and ``shares``.
    """

    name = "constant"
    needs: ClassVar = {"loss": word("squared", "log")}
    may: ClassVar = {**_SQUARED, **_LOG}
    theorem = (
        "the mean minimises squared loss, the class shares minimise log loss, among predictions that ignore the row"
    )

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        weights = Ball(rationals(data.weights) if rigor == "exact" else data.weights)
        squared = evidence["loss"] == "squared"
        check_form(evidence, {"loss": TEXT, **(_SQUARED if squared else _LOG)}, {})
        value, gap, checks = (_squared if squared else _log)(data, evidence, weights, rigor)
        finite = bool(np.isfinite(upper(value).proved) and np.isfinite(upper(gap).proved))
        figures = {
            "value": about(value),
            "gap": upper(gap),
            "relative_gap": upper(share_of(gap, value)),
            "rows": equal(int(data.X.shape[0])),
        }
        return Proof(figures, (*checks, Check("the figures are finite", finite)))

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        what = "mean squared error" if evidence["loss"] == "squared" else "mean log loss"
        more = f"{figures['relative_gap']:.0e} of it"
        if not np.isfinite(figures["relative_gap"]):  # rounding leaves open whether it is zero
            more = f"{figures['gap']:.0e}"
        return (
            f"No prediction that ignores the columns has a smaller {what} on these {figures['rows']} rows by more than "
            f"{more}."
        )


Parts = tuple[Ball, Ball, tuple[Check, ...]]


def _squared(data: Data, evidence: Evidence, weights: Ball, rigor: Rigor) -> Parts:
    targets = data.real_targets()
    if targets.ndim != 1:
        raise ValueError("one target is needed")
    y = Ball(rationals(targets) if rigor == "exact" else targets)
    c = ball(np.asarray(evidence["value"], dtype=float).reshape(()), like=y)
    total = weights.sum()
    away = y - c
    step = (weights * away).sum() / total
    return (weights * (away * away)).sum() / total, step * step, ()


def _log(data: Data, evidence: Evidence, weights: Ball, rigor: Rigor) -> Parts:
    classes, stated = np.asarray(evidence["classes"]), np.asarray(evidence["shares"], dtype=float)
    if classes.ndim != 1 or stated.shape != classes.shape:
        raise ValueError("one share per class is needed")
    codes = class_codes(data.y, classes)
    known = Check("every label is a known class", bool(np.all(codes >= 0)))
    sound = Check("the shares are probabilities", bool(np.all((stated > 0) & (stated <= 1))))
    parts = [weights[codes == c].sum() for c in range(len(classes))]
    p = Ball(np.array([p.mid for p in parts]), np.array([p.rad for p in parts])) / weights.sum()
    q = ball(np.where(stated > 0, stated, 1.0), like=p)
    away = p - q
    excess = (away * away / q).sum() + abs(q.sum() - 1.0)
    near = stated > 0.5  # there q − 1 is a float, and its logarithm has as many digits
    loss = (p[near] * np.log1p(ball(stated[near] - 1.0, like=p))).sum() + (p[~near] * np.log(q[~near])).sum()
    return 0.0 - loss, excess, (known, sound)
