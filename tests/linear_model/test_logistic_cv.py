"""LogisticRegressionCV: scikit-learn's choice and attributes, a proof of the last fit."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model as theirs
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import scale

from certifit.linear_model import LogisticRegressionCV
from tests.contract import contract

FLOWERS, KINDS = load_iris(return_X_y=True)
CELLS, SICK = load_breast_cancer(return_X_y=True)
CELLS = scale(CELLS)[:200, :8]
SICK = SICK[:200]
NOW = {"use_legacy_attributes": False, "scoring": "neg_log_loss", "l1_ratios": (0,)}


@contract([LogisticRegressionCV(Cs=3, cv=3, **NOW)])
def test_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("legacy", [True, False])
@pytest.mark.parametrize(
    "options", [{}, {"class_weight": "balanced"}, {"fit_intercept": False}, {"refit": False}], ids=str
)
@pytest.mark.parametrize(("X", "y"), [(FLOWERS, KINDS), (CELLS, SICK)], ids=["three", "two"])
def test_what_scikit_learn_finds_is_found(X, y, options, legacy):
    options = NOW | {"Cs": [0.01, 1.0, 10.0], "cv": StratifiedKFold(4), "use_legacy_attributes": legacy} | options
    ours = LogisticRegressionCV(**options).fit(X, y)
    other = theirs.LogisticRegressionCV(tol=1e-8, max_iter=10_000, **options).fit(X, y)
    for name in ("C_", "l1_ratio_", "l1_ratios_", "Cs_"):
        np.testing.assert_allclose(np.asarray(getattr(ours, name), float), np.asarray(getattr(other, name), float))
    for name in ("scores_", "coefs_paths_"):
        mine, their = getattr(ours, name), getattr(other, name)
        assert isinstance(mine, dict) == legacy
        for key in mine if legacy else [slice(None)]:
            np.testing.assert_allclose(mine[key], their[key], atol=2e-4)
    assert np.shape(ours.n_iter_) == np.shape(other.n_iter_)
    np.testing.assert_allclose(ours.coef_, other.coef_, atol=2e-4)
    np.testing.assert_allclose(ours.intercept_, other.intercept_, atol=2e-4)
    assert ours.score(X, y) == pytest.approx(other.score(X, y), abs=1e-5)
    if options.get("refit", True):
        assert ours.certificate_.holds
        assert ours.certificate_.relative_gap < 1e-8
    else:
        with pytest.raises(AttributeError, match="averages"):
            _ = ours.certificate_


def test_mixtures_weights_and_sparse_rows():
    s = np.random.default_rng(0).uniform(0.5, 2.0, len(SICK))
    options = NOW | {"Cs": [0.1, 1.0], "l1_ratios": [0.0, 0.5, 1.0], "cv": 3}
    ours = LogisticRegressionCV(**options).fit(CELLS, SICK, s)
    other = theirs.LogisticRegressionCV(solver="saga", tol=1e-7, max_iter=20_000, **options).fit(CELLS, SICK, s)
    np.testing.assert_allclose(ours.scores_, other.scores_, atol=1e-4)
    assert (ours.C_, ours.l1_ratio_) == (other.C_, other.l1_ratio_)
    again = LogisticRegressionCV(**options).fit(scipy.sparse.csr_array(CELLS), SICK, s)
    np.testing.assert_allclose(again.scores_, ours.scores_, atol=1e-5)


def test_a_class_that_a_fold_does_not_train_on():
    y = np.r_[np.zeros(10), np.ones(10), np.full(10, 2.0)]
    X = np.random.default_rng(0).normal(size=(30, 3)) + y[:, None]
    rows = np.arange(30)
    cv = [(rows[rows < 20], rows[20:]), (rows[10:], rows[:10])]
    model = LogisticRegressionCV(Cs=[1.0], cv=cv, **(NOW | {"scoring": "accuracy"})).fit(X, y)
    assert model.coefs_paths_.shape == (2, 1, 1, 3, 4)
    assert np.all(model.scores_ == 0.0)  # each fold is tested on the class that it has not seen
    assert np.all(model.coefs_paths_[0, 0, 0, 2, :3] == 0.0)


def test_defaults_that_will_change_are_announced():
    with pytest.warns(FutureWarning, match="simplified"), pytest.warns(FutureWarning, match="l1_ratios"):
        LogisticRegressionCV(Cs=2, cv=2, scoring="accuracy").fit(FLOWERS, KINDS)
    with pytest.raises(ValueError, match="l1_ratios must be an array-like"):
        LogisticRegressionCV(**(NOW | {"l1_ratios": (2.0,)})).fit(FLOWERS, KINDS)
