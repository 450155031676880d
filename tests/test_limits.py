"""Confidence limits: Clopper and Pearson against SciPy, and the corrected ones against their formula."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from certifit._limits import binomial_limits, corrected_limits


@given(st.integers(1, 200), st.data(), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_limits_of_a_share_are_exact(n, data, level):
    k = data.draw(st.integers(0, n))
    witness = scipy.stats.binomtest(k, n).proportion_ci(level, method="exact")
    assert binomial_limits(k, n, level) == pytest.approx((witness.low, witness.high), rel=1e-9, abs=1e-12)


def test_nothing_seen_says_nothing():
    assert binomial_limits(0, 0) == (0.0, 1.0)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=20), st.floats(0.01, 1.0))
def test_corrected_limits_are_the_formula_of_nadeau_and_bengio(scores, held_out):
    low, high, error = corrected_limits(scores, held_out)
    assert error == pytest.approx(np.sqrt((1 / len(scores) + held_out) * np.var(scores, ddof=1)))
    reach = scipy.stats.t(len(scores) - 1).ppf(0.975) * error
    assert (low, high) == pytest.approx((np.mean(scores) - reach, np.mean(scores) + reach), abs=1e-12)


def test_one_fold_has_no_interval():
    with pytest.raises(ValueError, match="at least two folds"):
        corrected_limits([0.5], 0.2)
