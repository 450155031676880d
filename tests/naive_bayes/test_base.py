"""What all naive Bayes models share: Bayes' rule in logarithms, priors and pseudo-counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import norm
from sklearn.base import clone

from certifit.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from certifit.naive_bayes._base import check_prior, class_shares, floor_alpha, smoothed_log_shares

RNG = np.random.default_rng(9)
X = RNG.normal(size=(60, 2))
Y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)


def test_posteriors_are_bayes_rule():
    model = GaussianNB().fit(X, Y)
    density = np.array([norm.pdf(X, m, np.sqrt(v)).prod(axis=1) for m, v in zip(model.theta_, model.var_)]).T
    joint = model.class_prior_ * density
    np.testing.assert_allclose(model.predict_proba(X), joint / joint.sum(axis=1, keepdims=True), rtol=1e-9)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)).sum(axis=1), 1.0)
    odds = np.log(model.predict_proba(X)[:, 1] / model.predict_proba(X)[:, 0])
    np.testing.assert_allclose(model.log_odds(X), odds, atol=1e-9)


def test_the_boundary_is_where_the_odds_are_even():
    model = GaussianNB().fit(X, Y)
    line = model.boundary()
    np.testing.assert_allclose(line.constant + X @ line.linear + X**2 @ line.quadratic, model.log_odds(X), atol=1e-9)


@pytest.mark.parametrize("model", [BernoulliNB(), MultinomialNB(), GaussianNB()])
def test_in_pieces_or_at_once(model):
    counts = np.abs(np.rint(X * 3))
    pieces = clone(model)
    for part in np.array_split(np.arange(60), 4):
        pieces.partial_fit(counts[part], Y[part], classes=[0, 1])
    np.testing.assert_allclose(pieces.predict_proba(counts), model.fit(counts, Y).predict_proba(counts), rtol=1e-6)


@given(hnp.arrays(float, (2, 4), elements=st.integers(0, 9)), st.floats(0.1, 3.0))
def test_smoothed_shares_are_probabilities(counts, alpha):
    found = np.exp(smoothed_log_shares(counts, alpha))
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_allclose(found, (counts + alpha) / (counts.sum(axis=1, keepdims=True) + 4 * alpha))


def test_shares_of_classes():
    total = np.array([1.0, 3.0])
    assert class_shares(total, True, None).tolist() == [0.25, 0.75]
    assert class_shares(total, False, None).tolist() == [0.5, 0.5]
    assert class_shares(total, True, [0.1, 0.9]).tolist() == [0.1, 0.9]
    with pytest.raises(ValueError, match="match number of classes"):
        check_prior([1.0], 2)
    with pytest.raises(ValueError, match="non-negative"):
        check_prior([-1.0, 2.0], 2)


def test_tiny_pseudo_counts_are_raised_unless_they_are_meant():
    with pytest.warns(UserWarning, match="alpha too small"):
        assert floor_alpha(0.0, False, 2) == 1e-10
    assert floor_alpha(0.0, True, 2) == 0.0
    with pytest.raises(ValueError, match="n_features"):
        floor_alpha([1.0], True, 2)
