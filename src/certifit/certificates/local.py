r"""Optimality of smooth fits without a detour over duality: the local bound.

For losses with |φ‴| ≤ φ″ (logistic, exponential, Poisson with log link) and a penalty c‖w − w₀‖² or none, with g and H
the gradient and Hessian over (w, b),

.. math:: q^2 = g^\top H^{-1} g,\qquad r = \max_i (\tilde x_i^\top H^{-1}\tilde x_i)^{1/2},\qquad u = qr .

If u < 1, an optimum exists, :math:`P - P^* \le q^2/(2(1-u))`, and every score lies within
:math:`q/(1-u)\cdot(\tilde x^\top H^{-1}\tilde x)^{1/2}` of its value at the exact optimum. (These are the simpler upper
bounds of (u + (1−u) log(1−u))/r² and −log(1−u)/r.) No penalty is needed, so maximum likelihood is covered too, and
the evidence is the coefficients alone.

H⁻¹ enters only through a matrix T with ‖TᵀHT − I‖ ≤ ε, as in `least_squares`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from certifit._objective import Objective, Target
from certifit._types import Array, Bools, Matrix, Named
from certifit.certificates._ball import UNIT, Ball, ball, dot, gamma, shifted
from certifit.certificates._blocks import places, row_blocks
from certifit.certificates._data import Data, Evidence, Figures, Rigor
from certifit.certificates._figures import at_least
from certifit.certificates._frame import Frame, factor_of, times_power
from certifit.certificates._gap import excess_of, line, share_of, words
from certifit.certificates._record import Check, Kind, Proof, ProvedNumber, about, equal, lower, register, upper
from certifit.certificates._row_sums import run_sum
from certifit.certificates._schema import FINITE, MODEL, RECORD
from certifit.certificates.optimality import changed, numbers, perfect, read_objectives, sound, witness_scores
from certifit.losses import Loss
from certifit.regularizers import SquaredL2, Zero

_SMALL = 1e-2  # of u: sharper lengths would lower the gap by no more than this share
_WIDTH = 8  # numbers of a row that are in use at a time
_SHARED = "logistic", "poisson"  # losses whose value and slope come from one exponential
_PLAIN = 64  # powers of two up to which squares of unscaled rows lose less than a length of 1e-120 to underflow
_BLUNT = 2.0**-900  # curvatures below this have lost digits to underflow; without them H is only smaller
_ROUNDED = 1024 * UNIT  # e^(az) of a rounded product az errs by |az| units, at most 700, and the rest by a few


def curvature_drift(score_error: float) -> float:
    """By which share of itself a computed curvature may differ from the one at the true score, and so all of H.

    Curvatures at z ± e lie within a factor exp(e), for |φ‴| ≤ φ″; the rest is rounding of the curvature itself.
    """
    return math.expm1(score_error) + _ROUNDED


@dataclass(frozen=True)
class Neighbourhood:
    """Where the exact optimum must be: every score is within ``radius(X)`` of its value there."""

    T: Array
    epsilon: float
    reach: float  # q/(1 − u)
    centre: Array
    power: Array  # of two, by which the frame scales columns, and the constant one where the offset is free

    def lengths(self, X: Matrix, rows: Array | None = None) -> Array:
        """Upper bounds of (x̃ᵀH⁻¹x̃)^½ for rows of X, or for those with these numbers."""
        found, norm = np.empty(X.shape[0] if rows is None else len(rows)), np.linalg.norm(self.T)
        with np.errstate(all="ignore"):
            for part, A in self._blocks(X, rows):
                slack = (gamma(len(self.T) + 12) * np.linalg.norm(A, axis=1) + 1e-150) * norm
                found[part] = np.linalg.norm(A @ self.T, axis=1) + slack
        return found * (1.0 + 1e-12) / math.sqrt(1.0 - self.epsilon)

    def quick_lengths(self, X: Matrix, rows: Array | None = None) -> Array:
        """Larger upper bounds of the same, ‖x̃‖‖T‖, without a matrix product; ‖T‖² ≤ ‖T‖₁‖T‖∞."""
        d, first = X.shape[1], self.power[0]
        plain = not scipy.sparse.issparse(X) and not np.any(self.centre) and len(self.power) > 1
        with np.errstate(all="ignore"):
            if plain and np.all(self.power[:d] == first) and abs(first) <= _PLAIN:
                # One power of two for all columns: taken out, of rows that are not copied to be scaled.
                ones = float(np.ldexp(1.0, -2 * self.power[-1])) * (len(self.T) - d)
                squares = _squares(X, rows) * float(np.ldexp(1.0, -2 * first)) + ones
                return np.asarray((np.sqrt(squares) + 1e-120) * self._stretch)
            found = np.empty(X.shape[0] if rows is None else len(rows))
            for part, A in self._blocks(X, rows):
                np.einsum("ij,ij->i", A, A, out=found[part])
            return (np.sqrt(found) + 1e-150) * self._stretch

    def shortened(self, lengths: Array, X: Matrix, most: float) -> Array:
        """These upper bounds, and where they are above ``most`` sharper ones that cost a read of those rows."""
        for sharper in (self.quick_lengths, self.lengths):
            long = np.flatnonzero(~(lengths <= most))
            if not len(long):
                break
            if len(long) == len(lengths):  # the table as it is, without a copy of the rows
                lengths = np.fmin(lengths, sharper(X))
            else:
                lengths[long] = np.fmin(lengths[long], sharper(X, long))
        return lengths

    @property
    def _stretch(self) -> float:
        """At least ‖T‖/√(1 − ε)."""
        size = np.abs(self.T)
        norm = min(float(np.linalg.norm(size)), math.sqrt(float(size.sum(axis=0).max() * size.sum(axis=1).max())))
        return norm * (1.0 + 1e-10) / math.sqrt(1.0 - self.epsilon)

    def _blocks(self, X: Matrix, rows: Array | None) -> Iterator[tuple[slice, Array]]:
        """Rows of X in the coordinates of T, a block at a time, each overwritten by the next."""
        d, p, moved = X.shape[1], len(self.T), bool(np.any(self.centre))
        parts = row_blocks(X.shape[0] if rows is None else len(rows), p)
        room = np.full((parts[0].stop if parts else 0, p), np.ldexp(1.0, -self.power[-1]))  # the ones, if any
        for part in parts:
            some = X[part if rows is None else rows[part]]
            some = some.toarray() if scipy.sparse.issparse(X) else some
            A = room[: len(some)]
            some = np.subtract(some, self.centre, out=A[:, :d]) if moved else some
            times_power(some, -self.power[:d], out=A[:, :d])
            yield part, A

    def radius(self, X: Matrix, lengths: Array | None = None) -> Array:
        """How far a score may lie from that of the exact optimum (``lengths``: those of X, where they are known)."""
        return self.reach * (1.0 + 1e-12) * (self.lengths(X) if lengths is None else lengths)

    def rows(self, X: Matrix, coef: Array, intercept: Array, now: Array, limit: float = 0.0) -> Bools:
        """Which rows of X have surely the optimum's label; ``now`` are the scores the model gives them."""
        z = dot(X, np.ravel(np.asarray(coef, dtype=float))) + float(np.ravel(intercept)[0])
        away = self.radius(X)
        slack = 8 * UNIT * (np.abs(z.mid) + away)
        sure = np.where(now > limit, z.lower - away - slack > limit, z.upper + away + slack < limit)
        return np.asarray(sure)


