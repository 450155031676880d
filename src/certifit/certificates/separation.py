"""Can a hyperplane separate the classes? Three verdicts, each with a proof that arithmetic checks.

Conventions. x̃ = (x, 1) with an offset, x̃ = x through the origin. Classes are numbered in sorted order. For row i
of class c and any other class k the *difference row* is z = (e_c − e_k) ⊗ x̃ in the coordinates of classes
1, …, K−1 (class 0 is fixed at zero, because only differences of scores matter). For two classes this is y x̃ with
y = −1 for class 0 and +1 for class 1, so one text serves both cases. With u the stacked weights:

- separable:   some u has z·u > 0 for all z.                                        Evidence: u.
- touching:    not so, but some u has z·u ≥ 0 for all z, not all zero.              Evidence: u, and μ ≥ 0, μ ≠ 0,
               Σ μz = 0, which excludes strict separation (Gordan 1873).
- overlapping: neither. Evidence: difference rows S with μ > 0, Σ_S μz = 0 and span S = span of all z, which leaves
               z·u ≥ 0 no choice but equality everywhere (Stiemke 1915). The span of all z is that of
               (K−1) copies of the span of the x̃, so equality of spans is a statement about ranks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from certifit._types import Array, Matrix
from certifit.certificates._ball import Ball, dot, gamma
from certifit.certificates._data import Data, Evidence, Figures, Rigor
from certifit.certificates._integers import (
    Dyadic,
    annihilates,
    as_floats,
    from_words,
    null_space,
    reduced,
)
from certifit.certificates._record import Check, Kind, Proof, ProvedNumber, equal, lower, register, upper
from certifit.certificates._row_sums import dot_t
from certifit.certificates._schema import FLAG, INTEGERS, TEXT, WHOLE, check_form, word

VERDICTS = ("separable", "touching", "overlapping")
_MIXTURE = {"rows": WHOLE, "against": WHOLE, "multipliers": INTEGERS}
WITNESSES = {
    "separable": {"weights": INTEGERS},
    "touching": {"weights": INTEGERS, **_MIXTURE},
    "overlapping": _MIXTURE,
}
"""What proves each verdict."""
_SMALL = 20_000  # entries of an exact elimination that is cheap enough to be done at rigour "float" too
_FEW = 5_000_000  # entries of X that may be read as integers at rigour "float"


def difference_rows(X: Array, own: Array, other: Array, n_classes: int) -> Array:
    """(e_own − e_other) ⊗ x for each row x, without the coordinates of class 0; any dtype, exact."""
    m, p = X.shape
    out = np.zeros((m, n_classes, p), dtype=X.dtype)
    at = np.arange(m)
    out[at, own] = X
    out[at, other] = -X
    return out[:, 1:].reshape(m, (n_classes - 1) * p)


def padded(X: Matrix, fit_intercept: bool) -> Array:
    """x̃: the rows, with a one appended when there is an offset."""
    X = np.asarray(X.toarray() if scipy.sparse.issparse(X) else X, dtype=float)
    return np.column_stack([X, np.ones(len(X))]) if fit_intercept else X


@dataclass(frozen=True)
class Case:
    """The data of a proof: padded rows, class numbers, number of classes."""

    X: Array
    y: Array
    n_classes: int

    @classmethod
    def of(cls, data: Data, evidence: Evidence) -> Case:
        classes, y = np.unique(np.asarray(data.y), return_inverse=True)
        if len(classes) < 2:
            raise ValueError("separability needs at least two classes")
        X = padded(data.X, bool(evidence["fit_intercept"]))
        if not np.all(np.isfinite(X)):
            raise ValueError("the data are not finite")
        return cls(X, y.ravel(), len(classes))

    def pairs(self, evidence: Evidence) -> tuple[Array, Array]:
        """The rows and the opposing classes of the multipliers, checked to be admissible."""
        rows = np.asarray(evidence["rows"], dtype=int)
        other = np.asarray(evidence["against"], dtype=int)
        inside = (rows >= 0) & (rows < len(self.y)) & (other >= 0) & (other < self.n_classes)
        if rows.shape != other.shape or not np.all(inside) or np.any(self.y[rows] == other):
            raise ValueError("the multipliers name rows or classes that do not exist")
        if len(np.unique(rows * self.n_classes + other)) != len(rows):
            raise ValueError("the multipliers name a row twice")
        return rows, other


# -- products of a separator ---------------------------------------------------------------------------


def _weights(evidence: Evidence, case: Case) -> tuple[Ball, Array | None]:
    """u as a ball of shape (K, p), class 0 at zero, and exactly as integers when the evidence has them."""
    words = evidence["weights"]
    exact = None
    if isinstance(words, np.ndarray):
        mid, rad = words.astype(float), np.zeros(words.shape)
    else:
        exact = from_words(words)
        mid = as_floats(exact)
        rad = np.abs(mid) * 2.0**-52 + 2.0**-1060
    shape = (case.n_classes - 1, case.X.shape[1])
    if mid.size != shape[0] * shape[1]:
        raise ValueError("the separator does not match the data")
    blank = np.zeros((1, shape[1]))
    whole = Ball(np.vstack([blank, mid.reshape(shape)]), np.vstack([blank, rad.reshape(shape)]))
    if exact is not None:
        exact = np.vstack([np.zeros((1, shape[1]), dtype=object), exact.reshape(shape)])
    return whole, exact


def products_of(case: Case, u: Ball) -> tuple[Array, Array]:
    """Lower and upper bounds of z·u for every row and class; the row's own class holds +inf."""
    n = np.arange(len(case.y))
    if case.n_classes == 2:
        score = dot(case.X, u[1])
        score = Ball(np.where(case.y == 1, score.mid, -score.mid), score.rad)
        low, high = np.full((len(n), 2), np.inf), np.full((len(n), 2), np.inf)
        low[n, 1 - case.y], high[n, 1 - case.y] = score.lower, score.upper
        return low, high
    scores = dot(case.X, u.T)
    own = scores[n, case.y].reshape(-1, 1)
    products = own - scores
    low, high = products.lower, products.upper
    low[n, case.y] = high[n, case.y] = np.inf
    return low, high


