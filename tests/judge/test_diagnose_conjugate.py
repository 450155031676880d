"""Parameters of posteriors with a known slip are told what it was; right ones are called right."""

import numpy as np
import pytest

from certifit.bayes.conjugate import (
    BetaBernoulli,
    DirichletCategorical,
    GammaPoisson,
    NormalInverseGamma,
    NormalKnownVariance,
)
from certifit.judge._diagnose_conjugate import SLIPS


def beliefs(seed, n=9):
    """A prior of each family with data for it."""
    rng = np.random.default_rng(seed)
    a = rng.uniform(0.5, 4.0, size=4)
    x = rng.normal(2.0, 3.0, size=n)
    yield BetaBernoulli(a[0], a[1]), np.append(rng.integers(0, 2, size=n), [1, 1, 0])
    yield DirichletCategorical(tuple(a[:3])), np.append(rng.integers(0, 3, size=n), [0, 0, 0])
    yield GammaPoisson(a[0], a[1]), np.append(rng.poisson(3.0, size=n), 4)
    yield NormalKnownVariance(a[0], a[1], a[2]), x
    yield NormalInverseGamma(*a), x


@pytest.mark.parametrize("seed", range(60))
def test_right_posteriors_are_right(seed):
    for prior, x in beliefs(seed, 1 + seed % 20):
        own = prior.certify(x)
        assert own.holds
        assert own.verify(x[:, None]).holds
        assert own.diagnose(x).right
        one_by_one = prior
        for v in x:
            one_by_one = one_by_one.update([v])
        assert prior.certify(x, one_by_one).diagnose(x).right
        rounded = np.array([float(f"{v:.9g}") for v in own.evidence["posterior"]])
        assert prior.certify(x, rounded).diagnose(x).right


@pytest.mark.parametrize("seed", range(6))
def test_each_slip_is_named_and_proved(seed):
    for prior, x in beliefs(seed):
        own = prior.certify(x).evidence
        p, right, tried = own["prior"], own["posterior"], 0
        last = prior.certify(x[:-1]).evidence["posterior"]
        answers = [(name, formula(p, x, right)) for name, _, formula in SLIPS[own["family"]]]
        for name, wrong in [("prior alone", p), ("last observation forgotten", last), *answers]:
            if np.allclose(wrong, right, rtol=1e-3):
                continue
            found = prior.certify(x, wrong).diagnose(x)
            assert not found.right
            assert name in [f.name for f in found]
            assert all(f.certificate.holds for f in found)
            tried += 1
        assert tried >= len(SLIPS[own["family"]]) - 1


def test_something_else_is_not_explained():
    found = BetaBernoulli(1, 1).certify([1, 0, 1], (7.3, 2.9)).diagnose([1, 0, 1])
    assert not found.right
    assert not found


def test_refusals_are_one_sentence():
    prior = BetaBernoulli(1, 1)
    for posterior, words in ((GammaPoisson(1, 1), "is one as well"), ((1.0,), "2 finite"), ((np.nan, 1.0), "2 finite")):
        with pytest.raises(ValueError, match=words):
            prior.certify([1, 0], posterior)
    with pytest.raises(ValueError, match="zeros and ones"):
        prior.certify([1, 2])