def _mass(data: Data, target: Target) -> Ball:
    """The sum of the weights, counted where they are all one."""
    return data.total if target.weights is data.weights else ball(target.weights).sum()


def _squares(X: Array, rows: Array | None) -> Array:
    """Squared lengths of rows of X, or of those with these numbers, as computed."""
    found, d = np.empty(len(X) if rows is None else len(rows)), X.shape[1]
    parts = row_blocks(len(found), d)
    room = np.empty((parts[0].stop if rows is not None and parts else 0, d))
    for part in parts:
        some = None if rows is None else rows[part]  # no number is out of range: they were counted here
        A = X[part] if some is None else X.take(some, axis=0, out=room[: len(some)], mode="clip")
        np.einsum("ij,ij->i", A, A, out=found[part])
    return found


def _slopes(loss: Loss, z: Any, y: Array) -> Ball:
    """φ′(z) with rounding bounds: where e^z − y is near zero, the rounding of e^z is what is left of it."""
    try:
        return ball(loss.slope(z, ball(y)))  # type: ignore[arg-type]
    except (
        TypeError
    ):  # a formula of the user's own that is for plain arrays: taken as good to 8 ulp, and it grows with z
        low, high = loss.slope(z.lower, y), loss.slope(z.upper, y)
        return Ball.between(low - 16 * UNIT * np.abs(low), high + 16 * UNIT * np.abs(high))


