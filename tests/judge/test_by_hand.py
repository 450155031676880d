"""Answers made by hand or by other libraries, judged by the textbook objective."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import sklearn.decomposition
import sklearn.linear_model as sk
import sklearn.svm

import certifit as cf

RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 3)) * [1.0, 3.0, 0.2] + [0.0, 5.0, 0.0]
Y = X @ [1.0, -0.5, 2.0] + RNG.normal(size=60)
SIGNS = np.where(X @ [1.0, -0.3, 1.0] + 1.5 + RNG.normal(size=60) > 0, 1, -1)
CLASSES = np.digitize(Y, np.quantile(Y, [0.3, 0.6]))
WEIGHTS = RNG.integers(1, 4, 60).astype(float)


def logistic(lam, weights=None):
    total = 60 if weights is None else weights.sum()
    model = sk.LogisticRegression(C=1.0 / (2 * lam * total), tol=1e-14, max_iter=10_000, solver="newton-cholesky")
    return model.fit(X, SIGNS, sample_weight=weights)


@pytest.mark.parametrize("lam", [1e-3, 0.1, 2.0])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_logistic_coefficients_of_scikit_learn_are_accepted(lam, weights):
    model = logistic(lam, weights)
    c = cf.certify_coefficients(model.coef_[0], model.intercept_[0], X, SIGNS, "logistic", "l2", lam, weights)
    assert c.holds
    assert c.gap < 1e-9
    assert c.verify(X, SIGNS, weights).holds


def test_half_the_penalty_is_another_objective():
    model = logistic(0.1)
    right = cf.certify_coefficients(model.coef_[0], model.intercept_[0], X, SIGNS, "logistic", "l2", 0.1)
    half = cf.certify_coefficients(model.coef_[0], model.intercept_[0], X, SIGNS, "logistic", "half_l2", 0.1)
    twice = cf.certify_coefficients(model.coef_[0], model.intercept_[0], X, SIGNS, "logistic", "half_l2", 0.2)
    assert right.gap < 1e-9
    assert twice.gap < 1e-9
    assert half.gap > 1e-4


def test_ridge_lasso_and_least_squares():
    ridge = sk.Ridge(alpha=0.2 * 60, tol=1e-12).fit(X, Y)
    assert cf.certify_coefficients(ridge.coef_, ridge.intercept_, X, Y, "squared", "l2", 0.2).gap < 1e-9
    lasso = sk.Lasso(alpha=0.05, tol=1e-12, max_iter=100_000).fit(X, Y)
    assert cf.certify_coefficients(lasso.coef_, lasso.intercept_, X, Y, "squared", "l1", 0.1).gap < 1e-7
    plain = sk.LinearRegression().fit(X, Y)
    assert cf.certify_coefficients(plain.coef_, plain.intercept_, X, Y, "squared", "none", 0.0).gap < 1e-9
    assert cf.certify_coefficients(plain.coef_, plain.intercept_, X, Y, "squared", "l2", 0.2).gap > 1e-3


def test_softmax():
    model = sk.LogisticRegression(C=1.0 / (2 * 0.05 * 60), tol=1e-14, max_iter=10_000).fit(X, CLASSES)
    c = cf.certify_coefficients(model.coef_, model.intercept_, X, CLASSES, "softmax", "l2", 0.05)
    assert c.holds
    assert c.gap < 1e-6
    assert cf.certify_coefficients(0 * model.coef_, 0 * model.intercept_, X, CLASSES, "softmax", "l2", 0.05).gap > 0.1


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "absolute", "exponential", "perceptron"])
def test_every_loss_has_a_bound_that_is_reached_and_never_beaten(loss):
    y = Y if loss == "absolute" else SIGNS
    w, b = np.zeros(3), 0.0  # the optimum of the perceptron's loss
    if loss != "perceptron":
        model = cf.linear_model.LinearModel(loss, "l2", lam=0.1, tol=1e-9).fit(X, y)
        w, b = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
    best = cf.certify_coefficients(w, b, X, y, loss, "l2", 0.1)
    assert best.holds
    assert best.gap < 1e-5 * max(1.0, best.value)
    for _ in range(5):
        other = cf.certify_coefficients(w + 0.1 * RNG.normal(size=3), b, X, y, loss, "l2", 0.1)
        assert other.holds
        assert other.value >= best.bound
        assert other.gap >= other.value - best.value - 1e-12


def test_counts():
    y = RNG.poisson(np.exp(0.2 * X[:, 0] + 0.5)).astype(float)
    model = sk.PoissonRegressor(alpha=0.1, tol=1e-12, max_iter=10_000).fit(X, y)
    assert cf.certify_coefficients(model.coef_, model.intercept_, X, y, "poisson", "half_l2", 0.1).gap < 1e-7
    assert cf.certify_coefficients(model.coef_, model.intercept_ + 0.3, X, y, "poisson", "half_l2", 0.1).gap > 1e-3


def test_no_offset():
    model = sk.LogisticRegression(C=1.0 / (2 * 0.1 * 60), fit_intercept=False, tol=1e-14, max_iter=10_000).fit(X, SIGNS)
    assert cf.certify_coefficients(model.coef_[0], None, X, SIGNS, lam=0.1).gap < 1e-7
    assert cf.certify_coefficients(model.coef_[0], 0.0, X, SIGNS, lam=0.1).gap > 1e-3


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_dual_variables_of_libsvm(kernel):
    model = sklearn.svm.SVC(C=2.0, kernel=kernel, gamma=0.3, tol=1e-10).fit(X, SIGNS)
    alpha = np.zeros(60)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    c = cf.certify_dual(alpha, X, SIGNS, C=2.0, kernel=kernel, gamma=0.3)
    assert c.holds
    assert c.gap < 1e-6 * c.value
    worse = cf.certify_dual(0.5 * alpha, X, SIGNS, C=2.0, kernel=kernel, gamma=0.3)
    assert worse.holds
    assert worse.gap > 1e-3 * worse.value


def test_components():
    pca = sklearn.decomposition.PCA(2).fit(X)
    c = cf.certify_components(pca.components_, X)
    assert c.holds
    assert c.relative_gap < 1e-9
    swapped = cf.certify_components(sklearn.decomposition.PCA(3).fit(X).components_[[0, 2]], X)
    assert swapped.relative_gap > 1e-3


@pytest.mark.parametrize(
    ("run", "says"),
    [
        (lambda: cf.certify_coefficients([1.0], 0.0, X, SIGNS), "w must contain 1 × 3"),
        (lambda: cf.certify_coefficients([1.0] * 3, 0.0, X, CLASSES), "two classes"),
        (lambda: cf.certify_coefficients([1.0] * 3, 0.0, X, SIGNS, lam=-1.0), "lam must be"),
        (lambda: cf.certify_coefficients([1.0] * 3, 0.0, X, SIGNS, loss="family"), "not convex"),
        (lambda: cf.certify_dual(np.ones(60), X, SIGNS, C=0.5), r"\[0, C\]"),
        (lambda: cf.certify_dual(np.eye(60)[0], X, SIGNS), "must balance"),
        (lambda: cf.certify_components(np.eye(2), X), "U has 2 columns"),
    ],
)
def test_one_clear_sentence(run, says):
    with pytest.raises(ValueError, match=says):
        run()


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize(
    ("name", "model", "y"),
    [
        ("LinearRegression", sk.LinearRegression(), Y),
        ("Ridge", sk.Ridge(alpha=3.0, solver="svd"), Y),
        ("Lasso", sk.Lasso(alpha=0.3, tol=1e-13, max_iter=10**6), Y),
        ("LogisticRegression", sk.LogisticRegression(C=0.3, tol=1e-12, solver="newton-cholesky"), SIGNS),
        ("LogisticRegression", sk.LogisticRegression(C=0.3, tol=1e-12, solver="newton-cholesky"), CLASSES),
        ("SVC", sklearn.svm.SVC(C=0.3, kernel="linear", tol=1e-10), SIGNS),
        ("PoissonRegressor", sk.PoissonRegressor(alpha=0.3, tol=1e-12, solver="newton-cholesky"), np.abs(Y).round()),
    ],
    ids=str,
)
def test_conventions_of_estimators_by_name(name, model, y, weights):
    """Nobody has to know C = 1/(2λn): the estimator's own alpha or C, or its default."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y, sample_weight=weights)
    strength = getattr(model, "alpha", getattr(model, "C", None))
    several = len(np.shape(model.coef_)) == 2 and len(model.coef_) > 1
    w = model.coef_ if several else np.ravel(model.coef_)
    b = model.intercept_ if several else float(np.ravel(model.intercept_)[0])
    c = cf.certify_coefficients(w, b, X, y, sample_weight=weights, convention=name, strength=strength)
    assert c.holds
    assert c.relative_gap < 1e-5
    if strength is not None:
        other = cf.certify_coefficients(w, b, X, y, sample_weight=weights, convention=name)
        assert other.relative_gap > 1e-5


def test_conventions_are_known():
    with pytest.raises(ValueError, match="convention must be one of LinearRegression, Ridge"):
        cf.certify_coefficients([1.0] * 3, 0.0, X, Y, convention="Riddle")
    with pytest.raises(ValueError, match="finite number > 0"):
        cf.certify_coefficients([1.0] * 3, 0.0, X, Y, convention="Ridge", strength=0.0)
    with pytest.raises(ValueError, match="of a convention"):
        cf.certify_coefficients([1.0] * 3, 0.0, X, Y, strength=2.0)
