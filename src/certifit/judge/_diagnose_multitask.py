"""Why are coefficients of several targets, penalised together, not the best? Other strengths, signs and columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from certifit._objective import Objective
from certifit._types import Array
from certifit.certificates import Certificate, Data
from certifit.judge._findings import Candidate, Diagnosis, dense_rows, explained, scalings
from certifit.judge._sparse import judge_columns
from certifit.judge._strength import STRENGTHS, Strengths
from certifit.regularizers import ColumnNorms


def joint_penalty(c: Certificate) -> bool:
    """Whether a certificate is about a multi-task model."""
    told = c.evidence["objective"]
    return isinstance(told, Mapping) and isinstance(Objective.from_dict(told).regularizer, ColumnNorms)


def diagnose_multitask(c: Certificate, data: Data, tol: float) -> Diagnosis:
    """The strength that the condition of optimality asks for, and the slips that all linear models share."""
    o = Objective.from_dict(c.evidence["objective"])
    assert isinstance(o.regularizer, ColumnNorms)
    ratio, total = o.regularizer.l1_ratio, float(np.sum(data.weights))
    W, b = np.atleast_2d(c.evidence["coef"]), np.atleast_1d(c.evidence["intercept"])
    alpha, X = o.strength / total, dense_rows(data)

    def judge(
        strength: float = alpha, sign: float = 1.0, rows: Array = X, offset: bool = o.fit_intercept
    ) -> Callable[[], Certificate]:
        moved = Data.of(rows, data.y, data.sample_weight)
        return lambda: judge_columns(sign * W, sign * b, moved, strength, ratio, offset)

    found: list[Candidate] = [
        ("wrong sign", "Its negative is optimal: is a sign wrong?", judge(sign=-1.0)),
        ("centred columns", "It is optimal for centred columns: did you forget to correct the offset?",
         judge(rows=X - X.mean(axis=0))),
        *((name, f"It is optimal for {words}: did you forget to scale back?", judge(rows=rows))
          for name, words, rows in scalings(X)),
    ]  # fmt: skip
    if o.fit_intercept and not np.any(b):
        asks = "It is optimal among models without an offset: did you forget the offset?"
        found.append(("forgotten offset", asks, judge(offset=False)))
    lengths = np.linalg.norm(W, axis=0)
    used = lengths > 1e-9 * lengths.max(initial=0.0)
    if used.any():
        share = np.asarray(data.weights)[:, None] / total
        slopes = ((X @ W.T + b - np.asarray(data.y, dtype=float)) * share).T @ X
        pull = ratio * W[:, used] / lengths[used] + (1.0 - ratio) * W[:, used]
        strength = -float(np.sum(slopes[:, used] * pull)) / float(np.sum(pull * pull))
        if strength > 0:
            at, words = Strengths(strength, strength, W.size).named(alpha, len(X))
            which = "" if words is None else f"which is {words}, "
            asks = f"It is optimal for λ = {at:.4g}, {which}not {alpha:.4g}: is a factor or a power wrong?"
            found.append((STRENGTHS.get(words or "", "another penalty"), asks, judge(strength=at)))
    return Diagnosis(c, False, explained(c, tol, found))
