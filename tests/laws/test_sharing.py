"""Shared work gives what fits one by one give: every family that shares, every kind of folds, with and without weights.

Closed forms and counts agree to 1e-9; what is minimised step by step agrees to the gap that both roads prove.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from sklearn.model_selection import KFold, RepeatedKFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor as ForeignTree

from certifit.decomposition import PCA
from certifit.glm import GLM
from certifit.linear_model import ElasticNet, Lasso, LinearRegression, LogisticRegression, Ridge
from certifit.model_selection import Search
from certifit.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB
from certifit.neighbors import KNeighborsClassifier, KNeighborsRegressor
from certifit.svm import SVC
from certifit.tree import DecisionTreeClassifier, DecisionTreeRegressor

N = 72
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 4)) * [1.0, 3.0, 0.2, 1.0] + [0.0, 1.0, 2.0, 0.0]
Y = X @ [1.0, 0.5, 2.0, 0.0] + RNG.normal(size=N)
TWO = np.array(list("ab"))[(Y + RNG.normal(size=N) > Y.mean()).astype(int)]
THREE = np.array(list("abc"))[np.digitize(Y + RNG.normal(size=N), np.quantile(Y, [0.3, 0.7]))]
COUNTS = RNG.poisson(2.0, size=(N, 4))
RATES = RNG.poisson(np.exp(0.3 * X[:, 0] + 0.5)).astype(float)
CODES = RNG.integers(0, 3, size=(N, 3))
THIN = scipy.sparse.csr_matrix(np.where(RNG.random(X.shape) < 0.5, 0.0, X))
WEIGHTS = RNG.integers(0, 4, size=N).astype(float)

EXACT, PROVED = 1e-9, 1e-6
CASES = {
    "least squares": (LinearRegression(), {"fit_intercept": [True, False]}, X, Y, EXACT),
    "ridge": (Ridge(), {"alpha": [0.01, 1.0, 100.0], "fit_intercept": [True, False]}, X, Y, EXACT),
    "ridge, two targets": (Ridge(), {"alpha": [0.1, 10.0]}, X, np.column_stack([Y, X[:, 0] - Y]), EXACT),
    "ridge, wide": (Ridge(), {"alpha": [0.1, 10.0]}, RNG.normal(size=(N, 90)), Y, EXACT),
    "lasso": (Lasso(tol=1e-12), {"alpha": [0.5, 0.01]}, X, Y, PROVED),
    "elastic net": (ElasticNet(tol=1e-12), {"alpha": [0.5, 0.01], "l1_ratio": [0.2, 0.9]}, X, Y, PROVED),
    "logistic": (LogisticRegression(), {"C": [0.1, 10.0], "class_weight": [None, "balanced"]}, X, TWO, PROVED),
    "softmax": (LogisticRegression(), {"C": [0.1, 10.0]}, X, THREE, PROVED),
    "logistic, sparse": (LogisticRegression(), {"C": [0.1, 10.0]}, THIN, TWO, PROVED),
    "logistic, l1": (LogisticRegression(l1_ratio=1.0), {"C": [0.3, 3.0]}, X, TWO, PROVED),
    "poisson": (GLM("poisson"), {"alpha": [0.01, 1.0], "fit_intercept": [True, False]}, X, RATES, PROVED),
    "svm": (SVC(tol=1e-7), {"C": [0.1, 3.0], "gamma": [0.2, "scale"]}, X, THREE, PROVED),
    "neighbours, classes": (
        KNeighborsClassifier(), {"n_neighbors": [1, 4], "weights": ["uniform", "distance"]}, X, THREE, EXACT,
    ),
    "neighbours, values": (KNeighborsRegressor(), {"n_neighbors": [1, 4], "weights": ["distance"]}, X, Y, EXACT),
    "tree, classes": (DecisionTreeClassifier(), {"ccp_alpha": [0.0, 0.02], "max_depth": [3, None]}, X, THREE, EXACT),
    "tree, values": (DecisionTreeRegressor(), {"ccp_alpha": [0.0, 0.02]}, X, Y, EXACT),
    "gaussian": (GaussianNB(), {"var_smoothing": [1e-9, 0.1]}, X, THREE, EXACT),
    "multinomial": (MultinomialNB(), {"alpha": [0.1, 2.0], "fit_prior": [True, False]}, COUNTS, TWO, EXACT),
    "bernoulli": (BernoulliNB(), {"alpha": [0.1, 2.0]}, COUNTS, THREE, EXACT),
    "categorical": (CategoricalNB(), {"alpha": [0.1, 2.0]}, CODES, THREE, EXACT),
    "pipeline": (
        make_pipeline(StandardScaler(), Ridge()),
        {"ridge__alpha": [0.1, 10.0], "standardscaler__with_std": [True, False]}, X, Y, EXACT,
    ),
    "ranks": (
        make_pipeline(StandardScaler(), PCA(), LogisticRegression()),
        {"pca__n_components": [1, 3], "logisticregression__C": [0.1, 10.0]}, X, TWO, PROVED,
    ),
    "ranks before a stranger": (
        make_pipeline(PCA(), ForeignTree(random_state=0)), {"pca__n_components": [1, 3]}, X, Y, EXACT,
    ),
}  # fmt: skip
SPLITTERS = {
    "partition": KFold(3),
    "shuffled": KFold(4, shuffle=True, random_state=0),
    "repeated": RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    "overlapping": [(np.sort(a), b) for a, b in ShuffleSplit(2, test_size=0.3, random_state=0).split(X)],
    "leaving rows out": [(np.arange(40), np.arange(40, 60)), (np.arange(25, 70), np.arange(20))],
}
NEEDS_ALL_ROWS = {"gaussian", "multinomial", "bernoulli", "categorical"}  # counts of training rows by subtraction
NO_WEIGHTS = {"neighbours, classes", "neighbours, values"}


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("splitter", SPLITTERS)
@pytest.mark.parametrize("case", CASES)
def test_shared_scores_are_those_of_fits_one_by_one(case, splitter, weighted):
    model, grid, rows, target, tol = CASES[case]
    weights = WEIGHTS if weighted else None
    if weighted and case in NO_WEIGHTS:
        with pytest.raises(TypeError, match="takes no sample_weight"):
            Search(model, grid, cv=SPLITTERS[splitter]).fit(rows, target, sample_weight=weights)
        return
    shared, alone = (
        Search(model, grid, cv=SPLITTERS[splitter], refit=False, share=share).fit(rows, target, sample_weight=weights)
        for share in (True, False)
    )
    assert shared.shared_ is not (splitter == "leaving rows out" and case in NEEDS_ALL_ROWS), shared.sharing_
    for name, values in alone.cv_results_.items():
        if name.startswith("split"):
            assert shared.cv_results_[name] == pytest.approx(values, rel=tol, abs=tol), name
    if shared.shared_:
        assert shared.sharing_.passes < shared.sharing_.fits
    assert shared.best_params_ == alone.best_params_
