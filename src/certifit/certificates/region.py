r"""Which labels cannot change on the way to the exact optimum.

If F grows by ½Λm‖w − w*‖² away from its minimum, a proved gap puts w* within ρ = √(2·gap/(Λm)) of w. Let b be a best
offset for w; because each score enters the equation of the offset monotonically, that of w* is within ρ·maxᵢ‖xᵢ − c‖ of
it for any centre c, so that

.. math:: |z(x) - z^*(x)| \le \rho\,(\lVert x - c\rVert + \max_i\lVert x_i - c\rVert) .

Where the best offsets fill an interval (hinge), the label must agree at both ends. Without a free offset c = 0 and the
second term is absent; a penalised offset is one more coefficient, ‖(x, B)‖ ≤ ‖x‖ + B. Several classes: one against the
rest compares intervals, pairs count the votes that are sure, and softmax needs a lead of
√2(ρ(‖x − c‖ + (K−1)·maxᵢ‖xᵢ − c‖) + drift), where drift bounds how far the offsets are from the best ones for W.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.special

from certifit._objective import Objective, Target
from certifit._types import Array, Bools, Matrix
from certifit.certificates._ball import UNIT, Ball, dot, gamma
from certifit.certificates.maps import row_distances
from certifit.losses import Loss

Rule = Literal["sign", "rest", "pairs", "softmax"]


@dataclass(frozen=True)
class Region:
    """Where the exact optimum of each machine must be."""

    rule: Rule
    rho: Array
    low: Array  # ends of an interval that holds every best offset for w
    high: Array
    reach: Array  # how far the optimum's best offset may be from that interval
    centre: Array | None
    padding: float
    pairs: tuple[tuple[int, int], ...] = ()

    def rows(self, X: Matrix, coef: Array, intercept: Array, now: Array, limit: float = 0.0) -> Bools:
        """Which rows of X have surely the optimum's label; ``now`` are the scores the model gives them."""
        W = np.atleast_2d(np.asarray(coef, dtype=float))
        with np.errstate(all="ignore"):  # a distance that overflows makes a row uncertain, which needs no warning
            scores, far = dot(X, W.T), row_distances(X, self.centre)
        return self.judge(scores, far, now, limit)

    def judge(self, scores: Ball, distance: Array, now: Array, limit: float = 0.0) -> Bools:
        """The same, from w·φ(x) (m, machines) and ‖φ(x) − c‖ (m,)."""
        now = np.asarray(now).reshape(scores.shape)
        with np.errstate(all="ignore"):
            away = (distance[:, None] + self.padding) * self.rho + self.reach
            ends = np.maximum(np.abs(self.low), np.abs(self.high))
            slack = 8 * UNIT * (np.abs(scores.mid) + ends + away)
            low = scores.lower + self.low - away - slack
            high = scores.upper + self.high + away + slack
            if self.rule == "pairs":
                return self._votes(low > 0.0, high < 0.0, now > 0.0)
            if self.rule == "sign":
                side = now[:, 0] > limit
                return np.asarray(np.where(side, low[:, 0] > limit, high[:, 0] < limit))
            at, top = np.arange(len(now)), now.argmax(axis=1)
            others = high.copy()
            others[at, top] = -np.inf
            return np.asarray(low[at, top] > others.max(axis=1))

    def _votes(self, yes: Bools, no: Bools, now: Bools) -> Bools:
        """The winner is sure when its sure votes exceed what any other class could get at most."""
        n, classes = len(now), 1 + max(max(pair) for pair in self.pairs)
        sure, possible, given = (np.zeros((n, classes)) for _ in range(3))
        for k, (first, second) in enumerate(self.pairs):
            for one, stays, against, says in (
                (first, yes[:, k] & now[:, k], no[:, k] & ~now[:, k], now[:, k]),
                (second, no[:, k] & ~now[:, k], yes[:, k] & now[:, k], ~now[:, k]),
            ):
                sure[:, one] += stays
                possible[:, one] += ~against
                given[:, one] += says
        winner = given.argmax(axis=1)
        most = sure[np.arange(n), winner]
        possible[np.arange(n), winner] = -1.0
        return np.asarray(most > possible.max(axis=1))


def region_of(
    objective: Objective, targets: tuple[Target, ...], scores: Ball, intercept: Array, gaps: list[float],
    distances: tuple[Array, Array | None],
) -> Region | None:  # fmt: skip
    """The region that the gaps of all machines prove (scores without offset); None where nothing is certain."""
    m = objective.convexity * (1.0 - 4 * UNIT)
    if objective.classes is None or objective.offset or not (0.0 < m < math.inf and all(map(math.isfinite, gaps))):
        return None
    rho = np.array([math.sqrt(2.0 * max(g, 0.0) / m + 5e-324) * (1.0 + 1e-12) for g in gaps])
    far, centre = distances
    reach = [float(np.max(far[t.weights > 0], initial=0.0)) if objective.free else 0.0 for t in targets]
    if objective.loss.targets == "class":
        return _softmax(objective, targets[0], scores, intercept, float(rho[0]), reach[0], centre)
    low, high = np.array(intercept, dtype=float), np.array(intercept, dtype=float)
    if objective.free:
        for k, target in enumerate(targets):
            low[k], high[k] = offsets(objective.loss, scores[:, k], target, float(intercept[k]))
    rule: Rule = "sign" if len(targets) == 1 else objective.layout
    pairs = tuple((i, j) for i, j in objective.machines if j is not None) if rule == "pairs" else ()
    wide = rho * np.array(reach) * (1.0 + 4 * UNIT)
    return Region(rule, rho, low, high, wide, centre, objective.padding or 0.0, pairs)


