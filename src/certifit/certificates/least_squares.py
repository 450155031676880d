r"""Optimality of (ridge) least squares without a detour over duality, and what conditioning does to it.

With rows scaled by √s, columns shifted by c and scaled by powers of two, P is a quadratic with Hessian 2H/S, and

.. math:: P(\theta) - P^* = \tfrac1S\, q^\top H^{-1} q \le \frac{\lVert T^\top q\rVert^2}{S\,(1-\varepsilon)},
          \qquad \varepsilon = \lVert T^\top H T - I \rVert_F < 1,

for half the gradient q and *any* matrix T: T comes from a Cholesky or QR factor, but nothing depends on how good that
factor is, because ε is computed. The same T bounds each coefficient's distance to the exact solution,
|θⱼ − θⱼ*| ≤ ‖Tⱼ‖‖Tᵀq‖/(1−ε): digits that are *proved*.

Columns that are dependent to working precision have no such T, and a small gradient then proves nothing: the better fit
may lie along a direction in which the computed H is rounding only. Three ways remain. Small tables are done in whole
numbers, where P − P* = qᵀH⁺q/S whatever the rank. Columns that are exactly sums, differences or copies of others add
nothing to the span, so that the others alone decide. Otherwise the gap is the loss itself (P* ≥ 0), or with a penalty
what weak duality gives.

Evidence: ``objective`` (squared loss with factor one, and the squared norm with factor one around a prior guess, or
none; one record for all targets or one each), ``coef`` (t, d) and ``intercept`` (t,).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from certifit._objective import Objective
from certifit._types import Array
from certifit.certificates._ball import ETA, UNIT, Ball, ball, dot, gamma, rationals, shifted, to_float
from certifit.certificates._data import Data, Evidence, Figures, Rigor
from certifit.certificates._dependence import bits, excess, plain_fraction, rational_of, spanning_columns
from certifit.certificates._frame import Factor, Frame, factor_of, rounded
from certifit.certificates._gap import excess_of, line, share_of, words
from certifit.certificates._record import (
    Check,
    Kind,
    Proof,
    ProvedNumber,
    about,
    equal,
    lower,
    register,
    roughly,
    upper,
)
from certifit.certificates._row_sums import dot_t
from certifit.certificates._schema import FINITE, MODEL, RECORD
from certifit.certificates.optimality import numbers, read_objectives, sound
from certifit.losses import Squared
from certifit.regularizers import NonNegative, Regularizer, SquaredL2, Zero

_COLUMNS = 48  # columns, and bits of the numbers times columns, up to which elimination
_BITS = 1 << 18  # in integers takes no more than about a second
_SMALL = 1 << 14  # entries of X up to which residuals are computed in exact arithmetic


def _residual(data: Data, Y: Ball, coef: Array, intercept: Array, exact: bool) -> Ball:
    """y − Xw − b."""
    if exact:
        X = rationals(data.X)
        return Ball(rationals(to_float(Y.mid))) - dot(X, Ball(rationals(coef.T))) - rationals(intercept)
    return Y - dot(data.X, ball(coef.T)) - intercept


@dataclass(frozen=True)
class _Task:
    """Σ s r² + α‖w − w₀‖² for each target, perhaps with w ≥ 0."""

    alphas: Array  # (t,)
    prior: Array | None  # (t, d)
    positive: bool
    fit_intercept: bool

    @classmethod
    def of(cls, objectives: tuple[Objective, ...], columns: int) -> _Task:
        base: list[Regularizer] = []
        for o in objectives:
            inner = o.regularizer.base if isinstance(o.regularizer, NonNegative) else o.regularizer
            plain = o.loss == Squared() and (isinstance(inner, Zero) or getattr(inner, "factor", 0.0) == 1.0)
            other = o.padding is not None or o.offset or o.stated != "mean"
            if not plain or not isinstance(inner, (Zero, SquaredL2)) or other:
                raise ValueError("this is for (y − z)² with the penalty α‖w − w₀‖² or none, and a free offset")
            base.append(inner)
        first, priors = objectives[0], [getattr(r, "prior", None) for r in base]
        if any(o.signed != first.signed or o.fit_intercept != first.fit_intercept for o in objectives):
            raise ValueError("all targets share the offset and the signs")
        alphas = np.array([0.0 if isinstance(r, Zero) else o.strength for o, r in zip(objectives, base)])
        prior = None
        if any(p is not None for p in priors):
            prior = np.array([np.zeros(columns) if p is None else np.array(p) for p in priors])
            if prior.shape != (len(base), columns):
                raise ValueError("a prior holds one number for each column")
        return cls(alphas, prior, first.signed, first.fit_intercept)


@register
class LeastSquares(Kind):
    """Claim: the least-squares fit is within ``gap`` of the best, and ``digits`` of its coefficients are right."""

    name: ClassVar[str] = "least-squares"
    theorem: ClassVar[str] = "a convex quadratic lies qᵀH⁻¹q above its minimum"
    needs: ClassVar = {"objective": RECORD, "coef": FINITE, "intercept": FINITE}
    may: ClassVar = {"witness_coef": FINITE, "witness_intercept": FINITE, "model": MODEL}

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        d = data.X.shape[1]
        objectives, targets = read_objectives(data, evidence)
        task, Y = _Task.of(objectives, d), np.column_stack([t.y for t in targets])
        coef, intercept = (numbers(evidence, k) for k in ("coef", "intercept"))
        fits = coef.shape == (Y.shape[1], d) and intercept.shape == (len(coef),)
        checks = [Check("coefficients match the data", fits), *sound(objectives[0], targets[0], coef, intercept)]
        finite = bool(np.all(np.isfinite(coef)) and np.all(np.isfinite(intercept)))
        checks.append(Check("coefficients are finite", finite))
        checks.append(Check("some row has weight", bool(data.weights.sum() > 0.0)))
        if not all(c.holds for c in checks):
            return Proof({}, tuple(checks))
        bounds = _bounds(data, Y, coef, intercept, task, rigor)
        if "witness_coef" in evidence and (task.positive or rigor == "float"):  # else exact numbers need none
            W, b = (numbers(evidence, f"witness_{k}") for k in ("coef", "intercept"))
            if W.shape == coef.shape and b.shape == intercept.shape and _allowed(task, W, b):
                bounds = [m.through(n) for m, n in zip(bounds, _bounds(data, Y, W, b, task, rigor))]
        figures = _figures(data, bounds, d)
        gap = figures["gap"].stated
        checks.append(Check("the gap is bounded", math.isfinite(gap), f"{gap:.3g}"))
        return Proof(figures, tuple(checks))

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        text = words(figures, "the exact formula for quadratics", evidence.get("model"))
        if figures and figures["rank"] < figures["columns"]:
            text += (
                f" The columns are dependent (rank {figures['rank']} of {figures['columns']}): "
                "other coefficients fit equally well."
            )
        return text

    def details(self, figures: Figures) -> str:
        if not figures:
            return ""
        text = line(figures)
        if "condition" in figures:
            text += (
                f"\n  condition number {figures['condition']:.2g} (columns scaled)   coefficients right to "
                f"{figures['digits']:.1f} digits"
            )
            if figures["digits_if_rounded"] < 12:
                text += f" as stored; were the data rounded, {max(0.0, figures['digits_if_rounded']):.1f} are to be had"
        return text


def _allowed(task: _Task, coef: Array, intercept: Array) -> bool:
    """Whether a witness is a point of the problem."""
    finite = bool(np.all(np.isfinite(coef)) and np.all(np.isfinite(intercept)))
    signs = not task.positive or bool(np.all(coef >= 0.0))
    return finite and signs and (task.fit_intercept or not np.any(intercept))


@dataclass(frozen=True)
class _Bound:
    """What is proved of one target, in units of 4^unit: F, F − min F ≤ gap, F of the null model."""

    value: Ball
    gap: Ball
    null: Ball
    unit: int
    rank: int
    digits: float | None = None
    survive: float = 16.0
    condition: float = 1.0

    def through(self, witness: _Bound) -> _Bound:
        """The sharper of this gap and F(model) − F(witness) + gap(witness)."""
        there = 2 * (witness.unit - self.unit)
        other = self.value - shifted(witness.value, there) + shifted(witness.gap, there)
        return replace(self, gap=other) if other.upper < self.gap.upper else self

    @property
    def share(self) -> Ball:
        """The gap as a fraction of the null model's loss."""
        return share_of(self.gap, self.null)


