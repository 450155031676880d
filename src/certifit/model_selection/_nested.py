"""Nested cross-validation: judging the search itself."""

from __future__ import annotations

from typing import Any

from certifit._types import CV, Estimator, MatrixLike, Record, VectorLike
from certifit.model_selection._cross_validate import CrossValidation, cross_validate


class NestedCrossValidation(CrossValidation):
    """A `CrossValidation` whose models were each chosen on their own training rows.

    Parameters
    ----------
    values, trial, folds, found
        As in `CrossValidation`.

    Attributes
    ----------
    searches : list of fitted searches

    Examples
    --------
    >>> from certifit.linear_model import Ridge
    >>> from certifit.model_selection import Search, nested_cross_validate
    >>> X = np.linspace(0, 1, 40)[:, None]
    >>> result = nested_cross_validate(Search(Ridge(), {"alpha": [0.01, 1e6]}), X, X[:, 0] ** 2, cv=4)
    >>> [s.best_params_["alpha"] for s in result.searches]
    [0.01, 0.01, 0.01, 0.01]
    """

    @property
    def searches(self) -> list[Any]:
        """The fitted search of each outer fold."""
        return list(self["estimator"])

    @property
    def best_params(self) -> list[Record]:
        """What each outer fold chose."""
        return [s.best_params_ for s in self.searches]

    @property
    def optimism(self) -> float:
        """Mean inner score of the chosen points minus mean outer score: how optimistic the selection is."""
        inner = [s.best_score_ for s in self.searches]
        return float(sum(inner) / len(inner)) - float(self.mean())


def nested_cross_validate(
    search: Estimator, X: MatrixLike, y: VectorLike, *, cv: CV = 5, **options: Any
) -> NestedCrossValidation:
    """Cross-validate a search: in each outer fold it chooses and refits on the training rows only.

    Parameters
    ----------
    search : Search (or GridSearchCV, or any estimator that sets ``best_params_`` and ``best_score_``)
    X, y : array-like
    cv : int ≥ 2, splitter or iterable, default=5
        The outer folds.
    **options
        As in `cross_validate`.

    Returns
    -------
    NestedCrossValidation

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from certifit.model_selection import Search
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 10)); y = X[:, 0] + rng.normal(size=60)
    >>> result = nested_cross_validate(Search(Ridge(), {"alpha": [0.1, 1, 10, 100]}), X, y)
    >>> [p["alpha"] for p in result.best_params]
    [100, 10, 100, 100, 100]
    """
    found = cross_validate(search, X, y, cv=cv, return_estimator=True, **options)
    return NestedCrossValidation(found, found._trial, found.folds, found._run)