def _softmax(
    objective: Objective, target: Target, scores: Ball, b: Array, rho: float, reach: float, centre: Array | None
) -> Region | None:
    """A lead of √2(ρ(away + (K−1)reach) + drift) is a lead of intervals half as wide."""
    K, drift = target.outputs, 0.0
    if objective.free:
        s = target.weights
        P = scipy.special.softmax(scores.mid + b, axis=1)
        sP = P * s[:, None]
        H = np.diag(sP.sum(axis=0)) - sP.T @ P
        # Scores that are known to ±r only move each probability by at most 2r of itself.
        blur = 4.0 * float(np.max(np.broadcast_to(scores.rad, scores.shape)[s > 0], initial=0.0))
        curved = float(np.linalg.eigvalsh(H)[1]) * 0.99 - blur * float(s.sum()) if np.all(np.isfinite(H)) else 0.0
        if not curved > 1e-10 * float(s.sum()):  # the rounding of H is far below this
            return None
        mass = np.bincount(target.y, s, K)
        q = (float(np.linalg.norm(sP.sum(axis=0) - mass)) + (1e-12 + blur) * mass.sum()) / math.sqrt(curved)
        u = q * math.sqrt(2.0 / curved)
        if not u < 0.5:
            return None
        drift = q / (1.0 - u) / math.sqrt(curved)
    half = math.sqrt(0.5) * (1.0 + 1e-11)
    reach = half * (rho * (K - 1) * reach + drift) if objective.free else 0.0
    even = np.full(K, half * rho)
    return Region("softmax", even, np.array(b), np.array(b), np.full(K, reach), centre, objective.padding or 0.0)


def offsets(loss: Loss, scores: Ball, target: Target, b: float) -> tuple[float, float]:
    """An interval that surely contains every b minimising Σ sᵢ L(scoreᵢ + b, yᵢ)."""
    rows = np.flatnonzero(target.weights > 0)
    scores, y, s = scores[rows], target.y[rows], target.weights[rows]
    if loss.name == "hinge":
        return hinge_offsets(scores, y, s)
    return _bracket(loss, scores, y, s, b)


def hinge_offsets(scores: Ball, y: Array, cost: Array) -> tuple[float, float]:
    """The interval for Σ costᵢ max(0, 1 − yᵢ(scoreᵢ + b)), whose minimisers may fill one.

    The slope in b rises by costᵢ where b passes yᵢ − scoreᵢ. Moving all these points down moves the minimisers
    down, so the lower ends of the scores' balls bound them on one side and the upper ends on the other. A slope
    that is zero to rounding counts as zero, which only widens the interval.
    """
    slack = 4.0 * gamma(len(y) + 2) * float(np.sum(cost))
    start = -float(np.sum(cost[y > 0]))
    if start >= -slack:  # no row of the second class: b may decrease without bound
        return -np.inf, np.inf
    ends = []
    for points, limit in ((y - scores.upper, -slack), (y - scores.lower, slack)):
        order = np.argsort(points, kind="stable")
        slope = start + np.cumsum(cost[order])
        k = int(np.searchsorted(slope, limit, side="left" if limit < 0 else "right"))
        if k >= len(order):
            return -np.inf, np.inf
        ends.append(float(points[order[k]]))
    return float(np.nextafter(min(ends), -np.inf)), float(np.nextafter(max(ends), np.inf))


def _bracket(loss: Loss, scores: Ball, y: Array, s: Array, b: float) -> tuple[float, float]:
    """The slope Σ sᵢ L′(scoreᵢ + b) grows with b: the ends are where its sign is beyond doubt."""
    size = 1.0 + abs(b) + float(np.abs(scores.mid).max(initial=0.0))
    step = 64.0 * gamma(len(y)) * size

    def pull(at: float, up: bool) -> float:
        """The largest (smallest) slope there can be at this offset, rounding of the formula included."""
        z = scores + at
        u = loss.slope(np.nextafter(z.upper, np.inf) if up else np.nextafter(z.lower, -np.inf), y)
        terms = s * u
        slack = (gamma(len(y) + 2) + 32 * UNIT) * float(np.sum(np.abs(terms)))
        return float(np.sum(terms)) + (slack if up else -slack)

    with np.errstate(all="ignore"):
        while step < 1e6 * size:
            if pull(b - step, True) < 0.0 < pull(b + step, False):
                return float(np.nextafter(b - step, -np.inf)), float(np.nextafter(b + step, np.inf))
            step *= 4.0
    return -np.inf, np.inf