def _bounds(data: Data, Y: Array, coef: Array, intercept: Array, task: _Task, rigor: Rigor) -> list[_Bound]:
    """One bound for each target."""
    small = data.X.shape[0] * data.X.shape[1] * len(coef) <= _SMALL
    residual = _residual(data, Ball(Y), coef, intercept, exact=small or rigor == "exact")
    ones = [_One(data, Y[:, t], residual[:, t], coef[t], float(intercept[t]), task, t) for t in range(len(coef))]
    found = dict[int, _Bound]()
    for alpha in dict.fromkeys(task.alphas.tolist()):  # targets with the same penalty share their frame
        alike = [one for one in ones if one.alpha == alpha]
        frame = _frame(alike)
        factor = factor_of(frame, alpha)
        q = None if factor is None else frame.half_gradient(data.X)
        for at, one in enumerate(alike):
            bound = None if factor is None or q is None else one.by_factor(frame, factor, q[:, at])
            if rigor == "exact":  # what the factor says about digits is proved in any case
                exact = one.exactly(any_size=True) or bound or one.loosely()
                found[one.t] = exact if bound is None else replace(bound, gap=exact.gap, rank=exact.rank)
            else:
                found[one.t] = bound or one.exactly() or one.on_basis() or one.loosely()
    return [found[t] for t in range(len(coef))]


