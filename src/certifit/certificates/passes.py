r"""Optimality of smooth fits, proved from one pass of sums: value, gradient, Hessian.

.. math:: F(\theta) = \sum_i L(z_i, y_i) + \Lambda R(w), \qquad z_i = W x_i + b + o_i

with known offsets oᵢ of the rows where the objective has them.

For losses with |φ‴| ≤ φ″ (logistic, Poisson, gamma, Tweedie; softmax along every line with the range of the scores in
place of one) and the penalty l2 or none the *local bound* of `local` holds: with g and H the gradient and Hessian,
q² = gᵀH⁻¹g and r the largest score that a step of unit length in the norm of H can make,

.. math:: u = qr < 1 \;\Longrightarrow\; F - F^* \le \frac{q^2}{2(1-u)} .

g, H and F are sums over rows (`sums`), so they are the same for every partitioning; what rounding and cutting can have
done to them is bounded and taken into account. r is bounded by the largest entry of each column.

A score is summed column after column, so that it does not depend on the block that its row is in.

Evidence: ``objective``, ``coef`` (k, d), ``intercept`` (k,), the grid (``centre``, ``exponent``, ``digits``), and for
families without classes ``level``, the score of the null model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from certifit._objective import Objective
from certifit._types import Array, Named
from certifit.certificates._ball import ETA, UNIT, Ball, ball, dot, gamma
from certifit.certificates._data import Evidence
from certifit.certificates._gap import line, words
from certifit.certificates._record import Check, Proof, register
from certifit.certificates._schema import FINITE, MODEL, NUMBER, RECORD, WHOLE
from certifit.certificates.local import curvature_drift
from certifit.certificates.moments import HessianFactor, Size, gap_figures, grid_of, stated_objective
from certifit.certificates.optimality import numbers
from certifit.certificates.sums import Block, Grid, Mass, Products, Side, Statistic, SumKind, weight_grid, weights_in
from certifit.regularizers import SquaredL2, Zero

_FIRST = 4  # digits of values and slopes; a rough pass has one fewer
_FAR = 1e5  # offsets of rows up to which a null model is bounded
_SECOND = 2  # digits of the Hessian, which only scales the bound; a rough pass has one fewer


def scores(X: Array, coef: Array, intercept: Array, offset: Array | None = None) -> Array:
    """W x + b + offset for columns X (d, m), as (k, m): summed in the order of the columns, whatever the block."""
    out = np.repeat(intercept[:, None], X.shape[1], axis=1)
    if offset is not None:
        out += offset
    for j in range(len(X)):
        for k in range(len(coef)):
            out[k] += coef[k, j] * X[j]
    return out


def score_errors(X: Array, coef: Array, intercept: Array, offset: Array | None = None) -> Array:
    """How far rounding may have moved each score."""
    size = scores(np.abs(X), np.abs(coef), np.abs(intercept), None if offset is None else np.abs(offset))
    return gamma(2 * len(X) + 6) * size * (1.0 + 1e-9) + len(X) * ETA


@dataclass(frozen=True)
class Derivatives:
    """The finished sums of a pass: F without its penalty, slopes times (1, t), curvatures times (1, t)(1, t)ᵀ."""

    rows: int
    weight: Ball
    """Sum of the weights: rows, where these count equally."""
    value: Ball
    slopes: Ball  # (k, p)
    hessian: Ball  # (k, p, p), or (k·p, k·p) for softmax
    largest: Array  # of (1, t)
    score_error: float
    null: Ball
    possible: bool


class Passes(Statistic):
    """Values, slopes and curvatures of all rows at given coefficients (k, d) and offsets (k,), summed.

    ``grid`` is that of the features, ``weight_exponent`` that of the weights, where rows have some. With ``bounded``
    rounding errors are bounded, as a proof must; ``level`` is the score of a null model whose loss is wanted. A step
    may be ``rough``: it needs no more than a Hessian of 21 bits, as long as no column has numbers far beyond its usual
    ones.
    """

    def __init__(
        self, objective: Objective, coef: Array, intercept: Array, grid: Grid, digits: int, bounded: bool = False,
        level: float | None = None, weight_exponent: int | None = None, rough: bool = False,
    ) -> None:  # fmt: skip
        self.objective, self.coef, self.intercept, self.grid = objective, coef, intercept, grid
        self.bounded, self.level, self.weighted = bounded, level, weight_exponent is not None
        self.k, self.p = len(coef), coef.shape[1] + 1
        self.softmax = objective.loss.targets == "class"
        exact = np.append(True, np.zeros(self.p - 1, dtype=bool))
        exponent, heavy = np.append(1, grid.exponent), weight_exponent or 0
        right = Side(exponent, digits, 2 * UNIT, exact)
        size = self.k + (1 if level is None else 4)
        self.first = Products(Side(np.full(size, heavy), _FIRST - rough), right)
        digits = _SECOND - rough
        if self.softmax:
            self.pairs = [(i, j) for i in range(self.k) for j in range(i, self.k)]
            left = Side(_held(np.tile(exponent, len(self.pairs)) + heavy), digits, 8 * UNIT)
            self.second = [Products(left, Side(exponent, digits, 2 * UNIT, exact))]
        else:
            self.second = [Products(Side(_held(exponent + (heavy + 1) // 2), digits, 8 * UNIT)) for _ in range(self.k)]
        # Errors of a score, a value, a slope; the largest score, weight and offset of a row.
        self.worst = np.zeros(6)
        classes = 1 if objective.classes is None else len(objective.classes)
        self.mass = Mass(classes, weight_exponent)
        self.possible = True

    def add(self, block: Block) -> None:
        assert block.y is not None
        if self.objective.classes is None and block.y.dtype.kind not in "biuf":
            raise ValueError("the target must contain numbers")
        for part in block.pieces(1 << 14):
            self._add(part)

    def _add(self, block: Block) -> None:
        shift = self._shifts(block)
        z = scores(block.X, self.coef, self.intercept, shift)
        wrong = score_errors(block.X, self.coef, self.intercept, shift) if self.bounded else None
        if wrong is not None:
            self.worst[0] = max(self.worst[0], float(wrong.max(initial=0.0)))
        codes, y, weight = self._targets(block)
        rows = self._rows(block)
        firsts = np.zeros((len(self.first.a.exponent), block.rows))
        if self.softmax:
            self._softmax(z, wrong, codes, weight, firsts, rows)
        else:
            for m in range(self.k):
                self._machine(m, z[m], None if wrong is None else wrong[m], y[m], weight, firsts, rows)
        if self.level is not None:
            start = np.full(block.rows, self.level) + (0.0 if shift is None else shift)
            loss = self.objective.loss
            firsts[-3:] = [f(start, y[0]) for f in (loss.value, loss.slope, loss.curvature)]
            if weight is not None:
                firsts[-3:] *= weight
        self._add_first(firsts, rows)

    def _shifts(self, block: Block) -> Array | None:
        """The offsets of the rows, which are there exactly where the objective has them."""
        if (block.offset is not None) != self.objective.offset:
            raise ValueError("offsets of rows are for objectives that have them")
        if block.offset is None:
            return None
        shift = np.asarray(block.offset, dtype=float)
        if shift.shape != (block.rows,) or not np.all(np.isfinite(shift)):
            raise ValueError("offsets are finite numbers, one per row")
        self.worst[5] = max(self.worst[5], float(np.abs(shift).max(initial=0.0)))
        return shift

    def _rows(self, block: Block) -> Any:
        """(1, x − centre), one row a column."""
        rows = np.empty((self.p, block.rows))
        rows[0] = 1.0
        np.subtract(block.X, self.grid.centre[:, None], out=rows[1:])
        return rows

    def _add_first(self, firsts: Array, rows: Any) -> None:
        self.first.add(firsts, rows)

    def _add_second(self, m: int, root: Array, rows: Any) -> None:
        self.second[m].add(root * rows)

    def _targets(self, block: Block) -> tuple[Array, list[Array], Array | None]:
        """Codes of the classes, the target of each machine, and weights."""
        o = self.objective
        if (block.weight is not None) != self.weighted:
            raise ValueError("weights are for sums with weights")
        weight = weights_in(block) if self.weighted else None
        if o.classes is None:
            y, codes = np.asarray(block.y, dtype=float), np.zeros(block.rows, dtype=int)
            self.possible = self.possible and o.possible(y)
            targets = [y] * self.k
        else:
            codes = o.codes(np.asarray(block.y))
            if np.any(codes < 0):
                raise ValueError("y holds labels that the objective does not name")
            targets = [np.where(codes == m[0], 1.0, -1.0) for m in o.machines]
        self.mass.add(codes, weight)
        if o.class_weight is not None:
            own = np.array(o.class_weight)[codes]
            weight = own if weight is None else own * weight
        self.worst[4] = max(self.worst[4], 1.0 if weight is None else float(weight.max(initial=0.0)))
        return codes, targets, weight

    def _machine(
        self, m: int, z: Array, wrong: Array | None, y: Array, weight: Array | None, firsts: Array, rows: Any
    ) -> None:
        loss = self.objective.loss
        if wrong is None:
            value, slope = loss.value_slope(z, y)
        else:
            # Counts have an array of radii: products with ones are exact, but how rows are parted must not show.
            zb, yb = Ball(z, wrong), Ball(y, 0.0 if loss.targets == "sign" else np.zeros(len(y)))
            value, slope = (self._noted(k, b) for k, b in ((1, loss.value(zb, yb)), (2, _slope(loss, zb, yb))))
        curve = loss.curvature(z, y)
        if weight is not None:
            value, slope, curve = value * weight, slope * weight, curve * weight
        firsts[0] += value
        firsts[m + 1] = slope
        self._add_second(m, np.sqrt(np.maximum(curve, 0.0)), rows)

    def _noted(self, place: int, found: Any) -> Array:
        found = ball(found)
        self.worst[place] = max(self.worst[place], float(np.max(found.rad, initial=0.0)))
        return found.mid

    def _softmax(
        self, z: Array, wrong: Array | None, codes: Array, weight: Array | None, firsts: Array, rows: Array
    ) -> None:
        here = np.arange(z.shape[1])
        top = z.max(axis=0)
        e = np.exp(z - top)
        total = e[0].copy()
        for k in range(1, self.k):
            total += e[k]
        p = e / total
        value = np.log(total) + top - z[codes, here]
        slope = p.copy()
        slope[codes, here] -= 1.0
        if wrong is not None:
            self.worst[3] = max(self.worst[3], float(np.abs(z).max(initial=0.0)))
        curves = np.array([(p[i] if i == j else 0.0) - p[i] * p[j] for i, j in self.pairs])
        if weight is not None:
            value, slope, curves = value * weight, slope * weight, curves * weight
        firsts[0] = value
        firsts[1 : self.k + 1] = slope
        self.second[0].add((curves[:, None] * rows).reshape(-1, rows.shape[1]), rows)

    def merge(self, other: Passes) -> Passes:
        self.first.merge(other.first)
        for mine, its in zip(self.second, other.second):
            mine.merge(its)
        self.worst = np.maximum(self.worst, other.worst)
        self.mass.merge(other.mass)
        self.possible = self.possible and other.possible
        return self

    def finish(self) -> Derivatives:
        n, right = self.first.rows, self.first.b
        assert right is not None
        largest, w = right.largest, float(self.worst[4]) * (1.0 + 4 * UNIT)
        sums = self.first.balls()
        if self.softmax:
            # e and log are good to 4 ulp, sums of k terms to k; and no derivative of lse or p with respect to a score
            # is above one.
            size = 2.0 * self.worst[0] + 4.0 * (self.k + 12) * UNIT
            self.worst[1:3] = size * (2.0 + self.worst[3]), 2.0 * size
        errors = n * self.worst * w * (1.0 + 1e-9)
        # Rounding of the products with weights and of the sum over machines, relative to the largest term.
        value = sums[0, 0]
        value = Ball(value.mid, value.rad + errors[1] * self.k + 4 * self.k * UNIT * n * float(self.first.a.largest[0]))
        slopes = sums[1 : self.k + 1]
        size = self.first.a.largest[1 : self.k + 1]
        slopes = Ball(slopes.mid, slopes.rad + np.multiply.outer(errors[2] + 4 * UNIT * n * size, largest))
        return Derivatives(
            n, self.mass.finish().sum(), value, slopes, self._hessian(n, largest, w), largest, float(self.worst[0]),
            self._null(sums), self.possible,
        )  # fmt: skip

    def _hessian(self, n: int, largest: Array, w: float) -> Ball:
        if not self.softmax:
            found = [product.balls() for product in self.second]
            return Ball(np.array([b.mid for b in found]), np.array([np.broadcast_to(b.rad, b.shape) for b in found]))
        flat, k, p = self.second[0].balls(), self.k, self.p
        mid, rad = np.zeros((k, p, k, p)), np.zeros((k, p, k, p))
        off = (8.0 * self.worst[0] + 64 * UNIT) * w * n * (1.0 + 1e-9)
        for at, (i, j) in enumerate(self.pairs):
            part = flat[at * p : (at + 1) * p]
            mid[i, :, j], mid[j, :, i] = part.mid, part.mid.T
            rad[i, :, j] = rad[j, :, i] = np.maximum(part.rad, part.rad.T) + off * np.multiply.outer(largest, largest)
        return Ball(mid.reshape(k * p, k * p), rad.reshape(k * p, k * p))

    def _null(self, sums: Ball) -> Ball:
        """A lower bound of the loss of the best constant scores, beside the offsets of rows where there are some."""
        o, n = self.objective, self.first.rows
        if o.classes is not None:
            # The entropy grows with the mass of every class, so that lower bounds of these do.
            mass = np.maximum(np.asarray(self.mass.finish().lower), 0.0)
            mass = mass * np.array(o.class_weight or (1.0,) * len(mass))
            if not o.fit_intercept:
                return Ball(float(mass.sum())) * math.log(2.0 if not self.softmax else len(mass)) * (1.0 - 1e-12)
            return _entropy(mass, o) * (1.0 - 1e-12)
        if self.level is None:
            return Ball(0.0)
        value, pull, curve = (sums[self.k + j, 0] for j in (1, 2, 3))
        if self.worst[5] > _FAR:  # so far out the roundings of a score would count
            return Ball(0.0)
        value = value - 4 * UNIT * n * (abs(self.level) + self.worst[5]) * float(self.first.a.largest[-2])
        if not o.fit_intercept:
            return value * (1.0 - 1e-9) if self.level == 0.0 else Ball(0.0)
        # The local bound in one dimension: how far below this level the best one may be.
        h = float(curve.lower) * (1.0 - 1e-9)
        reach = float(abs(pull).upper) + 64 * UNIT * n * float(self.first.a.largest[-2])
        if not h > 0.0 or not reach / h < 0.5:
            return Ball(0.0)
        return ball((value - reach * reach / h) * (1.0 - 1e-9))


def _held(exponent: Array) -> Array:
    """Exponents within what a grid may have."""
    return np.clip(exponent, -900, 1000)


def _entropy(mass: Array, objective: Objective) -> Ball:
    """Loss of the best constants: Σ over machines of the entropy of its classes, times the weight."""
    total = float(mass.sum())
    if objective.loss.targets == "class":
        shares = [mass]
    else:
        shares = [np.array([mass[m[0]], total - mass[m[0]]]) for m in objective.machines]
    found = 0.0
    for part in shares:
        use = part[part > 0.0]
        found += float(-(use * np.log(use / total)).sum())
    return Ball(found)


def _slope(loss: Any, z: Ball, y: Any) -> Ball:
    return ball(loss.slope(z, ball(y)))


# -- the proof --------------------------------------------------------------------------------------------------------
def decrement(objective: Objective, found: Derivatives, coef: Array, centre: Array) -> tuple[Ball, float]:
    """q² = gᵀH⁻¹g and u, summed over machines and largest of them; infinite where there is no metric."""
    if objective.loss.targets == "class":
        return _softmax_decrement(objective, found, coef, centre)
    square, u = Ball(0.0), 0.0
    for m in range(len(coef)):
        g, H, size = _one(objective, found.slopes[m], found.hessian[m], found.largest, coef[m], centre)
        metric = HessianFactor.of(H)
        if metric is None:
            return Ball(np.inf), np.inf
        drift = curvature_drift(found.score_error)
        if not drift < 0.25:
            return Ball(np.inf), np.inf
        own = metric.square(g) / (1.0 - 2.0 * drift)
        square = square + own
        u = max(u, math.sqrt(max(float(own.upper), 0.0)) * metric.reach(size) / (1.0 - 2.0 * drift) * (1.0 + 1e-9))
    return square, u


def _one(
    objective: Objective, slopes: Ball, H: Ball, largest: Array, w: Array, centre: Array
) -> tuple[Ball, Ball, Array]:
    """Gradient, Hessian and largest entries of one machine, in (b, w) about the centre, or in w alone."""
    g = slopes
    ridge, pull = _pull(objective, w)
    if objective.free:
        g = Ball(np.append(0.0, pull.mid), np.append(0.0, np.broadcast_to(pull.rad, pull.shape))) + g
        return g, H + Ball(np.diag(np.append(0.0, np.full(len(w), ridge))), 8 * UNIT * ridge), largest
    J = np.column_stack([centre, np.eye(len(w))])
    return (
        dot(J, g) + pull,
        dot(J, dot(H, J.T)) + Ball(np.eye(len(w)) * ridge, 8 * UNIT * ridge),
        (largest[1:] + np.abs(centre)) * (1.0 + 4 * UNIT),
    )


def _pull(objective: Objective, w: Array) -> tuple[float, Ball]:
    """Curvature and gradient of the penalty."""
    penalty = objective.regularizer
    if not isinstance(penalty, SquaredL2):
        return 0.0, Ball(np.zeros(w.shape))
    prior = 0.0 if penalty.prior is None else np.array(penalty.prior).reshape(-1, w.shape[-1])
    away = ball(w) - (prior if np.ndim(prior) == 0 or w.ndim == 2 else prior[0])  # type: ignore[index]
    return objective.strength * 2.0 * penalty.factor, away * (Ball(objective.strength) * (2.0 * penalty.factor))


def _softmax_decrement(objective: Objective, found: Derivatives, coef: Array, centre: Array) -> tuple[Ball, float]:
    """The same for softmax, in coordinates that leave out what no score difference depends on."""
    k, p = found.slopes.shape
    ridge, pull = _pull(objective, coef)
    full = np.zeros((k, p))
    full[:, 1:] = pull.mid
    wrong = np.zeros((k, p))
    wrong[:, 1:] = np.broadcast_to(pull.rad, pull.shape)
    g = (Ball(full, wrong) + found.slopes).reshape(-1)
    H = found.hessian + Ball(np.diag(np.tile(np.append(0.0, np.full(p - 1, ridge)), k)), 8 * UNIT * ridge)
    if not objective.free:
        J = np.kron(np.eye(k), np.column_stack([centre, np.eye(p - 1)]))
        pulls = Ball(pull.mid.reshape(-1), np.broadcast_to(pull.rad, pull.shape).reshape(-1))
        g = dot(J, found.slopes.reshape(-1)) + pulls
        H = dot(J, dot(found.hessian, J.T)) + Ball(np.eye(len(J)) * ridge, 8 * UNIT * ridge)
        size = np.tile((found.largest[1:] + np.abs(centre)) * (1.0 + 4 * UNIT), k)
    else:
        size = np.tile(found.largest, k)
    width = len(g.mid) // k
    keep = np.ones(k * width, dtype=bool)
    if ridge == 0.0:
        keep[-width:] = False
    elif objective.free:
        keep[-width] = False  # the offset of the last class
    metric = HessianFactor.of(
        Ball(H.mid[np.ix_(keep, keep)], np.array(np.broadcast_to(H.rad, H.shape))[np.ix_(keep, keep)])
    )
    if metric is None:
        return Ball(np.inf), np.inf
    square = metric.square(g[keep])
    reach = 0.0
    for m in range(k):  # the range of scores is at most twice the largest of them
        mine = np.zeros(k * width)
        mine[m * width : (m + 1) * width] = size[m * width : (m + 1) * width]
        reach = max(reach, 2.0 * metric.reach(mine[keep]))
    return square, math.sqrt(max(float(square.upper), 0.0)) * reach * (1.0 + 1e-9)


@register
class PassBound(SumKind):
    """Claim: the smooth fit is within ``gap`` of the best, by sums over all rows alone."""

    name: ClassVar[str] = "passes"
    theorem: ClassVar[str] = "self-concordance: a small Newton decrement bounds the distance to the optimum"
    needs: ClassVar = {"objective": RECORD, "coef": FINITE, "intercept": FINITE, "centre": FINITE, "exponent": WHOLE,
                       "digits": NUMBER}  # fmt: skip
    may: ClassVar = {"model": MODEL, "level": NUMBER, "weight_exponent": NUMBER}
    weighted: ClassVar[bool] = True
    shifted: ClassVar[bool] = True

    def _read(self, evidence: Evidence) -> tuple[Objective, Array, Array]:
        o = stated_objective(evidence)
        if o.padding is not None or o.layout != "rest" or o.stated != "mean":
            raise ValueError("these sums are for a free offset, classes against the rest, and means")
        if o.offset and o.classes is not None:
            raise ValueError("rows have offsets only where the target holds numbers")
        if not isinstance(o.regularizer, (SquaredL2, Zero)):
            raise ValueError("the local bound is for the penalty l2 or none")
        if not (o.loss.self_concordant or o.loss.name == "softmax"):
            raise ValueError("the local bound is for losses with |φ‴| ≤ φ″")
        if o.classes is not None and any(weight <= 0.0 for weight in o.class_weight or ()):
            raise ValueError("every class needs a weight above zero")
        coef, intercept = numbers(evidence, "coef"), numbers(evidence, "intercept")
        outputs = 1 if o.classes is None else len(o.classes) if o.loss.targets == "class" else len(o.machines)
        if coef.ndim != 2 or len(coef) != outputs or intercept.shape != (outputs,):
            raise ValueError(f"coefficients and offsets of {outputs} outputs are needed")
        if not o.fit_intercept and np.any(intercept):
            raise ValueError("no offset is allowed")
        return o, coef, intercept

    def statistic(self, evidence: Evidence) -> Passes:
        objective, coef, intercept = self._read(evidence)
        grid, digits = grid_of(evidence, coef.shape[1])
        level = evidence.get("level") if objective.classes is None else None
        return Passes(objective, coef, intercept, grid, digits, True, level, weight_grid(evidence))

    def conclude(self, found: Derivatives, evidence: Evidence) -> Proof:
        objective, coef, _ = self._read(evidence)
        checks = [
            Check("there are rows", found.rows > 0 and float(found.weight.lower) > 0.0, str(found.rows)),
            Check("the loss is defined for the labels", found.possible),
        ]
        if not all(c.holds for c in checks):
            return Proof({}, tuple(checks))
        square, u = decrement(objective, found, coef, numbers(evidence, "centre"))
        checks.append(Check("the Newton decrement is small enough", u < 1.0, f"u = {u:.3g}"))
        value = found.value + ball(objective.penalty(ball(coef)))
        null = found.null + ball(objective.penalty(ball(np.zeros_like(coef))))
        gap = square / (2.0 * (1.0 - u * (1.0 + 1e-9))) if u < 1.0 else Ball(np.inf)
        figures, check = gap_figures(value, gap, null, Size(found.rows, coef.shape[1], found.weight))
        return Proof(figures, (*checks, check))

    def claim(self, figures: Named, evidence: Evidence) -> str:
        return words(figures, "self-concordance, from exact sums over all rows", evidence.get("model"))

    def details(self, figures: Named) -> str:
        return line(figures)
