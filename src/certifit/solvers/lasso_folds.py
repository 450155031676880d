r"""Lasso and elastic net on every fold and for every α, from one pass over tall data.

As in `ridge_folds`, the moments of each fold's own rows are computed once and those of its training rows are the total
minus them. From there on all is work with the d × d Gram matrix (`certifit.solvers._gram_path`), one fold per core.
Folds that are wide, or whose moments would cancel, are solved from their rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

import numpy as np

from certifit._types import Array
from certifit.design import as_design
from certifit.losses import Squared
from certifit.objective import Objective
from certifit.parallel import side_by_side
from certifit.regularizers import mix_of_norms
from certifit.solvers._gram_descent import Penalty
from certifit.solvers._gram_path import descend_path
from certifit.solvers._task import Options, Task
from certifit.solvers.coordinate import coordinate_path
from certifit.solvers.ridge_folds import Fold, FoldRows, partition

_CANCELLED = 1e-6  # share of a column's size that training rows must keep after the subtraction
_FLOOR = 1e-9  # gaps below which rounding may have the last word
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
    yield from LassoFolds(X, y, folds, weights, fit_intercept).paths(alphas, ratio, positive, tol)


class LassoFolds:
    """What the folds of a table share: the moments of each fold's own rows, and of all rows.

    Examples
    --------
    >>> X, y = np.arange(6.0)[:, None], 2 * np.arange(6.0) + 1
    >>> folds = [(np.array([2, 3, 4, 5]), np.array([0, 1])), (np.array([0, 1]), np.array([2, 3, 4, 5]))]
    >>> LassoFolds(X, y, folds).gram()
    array([[17.5]])
    """

    def __init__(
        self, X: Array, y: Array, folds: Sequence[Fold], weights: Array | None = None, fit_intercept: bool = True
    ) -> None:
        self.X, self.y, self.folds, self.weights, self.fit_intercept = X, y, folds, weights, fit_intercept
        self.wide = X.shape[1] > _LARGEST or X.shape[1] > min(len(train) for train, _ in folds)
        self.data = FoldRows.of(X, y[:, None], weights, fit_intercept)
        shared = not self.wide and partition(folds, len(X))
        self.own = side_by_side(self.data.moments, [test for _, test in folds]) if shared else []
        self.total = reduce(np.add, self.own) if shared else None

    def paths(self, alphas: Array, ratio: float, positive: bool, tol: float) -> list[tuple[Array, Array]]:
        """Coefficients (a, d) and offsets (a,) of each fold."""
        options = (np.asarray(alphas, dtype=float), ratio, self.fit_intercept, positive, tol)
        if self.wide:
            return [_direct(self.X, self.y, self.weights, train, *options) for train, _ in self.folds]

        def one(i: int) -> tuple[Array, Array]:
            found = _from_moments(self.data, self._training(i), *options)
            return found or _direct(self.X, self.y, self.weights, self.folds[i][0], *options)

        # A path is work for one core: folds run side by side, a few at a time because each has its own Gram matrix.
        return side_by_side(one, range(len(self.folds)))

    def _training(self, i: int) -> Array:
        """Moments of the training rows of fold i."""
        if self.total is not None:
            rest = self.total - self.own[i]
            if np.all(np.diag(rest) >= _CANCELLED * np.diag(self.total)):
                return rest
        return self.data.moments(self.folds[i][0])

    def gram(self) -> Array | None:
        """The Gram matrix of all rows, weighted and centred as a fit needs it; None if unknown or not to be trusted."""
        if self.total is None:
            return None
        standard = _standard(self.total, self.fit_intercept)
        return None if standard is None else standard[0] * standard[1] * standard[1][:, None]


def _standard(M: Array, fit_intercept: bool) -> tuple[Array, Array, Array, float] | None:
    """Centred Gram matrix of columns of length one, those lengths, the means, and the mean of the target."""
    from certifit.loops.coordinate import centre  # compiled code loads on first use

    d, total, squares = len(M) - 2, float(M[-1, -1]), np.diag(M)
    mean, target = (M[-1, :d] / total, float(M[-1, d] / total)) if fit_intercept else (np.zeros(d), 0.0)
    spread = squares[:d] - total * mean**2
    if not np.all(np.isfinite(squares)) or np.any(spread < 1e-7 * squares[:d]):
        return None
    scale = np.where(spread > 0, np.sqrt(np.where(spread > 0, spread, 1.0)), 1.0)
    G = np.empty((d, d))
    centre(M, mean, total, scale, G)
    return G, scale, mean, target


def _from_moments(
    data: FoldRows, M: Array, alphas: Array, ratio: float, fit_intercept: bool, positive: bool, tol: float
) -> tuple[Array, Array] | None:
    """The whole path from the moments of the training rows; None where they cannot be trusted."""
    standard = _standard(M, fit_intercept)
    if standard is None:
        return None
    G, scale, mean, target = standard
    d, total = len(G), float(M[-1, -1])
    r2 = max(float(M[d, d] - total * target**2), 0.0)
    q = (M[:d, d] - total * target * mean) / scale

    def penalty(alpha: float) -> Penalty:
        return Penalty(alpha * ratio * total / scale, alpha * (1.0 - ratio) * total / scale**2, positive)

    falling, where = np.unique(-alphas, return_inverse=True)
    W, gaps = descend_path(G, q, r2, -falling, penalty, tol)
    if r2 > 0 and not np.all(gaps <= max(tol, _FLOOR) * r2):
        return None
    coef = W[where] / scale
    offset = target + data.target_shift[0] - coef @ (mean + data.shift) if fit_intercept else np.zeros(len(alphas))
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
    objective = Objective(Squared(0.5), mix_of_norms(ratio, positive=positive), 0.0, fit_intercept)
    task = Task(objective, as_design(X[train]), y[train], None if weights is None else weights[train])
    found = coordinate_path(task, Options(tol), task.total * alphas[order])
    coef, offset = np.empty((len(alphas), X.shape[1])), np.empty(len(alphas))
    coef[order], offset[order] = found.value
    return coef, offset