def exact_signs(case: Case, u: Ball, exact: Array | None, where: Array) -> Array:
    """The true signs of z·u for the given (row, class) pairs."""
    weights = exact
    if weights is None:
        d = Dyadic(u.mid.ravel()[:, None])  # one column: one power of two for all weights
        weights = d.rows(np.arange(d.A.shape[0])).reshape(u.shape)
    rows, at = np.unique(where[:, 0], return_inverse=True)
    d = Dyadic(case.X[rows])
    # Column j of the integers is the data times 2^-level[j]: give that power back to the weights.
    back = np.array([1 << int(v) for v in d.level - d.level.min(initial=0)], dtype=object)
    scores = d.rows(np.arange(len(rows))) @ (weights * back).T
    at = at.ravel()
    products = scores[at, case.y[where[:, 0]]] - scores[at, where[:, 1]]
    return np.array([(v > 0) - (v < 0) for v in products])


def decide(case: Case, evidence: Evidence, few: int | None) -> tuple[Array, Array, Ball]:
    """Signs of all z·u (+1, 0, −1; own class 2; undecided −9), the lower bounds, and u."""
    u, exact = _weights(evidence, case)
    low, high = products_of(case, u)
    signs = np.where(low > 0, 1, np.where(high < 0, -1, -9))
    signs[np.arange(len(case.y)), case.y] = 2
    open_ = np.argwhere(signs == -9)
    if len(open_) and (few is None or len(open_) <= few) and np.all(np.isfinite(u.mid)):
        signs[open_[:, 0], open_[:, 1]] = exact_signs(case, u, exact, open_)
    return signs, low, u


# -- sums of multipliers -------------------------------------------------------------------------------


def _mixture_by_balls(Z: Array, mu: Array) -> bool:
    """Whether rounding cannot hide that some μ′ > 0 near μ has Σ μ′z = 0, with Z of full column rank.

    For any G with ‖I − ZᵀG‖ ≤ δ < 1 (here the pseudo-inverse, but it need not be) the correction
    −G(ZᵀG)⁻¹ρ of the residual ρ = Zᵀμ is at most |G|·‖ρ‖/(1−δ) in each place; and Z has full rank.
    """
    if Z.shape[0] < Z.shape[1] or not np.all(mu > 0) or not np.all(np.isfinite(mu)):
        return False
    _, exponent = np.frexp(np.abs(Z).max(axis=0))
    scaled = np.ldexp(Z, -exponent)
    if not np.array_equal(np.ldexp(scaled, exponent), Z):
        return False  # the scaling underflowed
    try:
        G = np.linalg.pinv(scaled.T)
    except np.linalg.LinAlgError:
        return False
    error = (Ball(np.eye(Z.shape[1])) - dot(scaled.T, G)).magnitude
    delta = float(error.sum(axis=1).max() * (1.0 + 1e-12))
    residual = float(np.max(dot_t(scaled, mu).magnitude))
    if not delta < 1.0:
        return False
    moved = np.abs(G).sum(axis=1) * (residual / (1.0 - delta)) * (1.0 + 1e-12)
    return bool(np.all(moved < mu))


