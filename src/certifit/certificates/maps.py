"""From coefficients to scores: the linear map of an objective, as its proof of optimality needs it.

A model is z(x) = w·φ(x) + b. With φ(x) = x the map is a table of columns, dense or sparse; with a kernel φ is known by
its inner products alone, and w = Σ cⱼφ(xⱼ) over some rows. Either map answers three questions with rounding bounds:
the scores of the rows, the penalty of w, and the penalty's share of the duality gap, Λ[R(w) + R*(v) − v·w] with
Λv = −Σ βᵢφ(xᵢ).
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod

import numpy as np
import scipy.sparse

from certifit._objective import Objective
from certifit._types import Array, Matrix
from certifit.certificates._ball import ETA, UNIT, Ball, ball, dot, gamma, rationals, to_float
from certifit.certificates._blocks import row_blocks
from certifit.certificates._data import Data, Evidence, Rigor
from certifit.certificates._row_sums import dot_t
from certifit.certificates.gram import BALLS, GramSource, centre_of
from certifit.regularizers import SquaredL2

_NONE = Ball(np.inf)
FEW = 8  # times as many columns as have coefficients: then a copy of those that do is cheaper to read


class FeatureMap(ABC):
    """φ, as far as it is known. Coefficients have one row an output."""

    width: int
    """How many coefficients an output has."""
    n: int

    @abstractmethod
    def scores(self, coef: Array) -> Ball:
        """w·φ(xᵢ) of every row, one column an output."""

    @abstractmethod
    def penalty(self, objective: Objective, coef: Array, intercept: Array, scores: Ball) -> Ball:
        """Λ R(w); ``scores`` are those of the same coefficients."""

    @abstractmethod
    def gap(self, objective: Objective, coef: Array, intercept: Array, beta: Array) -> tuple[Ball, str]:
        """Λ [R(w) + R*(v) − v·w] for β of all rows, and what is wrong where there is no bound."""

    @abstractmethod
    def distances(self, free: bool) -> tuple[Array, Array | None]:
        """Upper bounds of ‖φ(xᵢ) − c‖, and the centre c (None: zero; any will do where the offset is free)."""


class ColumnMap(FeatureMap):
    """φ(x) = x, for a dense or sparse table."""

    def __init__(self, data: Data, rigor: Rigor) -> None:
        self.given: Matrix = data.X
        self.X = rationals(data.X) if rigor == "exact" else data.X
        self.like = Ball(rationals(0.0)) if rigor == "exact" else None
        self.n, self.width = data.X.shape

    def scores(self, coef: Array) -> Ball:
        X, coef = used_columns(self.X, coef)
        return dot(X, ball(coef.T, like=self.like))

    def among(self, columns: Array) -> ColumnMap:
        """The map to some columns alone."""
        part = copy.copy(self)
        part.given, part.width = self.given[:, columns], len(columns)
        part.X = part.given if self.X is self.given else self.X[:, columns]
        return part

    def _padded(self, objective: Objective, coef: Array, intercept: Array) -> Ball:
        """W, with the weight b/B of the constant column where the offset is penalised."""
        W = ball(coef, like=self.like)
        if objective.padding is None:
            return W
        return _beside(W, (ball(intercept, like=self.like) / objective.padding).reshape(-1, 1))

    def penalty(self, objective: Objective, coef: Array, intercept: Array, scores: Ball) -> Ball:
        return ball(objective.penalty(self._padded(objective, coef, intercept)))

    def slopes(self, objective: Objective, beta: Array) -> Ball:
        """v of the module docstring, one row an output."""
        B = ball(np.ascontiguousarray(beta), like=self.like)  # BLAS adds up strides in another order
        V = -dot_t(self.X, B).T / ball(objective.strength, like=self.like)
        if objective.padding is None:
            return V
        return _beside(V, (-(B.sum(axis=0) * objective.padding) / objective.strength).reshape(-1, 1))

    def gap(self, objective: Objective, coef: Array, intercept: Array, beta: Array) -> tuple[Ball, str]:
        if not objective.strength > 0.0:
            return _NONE, "without a penalty the multipliers prove nothing"
        V = self.slopes(objective, beta)
        if not np.all(ball(objective.gauge(V)).upper <= 1):
            return _NONE, "the multipliers are not feasible for the penalty"
        return ball(objective.penalty_fenchel_young(self._padded(objective, coef, intercept), V)), ""

    def distances(self, free: bool) -> tuple[Array, Array | None]:
        centred = free and not scipy.sparse.issparse(self.given) and self.n > 0
        centre = np.asarray(self.given.mean(axis=0)) if centred else None
        return row_distances(self.given, centre), centre


def used_columns(X: Matrix, coef: Array) -> tuple[Matrix, Array]:
    """The columns of a dense table that have coefficients, where these are few, and the coefficients."""
    used = np.flatnonzero(np.any(coef != 0.0, axis=0))
    if scipy.sparse.issparse(X) or FEW * len(used) > X.shape[1]:
        return X, coef
    return X[:, used], coef[:, used]


class KernelMap(FeatureMap):
    """φ of a kernel, with w = Σ cⱼφ(xⱼ) over the rows ``support``; the penalty is c·‖w‖²."""

    def __init__(self, data: Data, evidence: Evidence, rigor: Rigor, support: Array) -> None:
        self.source = GramSource(data, evidence, rigor)
        self.support, self.n, self.width = support, self.source.n, len(support)

    def scores(self, coef: Array) -> Ball:
        return self.source.scores(self.support, coef.T)

    def _factor(self, objective: Objective) -> float:
        if not isinstance(objective.regularizer, SquaredL2) or objective.regularizer.prior is not None:
            raise ValueError("a kernel goes with the squared norm around zero")
        if objective.padding is not None or not objective.strength > 0.0:
            raise ValueError("a kernel goes with a penalty, and with an offset that is not penalised")
        return objective.regularizer.factor

    def penalty(self, objective: Objective, coef: Array, intercept: Array, scores: Ball) -> Ball:
        if len(coef) != 1:  # the length of one expansion is added up here
            raise ValueError("a kernel goes with one column of scores for each machine")
        own = ball(coef[0], like=scores) * scores[self.support][:, 0]
        square = own.sum().maximum(0.0)  # given values that are rounded, or no kernel's, may add up to less
        return square * ball(self._factor(objective), like=scores) * objective.strength

    def gap(self, objective: Objective, coef: Array, intercept: Array, beta: Array) -> tuple[Ball, str]:
        """Λ·factor·‖w − v/(2·factor)‖²: the length of Σ eⱼφ(xⱼ) with e = c + β/(2·factor·Λ)."""
        factor = self._factor(objective)
        if np.any(np.delete(beta[:, 0], self.support)):
            return _NONE, "a multiplier of a row that is not among the support"
        b, c = beta[self.support, 0], coef[0]
        like = Ball(rationals(0.0)) if self.source.exact else None
        times = ball(factor, like=like) * objective.strength
        exact = _power_of_two(factor) and _power_of_two(objective.strength)
        both = -2.0 * factor * objective.strength
        if (
            exact and np.array_equal(b, both * c) and np.array_equal(c, b / both)
        ):  # e is zero, nothing lost to underflow
            return Ball(0.0), ""
        e = ball(c, like=like) + ball(b, like=like) / (times * 2.0)
        short = self._short(e)
        if not to_float(short.upper) <= 1e-26 * to_float(self._short(ball(c)).lower):
            f = self.source.scores(self.support, np.asarray(e.mid)[:, None])[self.support][:, 0]
            middle = np.sqrt((Ball(e.mid) * f).sum().maximum(0.0))
            short = (middle + np.sqrt(self._short(Ball(e.mid * 0, e.rad)))).square()
        return short * times, ""

    def _short(self, e: Ball) -> Ball:
        """(Σ |eⱼ| ‖φ(xⱼ)‖)², an upper bound of ‖Σ eⱼφ(xⱼ)‖² that needs no more than the diagonal."""
        size = ball(np.asarray(to_float(e.magnitude), dtype=float)) * ball(self.source.norms()[self.support])
        return size.sum().square() * (1.0 + 1e-12)

    def distances(self, free: bool) -> tuple[Array, Array | None]:
        centre = centre_of(self.source.kernel, self.source.X) if free else None
        return self.source.radii(centre)._outward()[1], centre


def row_distances(X: Matrix, centre: Array | None) -> Array:
    """Upper bounds of ‖x − c‖ for the rows (c = 0 when None).

    A difference is rounded once, its square once more, and their sum of d numbers by at most γ_d, in any order: the
    computed sum is within γ_(d+3) of the exact one, but for d squares that may underflow.
    """
    sparse = scipy.sparse.issparse(X)
    if sparse and centre is None:
        return np.asarray(np.sqrt(BALLS.squares(X)).upper)
    n, d = X.shape
    squares = np.empty(n)
    with np.errstate(over="ignore", invalid="ignore"):
        for part in row_blocks(n, d):
            A = X[part].toarray() if sparse else np.asarray(X[part], dtype=float)
            A = A if centre is None else A - centre
            squares[part] = np.einsum("ij,ij->i", A, A)
        return np.asarray(np.sqrt(squares * (1.0 + 2.0 * gamma(d + 4)) + d * ETA) * (1.0 + 4 * UNIT))


def _power_of_two(x: float) -> bool:
    return math.frexp(x)[0] == 0.5


def _beside(W: Ball, more: Ball) -> Ball:
    """Two balls side by side."""
    parts = [(b.mid, np.broadcast_to(b.rad, b.mid.shape)) for b in (W, more)]
    return Ball(np.column_stack([m for m, _ in parts]), np.column_stack([r for _, r in parts]))
