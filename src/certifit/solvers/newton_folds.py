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

from dataclasses import dataclass
from functools import cache

import numpy as np

from certifit._types import Array
from certifit.design import FoldTable
from certifit.losses import Logistic, Loss
from certifit.parallel import one_thread

_WIDEST = 100  # columns beyond which the problems are no longer small
_MOST = 8_000_000  # numbers in the products of pairs of columns
_ROUNDS = 100
_HALVINGS = 30
_ON_A_LINE = 6  # steps towards the least value along a Newton step
_SURE = 0.25  # fraction of the decrease that Newton's model foretells, for a step to be taken
_ROUNDING = 45  # units of rounding of the value: no step shows a smaller decrease
_MOST_WIDE = 4_000_000  # numbers of a table without products of pairs
_INEXACT = 0.3  # of the gradient may be left by a step of conjugate gradients
_TINY = 1e-30  # curvatures below it are dropped: products of denormal numbers are slow
_ROUGH = 1e-6  # tolerances from which single precision is enough for conjugate gradients
_TURNS = 250  # of conjugate gradients a step: beyond, a penalty is so weak that factorising is the better road


@dataclass(frozen=True)
class _Problems:
    """Rows in scaled coordinates and what each problem counts and pays.

    A step is found without Hessians, by conjugate gradients that are preconditioned by the Hessian's diagonal.
    """

    X: Array  # (n, p)
    y: Array  # (n,)
    loss: Loss
    weights: Array  # (problems, n)
    ridge: Array  # (problems, p)

    def take(self, which: Array) -> _Problems:
        return _Problems(self.X, self.y, self.loss, self.weights[which], self.ridge[which])

    def value(self, theta: Array) -> Array:
        losses = self.loss.value(theta @ self.X.T, self.y)
        return np.asarray(
            np.einsum("bn,bn->b", self.weights, losses) + 0.5 * np.einsum("bp,bp->b", self.ridge, theta * theta)
        )

    def along(self, theta: Array, step: Array) -> Array:
        """The fraction of each step, between 0 and 1, at which the value is least: Newton's method on a line."""
        z, dz = theta @ self.X.T, step @ self.X.T
        pull, bend = np.einsum("bp,bp->b", self.ridge * theta, step), np.einsum("bp,bp->b", self.ridge * step, step)
        low, high = np.zeros(len(theta)), np.ones(len(theta))
        t = 0.5 * high
        for _ in range(_ON_A_LINE):
            at = z + t[:, None] * dz
            slope = np.einsum("bn,bn->b", self.weights * self.loss.slope(at, self.y), dz) + pull + t * bend
            curve = np.einsum("bn,bn->b", self.weights * self.loss.curvature(at, self.y), dz * dz) + bend
            low, high = np.where(slope < 0, t, low), np.where(slope > 0, t, high)
            t = t - slope / np.maximum(curve, 1e-300)
            t = np.where((t > low) & (t < high), t, 0.5 * (low + high))
        return t

    def newton(self, theta: Array) -> tuple[Array, Array, Array]:
        """Steps that leave at most a third of the gradient, the fall along them, and bounds of the squared decrements.

        What the step leaves, r, adds at most the length of r by H⁻¹ to the decrement. H is at least the ridge, or for
        an offset, which has none, about its own diagonal.
        """
        z = theta @ self.X.T
        g = (self.weights * self.loss.slope(z, self.y)) @ self.X + self.ridge * theta
        bend = (self.weights * self.loss.curvature(z, self.y)).astype(self.X.dtype, copy=False)
        bend[bend < _TINY] = 0.0
        scale = 1.0 / np.maximum(bend @ np.square(self.X) + self.ridge, np.finfo(self.X.dtype).tiny)
        floor = np.where(self.ridge > 0, 1.0 / np.where(self.ridge > 0, self.ridge, 1.0), scale)
        step, left, r, rest = np.zeros_like(g), np.arange(len(g)), -g, -g
        d = scale * r
        size = np.einsum("bp,bp->b", r, d)
        enough = _INEXACT**2 * size
        for _ in range(_TURNS):
            going = size > enough[left]
            if not np.all(going):
                rest[left[~going]] = r[~going]
                left, r, d, size, bend = left[going], r[going], d[going], size[going], bend[going]
            if not len(left):
                inner = np.maximum(np.einsum("bp,bp->b", step, -g - rest), 0.0)  # s'Hs
                whole = np.square(np.sqrt(inner) + np.sqrt((rest * rest * floor).sum(axis=1)))
                return step, -np.einsum("bp,bp->b", step, g), whole
            Hd = (bend * (d @ self.X.T)) @ self.X + self.ridge[left] * d
            t = size / np.einsum("bp,bp->b", d, Hd)
            step[left] += t[:, None] * d
            r = r - t[:, None] * Hd
            s = scale[left] * r
            before, size = size, np.einsum("bp,bp->b", r, s)
            d = s + (size / before)[:, None] * d
        raise np.linalg.LinAlgError("conjugate gradients need too many iterations")


