"""From neighbours to answers: weights, shares and means against sums in plain NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from certifit.neighbors._votes import means, refuse_all_zero, shares, weigh

DISTANCES = hnp.arrays(float, (3, 4), elements=st.floats(0.01, 50.0))
RNG = np.random.default_rng(7)
CODES = RNG.integers(0, 3, (5, 4))


@given(DISTANCES, st.floats(0.5, 5.0))
def test_weights_are_their_formulas_up_to_a_factor(d, h):
    for found, formula in ((weigh(d, "distance", None), 1.0 / d), (weigh(d, "gaussian", h), np.exp(-d * d / 2 / h**2))):
        at = np.argmin(d, axis=1)[:, None]
        nearest = np.take_along_axis(formula, at, axis=1)
        with np.errstate(invalid="ignore"):
            expected = formula / nearest
        there = (formula > 1e-290) & (nearest > 1e-290)  # where the formula underflows there is nothing to compare
        np.testing.assert_allclose(found[there], expected[there], rtol=1e-8, atol=1e-300)


def test_a_row_at_distance_zero_counts_alone_and_one_that_is_not_there_not_at_all():
    assert weigh(np.array([[0.0, 0.0, 3.0]]), "distance", None).tolist() == [[1.0, 1.0, 0.0]]
    assert weigh(np.array([[1.0, 2.0, np.inf]]), "distance", None).tolist() == [[1.0, 0.5, 0.0]]
    assert weigh(np.array([[1e-320, 1.0]]), "distance", None)[0, 0] == 1.0
    assert weigh(np.ones((1, 2)), "uniform", None) is None


@pytest.mark.parametrize("weights", [None, RNG.uniform(0.1, 1.0, (5, 4))])
def test_shares_and_means(weights):
    w = np.ones((5, 4)) if weights is None else weights
    expected = np.array([np.bincount(c, v, minlength=3) / v.sum() for c, v in zip(CODES, w)])
    np.testing.assert_allclose(shares(CODES, 3, weights), expected)
    values = RNG.normal(size=(5, 4, 2))
    np.testing.assert_allclose(means(values, weights), [np.average(v, axis=0, weights=u) for v, u in zip(values, w)])


def test_no_weight_at_all_is_refused():
    with pytest.raises(ValueError, match="zero weights"):
        refuse_all_zero(np.array([[1.0, 2.0], [0.0, 0.0]]))
    refuse_all_zero(None)
