"""The same search in exact integers: decides every case, touching included.

Non-negative least squares with rational arithmetic terminates (each support is visited at most once), so its answer
is a decision. Most rows are priced in floats with an error bound; only those within it are priced exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from certifit._types import Array
from certifit.certificates import gamma
from certifit.certificates._integers import Dyadic, as_floats, first_violation, null_space, reduced
from certifit.solvers.separation import Candidate, Differences


@dataclass(frozen=True)
class _ExactRows:
    """Difference rows as integers, with a float image for pricing; ``lift`` is appended to each row."""

    whole: Dyadic
    image: Differences
    lift: int

    @classmethod
    def of(cls, X: Array, y: Array, n_classes: int, lifted: bool) -> _ExactRows:
        whole = Dyadic(X)
        image = Differences(np.ldexp(X, -whole.level), y, n_classes)
        return cls(whole, image, (1 << whole.common) if lifted else 0)

    def rows(self, index: Array) -> Array:
        rows, _ = self.image.pairs(index)
        integers = Differences(self.whole.rows(rows), self.image.y[rows], self.image.n_classes)
        j = np.asarray(index) % (self.image.n_classes - 1)
        Z = integers.rows(np.arange(len(rows)) * (self.image.n_classes - 1) + j)
        if self.lift:
            Z = np.column_stack([Z, np.full(len(Z), self.lift, dtype=object)])
        return Z

    def entering(self, r: Array, support: list[int]) -> int | None:
        """A difference row with z·r > 0, the steepest by float pricing; None when there is provably none."""
        f = as_floats(r)
        u, tail = f[: self.image.dim], (f[-1] if self.lift else 0.0)
        value = self.image.products(u) + tail
        size = Differences(np.abs(self.image.X), self.image.y, self.image.n_classes)
        weights = np.abs(u).reshape(self.image.n_classes - 1, -1).sum(axis=0)  # at least every |u_own| + |u_other|
        error = np.repeat(size.X @ weights, self.image.n_classes - 1) + abs(tail)
        error = error * (2 * gamma(self.image.X.shape[1] + 6)) + 1e-300
        best = int(np.argmax(value / self.image_lengths()))
        if value[best] > error[best]:
            return best
        open_ = np.flatnonzero(value > -error)
        open_ = np.setdiff1d(open_, np.array(support, dtype=np.int64))
        for k in range(0, len(open_), 512):
            products = self.rows(open_[k : k + 512]) @ r
            found = np.flatnonzero(products > 0)
            if len(found):
                return int(open_[k + found[0]])
        return None

    def image_lengths(self) -> Array:
        return np.sqrt(self.image.lengths() ** 2 + (1.0 if self.lift else 0.0))


def _ratios(B: Array, c: Array) -> tuple[list[int], int] | None:
    """Numerators and positive denominator of the least-squares weights of the rows of B; None if dependent."""
    k = len(B)
    if k == 0:
        return [], 1
    R, den, pivots = reduced(np.column_stack([B @ B.T, B @ c]))
    if pivots[:k] != list(range(k)):
        return None
    sign = 1 if den > 0 else -1
    return [int(R[i, k]) * sign for i in range(k)], abs(den)


def exact_mixture(source: _ExactRows, c: Array, start: list[int]) -> tuple[list[int], list[int], int, Array]:
    """Exact min ‖c − Zᵀν‖, ν ≥ 0: support, numerators and denominator of ν, and the residual times that."""
    nu: list[Fraction] = []
    independent = reduced(source.rows(np.array(start, dtype=np.int64)).T)[2] if start else []
    support = [start[j] for j in independent]
    if support:
        numerators, den = _ratios(source.rows(np.array(support)), c) or ([], 1)
        nu = [Fraction(max(v, 0), den) for v in numerators]
    while True:
        support, numerators, den = _settle(source, c, support, nu)
        B = source.rows(np.array(support, dtype=np.int64)) if support else np.zeros((0, len(c)), dtype=object)
        r = c * den - (np.array(numerators, dtype=object) @ B if support else 0 * c)
        if not np.any(r != 0):
            return support, numerators, den, r
        entering = source.entering(r, support)
        if entering is None:
            return support, numerators, den, r
        support = [*support, entering]
        nu = [*(Fraction(v, den) for v in numerators), Fraction(0)]


def _settle(source: _ExactRows, c: Array, support: list[int], nu: list[Fraction]) -> tuple[list[int], list[int], int]:
    """From a feasible ν to the least-squares weights of (part of) its support, all positive."""
    while True:
        solution = _ratios(source.rows(np.array(support, dtype=np.int64)), c) if support else ([], 1)
        assert solution is not None
        numerators, den = solution
        fit = [Fraction(v, den) for v in numerators]
        if all(v > 0 for v in fit):
            return support, numerators, den
        step = min(a / (a - b) if a != b else Fraction(0) for a, b in zip(nu, fit) if b <= 0)
        nu = [a + step * (b - a) for a, b in zip(nu, fit)]
        keep = [not (v == 0 and b <= 0) for v, b in zip(nu, fit)]
        support = [s for s, k in zip(support, keep) if k]
        nu = [v for v, k in zip(nu, keep) if k]


def _spanning_rows(source: _ExactRows, guess: list[int]) -> list[int]:
    """Difference rows that form a basis of all of them, exactly; the guess first."""
    n, k = len(source.image.y), source.image.n_classes
    data: list[int] = []
    for i in dict.fromkeys(g // (k - 1) for g in guess):
        data.append(i)
    while True:  # data rows that span all data rows
        chosen = source.whole.rows(np.array(data, dtype=np.int64))
        null = null_space(chosen) if len(data) else np.eye(source.whole.A.shape[1], dtype=int).astype(object)
        outside = [first_violation(source.whole, v) for v in null]
        fresh = [i for i in outside if i is not None]
        if not fresh:
            break
        data.extend(dict.fromkeys(fresh))
    pool = [*guess, *(i * (k - 1) + j for i in data for j in range(k - 1))]
    pool = list(dict.fromkeys(g for g in pool if g < n * (k - 1)))
    Z = source.rows(np.array(pool, dtype=np.int64))[:, : source.image.dim] if pool else np.zeros((0, 1), dtype=object)
    _, _, pivots = reduced(Z.T)
    return [pool[j] for j in pivots]


def _number(d: Differences, rows: Array | None, against: Array | None) -> list[int]:
    """Numbers of difference rows from data rows and opposing classes."""
    if rows is None or against is None:
        return []
    j = np.asarray(against) - (np.asarray(against) > d.y[rows])
    return [int(v) for v in np.asarray(rows) * (d.n_classes - 1) + j]


def decide(X: Array, y: Array, n_classes: int, guess: Candidate) -> Candidate:
    """The verdict on padded rows X, decided in exact arithmetic; ``guess`` (from floats) only saves time.

    Examples
    --------
    >>> X = np.array([[0.0, 1], [1, 1], [1, 1], [2, 1]])
    >>> decide(X, np.array([0, 0, 1, 1]), 2, Candidate("separable")).verdict
    'touching'
    """
    source = _ExactRows.of(X, y, n_classes, lifted=False)
    named = _number(source.image, guess.rows, guess.against)
    basis = _spanning_rows(source, named)
    if not basis:  # every x̃ is zero
        rows, other = source.image.pairs(np.array([0]))
        return Candidate("overlapping", None, rows, other, np.array([1], dtype=object))
    c = -source.rows(np.array(basis)).sum(axis=0)
    support, numerators, den, r = exact_mixture(source, c, [i for i in named if i not in set(basis)])
    if not np.any(r != 0):
        total = dict.fromkeys(basis, den)
        for i, v in zip(support, numerators):
            total[i] = total.get(i, 0) + v
        rows, other = source.image.pairs(np.array(list(total)))
        return Candidate("overlapping", None, rows, other, np.array(list(total.values()), dtype=object))
    weak = _weights(source, -r)
    lifted = _ExactRows.of(X, y, n_classes, lifted=True)
    c = np.zeros(lifted.image.dim + 1, dtype=object)
    c[-1] = lifted.lift
    support, numerators, _, r = exact_mixture(lifted, c, named if guess.verdict == "touching" else [])
    if np.any(r != 0):
        return Candidate("separable", _weights(lifted, -r[:-1]))
    rows, other = lifted.image.pairs(np.array(support))
    return Candidate("touching", weak, rows, other, np.array(numerators, dtype=object))


def _weights(source: _ExactRows, u: Array) -> Array:
    """Weights over the scaled integer columns as integer weights over x̃, up to one positive factor."""
    level = np.tile(source.whole.level, source.image.n_classes - 1)
    top = int(level.max(initial=0))
    return np.array([int(v) << (top - int(s)) for v, s in zip(u, level)], dtype=object)
