r"""Newton's method on many small problems at once: every fold and strength of a smooth loss with a squared penalty.

For fold j and strength Λ the sum over the fold's training rows

.. math:: f_{jΛ}(w, b) = \sum_i s_{ji}\,L(w\cdot x_i + b,\ y_i) + \tfrac Λ2\lVert w\rVert^2

is minimised. With few rows and columns one such problem is a matter of microseconds, and most of the time would go
into calling functions. Here all of them take each step together: scores are one matrix product, and so are the
Hessians, from the products of all pairs of columns. With many columns no Hessian is formed: conjugate gradients find
the steps of all problems together, and a multiplication by all Hessians is two matrix products. Steps are halved until
the value falls; a problem leaves once its Newton decrement is small.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_info

from certifit._types import Array
from certifit.design import FoldTable
from certifit.losses import Logistic, Loss
from certifit.parallel import one_thread

_WIDEST = 100  # columns beyond which the problems are no longer small
_MOST = 8_000_000  # numbers in the products of pairs of columns
_ROUNDS = 100
_HALVINGS = 30
_ON_A_LINE = 6  # steps towards the least value along a Newton step
_LEVEL = 0.01  # fraction of the slope at its beginning that ends a search on a line, after one more step
_SURE = 0.25  # fraction of the decrease that Newton's model foretells, for a step to be taken
_ROUNDING = 45  # units of rounding of the value: no step shows a smaller decrease
_MOST_WIDE = 4_000_000  # numbers of a table without products of pairs
_INEXACT = 0.3  # of the gradient may be left by a step of conjugate gradients
_TINY = 1e-30  # curvatures below it are dropped: products of denormal numbers are slow
_ROUGH = 1e-6  # tolerances from which single precision is enough for conjugate gradients
_NEVER = 1e30  # ridge of a column that a problem does not use: it stays at zero
_A_PAIR = 2  # problems
_NARROWEST = 20  # columns from which products of pairs are read more slowly than a few problems' Hessians are made
_FEW_BEND, _AFRESH = 0.5, 3.0  # of the rows, in one problem and in all of them, up to which that is so
_TURNS = 250  # of conjugate gradients a step: beyond, a penalty is so weak that factorising is the better road
_LOADED, _LARGE = 20_000, 20_000_000  # numbers times problems for the compiled loop, as Numba is loaded or not
_ENDLESS = "conjugate gradients need too many iterations"


class _Look(NamedTuple):
    """What is seen at the points of some problems: values (problems,), weighted slopes and curvatures (problems, n)."""

    value: Array
    slopes: Array
    bends: Array

    def take(self, which: Array) -> _Look:
        return _Look(*(part[which] for part in self))

    def put(self, which: Array, other: _Look) -> None:
        for mine, new in zip(self, other):
            mine[which] = new


@dataclass(frozen=True)
class _Problems:
    """Rows in scaled coordinates and what each problem counts and pays.

    A step is found without Hessians, by conjugate gradients that are preconditioned by the Hessian's diagonal.
    """

    X: Array  # (n, p)
    columns: Array  # (p, n), the same: products with few rows are twice as quick if both lie as they are read
    y: Array  # (n,)
    loss: Loss
    weights: Array  # (problems, n)
    ridge: Array  # (problems, p)
    squares: Array  # (n, p), of X; of few columns nothing

    def take(self, which: Array) -> _Problems:
        return replace(self, weights=self.weights[which], ridge=self.ridge[which])

    def scores(self, theta: Array) -> Array:
        """(problems, n) of (problems, p)."""
        # One or two read the table as `gathered` does: a processor's cache may hold one of the two, hardly both.
        return _product(theta, self.X.T if len(theta) <= _A_PAIR else self.columns)

    def gathered(self, values: Array) -> Array:
        """Sums over the rows (problems, p) of values (problems, n)."""
        return _product(values, self.X)

    def targets(self) -> Array:
        return self.y

    def look(self, theta: Array) -> _Look:
        losses, slopes, bends = self.loss.value_slope_curvature(self.scores(theta), self.targets())
        value = np.einsum("bn,bn->b", self.weights, losses) + 0.5 * np.einsum("bp,bp->b", self.ridge, theta * theta)
        return _Look(value, self.weights * slopes, self.weights * bends)

    def along(self, theta: Array, step: Array, fall: Array) -> Array:
        """The fraction of each step, between 0 and 1, at which the value is least: Newton's method on a line."""
        z, dz, y = self.scores(theta), self.scores(step), self.targets()
        pull, bend = np.einsum("bp,bp->b", self.ridge * theta, step), np.einsum("bp,bp->b", self.ridge * step, step)
        low, high = np.zeros(len(theta)), np.ones(len(theta))
        t = 0.5 * high
        for _ in range(_ON_A_LINE):
            _, slopes, bends = self.loss.value_slope_curvature(z + t[:, None] * dz, y)
            slope = np.einsum("bn,bn->b", self.weights * slopes, dz) + pull + t * bend
            curve = np.einsum("bn,bn->b", self.weights * bends, dz * dz) + bend
            low, high = np.where(slope < 0, t, low), np.where(slope > 0, t, high)
            t = t - slope / np.maximum(curve, 1e-300)
            t = np.where((t > low) & (t < high), t, 0.5 * (low + high))
            if np.all(np.abs(slope) <= _LEVEL * fall):
                break
        return t

    def newton(self, theta: Array, seen: _Look) -> tuple[Array, Array, Array]:
        """Steps that leave at most a third of the gradient, the fall along them, and bounds of the squared decrements.

        What the step leaves, r, adds at most the length of r by H⁻¹ to the decrement. H is at least the ridge, or for
        an offset, which has none, about its own diagonal.
        """
        g = self.gathered(seen.slopes) + self.ridge * theta
        bend = seen.bends.copy()
        bend[bend < _TINY] = 0.0
        scale = 1.0 / np.maximum(_product(bend, self.squares) + self.ridge, np.finfo(self.X.dtype).tiny)
        step, rest = self.solved(g, bend, scale)
        inner = np.maximum(np.vecdot(step, -g - rest), 0.0)  # s'Hs
        floor = np.where(self.ridge > 0, 1.0 / np.where(self.ridge > 0, self.ridge, 1.0), scale)
        whole = np.square(np.sqrt(inner) + np.sqrt(np.vecdot(rest, rest * floor)))
        return step, -np.vecdot(step, g), whole

    def solved(self, g: Array, bend: Array, scale: Array, share: float = _INEXACT**2) -> tuple[Array, Array]:
        """Steps s and what they leave, r = −g − Hs: by the compiled loop, or in NumPy until that pays.

        They end where r'r, in units of the Hessian's diagonal, is this share of what it was.
        """
        if self.X.size * len(g) >= (_LOADED if "numba" in sys.modules else _LARGE):
            from certifit.loops.conjugate_gradients import conjugate_gradients as loop

            step, rest = np.empty_like(g), np.empty_like(g)
            asked = self.X, bend, self.ridge, scale, g, share, _TURNS, step, rest
            if loop.pays(*asked):
                if not loop(*asked):
                    raise np.linalg.LinAlgError(_ENDLESS)
                return step, rest
        return self._solved_in_numpy(g, bend, scale, share)

    def _solved_in_numpy(self, g: Array, bend: Array, scale: Array, share: float) -> tuple[Array, Array]:
        step, rest, left = np.empty_like(g), np.empty_like(g), np.arange(len(g))
        r, way, ridge = -g, np.zeros_like(g), self.ridge
        d = scale * r
        size = np.vecdot(r, d)
        enough = share * size
        for _ in range(_TURNS + 1):
            going = size > enough
            if not going.all():
                rest[left[~going]], step[left[~going]] = r[~going], way[~going]
                if not going.any():
                    return step, rest
                left, enough, size, bend = left[going], enough[going], size[going], bend[going]
                r, d, way, ridge, scale = r[going], d[going], way[going], ridge[going], scale[going]
            Hd = self.gathered(bend * self.scores(d)) + ridge * d
            t = (size / np.vecdot(d, Hd))[:, None]
            way += t * d
            r -= t * Hd
            s = scale * r
            before, size = size, np.vecdot(r, s)
            d = s + (size / before)[:, None] * d
        raise np.linalg.LinAlgError(_ENDLESS)