def _frame(ones: list[_One]) -> Frame:
    """The frame of targets with the same rows and penalty, with the residuals of them all."""
    first, rho = ones[0], [one.pushes for one in ones]
    stacked = Ball(
        *(
            np.column_stack([np.broadcast_to(v, r.shape) for v, r in zip(part, rho)])
            for part in ([r.mid for r in rho], [r.rad for r in rho])
        )
    )
    return Frame.of(first.data.X, first.data.weights, first.task.fit_intercept, first.alpha, stacked)


def _figures(data: Data, bounds: list[_Bound], columns: int) -> dict[str, ProvedNumber]:
    S = data.total
    value, gap = Ball(0.0), Ball(0.0)
    for b in bounds:
        value, gap = value + shifted(b.value, 2 * b.unit), gap + shifted(b.gap, 2 * b.unit)
    figures = {
        "value": about(value / S),
        "bound": lower(((value - gap) / S).maximum(0.0)),
        "gap": upper(gap / S),
        "relative_gap": upper(max((b.share for b in bounds), key=lambda share: float(share.upper))),
        **excess_of(gap, value),
        "rank": equal(min(b.rank for b in bounds)),
        "columns": equal(columns),
    }
    if all(b.digits is not None for b in bounds):
        figures["condition"] = roughly(max(b.condition for b in bounds))
        figures["digits"] = lower(min(b.digits for b in bounds if b.digits is not None))
        figures["digits_if_rounded"] = roughly(min(b.survive for b in bounds))
    return figures


