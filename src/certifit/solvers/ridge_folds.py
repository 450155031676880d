r"""Ridge on every fold and for every α at once, from one pass over the rows.

For each fold the moments :math:`M = \sum_i s_i (z_i, r_i, 1)(z_i, r_i, 1)^\top` of its own rows are computed (rows
shifted by a common point c near the mean, which loses nothing and keeps small numbers small). Those of its
training rows are the total minus them; their centred part G and the products C with the targets give

.. math:: w(α) = (G + αI)^{-1} C = V (Λ + α)^{-1} V^\top C, \qquad G = V Λ V^\top,

so that one eigen-decomposition per fold serves all α. An eigen-decomposition is accurate relative to the largest
eigenvalue only; two steps of refinement with the entries of G, which are accurate relative to their own columns,
repair what unlike column scales cost.

With more columns than training rows the n × n form is used in the same way. Where the (column-scaled) condition
number is too large for normal equations, or a fold holds nearly all of a column's size (so that total minus fold
cancels), the fold is solved α by α with `solve_least_squares`, which goes on to QR and SVD.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpocon, dpotrf

from certifit._types import Array
from certifit.design import as_design
from certifit.solvers.least_squares import solve_least_squares

Fold = tuple[Array, Array]

_ROWS = 2048  # rows per block: a block of a hundred columns stays in cache
_CONDITION = 1e-9  # reciprocal condition of the scaled normal equations below which QR takes over
_CANCELLED = 1e-6  # share of a column's size that training rows must keep after the subtraction
_SETTLED = 1e-9  # relative size of the last refinement step


@dataclass(frozen=True)
class FoldRows:
    """The rows that folds share, around a common point."""

    X: Array
    Y: Array
    weights: Array | None
    fit_intercept: bool
    shift: Array
    target_shift: Array

    @classmethod
    def of(cls, X: Array, Y: Array, weights: Array | None, fit_intercept: bool) -> FoldRows:
        n, d = X.shape
        if not fit_intercept:
            return cls(X, Y, weights, False, np.zeros(d), np.zeros(Y.shape[1]))
        some = slice(None, None, max(1, n // 1000))  # any point near the mean will do
        return cls(X, Y, weights, True, X[some].mean(axis=0, dtype=float), Y[some].mean(axis=0))

    def moments(self, rows: Array | slice) -> Array:
        """M of the given rows, block by block."""
        d, t = self.X.shape[1], self.Y.shape[1]
        index = np.arange(len(self.X))[rows] if isinstance(rows, slice) else rows
        total = np.zeros((d + t + 1, d + t + 1))
        buffer = np.empty((min(_ROWS, max(len(index), 1)), d + t + 1))
        for i in range(0, len(index), _ROWS):
            part = rows_of(index[i : i + _ROWS])
            X = self.X[part]
            block = buffer[: len(X)]
            np.subtract(X, self.shift, out=block[:, :d])
            np.subtract(self.Y[part], self.target_shift, out=block[:, d:-1])
            block[:, -1] = 1.0
            if self.weights is not None:
                block *= np.sqrt(self.weights[part])[:, None]
            total += block.T @ block
        return total


def rows_of(index: Array) -> Array | slice:
    """A slice in place of consecutive row numbers: views instead of copies."""
    if len(index) and index[-1] - index[0] == len(index) - 1 and np.all(np.diff(index) == 1):
        return slice(int(index[0]), int(index[-1]) + 1)
    return index


def ridge_folds(
    X: Array,
    Y: Array,
    folds: Sequence[Fold],
    alphas: Array,
    weights: Array | None = None,
    fit_intercept: bool = True,
) -> Iterator[tuple[Array, Array]]:
    """Coefficients (a, t, d) and offsets (a, t) of every α on each fold's training rows, fold by fold.

    Parameters
    ----------
    X : (n, d) array
        Dense and finite.
    Y : (n, t) array
    folds : list of (train, test)
        Row numbers. When the test rows partition all rows and training rows are the rest, one pass serves all folds.
    alphas : (a,) array, ≥ 0
    weights : (n,) array, default=None
    fit_intercept : bool, default=True

    Examples
    --------
    >>> X, Y = np.arange(6.0)[:, None], 2 * np.arange(6.0)[:, None] + 1
    >>> folds = [(np.array([2, 3, 4, 5]), np.array([0, 1])), (np.array([0, 1]), np.array([2, 3, 4, 5]))]
    >>> for coef, intercept in ridge_folds(X, Y, folds, np.array([0.0, 5.0])):
    ...     print(coef[:, 0, 0], intercept[:, 0])
    [2. 1.] [1.  4.5]
    [2.         0.18181818] [1.         1.90909091]
    """
    data = FoldRows.of(X, Y, weights, fit_intercept)
    alphas = np.asarray(alphas, dtype=float)
    wide = X.shape[1] > min(len(train) for train, _ in folds)
    if wide:
        for train, _ in folds:
            yield _dual(data, train, alphas) or _direct(data, train, alphas)
        return
    if partition(folds, len(X)):
        own = [data.moments(test) for _, test in folds]
        total = np.sum(own, axis=0)
        for (train, _), mine in zip(folds, own):
            rest = total - mine
            safe = np.all(np.diag(rest) >= _CANCELLED * np.diag(total))
            yield _primal(data, rest if safe else data.moments(train), alphas) or _direct(data, train, alphas)
        return
    for train, _ in folds:
        yield _primal(data, data.moments(train), alphas) or _direct(data, train, alphas)


def partition(folds: Sequence[Fold], n: int) -> bool:
    """Whether every row is tested once and trains in all other folds."""
    tested = np.concatenate([test for _, test in folds])
    return (
        len(tested) == n
        and all(len(train) + len(test) == n for train, test in folds)
        and bool(np.all(np.bincount(tested, minlength=n) == 1))
        and all(_complement(train, test, n) for train, test in folds)
    )


def _complement(train: Array, test: Array, n: int) -> bool:
    seen = np.zeros(n, dtype=np.int8)
    seen[train] += 1
    seen[test] += 1
    return bool(seen.all())


def centred(data: FoldRows, M: Array) -> tuple[Array, Array, Array, Array]:
    """G, C and the means of the shifted rows and targets."""
    d = data.X.shape[1]
    if not data.fit_intercept:
        return M[:d, :d], M[:d, d:-1], np.zeros(d), np.zeros(data.Y.shape[1])
    total = M[-1, -1]
    mean, target = M[-1, :d] / total, M[-1, d:-1] / total
    return M[:d, :d] - total * np.outer(mean, mean), M[:d, d:-1] - total * np.outer(mean, target), mean, target


def _primal(data: FoldRows, M: Array, alphas: Array) -> tuple[Array, Array] | None:
    """All α from the moments of the training rows; None when normal equations cannot be trusted."""
    G, C, mean, target = centred(data, M)
    d = len(G)
    if not np.all(np.isfinite(G)) or np.any(np.diag(G) < 1e-7 * np.diag(M)[:d]):
        return None
    size = np.sqrt(np.diag(G) + alphas.min())
    if not _well_conditioned(G, alphas.min(), size):
        return None
    values, V = np.linalg.eigh(G)  # many times faster than SciPy's on a busy machine: one BLAS, one pool of threads
    W = _refined(G, C, np.maximum(values, 0.0), V, alphas, size)
    if W is None:
        return None
    coef = W.transpose(0, 2, 1)
    offset = target + data.target_shift - coef @ (mean + data.shift) if data.fit_intercept else np.zeros(coef.shape[:2])
    return coef, offset


def _well_conditioned(G: Array, alpha: float, size: Array) -> bool:
    if not np.all(size > 0):
        return False
    H = (G + alpha * np.eye(len(G))) / size / size[:, None]
    L, info = dpotrf(H, lower=1)
    return info == 0 and dpocon(L, np.abs(H).sum(axis=0).max(), uplo="L")[0] > _CONDITION


def _refined(G: Array, C: Array, values: Array, V: Array, alphas: Array, size: Array) -> Array | None:
    """(G + αI)W = C for every α through G = V diag(values) Vᵀ, refined with G itself: (a, d, t)."""
    a, (d, t) = len(alphas), C.shape
    inverse = 1.0 / np.maximum(values[:, None] + alphas, 1e-300)  # (d, a)

    def solve(R: Array) -> Array:
        """R (d, a·t) → approximate solutions of the same shape."""
        return V @ ((V.T @ R).reshape(d, a, t) * inverse[:, :, None]).reshape(d, a * t)

    right = np.repeat(C[:, None, :], a, axis=1).reshape(d, a * t)
    weight = np.repeat(alphas, t)
    W = solve(right)
    for _ in range(2):
        step = solve(right - G @ W - W * weight)
        W = W + step
    moved = np.abs(step * size[:, None]).max(axis=0)
    whole = np.abs(W * size[:, None]).max(axis=0)
    if not np.all(moved <= _SETTLED * whole):
        return None
    return W.reshape(d, a, t).transpose(1, 0, 2)


def _dual(data: FoldRows, train: Array, alphas: Array) -> tuple[Array, Array] | None:
    """More columns than rows: w = Aᵀ(AAᵀ + αI)⁻¹r with one eigen-decomposition for every α."""
    if not alphas.min() > 0:
        return None
    A, R = data.X[train] - data.shift, data.Y[train] - data.target_shift
    s = np.ones(len(train)) if data.weights is None else data.weights[train]
    mean, target = (
        (s @ A / s.sum(), s @ R / s.sum()) if data.fit_intercept else (np.zeros(A.shape[1]), np.zeros(R.shape[1]))
    )
    root = np.sqrt(s)[:, None]
    A, R = (A - mean) * root, (R - target) * root
    K = A @ A.T
    if not np.all(np.isfinite(K)):
        return None
    values, V = np.linalg.eigh(K)
    if not alphas.min() > 1e-9 * values[-1]:
        return None
    duals = _refined(K, R, np.maximum(values, 0.0), V, alphas, np.sqrt(np.diag(K) + alphas.min()))
    if duals is None:
        return None
    coef = duals.transpose(0, 2, 1) @ A
    offset = target + data.target_shift - coef @ (mean + data.shift) if data.fit_intercept else np.zeros(coef.shape[:2])
    return coef, offset


def _direct(data: FoldRows, train: Array, alphas: Array) -> tuple[Array, Array]:
    """α by α with the solver that goes on to QR and SVD."""
    design, Y = as_design(data.X[train]), data.Y[train]
    weights = None if data.weights is None else data.weights[train]
    found = [
        solve_least_squares(design, Y, weights, alpha=np.full(Y.shape[1], a), fit_intercept=data.fit_intercept).value
        for a in alphas
    ]
    return np.array([w for w, _ in found]), np.array([np.broadcast_to(b, (Y.shape[1],)) for _, b in found])
