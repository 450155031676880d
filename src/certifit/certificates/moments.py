r"""Optimality of a squared-loss fit, proved from second moments alone.

.. math:: F(w, b) = c \sum_i (y_i - w\cdot x_i - b)^2 + \Lambda R(w)

The sums of 1, x, y and their products decide F, its gradient and its Hessian. They are known exactly up to a stated
radius (`sums`), whatever the number of rows and wherever these are stored. Two bounds of F − min F follow, and the
smaller is stated. With r the residual at the best offset for w, and any 0 < s ≤ 1 for which v = (2cs/Λ) Xᵀr is in
the domain of R*,

.. math:: F - F^* \le c\,(1-s)^2 \lVert r\rVert^2 + \Lambda\,[R(w) + R^*(v) - v\cdot w]

by weak duality; and for a quadratic penalty F − F* = c·qᵀH⁻¹q ≤ c‖Tᵀq‖²/(1 − ε) with ε = ‖TᵀHT − I‖, for any T.

Evidence: ``objective``, ``coef`` (1, d), ``intercept`` (1,); ``centre``, ``exponent`` and ``digits``: the grid of
the sums, which may be any, because a poor one only makes the radius larger.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.linalg

from certifit._objective import Objective
from certifit._types import Array
from certifit.certificates._ball import ETA, UNIT, Ball, ball, dot, gamma, rationals, to_float
from certifit.certificates._data import Evidence, Figures
from certifit.certificates._gap import excess_of, line, share_of, words
from certifit.certificates._record import Check, Proof, ProvedNumber, about, equal, lower, register, upper
from certifit.certificates._schema import FINITE, MODEL, NUMBER, RECORD, WHOLE
from certifit.certificates.optimality import numbers
from certifit.certificates.sums import Block, Grid, Products, Side, Statistic, SumKind, weight_grid, weights_in
from certifit.losses import Squared
from certifit.regularizers import L1, ElasticMix, NonNegative, SquaredL2, Zero

_DIGITS = (2, 3, 4)
_REACH = 1000  # the largest size of an exponent of a grid
_KNOWN = 1e-6  # of the objective or of the null model's: how far rounding may leave the stated value open


class Moments(Statistic):
    """Sums of products of all pairs of 1, x₁ … x_d and (where the grid has a place for it) y, about the grid's centres.

    Examples
    --------
    >>> grid = Grid.of(np.array([0.0, 0.0]), np.array([2.0, 4.0]))
    >>> found = Moments(grid, 3).of([Block(np.array([[0.0, 1.0, 2.0]]), np.array([0.0, 1.0, 4.0]))]).finish()
    >>> found.rows, found.mean.tolist()
    (3, [1.0, 1.6666666666666667])
    """

    def __init__(self, grid: Grid, digits: int, weight_exponent: int | None = None) -> None:
        self.grid, self.weighted = grid, weight_exponent is not None
        exact = np.append(True, np.zeros(len(grid.centre), dtype=bool))
        exponent = np.append(1, grid.exponent)
        plain = Side(exponent, digits, 2 * UNIT, exact)
        if weight_exponent is None:
            self.sums = Products(plain)
        else:  # the weights belong to one factor
            self.sums = Products(Side(np.clip(exponent + weight_exponent, -900, 1000), digits, 4 * UNIT), plain)

    def add(self, block: Block) -> None:
        d, p = len(block.X), len(self.grid.centre)
        rows = np.empty((p + 1, block.rows))
        rows[0] = 1.0
        np.subtract(block.X, self.grid.centre[:d, None], out=rows[1 : d + 1])
        if p == d + 1:
            if block.y is None or block.y.dtype.kind not in "biuf":
                raise ValueError("the target must contain numbers")
            np.subtract(np.asarray(block.y, dtype=float), self.grid.centre[-1], out=rows[-1])
        elif p != d:
            raise ValueError(f"a grid of {p} columns does not match a table of {d}")
        if (block.weight is not None) != self.weighted:
            raise ValueError("weights are for sums with weights")
        if self.weighted:
            self.sums.add(rows * weights_in(block), rows)
        else:
            self.sums.add(rows)

    def merge(self, other: Moments) -> Moments:
        self.sums.merge(other.sums)
        return self

    def finish(self) -> SecondMoments:
        total, radius = self.sums.exact(), self.sums.radius()
        if self.weighted:  # one triangle says all, and an entry is right where either of its two sums is
            low = np.tril_indices(len(total), -1)
            total[low], radius[low] = total.T[low], radius.T[low]
        return SecondMoments(self.grid.centre, total, radius, self.sums.rows)


@dataclass(frozen=True)
class SecondMoments:
    """Σ s (1, t, u)(1, t, u)ᵀ for t = x − c, u = y − c_y, weights s: rationals, and how far they can be off."""

    centre: Array
    total: Array
    radius: Array
    rows: int

    @property
    def weight(self) -> Ball:
        """The sum of the weights: the number of rows where these count equally."""
        if self.radius[0, 0]:
            return near(np.asarray(self.total[0, 0]), self.radius[0, 0])
        return Ball(float(to_float(self.total[0, 0])))

    @property
    def least(self) -> float:
        """A lower bound of the sum of the weights; above zero, or nothing can be divided by it."""
        found = float(self.weight.lower)
        return found if found > 0.0 else np.nan

    def _divisor(self) -> Any:
        """Σ s as a rational to divide by."""
        return self.total[0, 0] if self.total[0, 0] > 0 else rationals(1.0).item()

    @property
    def mean(self) -> Array:
        """Means of x and y."""
        return np.asarray(to_float(rationals(self.centre) + self.total[0, 1:] / self._divisor()), dtype=float)

    def centred(self) -> Ball:
        """Σ s (t − mean)(t − mean)ᵀ of x and y, one rounding after exact arithmetic."""
        first, second = self.total[0, 1:], self.total[1:, 1:]
        wrong, size = self.radius[0, 1:], np.abs(np.asarray(to_float(first), dtype=float))
        more = np.multiply.outer(size, wrong) + np.multiply.outer(wrong, size) + np.multiply.outer(wrong, wrong)
        # f fᵀ/n, where n is known to its radius: |f fᵀ| · |1/n − 1/n′| on top.
        more = more + np.multiply.outer(size, size) * self._share()
        mid = second - np.multiply.outer(first, first) / self._divisor()
        return near(mid, self.radius[1:, 1:] + more / self.least * (1.0 + 16 * UNIT))

    def _share(self) -> float:
        """The radius of Σ s relative to it."""
        return float(self.radius[0, 0]) / self.least

    def raw(self) -> Ball:
        """Σ s (x, y)(x, y)ᵀ about zero."""
        n, c = self.total[0, 0], rationals(self.centre)
        first, second = self.total[0, 1:], self.total[1:, 1:]
        mid = second + np.multiply.outer(c, first) + np.multiply.outer(first, c) + np.multiply.outer(c, c) * n
        size, wrong = np.abs(self.centre), self.radius[0, 1:]
        more = np.multiply.outer(size, wrong) + np.multiply.outer(wrong, size)
        return near(mid, self.radius[1:, 1:] + more + np.multiply.outer(size, size) * float(self.radius[0, 0]))

    def minus(self, part: SecondMoments) -> SecondMoments:
        """The moments of the rows that are not in ``part``."""
        return SecondMoments(self.centre, self.total - part.total, self.radius + part.radius, self.rows - part.rows)

    def residuals(self, w: Array, b: float) -> Residuals:
        """Σ s r, Σ s r·t, and Σ s r² of r = y − w·x − b."""
        c, w = rationals(self.centre), rationals(w)
        level = rationals(b) + (c[:-1] * w).sum() - c[-1]
        v = np.concatenate([[-level], -w, [rationals(1.0).item()]])
        size = np.abs(np.asarray(to_float(v), dtype=float)) * (1.0 + 4 * UNIT)
        g = self.total @ v
        wrong = self.radius @ size * (1.0 + 2 * (len(v) + 2) * UNIT)
        square = near(np.asarray((v * g).sum()), size @ wrong * (1.0 + 2 * (len(v) + 2) * UNIT))
        # Around the best offset for w: what is left of the sum of the residuals is taken off.
        first, n = self.total[0, 1:-1], self._divisor()
        off = abs(float(to_float(g[0]))) / self.least
        step = wrong[0] / self.least + off * self._share()  # how far g₀/n may be off
        reach = np.abs(np.asarray(to_float(first), dtype=float)) + self.radius[0, 1:-1]
        lost = wrong[1:-1] + step * reach + off * self.radius[0, 1:-1]
        best = near(g[1:-1] - first * (g[0] / n), lost * (1.0 + 32 * UNIT))
        raw = near(g[1:-1] + c[:-1] * g[0], (wrong[1:-1] + np.abs(self.centre[:-1]) * wrong[0]) * (1.0 + 16 * UNIT))
        return Residuals(near(np.asarray(g[0]), wrong[0]), raw, best, square, self.weight)


@dataclass(frozen=True)
class Residuals:
    """Weighted sums of r, of r·x about zero and at the best offset, and of r²; and the sum of the weights."""

    total: Ball
    raw: Ball
    best: Ball
    square: Ball
    weight: Ball

    @property
    def over(self) -> Ball:
        """(Σ s r)²/Σ s: how much of Σ s r² a better offset would take off."""
        return self.total.square() / self.weight


def near(mid: Array, rad: Any) -> Ball:
    """Rationals as error-bounded floats, rounded once."""
    found = np.asarray(to_float(np.asarray(mid)), dtype=float)
    return Ball(found, (np.asarray(rad, dtype=float) + 2 * UNIT * np.abs(found)) * (1.0 + 8 * UNIT) + ETA)


def grid_of(evidence: Evidence, columns: int) -> tuple[Grid, int]:
    """The grid that the evidence names, which may be any sane one."""
    centre, exponent = numbers(evidence, "centre"), numbers(evidence, "exponent")
    digits = evidence["digits"]
    if centre.shape != (columns,) or exponent.shape != (columns,) or np.any(np.abs(exponent) > _REACH):
        raise ValueError(f"the grid needs a centre and an exponent for each of {columns} columns")
    if digits not in _DIGITS:
        raise ValueError(f"numbers are cut into {', '.join(map(str, _DIGITS))} digits, not {digits}")
    return Grid(centre, exponent.astype(int)), int(digits)


def stated_objective(evidence: Evidence) -> Objective:
    """The objective of the evidence, which is stored as `Objective.to_dict` writes it."""
    found = Objective.from_dict(evidence["objective"])
    if found.to_dict() != evidence["objective"]:
        raise ValueError("the objective is not stored in its normal form")
    return found


@dataclass(frozen=True)
class MomentFit:
    """The objective and the coefficients that the evidence names."""

    objective: Objective
    factor: float
    coef: Array
    intercept: float

    @classmethod
    def of(cls, evidence: Evidence) -> MomentFit:
        objective = stated_objective(evidence)
        if not isinstance(objective.loss, Squared) or objective.classes is not None:
            raise ValueError("second moments are for the squared loss")
        inner = objective.regularizer.base if isinstance(objective.regularizer, NonNegative) else objective.regularizer
        if not isinstance(inner, (Zero, SquaredL2, L1, ElasticMix)):
            raise ValueError("second moments are for the penalties none, l2, l1 and elastic")  # none is ever negative
        if objective.padding is not None or objective.offset or objective.regularizer.joint:
            raise ValueError("second moments are for one target, without offsets of rows")
        if objective.stated != "mean":
            raise ValueError("all figures are stated as means over the rows")
        coef, intercept = numbers(evidence, "coef"), numbers(evidence, "intercept")
        if coef.ndim != 2 or len(coef) != 1 or intercept.shape != (1,):
            raise ValueError("coefficients of one target are needed")
        return cls(objective, float(objective.loss.factor), coef, float(intercept[0]))

    def bound(self, found: SecondMoments) -> tuple[Ball, Ball, Ball]:
        """F, a bound on F − min F, and F of the null model."""
        r, c, free = found.residuals(self.coef[0], self.intercept), self.factor, self.objective.free
        value = r.square * c + ball(self.objective.penalty(ball(self.coef)))
        own = found.centred() if free else found.raw()
        null = own[-1, -1].maximum(0.0) * c + ball(self.objective.penalty(ball(np.zeros_like(self.coef))))
        pull, rest, extra = (r.best, r.square - r.over, r.over * c) if free else (r.raw, r.square, Ball(0.0))
        nothing = value  # F* ≥ 0
        gaps = [nothing, self._dual(pull, rest), self._quadratic(pull, own[:-1, :-1])]
        best = min(gaps, key=lambda g: float(g.upper) if np.isfinite(g.upper) else math.inf)
        return value, best if best is nothing else best + extra, null

    def _dual(self, pull: Ball, rest: Ball) -> Ball:
        """Weak duality, with the residual shrunk until it is feasible, and on to where the gap is least."""
        if not self.objective.strength > 0.0:
            return Ball(np.inf)
        V = pull.reshape(1, -1) * (2.0 * self.factor) / self.objective.strength
        size = float(ball(self.objective.gauge(V)).upper)
        if not math.isfinite(size):
            return Ball(np.inf)
        s = 1.0 if size <= 1.0 else (1.0 - 1e-12) / size
        if size > 0.0 and float(rest.mid) > 0.0:  # of a 1-norm: the gap is rest(1 − s)² − 2s·pull·coef and a constant
            s = min(s, max(1.0 + float(np.vdot(pull.mid, self.coef)) / float(rest.mid), 0.0))
        V = V * s
        if not float(ball(self.objective.gauge(V)).upper) <= 1.0:
            return Ball(np.inf)
        lost = rest.maximum(0.0) * (Ball(1.0) - s).square() * self.factor
        return lost + ball(self.objective.penalty_fenchel_young(ball(self.coef), V))

    def _quadratic(self, pull: Ball, H: Ball) -> Ball:
        """c·qᵀH⁻¹q, for a quadratic penalty."""
        penalty, d = self.objective.regularizer, self.coef.shape[1]
        penalty = penalty.base if isinstance(penalty, NonNegative) else penalty
        if not isinstance(penalty, (Zero, SquaredL2)):
            return Ball(np.inf)
        if d == 0:
            return Ball(0.0)
        q = pull
        if isinstance(penalty, SquaredL2):
            alpha = Ball(self.objective.strength) * penalty.factor / self.factor
            away = ball(self.coef[0]) - (0.0 if penalty.prior is None else np.array(penalty.prior))
            q = q - away * alpha
            H = H + Ball(np.eye(d) * float(alpha.mid), np.eye(d) * float(alpha.rad))
        if self.objective.signed:  # a push against the bound w ≥ 0 does not count
            keep = ~((self.coef[0] == 0.0) & (q.upper <= 0.0))
            q = Ball(np.where(keep, q.mid, 0.0), np.where(keep, _full(q.rad, q), 0.0))
        metric = HessianFactor.of(H)
        return Ball(np.inf) if metric is None else metric.square(q) * self.factor

    def admissible(self) -> list[Check]:
        """What makes the coefficients a point of the problem."""
        o = self.objective
        signed = not o.signed or bool(np.all(self.coef >= 0.0))
        return [
            Check("there is an offset only where the objective has one", o.fit_intercept or self.intercept == 0.0),
            Check("the coefficients satisfy the sign constraints", signed),
        ]


@dataclass(frozen=True)
class HessianFactor:
    """T with ‖TᵀHT − I‖ ≤ ε < 1 for every H in a ball, in coordinates scaled by powers of two."""

    T: Array
    epsilon: float
    power: Array

    @classmethod
    def of(cls, H: Ball) -> HessianFactor | None:
        """From a Cholesky factor; None where there is none."""
        diagonal = np.diag(H.mid)
        if not np.all(np.isfinite(H.mid)) or np.any(diagonal <= 0.0):
            return None
        power = np.frexp(np.sqrt(diagonal))[1]
        both = -np.add.outer(power, power)
        scaled = Ball(np.ldexp(H.mid, both), np.ldexp(_full(H.rad, H), both) + ETA)
        try:
            T = scipy.linalg.solve_triangular(np.linalg.cholesky(scaled.mid), np.eye(len(power)), lower=True).T
        except (np.linalg.LinAlgError, ValueError):
            return None
        off = dot(T.T, dot(scaled, T)) - np.eye(len(power))
        epsilon = float(np.sqrt(np.square(np.asarray(off.magnitude, dtype=float)).sum()) * (1.0 + 1e-9))
        return cls(T, epsilon, power) if epsilon < 0.5 else None

    def square(self, g: Ball) -> Ball:
        """An upper bound of gᵀH⁻¹g."""
        scaled = Ball(np.ldexp(g.mid, -self.power), np.ldexp(_full(g.rad, g), -self.power) + ETA)
        return dot(self.T.T, scaled).square().sum() / (1.0 - self.epsilon * 1.01)

    def reach(self, largest: Array) -> float:
        """An upper bound of (xᵀH⁻¹x)^½ for every x whose entries are at most ``largest``."""
        rows = np.linalg.norm(self.T, axis=1) * (1.0 + gamma(len(self.T) + 4))
        size = np.ldexp(largest, -self.power) + ETA
        return float(size @ rows) * (1.0 + gamma(len(self.T) + 4)) / math.sqrt(1.0 - self.epsilon * 1.01)


def _full(rad: Any, like: Ball) -> Array:
    return np.array(np.broadcast_to(rad, like.shape))


@register
class MomentBound(SumKind):
    """Claim: the squared-loss fit is within ``gap`` of the best, by sums of products alone."""

    name: ClassVar[str] = "moments"
    theorem: ClassVar[str] = "weak duality, or the exact formula for quadratics, from exact second moments"
    needs: ClassVar = {"objective": RECORD, "coef": FINITE, "intercept": FINITE, "centre": FINITE, "exponent": WHOLE,
                       "digits": NUMBER}  # fmt: skip
    may: ClassVar = {"model": MODEL, "weight_exponent": NUMBER}
    weighted: ClassVar[bool] = True

    def statistic(self, evidence: Evidence) -> Moments:
        fit = MomentFit.of(evidence)
        return Moments(*grid_of(evidence, fit.coef.shape[1] + 1), weight_grid(evidence))

    def conclude(self, found: SecondMoments, evidence: Evidence) -> Proof:
        fit = MomentFit.of(evidence)
        checks = [Check("there are rows", found.rows > 0 and found.least > 0.0, str(found.rows)), *fit.admissible()]
        if not all(c.holds for c in checks):
            return Proof({}, tuple(checks))
        size = Size(found.rows, fit.coef.shape[1], found.weight)
        figures, check = gap_figures(*fit.bound(found), size, 0.0)
        return Proof(figures, (*checks, check))

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        return words(figures, "exact sums over all rows", evidence.get("model"))

    def details(self, figures: Figures) -> str:
        return line(figures)


class Size(NamedTuple):
    """Rows and columns of a table, and the sum of the weights: what a mean is divided by (one for a sum)."""

    rows: int
    columns: int
    weight: Ball


def gap_figures(
    value: Ball, gap: Ball, null: Ball, size: Size, least: float = -math.inf
) -> tuple[dict[str, ProvedNumber], Check]:
    """What every proof of a gap from sums states; and whether there is a gap at all.

    No objective is below ``least``.
    """
    rows, columns, n = size
    finite = bool(np.isfinite(gap.upper) and np.isfinite(value.upper))
    check = Check("the gap is bounded", finite, f"{float(gap.upper):.3g}")
    if finite and not float(value.rad) <= _KNOWN * max(abs(float(value.mid)), float(null.mid)) + ETA:
        check = Check("the sums tell the objective's value", False, f"{float(value.mid):.3g} ± {float(value.rad):.3g}")
    if not check.holds:
        none = {"bound": about(-math.inf), "gap": about(math.inf), "relative_gap": about(math.inf)}
        return {"value": about(value / n), **none, "rows": equal(rows), "columns": equal(columns)}, check
    bound = (value - gap) / n
    figures = {
        "value": about(value / n),
        "bound": lower(bound.maximum(least) if math.isfinite(least) else bound),
        "gap": upper(gap / n),
        "relative_gap": upper(share_of(gap, null)),
        **excess_of(gap, value),
        "rows": equal(rows),
        "columns": equal(columns),
    }
    return figures, check
