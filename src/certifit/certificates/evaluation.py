r"""Claims about rows not yet seen: hold-out error and cross-validated score, each with an interval.

Unlike the other kinds these assume something: that the rows are independent draws from one distribution, and
that no model was fitted on the rows it is judged by. What is recomputed is everything after that: the
mistakes, the score of each fold, and the interval.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
import scipy.special

from certifit._limits import binomial_limits, corrected_limits
from certifit._types import Array
from certifit.certificates._ball import Ball
from certifit.certificates._data import Data, Evidence, Figures, Rigor
from certifit.certificates._record import Check, Kind, Proof, about, equal, lower, register, upper
from certifit.certificates._schema import LABELS, NUMBER, WHOLE, word

_ACCURACY = 1e-9  # granted to SciPy's incomplete beta function and its inverse, relative
_EXACT_ROWS = 3000  # beyond this a binomial tail in integers takes seconds
INDEPENDENT = ("rows are independent draws from one distribution",)


def score_bounds(name: str) -> tuple[float, float]:
    """Least and largest possible value of a score, by scikit-learn's name (none known: the whole line)."""
    if name.startswith("neg_"):
        return -math.inf, 0.0
    if name in ("r2", "explained_variance"):
        return -math.inf, 1.0
    shares = ("accuracy", "balanced_accuracy", "roc_auc", "average_precision", "f1", "precision", "recall", "jaccard")
    return (0.0, 1.0) if name.startswith(shares) else (-math.inf, math.inf)


def within(low: float, high: float, bounds: tuple[float, float]) -> tuple[float, float]:
    """An interval cut at what is possible."""
    return min(max(low, bounds[0]), bounds[1]), max(min(high, bounds[1]), bounds[0])


