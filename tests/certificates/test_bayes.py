"""Bayesian claims: posteriors, densities and evidence maxima against SciPy, and not to be fooled."""

import numpy as np
import pytest
import scipy.special
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from certifit.bayes import BayesianLinearRegression
from certifit.certificates import Data, issue
from certifit.certificates.bayes import digamma

RNG = np.random.default_rng(15)
TABLE = np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]])


def posterior(prior, rows):
    counts = np.array([rows.count("h"), rows.count("t")])
    joint = prior * np.prod(TABLE**counts, axis=1)
    return {
        "outcomes": ["h", "t"], "priors": prior, "likelihoods": TABLE, "posterior": joint / joint.sum(),
        "log_evidence": float(np.log(joint.sum())),
    }  # fmt: skip


@given(st.lists(st.sampled_from("ht"), min_size=1, max_size=20), st.floats(0.01, 0.98))
def test_a_posterior_is_prior_times_likelihood(rows, p):
    data = Data.of(np.array(rows, dtype=object)[:, None])
    evidence = posterior(np.array([p, (1 - p) / 2, (1 - p) / 2]), rows)
    assert issue("finite-bayes", data, evidence).holds
    wrong = evidence["posterior"][[1, 0, 2]]
    if np.max(np.abs(wrong - evidence["posterior"])) > 1e-6:
        assert not issue("finite-bayes", data, evidence | {"posterior": wrong}).holds
    assert not issue("finite-bayes", data, evidence | {"log_evidence": evidence["log_evidence"] + 1e-3}).holds
    assert not issue("finite-bayes", data, evidence | {"likelihoods": TABLE * 1.01}).holds


@pytest.mark.parametrize("least", [5e-324, 1e-310, 1e-290])
def test_a_posterior_of_hardly_possible_outcomes(least):
    table = np.array([[1.0, least], [0.5, 0.5]])
    evidence = {
        "outcomes": ["h", "t"], "priors": np.array([0.5, 0.5]), "likelihoods": table,
        "posterior": np.array([2.0 * least, 1.0]), "log_evidence": float(np.log(0.25)),
    }  # fmt: skip
    proof = issue("finite-bayes", Data.of(np.array([["t"]], dtype=object)), evidence)
    assert proof.holds
    assert proof.error < 1e-14


@pytest.mark.parametrize("x", [0.01, 0.3, 1.0, 2.5, 17.0, 1e4])
def test_digamma_is_enclosed(x):
    found = digamma(x)
    exact = float(scipy.special.digamma(x))
    assert float(found.lower) - 1e-13 * abs(exact) <= exact <= float(found.upper) + 1e-13 * abs(exact)
    assert float(found.rad) <= 1e-10 * (1 + abs(exact))


DENSITIES = {
    "normal": (lambda x: {"mean": x.mean(), "sd": x.std()}, RNG.normal(3, 2, 80)),
    "lognormal": (lambda x: {"mean": np.log(x).mean(), "sd": np.log(x).std()}, RNG.lognormal(0, 0.5, 80)),
    "exponential": (lambda x: {"scale": x.mean()}, RNG.exponential(2, 80)),
    "poisson": (lambda x: {"rate": x.mean()}, RNG.poisson(3, 80).astype(float)),
    "geometric": (lambda x: {"probability": 1 / x.mean()}, RNG.geometric(0.3, 80).astype(float)),
    "bernoulli": (lambda x: {"probability": x.mean()}, RNG.integers(0, 2, 80).astype(float)),
}


@pytest.mark.parametrize("family", DENSITIES)
def test_maximum_likelihood(family):
    fit, x = DENSITIES[family]
    parameters = {k: float(v) for k, v in fit(x).items()}
    data = Data.of(x[:, None])
    assert issue("maximum-likelihood", data, {"family": family, "parameters": parameters}).holds
    for name, value in parameters.items():
        off = parameters | {name: value * 1.001}
        assert not issue("maximum-likelihood", data, {"family": family, "parameters": off}).holds
    assert not issue("maximum-likelihood", data, {"family": family, "parameters": {}}).holds


def test_the_gamma_density_is_that_of_scipy():
    x = RNG.gamma(2.5, 1.5, 200)
    shape, _, scale = scipy.stats.gamma.fit(x, floc=0)
    data, gamma = Data.of(x[:, None]), {"shape": float(shape), "scale": float(scale)}
    found = issue("maximum-likelihood", data, {"family": "gamma", "parameters": gamma})
    assert found.figures["error"] < 1e-6
    assert (
        issue("maximum-likelihood", data, {"family": "gamma", "parameters": gamma | {"shape": 3.0}}).figures["error"]
        > 1e-3
    )


def test_the_evidence_of_a_ridge_is_level():
    X = RNG.normal(size=(40, 3))
    y = X @ [1.0, 0.0, -2.0] + RNG.normal(size=40)
    found = BayesianLinearRegression(tol=1e-12, max_iter=500).fit(X, y).certificates_
    found = next(c for c in found if c.kind == "evidence-maximum")
    assert found.holds
    for name, factor in (("alpha", 1.05), ("lambda", 1.05), ("sigma", 1.01), ("coef", 1.01)):
        forged = {**found.evidence, name: found.evidence[name] * factor}
        assert not issue("evidence-maximum", Data.of(X, y), forged).holds, name
