"""The textbook objective as a function: against its formula, central differences and our own fits."""

import numpy as np
import pytest

from certifit.judge import objective
from certifit.linear_model import LinearModel
from certifit.solvers import check_gradient

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3))
REAL = X @ [1.0, -2.0, 0.5] + RNG.normal(size=30)
LABELS = np.where(REAL > 0, "yes", "no")


@pytest.mark.parametrize("loss", ["squared", "logistic", "exponential", "squared_hinge", "poisson"])
@pytest.mark.parametrize("intercept", [True, False])
def test_gradient_and_hessian_agree_with_differences(loss, intercept):
    y = REAL if loss == "squared" else np.abs(REAL).round() if loss == "poisson" else LABELS
    J = objective(loss, "l2", X, y, lam=0.3, fit_intercept=intercept)
    theta = RNG.normal(size=3 + intercept) * 0.3
    assert check_gradient(J, J.gradient, theta).agrees
    H = J.hessian(theta)
    h = 1e-6
    for j, e in enumerate(np.eye(len(theta))):
        assert np.allclose(H[:, j], (J.gradient(theta + h * e) - J.gradient(theta - h * e)) / (2 * h), atol=1e-4)


def test_the_value_is_the_formula():
    J = objective("logistic", "l1", X, LABELS, lam=0.2, sample_weight=np.arange(30.0))
    w, b, s = np.array([0.5, -1.0, 0.0]), 0.25, np.arange(30.0) / np.arange(30.0).sum()
    y = np.where(LABELS == "yes", 1, -1)
    assert (
        J([*w, b])
        == J(w, b)
        == J(w[None], [b])
        == pytest.approx(s @ np.log1p(np.exp(-y * (X @ w + b))) + 0.2 * np.abs(w).sum())
    )


@pytest.mark.parametrize(("loss", "penalty"), [("squared", "l1"), ("logistic", "l2"), ("hinge", "l2")])
def test_certify_finds_our_fit_optimal(loss, penalty):
    y = REAL if loss == "squared" else LABELS
    model = LinearModel(loss, penalty, lam=0.1, tol=1e-9).fit(X, y)
    J = objective(loss, penalty, X, y, lam=0.1)
    best = np.append(np.ravel(model.coef_), model.intercept_)
    assert J.certify(best).relative_gap < 1e-6
    assert J(best) == pytest.approx(J.certify(best).value)
    assert J(best) <= J(best + 0.01)


def test_w_and_b_or_one_vector():
    J = objective("logistic", "l2", X, LABELS, lam=0.2)
    w, b = np.array([0.5, -1.0, 0.0]), 0.25
    assert np.array_equal(J.gradient(w, b), J.gradient([*w, b]))
    assert np.array_equal(J.hessian(w, b), J.hessian([*w, b]))
    assert J.certify(w, b).gap == J.certify([*w, b]).gap
    through_zero = objective("squared", "l2", X, REAL, fit_intercept=False)
    assert through_zero(w, 0.0) == through_zero(w)
    with pytest.raises(ValueError, match="no offset"):
        through_zero(w, 1.0)


def test_sentences():
    with pytest.raises(ValueError, match="must contain 4 numbers"):
        objective("squared", "l2", X, REAL)([1.0])


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("penalty", ["l2", "none"])
def test_softmax(intercept, penalty):
    y = np.array(["a", "b", "c", "d"])[np.digitize(REAL, [-2.0, 0.0, 2.0])]
    J = objective("softmax", penalty, X, y, lam=0.3, fit_intercept=intercept, sample_weight=np.arange(1.0, 31.0))
    theta = RNG.normal(size=4 * (3 + intercept)) * 0.5
    W, b = theta[:12].reshape(4, 3), theta[12:] if intercept else np.zeros(4)
    z, s = X @ W.T + b, np.arange(1.0, 31.0) / np.arange(1.0, 31.0).sum()
    own = z[np.arange(30), np.unique(y, return_inverse=True)[1]]
    lam = 0.3 if penalty == "l2" else 0.0
    assert J(theta) == pytest.approx(s @ (np.log(np.exp(z).sum(axis=1)) - own) + lam * (W**2).sum())
    assert J(W, b if intercept else None) == J(theta)
    if intercept:
        assert J(np.column_stack([W, b])) == J(theta)
    assert check_gradient(J, J.gradient, theta).agrees
    H, h = J.hessian(theta), 1e-6
    for j, e in enumerate(np.eye(len(theta))):
        assert np.allclose(H[:, j], (J.gradient(theta + h * e) - J.gradient(theta - h * e)) / (2 * h), atol=1e-6)
    with pytest.raises(ValueError, match="numbers"):
        J(theta[:-1])


def test_softmax_descends_to_a_proved_optimum():
    y = np.digitize(REAL, [-1.5, 1.5])
    J = objective("softmax", "l2", X, y, lam=0.1)
    theta = np.zeros(12)
    for _ in range(30):
        theta = theta - np.linalg.lstsq(J.hessian(theta), J.gradient(theta), rcond=None)[0]
    assert J.certify(theta).relative_gap < 1e-9
    assert J.certify(np.zeros(12)).relative_gap > 0.01
