"""Learning curves (score against training size) and validation curves (score against one parameter)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn import get_config
from sklearn.base import is_classifier
from sklearn.model_selection import learning_curve as _learning_curve
from sklearn.model_selection import validation_curve as _validation_curve
from sklearn.utils import indexable

from certifit._limits import corrected_limits, held_out_share
from certifit._types import CV, Array, Estimator, MatrixLike, VectorLike
from certifit.metrics import Interval
from certifit.model_selection._scoring import ScoringLike
from certifit.resampling import folds


class Curve(tuple[Array, ...]):
    """Training and test scores along one axis: a tuple of what scikit-learn returns, with names and intervals.

    Attributes
    ----------
    name : str
        What runs along the axis.
    x : array of shape (m,)
        Training sizes or parameter values.
    train_scores, test_scores : arrays of shape (m, n_folds)
    held_out : array of shape (m,)
        Test rows as a fraction of the training rows, which the intervals need.
    times : tuple of arrays of shape (m, n_folds)
        Seconds of fitting and of scoring, where these were asked for.

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
    times: tuple[Array, ...]

    def __new__(
        cls,
        name: str,
        x: Array,
        train_scores: Array,
        test_scores: Array,
        held_out: Array,
        times: tuple[Array, ...] = (),
    ) -> Self:
        first = (x,) if name == "training rows" else ()
        self = super().__new__(cls, (*first, train_scores, test_scores, *times))
        self.name, self.x, self.held_out, self.times = name, x, held_out, times
        self.train_scores, self.test_scores = train_scores, test_scores
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.name, self.x, self.train_scores, self.test_scores, self.held_out, self.times

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


def learning_curve(
    estimator: Estimator,
    X: MatrixLike,
    y: VectorLike,
    *,
    groups: VectorLike | None = None,
    train_sizes: npt.ArrayLike = np.linspace(0.1, 1.0, 5),  # noqa: B008  (never changed)
    cv: CV = None,
    scoring: ScoringLike = None,
    **options: Any,
) -> Curve:
    """Scores of models fitted on growing numbers of rows: scikit-learn's function, with intervals.

    Parameters
    ----------
    estimator : estimator
    X, y : array-like
    groups : array-like, default=None
    train_sizes : array-like, default=np.linspace(0.1, 1.0, 5)
        Numbers of rows (integers) or shares of a fold's training rows (floats up to 1).
    cv, scoring : as in `cross_validate`
    **options
        ``n_jobs``, ``shuffle``, ``random_state``, ``params``, ``return_times`` and the others of scikit-learn's
        ``learning_curve``.

    Returns
    -------
    Curve
        Unpacks as scikit-learn's ``train_sizes, train_scores, test_scores`` (and times, where these are asked for).

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 10)); y = X.sum(axis=1) + rng.normal(size=200)
    >>> sizes, train, test = learning_curve(LinearRegression(), X, y, train_sizes=[20, 80, 160])
    >>> test.mean(axis=1).round(2)
    array([0.73, 0.89, 0.9 ])
    """
    drawn, judged, _ = _folds(estimator, X, y, cv, groups)
    given = {"groups": groups, "train_sizes": train_sizes, "cv": drawn, "scoring": scoring} | options
    sizes, train, test, *times = _learning_curve(estimator, X, y, **given)
    return Curve("training rows", sizes, train, test, judged / sizes, tuple(times))


def _folds(estimator: Estimator, X: MatrixLike, y: VectorLike, cv: CV, groups: Any) -> tuple[CV, float, float]:
    """The folds drawn once, the mean number of rows judged, and its mean fraction of the rows fitted."""
    if get_config()["enable_metadata_routing"]:  # then only scikit-learn knows what the splitter is given
        return cv, np.nan, np.nan
    X, y, groups = indexable(X, y, groups)
    drawn = folds(X, y, cv, classifier=is_classifier(estimator), groups=groups)
    judged = float(np.mean([len(test) for _, test in drawn]))
    return drawn, judged, held_out_share(drawn)


def validation_curve(
    estimator: Estimator,
    X: MatrixLike,
    y: VectorLike,
    *,
    param_name: str,
    param_range: Sequence[Any],
    groups: VectorLike | None = None,
    cv: CV = None,
    scoring: ScoringLike = None,
    **options: Any,
) -> Curve:
    """Training and test scores along one parameter: scikit-learn's function, with intervals.

    Parameters
    ----------
    estimator : estimator
    X, y : array-like
    param_name : str
    param_range : sequence
    groups : array-like, default=None
    cv, scoring :
        As in `cross_validate`.
    **options
        ``n_jobs``, ``error_score``, ``params`` and the others of scikit-learn's ``validation_curve``.

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
    drawn, _, share = _folds(estimator, X, y, cv, groups)
    given = {"param_name": param_name, "param_range": param_range, "groups": groups, "cv": drawn, "scoring": scoring}
    train, test = _validation_curve(estimator, X, y, **(given | options))
    return Curve(param_name, np.asarray(list(param_range)), train, test, np.full(len(test), share))
