"""LassoCV and its kin choose what scikit-learn's choose, from shared work, and prove the last fit."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model as theirs
from sklearn.model_selection import KFold

from certifit.linear_model import ElasticNetCV, LassoCV, MultiTaskElasticNetCV, MultiTaskLassoCV
from tests.contract import contract

NAMES = ["alpha_", "alphas_", "mse_path_", "coef_", "intercept_"]


def table(n, d, tasks=0):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(n, d)) + 1.0
    W = rng.normal(size=(4, tasks or 1))
    Y = X[:, :4] @ W + rng.normal(size=(n, tasks or 1))
    return X, Y if tasks else Y[:, 0]


@contract([LassoCV(cv=3, alphas=20), ElasticNetCV(cv=3, alphas=20), MultiTaskLassoCV(cv=3, alphas=10),
           MultiTaskElasticNetCV(cv=3, alphas=10)])  # fmt: skip
def test_contract(estimator, check):
    check(estimator)


def same(ours, other, X, y, **fit):
    ours.fit(X, y, **fit)
    other.fit(X, y, **fit)
    for name in NAMES:
        np.testing.assert_allclose(getattr(ours, name), getattr(other, name), rtol=1e-4, atol=1e-5, err_msg=name)
    assert ours.certificate_.holds
    assert ours.certificate_.relative_gap < 1e-8


@pytest.mark.parametrize(("n", "d"), [(60, 8), (30, 60)])
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"positive": True}], ids=str)
def test_the_lasso_is_chosen_as_scikit_learn_does(n, d, options):
    X, y = table(n, d)
    options = options | {"cv": 4, "alphas": 15, "tol": 1e-9}
    same(LassoCV(**options), theirs.LassoCV(max_iter=100_000, **options), X, y)


def test_mixtures_are_chosen_too():
    X, y = table(50, 6)
    options = {"l1_ratio": [0.2, 0.9], "cv": KFold(3, shuffle=True, random_state=0), "alphas": 12, "tol": 1e-9}
    ours, other = ElasticNetCV(**options), theirs.ElasticNetCV(max_iter=100_000, **options)
    same(ours, other, X, y)
    assert ours.l1_ratio_ == other.l1_ratio_


def test_weights_and_sparse_rows():
    X, y = table(50, 6)
    X[np.abs(X) < 1.0] = 0.0
    options = {"cv": 4, "alphas": 10, "tol": 1e-9}
    s = np.random.default_rng(0).uniform(0.5, 2.0, 50)
    same(LassoCV(**options), theirs.LassoCV(max_iter=100_000, **options), X, y, sample_weight=s)
    same(LassoCV(**options), theirs.LassoCV(max_iter=100_000, **options), scipy.sparse.csr_matrix(X), y)


def test_given_strengths_may_be_zero_or_pure_ridge():
    X, y = table(40, 5)
    model = LassoCV(alphas=[1e-3, 0.0, 0.1], cv=4, tol=1e-9).fit(X, y)
    assert model.alphas_.tolist() == [0.1, 1e-3, 0.0]
    plain = np.linalg.lstsq(np.c_[X[:30], np.ones(30)], y[:30], rcond=None)[0]
    expected = np.mean((np.c_[X[30:], np.ones(10)] @ plain - y[30:]) ** 2)
    assert model.mse_path_[2, 3] == pytest.approx(expected)
    ridge = ElasticNetCV(l1_ratio=0.0, alphas=[0.1, 1.0], cv=4).fit(X, y)
    assert ridge.certificate_.holds
    with pytest.raises(ValueError, match="supply a grid"):
        ElasticNetCV(l1_ratio=0.0).fit(X, y)


def test_several_tasks():
    X, Y = table(40, 8, 3)
    options = {"cv": 4, "alphas": 8, "tol": 1e-9}
    same(MultiTaskLassoCV(**options), theirs.MultiTaskLassoCV(max_iter=100_000, **options), X, Y)
    options |= {"l1_ratio": [0.3, 0.8]}
    same(MultiTaskElasticNetCV(**options), theirs.MultiTaskElasticNetCV(max_iter=100_000, **options), X, Y)


def test_wrong_numbers_of_targets_are_refused():
    X, Y = table(20, 4, 2)
    with pytest.raises(ValueError, match="use MultiTaskLassoCV"):
        LassoCV().fit(X, Y)
    with pytest.raises(ValueError, match="use LassoCV"):
        MultiTaskLassoCV().fit(X, Y[:, 0])
