"""Bayesian linear regression: direct computation, scikit-learn, ridge, least squares, and the proof."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import BayesianRidge

from certifit.bayes import BayesianLinearRegression, Bumps, Powers
from certifit.bayes._evidence import Spectral
from certifit.certificates._data import digest_evidence
from certifit.exceptions import ConvergenceWarning
from certifit.linear_model import LinearRegression, Ridge


def rows(seed=0, n=50, d=4, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 3.0
    return X, X @ rng.normal(size=d) + 1.0 + noise * rng.normal(size=n)


@given(seed=st.integers(0, 1000), n=st.integers(3, 40), d=st.integers(1, 8), offset=st.booleans())
def test_posterior_by_direct_computation(seed, n, d, offset):
    X, y = rows(seed, n, d)
    m = BayesianLinearRegression(noise_precision=2.0, weight_precision=0.7, fit_intercept=offset).fit(X, y)
    T, t = (X - X.mean(axis=0), y - y.mean()) if offset else (X, y)
    sigma = np.linalg.inv(0.7 * np.eye(d) + 2.0 * T.T @ T)
    np.testing.assert_allclose(m.sigma_, sigma, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(m.coef_, 2.0 * sigma @ T.T @ t, rtol=1e-7, atol=1e-9)
    whole = scipy.stats.multivariate_normal(np.zeros(n), np.eye(n) / 2.0 + T @ T.T / 0.7).logpdf(t)
    assert m.log_evidence_ == pytest.approx(float(whole), rel=1e-8)
    mean, std = m.predict(X, return_std=True)
    np.testing.assert_allclose(std, np.sqrt(0.5 + np.einsum("ij,jk,ik->i", T, sigma, T)), rtol=1e-8)
    np.testing.assert_allclose(mean, T @ m.coef_ + (y.mean() if offset else 0.0), rtol=1e-8, atol=1e-9)
    assert all(c.holds for c in m.certificates_), [str(c) for c in m.certificates_]


@pytest.mark.parametrize(("n", "d"), [(60, 3), (200, 10), (15, 30)])
def test_names_and_numbers_of_bayesian_ridge(n, d):
    X, y = rows(1, n, d)
    ours = BayesianLinearRegression(compute_score=True).fit(X, y)
    theirs = BayesianRidge(tol=1e-12, max_iter=100_000, compute_score=True).fit(X, y)
    for name in ("alpha_", "lambda_", "intercept_"):
        assert getattr(ours, name) == pytest.approx(float(getattr(theirs, name)), rel=1e-4)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(ours.sigma_, theirs.sigma_, rtol=1e-3, atol=1e-6)
    assert ours.scores_[-1] == pytest.approx(theirs.scores_[-1], rel=1e-6, abs=1e-4)
    assert ours.scores_[-1] >= theirs.scores_[-1] - 1e-8
    a, b = ours.predict(X, return_std=True), theirs.predict(X, return_std=True)
    np.testing.assert_allclose(a, b, rtol=1e-4)
    assert ours.certificate_.holds
    assert ours.certificates_[1].holds


@given(seed=st.integers(0, 300))
def test_map_equals_ridge_and_limits(seed):
    X, y = rows(seed, 30, 3)
    m = BayesianLinearRegression().fit(X, y)
    ridge = Ridge(alpha=m.lambda_ / m.alpha_).fit(X, y)
    np.testing.assert_allclose(m.coef_, ridge.coef_, rtol=1e-9)
    assert m.intercept_ == pytest.approx(ridge.intercept_, rel=1e-9, abs=1e-9)
    flat = BayesianLinearRegression(noise_precision=1.0, weight_precision=1e-12).fit(X, y)
    np.testing.assert_allclose(flat.coef_, LinearRegression().fit(X, y).coef_, rtol=1e-8)
    sharp = BayesianLinearRegression(noise_precision=1.0, weight_precision=1e12).fit(X, y)
    assert np.abs(sharp.coef_).max() < 1e-8


def test_weights_are_copies():
    X, y = rows(3, 30, 3)
    w = np.random.default_rng(0).integers(1, 4, 30).astype(float)
    again = np.repeat(np.arange(30), w.astype(int))
    a, b = BayesianLinearRegression().fit(X, y, sample_weight=w), BayesianLinearRegression().fit(X[again], y[again])
    assert (a.alpha_, a.lambda_) == pytest.approx((b.alpha_, b.lambda_), rel=1e-6)
    np.testing.assert_allclose(a.sigma_, b.sigma_, rtol=1e-6)
    assert a.log_evidence_ == pytest.approx(b.log_evidence_, rel=1e-9)
    assert all(c.verify(X, y, w).holds for c in a.certificates_)


def test_basis_functions_and_their_certificate():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, (40, 1))
    y = np.sin(2 * np.pi * x[:, 0]) + 0.1 * rng.normal(size=40)
    bumps = BayesianLinearRegression(basis=Bumps(tuple(np.linspace(0, 1, 9)), 0.15)).fit(x, y)
    assert bumps.score(x, y) > 0.95
    assert 1 / np.sqrt(bumps.alpha_) == pytest.approx(0.1, rel=0.35)
    assert all(c.verify(bumps.features(x), y).holds for c in bumps.certificates_)
    # The evidence prefers a cubic to a line, and does not ask for the ninth power
    evidence = [BayesianLinearRegression(basis=Powers(k)).fit(2 * x - 1, y).log_evidence_ for k in (1, 3, 9)]
    assert evidence[1] > evidence[0]
    assert evidence[1] > evidence[2]
    with pytest.raises(ValueError, match="one row of features"):
        BayesianLinearRegression(basis=lambda X: X[:3]).fit(x, y)


def test_intervals_cover():
    rng = np.random.default_rng(1)
    hits = []
    for _ in range(40):
        X = rng.normal(size=(60, 3))
        w = rng.normal(size=3)
        m = BayesianLinearRegression().fit(X[:40], X[:40] @ w + rng.normal(size=40))
        low, high = m.interval(X[40:], 0.9)
        new = X[40:] @ w + rng.normal(size=20)
        hits.append(np.mean((low <= new) & (new <= high)))
    assert np.mean(hits) == pytest.approx(0.9, abs=0.03)
    draws = m.posterior_.rvs(20_000, random_state=0)
    np.testing.assert_allclose(np.cov(draws.T), m.sigma_, atol=0.002)
    with pytest.raises(ValueError, match="between 0 and 1"):
        m.interval(X, 1.0)


def test_tampering_is_refused():
    X, y = rows(5)
    m = BayesianLinearRegression().fit(X, y)
    ridge, maximum = m.certificates_

    def resealed(c, **changes):
        evidence = {**c.evidence, **changes}
        return c.tampered(evidence=evidence, digests={**c.digests, "evidence": digest_evidence(evidence)})

    assert ridge.verify(X, y).holds
    assert maximum.verify(X, y).holds
    assert not resealed(ridge, coef=ridge.evidence["coef"] + 1e-3).verify(X, y).holds
    assert not resealed(maximum, sigma=maximum.evidence["sigma"] * 1.01).verify(X, y).holds
    assert not resealed(maximum, **{"lambda": m.lambda_ * 1.01}).verify(X, y).holds
    assert not resealed(maximum, alpha=m.alpha_ * 1.01).verify(X, y).holds
    assert not maximum.verify(X, y + 1).holds
    assert not maximum.tampered(figures={**maximum.figures, "slope": 0.0}).verify(X, y).holds


def test_stopping_early_says_so():
    X, y = rows(6)
    with pytest.warns(ConvergenceWarning, match="not yet stationary"):
        early = BayesianLinearRegression(max_iter=1, trace=True).fit(X, y)
    assert [step.iteration for step in early.trace_] == [0, 1]
    with pytest.warns(ConvergenceWarning):
        BayesianLinearRegression(time_budget=1e-12).fit(X, y)


@pytest.mark.parametrize("y", [np.zeros(20), np.full(20, 7.0), np.arange(20.0)])
def test_perfect_and_empty_fits(y):
    X = np.arange(20.0)[:, None]
    m = BayesianLinearRegression().fit(X, y)
    np.testing.assert_allclose(m.predict(X), y, atol=1e-2)
    assert m.certificate_.holds


@pytest.mark.parametrize(("n", "d"), [(9_001, 3), (4_097, 2), (30, 7), (5, 8), (1, 1)])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_triangle_has_the_singular_values_of_all_rows(n, d, weighted):
    """Blocks of rows, fewer rows than columns, columns of very different size: as by decomposing the rows at once."""
    rng = np.random.default_rng(n)
    Phi, y = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-6, 6, size=d), rng.normal(size=n)
    weight = rng.integers(0, 4, n).astype(float) if weighted else None
    found = Spectral.of(Phi, y, weight)
    root = np.ones(n) if weight is None else np.sqrt(weight)
    U, s, V = np.linalg.svd(Phi * root[:, None], full_matrices=False)
    assert found.V.shape == V.shape
    np.testing.assert_allclose(found.s, s, rtol=1e-10, atol=1e-13 * s.max())
    np.testing.assert_allclose(
        (found.s * found.z) @ found.V, (Phi * root[:, None]).T @ (root * y), rtol=1e-9, atol=1e-9
    )
    rest = root * y - U @ (U.T @ (root * y))
    assert found.outside == pytest.approx(float(rest @ rest), rel=1e-9, abs=1e-12)
