"""Kernel ridge against scikit-learn, its own minimum, and the kernel LMS."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge as Foreign

from certifit import kernels
from certifit.certificates._data import digest_evidence
from certifit.exceptions import ConvergenceWarning, DivergenceError
from certifit.kernel_ridge import KernelRidge
from tests.contract import contract


@contract([KernelRidge(), KernelRidge(kernel="rbf", alpha=10.0, solver="lms", tol=1e-16, max_iter=50000)])
def test_contract(estimator, check):
    check(estimator)


def _data(seed, n=40, d=3, targets=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    Y = np.sin(X @ rng.normal(size=(d, targets))) + 0.1 * rng.normal(size=(n, targets))
    return X, Y[:, 0] if targets == 1 else Y


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
@pytest.mark.parametrize("targets", [1, 3])
def test_same_as_scikit_learn(kernel, targets):
    X, y = _data(0, targets=targets)
    w = np.random.default_rng(1).integers(0, 3, len(X)).astype(float)
    ours, theirs = KernelRidge(0.3, kernel=kernel).fit(X, y, w), Foreign(0.3, kernel=kernel).fit(X, y, w)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-9)
    assert ours.certificate_.holds
    assert ours.certificate_.relative_gap < 1e-20
    assert ours.certificate_.verify(X, y, w)


@given(seed=st.integers(0, 10**6), alpha=st.sampled_from([1e-3, 0.1, 10.0]))
def test_no_coefficients_beat_the_bound(seed, alpha):
    X, y = _data(seed, n=12)
    model = KernelRidge(alpha, kernel="rbf", solver="lms", max_iter=3, tol=1e-30)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    K = model.kernel_(X)
    best = np.linalg.solve(K + alpha * np.eye(len(K)), y)
    least = np.sum((y - K @ best) ** 2) + alpha * best @ K @ best
    c = model.certificate_
    assert c.holds
    assert c.bound <= least + 1e-9
    assert c.value >= least - 1e-9


def test_lms_reaches_the_closed_form_and_names_a_step_too_large():
    X, y = _data(3)
    lms = KernelRidge(1.0, kernel="rbf", solver="lms", tol=1e-20, trace=True).fit(X, y)
    np.testing.assert_allclose(lms.predict(X), KernelRidge(1.0, kernel="rbf").fit(X, y).predict(X), atol=1e-8)
    gaps = [r.gap for r in lms.trace_]
    assert all(b <= a for a, b in itertools.pairwise(gaps))
    with pytest.raises(DivergenceError, match="exceeds 2/L"):
        KernelRidge(1.0, kernel="rbf", solver="lms", step=10.0).fit(X, y)


def test_callable_and_precomputed_kernels_agree():
    X, y = _data(4)
    linear = KernelRidge(0.5).fit(X, y).predict(X)
    np.testing.assert_allclose(KernelRidge(0.5, kernel=lambda A, B: A @ B.T).fit(X, y).predict(X), linear)
    given_gram = KernelRidge(0.5, kernel="precomputed").fit(X @ X.T, y)
    np.testing.assert_allclose(given_gram.predict(X @ X.T), linear)
    mapped = KernelRidge(0.5, kernel=kernels.FeatureMap(lambda Z: Z)).fit(X, y)
    assert mapped.certificate_.holds
    assert mapped.certificate_.verify(X, y)
    assert mapped.certificate_.assumes
    with pytest.raises(ValueError, match="square matrix"):
        KernelRidge(kernel="precomputed").fit(X, y)
    with pytest.raises(ValueError, match="positive"):
        KernelRidge(alpha=[0.0]).fit(X, y)


def test_tampering_is_refused():
    X, y = _data(5)
    c = KernelRidge(0.5, kernel="rbf").fit(X, y).certificate_
    evidence = dict(c.evidence) | {"coef": c.evidence["coef"] * 1.01}
    digests = dict(c.digests) | {"evidence": digest_evidence(evidence)}
    assert not c.tampered(evidence=evidence).verify(X, y)
    assert not c.tampered(evidence=evidence, digests=digests).verify(X, y)
    assert not c.tampered(figures=dict(c.figures) | {"gap": 0.0}).verify(X, y)
    assert not c.verify(X + 1e-9, y).same_data


def test_lms_without_a_penalty_is_the_update_of_the_notes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(15, 2))
    y = X[:, 0] ** 2 + rng.normal(size=15)
    with pytest.warns(ConvergenceWarning):
        model = KernelRidge(alpha=0, kernel="rbf", gamma=1.0, solver="lms", step=0.05, max_iter=7).fit(X, y)
    K, beta = model.kernel_.gram(X, X), np.zeros(15)
    for _ in range(7):
        beta = beta + 0.05 * (y - K @ beta)
    assert np.allclose(model.dual_coef_, beta, atol=1e-14)
    assert model.certificate_.holds
    assert model.certificate_.verify(K, y).holds
    assert model.certificate_.value == pytest.approx(np.mean((y - K @ beta) ** 2))
    # On a kernel of low rank it stops at least squares, where the error does not vanish.
    linear = KernelRidge(alpha=0, kernel="linear", solver="lms", max_iter=100_000).fit(X, y)
    assert linear.status_ == "converged"
    best = np.linalg.lstsq(X, y, rcond=None)[0]
    assert np.allclose(linear.predict(X), X @ best, atol=1e-6)
    with pytest.raises(ValueError, match="solver='lms' takes"):
        KernelRidge(alpha=0).fit(X, y)
