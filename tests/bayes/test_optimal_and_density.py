"""What is optimal when all is known, and densities by maximum likelihood."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from certifit.bayes import BayesOptimal, fit_density
from certifit.bayes._density import _FAMILIES
from certifit.certificates._data import digest_evidence


def test_two_normals():
    best = BayesOptimal({"a": 0.3, "b": 0.7}, {"a": scipy.stats.norm(-1), "b": scipy.stats.norm(1)})
    cut = 0.5 * np.log(0.3 / 0.7)
    assert best.predict([cut - 1e-6, cut + 1e-6]).tolist() == ["a", "b"]
    closed = 0.3 * scipy.stats.norm.sf(cut + 1) + 0.7 * scipy.stats.norm.cdf(cut - 1)
    assert best.error(support=(-12, 12)) == pytest.approx(closed, rel=1e-9)
    assert best.error(draws=200_000, random_state=0) == pytest.approx(closed, abs=0.003)
    p = best.predict_proba([[0.0]])
    assert p[0, 1] == pytest.approx(0.7)


def test_no_rule_beats_it_in_the_plane():
    densities = {k: scipy.stats.multivariate_normal(m, c) for k, m, c in ((0, [0, 0], [1, 2]), (1, [1, 1], [2, 1]))}
    best = BayesOptimal({0: 0.5, 1: 0.5}, densities)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 40_000)
    X = np.where(y[:, None] == 0, rng.multivariate_normal([0, 0], np.diag([1, 2]), 40_000), 0.0)
    X += np.where(y[:, None] == 1, rng.multivariate_normal([1, 1], np.diag([2, 1]), 40_000), 0.0)
    wrong = np.mean(best.predict(X) != y)
    assert wrong == pytest.approx(best.error(draws=40_000, random_state=1), abs=0.01)
    for angle in np.linspace(0, np.pi, 7):
        line = (X @ [np.cos(angle), np.sin(angle)] > 0.5).astype(int)
        assert min(np.mean(line != y), np.mean(line == y)) > wrong - 0.005


def test_discrete_classes_and_functions():
    best = BayesOptimal({"few": 0.5, "many": 0.5}, {"few": scipy.stats.poisson(1), "many": scipy.stats.poisson(5)})
    assert best.predict([[0], [2], [3]]).tolist() == ["few", "few", "many"]
    by_hand = BayesOptimal(
        {"u": 0.5, "v": 0.5}, {"u": lambda X: np.where(X[:, 0] < 0.5, 2.0, 0.0), "v": lambda X: 1.0 + 0 * X[:, 0]}
    )
    assert by_hand.predict([[0.2], [0.7]]).tolist() == ["u", "v"]


def test_regression_function():
    def joint(x, y):
        return scipy.stats.norm.pdf(x) * scipy.stats.norm.pdf(y, np.sin(x), 0.5)

    best = BayesOptimal(joint=joint, support=(-np.inf, np.inf))
    x = np.array([-1.0, 0.3, 2.0])
    np.testing.assert_allclose(best.predict(x), np.sin(x), atol=1e-8)
    np.testing.assert_allclose(best.noise(x), 0.25, atol=1e-8)


def test_bad_problems_are_named():
    for arguments, match in [
        ({}, "Give either"),
        ({"joint": lambda x, y: y}, "support"),
        ({"priors": {"a": 1.0}, "densities": {"b": scipy.stats.norm()}}, "same classes"),
        ({"priors": {"a": 0.4}, "densities": {"a": scipy.stats.norm()}}, "sum to one"),
    ]:
        with pytest.raises(ValueError, match=match):
            BayesOptimal(**arguments)
    with pytest.raises(ValueError, match="regression problem"):
        BayesOptimal(joint=lambda x, y: y, support=(0, 1)).predict_proba([[0.0]])


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
        ([-1.0], "poisson", "whole numbers"),
        ([0.0, 1.0], "lognormal", "positive"),
        ([1.0], "cauchy", "Unknown family"),
        ([], "normal", "at least one value"),
        ([1.0], "binomial", "trials"),
    ],
)
def test_bad_data_are_named(x, family, match):
    with pytest.raises(ValueError, match=match):
        fit_density(x, family)
