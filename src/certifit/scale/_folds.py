"""Cross-validation of squared-loss families from the moments of the folds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from certifit._types import Array
from certifit.certificates.moments import Moments, SecondMoments
from certifit.certificates.sums import Block, Grid, Statistic
from certifit.exceptions import TableError
from certifit.linear_model import ElasticNet, Lasso, LinearRegression, Ridge
from certifit.scale._job import Job
from certifit.scale._moments import objective_of, solve
from certifit.scale._sample import row_hashes
from certifit.scale._smooth import refusal


@dataclass(frozen=True)
class FoldScores:
    """Errors on each fold of the fit to all others.

    Attributes
    ----------
    mse, r2 : (folds,) arrays
    rows : (folds,) array
        Rows of each fold.
    coef : (folds, d) array

    Examples
    --------
    >>> FoldScores(np.array([1.0, 3.0]), np.array([0.5, 0.4]), np.array([5, 5]), np.zeros((2, 1))).mean
    2.0
    """

    mse: Array
    r2: Array
    rows: Array
    coef: Array

    @property
    def mean(self) -> float:
        """Mean squared error over all rows."""
        return float(self.mse @ self.rows / self.rows.sum())


class FoldMoments(Statistic):
    """The moments of every fold; a row's fold is a keyed hash of its values."""

    def __init__(self, grid: Grid, digits: int, folds: int, seed: int, by: int | None) -> None:
        self.seed, self.by = seed, by
        self.parts = [Moments(grid, digits) for _ in range(folds)]

    def add(self, block: Block) -> None:
        fold = row_hashes(block, self.seed, self.by) % np.uint64(len(self.parts))
        for k, part in enumerate(self.parts):
            mine = np.flatnonzero(fold == k)
            y = None if block.y is None else block.y[mine]
            part.add(Block(np.ascontiguousarray(block.X[:, mine]), y, part=block.part))

    def merge(self, other: FoldMoments) -> FoldMoments:
        for mine, its in zip(self.parts, other.parts):
            mine.merge(its)
        return self

    def finish(self) -> list[SecondMoments]:
        return [part.finish() for part in self.parts]


def score_folds(job: Job, estimator: Any, folds: int, seed: int, by: str | None) -> FoldScores:
    """Fit all rows but a fold, and judge by that fold, for every fold of one pass."""
    if not isinstance(estimator, (LinearRegression, Ridge, Lasso, ElasticNet)):
        raise TypeError(refusal(estimator, "only squared-loss families are cross-validated in one pass"))
    names = [*job.plan.numbers, job.plan.target]
    if by is not None and by not in names:
        raise TableError(f"There is no column {by!r} among those that are read.")
    seen = job.look(labels=False)
    place = None if by is None else names.index(by)
    parts = job.run(FoldMoments(seen.grid, seen.digits, folds, seed, place), task="moments of folds", rows=seen.rows)
    total = parts[0]
    for part in parts[1:]:
        total = SecondMoments(
            total.centre, total.total + part.total, total.radius + part.radius, total.rows + part.rows
        )
    mse, r2, coefs = [], [], []
    for part in parts:
        if part.rows == 0 or part.rows == total.rows:
            raise TableError("A fold has no rows: use fewer folds.")
        rest = total.minus(part)
        w, b = solve(objective_of(clone(estimator), rest.rows), rest)
        error = float(part.residuals(w, b).square.mid) / part.rows
        spread = float(part.centred().mid[-1, -1]) / part.rows
        mse.append(error)
        r2.append(1.0 - error / spread if spread > 0.0 else np.nan)
        coefs.append(w)
    return FoldScores(np.array(mse), np.array(r2), np.array([p.rows for p in parts]), np.array(coefs))
