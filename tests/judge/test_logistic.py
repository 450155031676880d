"""certify judges logistic regression of every solver."""

import numpy as np
import pytest
import sklearn.linear_model as sk
from sklearn.datasets import load_breast_cancer, load_iris

import certifit as cf
from certifit.linear_model import LogisticRegression
from tests.certificates.tampering import refuses_everything


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("solver", ["lbfgs", "newton-cg", "newton-cholesky", "liblinear", "sag", "saga"])
def test_every_solver_of_scikit_learn_on_unscaled_data(cancer, solver):
    X, y = cancer
    model = sk.LogisticRegression(solver=solver, random_state=0).fit(X, y)
    c = cf.certify(model, X, y)
    assert c.holds, str(c)
    assert c.verify(X, y).holds
    assert f"LogisticRegression({solver})" in c.claim
    assert ("penalises the offset" in c.claim) == (solver == "liblinear")
    best = cf.certify(LogisticRegression().fit(X, y), X, y)
    if solver != "liblinear":
        assert c.value - best.value <= c.gap + 1e-12
        labels = LogisticRegression().fit(X, y).predict(X)
        assert c.changed == np.sum(model.predict(X) != labels)
    if solver in ("sag", "saga"):
        assert c.relative_gap > 0.1


def test_weights_penalties_and_softmax():
    X, y = load_iris(return_X_y=True)
    w = np.random.default_rng(0).uniform(0.5, 2, 150)
    for model in (
        sk.LogisticRegression(class_weight="balanced", tol=1e-8, max_iter=1000),
        sk.LogisticRegression(C=np.inf, tol=1e-8, max_iter=1000) if False else sk.LogisticRegression(C=0.1),
    ):
        c = cf.certify(model.fit(X, y, w), X, y, w)
        assert c.holds
        assert c.relative_gap < 1e-4
        assert c.verify(X, y, w).holds
    two = y < 2
    sparse = sk.LogisticRegression(solver="saga", l1_ratio=1.0, tol=1e-8, max_iter=20_000).fit(X[two], y[two])
    c = cf.certify(sparse, X[two], y[two])
    assert c.relative_gap < 1e-6
    refuses_everything(c, X[two], y[two])


def test_stochastic_gradient_descent(cancer):
    X, y = cancer
    X = (X - X.mean(0)) / X.std(0)
    c = cf.certify(sk.SGDClassifier(loss="log_loss", random_state=0).fit(X, y), X, y)
    assert c.holds
    assert c.relative_gap > 1e-4
    hinge = cf.certify(sk.SGDClassifier(loss="hinge", random_state=0).fit(X, y), X, y)
    assert hinge.holds
    assert hinge.relative_gap > 1e-4
    with pytest.raises(TypeError, match="modified_huber"):
        cf.certify(sk.SGDClassifier(loss="modified_huber").fit(X, y), X, y)