def _tail(k: int, n: int, p: float, exact: bool) -> float:
    """P(at least k successes in n trials of probability p), rounded up."""
    if k <= 0:
        return 1.0
    if not exact:
        return float(scipy.special.betainc(k, n - k + 1.0, p)) * (1.0 + _ACCURACY)
    a, b = p.as_integer_ratio()
    total, term = 0, a**n  # Σ C(n, i) aⁱ (b − a)ⁿ⁻ⁱ over bⁿ, from i = n downwards
    if a == b:
        return 1.0
    for i in range(n, k - 1, -1):
        total += math.comb(n, i) * term
        term = term // a * (b - a) if a else 0
    shift = 80
    return float((((total << shift) // b**n) + 1) / 2.0**shift)


def _binomial_checks(k: int, n: int, level: float, low: float, high: float, exact: bool) -> tuple[Check, ...]:
    half = (1.0 - level) / 2.0 * (1.0 + 4.0 * _ACCURACY)
    at_low = _tail(k, n, low, exact) if low > 0 else 0.0
    at_high = _tail(n - k, n, 1.0 - high, exact) if high < 1 else 0.0
    return (
        Check(
            "below the lower limit so many mistakes are too rare",
            at_low <= half,
            f"{at_low:.6g} ≤ {half:.6g}",
        ),
        Check(
            "above the upper limit so few mistakes are too rare",
            at_high <= half,
            f"{at_high:.6g} ≤ {half:.6g}",
        ),
    )


def _level(evidence: Evidence) -> tuple[float, Check]:
    level = float(evidence["level"])
    return level, Check("a confidence level between 0 and 1", 0.0 < level < 1.0, f"{level:g}")


@register
class HoldOut(Kind):
    """Mistakes on rows the model never saw (evidence: predictions, level)."""

    name: ClassVar[str] = "hold-out"
    theorem: ClassVar[str] = "exact binomial interval (Clopper and Pearson)"
    assumes: ClassVar[tuple[str, ...]] = (*INDEPENDENT, "the model was fitted and chosen without these rows")
    needs: ClassVar = {"predictions": LABELS, "level": NUMBER}

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        if data.y is None:
            raise ValueError("a hold-out claim needs the labels of the held-out rows")
        level, sane = _level(evidence)
        predictions = np.asarray(evidence["predictions"])
        n = len(data.y)
        checks = [
            sane,
            Check(
                "one prediction per row",
                predictions.shape == data.y.shape == (n,) and n > 0,
                f"{len(predictions)} of {n}",
            ),
            Check("every row counts once", data.sample_weight is None, "no weights"),
        ]
        if not all(c.holds for c in checks):
            return Proof({"rows": equal(n)}, tuple(checks))
        k = int(np.sum(predictions != data.y))
        low, high = binomial_limits(k, n, level)
        low, high = low * (1.0 - _ACCURACY), 1.0 - (1.0 - high) * (1.0 - _ACCURACY)
        exact = rigor == "exact" and n <= _EXACT_ROWS
        checks.extend(_binomial_checks(k, n, level, low, high, exact))
        figures = {
            "mistakes": equal(k),
            "rows": equal(n),
            "error_rate": about(k / n),
            "low": lower(Ball(low, _ACCURACY * low)),
            "high": upper(Ball(high, _ACCURACY * high)),
            "level": equal(level),
        }
        return Proof(figures, tuple(checks))

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        if "mistakes" not in figures:
            return "No claim about new rows."
        return (
            f"On new rows its error rate lies between {figures['low']:.1%} and {figures['high']:.1%} "
            f"({figures['level']:.0%} confidence): "
            f"{figures['mistakes']} mistakes in {figures['rows']} held-out rows."
        )


def _accuracy(y: Array, p: Array, w: Array) -> float:
    return float(w @ (y == p) / w.sum())


def _squared(y: Array, p: Array, w: Array) -> float:
    return float(-(w @ np.square(y - p)) / w.sum())


def _absolute(y: Array, p: Array, w: Array) -> float:
    return float(-(w @ np.abs(y - p)) / w.sum())


def _sum_of_squares(w: Array, v: Array) -> tuple[float, int]:
    """Σ w v² as a number and a power of two: no term overflows, and the largest does not vanish."""
    (a, i), (b, j) = np.frexp(w), np.frexp(v)
    terms, powers = a * b * b, i + 2 * j
    unit = int(powers[terms > 0].max(initial=-10_000))
    return float(np.ldexp(terms, powers - unit).sum()), unit


def _r2(y: Array, p: Array, w: Array) -> float:
    around = y - y[np.argmax(w)]  # from the heaviest row, whose rounding would outweigh all others
    unit = int(np.frexp(np.abs(around[w > 0]).max(initial=0.0))[1])
    around = np.ldexp(around, -unit)
    around = around - w / w.max() @ around / (w / w.max()).sum()
    (total, size), (left, other) = _sum_of_squares(w, around), _sum_of_squares(w, y - p)
    if total == 0:  # a fold of equal values: scikit-learn's convention
        return 1.0 if left == 0 else 0.0
    with np.errstate(over="ignore"):  # an infinite score is refused
        return float(1.0 - np.ldexp(left / total, other - size - 2 * unit))


SCORES = {
    "accuracy": _accuracy,
    "neg_mean_squared_error": _squared,
    "neg_mean_absolute_error": _absolute,
    "r2": _r2,
}
"""Scores that a cross-validation certificate can recompute from predictions, by scikit-learn's names."""


@register
class CrossValidation(Kind):
    """Mean score over folds (evidence: metric, predictions, test rows, sizes, train sizes, level)."""

    name: ClassVar[str] = "cross-validation"
    theorem: ClassVar[str] = "corrected resampled t interval (Nadeau and Bengio): fold correlation = held-out share"
    assumes: ClassVar[tuple[str, ...]] = (*INDEPENDENT, "each fold's model was fitted without the rows it is tested on")
    needs: ClassVar = {"metric": word(*SCORES), "predictions": LABELS, "test": WHOLE, "sizes": WHOLE,
                       "train_sizes": WHOLE, "level": NUMBER}  # fmt: skip

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        if data.y is None:
            raise ValueError("a cross-validation claim needs the labels")
        level, sane = _level(evidence)
        rows, sizes = np.asarray(evidence["test"], dtype=int), np.asarray(evidence["sizes"], dtype=int)
        trains = np.asarray(evidence["train_sizes"], dtype=float)
        predictions, n = np.asarray(evidence["predictions"]), len(data.y)
        parts = np.split(rows, np.cumsum(sizes)[:-1])
        checks = [
            sane,
            Check("at least two folds, each with its sizes", len(sizes) == len(trains) >= 2, str(len(sizes))),
            Check(
                "one prediction per tested row",
                predictions.shape == rows.shape == (int(sizes.sum()),),
                str(len(rows)),
            ),
            Check("tested rows are rows of the data", bool(np.all((rows >= 0) & (rows < n))), f"of {n}"),
            Check("no fold tests a row twice", all(len(np.unique(p)) == len(p) > 0 for p in parts)),
            Check("training rows fit beside the tested ones", bool(np.all((trains > 0) & (trains + sizes <= n)))),
            Check("a score that can be recomputed", evidence["metric"] in SCORES, str(evidence["metric"])),
            Check(
                "answers that the score is for",
                evidence["metric"] == "accuracy" or np.issubdtype(predictions.dtype, np.number),
                str(predictions.dtype),
            ),
        ]
        if not all(c.holds for c in checks):
            return Proof({"folds": equal(len(sizes))}, tuple(checks))
        score, weights = SCORES[evidence["metric"]], data.weights
        answers = np.split(predictions, np.cumsum(sizes)[:-1])
        scores = np.array([score(data.y[p], a, weights[p]) for p, a in zip(parts, answers)])
        low, high, error = corrected_limits(scores, float(np.mean(sizes / trains)), level)
        checks.append(Check("every fold has a score", bool(np.all(np.isfinite(scores))), str(evidence["metric"])))
        figures = {
            "mean": about(float(scores.mean())),
            "low": about(low),
            "high": about(high),
            "standard_error": about(error),
            "folds": equal(len(sizes)),
            "level": equal(level),
        }
        return Proof(figures, tuple(checks))

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        if "mean" not in figures:
            return "No claim about new rows."
        return (
            f"Trained on as many rows as each fold leaves, its expected {evidence['metric']} lies between "
            f"{figures['low']:.4g} and {figures['high']:.4g} ({figures['level']:.0%} confidence): "
            f"mean {figures['mean']:.4g} over {figures['folds']} folds, corrected for their overlap."
        )
