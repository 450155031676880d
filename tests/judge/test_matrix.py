"""Families × slips: whatever family a model is of, a right answer is right and each slip that applies is named."""

import warnings

import numpy as np
import pytest
import sklearn.base
import sklearn.kernel_ridge
import sklearn.linear_model
import sklearn.svm

import certifit as cf
from certifit.glm import GLM, GammaRegressor, PoissonRegressor, TweedieRegressor
from certifit.judge._strength import STRENGTHS
from certifit.linear_model import (
    ElasticNet,
    Lasso,
    LinearModel,
    LogisticRegression,
    MultiTaskElasticNet,
    MultiTaskLasso,
    Ridge,
)
from certifit.svm import LinearSVC

RNG = np.random.default_rng(3)
N = 50
X = RNG.normal(size=(N, 3)) * [1.0, 2.0, 0.5] + [1.0, -1.0, 0.0]
Z = X @ [0.8, -0.5, 0.3] + 0.4
NUMBERS = Z + RNG.normal(size=N)
TWO = np.where(Z + 1.5 * RNG.normal(size=N) > 0.5, "yes", "no")
THREE = np.array(["a", "b", "c"])[np.digitize(Z + RNG.normal(size=N), [-0.3, 1.0])]
PAIR = np.column_stack([NUMBERS, X @ [0.0, 1.0, 1.0] + RNG.normal(size=N)])
COUNTS = RNG.poisson(np.exp(0.4 * Z)).astype(float)
SIZES = np.exp(0.4 * Z) * RNG.gamma(3, 1 / 3, N)
YES = (TWO == "yes").astype(float)

FAMILIES = {
    "ridge": (Ridge(alpha=2.0), "alpha", NUMBERS),
    "ridge, two targets": (sklearn.linear_model.Ridge(alpha=2.0), "alpha", PAIR),
    "lasso": (Lasso(alpha=0.1, tol=1e-10), "alpha", NUMBERS),
    "lasso, two targets": (Lasso(alpha=0.1, tol=1e-10), "alpha", PAIR),
    "elastic net": (ElasticNet(alpha=0.1, tol=1e-10), "alpha", NUMBERS),
    "multi-task lasso": (MultiTaskLasso(alpha=0.1, tol=1e-10), "alpha", PAIR),
    "multi-task elastic net": (MultiTaskElasticNet(alpha=0.1, tol=1e-10), "alpha", PAIR),
    "ridge classifier": (sklearn.linear_model.RidgeClassifier(alpha=2.0), "alpha", TWO),
    "ridge classifier, three classes": (sklearn.linear_model.RidgeClassifier(alpha=2.0), "alpha", THREE),
    "logistic": (LogisticRegression(C=0.5, tol=1e-12), "C", TWO),
    "softmax": (LogisticRegression(C=0.5, tol=1e-12), "C", THREE),
    "softmax, 1-norm": (LogisticRegression(C=0.5, l1_ratio=1.0, solver="saga", tol=1e-10), "C", THREE),
    "poisson": (PoissonRegressor(alpha=0.1, tol=1e-10), "alpha", COUNTS),
    "gamma": (GammaRegressor(alpha=0.1, tol=1e-10), "alpha", SIZES),
    "tweedie": (TweedieRegressor(power=1.5, alpha=0.1, tol=1e-10), "alpha", COUNTS),
    "probit": (GLM("binomial", "probit", alpha=0.1, tol=1e-9), "alpha", YES),
    "exponential loss": (LinearModel("exponential", "l2", lam=0.05, tol=1e-9), "lam", TWO),
    "absolute loss": (LinearModel("absolute", "l2", lam=0.05, tol=1e-9), "lam", NUMBERS),
    "hinge": (LinearModel("hinge", "l2", lam=0.05, tol=1e-9), "lam", TWO),
    "linear machines": (LinearSVC(C=0.1, loss="squared_hinge", tol=1e-10), "C", THREE),
    "svc": (sklearn.svm.SVC(C=0.5, gamma=0.3, tol=1e-9), "C", TWO),
    "svc, three classes": (sklearn.svm.SVC(C=0.5, gamma=0.3, tol=1e-9), "C", THREE),
    "svr": (sklearn.svm.SVR(C=0.5, gamma=0.3, tol=1e-9), "C", NUMBERS),
    "nu-svr": (sklearn.svm.NuSVR(C=0.5, gamma=0.3, tol=1e-9), "C", NUMBERS),
    "kernel ridge": (sklearn.kernel_ridge.KernelRidge(alpha=0.5, kernel="rbf", gamma=0.3), "alpha", NUMBERS),
}
KERNELS = {"svc", "svc, three classes", "svr", "nu-svr", "kernel ridge"}
ROWS = {
    "scaled columns": (X - X.mean(axis=0)) / X.std(axis=0),
    "scaled columns, n − 1": (X - X.mean(axis=0)) / X.std(axis=0, ddof=1),
    "divided columns": X / X.std(axis=0),
    "columns from 0 to 1": (X - X.min(axis=0)) / np.ptp(X, axis=0),
}


