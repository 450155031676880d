"""LinearModel with losses for labels: proved gaps, agreement with LogisticRegression, refusals."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from certifit.exceptions import PairingError
from certifit.linear_model import LinearModel, LogisticRegression
from tests.certificates.tampering import refuses_everything
from tests.contract import contract


@contract([LinearModel("logistic"), LinearModel("squared_hinge"), LinearModel("hinge")])
def test_contract(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return (X - X.mean(0)) / X.std(0), np.array(["malignant", "benign"])[y]


@pytest.mark.parametrize("loss", ["logistic", "exponential", "hinge", "squared_hinge"])
@pytest.mark.parametrize("regularizer", ["l2", "l1", "elastic"])
def test_every_pairing_is_proved(cancer, loss, regularizer):
    X, y = cancer
    model = LinearModel(loss, regularizer, lam=0.02).fit(X, y)
    c = model.certificate_
    assert c.holds
    assert c.relative_gap < 1e-7
    assert c.verify(X, y).holds
    assert model.score(X, y) > 0.95
    assert set(model.predict(X)) == {"malignant", "benign"}


def test_logistic_is_logistic_regression(cancer):
    X, y = cancer
    lam = 0.05
    grammar = LinearModel("logistic", "l2", lam=lam).fit(X, y)  # λ‖w‖² = (1/(2Cn))‖w‖²
    named = LogisticRegression(C=1 / (2 * lam * len(y))).fit(X, y)
    assert np.allclose(grammar.coef_, named.coef_[0], atol=1e-5)
    assert np.allclose(grammar.decision_function(X), named.decision_function(X), atol=1e-4)


def test_tampering_is_refused(cancer):
    X, y = cancer
    for loss in ("logistic", "hinge"):
        refuses_everything(LinearModel(loss, "l2", lam=0.1).fit(X[:80], y[:80]).certificate_, X[:80], y[:80])


def test_perceptron_loss_walks_like_the_perceptron():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X @ [1.0, -1.0] > 0).astype(int)
    X = X[np.abs(X @ [1.0, -1.0]) > 0.3]
    y = (X @ [1.0, -1.0] > 0).astype(int)
    with pytest.raises(PairingError, match="minimum at w = 0"):
        LinearModel("perceptron", "l2").fit(X, y)


def test_labels_for_regressors_and_the_other_way(cancer):
    X, _ = cancer
    assert not hasattr(LinearModel("squared"), "decision_function")
    with pytest.raises(ValueError, match="binary"):
        LinearModel("hinge").fit(X[:6], [0, 1, 2, 0, 1, 2])


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_without_a_penalty_separable_labels_have_no_optimum(loss):
    from certifit.exceptions import NoOptimumError

    model = LinearModel(loss, lam=0.0)
    with pytest.raises(NoOptimumError, match="separable"):
        model.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    assert not hasattr(model, "coef_")
    assert model.fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]).certificate_.holds
