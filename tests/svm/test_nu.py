"""Machines by shares of the rows: the optimum of their problem, proved, with scikit-learn as a witness."""

import warnings

import numpy as np
import pytest
import scipy.sparse
import sklearn.svm
from hypothesis import given, settings
from hypothesis import strategies as st

from certifit.certificates import Data, issue
from certifit.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM


def _table(seed, n=60, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    score = X[:, 0] + 0.5 * rng.normal(size=n)
    return X, np.argsort(np.argsort(score)) * classes // n, 3.0 * np.sin(X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.15, 0.5, 0.8]), st.sampled_from(["rbf", "linear"]), st.booleans())
def test_every_fit_is_optimal_and_has_its_share(seed, nu, kernel, weighted):
    X, labels, y = _table(seed)
    s = np.random.default_rng(seed).integers(1, 4, len(y)).astype(float) if weighted else None
    if s is not None:  # both classes weigh the same, so that every share is possible
        s[labels == 1] *= s[labels == 0].sum() / s[labels == 1].sum()
    for model, target in ((NuSVR(nu=nu, kernel=kernel), y), (OneClassSVM(nu=nu, gamma=0.4), np.ones(len(y)))):
        model.fit(X, target, sample_weight=s)
        certificate = model.certificate_
        assert certificate.verify(X, target, s)
        assert certificate.relative_gap <= 1e-8
        share = np.abs(model.dual_coef_).sum() / (getattr(model, "C", 1.0) * (len(y) if s is None else s.sum()))
        assert share == pytest.approx(nu, abs=1e-8) or getattr(model, "epsilon_", 1.0) == 0.0
    if kernel == "rbf" or nu > 0.7:  # with few errors the linear problem has no margin above zero
        model = NuSVC(nu=nu, kernel=kernel).fit(X, labels, s)
        assert model.certificate_.verify(X, labels, s)
        assert model.certificate_.relative_gap <= 1e-8


def test_they_are_scikit_learns_machines():
    X, labels, y = _table(1, classes=3)
    for name, target, ask in (("NuSVC", labels, "decision_function"), ("NuSVR", y, "predict"),
                              ("OneClassSVM", None, "decision_function")):  # fmt: skip
        ours = {"NuSVC": NuSVC, "NuSVR": NuSVR, "OneClassSVM": OneClassSVM}[name](nu=0.3).fit(X, target)
        theirs = getattr(sklearn.svm, name)(nu=0.3, tol=1e-9).fit(X, target)
        np.testing.assert_allclose(getattr(ours, ask)(X), getattr(theirs, ask)(X), atol=1e-5)
        assert ours.support_.tolist() == theirs.support_.tolist()
        sparse = type(ours)(nu=0.3).fit(scipy.sparse.csr_array(X), target)
        np.testing.assert_allclose(getattr(sparse, ask)(scipy.sparse.csr_array(X)), getattr(ours, ask)(X), atol=1e-6)


def test_the_machine_of_nu_is_the_machine_of_its_price():
    X, labels, y = _table(2)
    nu = NuSVC(nu=0.4).fit(X, labels)
    price = float(nu.certificate_.evidence["objective"]["class_weight"][0])
    np.testing.assert_allclose(nu.decision_function(X), SVC(C=price).fit(X, labels).decision_function(X), atol=1e-7)
    tube = NuSVR(nu=0.4).fit(X, y)
    np.testing.assert_allclose(tube.predict(X), SVR(epsilon=tube.epsilon_).fit(X, y).predict(X), atol=1e-7)


def test_another_share_is_refused():
    X, labels, _ = _table(3, classes=3)
    certificate = NuSVC(nu=0.3).fit(X, labels).certificate_
    assert certificate.holds
    data = Data.of(X, labels)
    assert not issue("duality", data, certificate.evidence | {"nu": 0.300001}).holds
    swapped = [certificate.evidence["objective"][k] for k in (1, 0, 2)]
    assert not issue("duality", data, certificate.evidence | {"objective": swapped}).holds


@pytest.mark.parametrize("spread", [1.0, 0.01])  # the price 1 attains the largest share, or a smaller one does
def test_a_share_that_cannot_be(spread):
    X, labels, _ = _table(4)
    kept = labels + np.arange(60) % 5 > 0
    X, labels = X[kept] / spread, labels[kept]
    with pytest.warns(UserWarning, match="nu is infeasible"):
        model = NuSVC(nu=0.9, kernel="linear").fit(X, labels)
    largest = 2 * np.bincount(labels).min() / len(labels)
    assert model.nu_ == pytest.approx([largest], rel=1e-5)
    assert model.certificate_.holds
    assert "nu" not in model.certificate_.evidence
    lighter = np.argmin(np.bincount(labels))
    alpha = np.zeros(len(labels))
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    np.testing.assert_allclose(
        alpha[labels == lighter], alpha[labels == lighter].max(), rtol=1e-3
    )  # all at their bound


def test_inliers_and_outliers():
    X, _, _ = _table(5, 200)
    model = OneClassSVM(nu=0.1, gamma=0.3).fit(X)
    assert np.mean(model.predict(X) == -1) <= 0.1 <= np.mean(model.decision_function(X) < 1e-9)
    np.testing.assert_allclose(model.score_samples(X) - model.offset_, model.decision_function(X))


@pytest.mark.parametrize("power", [-1000, -370, 370, 900])
def test_the_unit_of_the_weights_does_not_matter(power):
    X, y = np.array([[1.0], [1.0], [1.5], [1.0], [2.0], [0.0]]), [1, 0, 0, 1, 1, 0]
    once = NuSVC().fit(X, y, np.ones(6))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the last digits of tiny or huge objectives
        scaled = NuSVC().fit(X, y, np.full(6, 2.0**power))
    assert np.array_equal(once.decision_function(X), scaled.decision_function(X))
