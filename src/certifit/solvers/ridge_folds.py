r"""Ridge on every fold and for every α at once, from one pass over the rows.

For each fold the moments :math:`M = \sum_i s_i (z_i, r_i, 1)(z_i, r_i, 1)^\top` of its own rows are computed (rows
shifted by a common point c near the mean, which loses nothing and keeps small numbers small). Those of its
training rows are the total minus them; their centred part G and the products C with the targets give

.. math:: w(α) = (G + αI)^{-1} C = V (Λ + α)^{-1} V^\top C, \qquad G = V Λ V^\top,

so that one eigen-decomposition per fold serves all α. An eigen-decomposition is accurate relative to the largest
eigenvalue only; two steps of refinement with the entries of G, which are accurate relative to their own columns,
repair what unlike column scales cost.

What forming G lost is repaired, where the (column-scaled) condition number is large, with residuals of the rows, for
all α in one pass.

With more columns than training rows the n × n form is used in the same way. Where the condition number is too large for
normal equations, or a fold holds nearly all of a column's size (so that total minus fold cancels), the fold is solved α
by α with `solve_least_squares`, which goes on to QR and SVD.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.linalg.lapack import dpocon, dpotrf

from certifit._types import Array
from certifit.design import FoldMoments, FoldTable, as_design
from certifit.solvers.least_squares import solve_least_squares

_CLEAN = 1e-9  # reciprocal condition of the scaled normal equations below which residuals of the rows refine
_CONDITION = 1e-12  # and below which QR takes over
_SETTLED = 1e-9  # relative size of the last refinement step
_ROUNDS = 6  # of refinement with the rows; each gains three digits or more
_BLOCK = 4096  # rows of a pass


def ridge_folds(table: FoldTable, alphas: Array, fit_intercept: bool = True) -> Iterator[tuple[Array, Array]]:
    """Coefficients (a, t, d) and offsets (a, t) of every α on each fold's training rows, which are dense and finite.

    Examples
    --------
    >>> X, Y = np.arange(6.0)[:, None], 2 * np.arange(6.0)[:, None] + 1
    >>> folds = [(np.array([2, 3, 4, 5]), np.array([0, 1])), (np.array([0, 1]), np.array([2, 3, 4, 5]))]
    >>> for coef, intercept in ridge_folds(FoldTable(X, Y, folds), np.array([0.0, 5.0])):
    ...     print(coef[:, 0, 0], intercept[:, 0])
    [2. 1.] [1.  4.5]
    [2.         0.18181818] [1.         1.90909091]
    """
    alphas = np.asarray(alphas, dtype=float)
    if table.X.shape[1] > min(len(train) for train, _ in table.folds):
        for k in range(len(table.folds)):
            yield _dual(table, k, alphas, fit_intercept) or _direct(table, k, alphas, fit_intercept)
        return
    data = FoldMoments(table, fit_intercept)
    for k in range(len(table.folds)):
        yield _primal(data, k, alphas) or _direct(table, k, alphas, fit_intercept)


def _centred(M: Array, d: int, fit_intercept: bool) -> tuple[Array, Array, Array, Array]:
    """G, C and the means of the shifted rows and targets."""
    if not fit_intercept:
        return M[:d, :d], M[:d, d:-1], np.zeros(d), np.zeros(len(M) - d - 1)
    total = M[-1, -1]
    mean, target = M[-1, :d] / total, M[-1, d:-1] / total
    return M[:d, :d] - total * np.outer(mean, mean), M[:d, d:-1] - total * np.outer(mean, target), mean, target


def _primal(data: FoldMoments, k: int, alphas: Array) -> tuple[Array, Array] | None:
    """All α from the moments of the training rows; None when normal equations cannot be trusted."""
    M, d = data.training(k), data.table.X.shape[1]
    G, C, mean, target = _centred(M, d, data.fit_intercept)
    if not np.all(np.isfinite(G)) or np.any(np.diag(G) < 1e-7 * np.diag(M)[:d]):
        return None
    size = np.sqrt(np.diag(G) + alphas.min())
    condition = _condition(G, alphas.min(), size)
    if not condition > _CONDITION:
        return None
    values, V = np.linalg.eigh(G)  # many times faster than SciPy's on a busy machine: one BLAS, one pool of threads
    roots = np.maximum(values, 0.0), V, alphas, size
    W = _refined(G, C, *roots) if condition > _CLEAN else None
    if W is None:
        W = _refined(G, C, *roots, _rows_left(data, k, mean, target, alphas))
    if W is None:
        return None
    coef = W.transpose(0, 2, 1)
    return coef, data.offset(coef, mean, target)


def _condition(G: Array, alpha: float, size: Array) -> float:
    """The reciprocal condition number of G + αI in units of its diagonal; 0 where it is not positive definite."""
    if not np.all(size > 0):
        return 0.0
    H = (G + alpha * np.eye(len(G))) / size / size[:, None]
    L, info = dpotrf(H, lower=1)
    return float(dpocon(L, np.abs(H).sum(axis=0).max(), uplo="L")[0]) if info == 0 else 0.0


def _rows_left(data: FoldMoments, k: int, mean: Array, target: Array, alphas: Array) -> Callable[[Array], Array]:
    """What W (d, a·t) leaves of the gradient on the training rows of a fold, from the rows themselves."""
    table, train = data.table, data.table.folds[k][0]
    centre, level, t = data.shift + mean, np.tile(data.target_shift + target, len(alphas)), len(target)

    def left(W: Array) -> Array:
        G, sums, pulls, total = np.zeros_like(W), np.zeros(W.shape[1]), np.zeros(len(W)), 0.0
        for i in range(0, len(train), _BLOCK):
            rows = train[i : i + _BLOCK]
            Z = table.X[rows] - centre
            E = np.tile(table.y[rows], len(alphas)) - level - Z @ W
            s = np.ones(len(rows)) if table.weights is None else table.weights[rows]
            E *= s[:, None]
            G, sums, pulls, total = G + Z.T @ E, sums + E.sum(axis=0), pulls + s @ Z, total + s.sum()
        if data.fit_intercept:  # the offset takes what is left of the means
            G -= np.outer(pulls / total, sums)
        return np.asarray(G - W * np.repeat(alphas, t))

    return left


def _refined(
    G: Array,
    C: Array,
    values: Array,
    V: Array,
    alphas: Array,
    size: Array,
    rows: Callable[[Array], Array] | None = None,
) -> Array | None:
    """(G + αI)W = C for every α through G = V diag(values) Vᵀ, refined with G itself or with the rows: (a, d, t)."""
    a, (d, t) = len(alphas), C.shape
    inverse = 1.0 / np.maximum(values[:, None] + alphas, 1e-300)  # (d, a)

    def solve(R: Array) -> Array:
        """R (d, a·t) → approximate solutions of the same shape."""
        return np.asarray(V @ ((V.T @ R).reshape(d, a, t) * inverse[:, :, None]).reshape(d, a * t))

    right = np.repeat(C[:, None, :], a, axis=1).reshape(d, a * t)
    weight = np.repeat(alphas, t)
    W = solve(right)
    for _ in range(2 if rows is None else _ROUNDS):
        step = solve(right - G @ W - W * weight if rows is None else rows(W))
        W = W + step
        settled = bool(
            np.all(np.abs(step * size[:, None]).max(axis=0) <= _SETTLED * np.abs(W * size[:, None]).max(axis=0))
        )
        if rows is not None and settled:
            break
    return W.reshape(d, a, t).transpose(1, 0, 2) if settled else None


def _dual(table: FoldTable, k: int, alphas: Array, fit_intercept: bool) -> tuple[Array, Array] | None:
    """More columns than rows: w = Aᵀ(AAᵀ + αI)⁻¹r with one eigen-decomposition for every α."""
    if not alphas.min() > 0:
        return None
    A, R, weights = table.training(k)
    s = np.ones(len(A)) if weights is None else weights
    mean, target = np.zeros(A.shape[1]), np.zeros(R.shape[1])
    if fit_intercept:
        near = A.mean(axis=0, dtype=float)  # two rounds: a far-away mean costs no digits
        mean, target = near + s @ (A - near) / s.sum(), s @ R / s.sum()
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
    return coef, target - coef @ mean if fit_intercept else np.zeros(coef.shape[:2])


def _direct(table: FoldTable, k: int, alphas: Array, fit_intercept: bool) -> tuple[Array, Array]:
    """α by α with the solver that goes on to QR and SVD."""
    X, Y, weights = table.training(k)
    design, targets = as_design(X), Y.shape[1]
    found = [
        solve_least_squares(design, Y, weights, alpha=np.full(targets, a), fit_intercept=fit_intercept).value
        for a in alphas
    ]
    return np.array([w for w, _ in found]), np.array([np.broadcast_to(b, (targets,)) for _, b in found])
