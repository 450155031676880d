r"""Lasso and elastic net on every fold and for every α, from one pass over tall data.

As in `ridge_folds`, the moments of each fold's own rows are computed once and those of its training rows are the total
minus them. From there on all is work with the d × d Gram matrix (`certifit.solvers._gram_path`), one fold per core.
Folds that are wide, or whose moments would cancel, are solved from their rows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import issparse

from certifit._objective import Objective
from certifit._types import Array
from certifit.design import FoldMoments, FoldTable, as_design
from certifit.losses import Squared
from certifit.parallel import side_by_side, threads
from certifit.regularizers import mix_of_norms
from certifit.solvers._gram_descent import Penalty
from certifit.solvers._gram_path import descend_path
from certifit.solvers._task import Options, Task
from certifit.solvers.coordinate import coordinate_path

_FLOOR = 1e-9  # gaps below which rounding may have the last word
_LARGEST = 4000  # columns up to which Gram matrices are formed


class LassoFolds:
    r"""Lasso and elastic net on the training rows of every fold, from what the folds of a table share.

    For each α, :math:`\frac1{2S}\sum_i s_i(y_i - w\cdot x_i - b)^2 + \alpha(\rho\lVert w\rVert_1 +
    \tfrac12(1-\rho)\lVert w\rVert^2)` is minimised over a fold's training rows, S being the sum of their weights. Rows
    are finite and have one target; sparse rows are solved fold by fold.

    Examples
    --------
    >>> X, y = np.arange(6.0)[:, None], 2 * np.arange(6.0) + 1
    >>> folds = [(np.array([2, 3, 4, 5]), np.array([0, 1])), (np.array([0, 1]), np.array([2, 3, 4, 5]))]
    >>> shared = LassoFolds(FoldTable(X, y, folds))
    >>> for coef, intercept in shared.paths(np.array([0.25, 0.5])):
    ...     print(coef[:, 0], intercept)
    [1.8 1.6] [1.7 2.4]
    [1. 0.] [1.5 2. ]
    >>> shared.gram()
    array([[17.5]])
    """

    def __init__(self, table: FoldTable, fit_intercept: bool = True) -> None:
        self.table, self.fit_intercept = table, fit_intercept
        d, rows = table.X.shape[1], min(len(train) for train, _ in table.folds)
        self.data: FoldMoments | None = None
        if d <= min(_LARGEST, rows) and not issparse(table.X):
            self.data = FoldMoments(replace(table, y=table.y[:, None]), fit_intercept, side_by_side)

    def paths(
        self, alphas: Array, ratio: float = 1.0, positive: bool = False, tol: float = 1e-8
    ) -> list[tuple[Array, Array]]:
        """Coefficients (a, d) and offsets (a,) of each fold, for alphas > 0 in any order and ρ = ``ratio`` > 0.

        ``tol`` is the largest duality gap, as a fraction of the null model of the fold.
        """
        alphas, folds = np.asarray(alphas, dtype=float), range(len(self.table.folds))

        objective = squared_with(ratio, positive, self.fit_intercept)
        # Each thread keeps its Gram matrix from fold to fold: fresh memory of that size takes longer than the numbers.
        rooms = [] if self.data is None else [np.empty((self.table.X.shape[1] + 2,) * 2) for _ in range(threads())]

        def one(k: int) -> tuple[Array, Array]:
            if self.data is not None:
                room = rooms.pop()
                known = _from_moments(self.data, k, room, alphas, ratio, positive, tol)
                rooms.append(room)
                if known is not None:
                    return known
            return path_of_fold(self.table, k, objective, alphas, Options(tol))[:2]

        if self.data is None:
            return [one(k) for k in folds]
        # A path is work for one core: folds run side by side, a few at a time because each has its own Gram matrix.
        return side_by_side(one, folds)

    def gram(self) -> Array | None:
        """The Gram matrix of all rows, weighted and centred as a fit needs it; None if unknown or not to be trusted."""
        if self.data is None or not self.data.sums.shared:
            return None
        M = self.data.sums.total.copy()
        standard = _standardise(M, self.fit_intercept)
        return None if standard is None else M[:-2, :-2] * standard[0] * standard[0][:, None]


def path_of_fold(
    table: FoldTable, k: int, objective: Objective, alphas: Array, options: Options
) -> tuple[Array, Array, float]:
    """One fold from its rows, strongest penalty first, each point beginning where the last one ended.

    Coefficients (a, d), offsets (a,), and the largest gap, as a fraction of the null model's loss.
    """
    X, y, weights = table.training(k)
    task, order = Task(objective, as_design(X), y, weights), np.argsort(-alphas, kind="stable")
    found = coordinate_path(task, options, task.total * alphas[order])
    coef, offset = np.empty((len(alphas), X.shape[1])), np.empty(len(alphas))
    coef[order], offset[order] = found.value
    return coef, offset, float(np.max(found.stats["relative_gap"], initial=0.0))


def squared_with(ratio: float, positive: bool, fit_intercept: bool) -> Objective:
    """Half the squared loss with a mix of norms, whose strength a path is to say."""
    return Objective(Squared(0.5), mix_of_norms(ratio, positive=positive), 0.0, fit_intercept)


def _standardise(M: Array, fit_intercept: bool) -> tuple[Array, Array, float] | None:
    """Lengths of the centred columns, the means, and the mean of the target.

    Their Gram matrix, of columns of length one, takes the place of the leading block of M: fresh memory of that size
    takes longer than the numbers.
    """
    from certifit.loops.coordinate import centre  # compiled code loads on first use

    d, total, squares = len(M) - 2, float(M[-1, -1]), np.diag(M).copy()
    mean, target = (M[-1, :d] / total, float(M[-1, d] / total)) if fit_intercept else (np.zeros(d), 0.0)
    spread = squares[:d] - total * mean**2
    if not np.all(np.isfinite(squares)) or np.any(spread < 1e-7 * squares[:d]):
        return None
    scale = np.where(spread > 0, np.sqrt(np.where(spread > 0, spread, 1.0)), 1.0)
    centre(M, mean, total, scale)
    return scale, mean, target


def _from_moments(
    data: FoldMoments, k: int, room: Array, alphas: Array, ratio: float, positive: bool, tol: float
) -> tuple[Array, Array] | None:
    """The whole path from the moments of a fold's training rows; None where they cannot be trusted."""
    M = np.ascontiguousarray(data.training(k, room))
    standard = _standardise(M, data.fit_intercept)
    if standard is None:
        return None
    scale, mean, target = standard
    d, total = len(scale), float(M[-1, -1])
    r2 = max(float(M[d, d] - total * target**2), 0.0)
    q = (M[:d, d] - total * target * mean) / scale

    def penalty(alpha: float) -> Penalty:
        return Penalty(alpha * ratio * total / scale, alpha * (1.0 - ratio) * total / scale**2, positive)

    falling, where = np.unique(-alphas, return_inverse=True)
    W, gaps = descend_path(M, q, r2, -falling, penalty, tol)
    if r2 > 0 and not np.all(gaps <= max(tol, _FLOOR) * r2):
        return None
    coef = W[where] / scale
    return coef, data.offset(coef[:, None, :], mean, np.array([target]))[:, 0]
