"""One Gram matrix answers every cost and fold: the same as fitting each."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse
from sklearn import svm as foreign
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from certifit import kernels
from certifit.design import blocks
from certifit.model_selection import Search
from certifit.resampling import CannotShare, FoldTable
from certifit.solvers._box_dual import Box
from certifit.solvers.smo import smo
from certifit.solvers.svc_folds import machine_path
from certifit.svm import SVC, _folds

TIGHT = 1e-7  # relative gaps of 1e-9: no label hangs on the tolerance


def _data(n=120, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % classes
    X = rng.normal(size=(n, 4)) + 0.9 * codes[:, None] * rng.choice([-1.0, 1.0], size=4)
    return X, np.array(["x", "y", "z"])[codes]


def _agree(ours, alone):
    assert ours.shared_
    assert not alone.shared_
    for name, values in alone.cv_results_.items():
        if name.startswith(("split", "mean_test")):
            np.testing.assert_allclose(ours.cv_results_[name], values, atol=1e-6, rtol=0)
    assert ours.best_params_ == alone.best_params_


def _both(model, grid, X, y, weights=None, **options):
    search = Search(model, grid, **options).fit(X, y, sample_weight=weights)
    alone = Search(model, grid, share=False, **options).fit(X, y, sample_weight=weights)
    _agree(search, alone)
    return search


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    ("options", "grid"),
    [
        ({}, {"C": [10.0, 0.1, 1.0], "gamma": [0.05, 0.5]}),
        ({"class_weight": "balanced"}, {"C": [0.5, 20.0], "gamma": ["scale", "auto"]}),
        ({"kernel": "linear", "class_weight": {"x": 3.0}}, {"C": [0.01, 1.0]}),
        ({"coef0": 1.0, "break_ties": True}, {"kernel": ["poly", "rbf"], "degree": [2, 3], "C": [0.1, 1.0]}),
        ({"kernel": 0.5 * kernels.Gaussian(sigma=2.0) + kernels.Linear()}, {"C": [0.1, 3.0]}),
    ],
)
def test_labels_are_those_of_single_fits(classes, options, grid):
    X, y = _data(classes=classes)
    _both(SVC(tol=TIGHT, **options), grid, X, y, cv=4)


@pytest.mark.parametrize("classes", [2, 3])
def test_decisions_are_those_of_single_fits(classes):
    X, y = _data(classes=classes)
    model, grid = SVC(tol=TIGHT), [{"C": 1.0}, {"C": 30.0, "gamma": 0.3}, {"C": 0.2, "gamma": 0.3}]
    for shape in ("ovr", "ovo"):
        model.set_params(decision_function_shape=shape)
        for train, test in KFold(5, shuffle=True, random_state=0).split(X):
            path = model._fold_path(FoldTable(X, y, [(train, test)]), grid, ("decision_function", "predict"))
            found = next(iter(path))
            for i, point in enumerate(grid):
                one = SVC(tol=TIGHT, decision_function_shape=shape, **point).fit(X[train], y[train])
                np.testing.assert_allclose(found["decision_function"][i], one.decision_function(X[test]), atol=1e-3)
                assert found["predict"][i].tolist() == one.predict(X[test]).tolist()


def test_weights_zero_weights_and_other_scores():
    X, y = _data()
    w = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    grid = {"C": [0.1, 2.0], "gamma": [0.1, "scale"]}
    _both(SVC(tol=TIGHT), grid, X, y, w, cv=ShuffleSplit(4, random_state=0))
    _both(SVC(tol=TIGHT), grid, X, y, cv=3, scoring="roc_auc")


def test_given_kernel_values_sparse_rows_and_pipelines():
    X, y = _data(90, classes=3)
    K = X @ X.T
    _both(SVC(kernel="precomputed", tol=TIGHT), {"C": [0.1, 1.0, 5.0]}, K, y, cv=3)
    _both(SVC(tol=TIGHT), {"C": [0.1, 5.0]}, scipy.sparse.csr_matrix(np.where(X > 0, X, 0.0)), y, cv=3)
    pipeline = make_pipeline(StandardScaler(), SVC(tol=TIGHT))
    _both(pipeline, {"svc__C": [0.1, 1.0, 5.0], "svc__gamma": [0.1, 1.0]}, X, y, cv=3)


def test_the_same_choice_as_libsvm():
    X, y = _data(200)
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.02, 0.2]}
    ours = Search(SVC(tol=TIGHT), grid).fit(X, y)
    theirs = GridSearchCV(foreign.SVC(tol=1e-9), grid).fit(X, y)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-6)
    assert ours.best_params_ == theirs.best_params_


def test_threads_do_not_change_anything(monkeypatch):
    X, y = _data(150, classes=3)
    table, grid = FoldTable(X, y, list(KFold(5).split(X))), [{"C": c} for c in (0.1, 1.0)]
    path = SVC()._fold_path(table, grid, ("decision_function",))
    many = [d["decision_function"] for d in path]
    monkeypatch.setattr(_folds, "side_by_side", lambda work, tasks: [work(t) for t in tasks])
    path = SVC()._fold_path(table, grid, ("decision_function",))
    for a, b in zip(many, path):
        np.testing.assert_array_equal(a, b["decision_function"])


@pytest.mark.parametrize(
    ("options", "grid"),
    [
        ({"kernel": "sigmoid"}, {"C": [1.0]}),
        ({"kernel": lambda A, B: A @ B.T}, {"C": [1.0]}),
        ({"max_iter": 100_000}, {"C": [1.0]}),
        ({"cache_size": 0.01}, {"C": [1.0]}),
        ({}, {"class_weight": [None, "balanced"]}),
    ],
)
def test_what_is_fitted_alone(options, grid):
    X, y = _data(60)
    search = Search(SVC(**options), grid, cv=2).fit(X, y)
    assert not search.shared_


def test_a_fold_with_one_class_or_repeated_rows_is_left_to_single_fits():
    X, y = _data(40)
    for train in (np.flatnonzero(y == "x"), np.zeros(6, dtype=int)):
        path = SVC()._fold_path(FoldTable(X, y, [(train, np.arange(5))]), [{"C": 1.0}], ("predict",))
        with pytest.raises(CannotShare):
            next(iter(path))


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_machines_reach_their_gap_from_every_seed(scale):
    """Against the solver of single fits: the same dual value, from seeds of other costs and other rows."""
    X, labels = _data(160, seed=3)
    y = np.where(labels == "x", 1.0, -1.0)
    K = kernels.RBF(gamma=0.3)(X)
    costs = scale * np.array([0.1, 1.0, 10.0])
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 160)
    first, second = weight.copy(), weight.copy()
    first[:40], second[40:80] = 0.0, 0.0
    others = machine_path(K, y, first, costs, 1e-8)
    for m, cost in zip(machine_path(K, y, second, costs, 1e-8, others), costs):
        rows = np.flatnonzero(second)
        null = 2.0 * cost * min(second[y > 0].sum(), second[y < 0].sum())
        alone = smo(lambda _, r=rows: blocks(kernels.Precomputed(), K[np.ix_(r, r)]),
                    Box.of_labels(y[rows], cost * second[rows]), 1e-8 * null).value  # fmt: skip
        assert m.solved
        assert m.gap <= 1e-8 * null
        assert not m.beta[40:80].any()
        assert math.fsum(m.beta) == 0.0
        np.testing.assert_allclose(m.product, K @ m.beta, atol=1e-9 * cost)
        dual = [
            b @ t - 0.5 * b @ g for b, t, g in ((m.beta, y, m.product), (alone.beta, y[rows], alone.gradient + y[rows]))
        ]
        assert abs(dual[0] - dual[1]) <= 2e-8 * null
