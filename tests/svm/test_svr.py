"""Support vector regression: the optimum of its problem, proved, with scikit-learn as a witness."""

import numpy as np
import pytest
import scipy.sparse
import sklearn.svm
from hypothesis import given, settings
from hypothesis import strategies as st

from certifit.design import TwiceBlocks, blocks
from certifit.kernels import RBF
from certifit.svm import SVR, LinearSVR


def _table(seed, n=60, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, 3.0 * np.sin(X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n) + rng.choice([0.0, 1e4])


def _objective(model, X, y, s):
    w2 = float(model._columns[:, 0] @ model.kernel_(X)[np.ix_(model.support_, model.support_)] @ model._columns[:, 0])
    loss = np.maximum(0.0, np.abs(model.predict(X) - y) - model.epsilon)
    return 0.5 * w2 / model.C + float(s @ loss)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["rbf", "linear", "poly"]), st.sampled_from([0.05, 1.0, 30.0]),
       st.sampled_from([0.0, 0.2, 50.0]))  # fmt: skip
def test_every_fit_is_optimal(seed, kernel, C, epsilon):
    X, y = _table(seed)
    s = np.random.default_rng(seed).integers(0, 4, len(y)).astype(float)
    model = SVR(kernel=kernel, C=C, epsilon=epsilon).fit(X, y, s)
    certificate = model.certificate_
    assert certificate.holds
    assert certificate.verify(X, y, s)
    assert certificate.value == pytest.approx(_objective(model, X, y, s), rel=1e-7, abs=1e-7)
    assert certificate.gap <= 1e-6 * max(1.0, float(s @ np.abs(y - np.median(y))))
    assert "prediction_error" not in certificate.figures  # the best offset need not be one number


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_it_is_scikit_learns_machine(kernel):
    X, y = _table(3)
    ours, theirs = (cls(kernel=kernel, C=2.0).fit(X, y) for cls in (SVR, lambda **k: sklearn.svm.SVR(tol=1e-8, **k)))
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-5)
    np.testing.assert_allclose(ours.dual_coef_.sum(), 0.0, atol=1e-9)
    assert ours.support_.tolist() == theirs.support_.tolist()
    assert ours.n_support_.tolist() == theirs.n_support_.tolist()
    if kernel == "linear":
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)


def test_sparse_rows_and_gram_matrices():
    X, y = _table(4)
    dense = SVR(gamma=0.3).fit(X, y)
    sparse = SVR(gamma=0.3).fit(scipy.sparse.csr_array(X), y)
    given_gram = SVR(kernel="precomputed").fit(RBF(0.3)(X), y)
    assert scipy.sparse.issparse(sparse.dual_coef_)
    np.testing.assert_allclose(sparse.predict(scipy.sparse.csr_array(X)), dense.predict(X), atol=1e-7)
    np.testing.assert_allclose(given_gram.predict(RBF(0.3)(X)), dense.predict(X), atol=1e-7)
    assert sparse.certificate_.holds
    assert given_gram.certificate_.holds


def test_everything_inside_the_tube():
    X, y = _table(5)
    model = SVR(epsilon=1e5).fit(X, y)
    assert len(model.support_) == 0
    assert max(model.certificate_.gap, model.certificate_.relative_gap) < 1e-300
    assert np.ptp(model.predict(X)) == 0.0


def test_a_wrong_epsilon_is_no_proof():
    X, y = _table(6)
    certificate = SVR().fit(X, y).certificate_
    assert not certificate.verify(X, y + 1e-3)
    lowered = SVR(C=3.0).fit(X, y).certificate_
    assert lowered.evidence["objective"] != certificate.evidence["objective"]


def test_limits_and_traces():
    X, y = _table(7, 300)
    with pytest.warns(Warning, match="max_iter"):
        short = SVR(max_iter=5).fit(X, y)
    assert short.fit_status_ == 1
    assert short.certificate_.gap > 1e-3
    model = SVR(trace=True).fit(X, y)
    assert model.trace_[-1].gap <= model.trace_[0].gap
    assert model.trace_[-1].gap == model.gap_


def test_every_point_twice():
    X, _ = _table(8, 5)
    once, K = blocks(RBF(0.5), X), np.tile(RBF(0.5)(X), (2, 2))
    twice, rows, weights = TwiceBlocks(once), np.array([1, 7, 6]), np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(twice.block(rows, rows), K[np.ix_(rows, rows)], atol=1e-14)
    np.testing.assert_allclose(twice.combine(rows, weights), weights @ K[rows], atol=1e-14)
    np.testing.assert_allclose(twice.take(rows).block(np.arange(3), np.arange(3)), K[np.ix_(rows, rows)], atol=1e-14)
    np.testing.assert_allclose(twice.diagonal(), np.diagonal(K), atol=1e-14)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["epsilon_insensitive", "squared_epsilon_insensitive"]),
       st.sampled_from([0.0, 0.3]), st.booleans(), st.sampled_from([1e-6, 1.0, 1e8]))  # fmt: skip
def test_every_linear_fit_is_optimal(seed, loss, epsilon, offset, unit):
    X, y = _table(seed)
    s = np.random.default_rng(seed).integers(0, 4, len(y)).astype(float)
    y, epsilon, C = unit * y, unit * epsilon, 2.0 * unit if loss == "epsilon_insensitive" else 2.0
    model = LinearSVR(loss=loss, epsilon=epsilon, fit_intercept=offset, C=C, tol=1e-9).fit(X, y, s)
    assert model.certificate_.verify(X, y, s)
    assert model.certificate_.relative_gap <= 1.1e-9
    short = np.maximum(0.0, np.abs(model.predict(X) - y) - epsilon)
    value = 0.5 / C * model.coef_ @ model.coef_ + s @ (short if loss == "epsilon_insensitive" else short**2)
    assert model.certificate_.value == pytest.approx(value, rel=1e-7)


def test_it_is_the_machine_with_the_linear_kernel():
    X, y = _table(2)
    linear = LinearSVR(epsilon=0.2, C=3.0, tol=1e-10).fit(scipy.sparse.csr_array(X), y)
    kernel = SVR(kernel="linear", epsilon=0.2, C=3.0).fit(X, y)
    np.testing.assert_allclose(linear.coef_, kernel.coef_[0], atol=1e-5)
    np.testing.assert_allclose(linear.intercept_, kernel.intercept_, rtol=1e-5)
    theirs = sklearn.svm.LinearSVR(epsilon=0.2, C=3.0, fit_intercept=False, tol=1e-9, max_iter=100000).fit(X, y)
    ours = LinearSVR(epsilon=0.2, C=3.0, fit_intercept=False, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4 * np.abs(theirs.coef_).max())
