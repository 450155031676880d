"""GLMs share the work of folds and penalties: same answers as one by one, or a reason why not."""

import numpy as np
import pytest
from sklearn.linear_model import PoissonRegressor as Witness
from sklearn.model_selection import GridSearchCV, KFold

from certifit.glm import GLM, PoissonRegressor
from certifit.glm._folds import null_level
from certifit.losses import FamilyLoss
from certifit.model_selection import Search

RNG = np.random.default_rng(17)
X = RNG.normal(size=(120, 4))
COUNTS = RNG.poisson(np.exp(X @ [0.5, -0.3, 0.0, 0.2] + 0.4)).astype(float)
CV = KFold(4, shuffle=True, random_state=0)


def test_shared_folds_score_as_scikit_learn_one_by_one():
    grid = {"alpha": [1e-3, 1e-1, 1.0, 10.0]}
    ours = Search(PoissonRegressor(tol=1e-8), grid, cv=CV).fit(X, COUNTS)
    theirs = GridSearchCV(Witness(tol=1e-8, max_iter=1000), grid, cv=CV).fit(X, COUNTS)
    assert ours.shared_
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-6)
    assert ours.best_params_ == theirs.best_params_


@pytest.mark.parametrize("family", ["binomial", "poisson"])
def test_shared_folds_score_as_unshared_ones(family):
    y = COUNTS if family == "poisson" else (COUNTS > 1).astype(float)
    grid = {"alpha": [1e-2, 1.0], "fit_intercept": [True, False]}
    shared = Search(GLM(family, tol=1e-8), grid, cv=CV, scoring="neg_mean_squared_error").fit(X, y)
    alone = GridSearchCV(GLM(family, tol=1e-8), grid, cv=CV, scoring="neg_mean_squared_error").fit(X, y)
    assert shared.shared_
    np.testing.assert_allclose(shared.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"], rtol=1e-6)


def test_what_cannot_be_shared_says_why():
    found = Search(GLM("poisson", l1_ratio=0.5), {"alpha": [0.1, 1.0]}, cv=CV).fit(X, COUNTS)
    assert not found.shared_
    assert "l1" in str(found.sharing_)


@pytest.mark.parametrize(("family", "level"), [("gaussian", 2.0), ("poisson", np.log(2.0)), ("gamma", np.log(2.0))])
def test_the_null_model_predicts_the_mean(family, level):
    reader = FamilyLoss(family, "identity" if family == "gaussian" else "log")
    assert null_level(reader, np.array([1.0, 3.0]), np.ones(2)) == pytest.approx(level)