@dataclass(frozen=True)
class _Narrow(_Problems):
    """Few columns: Hessians from the products of all pairs of them.

    There may be several tables of as many rows (each fold its own): problems lie in the order of their tables.
    X is (tables, n, p), columns (tables, p, n) and y (tables, n).
    """

    pairs: Array  # (tables, p(p+1)/2, n)
    table: Array  # (problems,): each one's table

    def take(self, which: Array) -> _Narrow:
        return replace(self, weights=self.weights[which], ridge=self.ridge[which], table=self.table[which])

    def _by_table(self, rows: Array, factors: Array) -> Array:
        """Rows of each problem times the matrix of its table."""
        if len(factors) == 1:
            return _product(rows, factors[0])
        ends = np.searchsorted(self.table, np.arange(len(factors) + 1))
        return np.concatenate([_product(rows[a:b], F) for a, b, F in zip(ends, ends[1:], factors) if b > a])

    def scores(self, theta: Array) -> Array:
        return self._by_table(theta, self.columns)

    def gathered(self, values: Array) -> Array:
        return self._by_table(values, self.X)

    def targets(self) -> Array:
        return np.asarray(self.y[self.table] if len(self.y) > 1 else self.y)

    def newton(self, theta: Array, seen: _Look) -> tuple[Array, Array, Array]:
        """Newton steps, how much the value falls along them at first, and the squared decrements: here the same."""
        g = self.gathered(seen.slopes) + self.ridge * theta
        H, k = self._hessians(seen.bends), np.arange(self.X.shape[2])
        # A shade of ridge keeps an offset that no row pulls at, and columns that no row needs, where they are.
        H[:, k, k] += self.ridge + 1e-12 * np.maximum(H[:, k, k].max(axis=1, keepdims=True), 1e-300)
        step = -np.linalg.solve(H, g[..., None])[..., 0]
        decrement = -np.einsum("bp,bp->b", step, g)
        return step, decrement, decrement

    def _hessians(self, bends: Array) -> Array:
        """(problems, p, p) of curvatures (problems, n): from all pairs of columns, or afresh where few rows bend.

        A loss with a flat part bends on the rows at its margin alone, and mostly on the same ones in all folds.
        """
        tables, n, p = self.X.shape
        if tables == 1 and p >= _NARROWEST and np.count_nonzero(bends[0]) <= _FEW_BEND * n:
            used = np.flatnonzero(bends.any(axis=0))
            if len(bends) * len(used) <= _AFRESH * n:
                return np.asarray((self.columns[0][:, used] * bends[:, None, used]) @ self.X[0][used])
        above = self._by_table(bends, self.pairs.transpose(0, 2, 1))
        return np.take(above, _places(p), axis=1).reshape(len(bends), p, p)


