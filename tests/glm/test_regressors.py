"""GLM under scikit-learn's names: its contract, its optimum, shared folds."""

import warnings

import numpy as np
import pytest
import sklearn.linear_model as sk

import certifit.linear_model
from certifit import certify, glm
from certifit.losses import FamilyLoss
from certifit.model_selection import GridSearchCV
from tests.contract import contract

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 4))
MEAN = np.exp(0.3 * X[:, 0] - 0.5 * X[:, 1] + 1)
COUNTS = RNG.poisson(MEAN).astype(float)
AMOUNTS = RNG.gamma(2.0, MEAN / 2) + 1e-3
WEIGHTS = RNG.uniform(0.2, 2.0, 150)


@contract([glm.PoissonRegressor(), glm.GammaRegressor(), glm.TweedieRegressor(), glm.TweedieRegressor(power=1.5)])
def test_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("name", "y", "params"),
    [
        ("PoissonRegressor", COUNTS, {}),
        ("PoissonRegressor", COUNTS, {"alpha": 0.0, "solver": "newton-cholesky"}),
        ("GammaRegressor", AMOUNTS, {"fit_intercept": False}),
        ("TweedieRegressor", AMOUNTS, {"power": 0}),
        ("TweedieRegressor", COUNTS, {"power": 1.5, "alpha": 0.01}),
        ("TweedieRegressor", AMOUNTS, {"power": 2}),
        ("TweedieRegressor", AMOUNTS, {"power": 2.5}),
        ("TweedieRegressor", AMOUNTS, {"power": 3}),
        ("TweedieRegressor", AMOUNTS, {"power": 4.5, "alpha": 0.1}),
        ("TweedieRegressor", AMOUNTS, {"power": 0, "link": "log"}),
    ],
)
def test_the_optimum_is_scikit_learns(name, y, params):
    ours = getattr(certifit.linear_model, name)(**params).fit(X, y, sample_weight=WEIGHTS)
    theirs = getattr(sk, name)(**params, tol=1e-10).set_params(max_iter=5000).fit(X, y, sample_weight=WEIGHTS)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-6)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=2e-6)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=1e-6)
    assert ours.certificate_.holds


def test_folds_and_strengths_share_their_work():
    search = GridSearchCV(glm.PoissonRegressor(), {"alpha": [0.01, 0.1, 1.0]}).fit(X, COUNTS)
    theirs = GridSearchCV(sk.PoissonRegressor(tol=1e-8), {"alpha": [0.01, 0.1, 1.0]}).fit(X, COUNTS)
    assert search.shared_
    scores = [s.cv_results_["mean_test_score"] for s in (search, theirs)]
    np.testing.assert_allclose(*scores, atol=1e-6)


@pytest.mark.parametrize("power", [-2.0, -0.5])
def test_powers_below_zero_take_any_number(power):
    y = AMOUNTS - np.median(AMOUNTS) / 2
    ours = glm.TweedieRegressor(power=power).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its line search fails at the start where means are large
        theirs = sk.TweedieRegressor(power=power, tol=1e-10, max_iter=5000).fit(X, y)
    loss = FamilyLoss("tweedie", "log", power=power)

    def objective(model):
        return loss.value(X @ model.coef_ + model.intercept_, y).mean() + 0.5 * np.sum(model.coef_**2)

    assert ours.certificate_.holds
    assert certify(ours, X, y).holds
    assert objective(ours) <= objective(theirs) + 1e-9


def test_powers_without_a_family_are_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        glm.TweedieRegressor(power=0.5).fit(X, AMOUNTS)
    with pytest.raises(ValueError, match="below 0 or above 1"):
        glm.Tweedie(2.0)
    with pytest.raises(ValueError, match="y must be > 0"):
        glm.TweedieRegressor(power=2.5).fit(X, AMOUNTS - AMOUNTS.min())


def test_scikit_learns_loss_objects_are_handed_out():
    named = {
        "HalfPoissonLoss": glm.PoissonRegressor(),
        "HalfGammaLoss": glm.GammaRegressor(),
        "HalfTweedieLoss": glm.TweedieRegressor(power=1.5),
        "HalfTweedieLossIdentity": glm.TweedieRegressor(power=0),
    }
    for name, model in named.items():
        assert type(model._get_loss()).__name__ == name
        assert type(model._base_loss).__name__ == name


def test_of_many_optima_the_shortest_is_taken():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6, 20)), rng.poisson(3.0, 6) + 1.0
    model = glm.PoissonRegressor(alpha=0.0, fit_intercept=False, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, rtol=1e-5)
    np.testing.assert_allclose(model.coef_, np.linalg.pinv(X) @ np.log(y), rtol=1e-4, atol=1e-6)
    more, weights = np.vstack([X, rng.normal(size=(1, 20))]), np.r_[np.ones(6), 0.0]
    weighted = glm.PoissonRegressor(alpha=0.0, fit_intercept=False, tol=1e-10).fit(more, np.r_[y, 9.0], weights)
    np.testing.assert_allclose(weighted.coef_, model.coef_, rtol=1e-4, atol=1e-6)