@dataclass(frozen=True)
class _Narrow(_Problems):
    """Few columns: Hessians from the products of all pairs of them."""

    pairs: Array  # (p(p+1)/2, n)

    def take(self, which: Array) -> _Narrow:
        return _Narrow(self.X, self.y, self.loss, self.weights[which], self.ridge[which], self.pairs)

    def newton(self, theta: Array) -> tuple[Array, Array, Array]:
        """Newton steps, how much the value falls along them at first, and the squared decrements: here the same."""
        z = theta @ self.X.T
        g = (self.weights * self.loss.slope(z, self.y)) @ self.X + self.ridge * theta
        p = self.X.shape[1]
        k = np.arange(p)
        above = (self.weights * self.loss.curvature(z, self.y)) @ self.pairs.T
        H = np.take(above, _places(p), axis=1).reshape(len(theta), p, p)
        # A shade of ridge keeps an offset that no row pulls at, and columns that no row needs, where they are.
        H[:, k, k] += self.ridge + 1e-12 * np.maximum(H[:, k, k].max(axis=1, keepdims=True), 1e-300)
        step = -np.linalg.solve(H, g[..., None])[..., 0]
        decrement = -np.einsum("bp,bp->b", step, g)
        return step, decrement, decrement


def newton_folds(
    table: FoldTable, loss: Loss, strengths: Array, *, fit_intercept: bool = True, tol: float = 1e-9
) -> tuple[Array, Array] | None:
    """Coefficients (folds, m, d) and offsets (folds, m) for every strength; None where this is not the road to take.

    Parameters
    ----------
    table : FoldTable
        Dense rows; targets as the loss takes them.
    loss : Loss
        Smooth.
    strengths : (m,) array > 0
        Λ.
    fit_intercept : bool, default=True
    tol : float
        A problem leaves after the step before which half the squared decrement was at most this fraction of the null
        model's loss.

    Examples
    --------
    >>> from certifit.losses import Logistic
    >>> folds = [(np.arange(4), np.arange(4, 6)), (np.arange(2, 6), np.arange(2))]
    >>> table = FoldTable(np.arange(6.0)[:, None], np.array([-1.0, 1.0, -1.0, -1.0, 1.0, 1.0]), folds)
    >>> coef, offset = newton_folds(table, Logistic(), np.array([1.0, 0.1]))
    >>> coef[:, :, 0].round(4).tolist()
    [[-0.2597, -0.5034], [0.9583, 2.6511]]
    """
    if not suits(table, loss) or not np.all(strengths > 0):
        return None
    weights = np.array([table.in_fold(k) for k in range(len(table.folds))])
    X, d, m = np.asarray(table.X, dtype=float), table.X.shape[1], len(strengths)
    centre = X.mean(axis=0) if fit_intercept else np.zeros(d)
    spread = np.sqrt(np.mean(np.square(X - centre), axis=0))
    spread[spread == 0.0] = 1.0
    Z = (X - centre) / spread
    Z = np.column_stack([Z, np.ones(len(Z))]) if fit_intercept else Z
    ridge = np.multiply.outer(strengths, np.append(spread**-2.0, [0.0] * fit_intercept))
    problems = _problems(Z, np.asarray(table.y, dtype=float), loss, np.repeat(weights, m, axis=0), ridge, tol)
    with one_thread(), np.errstate(over="ignore", invalid="ignore"):
        theta = _all_minima(problems, tol)
    if theta is None:
        return None
    coef = theta[:, :d].astype(float) / spread
    offset = theta[:, d] - coef @ centre if fit_intercept else np.zeros(len(theta))
    return coef.reshape(-1, m, d), offset.reshape(-1, m)


