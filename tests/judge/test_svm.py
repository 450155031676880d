"""certify judges support vector machines and kernel ridge."""

import numpy as np
import pytest
import scipy.sparse
import sklearn.kernel_ridge
import sklearn.svm
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

import certifit as cf
from certifit.exceptions import UnknownModelError
from certifit.kernel_ridge import KernelRidge
from certifit.svm import SVC, LinearSVC


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return ((X - X.mean(0)) / X.std(0))[:250], y[:250]


@pytest.mark.parametrize("make", [sklearn.svm.SVC, SVC])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_svc(cancer, make, kernel):
    X, y = cancer
    c = cf.certify(make(kernel=kernel, tol=1e-6).fit(X, y), X, y)
    assert c.holds, str(c)
    assert c.relative_gap < 1e-3
    assert c.verify(X, y).holds


def test_many_classes_and_weights():
    X, y = load_iris(return_X_y=True)
    w = np.random.default_rng(0).uniform(0.5, 2, 150)
    c = cf.certify(sklearn.svm.SVC(tol=1e-6).fit(X, y, w), X, y, w)
    assert c.holds
    assert c.relative_gap < 1e-3


@pytest.mark.filterwarnings("ignore")
def test_liblinear_by_its_own_objective_and_by_the_true_one(cancer):
    X, y = cancer
    X = X + 3.0  # far from the origin, the penalised offset costs something
    model = sklearn.svm.LinearSVC(loss="hinge", tol=1e-8, max_iter=200_000, random_state=0).fit(X, y)
    own, true = cf.certify(model, X, y), cf.certify(model, X, y, objective="true")
    assert own.holds
    assert true.holds
    assert own.relative_gap < true.relative_gap
    ours = cf.certify(LinearSVC(loss="hinge").fit(X, y), X, y)
    assert ours.relative_gap < true.relative_gap


def test_kernel_ridge():
    X, y = load_diabetes(return_X_y=True)
    for make in (sklearn.kernel_ridge.KernelRidge, KernelRidge):
        c = cf.certify(make(kernel="rbf", alpha=0.5, gamma=2.0).fit(X, y), X, y)
        assert c.holds
        assert c.relative_gap < 1e-10
        assert c.verify(X, y).holds


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_without_weight_are_not_counted_by_libsvm(cancer, sparse):
    X, y = cancer
    X = scipy.sparse.csr_matrix(X) if sparse else X
    w = np.where(np.arange(len(y)) % 3 == 0, 0.0, 1.0)
    c = cf.certify(sklearn.svm.SVC(tol=1e-6).fit(X, y, w), X, y, sample_weight=w)
    assert c.holds
    assert c.relative_gap < 1e-5


@pytest.mark.parametrize("objective", [{}, {"objective": "true"}])
def test_other_objectives_of_liblinear_are_not_taken_for_ours(cancer, objective):
    model = sklearn.svm.LinearSVC(max_iter=100_000, penalty="l1", dual=False).fit(*cancer)
    with pytest.raises(UnknownModelError, match="l2"):
        cf.certify(model, *cancer, **objective)


@pytest.mark.parametrize(
    ("kernel", "more"),
    [("laplacian", {}), ("cosine", {}), (lambda a, b, c: c + float(a @ b), {"kernel_params": {"c": 1.0}})],
)
def test_kernel_ridge_with_kernels_that_have_no_formula_here(kernel, more):
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:60], y[:60]
    model = sklearn.kernel_ridge.KernelRidge(alpha=0.5, kernel=kernel, **more).fit(X, y)
    c = cf.certify(model, X, y)
    assert c.holds
    assert c.relative_gap < 1e-12
    model.dual_coef_ = model.dual_coef_ * 1.01
    assert cf.certify(model, X, y).relative_gap > 1e-8
