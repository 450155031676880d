"""All folds and strengths at once equal the fits one by one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import KFold, ShuffleSplit

from certifit._objective import Objective
from certifit.design import FoldTable, as_design
from certifit.losses import Squared
from certifit.regularizers import mix_of_norms
from certifit.solvers import Options, Task
from certifit.solvers.coordinate import coordinate_path
from certifit.solvers.lasso_folds import LassoFolds

ALPHAS = np.array([0.3, 0.01, 1.0, 0.1])


def one_by_one(X, y, folds, ratio, weights, fit_intercept, positive):
    for train, _ in folds:
        objective = Objective(Squared(0.5), mix_of_norms(ratio, positive=positive), 0.0, fit_intercept)
        task = Task(objective, as_design(X[train]), y[train], None if weights is None else weights[train])
        yield coordinate_path(task, Options(1e-13), ALPHAS * task.total).value


@pytest.mark.parametrize("ratio", [1.0, 0.4])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("splitter", [KFold(4), ShuffleSplit(3, random_state=0)], ids=["partition", "shuffle"])
def test_equals_fits_one_by_one(ratio, weighted, fit_intercept, positive, splitter):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6)) @ rng.normal(size=(6, 6)) + 3
    y = X[:, 0] - X[:, 1] + rng.normal(size=80)
    weights = rng.uniform(0.5, 2, size=80) if weighted else None
    folds = list(splitter.split(X))
    shared = LassoFolds(FoldTable(X, y, folds, weights), fit_intercept).paths(ALPHAS, ratio, positive, tol=1e-13)
    for (coef, offset), (w, b) in zip(shared, one_by_one(X, y, folds, ratio, weights, fit_intercept, positive)):
        np.testing.assert_allclose(coef, w, atol=1e-6)
        np.testing.assert_allclose(offset, b, atol=1e-5)


@pytest.mark.parametrize("kind", ["wide", "far", "constant"])
def test_careful_roads(kind):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 40 if kind == "wide" else 5))
    if kind == "far":
        X = X + 1e8
    if kind == "constant":
        X[:, 2] = 4.0
    y = X[:, 0] - X[:, 0].mean() + rng.normal(size=30)
    folds = list(KFold(3).split(X))
    for (coef, _), (w, _) in zip(
        LassoFolds(FoldTable(X, y, folds)).paths(ALPHAS, tol=1e-12), one_by_one(X, y, folds, 1.0, None, True, False)
    ):
        np.testing.assert_allclose(coef, w, atol=1e-5)
