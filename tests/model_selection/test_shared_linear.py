"""Logistic regression, GLMs and PCA ranks in `Search`: shared work gives what fits one by one give."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression as SklearnLogistic
from sklearn.linear_model import PoissonRegressor
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold, ShuffleSplit, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from certifit.decomposition import PCA
from certifit.glm import GLM, Tweedie
from certifit.linear_model import LogisticRegression, Ridge
from certifit.model_selection import Search
from certifit.resampling import CannotShare, FoldTable

STRENGTHS = {"C": np.logspace(-4, 4, 5)}
SCORES = ["accuracy", "neg_log_loss", "roc_auc"]


def _classes(n=240, d=5, K=2, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, d)) @ (np.eye(d) + 0.3 * rng.normal(size=(d, d)))
    scores = A @ rng.normal(size=(d, K)) + 1.5 * rng.gumbel(size=(n, K))
    return 3.0 + A * rng.uniform(0.1, 10.0, size=d), np.array(list("abcdef"))[scores.argmax(axis=1)]


def _means(n=300, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1.0, 0.1, 5.0, 1.0] + 1.0
    return X, np.exp(0.5 + (X - 1.0) @ [0.3, 2.0, -0.1, 0.0]), rng


def _same(estimator, grid, X, y, shared=True, **more):
    """Search with and without sharing: every score of every fold to 1e-6, and the same choice."""
    weights = more.pop("sample_weight", None)
    more.setdefault("cv", 3)
    found, alone = (Search(estimator, grid, share=s, **more).fit(X, y, sample_weight=weights) for s in (True, False))
    assert found.shared_ is shared
    assert not alone.shared_
    for key, value in alone.cv_results_.items():
        if key.startswith("split"):
            assert found.cv_results_[key] == pytest.approx(value, abs=1e-6, rel=1e-6), key
    if more.get("refit", True):
        assert found.best_params_ == alone.best_params_
    return found


@pytest.mark.parametrize(
    ("model", "grid"),
    [
        (LogisticRegression(), STRENGTHS),
        (LogisticRegression(fit_intercept=False), STRENGTHS),
        (LogisticRegression(class_weight="balanced"), STRENGTHS),
        (LogisticRegression(class_weight={"a": 2.0, "b": 0.5}), {"C": [0.01, 1.0]}),
        (LogisticRegression(prior=np.ones(5)), {"C": [0.01, 1.0]}),
        (LogisticRegression(), {"C": [1.0, np.inf]}),
        (LogisticRegression(l1_ratio=1.0), {"C": [0.01, 0.1, 1.0]}),
        (
            LogisticRegression(),
            {"C": [0.1, 10.0], "l1_ratio": [0.0, 0.5], "class_weight": [None, "balanced"], "threshold": [0.3, 0.5]},
        ),
    ],
)
def test_two_classes(model, grid):
    X, y = _classes()
    _same(model, grid, X, y, cv=5, scoring=SCORES, refit="neg_log_loss")


@pytest.mark.parametrize("weights", ["counts", "shares"])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_weights(weights, class_weight):
    X, y = _classes()
    rng = np.random.default_rng(1)
    s = rng.integers(0, 4, size=len(y)).astype(float) if weights == "counts" else rng.random(len(y))
    model = LogisticRegression(class_weight=class_weight)
    _same(model, STRENGTHS, X, y, sample_weight=s, scoring=SCORES, refit="roc_auc")


@pytest.mark.parametrize(
    "cv",
    [
        ShuffleSplit(3, test_size=0.3, random_state=0),
        RepeatedStratifiedKFold(n_splits=3, n_repeats=4, random_state=0),
        TimeSeriesSplit(3),
    ],
)
def test_folds_that_overlap_or_grow(cv):
    X, y = _classes()
    _same(LogisticRegression(), {"C": [0.001, 0.1, 10.0]}, X, y, cv=cv, scoring="neg_log_loss")


def test_many_classes():
    X, y = _classes(K=4)
    scores = ["accuracy", "neg_log_loss", "roc_auc_ovr"]
    _same(LogisticRegression(), STRENGTHS, X, y, scoring=scores, refit="accuracy")
    _same(LogisticRegression(class_weight="balanced"), {"C": [0.1, 1.0]}, X, y, scoring="neg_log_loss")
    _same(LogisticRegression(l1_ratio=0.5), {"C": [0.1, 1.0]}, X, y, shared=False, cv=3)


def test_sparse_rows_float32_dependent_and_wide_columns():
    X, y = _classes()
    thin = scipy.sparse.csr_matrix(np.where(np.random.default_rng(0).random(X.shape) < 0.5, 0.0, X))
    for rows in (thin, X.astype(np.float32), np.column_stack([X, X[:, 0], np.ones(len(X))]), 1e6 * X + 1e8):
        _same(LogisticRegression(), {"C": [0.01, 1.0, 100.0]}, rows, y, cv=3, scoring="neg_log_loss")
    X, y = _classes(45, 60)
    _same(LogisticRegression(), {"C": [0.01, 1.0]}, X, y, cv=3, scoring="neg_log_loss")


@pytest.mark.parametrize(("K", "sparse"), [(2, True), (4, False), (4, True)])
def test_folds_whose_hessians_are_dear(K, sparse, monkeypatch):
    monkeypatch.setattr("certifit.solvers.newton._DEAR", 0.0)
    rng = np.random.default_rng(2)
    X = scipy.sparse.random(150, 260, 0.1, format="csr", random_state=2)
    y = (X @ rng.normal(size=(260, K)) + 0.5 * rng.gumbel(size=(150, K))).argmax(axis=1)
    found = _same(
        LogisticRegression(), {"C": [0.01, 1.0, 10.0]}, X if sparse else X.toarray(), y, scoring="neg_log_loss"
    )
    assert found.best_estimator_.solver_ == "quasi-newton"


def test_many_rows_against_scikit_learn():
    X, y = _classes(30_000, 8)
    found = Search(LogisticRegression(), STRENGTHS, cv=4, scoring="neg_log_loss").fit(X, y)
    peer = GridSearchCV(SklearnLogistic(solver="newton-cholesky", tol=1e-10), STRENGTHS, cv=4, scoring="neg_log_loss")
    peer.fit(X, y)
    assert found.shared_
    for k in range(4):
        key = f"split{k}_test_score"
        assert found.cv_results_[key] == pytest.approx(peer.cv_results_[key], abs=1e-6)
    assert found.best_params_ == peer.best_params_


def test_where_no_optimum_exists_fits_alone_say_so():
    X = np.arange(12.0)[:, None]
    with pytest.raises(ValueError, match="separable"):
        Search(LogisticRegression(), {"C": [np.inf]}, cv=3).fit(X, np.arange(12) > 5)


def test_a_class_missing_in_a_fold_and_bad_parameters_take_the_ordinary_road():
    X, y = _classes()
    order = np.argsort(y, kind="stable")
    cv = [(np.arange(200), np.arange(200, 240)), (np.arange(40, 240), np.arange(40))]
    assert Search(LogisticRegression(), {"C": [1.0]}, cv=cv).fit(X[order], y[order]).shared_
    with pytest.raises(CannotShare, match="rejects a parameter"):
        LogisticRegression()._fold_path(FoldTable(X, y, cv), [{"C": -1.0}], ("predict",))
    table = FoldTable(X, y, [(np.flatnonzero(y == "a"), np.arange(3))])
    with pytest.raises(CannotShare, match="without one of the classes"):
        LogisticRegression()._fold_path(table, [{}], ("predict",))


@pytest.mark.parametrize(
    ("family", "link"),
    [("poisson", None), ("gamma", "log"), ("binomial", None), ("gaussian", None), (Tweedie(1.5), None)],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_glm_families(family, link, weighted):
    X, mu, rng = _means()
    draw = {
        "poisson": lambda: rng.poisson(mu),
        "gamma": lambda: rng.gamma(2.0, mu / 2.0),
        "binomial": lambda: rng.random(len(mu)) < mu / (1.0 + mu),
        "gaussian": lambda: mu + rng.normal(size=len(mu)),
    }
    y = np.asarray(draw.get(family, draw["poisson"])(), dtype=float)
    weights = rng.integers(0, 3, size=len(y)).astype(float) if weighted else None
    _same(GLM(family, link), {"alpha": [0.0, 1e-3, 0.1, 10.0]}, X, y, sample_weight=weights)
    grid = {"alpha": [0.01, 1.0], "fit_intercept": [True, False]}
    _same(GLM(family, link), grid, X, y, sample_weight=weights, scoring="neg_mean_squared_error")


def test_glm_against_scikit_learn_and_what_is_not_shared():
    X, mu, rng = _means()
    y = rng.poisson(mu).astype(float)
    grid = {"alpha": [1e-3, 0.1, 10.0]}
    found = Search(GLM("poisson"), grid, scoring="neg_mean_poisson_deviance").fit(X, y)
    peer = GridSearchCV(
        PoissonRegressor(solver="newton-cholesky", tol=1e-10), grid, scoring="neg_mean_poisson_deviance"
    ).fit(X, y)
    assert found.shared_
    for k in range(5):
        key = f"split{k}_test_score"
        assert found.cv_results_[key] == pytest.approx(peer.cv_results_[key], abs=1e-6)
    assert found.best_params_ == peer.best_params_
    _same(GLM("poisson"), {"alpha": [0.1], "l1_ratio": [0.5]}, X, y, shared=False, cv=3)
    _same(GLM("gamma"), {"alpha": [0.1]}, X, y + 1.0, shared=False, cv=3)  # inverse link: not convex


@pytest.mark.parametrize("final", ["ridge", "logistic", "scikit-learn"])
@pytest.mark.parametrize("whiten", [False, True])
def test_ranks_of_a_pca(final, whiten, monkeypatch):
    X, y = _classes(120, 6)
    models = {"ridge": Ridge(), "logistic": LogisticRegression(), "scikit-learn": LinearSVC(random_state=0)}
    target = X[:, 0] + np.random.default_rng(0).normal(size=len(y)) if final == "ridge" else y
    pipe = make_pipeline(StandardScaler(), PCA(whiten=whiten), models[final])
    grid = {"pca__n_components": [1, 2, 4, 6]}
    if final != "scikit-learn":
        grid |= {"ridge__alpha": [0.1, 10.0]} if final == "ridge" else {"logisticregression__C": [0.1, 10.0]}
    count = []
    fit = PCA.fit
    monkeypatch.setattr(PCA, "fit", lambda self, *a: count.append(1) or fit(self, *a))
    shared = Search(pipe, grid, cv=3, refit=False).fit(X, target)
    assert shared.shared_
    assert len(count) == 3  # one decomposition per fold
    _same(pipe, grid, X, target, cv=3)


def test_ranks_that_are_not_nested():
    X, y = _classes(120, 6)
    pipe = make_pipeline(PCA(), LogisticRegression())
    _same(pipe, {"pca__n_components": [0.5, 0.9], "pca__whiten": [True, False]}, X, y, cv=3)
    assert PCA()._nested_columns([{"n_components": 0.5}, {"n_components": 2}]) is None
    assert PCA(svd_solver="randomized")._nested_columns([{"n_components": 1}, {"n_components": 2}]) is None
    with (
        pytest.warns(FitFailedWarning, match="3 fits failed out of a total of 6"),
        pytest.warns(UserWarning, match="non-finite"),
    ):
        Search(pipe, {"pca__n_components": [2, 99]}, cv=3).fit(X, y)


def test_any_number_of_threads_gives_the_same_bits(monkeypatch):
    X, y = _classes(9000, 5)
    grid = {"C": [0.01, 1.0, 100.0]}
    many = Search(LogisticRegression(), grid, cv=3, scoring="neg_log_loss").fit(X, y)
    monkeypatch.setattr("certifit.parallel.threads", lambda n_jobs=None: 1)
    one = Search(LogisticRegression(), grid, cv=3, scoring="neg_log_loss").fit(X, y)
    assert one.cv_results_["mean_test_score"].tolist() == many.cv_results_["mean_test_score"].tolist()
