"""Hard margin in feature space, its absence, and the kernel perceptron's mistakes.

With w = Σ βⱼφ(xⱼ), Σβ = 0 and A = Σ₊β: γ_lo = minᵢ yᵢ(w·φ(xᵢ) + b)/‖w‖ is reached by (w, b); no hyperplane has a
margin above γ_hi = ½‖Σ₊(β/A)φ − Σ₋(|β|/A)φ‖ = ‖w‖/2A, half the distance of two points of the classes' hulls.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from certifit._types import Array, Matrix, Named
from certifit.certificates._ball import Ball, ball, dot
from certifit.certificates._data import Data, Evidence, Figures, Rigor
from certifit.certificates._record import Check, Kind, Proof, about, equal, lower, register, upper
from certifit.certificates._schema import FINITE, FLAG, LABELS, RECORD, WHOLE, check_form
from certifit.certificates.gram import GramSource, codes_of, given_kernel, new_scores, radii, stable_sign
from certifit.kernels import Kernel, rebuild

_NEGLIGIBLE = 1e-7  # a margin below this fraction of the radius drowns in the rounding of the Gram matrix


_EXPANSION = {"kernel": RECORD, "classes": LABELS, "support": WHOLE, "dual_coef": FINITE}


class _Hulls:
    """Scores, norm and masses of an expansion over support vectors."""

    def __init__(self, data: Data, evidence: Named, rigor: Rigor) -> None:
        self.source = GramSource(data, evidence, rigor)
        codes = codes_of(data.y, evidence["classes"])
        self.support = np.asarray(evidence["support"], dtype=int)
        stated = np.asarray(evidence["dual_coef"], dtype=float)
        if stated.shape != (1, len(self.support)):
            raise ValueError("one line of multipliers is needed, one for each support vector")
        self.beta = stated[0]
        if len(set(evidence["classes"])) != 2 or len(np.unique(codes)) != 2 or np.any(codes < 0):
            raise ValueError("the two classes of the data are needed")
        inside = (self.support >= 0) & (self.support < len(codes))
        if len(np.unique(self.support)) != len(self.support) or not np.all(inside):
            raise ValueError("support vectors are rows of the data, each once")
        self.y = np.where(codes == 1, 1.0, -1.0)
        own = self.y[self.support] * self.beta
        self.sound = bool(np.all(own >= 0) and np.all(np.isfinite(own)) and math.fsum(self.beta) == 0.0 and own.any())
        self.scores = self.source.scores(self.support, self.beta[:, None])[:, 0]
        b = ball(self.beta, like=self.scores)
        self.square = (b * self.scores[self.support]).sum()
        self.norm = np.sqrt(self.square.maximum(0.0))
        self.mass = 0.5 * abs(b).sum()
        self.widest = 0.5 * self.norm / self.mass


@register
class HardMargin(Kind):
    """Largest margin with a kernel that is Mercer by construction, or on given kernel values."""

    name: ClassVar[str] = "hard-margin"
    theorem: ClassVar[str] = "duality of largest margin and nearest points of the hulls"
    needs: ClassVar = {**_EXPANSION, "intercept": FINITE}
    may: ClassVar = {"gram": FINITE}

    def prove(self, data: Data, evidence: Named, rigor: Rigor) -> Proof:
        h = _Hulls(data, evidence, rigor)
        (intercept,) = evidence["intercept"]
        margin = (h.scores + ball(float(intercept), like=h.scores)) * h.y
        functional = _least(margin)
        reached = functional / h.norm
        off = np.abs(margin[h.support] - 1.0)
        figures = {
            "value": lower(reached),
            "bound": upper(h.widest),
            "gap": upper(h.widest - reached),
            "relative_gap": upper((h.widest - reached) / h.widest),
            "primal": about(0.5 * h.square),
            "dual": about(2.0 * h.mass - 0.5 * h.square),
            "support_vectors": equal(int(np.count_nonzero(h.beta))),
            "off_hyperplanes": upper(off.max()),
        }
        checks = (
            Check("the multipliers are not negative and balance", h.sound),
            Check(
                "every row is on its side", bool(functional.lower > 0), f"least margin {float(functional.lower):.3g}"
            ),
            Check("the gap is a finite number", bool(np.isfinite(figures["gap"].stated))),
            Check("the kernel is Mercer, or its values are given", h.source.given is not None or h.source.mercer),
        )
        return Proof(figures, checks)

    def assumptions(self, evidence: Evidence) -> tuple[str, ...]:
        return super().assumptions(evidence) + given_kernel(evidence)

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        return (
            f"The margin {figures['value']:.6g} is within {figures['relative_gap']:.2g} (relatively) of the largest "
            f"possible; {figures['support_vectors']} support vectors lie on H⁺ and H⁻ to "
            f"{figures['off_hyperplanes']:.2g}."
        )


def certain_sides(kernel: Kernel | None, data: Data, evidence: Evidence, X: Matrix, vectors: Any) -> Array:
    """Rows of X on provably the same side of the hyperplane of largest margin.

    Without a kernel X holds kernel values with all training rows, and ``vectors`` is k(x, x) of the rows.

    With least margin m the hyperplane w/m is feasible, and ‖w/m − w*‖² ≤ ‖w/m‖² − 1/γ_hi²; the best offset for w,
    midway between the classes, moves by at most that times the largest ‖φ(xᵢ)‖.
    """
    h = _Hulls(data, evidence, "float")
    margin = (h.scores + float(evidence["intercept"][0])) * h.y
    least = _least(margin)
    w = h.norm / least
    rho = float(np.sqrt(np.maximum(w.square() - 1.0 / h.widest.square(), 0.0)).upper)
    plus, minus = _least(h.scores[h.y > 0]), -_least(-h.scores[h.y < 0])
    middle = -0.5 * (plus + minus)
    if kernel is None:
        own, scores = np.sqrt(Ball(vectors)), dot(X[:, h.support], h.beta[:, None])[:, 0]
    else:
        own, scores = radii(kernel, X), new_scores(kernel, X, vectors, h.beta[:, None])[:, 0]
    reach = rho * (own.upper + float(h.source.radii().upper.max()))
    unit = scores / least
    offset = middle / least
    yes, no = stable_sign(unit, (float(offset.lower), float(offset.upper)), reach)
    now = scores.mid + float(evidence["intercept"][0]) > 0
    return np.asarray((yes & now) | (no & ~now))


def _least(margin: Ball) -> Ball:
    return -((-margin).max())


@register
class NoMargin(Kind):
    """No hyperplane in feature space separates the classes, or none by more than a bound that is rounding."""

    name: ClassVar[str] = "no-margin"
    theorem: ClassVar[str] = "hulls of the classes that meet cannot be separated"

    def assumptions(self, evidence: Evidence) -> tuple[str, ...]:
        return super().assumptions(evidence) + given_kernel(evidence)

    def prove(self, data: Data, evidence: Named, rigor: Rigor) -> Proof:
        check_form(evidence, {"twins": WHOLE} if "twins" in evidence else _EXPANSION, {"gram": FINITE})
        if "twins" in evidence:
            i, j = (int(k) for k in evidence["twins"])
            labels = np.asarray(data.y)
            if not np.all(np.isfinite(data.X.data if hasattr(data.X, "toarray") else data.X)):
                raise ValueError("a row that is no point: its numbers are not finite")
            same = min(i, j) >= 0 and _same_row(data.X, i, j) and labels[i] != labels[j]
            figures = {"bound": upper(0.0), "rows": equal([i, j])}
            return Proof(figures, (Check("two equal rows have different labels", bool(same), f"rows {i} and {j}"),))
        h = _Hulls(data, evidence, rigor)
        radius = float(h.source.radii().upper.max())
        share = float(h.widest.upper) / radius if radius > 0 else float(h.widest.upper)
        figures = {"bound": upper(h.widest), "radius": about(radius)}
        checks = (
            Check("the kernel is Mercer, or its values are given", h.source.given is not None or h.source.mercer),
            Check("the multipliers are not negative and balance", h.sound),
            Check("the hulls meet to rounding", share <= _NEGLIGIBLE, f"{share:.2g} of the radius"),
        )
        return Proof(figures, checks)

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        if "rows" in figures:
            i, j = figures["rows"]
            return f"No hyperplane separates the classes: rows {i} and {j} are the same point with different labels."
        return (
            f"No hyperplane separates the classes by a margin above {figures['bound']:.2g}, which is rounding beside "
            f"the data's radius {figures['radius']:.3g}: to that rounding, a weighted average of rows of one "
            f"class equals one of the other class."
        )


def _same_row(X: Matrix, i: int, j: int) -> bool:
    a, b = X[i], X[j]
    if hasattr(a, "toarray"):
        a, b = a.toarray(), b.toarray()
    return bool(np.array_equal(a, b))


def _kernel_words(evidence: Evidence) -> str:
    """By which kernel, where it has a name."""
    return "" if given_kernel(evidence) else f" (kernel {rebuild(evidence['kernel'])})"


@register
class KernelMistakes(Kind):
    """The kernel perceptron started at zero: mistakes made against (R/γ)²."""

    name: ClassVar[str] = "kernel-perceptron"
    theorem: ClassVar[str] = "Novikoff: at most (R/γ)² mistakes"
    needs: ClassVar = {"kernel": RECORD, "classes": LABELS, "mistakes": WHOLE, "fit_intercept": FLAG}
    may: ClassVar = {"gram": FINITE}

    def assumptions(self, evidence: Evidence) -> tuple[str, ...]:
        return super().assumptions(evidence) + given_kernel(evidence)

    def prove(self, data: Data, evidence: Named, rigor: Rigor) -> Proof:
        source = GramSource(data, evidence, rigor)
        classes, codes = list(evidence["classes"]), codes_of(data.y, evidence["classes"])
        if len(np.unique(codes)) != len(classes) or np.any(codes < 0) or len(classes) < 2:
            raise ValueError("the classes are those of the data, each once")
        counts = np.asarray(evidence["mistakes"], dtype=float)
        positive = [1] if len(classes) == 2 else list(range(len(classes)))
        if counts.shape != (len(positive), source.n) or np.any(counts < 0) or not counts.sum() < 2**53:
            raise ValueError("the mistakes are counted for every class against the others, on every row")
        extra = 1.0 if evidence["fit_intercept"] else 0.0
        square_radius = (source.radii().square() + extra).max()
        found = [self._margin(source, np.where(codes == k, 1.0, -1.0), row, extra) for k, row in zip(positive, counts)]
        separated = all(apart is True for _, apart in found)
        decided = separated or any(apart is False for _, apart in found)
        made, bound = int(counts.sum()), equal(math.inf)
        checks = [Check("whether the classes are separated is decided beyond rounding", decided)]
        if separated and (source.mercer or source.given is not None):  # without an inner product nothing bounds it
            total = Ball(0.0)
            for gamma_square, _ in found:
                total = total + square_radius / gamma_square
            bound = upper(total)
            checks.append(Check("no more mistakes than the bound", made <= bound.stated, f"{made}"))
        figures = {"value": equal(made), "bound": bound, "separated": equal(separated)}
        return Proof(figures, tuple(checks))

    def _margin(self, source: GramSource, y: Array, counts: Array, extra: float) -> tuple[Ball, bool | None]:
        """γ² of the final separator in the padded feature space, and whether it separates (None: too close)."""
        used = np.flatnonzero(counts)
        if len(used) == 0:
            return Ball(0.0), False  # zero everywhere
        beta = (counts * y)[used]
        b = ball(beta)
        scores = source.scores(used, beta[:, None])[:, 0] + extra * b.sum()
        square = (b * scores[used]).sum()
        least = _least(scores * y)
        if bool(least.lower > 0) and bool(square.lower > 0):
            return least.square() / square, True
        return Ball(0.0), False if bool(least.upper <= 0) else None

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        made = f"The updates of {figures['value']} mistakes add up to this classifier{_kernel_words(evidence)}"
        if not figures["separated"]:
            return f"{made}; it does not separate the classes yet, so no bound on the mistakes follows."
        if not math.isfinite(figures["bound"]):
            return f"{made}, which separates the classes; the kernel is not proved Mercer, so no bound follows."
        return (
            f"{made}, which separates the classes; started at zero, no more than {figures['bound']:.4g} mistakes are "
            "possible, whatever the order of the rows."
        )
