"""`Search` is one of scikit-learn's searches, and says what it shared."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import Ridge as ForeignRidge
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr

from certifit.judge import certify
from certifit.linear_model import Ridge
from certifit.model_selection import Search, cross_validate
from certifit.neighbors import KNeighborsRegressor
from certifit.tree import DecisionTreeRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X[:, 0] + RNG.normal(size=60)
GRID = {"alpha": [0.1, 1.0, 10.0]}


@pytest.mark.parametrize(
    ("model", "grid", "fits", "passes", "parameters"),
    [
        (Ridge(), GRID, 15, 1, ("alpha",)),
        (Ridge(), GRID | {"fit_intercept": [True, False]}, 30, 2, ("alpha",)),
        (DecisionTreeRegressor(), {"ccp_alpha": [0.0, 0.1], "max_depth": [2, 3]}, 20, 10, ("ccp_alpha",)),
        (KNeighborsRegressor(), {"n_neighbors": [1, 2], "weights": ["uniform", "distance"]}, 20, 1,
         ("n_neighbors", "weights")),
        (make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [0.1, 1.0]}, 10, 5, ("ridge__alpha",)),
    ],
)  # fmt: skip
def test_what_was_shared(model, grid, fits, passes, parameters):
    sharing = Search(model, grid).fit(X, Y).sharing_
    assert sharing.shared
    assert (sharing.fits, sharing.passes, sharing.parameters) == (fits, passes, parameters)
    assert not sharing.reason
    assert str(sharing).startswith(f"{fits} fits from {passes} pass")


@pytest.mark.parametrize(
    ("model", "grid", "options", "reason"),
    [
        (Ridge(), GRID, {"share": False}, "share=False"),
        (Ridge(), GRID, {"return_train_score": True}, "training rows"),
        (Ridge(), GRID, {"scoring": lambda model, X, y: -abs(model.coef_).sum()}, "more than a model's predictions"),
        (Ridge(positive=True), GRID, {}, "positive=True"),
        (Ridge(), {"solver": ["qr", "svd"]}, {}, "does not share work across solver"),
        (ForeignRidge(), GRID, {}, "Ridge shares no work"),
        (DecisionTreeRegressor(), {"max_depth": [1, 2]}, {}, "no two grid points grow the same tree"),
        (make_pipeline(StandardScaler(), Ridge()), {"ridge": [Ridge(1.0), Ridge(2.0)]}, {}, "whole steps"),
    ],
)
def test_why_nothing_was_shared(model, grid, options, reason):
    search = Search(model, grid, cv=3, **options).fit(X, Y)
    assert not search.shared_
    assert reason in search.sharing_.reason
    assert search.sharing_.passes == search.sharing_.fits
    assert "one by one" in str(search.sharing_)


def test_cross_validation_says_so_too():
    assert cross_validate(Ridge(), X, Y, cv=4).sharing.passes == 1
    kept = cross_validate(Ridge(), X, Y, cv=4, return_estimator=True)
    assert kept.sharing.reason == "the fitted models are asked for"


def test_a_search_is_scikit_learns():
    search = Search(Ridge(), GRID, verbose=0, pre_dispatch=4).fit(X, Y)
    assert isinstance(search, GridSearchCV)
    peer = GridSearchCV(Ridge(), GRID).fit(X, Y)
    assert set(search.cv_results_) == set(peer.cv_results_)
    assert search.cv_results_["param_alpha"].dtype == peer.cv_results_["param_alpha"].dtype
    assert "best_estimator_" in estimator_html_repr(search)
    assert search.scorer_(search, X, Y) == pytest.approx(peer.scorer_(peer, X, Y))
    assert certify(search, X, Y).holds


def test_metadata_are_routed_by_scikit_learn():
    groups, weights = np.arange(60) // 6, RNG.integers(1, 4, size=60).astype(float)
    with sklearn.config_context(enable_metadata_routing=True):
        model = Ridge().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        found, peer = (
            kind(model, GRID, cv=GroupKFold(5)).fit(X, Y, groups=groups, sample_weight=weights)
            for kind in (Search, GridSearchCV)
        )
    assert found.cv_results_["mean_test_score"] == pytest.approx(peer.cv_results_["mean_test_score"])
    assert found.best_params_ == peer.best_params_
    assert found.sharing_.reason == "metadata routing is enabled"
    assert "chosen alpha" in repr(found)