def _problems(X: Array, y: Array, loss: Loss, weights: Array, ridge: Array, tol: float) -> _Problems:
    """One problem for each line of weights: the strengths (lines of ``ridge``) of the first fold come first."""
    costs = np.tile(ridge, (len(weights) // len(ridge), 1))
    if not _narrow(len(X), X.shape[1]):
        kind = np.float32 if tol >= _ROUGH else np.float64
        return _Problems(X.astype(kind), y.astype(kind), loss, weights.astype(kind), costs.astype(kind))
    columns, upper = np.ascontiguousarray(X.T), np.triu_indices(X.shape[1])
    return _Narrow(X, y, loss, weights, costs, columns[upper[0]] * columns[upper[1]])


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

    Parameters
    ----------
    table : FoldTable
    loss : Loss

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


def newton_without_hessian(X: Array, y: Array, loss: Loss, weights: Array, ridge: Array, tol: float) -> Array | None:
    """The minimum (p,) of one problem with many columns, by conjugate gradients from zero; None if not reached.

    Parameters
    ----------
    X, y, weights : (n, p), (n,) and (n,) arrays
        Rows in scaled coordinates (and a column of ones for an offset), targets and what each row counts.
    loss : Loss
        Logistic: where curvatures jump, inexact steps go to and fro.
    ridge : (p,) array ≥ 0
        Λ for each coordinate.
    tol : float
        As in `newton_folds`.

    Examples
    --------
    >>> from certifit.losses import Logistic
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, 1.0, -1.0, -1.0])
    >>> newton_without_hessian(X, y, Logistic(), np.ones(4), np.ones(1), 1e-12).round(4)
    array([-0.489])
    """
    with np.errstate(over="ignore", invalid="ignore"):
        found = _all_minima(_Problems(X, y, loss, weights[None], ridge[None]), tol)
    return None if found is None else found[0]


def _all_minima(problems: _Problems, tol: float) -> Array | None:
    """All minima from zero; None where one is not reached."""
    count, p = problems.ridge.shape
    theta = np.zeros((count, p), dtype=problems.X.dtype)
    left, now = np.arange(count), problems
    value = now.value(theta)
    null = value.copy()
    for _ in range(_ROUNDS):
        try:
            step, fall, decrement = now.newton(theta[left])
        except np.linalg.LinAlgError:
            return None
        if not np.all(np.isfinite(decrement)):
            return None
        moved, value[left], stuck = _line_search(now, theta[left], step, fall, value[left])
        theta[left] = moved
        small = 0.5 * decrement <= tol * null[left]
        if np.any(stuck & ~small):
            return None
        left, now = left[~small], now.take(~small)
        if not len(left):
            return theta
    return None


def _line_search(
    problems: _Problems, theta: Array, step: Array, fall: Array, value: Array
) -> tuple[Array, Array, Array]:
    """Points and values after steps, and which problems found none to take.

    Whole steps where the value falls as foretold, else to the least value on the way; halved where rounding hides it.
    """
    rounding = _ROUNDING * np.finfo(theta.dtype).eps * np.abs(value)
    there = theta + step
    found = problems.value(there)
    bad = np.flatnonzero(~(found <= value - _SURE * fall + rounding))
    if not len(bad):
        return there, found, np.zeros(len(theta), dtype=bool)
    t = np.ones(len(theta), dtype=theta.dtype)
    t[bad] = problems.take(bad).along(theta[bad], step[bad])
    for _ in range(_HALVINGS):
        there[bad] = theta[bad] + t[bad, None] * step[bad]
        found[bad] = problems.take(bad).value(there[bad])
        bad = bad[~(found[bad] <= (value + rounding)[bad])]
        if not len(bad):
            break
        t[bad] *= 0.5
    stuck = ~(found <= value + rounding)
    there[stuck], found[stuck] = theta[stuck], value[stuck]
    return there, found, stuck
