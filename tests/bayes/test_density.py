"""Densities by maximum likelihood."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from certifit.bayes import fit_density
from certifit.bayes._density import _FAMILIES
from certifit.certificates._data import digest_evidence

SAMPLES = {
    "normal": scipy.stats.norm(3, 2),
    "lognormal": scipy.stats.lognorm(0.5, scale=2.0),
    "exponential": scipy.stats.expon(scale=3),
    "gamma": scipy.stats.gamma(2.5, scale=1.5),
    "poisson": scipy.stats.poisson(4),
    "bernoulli": scipy.stats.bernoulli(0.3),
    "binomial": scipy.stats.binom(8, 0.4),
    "geometric": scipy.stats.geom(0.2),
    "categorical": scipy.stats.randint(0, 4),
}


@pytest.mark.parametrize("family", SAMPLES)
@given(seed=st.integers(0, 500))
def test_no_neighbour_is_likelier(family, seed):
    x = SAMPLES[family].rvs(size=30, random_state=seed).astype(float)
    x[:2] = [1, 0] if family in ("bernoulli", "categorical") else [1, 2]
    more = {"trials": 8} if family == "binomial" else {}
    fit = fit_density(x, family, **more)
    assert fit.certificate_.holds, str(fit.certificate_)
    kind = _FAMILIES[family]
    made = fit.distribution
    total = np.sum(made.logpmf(x) if kind.discrete else made.logpdf(x))
    assert fit.log_likelihood == pytest.approx(float(total))
    for name, value in fit.parameters.items():
        if name in ("trials", "probabilities"):
            continue
        for factor in (0.97, 1.03):
            if name == "probability" and not 0 < value * factor < 1:
                continue
            other = kind.make(fit.parameters | {name: value * factor})
            logs = other.logpmf(x) if kind.discrete else other.logpdf(x)
            assert float(np.sum(logs)) <= fit.log_likelihood + 1e-9


@pytest.mark.parametrize("family", ["gamma", "lognormal", "exponential"])
def test_as_scipy_fits(family):
    x = SAMPLES[family].rvs(size=200, random_state=1)
    made = {"gamma": scipy.stats.gamma, "lognormal": scipy.stats.lognorm, "exponential": scipy.stats.expon}[family]
    theirs = np.sum(made(*made.fit(x, floc=0)).logpdf(x))
    assert fit_density(x, family).log_likelihood >= theirs - 1e-6


def test_plane_and_weights():
    rng = np.random.default_rng(0)
    X = rng.multivariate_normal([1, 2], [[2, 0.5], [0.5, 1]], 100)
    w = rng.integers(1, 4, 100)
    a = fit_density(X, "multivariate_normal", sample_weight=w)
    b = fit_density(np.repeat(X, w, axis=0), "multivariate_normal")
    np.testing.assert_allclose(a.parameters["cov"], b.parameters["cov"], rtol=1e-12)
    assert a.log_likelihood == pytest.approx(b.log_likelihood)
    assert a.aic == pytest.approx(2 * 5 - 2 * a.log_likelihood)
    assert a.certificate_.verify(X, None, w).holds
    np.testing.assert_allclose(b.parameters["cov"], np.cov(np.repeat(X, w, axis=0).T, bias=True), rtol=1e-12)


def test_tampered_densities_are_refused():
    x = SAMPLES["gamma"].rvs(size=50, random_state=0)
    c = fit_density(x, "gamma").certificate_
    assert c.verify(x[:, None]).holds
    evidence = {**c.evidence, "parameters": {**c.evidence["parameters"], "shape": 2.0}}
    wrong = c.tampered(evidence=evidence, digests={**c.digests, "evidence": digest_evidence(evidence)})
    assert not wrong.verify(x[:, None]).holds
    assert not c.verify(x[:, None] + 1).holds


@pytest.mark.parametrize(
    ("x", "family", "match"),
    [
        ([1.0, np.nan], "normal", "NaN"),
        ([2.0, 2.0], "normal", "infinitely sharp"),
        ([2.0, 2.0], "gamma", "infinitely sharp"),
        ([-1.0], "poisson", "integers"),
        ([0.0, 1.0], "lognormal", "positive"),
        ([1.0], "cauchy", "Unknown family"),
        ([], "normal", "at least one value"),
        ([1.0], "binomial", "trials"),
    ],
)
def test_bad_data_are_named(x, family, match):
    with pytest.raises(ValueError, match=match):
        fit_density(x, family)