def tally(y: Array) -> tuple[Array, Array]:
    """The values that occur, in order, and how often; whole numbers of a small range are counted without sorting."""
    low, high = (float(y.min()), float(y.max())) if len(y) else (np.nan, np.nan)
    if not (high - low <= len(y) and low == np.rint(low) and max(-low, high) < 2.0**53):
        return np.unique(y, return_counts=True)
    counts = np.zeros(int(high - low) + 1, dtype=int)
    for part in row_blocks(len(y), _WIDTH):
        above = y[part] - low  # whole numbers of this size have exact differences
        whole = above.astype(int)
        if not np.array_equal(whole, above):
            return np.unique(y, return_counts=True)
        counts += np.bincount(whole, minlength=len(counts))
    seen = np.flatnonzero(counts)
    return seen + low, counts[seen]


@dataclass(frozen=True)
class _Rows:
    """What the rows say at some coefficients; slopes and curvatures times the weights."""

    scores: Ball
    slopes: Ball
    curvature: Array
    loss: Ball  # of all rows
    spare: Array  # a place for one more number a row


@dataclass(frozen=True)
class _Local:
    """The bound and what it was computed from (sums, not means)."""

    value: Ball
    null: Ball
    gap: Ball
    u: float
    scores: Ball
    area: Neighbourhood | None
    lengths: Array | None = None  # upper bounds for the training rows, in that neighbourhood


