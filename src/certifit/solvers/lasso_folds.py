r"""Lasso and elastic net on every fold and for every α, from one pass over tall data.

As in `ridge_folds`, the moments of each fold's own rows are computed once and those of its training rows are the total
minus them. From there on all is work with the d × d Gram matrix: along the path from the largest α to the smallest the
active set changes by a few columns, and each change is a rank-one update (`certifit.solvers._gram_descent`). Folds
that are wide, or whose moments would cancel, are solved from their rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from certifit._types import Array
from certifit.design import as_design
from certifit.solvers._gram_descent import Active, GramState, Penalty, descend_gram
from certifit.solvers.coordinate import solve_coordinate
from certifit.solvers.ridge_folds import Fold, FoldRows, centred, partition

_CANCELLED = 1e-6  # share of a column's size that training rows must keep after the subtraction
_LARGEST = 4000  # columns up to which Gram matrices are formed


def lasso_folds(
    X: Array,
    y: Array,
    folds: Sequence[Fold],
    alphas: Array,
    ratio: float = 1.0,
    weights: Array | None = None,
    fit_intercept: bool = True,
    positive: bool = False,
    tol: float = 1e-8,
) -> Iterator[tuple[Array, Array]]:
    r"""Coefficients (a, d) and offsets (a,) for every α on each fold's training rows, fold by fold.

    Each minimises :math:`\frac1{2S}\sum_i s_i(y_i - w\cdot x_i - b)^2 + \alpha(\rho\lVert w\rVert_1 +
    \tfrac12(1-\rho)\lVert w\rVert^2)` over its training rows, S being the sum of their weights.

    Parameters
    ----------
    X : (n, d) array
        Dense and finite.
    y : (n,) array
    folds : list of (train, test)
        Row numbers. When the test rows partition all rows and training rows are the rest, one pass serves all folds.
    alphas : (a,) array > 0
        In any order.
    ratio : float in (0, 1], default=1.0
        ρ.
    weights : (n,) array, default=None
    fit_intercept, positive : bool
    tol : float > 0, default=1e-8
        Largest duality gap, as a share of the null model of the fold.

    Examples
    --------
    >>> X, y = np.arange(6.0)[:, None], 2 * np.arange(6.0) + 1
    >>> folds = [(np.array([2, 3, 4, 5]), np.array([0, 1])), (np.array([0, 1]), np.array([2, 3, 4, 5]))]
    >>> for coef, intercept in lasso_folds(X, y, folds, np.array([0.25, 0.5])):
    ...     print(coef[:, 0], intercept)
    [1.8 1.6] [1.7 2.4]
    [1. 0.] [1.5 2. ]
    """
    alphas = np.asarray(alphas, dtype=float)
    options = (alphas, ratio, fit_intercept, positive, tol)
    d = X.shape[1]
    if d > _LARGEST or d > min(len(train) for train, _ in folds):
        for train, _ in folds:
            yield _direct(X, y, weights, train, *options)
        return
    data = FoldRows.of(X, y[:, None], weights, fit_intercept)
    shared = partition(folds, len(X))
    own = [data.moments(test) for _, test in folds] if shared else []
    total = np.sum(own, axis=0) if shared else None
    for i, (train, _) in enumerate(folds):
        rest = data.moments(train) if total is None else total - own[i]
        if total is not None and not np.all(np.diag(rest) >= _CANCELLED * np.diag(total)):
            rest = data.moments(train)
        found = _from_moments(data, rest, *options)
        yield _direct(X, y, weights, train, *options) if found is None else found


def _from_moments(
    data: FoldRows, M: Array, alphas: Array, ratio: float, fit_intercept: bool, positive: bool, tol: float
) -> tuple[Array, Array] | None:
    """The whole path from the moments of the training rows; None where they cannot be trusted."""
    G, C, mean, target = centred(data, M)
    d, total = len(G), float(M[-1, -1])
    spread = np.diag(G)
    if not np.all(np.isfinite(G)) or np.any(spread < 1e-7 * np.diag(M)[:d]):
        return None
    r2 = float(M[d, d] - total * target[0] ** 2) if fit_intercept else float(M[d, d])
    scale = np.where(spread > 0, np.sqrt(np.where(spread > 0, spread, 1.0)), 1.0)
    G = np.ascontiguousarray(G / scale / scale[:, None])
    state, active = GramState(np.zeros(d), C[:, 0] / scale, max(r2, 0.0)), Active()
    null = 0.5 * state.r2
    coef = np.empty((len(alphas), d))
    for i in np.argsort(-alphas, kind="stable"):
        l1, l2 = alphas[i] * ratio * total / scale, alphas[i] * (1.0 - ratio) * total / scale**2
        penalty = Penalty(l1, l2, positive)
        descend_gram(G, state, penalty, tol * null, tol, active)
        if null > 0 and not penalty.gap(state.w, state.q, state.r2)[0] <= 100 * tol * null:
            return None
        coef[i] = state.w / scale
    offset = target[0] + data.target_shift[0] - coef @ (mean + data.shift) if fit_intercept else np.zeros(len(alphas))
    return coef, offset


def _direct(
    X: Array,
    y: Array,
    weights: Array | None,
    train: Array,
    alphas: Array,
    ratio: float,
    fit_intercept: bool,
    positive: bool,
    tol: float,
) -> tuple[Array, Array]:
    """One fold from its rows."""
    order = np.argsort(-alphas, kind="stable")
    found = solve_coordinate(
        as_design(X[train]),
        y[train],
        alphas[order],
        ratio,
        None if weights is None else weights[train],
        fit_intercept=fit_intercept,
        positive=positive,
        tol=tol,
    )
    coef, offset = np.empty((len(alphas), X.shape[1])), np.empty(len(alphas))
    coef[order], offset[order] = found.value
    return coef, offset
