"""Learning curves (score against training size) and validation curves (score against one parameter)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier
from sklearn.utils import indexable

from certifit._types import CV, Array, Estimator, MatrixLike, VectorLike
from certifit.certificates.evaluation import corrected_limits
from certifit.metrics import Interval
from certifit.model_selection._progress import Progress
from certifit.model_selection._run import Keep, Outcome, Trial, Workers, judge_all
from certifit.model_selection._scoring import Scoring, ScoringLike
from certifit.resampling import folds


@dataclass(frozen=True)
class Curve:
    """Training and test scores along one axis; unpacks as ``x, train_scores, test_scores`` (learning curve).

    Attributes
    ----------
    name : str
        What runs along the axis.
    x : array of shape (m,)
        Training sizes or parameter values.
    train_scores, test_scores : arrays of shape (m, n_folds)
    held_out : array of shape (m,)
        Test rows as a share of the training rows, which the intervals need.

    Examples
    --------
    >>> from certifit.linear_model import LinearRegression
    >>> from certifit.model_selection import learning_curve
    >>> X = np.linspace(0, 1, 40)[:, None]
    >>> sizes, train, test = learning_curve(LinearRegression(), X, X[:, 0] ** 2, train_sizes=[8, 16, 32])
    >>> sizes.tolist(), test.shape
    ([8, 16, 32], (3, 5))
    """

    name: str
    x: Array
    train_scores: Array
    test_scores: Array
    held_out: Array

    def intervals(self, level: float = 0.95) -> list[Interval]:
        """Interval of the mean test score at each point, corrected for overlapping folds.

        Parameters
        ----------
        level : float in (0, 1), default=0.95
        """
        found = []
        for scores, held_out in zip(self.test_scores, self.held_out):
            low, high, _ = corrected_limits(scores, float(held_out), level)
            found.append(Interval(low, high, level, "corrected t (Nadeau and Bengio)"))
        return found

    @property
    def best(self) -> Any:
        """The value along the axis with the best mean test score."""
        return self.x[int(np.argmax(self.test_scores.mean(axis=1)))]

    def __iter__(self) -> Iterator[Array]:
        first = (self.x,) if self.name == "training rows" else ()
        return iter((*first, self.train_scores, self.test_scores))


def learning_curve(
    estimator: Estimator,
    X: MatrixLike,
    y: VectorLike,
    *,
    train_sizes: npt.ArrayLike | None = None,
    cv: CV = 5,
    scoring: ScoringLike = None,
    shuffle: bool = True,
    random_state: int | None = 0,
    n_jobs: int | None = None,
    progress: Progress = None,
) -> Curve:
    """Scores of models fitted on growing numbers of rows.

    Parameters
    ----------
    estimator : estimator
    X, y : array-like
    train_sizes : array-like, default=None
        Numbers of rows (integers) or shares of a fold's training rows (floats up to 1); five steps from 10 % to
        all of them when None.
    cv, scoring : as in `cross_validate`
    shuffle : bool, default=True
        Take the first rows of a shuffled training set (the sets are nested).
    random_state : int, default=0
    n_jobs, progress :
        As in `cross_validate`.

    Returns
    -------
    Curve
        Unpacks as scikit-learn's ``train_sizes, train_scores, test_scores``.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 10)); y = X.sum(axis=1) + rng.normal(size=200)
    >>> sizes, train, test = learning_curve(LinearRegression(), X, y, train_sizes=[20, 80, 160])
    >>> test.mean(axis=1).round(2)
    array([0.75, 0.89, 0.9 ])
    """
    X, y = indexable(X, y)
    split = folds(X, y, cv, classifier=is_classifier(estimator))
    largest = min(len(train) for train, _ in split)
    sizes = _sizes(np.linspace(0.1, 1.0, 5) if train_sizes is None else train_sizes, largest)
    rng = np.random.default_rng(random_state)
    orders = [rng.permutation(train) if shuffle else train for train, _ in split]
    trial = Trial(estimator, X, y, Scoring.of(estimator, scoring), keep=Keep(train_scores=True))
    nested = [(order[:size], test) for size in sizes for order, (_, test) in zip(orders, split)]
    outcomes = judge_all(trial, nested, [{}], Workers(n_jobs, progress, "learning"))
    held = np.array([np.mean([len(b) / size for _, b in split]) for size in sizes])
    return Curve("training rows", sizes, *_scores(outcomes, len(sizes)), held)


def _scores(outcomes: Sequence[Outcome], points: int) -> tuple[Array, Array]:
    """Training and test scores (points, folds)."""
    train = [next(iter(o.train_scores.values())) for o in outcomes]
    test = [next(iter(o.scores.values())) for o in outcomes]
    return np.reshape(train, (points, -1)), np.reshape(test, (points, -1))


def _sizes(asked: npt.ArrayLike, largest: int) -> Array:
    asked = np.asarray(asked)
    sizes = np.round(asked * largest).astype(int) if asked.dtype.kind == "f" else asked.astype(int)
    if asked.dtype.kind == "f" and (np.any(asked <= 0) or np.any(asked > 1)):
        raise ValueError(f"Shares of the training rows lie in (0, 1]; got {asked.tolist()}.")
    if np.any(sizes < 1) or np.any(sizes > largest):
        raise ValueError(f"Training sizes must lie between 1 and {largest}, the smallest fold; got {sizes.tolist()}.")
    return np.unique(sizes)


def validation_curve(
    estimator: Estimator,
    X: MatrixLike,
    y: VectorLike,
    *,
    param_name: str,
    param_range: Sequence[Any],
    cv: CV = 5,
    scoring: ScoringLike = None,
    n_jobs: int | None = None,
    progress: Progress = None,
) -> Curve:
    """Training and test scores along one parameter.

    Parameters
    ----------
    estimator : estimator
    X, y : array-like
    param_name : str
    param_range : sequence
    cv, scoring, n_jobs, progress :
        As in `cross_validate`.

    Returns
    -------
    Curve
        Unpacks as scikit-learn's ``train_scores, test_scores``.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(200, 1)); y = np.sin(6 * X[:, 0]) + 0.3 * rng.normal(size=200)
    >>> curve = validation_curve(DecisionTreeRegressor(), X, y, param_name="max_depth", param_range=[1, 3, 12])
    >>> curve.best, curve.train_scores.mean(axis=1).round(2)
    (np.int64(3), array([0.72, 0.85, 1.  ]))
    """
    X, y = indexable(X, y)
    clone(estimator).set_params(**{param_name: param_range[0]})  # a wrong name is told before any work
    split = folds(X, y, cv, classifier=is_classifier(estimator))
    grid = [{param_name: v} for v in param_range]
    trial = Trial(estimator, X, y, Scoring.of(estimator, scoring), keep=Keep(train_scores=True))
    outcomes = judge_all(trial, split, grid, Workers(n_jobs, progress, "validating"))
    held = np.full(len(grid), np.mean([len(b) / len(a) for a, b in split]))
    return Curve(param_name, np.asarray(list(param_range)), *_scores(outcomes, len(grid)), held)