class FoldMinima(NamedTuple):
    """Coefficients and offsets of every fold and strength, and those of all rows that any fold trains on."""

    coef: Array  # (folds, m, d)
    offset: Array  # (folds, m)
    whole: tuple[Array, Array] | None = None  # a start for fits of all rows


def newton_folds(
    table: FoldTable,
    loss: Loss,
    strengths: Array,
    *,
    fit_intercept: bool = True,
    tol: float = 1e-9,
    whole_first: bool = False,
) -> FoldMinima | None:
    """Minima of all folds and strengths Λ > 0 of a smooth loss, on dense rows; None where this is not the road to take.

    A problem leaves after the step before which half the squared decrement was at most the fraction ``tol`` of the null
    model's loss. With ``whole_first`` the problems of all rows are solved first: folds, and a fit that follows, begin
    where these end. Otherwise the strongest penalty comes first, in all folds, and each other one begins where the one
    before it ended: a loss whose curvature jumps takes thirty steps from zero at a weak penalty, and five from there.

    Examples
    --------
    >>> from certifit.losses import Logistic
    >>> folds = [(np.arange(4), np.arange(4, 6)), (np.arange(2, 6), np.arange(2))]
    >>> table = FoldTable(np.arange(6.0)[:, None], np.array([-1.0, 1.0, -1.0, -1.0, 1.0, 1.0]), folds)
    >>> found = newton_folds(table, Logistic(), np.array([1.0, 0.1]))
    >>> found.coef[:, :, 0].round(4).tolist()
    [[-0.2597, -0.5034], [0.9583, 2.6511]]
    """
    if not suits(table, loss) or not np.all(strengths > 0):
        return None
    weights = np.array([table.in_fold(k) for k in range(len(table.folds))])
    d, m = table.X.shape[1], len(strengths)
    Z, centre, spread = _scaled(np.asarray(table.X, dtype=float), fit_intercept)
    ridge = np.multiply.outer(strengths, np.append(spread**-2.0, [0.0] * fit_intercept))
    problems = _problems(Z, np.asarray(table.y, dtype=float), loss, tol)
    whole = None
    with one_thread(), np.errstate(over="ignore", invalid="ignore"):
        if whole_first and len(weights) > 1:
            everywhere = np.repeat(weights.max(axis=0, keepdims=True), m, axis=0)
            whole = _all_minima(_paying(problems, everywhere, ridge), tol)
        if whole is None:
            theta = _along_strengths(problems, weights, ridge, np.argsort(-strengths, kind="stable"), tol)
        else:
            costs = np.tile(ridge, (len(weights), 1))
            start = np.tile(whole, (len(weights), 1))
            theta = _all_minima(_paying(problems, np.repeat(weights, m, axis=0), costs), tol, start)
    if theta is None:
        return None

    def raw(theta: Array) -> tuple[Array, Array]:
        coef = theta[:, :d].astype(float) / spread
        return coef, theta[:, d] - coef @ centre if fit_intercept else np.zeros(len(theta))

    coef, offset = raw(theta)
    return FoldMinima(coef.reshape(-1, m, d), offset.reshape(-1, m), None if whole is None else raw(whole))


