"""Cross-validation of squared-loss families from the moments of the folds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import clone

from certifit._types import Array, BaseEstimator
from certifit.certificates.moments import Moments, SecondMoments
from certifit.certificates.sums import Block, Statistic
from certifit.exceptions import TableError
from certifit.linear_model import ElasticNet, Lasso, LinearRegression, Ridge
from certifit.scale._job import Job, Seen
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
    mass : (folds,) array or None
        Sum of the weights of each fold, where rows have some.

    Examples
    --------
    >>> FoldScores(np.array([1.0, 3.0]), np.array([0.5, 0.4]), np.array([5, 5]), np.zeros((2, 1))).mean
    2.0
    """

    mse: Array
    r2: Array
    rows: Array
    coef: Array
    mass: Array | None = None

    @property
    def mean(self) -> float:
        """Mean squared error over all rows, weighted as these are."""
        share = self.rows if self.mass is None else self.mass
        return float(self.mse @ share / share.sum())


class HashedFoldMoments(Statistic):
    """The moments of every fold; a row's fold is a keyed hash of its values."""

    def __init__(self, seen: Seen, folds: int, seed: int, by: int | None) -> None:
        self.seed, self.by = seed, by
        self.parts = [Moments(seen.grid, seen.digits, seen.weight_exponent) for _ in range(folds)]

    def add(self, block: Block) -> None:
        fold = row_hashes(block, self.seed, self.by) % np.uint64(len(self.parts))
        for k, part in enumerate(self.parts):
            part.add(block.take(np.flatnonzero(fold == k)))

    def merge(self, other: HashedFoldMoments) -> HashedFoldMoments:
        for mine, its in zip(self.parts, other.parts):
            mine.merge(its)
        return self

    def finish(self) -> list[SecondMoments]:
        return [part.finish() for part in self.parts]


def score_folds(job: Job, estimator: BaseEstimator, folds: int, seed: int, by: str | None) -> FoldScores:
    """Fit all rows but a fold, and judge by that fold, for every fold of one pass."""
    if not isinstance(estimator, (LinearRegression, Ridge, Lasso, ElasticNet)):
        raise TypeError(refusal(estimator, "only squared-loss families are cross-validated in one pass"))
    names = [*job.plan.numbers, job.plan.target]
    if by is not None and by not in names:
        raise TableError(f"There is no column {by!r} among those that are read.")
    seen = job.look(labels=False)
    place = None if by is None else names.index(by)
    parts = job.run(HashedFoldMoments(seen, folds, seed, place), task="moments of folds", rows=seen.rows)
    total = parts[0]
    for part in parts[1:]:
        total = SecondMoments(
            total.centre, total.total + part.total, total.radius + part.radius, total.rows + part.rows
        )
    mse, r2, coefs = [], [], []
    for part in parts:
        rest = total.minus(part)
        if not (part.least > 0.0 and rest.least > 0.0):
            raise TableError("A fold has no rows, or none that count: use fewer folds.")
        size = float(part.weight.mid)
        w, b = solve(objective_of(clone(estimator), float(rest.weight.mid)), rest)
        error = float(part.residuals(w, b).square.mid) / size
        spread = float(part.centred().mid[-1, -1]) / size
        mse.append(error)
        r2.append(1.0 - error / spread if spread > 0.0 else np.nan)
        coefs.append(w)
    mass = None if seen.mass is None else np.array([float(p.weight.mid) for p in parts])
    return FoldScores(np.array(mse), np.array(r2), np.array([p.rows for p in parts]), np.array(coefs), mass)