@dataclass(frozen=True)
class _One:
    """One target of the problem, at given coefficients."""

    data: Data
    y: Array
    residual: Ball
    coef: Array
    intercept: float
    task: _Task
    t: int

    @property
    def alpha(self) -> float:
        return float(self.task.alphas[self.t])

    @cached_property
    def unit(self) -> int:
        """y and residual are about 2^unit: squares of them, taken in that unit, do not vanish or overflow."""
        used = slice(None) if self.data.sample_weight is None else self.data.weights > 0.0
        size = max(float(np.max(np.abs(v[used]), initial=0.0)) for v in (self.y, to_float(self.residual.mid)))
        return int(np.frexp(size)[1]) if math.isfinite(size) else 0

    @property
    def pushes(self) -> Ball:
        """The weighted residuals, in that unit."""
        return self.data.weighed(shifted(self.residual, -self.unit))

    def away(self, like: Ball | None = None) -> Ball:
        """w − w₀."""
        w = ball(self.coef, like=like)
        return w if self.task.prior is None else w - ball(self.task.prior[self.t], like=like)

    def start(self) -> _Bound:
        """F and F of the null model; F* ≥ 0 bounds the gap by F itself."""
        data, s, unit = self.data, self.data.weights, self.unit
        r = shifted(self.residual, -unit)
        r = rounded(r) if r.exact else r
        value = data.weighed(r.square()).sum()
        y = Ball(np.ldexp(self.y, -unit), ETA)
        if self.task.fit_intercept:  # about any b, Σ s(y − b)² − (Σ s(y − b))²/S is the least
            apart = y - float(s / s.sum() @ y.mid)
            null = data.weighed(apart.square()).sum() - data.weighed(apart).sum().square() / data.total
        else:
            null = data.weighed(y.square()).sum()
        if self.alpha > 0.0:
            value = value + shifted(self.away(), -unit).square().sum() * self.alpha
            if self.task.prior is not None:
                null = null + shifted(ball(self.task.prior[self.t]), -unit).square().sum() * self.alpha
        return _Bound(value, value, null, unit, self.data.X.shape[1])

    def gradient(self, frame: Frame, q: Ball) -> Ball:
        """Half of −∇F in the coordinates of the frame; with w ≥ 0, a push against the bound does not count.

        ``q`` is what the residuals give of it.
        """
        d = self.data.X.shape[1]
        if self.alpha > 0.0:
            pull = shifted(self.away(), -self.unit) * self.alpha
            full = [np.append(part, np.zeros(len(frame.power) - d)) for part in (pull.mid, pull.rad + np.zeros(d))]
            q = q - shifted(Ball(*full), -frame.power)
        if self.task.positive:
            keep = np.ones(len(frame.power), dtype=bool)
            keep[:d] = ~((self.coef == 0.0) & (q.upper[:d] <= 0.0))
            q = Ball(np.where(keep, q.mid, 0.0), np.where(keep, np.broadcast_to(q.rad, q.shape), 0.0))
        return q

    def by_factor(self, frame: Frame, factor: Factor, q: Ball) -> _Bound:
        """qᵀH⁻¹q ≤ ‖Tᵀq‖²/(1 − ε), and what T says about single coefficients."""
        plain = self.start()
        q = self.gradient(frame, q)
        length = dot(factor.T.T, q).square().sum() if np.any(q.mid) or np.any(q.rad) else Ball(0.0)
        gap = length / (1.0 - factor.epsilon * 1.01)
        reach = math.sqrt(max(float(length.upper), 0.0)) * 1.01 / (1.0 - factor.epsilon)
        digits = _digits(frame, factor, reach, self.coef, self.intercept, plain)
        survive = _digits_if_rounded(frame, factor, self.coef, plain, self.intercept)
        gap = plain.gap if plain.gap.upper <= gap.upper else gap
        condition = float(np.linalg.cond(factor.T))
        return replace(plain, gap=gap, digits=digits, survive=survive, condition=condition)

    def exactly(self, any_size: bool = False) -> _Bound | None:
        """qᵀH⁺q in integers, whatever the rank; None where the table is too large, or w ≥ 0 leaves no bound."""
        p = self.data.X.shape[1] + self.task.fit_intercept
        if not self.residual.exact or not (any_size or p <= _COLUMNS):
            return None
        H, q = self._system()
        held = np.flatnonzero(self.coef == 0.0).tolist() if self.task.positive else []
        found, rank = excess(H, q, held) if any_size or bits(H, q) * p <= _BITS else (None, 0)
        if found is None:
            return None
        if held:
            rank = excess(H, [Fraction(0)] * p)[1]
        plain = self.start()
        gap = rounded(shifted(Ball(rational_of(found)), -2 * plain.unit))
        return replace(plain, gap=gap, rank=rank - self.task.fit_intercept)

    def _system(self) -> tuple[list[list[Fraction]], list[Fraction]]:
        """H and q, of the columns as they are."""
        X, s = rationals(self.data.X), rationals(self.data.weights)
        n, d = X.shape
        A = np.column_stack([X, rationals(np.ones(n))]) if self.task.fit_intercept else X
        r = self.residual.mid
        q = [plain_fraction(v) for v in A.T @ (s * r)]
        H = [[plain_fraction(v) for v in row] for row in A.T @ (s[:, None] * A)]
        away, alpha = [plain_fraction(v) for v in self.away(like=self.residual).mid], Fraction(self.alpha)
        for j in range(d):
            H[j][j] += alpha
            q[j] -= alpha * away[j]
        return H, q

    def on_basis(self) -> _Bound | None:
        """Where some columns are exactly sums and differences of others, those others alone decide."""
        if self.task.positive or self.alpha > 0.0:
            return None
        basis = spanning_columns(self.data.X, self.data.weights, self.task.fit_intercept)
        if basis is None:
            return None
        part = replace(self, data=replace(self.data, X=self.data.X[:, basis]), coef=self.coef[basis])
        frame = _frame([part])
        factor = factor_of(frame)
        if factor is None:
            return None
        found = part.by_factor(frame, factor, frame.half_gradient(part.data.X)[:, 0])
        return replace(found, rank=len(basis), digits=None)

    def loosely(self) -> _Bound:
        """F* ≥ 0; and with a penalty, weak duality: the residual, with its mean taken off, as dual variables."""
        plain = self.start()
        found = replace(plain, rank=_rank(Frame.of(self.data.X, self.data.weights, self.task.fit_intercept)))
        if not self.alpha > 0.0 or self.task.positive:
            return found
        data, r = self.data, shifted(self.residual, -plain.unit)
        r = rounded(r) if r.exact else r
        mean = data.weighed(r).sum() / data.total if self.task.fit_intercept else Ball(0.0)
        push = dot_t(data.X, data.weighed(r - mean)) - shifted(self.away(), -plain.unit) * self.alpha
        gap = mean.square() * data.total + push.square().sum() / self.alpha
        return replace(found, gap=gap) if gap.upper < found.gap.upper else found


