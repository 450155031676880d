r"""What a k-means clustering of a table in partitions costs, and how far it is from the best: from sums over rows.

With weights s, centres c and every row x given to the centre that floating-point distances call the nearest,

.. math:: \Phi = \sum_j \Big[\sum_{i \in j} s_i\lVert t_i\rVert^2 - 2\,c_j\cdot\sum_{i \in j} s_i t_i
          + \lVert c_j\rVert^2 \sum_{i \in j} s_i\Big]

about the centre of a grid, so that weights, Σ s t and Σ s t² of the clusters decide it (`sums`). A computed distance is
right up to a share γ, so that giving every row to its true nearest centre gains at most 2γΦ. Moving the centres to
the means m of their rows gains Σ W‖m − c‖².

*Lower bound.* The scatter S of all rows is that within the parts plus that between them, and the latter has rank k − 1
at most. Hence every clustering into at most k parts costs at least tr S minus the k − 1 largest eigenvalues of S (Ky
Fan; C. Ding and X. He, ICML 2004), which second moments decide.

Evidence: ``centres`` (k, d), the grid (``centre``, ``exponent``, ``digits``), ``weight_exponent`` where rows have
weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from certifit._types import Array
from certifit.certificates._ball import UNIT, Ball, ball, gamma, rationals
from certifit.certificates._data import Evidence, Figures
from certifit.certificates._record import Check, Proof, about, equal, lower, register, upper
from certifit.certificates._schema import FINITE, NUMBER, WHOLE
from certifit.certificates.class_sums import ByClass, ClassTotals, Squares, moments_of
from certifit.certificates.clustering import percentage
from certifit.certificates.moments import Moments, SecondMoments, grid_of, near
from certifit.certificates.optimality import numbers
from certifit.certificates.spectrum import most_kept, trace
from certifit.certificates.sums import Block, Grid, Statistic, SumKind, weight_grid

_SMALL = 1e-9  # a gain below this fraction of the cost counts as rounding, in words


def nearest(X: Array, centres: Array) -> Array:
    """The number of the nearest centre (k, d) of every row, the first of equals; X (d, m), summed column by column."""
    codes, best = np.zeros(X.shape[1], dtype=int), np.full(X.shape[1], np.inf)
    for j, centre in enumerate(centres):
        distance = np.zeros(X.shape[1])
        for column, c in zip(X, centre):
            off = column - c
            distance += off * off
        closer = distance < best
        codes[closer], best[closer] = j, distance[closer]
    return codes


class Nearest(ByClass):
    """Weight, Σ s t and Σ s t² of the rows that are nearest to each centre."""

    def __init__(self, centres: Array, grid: Grid, weight_exponent: int | None = None) -> None:
        exponent = np.append(grid.exponent, 2 * grid.exponent)
        super().__init__(
            np.arange(len(centres)), exponent, Squares(grid.centre), 4 * UNIT, weight_exponent=weight_exponent
        )
        self.centres = centres

    def _codes(self, block: Block) -> Array:
        return nearest(block.X, self.centres)


@dataclass(frozen=True)
class ClusterTotals:
    """Sums of the clusters, and second moments of all rows."""

    clusters: ClassTotals
    everything: SecondMoments


class ClusterSums(Statistic):
    """What a proof needs: the sums of the clusters and the second moments of all rows."""

    def __init__(self, centres: Array, grid: Grid, digits: int, weight_exponent: int | None) -> None:
        self.clusters = Nearest(centres, grid, weight_exponent)
        self.everything = Moments(grid, digits, weight_exponent)

    def add(self, block: Block) -> None:
        if not len(block.X) == self.clusters.centres.shape[1]:
            raise ValueError("as many columns as a centre has numbers are needed")
        self.clusters.add(block)
        self.everything.add(block)

    def merge(self, other: ClusterSums) -> ClusterSums:
        self.clusters.merge(other.clusters)
        self.everything.merge(other.everything)
        return self

    def finish(self) -> ClusterTotals:
        return ClusterTotals(self.clusters.finish(), self.everything.finish())


def cost(found: ClassTotals, centres: Array, origin: Array) -> Ball:
    """Φ of the module docstring, in exact arithmetic up to the radius of the sums."""
    d = len(origin)
    c = rationals(centres) - rationals(origin)
    first, second, mass = found.total[:, :d], found.total[:, d:], found.mass[:, None]
    size = np.abs(np.asarray(near(c, 0.0).mid)) * (1.0 + 4 * UNIT)
    wrong = found.radius[:, d:] + 2.0 * size * found.radius[:, :d] + size * size * found.mass_radius[:, None]
    terms = second - (c + c) * first + c * c * mass
    return near(np.asarray(terms.sum()), wrong.sum() * (1.0 + 1e-12))


def least_cost(found: SecondMoments, k: int) -> float:
    """No clustering of the rows into at most k parts costs less."""
    S = found.centred()
    d, total = S.shape[0], trace(S)
    if k - 1 >= d or not np.all(np.isfinite(S.mid)):
        return 0.0
    values, vectors = np.linalg.eigh(S.mid)
    top = np.maximum(values[::-1][: k - 1], 0.0)
    slack = (128.0 + 32.0 * d) * UNIT * abs(float(total.upper)) + float(np.linalg.norm(np.broadcast_to(S.rad, S.shape)))
    kept, ran = most_kept(S, Ball(vectors.T[::-1][: k - 1].copy()), top, top, slack, total)
    bound = float((total - kept).lower)
    return max(bound * (1.0 - 1e-12), 0.0) if ran and np.isfinite(bound) else 0.0


@register
class ClusterBound(SumKind):
    """Claim: what centres cost on a table in partitions, and that no clustering into k parts costs much less."""

    name: ClassVar[str] = "cluster-sums"
    theorem: ClassVar[str] = "scatter between k parts has rank k − 1 (Ky Fan; Ding and He), from exact sums"
    needs: ClassVar = {"centres": FINITE, "centre": FINITE, "exponent": WHOLE, "digits": NUMBER}
    may: ClassVar = {"weight_exponent": NUMBER}
    weighted: ClassVar[bool] = True

    def _centres(self, evidence: Evidence) -> Array:
        centres = numbers(evidence, "centres")
        if centres.ndim != 2 or not 1 <= len(centres) <= 1 << 16 or centres.shape[1] < 1:
            raise ValueError("centres are rows of numbers")
        return centres

    def statistic(self, evidence: Evidence) -> ClusterSums:
        centres = self._centres(evidence)
        return ClusterSums(centres, *grid_of(evidence, centres.shape[1]), weight_grid(evidence))

    def conclude(self, found: ClusterTotals, evidence: Evidence) -> Proof:
        centres, rows = self._centres(evidence), found.everything.rows
        k, d = centres.shape
        present = Check("there are rows", rows > 0 and found.everything.least > 0.0, str(rows))
        if not present.holds:
            return Proof({}, (present,))
        origin = numbers(evidence, "centre")
        value, bound = cost(found.clusters, centres, origin).maximum(0.0), least_cost(found.everything, k)
        shifted = _centre_gain(found.clusters, centres, origin)
        finite = bool(np.isfinite(value.upper) and np.isfinite(shifted.upper))
        scale = max(float(value.lower), 0.0) + max(float(trace(found.everything.centred()).lower), 0.0)
        checks = (
            present,
            Check("the cost of the clustering is a finite number", finite),
            Check("the cost is known well", bool(float(value.rad) <= _SMALL * scale), f"to {float(value.rad):.3g}"),
            Check("the bound is not above the cost", bool(bound <= float(value.upper) * (1.0 + 1e-9)), f"{bound:.6g}"),
        )
        gap = (value - bound).maximum(0.0)
        excess = gap / Ball(bound) if bound > 0.0 else Ball(np.inf)
        # Squares below the smallest floats vanish: so much more may a row be nearer to another centre.
        off = value * (2.0 * gamma(d + 8)) + Ball(float(rows) * d * 1e-300)
        figures = {
            "clusters": equal(k),
            "value": about(value),
            "bound": lower(Ball(bound, 1e-12 * bound) if bound else 0.0),
            "gap": upper(gap + Ball(0.0, 1e-12 * bound)),
            "excess": upper(excess + Ball(0.0, 1e-12)) if bound > 0.0 else upper(np.inf),
            "reassignment_gain": upper(off),
            "centre_gain": upper(shifted),
            "rows": equal(rows),
        }
        return Proof(figures, checks)

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        if "rows" not in figures:
            return "There is no row that counts."
        k, value = figures["clusters"], figures["value"]
        into = f"into {k} part{'s' if k != 1 else ''}"
        settled = "Every row is with its nearest centre, and every centre is the mean of its rows."
        if not figures["centre_gain"] <= _SMALL * value:
            gain = figures["centre_gain"]
            settled = (
                f"Not settled: moving every centre to the mean of its rows may gain up to {gain:.3g} of {value:.6g}."
            )
        if not np.isfinite(figures["excess"]):
            return f"{settled} How far it is from the best clustering {into} is not known: {value:.6g} is its cost."
        return f"At most {percentage(figures['excess'])} above the best possible clustering {into}. {settled}"


def _centre_gain(found: ClassTotals, centres: Array, origin: Array) -> Ball:
    """Σ W‖m − c‖² over the clusters that have rows."""
    d, full = len(origin), found.mass > 0
    first, second = found.total[full, :d], found.total[full, d:]
    radii = found.radius[full, :d], found.radius[full, d:]
    mean, _ = moments_of(first, second, *radii, found.mass[full, None], found.mass_radius[full, None])
    away = mean - (ball(centres[full]) - ball(origin))
    return (away.square().sum(axis=1) * found.weight[full]).sum()
