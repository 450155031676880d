"""Multi-task lasso and elastic net: scikit-learn's answers, with proofs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model as theirs

from certifit.linear_model import MultiTaskElasticNet, MultiTaskLasso
from tests.contract import contract
from tests.proof_runs import Case, outcome


def table(n=40, d=12, tasks=3):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, d)) + 2.0
    return X, X[:, :4] @ rng.normal(size=(4, tasks)) + rng.normal(size=(n, tasks))


@contract([MultiTaskLasso(0.1), MultiTaskElasticNet(0.1)])
def test_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("offset", [True, False])
@pytest.mark.parametrize(("n", "d"), [(40, 12), (15, 60)])
@pytest.mark.parametrize("ratio", [1.0, 0.3])
def test_scikit_learns_optimum_is_reached_and_proved(n, d, ratio, offset):
    X, Y = table(n, d)
    options = {"alpha": 0.2, "fit_intercept": offset, "tol": 1e-12}
    if ratio == 1.0:
        model, other = MultiTaskLasso(**options), theirs.MultiTaskLasso(max_iter=100_000, **options)
    else:
        model = MultiTaskElasticNet(l1_ratio=ratio, **options)
        other = theirs.MultiTaskElasticNet(l1_ratio=ratio, max_iter=100_000, **options)
    model.fit(X, Y)
    np.testing.assert_allclose(model.coef_, other.fit(X, Y).coef_, atol=1e-5)
    assert model.certificate_.holds
    assert model.certificate_.relative_gap < 1e-9
    np.testing.assert_allclose(model.fit(scipy.sparse.csr_array(X), Y).coef_, other.coef_, atol=1e-5)


@pytest.mark.parametrize("model", [MultiTaskLasso(0.0), MultiTaskElasticNet(0.3, l1_ratio=0.0)])
def test_without_a_kink_it_is_least_squares_or_ridge(model):
    X, Y = table()
    model.fit(X, Y)
    ridge = theirs.Ridge(alpha=model.alpha * len(X)).fit(X, Y)
    np.testing.assert_allclose(model.coef_, ridge.coef_, atol=1e-8)
    assert model.certificate_.holds
    assert model.certificate_.relative_gap < 1e-10


def test_weights_are_copies_and_a_warm_start_ends_at_once():
    X, Y = table()
    s = np.arange(40) % 3
    rows = np.repeat(np.arange(40), s)
    one = MultiTaskLasso(0.1, tol=1e-12).fit(X, Y, s.astype(float))
    other = MultiTaskLasso(0.1, tol=1e-12, warm_start=True).fit(X[rows], Y[rows])
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-7)
    assert other.fit(X[rows], Y[rows]).n_iter_ == 1


def test_the_proof_can_be_checked_by_anybody(tmp_path):
    X, Y = table(20, 5)
    model = MultiTaskElasticNet(0.2, tol=1e-8).fit(X, Y)
    assert outcome(*Case(model.certificate_, X, Y).proof(tmp_path)) == "PROVED"


def test_one_target_is_refused_with_advice():
    with pytest.raises(ValueError, match="For mono-task outputs, use ElasticNet"):
        MultiTaskElasticNet().fit(np.eye(3), np.ones(3))