def newton_tables(
    tables: Sequence[FoldTable],
    loss: Loss,
    strengths: Array,
    widths: Array,
    *,
    fit_intercept: bool = True,
    tol: float = 1e-9,
) -> FoldMinima | None:
    """As `newton_folds`, where each fold has a table of its own, and each strength so many of its first columns.

    The tables have as many rows each, and one fold; ``widths`` (m,) are the columns that each strength uses: the
    coefficients of the others are zero.

    Examples
    --------
    >>> from certifit.losses import Logistic
    >>> X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]]), np.array([-1.0, 1.0, -1.0, 1.0])
    >>> one = FoldTable(X, y, [(np.arange(4), np.arange(0))])
    >>> newton_tables([one, one], Logistic(), np.array([1.0, 1.0]), np.array([1, 2])).coef[1].round(4).tolist()
    [[0.4529, 0.0], [0.5418, -0.7601]]
    """
    n, d = tables[0].X.shape
    equal = all(t.X.shape == (n, d) for t in tables)
    if not (equal and suits_tables(len(tables), n, d) and np.all(strengths > 0)):
        return None
    scaled = [_scaled(np.asarray(t.X, dtype=float), fit_intercept) for t in tables]
    centre, spread = np.array([s[1] for s in scaled])[:, None], np.array([s[2] for s in scaled])[:, None]
    used = np.arange(d) < np.asarray(widths)[:, None]
    ridge = np.where(used, strengths[:, None] / spread**2.0, _NEVER)
    if fit_intercept:
        ridge = np.append(ridge, np.zeros_like(ridge[:, :, :1]), axis=2)
    problems = _tables(np.array([s[0] for s in scaled]), np.array([t.y for t in tables], dtype=float), loss)
    weights = np.repeat([t.in_fold(0) for t in tables], len(strengths), axis=0)
    with one_thread(), np.errstate(over="ignore", invalid="ignore"):
        theta = _all_minima(_paying(problems, weights, ridge.reshape(len(weights), -1)), tol)
    if theta is None:
        return None
    theta = theta.reshape(len(tables), len(strengths), -1)
    coef = np.where(used, theta[:, :, :d] / spread, 0.0)
    offset = theta[:, :, d] - (coef * centre).sum(axis=2) if fit_intercept else np.zeros(coef.shape[:2])
    return FoldMinima(coef, offset)


def _product(rows: Array, matrix: Array) -> Array:
    """Few rows (k, n) times a matrix (n, p): more than three in fours, with rows of zeros at the end.

    On AMD, OpenBLAS multiplies four rows in half the time of three, and one in a third of the time of two.
    """
    k = len(rows)
    if k <= 3 and _one_by_one():
        return np.array([row @ matrix for row in rows])
    if k > 3 and k % 4:
        filled = np.zeros((k + -k % 4, rows.shape[1]), dtype=rows.dtype)
        filled[:k] = rows
        return np.asarray((filled @ matrix)[:k])
    return np.asarray(rows @ matrix)


@cache
def _one_by_one() -> bool:
    """Whether rows are multiplied faster one by one: OpenBLAS on processors for which it has no small products."""
    return any(library.get("architecture") in ("Haswell", "Zen") for library in threadpool_info())