def _mixture_exactly(Z: Array, mu: Array) -> tuple[bool, int]:
    """Whether some μ′ > 0 that agrees with μ on the dependent rows has Σ μ′z = 0; and the rank of Z."""
    R, den, pivots = reduced(Z.T)
    free = [j for j in range(len(Z)) if j not in set(pivots)]
    if not all(int(mu[j]) > 0 for j in free):
        return False, len(pivots)
    for i in range(len(pivots)):
        total = -sum(int(R[i, j]) * int(mu[j]) for j in free)
        if total * (1 if den > 0 else -1) <= 0:
            return False, len(pivots)
    return True, len(pivots)


def _whole_numbers(multipliers: Any) -> Array:
    """Multipliers as integers, up to one positive factor."""
    if not isinstance(multipliers, np.ndarray):
        return from_words(multipliers)
    column = multipliers.astype(float)[:, None]
    if not np.all(np.isfinite(column)):
        raise ValueError("the multipliers are not finite")
    return Dyadic(column).rows(np.arange(len(column)))[:, 0]


def _as_float_multipliers(multipliers: Any) -> Array:
    return multipliers if isinstance(multipliers, np.ndarray) else as_floats(from_words(multipliers))


def _span_exactly(case: Case, rows: Array, rank: int) -> bool:
    """Whether difference rows of the given rank, made of these data rows, span all difference rows."""
    whole = Dyadic(case.X)
    chosen = whole.rows(np.unique(rows))
    null = null_space(chosen)
    inner = chosen.shape[1] - len(null)
    return rank == (case.n_classes - 1) * inner and annihilates(whole, null)


# -- the kind ------------------------------------------------------------------------------------------


@register
class Separation(Kind):
    """The verdict on linear separability."""

    name = "separability"
    theorem = "theorems of the alternative (Gordan 1873; Stiemke 1915)"
    needs: ClassVar = {"verdict": word(*VERDICTS), "fit_intercept": FLAG}
    may: ClassVar = WITNESSES["touching"]

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        verdict = evidence["verdict"]
        check_form(evidence, {"verdict": TEXT, "fit_intercept": FLAG, **WITNESSES[verdict]}, {})
        case = Case.of(data, evidence)
        with np.errstate(all="ignore"):
            figures, checks = {
                "separable": _prove_separable,
                "touching": _prove_touching,
                "overlapping": _prove_overlapping,
            }[verdict](case, evidence, rigor)
        return Proof({"verdict": equal(verdict), "classes": equal(case.n_classes), **figures}, checks)

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        where = "" if evidence["fit_intercept"] else " through the origin"
        if evidence["verdict"] == "separable":
            margin = figures.get("margin", float("nan"))
            size = "too small for floats" if margin == 0 else f"{margin:.4g}"
            return f"Separable: a hyperplane{where} has every class on its own side, margin {size}."
        proof = _name_mixture(evidence, figures.get("classes"))
        if evidence["verdict"] == "touching":
            return (
                f"Touching: a hyperplane{where} separates the classes only weakly, with points on it. Proof that "
                f"none does better: {proof}."
            )
        return (
            f"Overlapping: no hyperplane{where} separates the classes, not even weakly. Proof: {proof}, and these "
            "rows span all others."
        )

    def details(self, figures: Figures) -> str:
        names = {k: v for k, v in figures.items() if k != "verdict"}
        return super().details(names)


def _name_mixture(evidence: Evidence, classes: Any) -> str:
    """What a vanishing mixture of rows says, in words."""
    rows, against = np.asarray(evidence["rows"], dtype=int), np.asarray(evidence["against"], dtype=int)
    if not evidence["fit_intercept"]:
        return f"a weighted average of {_listed(rows)}, each with the sign of its class, is zero"
    if classes == 2:  # a row that stands against the second class is of the first
        one, other = _listed(rows[against == 1]), _listed(rows[against == 0])
        return f"the convex hulls intersect: a weighted average of {one} equals one of {other}"
    return f"the convex hulls intersect: weighted averages of {_listed(rows)}, of different classes, are equal"


def _listed(rows: Array) -> str:
    names = [str(r) for r in sorted({int(r) for r in rows})]
    if len(names) > 6:
        names = [*names[:4], f"{len(names) - 4} more"]
    return f"row{'s' * (len(names) > 1)} " + " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)


_Result = tuple[dict[str, ProvedNumber], tuple[Check, ...]]