@dataclass(frozen=True)
class _Fit:
    """One target with its data, and the bound at any coefficients."""

    X: Matrix
    offset: Array | None
    objective: Objective
    target: Target

    @classmethod
    def of(cls, data: Data, evidence: Named) -> _Fit:
        objectives, targets = read_objectives(data, evidence)
        objective = objectives[0]
        if len(targets) != 1 or targets[0].outputs != 1:
            raise ValueError("The local bound is for one output.")
        if not objective.loss.self_concordant or not isinstance(objective.regularizer, (SquaredL2, Zero)):
            raise ValueError("The local bound is for losses with |φ‴| ≤ φ″ and the penalty l2 or none.")
        X = data.X
        if objective.padding is not None:
            column = np.full((X.shape[0], 1), objective.padding)
            X = scipy.sparse.hstack([X, column], format="csr") if scipy.sparse.issparse(X) else np.hstack([X, column])
        return cls(X, data.offset, objective, targets[0])

    def point(self, coef: Array, intercept: float) -> tuple[Ball, float]:
        """Coefficients and free offset; a penalised one is the weight b/B of the constant column."""
        if self.objective.padding is None:
            return ball(coef), intercept
        last = Ball(intercept) / self.objective.padding
        return Ball(np.append(coef, last.mid), np.append(np.zeros(len(coef)), last.rad)), 0.0

    @property
    def ridge(self) -> float:
        """The curvature of the penalty."""
        return 0.0 if isinstance(self.objective.regularizer, Zero) else self.objective.convexity

    def rows(self, w: Ball, b: float) -> _Rows:
        """Scores, slopes and curvatures, a few thousand rows at a time: what is computed of them stays in the cache."""
        n, objective, offset = self.X.shape[0], self.objective, self.offset
        room = places(6, n)
        scores, slopes, curvature = Ball(room[0], room[1]), Ball(room[2], room[3]), room[4]
        losses, shared = [], objective.loss.name in _SHARED
        for part in row_blocks(n, _WIDTH):
            y, weights = self.target.y[part], self.target.weights[part]
            z = dot(self.X[part], w) + b
            z = z if offset is None else z + offset[part]
            even = bool(np.all(weights == 1.0))
            if shared:  # what depends on y alone is added up once
                value, u = (ball(x) for x in objective.loss.above_level(z, Ball(y)))  # type: ignore[arg-type]
                losses.append(run_sum(value if even else value * weights))
            else:
                losses.append(ball(objective.total(z, Ball(y), weights)))
                u = _slopes(objective.loss, z, y)
            u = u if even else u * weights
            for whole, found in ((scores, z), (slopes, u)):
                whole.mid[part], whole.rad[part] = found.mid, found.rad
            curvature[part] = objective.curvature(z.mid, y, weights)
        loss = Ball(np.array([x.mid for x in losses]), np.array([x.rad for x in losses])).sum()
        if shared:
            few = self._tallied
            loss = loss + (ball(objective.loss.level(Ball(few.y))) * few.weights).sum()  # type: ignore[arg-type]
        if np.min(curvature, initial=np.inf) < _BLUNT:
            curvature = np.where(curvature < _BLUNT, 0.0, curvature)
        return _Rows(scores, slopes, curvature, loss, room[5])

    def at(self, coef: Array, intercept: float) -> _Local:
        """All figures of the local bound."""
        objective, weights = self.objective, self.target.weights
        w, b = self.point(coef, intercept)
        rows = self.rows(w, b)
        z, curvature = rows.scores, rows.curvature
        value = rows.loss + objective.penalty(w)
        null = self._null() + objective.penalty(ball(np.zeros(len(w))))
        nothing = _Local(value, null, Ball(np.inf), np.inf, z, None)
        frame = Frame.of(self.X, curvature, objective.free, self.ridge, rows.slopes.reshape(-1, 1))
        q, factor = self._gradient(frame, w), factor_of(frame, self.ridge)
        if factor is None or not np.isfinite(value.upper):
            return nothing
        drift = curvature_drift(float(np.max(z.rad, initial=0.0)))
        epsilon = factor.epsilon + drift * (1.0 + factor.epsilon)
        if not epsilon < 0.5:
            return nothing
        length = dot(factor.T.T, q).square().sum() / (1.0 - 1.01 * epsilon)
        area = Neighbourhood(factor.T, epsilon, 0.0, frame.centre, frame.power)
        size = math.sqrt(max(float(length.upper), 0.0)) * (1.0 + 1e-12)
        # H is at least what one row adds to it, s x̃x̃ᵀ, so that x̃ᵀH⁻¹x̃ ≤ 1/s: for most rows that is enough.
        alone = np.sqrt(curvature, out=rows.spare)
        np.divide((1.0 + 1e-12) / math.sqrt(1.0 - drift), alone, out=alone)  # infinite where there is no curvature
        lengths = area.shortened(alone, self.X, _SMALL / max(size, 1e-300))
        u = size * float(np.max(lengths, where=weights > 0.0, initial=0.0)) * (1.0 + 1e-12)
        if not u < 1.0:
            return replace(nothing, u=u)
        gap = length / (2.0 * (1.0 - u * (1.0 + 1e-12)))
        return _Local(value, null, gap, u, z, replace(area, reach=size / (1.0 - u)), lengths)

    @cached_property
    def _tallied(self) -> Target:
        """The target with equal values as one, where all rows weigh the same."""
        if not np.all(self.target.weights == 1.0):
            return self.target
        y, counts = tally(self.target.y)
        return Target(y, counts.astype(float), 1)

    def _null(self) -> Ball:
        """The loss of the best constant; rows of equal targets have equal ones, and classes and counts are few."""
        target = self.target if self.offset is not None else self._tallied
        start = np.zeros(len(target.y)) if self.offset is None else self.offset
        flat = Ball(start) + float(self.objective.constants(target, self.offset)[0])
        return ball(self.objective.total(flat, Ball(target.y), target.weights))

    def _gradient(self, frame: Frame, w: Ball) -> Ball:
        """The gradient in the coordinates of the frame."""
        q = frame.half_gradient(self.X)[:, 0]
        penalty = self.objective.regularizer
        if not self.ridge or not isinstance(penalty, SquaredL2):
            return q
        away = w - (0.0 if penalty.prior is None else np.array(penalty.prior))
        pull = away * (Ball(self.objective.strength) * (2.0 * penalty.factor))
        more = np.zeros(len(frame.power) - len(w))
        full = Ball(np.append(pull.mid, more), np.append(np.broadcast_to(pull.rad, pull.shape), more))
        return q + shifted(full, -frame.power)


