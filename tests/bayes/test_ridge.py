"""BayesianRidge: scikit-learn's answers to its tolerance, and evidence that is level."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.linear_model as theirs
from sklearn.datasets import load_diabetes

from certifit.linear_model import BayesianRidge
from tests.contract import contract

X, Y = load_diabetes(return_X_y=True)


@contract([BayesianRidge()])
def test_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("offset", [True, False])
def test_as_in_scikit_learn_where_it_goes_on(offset, weighted):
    s = np.linspace(0.5, 2.0, len(Y)) if weighted else None
    ours = BayesianRidge(fit_intercept=offset, compute_score=True).fit(X, Y, s)
    other = theirs.BayesianRidge(fit_intercept=offset, tol=1e-12, max_iter=3000).fit(X, Y, s)
    for name in ("coef_", "intercept_", "alpha_", "lambda_", "sigma_", "X_offset_", "X_scale_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(other, name), rtol=1e-4, atol=1e-8, err_msg=name)
    for mine, their in zip(ours.predict(X, return_std=True), other.predict(X, return_std=True)):
        np.testing.assert_allclose(mine, their, rtol=1e-5, atol=1e-5)
    assert ours.scores_.shape == (ours.n_iter_ + 1,)
    assert all(c.holds for c in ours.certificates_)


def test_single_precision_stays():
    model = BayesianRidge().fit(X.astype(np.float32), Y.astype(np.float32))
    assert model.coef_.dtype == model.sigma_.dtype == np.float32
    assert model.certificate_.holds