def named(model, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = cf.certify(model, X, y).diagnose(X, y)
    assert not found.right
    assert all(f.certificate.holds for f in found)
    return [f.name for f in found]


def fitted(family, rows=X, **changed):
    """The model as it should be, or with something changed and put back after the fit."""
    model, _, y = FAMILIES[family]
    before = {name: model.get_params()[name] for name in changed}
    return sklearn.base.clone(model).set_params(**changed).fit(rows, y).set_params(**before), y


@pytest.mark.parametrize("family", FAMILIES)
def test_the_right_answer_is_right(family):
    model, y = fitted(family)
    assert cf.certify(model, X, y).diagnose(X, y).right


@pytest.mark.parametrize("factor", [0.5, 2.0, 4.0, 0.1, 7.3])
@pytest.mark.parametrize("family", FAMILIES)
def test_another_strength(family, factor):
    _, parameter, _ = FAMILIES[family]
    price = parameter == "C"
    model, y = fitted(family, **{parameter: factor * FAMILIES[family][0].get_params()[parameter]})
    found = named(model, y)
    usual = {0.5: ("half the penalty", "λ/2 for λ", "C/2 for C"), 2.0: ("twice the penalty", "2λ for λ", "2C for C")}
    if price and factor in usual:
        usual = {0.5: (*usual[0.5], usual[2.0][0]), 2.0: (*usual[2.0], usual[0.5][0])}
    expected = {*usual.get(factor, ()), "another penalty", "another C"}
    if "loss" in family or family == "hinge":  # at a corner an answer is optimal for a range of strengths
        expected |= set(STRENGTHS.values())
    assert expected & set(found), found


@pytest.mark.parametrize("slip", ROWS)
@pytest.mark.parametrize("family", [f for f in FAMILIES if f != "probit"])
def test_columns_in_other_units(family, slip):
    if slip == "columns from 0 to 1" and "lasso" in family:
        pytest.skip("all coefficients are zero there, which other slips explain as well")
    model, y = fitted(family, ROWS[slip])
    if hasattr(model, "shape_fit_"):
        model.shape_fit_ = X.shape
    found = named(model, y)
    # A deviation that divides by n − 1 is nearly one that divides by n.
    assert {slip, slip.removesuffix(", n − 1")} & set(found), found


@pytest.mark.parametrize("family", [f for f in FAMILIES if f not in KERNELS])
def test_a_wrong_sign_and_a_forgotten_offset(family):
    model, y = fitted(family)
    model.coef_, model.intercept_ = -model.coef_, -model.intercept_
    if "absolute" not in family or np.any(model.coef_):
        assert "wrong sign" in named(model, y)
    if family == "probit":
        return
    model, y = fitted(family, fit_intercept=False)
    assert "forgotten offset" in named(model, y)
