"""Names and options that scikit-learn knows lead to our answers."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_diabetes, load_iris

from certifit.linear_model import Lasso, LogisticRegression, Perceptron
from certifit.neighbors import KNeighborsClassifier, KNeighborsRegressor
from certifit.svm import SVC, LinearSVC
from certifit.tree import DecisionTreeClassifier, DecisionTreeRegressor

X, Y = load_iris(return_X_y=True)
AGES, PROGRESS = load_diabetes(return_X_y=True)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_every_algorithm_finds_the_same_neighbours(metric):
    names = ["auto", "brute", "ball_tree"] + ["kd_tree"] * (metric != "cosine")
    found = [KNeighborsClassifier(7, metric=metric, algorithm=a).fit(X, Y).kneighbors(X[::7]) for a in names]
    for distances, rows in found[1:]:
        np.testing.assert_array_equal(rows, found[0][1])
        np.testing.assert_allclose(distances, found[0][0])


@pytest.mark.parametrize(
    ("model", "rows", "targets"),
    [
        (KNeighborsClassifier(), X, Y),
        (KNeighborsRegressor(), AGES, PROGRESS),
        (DecisionTreeClassifier(max_depth=4), X, Y),
        (DecisionTreeRegressor(max_depth=4), AGES, PROGRESS),
    ],
    ids=lambda v: type(v).__name__,
)
@pytest.mark.parametrize("kind", [scipy.sparse.csr_matrix, scipy.sparse.csc_array, scipy.sparse.coo_matrix])
def test_sparse_rows_are_read_as_the_numbers_they_are(model, rows, targets, kind):
    expected = model.fit(rows, targets).predict(rows)
    model.fit(kind(rows), targets)
    np.testing.assert_array_equal(model.predict(kind(rows)), expected)
    assert model.certificate_.holds
    assert model.certificate_.verify(rows, targets)


def test_friedmans_criterion_asks_the_same_questions():
    one = DecisionTreeRegressor(criterion="friedman_mse", max_depth=5).fit(AGES, PROGRESS, check_input=False)
    other = DecisionTreeRegressor(max_depth=5).fit(AGES, PROGRESS)
    np.testing.assert_array_equal(one.tree_.threshold, other.tree_.threshold)
    np.testing.assert_array_equal(one.predict(AGES, check_input=False), other.predict(AGES))
    assert one.certificate_.holds


def test_coefficients_can_be_stored_sparse():
    model = LogisticRegression(l1_ratio=1.0, C=0.1, tol=1e-6).fit(X, Y)
    labels, gap = model.predict(X), model.certificate_.relative_gap
    model = LogisticRegression(l1_ratio=1.0, C=0.1, tol=1e-6).fit(X, Y).sparsify()
    assert scipy.sparse.issparse(model.coef_)
    np.testing.assert_array_equal(model.predict(X), labels)
    np.testing.assert_array_equal(model.predict(scipy.sparse.csr_matrix(X)), labels)
    assert model.certificate_.relative_gap == pytest.approx(gap, rel=1e-6)
    assert not scipy.sparse.issparse(model.densify().coef_)


def test_options_without_effect_are_accepted():
    SVC(random_state=0, verbose=False).fit(X, Y)
    LinearSVC("l2", "hinge", dual="auto", random_state=0, multi_class="ovr", intercept_scaling=2.0).fit(X, Y)
    Perceptron(n_jobs=2, verbose=0, l1_ratio=0.3, random_state=0).fit(X, Y)
    Lasso(alpha=0.1).fit(AGES, PROGRESS, check_input=False)
    LinearSVC(multi_class="crammer_singer", penalty="l1", loss="squared_hinge", dual=False).fit(X, Y)