def _scaled(X: Array, fit_intercept: bool) -> tuple[Array, Array, Array]:
    """Columns in units of their spread, centred and followed by ones if there is an offset; centres and spreads."""
    centre = X.mean(axis=0) if fit_intercept else np.zeros(X.shape[1])
    spread = np.sqrt(np.mean(np.square(X - centre), axis=0))
    spread[spread == 0.0] = 1.0
    Z = (X - centre) / spread
    return np.column_stack([Z, np.ones(len(Z))]) if fit_intercept else Z, centre, spread


def _problems(X: Array, y: Array, loss: Loss, tol: float) -> _Problems:
    """The rows of one table, ready for problems that pay for them."""
    none = np.empty(0)
    if _narrow(*X.shape):
        return _tables(X[None], y[None], loss)
    kind = np.float32 if tol >= _ROUGH else np.float64
    X = X.astype(kind)
    return _Problems(X, np.ascontiguousarray(X.T), y.astype(kind), loss, none, none, np.square(X))


def _tables(X: Array, y: Array, loss: Loss) -> _Narrow:
    """Several tables of few columns, X (tables, n, p)."""
    columns, none = np.ascontiguousarray(X.transpose(0, 2, 1)), np.empty(0)
    return _Narrow(X, columns, y, loss, none, none, none, _pairs(columns), none)


