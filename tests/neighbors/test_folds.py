"""One search answers every k, weighting and fold: the same as fitting each."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier as SklearnClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from certifit.model_selection import Search
from certifit.neighbors import KNeighborsClassifier, KNeighborsRegressor

GRID = {"n_neighbors": [1, 2, 5, 9, 20], "weights": ["uniform", "distance"]}


def _data(n=150, seed=0):
    rng = np.random.default_rng(seed)
    c = np.array(["x", "y", "z"])[np.arange(n) % 3]
    X = np.round(rng.normal(size=(n, 3)) + (np.arange(n) % 3)[:, None], 1)  # rounded: equal distances
    return X, X.sum(axis=1) + rng.normal(size=n), c


def _agree(ours, theirs):
    assert ours.shared_
    assert ours.cv_results_["mean_test_score"] == pytest.approx(theirs.cv_results_["mean_test_score"], rel=1e-10)
    assert ours.best_params_ == theirs.best_params_


@pytest.mark.parametrize("scoring", [None, "neg_log_loss"])
@pytest.mark.parametrize("cv", [5, KFold(4, shuffle=True, random_state=0), ShuffleSplit(3, random_state=0)])
def test_classes(scoring, cv):
    X, _, c = _data()
    ordered = [(np.sort(a), b) for a, b in (KFold(cv) if isinstance(cv, int) else cv).split(X)]
    grid = {**GRID, "n_neighbors": [9, 20]} if scoring else GRID
    model = KNeighborsClassifier()
    ours = Search(model, grid, cv=ordered, scoring=scoring).fit(X, c)
    _agree(ours, GridSearchCV(model, grid, cv=ordered, scoring=scoring).fit(X, c))


def test_values_metrics_and_gaussian_weights():
    X, y, _ = _data()
    for model in (KNeighborsRegressor(), KNeighborsRegressor(p=1), KNeighborsRegressor(algorithm="kd_tree")):
        _agree(Search(model, GRID).fit(X, y), GridSearchCV(model, GRID).fit(X, y))
    grid = {"n_neighbors": [3, 8], "weights": ["gaussian"]}
    model = KNeighborsRegressor(bandwidth=0.7)
    _agree(Search(model, grid).fit(X, y), GridSearchCV(model, grid).fit(X, y))


def test_a_fold_without_one_of_the_classes():
    X, _, c = _data(60)
    order = np.argsort(c, kind="stable")
    split = [(np.arange(20, 60), np.arange(20)), (np.arange(20), np.arange(20, 60))]
    ours = Search(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=split).fit(X[order], c[order])
    _agree(ours, GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=split).fit(X[order], c[order]))


def test_inside_a_pipeline_and_against_scikit_learn():
    rng = np.random.default_rng(1)
    X, c = rng.normal(size=(150, 3)), rng.integers(2, size=150)  # no equal distances: both order alike
    grid = {"kneighborsclassifier__n_neighbors": [1, 4, 7]}
    ours = Search(make_pipeline(StandardScaler(), KNeighborsClassifier()), grid).fit(X, c)
    _agree(ours, GridSearchCV(make_pipeline(StandardScaler(), SklearnClassifier()), grid).fit(X, c))


@pytest.mark.parametrize(
    ("model", "grid"),
    [
        (KNeighborsRegressor(), {"weights": ["gaussian"]}),
        (KNeighborsRegressor(), {"p": [1, 2]}),
        (KNeighborsRegressor(n_neighbors=None, weights="distance"), {"leaf_size": [30]}),
        (KNeighborsRegressor(metric=lambda a, b: float(np.abs(a - b).sum())), {"n_neighbors": [1, 2]}),
    ],
)
def test_what_one_list_cannot_tell_is_fitted_alone(model, grid):
    X, y, _ = _data(40)
    assert not Search(model, grid, cv=2).fit(X, y).shared_


@pytest.mark.filterwarnings("ignore")  # before it refuses, scikit-learn's search tells of each fold
def test_bad_values_are_told_by_the_fit():
    X, y, _ = _data(40)
    with pytest.raises(ValueError, match="n_neighbors"):
        Search(KNeighborsRegressor(), {"n_neighbors": [0]}).fit(X, y)
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        Search(KNeighborsRegressor(), {"n_neighbors": [1]}).fit(X, y)
