"""The certificate of multi-task models: anybody's are judged by their own objective, and tampering is refused."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model as theirs

from certifit import certify
from certifit.exceptions import UnknownModelError
from tests.certificates.tampering import refuses_everything


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 12)) + 3.0
    return X, X[:, :3] @ rng.normal(size=(3, 2)) + rng.normal(size=(40, 2))


def objective(model, X, Y, ratio):
    W, n = model.coef_, len(X)
    fit = np.sum((Y - X @ W.T - model.intercept_) ** 2) / (2 * n)
    return fit + model.alpha * (ratio * np.sqrt(np.sum(W**2, axis=0)).sum() + 0.5 * (1 - ratio) * np.sum(W**2))


@pytest.mark.parametrize("offset", [True, False])
@pytest.mark.parametrize("ratio", [1.0, 0.4])
def test_models_are_judged_by_their_own_objective(table, ratio, offset):
    X, Y = table
    options = {"alpha": 0.1, "fit_intercept": offset, "max_iter": 100_000}

    def fit(tol):
        if ratio == 1.0:
            return theirs.MultiTaskLasso(tol=tol, **options).fit(X, Y)
        return theirs.MultiTaskElasticNet(l1_ratio=ratio, tol=tol, **options).fit(X, Y)

    fine, rough = fit(1e-13), fit(0.3)
    good, bad = certify(fine, X, Y), certify(rough, X, Y)
    assert good.holds
    assert good.relative_gap < 1e-10
    assert good.value == pytest.approx(objective(fine, X, Y, ratio))
    true = objective(rough, X, Y, ratio) - objective(fine, X, Y, ratio)
    assert bad.gap == pytest.approx(true, rel=1e-3)
    assert "MultiTask" in bad.claim
    refuses_everything(bad, X, Y)


def test_one_target_is_the_lasso_and_weights_are_copies(table):
    X, Y = table
    one = certify(theirs.MultiTaskLasso(0.1, tol=1e-12).fit(X, Y[:, :1]), X, Y[:, :1])
    assert one.relative_gap < 1e-9
    s = np.arange(40) % 3
    rows = np.repeat(np.arange(40), s)
    model = theirs.MultiTaskLasso(0.1, tol=1e-12).fit(X[rows], Y[rows])
    weighted = certify(model, X, Y, s.astype(float))
    assert weighted.relative_gap < 1e-9
    assert weighted.value == pytest.approx(certify(model, X[rows], Y[rows]).value)
    sparse = certify(model, scipy.sparse.csr_array(X[rows]), Y[rows])
    assert sparse.relative_gap < 1e-9
    with pytest.raises(UnknownModelError, match="alpha > 0"):
        certify(theirs.MultiTaskElasticNet(0.1, l1_ratio=0.0).fit(X, Y), X, Y)


def test_unfitted_models_and_other_data_are_told_apart(table):
    X, Y = table
    with pytest.raises(ValueError, match="not fitted"):
        certify(theirs.MultiTaskLasso(), X, Y)
    with pytest.raises(ValueError, match="fitted to"):
        certify(theirs.Lasso().fit(X, Y[:, 0]), X[:, :5], Y[:, 0])