def _prove_separable(case: Case, evidence: Evidence, rigor: Rigor) -> _Result:
    signs, low, u = decide(case, evidence, None if rigor == "exact" else 1000)
    wrong = int(np.sum(signs < 1))
    check = Check("every product z·u is positive", wrong == 0, f"{wrong} of {low.size - len(low)} are not")
    smallest = float(max(np.min(low), 0.0)) if wrong == 0 else 0.0
    offset = bool(evidence["fit_intercept"])
    margins = [Ball(0.0), Ball(0.0)]
    if np.isfinite(smallest):
        margins = [_over_norm(case, u, low, k) for k in (int(offset), 0)]
    margin = lower(margins[0])
    figures = {"margin": replace(margin, stated=max(margin.stated, 0.0), proved=max(margin.proved, 0.0))}
    if case.n_classes == 2:
        longest = squared_lengths(case.X).max()
        bound = Ball(np.inf)
        if float(margins[1].lower) > 0:
            bound = longest / (margins[1] * margins[1])
        figures["mistake_bound"] = upper(bound) if np.isfinite(bound.upper) else equal(float("inf"))
    return figures, (check,)


def _over_norm(case: Case, u: Ball, low: Array, skip: int) -> Ball:
    """Least functional margin over the norm of the separating weights (without the last ``skip`` coordinates)."""
    p = case.X.shape[1] - skip
    best = np.inf
    for c in range(case.n_classes):
        for k in range(c):
            weights = u[c][:p] - u[k][:p]
            length = np.sqrt(weights.square().sum())
            between = np.concatenate([low[case.y == c, k], low[case.y == k, c]])
            ratio = Ball(max(float(np.min(between)), 0.0)) / length
            best = min(best, float(np.nan_to_num(ratio.lower, nan=0.0)))
    return Ball(max(best, 0.0))


def squared_lengths(X: Array) -> Ball:
    """‖x̃‖² of every row: a sum of squares of length p has relative error γ of p + 1."""
    squares = np.einsum("ij,ij->i", X, X)
    return Ball(squares, squares * (2.0 * gamma(X.shape[1] + 2)) + X.shape[1] * 2.0**-1070)


def _prove_overlapping(case: Case, evidence: Evidence, rigor: Rigor) -> _Result:
    rows, other = case.pairs(evidence)
    figures = {"witnesses": equal(len(np.unique(rows)))}
    mu = _as_float_multipliers(evidence["multipliers"])
    if rigor == "float":
        Z = difference_rows(case.X[rows], case.y[rows], other, case.n_classes)
        if _mixture_by_balls(Z, mu):
            return figures, (Check("a positive combination of rows is zero and spans, beyond rounding", True),)
        if Z.size > _SMALL or case.X.size > _FEW:
            text = "too close for floats; ask for rigor='exact'"
            return figures, (Check("a positive combination of rows is zero and spans, beyond rounding", False, text),)
    vanishes, rank = exact_mixture(case, rows, other, evidence["multipliers"])
    spans = vanishes and _span_exactly(case, rows, rank)
    return figures, (
        Check("a positive combination of rows is zero, in exact arithmetic", vanishes),
        Check("its rows span all rows, in exact arithmetic", spans, f"rank {rank}"),
    )


def exact_mixture(case: Case, rows: Array, other: Array, multipliers: Any) -> tuple[bool, int]:
    if len(rows) == 0 or len(multipliers) != len(rows):  # nothing mixed is no mixture
        raise ValueError("one multiplier per named row is needed")
    d = Dyadic(case.X[rows])
    Z = difference_rows(d.rows(np.arange(len(rows))), case.y[rows], other, case.n_classes)
    return _mixture_exactly(Z, _whole_numbers(multipliers))


def mixture_vanishes(case: Case, rows: Array, other: Array, multipliers: Any) -> bool:
    """Whether a positive combination of these rows is zero: beyond rounding, or else in exact arithmetic."""
    if len(rows) and len(multipliers) == len(rows):
        Z = difference_rows(case.X[rows], case.y[rows], other, case.n_classes)
        if _mixture_by_balls(Z, _as_float_multipliers(multipliers)):
            return True
    return exact_mixture(case, rows, other, multipliers)[0]


def _prove_touching(case: Case, evidence: Evidence, rigor: Rigor) -> _Result:
    rows, other = case.pairs(evidence)
    figures = {"witnesses": equal(len(np.unique(rows)))}
    if rigor == "float":
        text = "floats cannot tell zero from tiny; ask for rigor='exact'"
        return figures, (Check("touching is proved in exact arithmetic only", False, text),)
    vanishes, _ = exact_mixture(case, rows, other, evidence["multipliers"])
    signs, _, _ = decide(case, evidence, None)
    on = int(np.sum(signs == 0))
    return {**figures, "on_the_boundary": equal(on)}, (
        Check("a positive combination of rows is zero, in exact arithmetic", vanishes),
        Check("no product z·u is negative, in exact arithmetic", bool(np.all(signs >= 0))),
        Check("some product z·u is positive", bool(np.any(signs == 1))),
    )
