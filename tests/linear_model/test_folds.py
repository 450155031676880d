"""Ridge and linear regression share the work of folds and penalties: same answers as one by one."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from sklearn.linear_model import LinearRegression as SklearnLinear
from sklearn.linear_model import Ridge as SklearnRidge
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from certifit.linear_model import LinearRegression, Ridge
from certifit.model_selection import Search, cross_validate


def _data(n=90, d=6, seed=0, targets=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-1, 1, size=d) + rng.normal(size=d)
    y = X @ rng.normal(size=d if targets is None else (d, targets))
    return X, y + rng.normal(size=y.shape)


def _agree(ours, theirs, tol=1e-7):
    assert ours.shared_
    a, b = ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"]
    assert a == pytest.approx(b, rel=tol, abs=tol)
    assert ours.best_params_ == theirs.best_params_


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("scoring", [None, "neg_mean_squared_error", "neg_mean_absolute_error"])
def test_ridge_grid_is_grid_search(seed, scoring):
    X, y = _data(seed=seed)
    cv = KFold(4, shuffle=True, random_state=0)
    grid = {"alpha": np.logspace(-4, 4, 7), "fit_intercept": [True, False]}
    _agree(
        Search(Ridge(), grid, cv=cv, scoring=scoring).fit(X, y),
        GridSearchCV(SklearnRidge(solver="svd"), grid, cv=cv, scoring=scoring).fit(X, y),
    )


def test_scikit_learns_grid_search_takes_our_ridge():
    X, y = _data()
    grid = {"alpha": [0.1, 1.0, 10.0]}
    _agree(Search(Ridge(), grid).fit(X, y), GridSearchCV(Ridge(), grid).fit(X, y))


@pytest.mark.parametrize("shape", [(40, 120), (25, 24), (200, 3)])
def test_wide_square_and_tall(shape):
    X, y = _data(*shape)
    grid = {"alpha": np.logspace(-2, 3, 6)}
    _agree(Search(Ridge(), grid).fit(X, y), GridSearchCV(SklearnRidge(solver="svd"), grid).fit(X, y))


def test_several_targets_and_weights():
    X, Y = _data(targets=3)
    grid = {"alpha": [0.1, 10.0]}
    _agree(Search(Ridge(), grid).fit(X, Y), GridSearchCV(SklearnRidge(solver="svd"), grid).fit(X, Y))
    w = np.random.default_rng(0).uniform(0.2, 2.0, size=len(X))
    shared = Search(Ridge(), grid).fit(X, Y[:, 0], sample_weight=w)
    alone = Search(Ridge(), grid, share=False).fit(X, Y[:, 0], sample_weight=w)
    assert shared.shared_
    assert shared.cv_results_["mean_test_score"] == pytest.approx(alone.cv_results_["mean_test_score"], abs=1e-9)


def test_linear_regression_and_leave_one_out():
    X, y = _data(40, 3)
    shared = cross_validate(LinearRegression(), X, y, cv=LeaveOneOut(), scoring="neg_mean_squared_error")
    assert shared.shared
    fit = SklearnLinear().fit(X, y)  # PRESS: residual / (1 − leverage)
    A = np.column_stack([X, np.ones(40)])
    leverage = np.einsum("ij,ji->i", A, np.linalg.pinv(A))
    assert -shared["test_score"] == pytest.approx(((y - fit.predict(X)) / (1 - leverage)) ** 2)


def test_polynomial_regression_in_a_pipeline():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(80, 1))
    y = np.sin(4 * X[:, 0]) + 0.2 * rng.normal(size=80)
    grid = {"polynomialfeatures__degree": [1, 3, 5], "ridge__alpha": [1e-3, 1e-1]}
    ours = Search(make_pipeline(PolynomialFeatures(), StandardScaler(), Ridge()), grid).fit(X, y)
    theirs = GridSearchCV(make_pipeline(PolynomialFeatures(), StandardScaler(), SklearnRidge(solver="svd")), grid)
    _agree(ours, theirs.fit(X, y))


@pytest.mark.parametrize(
    ("model", "grid"),
    [
        (Ridge(positive=True), {"alpha": [1.0]}),
        (Ridge(prior=np.ones(6)), {"alpha": [1.0]}),
        (Ridge(), {"alpha": [1.0], "solver": ["qr"]}),
        (Ridge(), {"alpha": [np.array([1.0])]}),
        (LinearRegression(positive=True), {"fit_intercept": [True]}),
    ],
)
def test_what_closed_forms_do_not_give_is_fitted_alone(model, grid):
    X, y = _data()
    assert not Search(model, grid).fit(X, y).shared_


@pytest.mark.filterwarnings("ignore")  # before it refuses, scikit-learn's search tells of each fold
def test_sparse_rows_and_bad_values_take_the_ordinary_road():
    X, y = _data()
    assert not Search(Ridge(), {"alpha": [1.0]}).fit(scipy.sparse.csr_matrix(X), y).shared_
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        Search(Ridge(), {"alpha": [1.0]}).fit(X, y)
    X[3, 2] = 0.0
    with pytest.raises(ValueError, match="alpha"):
        Search(Ridge(), {"alpha": [-1.0]}).fit(X, y)


def test_frames_with_names():
    import pandas as pd

    X, y = _data()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    search = Search(Ridge(), {"alpha": [0.1, 1.0]}).fit(frame, y)
    assert search.shared_
    assert search.feature_names_in_.tolist() == list("abcdef")
