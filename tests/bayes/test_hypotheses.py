"""Finite Bayes: the candy bag, laws, and the proof."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certifit.bayes import HypothesisSpace
from certifit.bayes._hypotheses import as_column
from certifit.certificates import Certificate
from certifit.certificates._data import digest_evidence

PRIORS = {"h1": 0.1, "h2": 0.2, "h3": 0.4, "h4": 0.2, "h5": 0.1}
LIMES = {"h1": 0.0, "h2": 0.25, "h3": 0.5, "h4": 0.75, "h5": 1.0}
TABLE = {h: {"cherry": 1 - p, "lime": p} for h, p in LIMES.items()}


@pytest.fixture
def bag():
    return HypothesisSpace(PRIORS, TABLE)


def by_hand(outcomes):
    joint = {}
    for h, p in PRIORS.items():
        value = Fraction(str(p))
        for o in outcomes:
            value *= Fraction(str(TABLE[h][o]))
        joint[h] = value
    return joint


def test_ten_limes(bag):
    e = ["lime"] * 10
    assert bag.evidence(e) == pytest.approx(0.11165, abs=5e-6)
    assert bag.posterior(e)["h4"] == pytest.approx(0.10087, abs=5e-6)
    assert bag.map(e) == bag.ml(e) == "h5"
    assert bag.predict(e)["lime"] == pytest.approx(0.973, abs=1e-3)


@given(st.lists(st.sampled_from(["lime", "cherry"]), max_size=30))
def test_against_exact_fractions(outcomes):
    bag, joint = HypothesisSpace(PRIORS, TABLE), by_hand(outcomes)
    total = sum(joint.values())
    assert bag.evidence(outcomes) == pytest.approx(float(total), rel=1e-12)
    for h, p in bag.posterior(outcomes).items():
        assert p == pytest.approx(float(joint[h] / total), rel=1e-12, abs=1e-15)
    next_lime = sum(joint[h] * Fraction(str(LIMES[h])) for h in PRIORS) / total
    assert bag.predict(outcomes)["lime"] == pytest.approx(float(next_lime), rel=1e-12)
    certificate = bag.certify(outcomes)
    assert certificate.holds, certificate
    assert certificate.verify(as_column(outcomes)).holds


def test_after_each_observation(bag):
    path = bag.posteriors(["lime"] * 3)
    assert path[0] == pytest.approx(PRIORS)
    assert [round(p["h5"], 4) for p in path] == [0.1, 0.2, 0.3077, 0.4211]


def test_a_thousand_observations_do_not_underflow(bag):
    e = ["lime"] * 900 + ["cherry"] * 300
    assert bag.evidence(e * 10) == 0.0
    assert np.isfinite(bag.log_evidence(e * 10))
    assert bag.posterior(e)["h4"] == pytest.approx(1.0)


def test_prior_decides_map_but_not_ml(bag):
    assert bag.ml(["lime"]) == "h5"
    assert bag.map(["lime"]) == "h3"


def test_numbers_as_outcomes():
    space = HypothesisSpace({0: 0.5, 1: 0.5}, {0: {1: 0.5, 2: 0.5}, 1: {1: 0.9, 2: 0.1}})
    c = space.certify([1, 1, 2])
    assert c.holds
    assert c.verify(as_column([1, 1, 2])).holds


def test_tampering_is_refused(bag):
    e = ["lime", "lime", "cherry"]
    c = bag.certify(e)
    data = as_column(e)
    assert Certificate.from_dict(c.to_dict()).verify(data).holds

    def resealed(**changes):
        evidence = {**c.evidence, **changes}
        return c.tampered(evidence=evidence, digests={**c.digests, "evidence": digest_evidence(evidence)})

    assert not resealed(posterior=np.roll(c.evidence["posterior"], 1)).verify(data).holds
    assert not resealed(priors=np.full(5, 0.2)).verify(data).holds
    assert not resealed(log_evidence=c.log_evidence + 1e-3).verify(data).holds
    assert not resealed(likelihoods=c.evidence["likelihoods"] * 1.01).verify(data).holds
    assert not c.verify(as_column(["lime", "lime", "lime"])).holds
    assert not c.tampered(figures={**c.figures, "log_evidence": -1.0}).verify(data).holds


def test_bad_spaces_are_named():
    with pytest.raises(ValueError, match=r"sum to 0\.9"):
        HypothesisSpace({"a": 0.9}, {"a": {"x": 1.0}})
    with pytest.raises(ValueError, match="likelihoods of hypothesis 'a'"):
        HypothesisSpace({"a": 1.0}, {"a": {"x": 0.7}})
    with pytest.raises(ValueError, match="same hypotheses"):
        HypothesisSpace({"a": 1.0}, {"b": {"x": 1.0}})
    bag = HypothesisSpace({"a": 0.5, "b": 0.5}, {"a": {"x": 1.0}, "b": {"x": 1.0, "y": 0.0}})
    with pytest.raises(ValueError, match="No hypothesis knows"):
        bag.posterior(["z"])
    with pytest.raises(ValueError, match="Every hypothesis excludes"):
        bag.posterior(["y"])