def _pairs(columns: Array) -> Array:
    """Products of all pairs of columns, in the order of the upper triangle: written in place, column by column."""
    tables, p, n = columns.shape
    found, at = np.empty((tables, p * (p + 1) // 2, n)), 0
    for j in range(p):
        np.multiply(columns[:, j : j + 1], columns[:, j:], out=found[:, at : at + p - j])
        at += p - j
    return found


def _paying(problems: _Problems, weights: Array, ridge: Array) -> _Problems:
    """A problem for each line of weights and ridge, as many in each table."""
    kind = problems.X.dtype
    made = replace(problems, weights=weights.astype(kind, copy=False), ridge=ridge.astype(kind, copy=False))
    if not isinstance(made, _Narrow):
        return made
    return replace(made, table=np.repeat(np.arange(len(made.X)), len(weights) // len(made.X)))


@cache
def _places(p: int) -> Array:
    """Where each entry of a symmetric matrix, row by row, stands in its upper triangle."""
    at = np.empty((p, p), dtype=np.int64)
    upper = np.triu_indices(p)
    at[upper] = at.T[upper] = np.arange(len(upper[0]))
    return at.ravel()


def _narrow(n: int, p: int) -> bool:
    return p <= _WIDEST + 1 and n * p * (p + 1) // 2 <= _MOST


def suits(table: FoldTable, loss: Loss) -> bool:
    """Whether the problems are small enough: dense rows, few columns and products of pairs, or a table not too large.

    The latter for the logistic loss: where curvatures jump, inexact steps go to and fro.

    Examples
    --------
    >>> from certifit.losses import Logistic
    >>> suits(FoldTable(np.ones((5, 2)), np.ones(5), []), Logistic())
    True
    """
    if not isinstance(table.X, np.ndarray):
        return False
    n, d = table.X.shape
    return _narrow(n, d + 1) or (n * d <= _MOST_WIDE and isinstance(loss, Logistic))


def suits_tables(tables: int, n: int, d: int) -> bool:
    """Whether so many tables of n rows and d columns are small enough for `newton_tables`.

    Examples
    --------
    >>> suits_tables(5, 500, 20), suits_tables(5, 5_000, 50)
    (True, False)
    """
    return _narrow(tables * n, d + 1)


def newton_without_hessian(
    X: Array, y: Array, loss: Loss, weights: Array, ridge: Array, tol: float, start: Array | None = None
) -> Array | None:
    """The minimum (p,) of one problem with many columns, by conjugate gradients; None if not reached.

    X (n, p) holds rows in scaled coordinates (and ones for an offset), ``weights`` what each of them counts, ``ridge``
    (p,) ≥ 0 Λ for each coordinate; ``tol`` as in `newton_folds`. The loss is logistic: where curvatures jump, inexact
    steps go to and fro.

    Examples
    --------
    >>> from certifit.losses import Logistic
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, 1.0, -1.0, -1.0])
    >>> newton_without_hessian(X, y, Logistic(), np.ones(4), np.ones(1), 1e-12).round(4)
    array([-0.489])
    """
    with np.errstate(over="ignore", invalid="ignore"):
        problem = _Problems(X, X.T, y, loss, weights[None], ridge[None], np.square(X))
        found = _all_minima(problem, tol, None if start is None else start[None])
    return None if found is None else found[0]


def step_without_hessian(X: Array, bend: Array, ridge: Array, scale: Array, g: Array, share: float) -> Array:
    """Newton's step s (p,) of one problem at curvatures (n,) and gradient (p,), by conjugate gradients.

    ``scale`` (p,) is the inverse of the Hessian's diagonal; the error of s'g is at most about this share of it. Numbers
    that are none where that takes too many turns.

    Examples
    --------
    >>> X, one = np.array([[0.0], [1.0], [2.0]]), np.ones(1)
    >>> step_without_hessian(X, np.ones(3), one, one / 6.0, 12.0 * one, 1e-9)
    array([-2.])
    """
    nothing = np.empty(0)
    problem = _Problems(X, X.T, nothing, Logistic(), nothing, ridge[None], nothing)
    try:
        return np.asarray(problem.solved(g[None], bend[None], scale[None], share)[0][0])
    except np.linalg.LinAlgError:
        return np.full_like(g, np.nan)


def _along_strengths(problems: _Problems, weights: Array, ridge: Array, order: Array, tol: float) -> Array | None:
    """Minima of all folds and strengths, fold by fold; the strengths in this order, each from the minima before."""
    folds = len(weights)
    theta, start = np.empty((folds, *ridge.shape), dtype=problems.X.dtype), None
    for k in order:
        start = _all_minima(_paying(problems, weights, np.tile(ridge[k], (folds, 1))), tol, start)
        if start is None:
            return None
        theta[:, k] = start
    return theta.reshape(-1, ridge.shape[1])


def _all_minima(problems: _Problems, tol: float, start: Array | None = None) -> Array | None:
    """All minima, from zero or from a start that is no worse; None where one is not reached."""
    theta = np.zeros(problems.ridge.shape, dtype=problems.X.dtype)
    left, now = np.arange(len(theta)), problems
    seen = now.look(theta)
    null = seen.value.copy()
    if start is not None:
        there = now.look(start)
        better = np.flatnonzero(there.value < null)
        theta[better] = start[better]
        seen.put(better, there.take(better))
    for _ in range(_ROUNDS):
        try:
            step, fall, decrement = now.newton(theta[left], seen)
        except np.linalg.LinAlgError:
            return None
        if not np.all(np.isfinite(decrement)):
            return None
        theta[left], seen, stuck = _line_search(now, theta[left], step, fall, seen)
        small = 0.5 * decrement <= tol * null[left]
        if np.any(stuck & ~small):
            return None
        if np.any(small):
            left, now, seen = left[~small], now.take(~small), seen.take(~small)
        if not len(left):
            return theta
    return None


def _line_search(
    problems: _Problems, theta: Array, step: Array, fall: Array, seen: _Look
) -> tuple[Array, _Look, Array]:
    """Points after steps, what is seen there, and which problems found none to take.

    Whole steps where the value falls as foretold, else to the least value on the way; halved where rounding hides it.
    """
    eps = np.finfo(theta.dtype).eps
    rounding = _ROUNDING * eps * np.abs(seen.value) + eps * problems.weights.sum(axis=1)  # of the sum, of each loss
    value, there = seen.value, theta + step
    found = problems.look(there)
    bad = np.flatnonzero(~(found.value <= value - _SURE * fall + rounding))
    if not len(bad):
        return there, found, np.zeros(len(theta), dtype=bool)
    t = np.ones(len(theta), dtype=theta.dtype)
    t[bad] = problems.take(bad).along(theta[bad], step[bad], fall[bad])
    for _ in range(_HALVINGS):
        there[bad] = theta[bad] + t[bad, None] * step[bad]
        found.put(bad, problems.take(bad).look(there[bad]))
        bad = bad[~(found.value[bad] <= (value + rounding)[bad])]
        if not len(bad):
            break
        t[bad] *= 0.5
    stuck = ~(found.value <= value + rounding)
    there[stuck] = theta[stuck]
    found.put(stuck, seen.take(stuck))
    return there, found, stuck
