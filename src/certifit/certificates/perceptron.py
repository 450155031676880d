"""How many mistakes a perceptron can make, and when it will never stop.

Each problem is one class (s = +1) against the others (s = −1); two classes make one problem, with the second as +1,
K > 2 make K. In the
padded space x̃ = (x, 1), steps η·c with c the weight of the row's class, start θ⁰: the run is that of unit steps on
the rows c x̃ from θ⁰/η. With R = max c‖x̃‖ and, for a unit separator u, γ = min c s u·x̃ and a = ⟨θ⁰, u⟩/η, k mistakes
give a + kγ ≤ √(‖θ⁰/η‖² + kR²) (Novikoff 1962), so k is at most the larger root of
γ²k² + (2aγ − R²)k + a² − ‖θ⁰/η‖² = 0; from zero that is (R/γ)².
If instead a mixture μ ≥ 0 of the rows s x̃ vanishes, no u separates (Gordan): the perceptron will never stop.

What was done is proved by its result: the weights are the start plus the steps of the counted mistakes.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from certifit._types import Array, Record
from certifit.certificates._ball import ETA, Ball, gamma
from certifit.certificates._blocks import row_blocks, rows_of_block
from certifit.certificates._data import Data, Evidence, Figures, Rigor
from certifit.certificates._record import Check, Kind, Proof, about, equal, register, upper
from certifit.certificates._row_sums import block_sums, longest_chain, run_chain, run_sum
from certifit.certificates._schema import FINITE, FLAG, INTEGERS, LABELS, NUMBER, WHOLE, word
from certifit.certificates.separation import (
    VERDICTS,
    Case,
    decide,
    exact_signs,
    mixture_vanishes,
    padded,
    products_of,
    squared_lengths,
)

_TINY = 2.0**-900  # steps of this size and above have lost less than the 2¹⁰⁰th part of themselves to underflow


def problem(evidence: Evidence, c: int) -> Record:
    """The evidence of one problem: keys with the suffix ``_c``, without it."""
    suffix = f"_{c}"
    return {k[: -len(suffix)]: v for k, v in evidence.items() if k.endswith(suffix)}


@register
class PerceptronRun(Kind):
    """The mistakes of a perceptron against their bound."""

    name = "perceptron"
    theorem = "perceptron convergence theorem (Novikoff 1962); Gordan 1873"
    needs: ClassVar = {"fit_intercept": FLAG, "eta0": NUMBER, "classes": LABELS}
    may: ClassVar = {"verdict_*": word(*VERDICTS), "weights_*": INTEGERS, "rows_*": WHOLE, "against_*": WHOLE,
           "multipliers_*": INTEGERS, "mistaken_*": WHOLE, "times_*": WHOLE, "class_weights_*": FINITE,
           "start_*": FINITE, "coef_*": FINITE}  # fmt: skip

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        classes, labels, offset = evidence["classes"], np.asarray(data.y), bool(evidence["fit_intercept"])
        X = padded(data.X, False)  # ones are appended to the rows that are needed
        count = 1 if len(classes) == 2 else len(classes)
        seen = set(np.unique(labels).tolist() if labels.dtype.kind in "biuf" else labels.tolist())
        # Of two classes one may have no rows yet (partial_fit).
        known = seen == set(classes) or (len(classes) == 2 and seen < set(classes))
        if len(set(classes)) != len(classes) or len(classes) < 2 or not known:
            raise ValueError("the evidence is about other classes")
        flat = X.reshape(-1)
        if not (np.isfinite(flat @ flat) or np.all(np.isfinite(X))):  # a finite sum of squares has no other terms
            raise ValueError("the data are not finite")
        if any(k not in self.needs and int(k.rpartition("_")[2]) >= count for k in evidence):
            raise ValueError("the evidence is about more problems than there are")
        total, bound, separable, checks = 0, 0.0, True, list[Check]()
        for c in range(count):
            y = (labels == classes[1 if count == 1 else c]).astype(int)
            part = {"fit_intercept": evidence["fit_intercept"], **problem(evidence, c)}
            _check_shapes(part, X.shape[1] + offset, float(evidence["eta0"]))
            name = f"class {classes[1 if count == 1 else c]}"
            mistakes, done = _prove_run(Case(X, y, 2), part, float(evidence["eta0"]), name)
            total += mistakes
            checks.append(done)
            with np.errstate(all="ignore"):
                high, more = _prove_bound(Case(X, y, 2), part, float(evidence["eta0"]), name)
            separable = separable and part["verdict"] == "separable"
            bound += high
            checks.extend(more)
        figures = {
            "verdict": equal("separable" if separable else "not separable"),
            "value": equal(total),
            "bound": upper(bound) if np.isfinite(bound) else equal(float("inf")),
        }
        known = not separable or bool(np.isfinite(bound))  # an infinite bound says nothing
        return Proof(figures, (*checks, Check("no more mistakes than the bound", known and total <= bound)))

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        made = f"{figures.get('value')} mistake" + ("" if figures.get("value") == 1 else "s")
        made = f"The updates of {made} lead from the initial to the final weights"
        if figures.get("verdict") == "separable":
            bound = figures.get("bound", float("nan"))
            return f"{made}; whatever the order of the rows, no more than {bound:.6g} are possible."
        where = "" if len(evidence["classes"]) == 2 else " for some class against the rest"
        proof = "the convex hulls of the classes intersect"
        if not evidence["fit_intercept"]:
            proof = "a weighted average of rows, each with the sign of its class, is zero"
        return f"{made}, and the algorithm will never stop: {proof}{where}, so no hyperplane separates them."


def _check_shapes(part: Evidence, width: int, eta: float) -> None:
    shapes = {"class_weights": (2,), "start": (width,), "coef": (width,)}
    if any(np.shape(part[name]) != shape for name, shape in shapes.items()):
        raise ValueError("weights do not match the data")
    if eta <= 0 or np.any(np.asarray(part["class_weights"]) <= 0):
        raise ValueError("steps are positive")


def _distinct(numbers: Array) -> bool:
    """Whether whole numbers differ from one another; those that rise do."""
    return bool(np.all(numbers[1:] > numbers[:-1])) or len(np.unique(numbers)) == len(numbers)


def _total(counts: Array) -> int:
    """The sum of whole numbers of any size, where 64 bits might wrap around."""
    few = len(counts) * int(counts.max(initial=0)) < 2**62
    return int(counts.sum()) if few else sum(counts.tolist())


def _prove_run(case: Case, part: Evidence, eta: float, name: str) -> tuple[int, Check]:
    """The number of mistakes, and whether they lead from the start to the weights; rows come without their ones."""
    X, y, offset = case.X, case.y, bool(part["fit_intercept"])
    rows, times = np.asarray(part["mistaken"], dtype=int), np.asarray(part["times"], dtype=int)
    if rows.ndim != 1 or rows.shape != times.shape or not _distinct(rows) or np.any(times < 1):
        raise ValueError("mistakes are counted once per row")
    if np.any(rows < 0) or np.any(rows >= len(X)):
        raise ValueError("mistakes on rows that do not exist")
    k, own = _total(times), y[rows]
    c = np.asarray(part["class_weights"], dtype=float)[own]
    steps = Ball(np.where(own == 1, times, -times).astype(float)) * c * eta
    moved, error, reach = _moves(X, rows, steps, offset)
    goal = Ball(moved, error) + np.asarray(part["start"], dtype=float)
    # k additions, each rounded: the weights never exceeded the start plus the sum of all steps.
    slack = goal.rad + 2.0 * gamma(2 * k + 4) * (np.abs(part["start"]) + reach) + 1e-300
    near = bool(np.all(np.abs(goal.mid - part["coef"]) <= slack)) and bool(np.all(np.isfinite(slack)))
    return k, Check(f"{name}: the mistakes lead from the start to the weights", near, f"{k} mistakes")


def _moves(X: Array, rows: Array, steps: Ball, offset: bool) -> tuple[Array, Array, Array]:
    """The sums of these rows times the steps s, their errors, and no less than the sums of absolute values.

    A sum is off by what is unknown of the steps and by its rounding, Σ|x|(known + γ|s| + ETA). Where no step is nearly
    lost to underflow, that is at most a share of Σ|x||s|, the largest (known + ETA)/|s| and γ, which costs one product
    with |x| instead of two.
    """
    size, known = np.abs(steps.mid), np.broadcast_to(steps.rad, steps.shape)
    if np.min(size, initial=np.inf) >= _TINY:
        both = _added(X, rows, Ball(steps.mid[:, None], size[:, None]), offset)
        n, block = len(rows), min(len(rows), rows_of_block(X.shape[1]))
        roundings = max(longest_chain(n, block), run_chain(n) if offset else 0)
        share = float(np.max(known / size, initial=0.0)) + gamma(roundings + 4) + _TINY
        return both.mid[:, 0], both.rad[:, 0] * (share * (1.0 + 1e-12)) + n * ETA, both.rad[:, 0]
    zeros = np.zeros(len(rows))
    both = _added(X, rows, Ball(np.column_stack([steps.mid, zeros]), np.column_stack([known, size])), offset)
    return both.mid[:, 0], both.rad[:, 0], both.rad[:, 1]


def _added(X: Array, rows: Array, both: Ball, offset: bool) -> Ball:
    """The sums of these rows times the numbers ``both``, and of the numbers themselves for the offset."""
    d = X.shape[1]
    room = np.empty((min(len(rows), rows_of_block(d)), d))
    parts = row_blocks(len(rows), d)  # no row is out of range: that was looked at
    blocks = ((at, X.take(rows[at], axis=0, out=room[: at.stop - at.start], mode="clip")) for at in parts)
    moved = block_sums(blocks, both, d)
    if not offset:
        return moved
    totals = [run_sum(both[:, t]) for t in range(both.shape[1])]
    return Ball(np.vstack([moved.mid, [b.mid for b in totals]]), np.vstack([moved.rad, [b.rad for b in totals]]))


def _prove_bound(case: Case, part: Evidence, eta: float, name: str) -> tuple[float, tuple[Check, ...]]:
    """The bound on the mistakes; rows come without their ones."""
    offset = bool(part["fit_intercept"])
    if part["verdict"] != "separable":
        rows, other = case.pairs(part)
        named = Case(padded(case.X[rows], offset), case.y[rows], 2)
        vanishes = mixture_vanishes(named, np.arange(len(rows)), other, part["multipliers"])
        return float("inf"), (Check(f"{name}: a positive combination of rows is zero", vanishes),)
    case = Case(padded(case.X, offset), case.y, 2)
    signs, low, u = decide(case, part, 0)
    c = np.asarray(part["class_weights"], dtype=float)[case.y]
    apart = bool(np.all(signs >= 1)) and bool(np.all(c > 0))
    if not apart:
        return float("inf"), (Check(f"{name}: the separator separates", False),)
    rows = np.arange(len(c))
    length = np.sqrt(u[1].square().sum())
    gap = Ball(float(np.min((Ball(low[rows, 1 - case.y]) * c).lower))) / length
    reach = (squared_lengths(case.X) * Ball(c).square()).max()
    start = Ball(np.asarray(part["start"], dtype=float)) / eta
    along = (start * u[1]).sum() / length
    size = start.square().sum()
    # Larger root of γ²k² + (2aγ − R²)k + a² − ‖θ⁰‖²; decreasing in γ, so the lower bound of γ is used.
    half = (reach - along * gap * 2.0) * 0.5
    inside = half.square() + gap.square() * (size - along.square()).maximum(0.0)
    root = (half + np.sqrt(inside)) / gap.square()
    high = float(np.nan_to_num(root.upper, nan=np.inf))
    return max(high, 0.0), (Check(f"{name}: the separator separates", True),)


@register
class TrainingErrors(Kind):
    """How many training rows a linear classifier gets wrong."""

    name = "training-errors"
    theorem = "counting, with a bound for rounding"
    needs: ClassVar = {"coef": FINITE, "intercept": FINITE}

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        classes, index = np.unique(np.asarray(data.y), return_inverse=True)
        W = np.column_stack([evidence["coef"], evidence["intercept"]])
        if len(W) != (1 if len(classes) == 2 else len(classes)) or np.ndim(evidence["intercept"]) != 1:
            raise ValueError("one line of weights for two classes, and one per class for more")
        W = np.vstack([np.zeros_like(W), W]) if len(W) == 1 else W
        case, u = Case(padded(data.X, True), index.ravel(), len(classes)), Ball(W)
        if W.shape != (len(classes), case.X.shape[1]) or not (np.all(np.isfinite(W)) and np.all(np.isfinite(case.X))):
            raise ValueError("the weights do not match the data, or either are not finite")
        with np.errstate(all="ignore"):
            low, high = products_of(case, u)
        signs = np.where(low > 0, 1, np.where(high < 0, -1, -9))
        unclear = np.argwhere(signs == -9)
        if 0 < len(unclear) <= 10_000:
            signs[unclear[:, 0], unclear[:, 1]] = exact_signs(case, u, None, unclear)
        # A tie goes to the class that sorts first, as the classifier decides it.
        wrong = np.any((signs == -1) | ((signs == 0) & (np.arange(len(classes)) < case.y[:, None])), axis=1)
        open_ = int(np.sum(signs == -9))
        share = float(np.average(wrong, weights=data.weights))
        figures = {"value": equal(int(np.sum(wrong))), "rows": equal(len(case.y)), "error_rate": about(share)}
        return Proof(figures, (Check("every row is decided beyond rounding", open_ == 0, f"{open_} are not"),))

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        return f"{figures.get('value')} of {figures.get('rows')} training rows are on the wrong side."
