"""Posteriors of conjugate priors are proved in exact rationals, and nothing else is."""

from fractions import Fraction

import numpy as np
import pytest

from certifit.bayes.conjugate import BetaBernoulli, NormalKnownVariance
from certifit.certificates import Data, issue
from certifit.certificates.conjugate import updated


def test_the_figure_is_an_upper_bound_of_the_error():
    x = np.array([[0.1], [0.2], [0.7]])
    prior, stated = np.array([0.3, 2.0, 0.7]), NormalKnownVariance(0.3, 2.0, 0.7).update(x)
    told = np.array([stated.location, stated.variance, stated.noise])
    c = issue("conjugate-posterior", Data.of(x), {"family": "normal", "prior": prior, "posterior": told})
    assert c.holds
    right = updated("normal", [Fraction(float(v)) for v in prior], [Fraction(float(v)) for v in x[:, 0]])
    assert abs(Fraction(float(told[1])) - right[1]) / right[1] <= Fraction(c.error)
    assert c.error < 1e-15


@pytest.mark.parametrize("change", [1e-6, -1e-6, 1.0])
def test_other_parameters_are_refused(change):
    x = [1, 0, 1]
    right = BetaBernoulli(2, 3).certify(x)
    assert right.claim.startswith("The Beta posterior after 3 observations has the parameters (4, 4)")
    for j in range(2):
        told = right.evidence["posterior"].copy()
        told[j] += change
        assert not BetaBernoulli(2, 3).certify(x, told).holds


@pytest.mark.parametrize(
    "changed",
    [
        {"family": "gamma ray"}, {"prior": np.array([0.0, 1.0])}, {"prior": np.array([-1.0, 1.0])}, {"prior": np.ones(3)},
        {"posterior": np.ones((2, 1))}, {"posterior": np.ones(3)}, {"more": 1.0},
    ],
)  # fmt: skip
def test_evidence_of_another_form_is_refused(changed):
    right = BetaBernoulli(2, 3).certify([1, 0, 1])
    assert not issue("conjugate-posterior", Data.of(np.array([[1.0], [0], [1]])), {**right.evidence, **changed}).holds


@pytest.mark.parametrize(
    ("family", "x"), [("beta", [[2.0]]), ("beta", [[0.5]]), ("gamma", [[-1.0]]), ("dirichlet", [[2.0]]),
                      ("gamma", [[0.5]]), ("beta", [[1.0, 0.0]])],
)  # fmt: skip
def test_observations_that_the_family_does_not_allow(family, x):
    told = {"family": family, "prior": np.ones(2), "posterior": np.ones(2)}
    assert not issue("conjugate-posterior", Data.of(np.array(x)), told).holds


def test_weights_and_targets_are_no_part_of_it():
    right = BetaBernoulli(2, 3).certify([1, 0])
    x = np.array([[1.0], [0.0]])
    assert issue("conjugate-posterior", Data.of(x), right.evidence).holds
    assert not issue("conjugate-posterior", Data.of(x, np.ones(2)), right.evidence).holds
    assert not issue("conjugate-posterior", Data.of(x, None, np.ones(2)), right.evidence).holds