def _digits(frame: Frame, factor: Factor, reach: float, coef: Array, intercept: float, plain: _Bound) -> float:
    """Digits that every coefficient and the offset surely have.

    What cannot be told from zero has no digits of its own: its error is compared with the largest coefficient (in the
    scale of their columns; the targets may have weight where a column is zero). |θⱼ − θⱼ*| ≤ ‖Tⱼ‖·reach; the offset is
    θ_b/D_b − c·w, so that its row of T is a sum of the others.
    """
    d, unit = len(coef), plain.unit
    with np.errstate(all="ignore"):
        wrong = np.linalg.norm(factor.T[:d], axis=1) * reach * (1.0 + 1e-9) + ETA
        size = np.abs(np.ldexp(coef, frame.power[:d] - unit))
        if frame.fit_intercept:
            # In units of 2^(unit − power of the offset), so that nothing overflows that need not.
            lift = np.ldexp(frame.centre, frame.power[d] - frame.power[:d])
            row = factor.T[d] - lift @ factor.T[:d]
            slack = gamma(d + 2) * float(np.abs(lift) @ np.linalg.norm(factor.T[:d], axis=1))
            off = (float(np.linalg.norm(row)) + slack) * reach * (1.0 + 1e-9) + ETA
            wrong, size = np.append(wrong, off), np.append(size, abs(np.ldexp(intercept, frame.power[d] - unit)))
        whole = float(np.max(size, initial=0.0))
        worst = float(np.max(wrong / np.where(wrong < size, size, whole), initial=0.0))
    if whole == 0.0 and max(plain.value.mid, plain.null.mid) <= 0.0:
        return 15.9  # zero everywhere is right
    known = math.isfinite(whole) and math.isfinite(worst)  # else an overflow on the way
    return float(np.clip(-math.log10(worst), 0.0, 15.9)) if known and worst > 0.0 else 0.0


def _digits_if_rounded(frame: Frame, factor: Factor, coef: Array, plain: _Bound, intercept: float) -> float:
    """Digits that survive if every number of the table was rounded to double precision (first order)."""
    with np.errstate(all="ignore"):
        theta = np.ldexp(coef, frame.power[: len(coef)] - plain.unit)
        if frame.fit_intercept:
            theta = np.append(theta, np.ldexp(intercept + frame.centre @ coef, frame.power[-1] - plain.unit))
        row = np.linalg.norm(factor.T, axis=1)
        moved = frame.spread(theta) * UNIT
        r = math.sqrt(max(float(plain.value.mid), 0.0))
        error = row * (moved + float(np.linalg.norm(factor.T)) * r * UNIT)
        size = np.abs(theta)
        counts = size > 1e-12 * size.max(initial=0.0)
        worst = float(np.max(error[counts] / size[counts], initial=0.0))
    return float(np.clip(-math.log10(worst), 0.0, 15.9)) if 0 < worst < np.inf else 0.0


def _rank(frame: Frame) -> int:
    """An estimate of the rank, for tables whose rank is not proved."""
    s = np.linalg.svd(np.nan_to_num(frame.matrix()), compute_uv=False)
    found = int(np.sum(s > max(frame.table.shape[0], len(frame.level)) * 2 * UNIT * s.max(initial=0.0)))
    return min(len(frame.centre), found - frame.fit_intercept)
