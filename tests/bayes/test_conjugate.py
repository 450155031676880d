"""Conjugate updates against numerical integration of Bayes' rule."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from certifit.bayes.conjugate import (
    BetaBernoulli,
    DirichletCategorical,
    GammaPoisson,
    NormalInverseGamma,
    NormalKnownVariance,
)

positive = st.floats(0.3, 8.0)


NODES, WEIGHTS = np.polynomial.legendre.leggauss(1500)


def integral(f, low, high):
    """Gauss–Legendre for vectorised functions."""
    return float(WEIGHTS @ f((high - low) / 2 * NODES + (high + low) / 2) * (high - low) / 2)


def agrees(prior, data, likelihood, low, high, point):
    """Posterior density, evidence and predictive of one parameter, by quadrature."""

    def joint(t):
        return prior.distribution.pdf(t) * likelihood(t)

    total = integral(joint, low, high)
    after = prior.update(data)
    assert prior.log_evidence(data) == pytest.approx(np.log(total), rel=1e-6, abs=1e-6)
    assert float(after.distribution.pdf(point)) == pytest.approx(float(joint(point)) / total, rel=1e-6)
    mean = integral(lambda t: t * joint(t), low, high) / total
    assert float(after.mean) == pytest.approx(mean, rel=1e-6, abs=1e-9)
    assert integral(after.distribution.pdf, *after.interval(0.9)) == pytest.approx(0.9, abs=1e-7)
    return after


@given(positive, positive, st.lists(st.integers(0, 1), min_size=1, max_size=12))
def test_beta_bernoulli(a, b, x):
    a, b = a + 1, b + 1  # a bounded density, for the sake of the quadrature
    n, s = len(x), sum(x)
    after = agrees(BetaBernoulli(a, b), x, lambda t: t**s * (1 - t) ** (n - s), 0, 1, 0.4)
    assert float(after.predictive().pmf(1)) == pytest.approx(float(after.mean))
    assert after.mode == pytest.approx((a + s - 1) / (a + b + n - 2))


@given(positive, positive, st.lists(st.integers(0, 9), min_size=1, max_size=6))
def test_gamma_poisson(a, b, x):
    a = a + 1
    after = agrees(
        GammaPoisson(a, b),
        x,
        lambda t: np.prod([scipy.stats.poisson.pmf(v, t) for v in x], axis=0),
        0,
        60,
        float(np.mean(x)) + 0.5,
    )
    by_hand = integral(lambda t: after.distribution.pdf(t) * scipy.stats.poisson.pmf(2, t), 0, 60)
    assert float(after.predictive().pmf(2)) == pytest.approx(by_hand, rel=1e-6)


@given(st.floats(-3, 3), positive, positive, st.lists(st.floats(-4, 4), min_size=1, max_size=6))
def test_normal_with_known_variance(m, v, noise, x):
    prior = NormalKnownVariance(m, v, noise)

    def likelihood(t):
        return np.exp(sum(scipy.stats.norm.logpdf(v, t, np.sqrt(noise)) for v in x))

    after = agrees(prior, x, likelihood, -40, 40, float(np.mean(x)))
    spread = float(after.predictive().var())
    assert spread == pytest.approx(after.variance + noise)
    # All at once: a multivariate normal whose entries share the mean's doubt
    cov = noise * np.eye(len(x)) + v * np.ones((len(x), len(x)))
    whole = scipy.stats.multivariate_normal(np.full(len(x), m), cov).logpdf(x)
    assert prior.log_evidence(x) == pytest.approx(float(whole), rel=1e-9, abs=1e-9)


@given(st.floats(-2, 2), positive, positive, positive, st.lists(st.floats(-3, 3), min_size=1, max_size=6))
def test_normal_inverse_gamma(m, k, a, b, x):
    prior = NormalInverseGamma(m, k, a, b)
    # Chain rule: the evidence of all is the product of one-step predictives
    belief, total = prior, 0.0
    for value in x:
        total += float(belief.predictive().logpdf(value))
        belief = belief.update([value])
    assert prior.log_evidence(x) == pytest.approx(total, rel=1e-9, abs=1e-9)
    at_once = prior.update(x)
    for name in ("location", "strength", "shape", "scale"):
        assert getattr(belief, name) == pytest.approx(getattr(at_once, name), rel=1e-9, abs=1e-12)
    # Bayes' rule pointwise
    mu, var = 0.3, 1.7
    like = float(scipy.stats.norm.logpdf(x, mu, np.sqrt(var)).sum())
    posterior = float(prior.log_density(mu, var)) + like - prior.log_evidence(x)
    assert float(at_once.log_density(mu, var)) == pytest.approx(posterior, rel=1e-9, abs=1e-9)


def test_predictive_of_mean_and_variance_by_integration():
    belief = NormalInverseGamma(0.5, 2.0, 3.0, 2.0)

    def over_variance(v):
        spread = np.sqrt(v * (1 + 1 / belief.strength))
        return belief.variance_distribution.pdf(v) * scipy.stats.norm.pdf(1.1, 0.5, spread)

    assert float(belief.predictive().pdf(1.1)) == pytest.approx(integral(over_variance, 0, 200), rel=1e-5)


@given(st.lists(positive, min_size=2, max_size=4), st.lists(st.integers(0, 1), max_size=8))
def test_dirichlet_categorical(alpha, x):
    prior = DirichletCategorical(tuple(alpha))
    belief, total = prior, 0.0
    for value in x:
        total += float(np.log(belief.predictive().pmf(value)))
        belief = belief.update([value])
    assert prior.log_evidence(x) == pytest.approx(total, rel=1e-9, abs=1e-10)
    np.testing.assert_allclose(prior.update(x).alpha, belief.alpha)
    np.testing.assert_allclose(belief.mean, np.array(belief.alpha) / sum(belief.alpha))


def test_mode_is_the_smoothed_count():
    from certifit.naive_bayes import CategoricalNB

    x = [0, 0, 2, 1, 0]
    mode = DirichletCategorical((2.0, 2.0, 2.0)).update(x).mode
    model = CategoricalNB(alpha=1.0).fit(np.array(x)[:, None], np.zeros(5))
    np.testing.assert_allclose(np.exp(model.feature_log_prob_[0][0]), mode)


def test_plots_and_bad_data():
    for belief in (BetaBernoulli(2, 3), GammaPoisson(2, 1), NormalInverseGamma(), DirichletCategorical((1, 2))):
        ax = belief.plot(label="belief")
        assert ax.get_xlabel() in ("parameter", "category")
    import matplotlib.pyplot as plt

    plt.close("all")
    for bad in (lambda: BetaBernoulli(0, 1), lambda: BetaBernoulli().update([2]), lambda: GammaPoisson().update([-1])):
        with pytest.raises(ValueError, match="must be"):
            bad()
    with pytest.raises(ValueError, match="not among 0 … 1"):
        DirichletCategorical((1, 1)).update([2])
    with pytest.raises(ValueError, match="NaN"):
        NormalKnownVariance().update([np.nan])
    with pytest.raises(ValueError, match="no single"):
        _ = BetaBernoulli(1, 1).mode
