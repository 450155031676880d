"""Isotonic regression: the exact optimum, its conditions, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from certifit.certificates import Data, issue
from certifit.certificates.isotonic import pooled

ROWS = st.lists(st.tuples(st.integers(0, 6), st.integers(-3, 3), st.integers(1, 4)), min_size=2, max_size=14)


@settings(max_examples=60, deadline=None)
@given(ROWS)
def test_scikit_learns_fit_is_proved_optimal(rows):
    x, y, w = (np.array(v, dtype=float) for v in zip(*rows))
    scores = np.unique(x)
    values = IsotonicRegression().fit(x, y, sample_weight=w).predict(scores)
    certificate = issue("isotonic", Data.of(x[:, None], y, w), {"scores": scores, "values": values})
    assert certificate.holds, certificate.failures
    assert certificate.gap < 1e-15 * (1 + np.abs(y).max() ** 2)
    assert certificate.verify(x[:, None], y, w).holds
    sums = [float(w[x == s] @ y[x == s]) for s in scores]
    np.testing.assert_allclose(pooled(sums, [float(w[x == s].sum()) for s in scores]), values, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(ROWS, st.integers(0, 10**6))
def test_the_gap_of_any_rising_function_is_exact(rows, seed):
    x, y, w = (np.array(v, dtype=float) for v in zip(*rows))
    scores = np.unique(x)
    best = IsotonicRegression().fit(x, y, sample_weight=w).predict(scores)
    other = np.sort(np.random.default_rng(seed).normal(size=len(scores)))
    certificate = issue("isotonic", Data.of(x[:, None], y, w), {"scores": scores, "values": other})
    at = np.searchsorted(scores, x)
    excess = np.average((y - other[at]) ** 2 - (y - best[at]) ** 2, weights=w)
    assert certificate.gap == pytest.approx(excess, rel=1e-9, abs=1e-12)


def test_falling_values_and_other_scores_are_refused():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 2.0, 1.0])
    falling = issue(
        "isotonic", Data.of(X, y), {"scores": np.array([0.0, 1.0, 2.0]), "values": np.array([0.0, 2.0, 1.0])}
    )
    assert not falling.holds
    missing = issue("isotonic", Data.of(X, y), {"scores": np.array([0.0, 2.0]), "values": np.array([0.0, 1.5])})
    assert not missing.holds