@register
class LocalBound(Kind):
    """Claim: the fit is within ``gap`` of the best, and that many training labels are the optimum's."""

    name: ClassVar[str] = "local"
    theorem: ClassVar[str] = "self-concordance: a small Newton decrement bounds the distance to the optimum"
    needs: ClassVar = {"objective": RECORD, "coef": FINITE, "intercept": FINITE}
    may: ClassVar = {"witness_coef": FINITE, "witness_intercept": FINITE, "model": MODEL}

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        fit = _Fit.of(data, evidence)
        w, b = numbers(evidence, "coef"), numbers(evidence, "intercept")
        fits = w.shape == (1, data.X.shape[1]) and b.shape == (1,)
        checks = [Check("coefficients match the data", fits), *sound(fit.objective, fit.target, w, b)]
        if not all(c.holds for c in checks):
            return Proof({}, tuple(checks))
        model = best = fit.at(w[0], float(b[0]))
        if "witness_coef" in evidence:
            there, at = (np.ravel(np.asarray(evidence[k], dtype=float)) for k in ("witness_coef", "witness_intercept"))
            if len(there) != w.shape[1] or (not fit.objective.fit_intercept and at.any()):
                raise ValueError("the witness does not match the data")
            best = fit.at(there, float(at[0]))
        checks.append(Check("the Newton decrement is small enough", best.area is not None, f"u = {best.u:.3g}"))
        S = _mass(data, fit.target) if fit.objective.stated == "mean" else Ball(1.0)
        if best.area is None:
            return Proof({"value": about(model.value / S)}, tuple(checks))
        gap = model.gap  # or, where it is sharper, P(model) − P(witness) + the bound at the witness
        if best is not model:
            through = model.value - best.value + best.gap
            gap = model.gap if model.gap.upper <= through.upper else through
        if perfect(fit.objective, fit.target, w, b) and data.offset is None:
            gap = Ball(0.0)
        figures: dict[str, ProvedNumber] = {
            "value": about(model.value / S),
            "bound": lower((best.value - best.gap) / S),
            "gap": upper(gap / S),
            "relative_gap": upper(share_of(gap, model.null)),
            **excess_of(gap, model.value),
        }
        if fit.objective.classes is not None and best is not model:
            figures |= changed(model.scores.mid[:, None], witness_scores(data, evidence))
        elif fit.objective.classes is not None:
            assert model.area is not None
            sure = np.abs(model.scores.mid)
            sure -= model.scores.rad
            open_ = np.flatnonzero(~(sure > model.area.radius(fit.X, model.lengths)))
            last = int(np.sum(sure[open_] > model.area.radius(fit.X[open_])))
            figures["certain"] = at_least(len(sure) - len(open_) + last)
            figures["rows"] = equal(data.X.shape[0])
        return Proof(figures, tuple(checks), model.area)

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        if "gap" not in figures:
            return words({}, "")
        return words(figures, "self-concordance", evidence.get("model"))

    def details(self, figures: Figures) -> str:
        return line(figures)
