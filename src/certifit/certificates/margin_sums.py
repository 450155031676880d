r"""Optimality of linear support vector machines, proved from one pass of sums.

.. math:: F(w, b) = \sum_i c_i\,\varphi(y_i(w\cdot x_i + b)) + \Lambda R(w)

with the hinge or its square, R the squared norm, and an offset that is not penalised. The slopes u_i(b) (of the hinge
rounded over a width μ: −y clip((1 − yz)/μ, 0, 1), which is in its domain) grow with b. If Σ c u is negative at b − δ
and positive at b + δ, there is a b* between them with Σ c u(b*) = 0, and β = c∘u(b*) is a dual point. Weak duality
there, and what can lie between b and b*, give the gap: Σ c u(b*) x differs from Σ c u(b) x by at most
Σ c [u(b+δ) − u(b−δ)] |x|, the Fenchel–Young terms of the hinge grow by at most δ, and F(w, b) − F(w, b*) by at most δ
times the slopes. Several classes are several machines, whose gaps are added. All of these are sums over rows (`sums`).

Evidence: ``objective``, ``coef`` (k, d), ``intercept`` (k,), the grid (``centre``, ``exponent``, ``digits``), ``width``
(μ; 0 for the squared hinge) and ``reach`` (δ of each machine).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from certifit._objective import Objective
from certifit._types import Array
from certifit.certificates._ball import UNIT, Ball, ball
from certifit.certificates._data import Evidence
from certifit.certificates._gap import words
from certifit.certificates._record import Check, Proof, register
from certifit.certificates._schema import FINITE, MODEL, NUMBER, RECORD, WHOLE
from certifit.certificates.moments import Size, gap_figures, grid_of, stated_objective
from certifit.certificates.optimality import numbers
from certifit.certificates.passes import score_errors, scores
from certifit.certificates.sums import Block, Grid, Products, Side, Statistic, SumKind
from certifit.regularizers import SquaredL2

_ROWS = 6  # value, slope, slope below, slope above, Fenchel–Young term, whether the row may count


def slopes(z: Array, y: Array, width: float) -> Array:
    """u of the module docstring, which grows with z."""
    short = 1.0 - y * z
    if width > 0.0:
        return -y * np.clip(short / width, 0.0, 1.0)
    return -2.0 * y * np.maximum(short, 0.0)


@dataclass(frozen=True)
class MarginTotals:
    """The finished sums: (machines, rows of the table above, 1 + d), widths times |t|, and errors of single rows."""

    rows: int
    counts: Array
    first: Ball
    spread: Ball
    largest: Array
    worst: Array


class Margins(Statistic):
    """Values, slopes and their changes over b ± δ, summed over all rows."""

    def __init__(
        self, objective: Objective, coef: Array, intercept: Array, grid: Grid, digits: int, width: float, reach: Array
    ) -> None:
        self.objective, self.coef, self.intercept, self.grid = objective, coef, intercept, grid
        self.width, self.reach, self.k, self.p = width, reach, len(coef), coef.shape[1] + 1
        exact = np.append(True, np.zeros(self.p - 1, dtype=bool))
        exponent = np.append(1, grid.exponent)
        self.first = Products(
            Side(np.zeros(self.k * _ROWS, dtype=int), 4, 16 * UNIT), Side(exponent, digits, 2 * UNIT, exact)
        )
        self.second = Products(Side(np.zeros(self.k, dtype=int), 3, 16 * UNIT), Side(exponent, 2, 4 * UNIT, exact))
        assert objective.classes is not None
        self.counts, self.worst = np.zeros(len(objective.classes), dtype=np.int64), np.zeros(2)

    def add(self, block: Block) -> None:
        for part in block.pieces(1 << 14):
            self._add(part)

    def _add(self, block: Block) -> None:
        codes = self.objective.codes(np.asarray(block.y))
        if np.any(codes < 0):
            raise ValueError("y holds labels that the objective does not name")
        self.counts += np.bincount(codes, minlength=len(self.counts))
        cost = np.array(self.objective.class_weight or (1.0,) * len(self.counts))[codes]
        z = scores(block.X, self.coef, self.intercept)
        # The rounding of 1 − yz and of z ± δ counts as if the score were off by so much more.
        wrong = score_errors(block.X, self.coef, self.intercept) + 8 * UNIT * (1.0 + np.abs(z) + self.reach[:, None])
        rows = np.empty((self.p, block.rows))
        rows[0] = 1.0
        np.subtract(block.X, self.grid.centre[:, None], out=rows[1:])
        firsts, spread = np.zeros((self.k, _ROWS, block.rows)), np.zeros((self.k, block.rows))
        for m, (positive, _) in enumerate(self.objective.machines):
            y = np.where(codes == positive, 1.0, -1.0)
            spread[m] = self._machine(firsts[m], z[m], wrong[m], y, cost, float(self.reach[m]))
        self.first.add(firsts.reshape(-1, block.rows), rows)
        self.second.add(spread, np.abs(rows))

    def _machine(self, out: Array, z: Array, wrong: Array, y: Array, cost: Array, reach: float) -> Array:
        """Fill the sums of one machine; the width of what is known of its slopes."""
        short, far = np.maximum(1.0 - y * z, 0.0), reach + wrong
        out[0] = cost * (short if self.width > 0.0 else short * short)
        out[1] = cost * slopes(z, y, self.width)
        low, high = (cost * slopes(z + s * far, y, self.width) for s in (-1.0, 1.0))
        # What is certainly not below the slope at b − δ, and certainly not above that at b + δ.
        out[2] = cost * slopes(z + (wrong - reach), y, self.width)
        out[3] = cost * slopes(z + (reach - wrong), y, self.width)
        if self.width > 0.0:
            inside = np.clip(short / self.width, 0.0, 1.0)
            out[4] = cost * short * (1.0 - inside)
        out[5] = cost * (1.0 - y * z > -(far + 1e-12))
        steep = 1.0 if self.width > 0.0 else 2.0 * (short + wrong)
        self.worst[0] = max(self.worst[0], float(np.max(cost * steep * wrong, initial=0.0)))
        self.worst[1] = max(self.worst[1], float(np.max(wrong, initial=0.0)))
        return np.asarray((high - low) + 32 * UNIT * (np.abs(high) + np.abs(low)))

    def merge(self, other: Margins) -> Margins:
        self.first.merge(other.first)
        self.second.merge(other.second)
        self.counts, self.worst = self.counts + other.counts, np.maximum(self.worst, other.worst)
        return self

    def finish(self) -> MarginTotals:
        sums = self.first.balls().reshape(self.k, _ROWS, self.p)
        assert self.first.b is not None
        return MarginTotals(self.first.rows, self.counts, sums, self.second.balls(), self.first.b.largest, self.worst)


@register
class MarginBound(SumKind):
    """Claim: linear machines are within ``gap`` of the best, by sums over all rows alone."""

    name: ClassVar[str] = "margin-sums"
    theorem: ClassVar[str] = "weak duality (Fenchel) at the offset where the slopes balance"
    needs: ClassVar = {"objective": RECORD, "coef": FINITE, "intercept": FINITE, "centre": FINITE, "exponent": WHOLE,
                       "digits": NUMBER, "width": NUMBER, "reach": FINITE}  # fmt: skip
    may: ClassVar = {"model": MODEL}

    def _read(self, evidence: Evidence) -> tuple[Objective, Array, Array, float, Array]:
        o = stated_objective(evidence)
        if o.loss.name not in ("hinge", "squared_hinge") or o.classes is None or o.layout != "rest":
            raise ValueError("these sums are for the hinge and its square, classes against the rest")
        plain = isinstance(o.regularizer, SquaredL2) and o.regularizer.prior is None and o.strength > 0.0
        if o.padding is not None or o.offset or o.stated != "sum" or not plain:
            raise ValueError("these sums are for the squared norm, with an offset that is not penalised")
        coef, intercept, reach = (numbers(evidence, key) for key in ("coef", "intercept", "reach"))
        width, k = float(evidence["width"]), len(o.machines)
        if coef.ndim != 2 or len(coef) != k or intercept.shape != (k,) or reach.shape != (k,) or np.any(reach < 0.0):
            raise ValueError(f"coefficients, offsets and reaches (≥ 0) of {k} machines are needed")
        if (width > 0.0) != (o.loss.name == "hinge") or width < 0.0:
            raise ValueError("a width goes with the hinge, and only with it")
        if not o.fit_intercept and (np.any(intercept) or np.any(reach)):
            raise ValueError("no offset is allowed")
        return o, coef, intercept, width, reach

    def statistic(self, evidence: Evidence) -> Margins:
        o, coef, intercept, width, reach = self._read(evidence)
        return Margins(o, coef, intercept, *grid_of(evidence, coef.shape[1]), width, reach)

    def conclude(self, found: MarginTotals, evidence: Evidence) -> Proof:
        o, coef, _, width, reach = self._read(evidence)
        centre = numbers(evidence, "centre")
        value, gap, balanced = Ball(0.0), Ball(0.0), True
        for m in range(len(coef)):
            own, more, fine = self._machine(o, found, m, coef[m], centre, width, float(reach[m]))
            value, gap, balanced = value + own, gap + more, balanced and fine
        checks = [
            Check("there are rows of every class", bool(np.all(found.counts > 0))),
            Check("the slopes balance within reach of the offset", balanced),
        ]
        if not all(c.holds for c in checks):
            return Proof({}, tuple(checks))
        size = Size(found.rows, coef.shape[1], Ball(1.0))
        figures, check = gap_figures(value, gap, _null(found.counts, o), size)
        return Proof(figures, (*checks, check))

    def _machine(
        self, o: Objective, found: MarginTotals, m: int, w: Array, centre: Array, width: float, reach: float
    ) -> tuple[Ball, Ball, bool]:
        sums, n = found.first[m], float(found.rows)
        slack = n * (found.worst[0] * (1.0 + 1e-9))
        value = sums[0, 0]
        value = Ball(value.mid, value.rad + slack) + ball(o.penalty(ball(w)))
        free = o.fit_intercept
        balanced = not free or bool(float(sums[2, 0].upper) <= 0.0 <= float(sums[3, 0].lower))
        pull, wide = sums[1, 1:], found.spread[m]
        if not free:
            pull = pull + ball(centre) * sums[1, 0]
            off = np.asarray(wide.upper[1:]) + np.abs(centre) * float(wide.upper[0])
        else:
            off = np.asarray(wide.upper[1:])
        pull = Ball(pull.mid, np.broadcast_to(pull.rad, pull.shape) + np.maximum(off, 0.0) * (1.0 + 1e-9))
        gap = ball(o.penalty_fenchel_young(ball(w), -pull / o.strength))
        # Between b and b*: every row that may count moves by at most δ.
        move = Ball(reach + float(found.worst[1])) * (1.0 + 1e-9)
        if width > 0.0:
            gap = gap + sums[4, 0].maximum(0.0) + move * sums[5, 0] * 2.0 + slack
        else:
            gap = gap + abs(sums[1, 0]) * move + wide[0].maximum(0.0) * move
        return value, gap, balanced

    def claim(self, figures: Mapping[str, Any], evidence: Evidence) -> str:
        return words(figures, "weak duality, from exact sums over all rows", evidence.get("model"))


def _null(counts: Array, o: Objective) -> Ball:
    """What w = 0 pays with the best offset, summed over the machines."""
    mass = counts * np.array(o.class_weight or (1.0,) * len(counts))
    total, found = float(mass.sum()), 0.0
    for positive, _ in o.machines:
        plus = float(mass[positive])
        minus = total - plus
        if not o.fit_intercept:
            found += total
        else:
            found += 2.0 * min(plus, minus) if o.loss.name == "hinge" else 4.0 * plus * minus / total
    return Ball(found * (1.0 - 1e-12))
