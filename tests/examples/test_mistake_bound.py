"""Worked example 8: mistakes against (R/γ)²."""

import numpy as np

from certifit.examples import mistake_bound


def test_no_order_exceeds_the_bound_and_the_start_matters():
    r = mistake_bound.run(lambda line: None, orders=30)
    gamma, square, bound, most, median = r["rows"].T
    np.testing.assert_allclose(square, 1 / gamma**2)
    np.testing.assert_allclose(bound, square, rtol=1e-6)
    assert np.all(most <= bound)
    assert np.all(median <= most)
    assert r["far_mistakes"] > square[1]
    assert r["far_mistakes"] <= r["far_bound"]
    assert r["holds"]
    assert mistake_bound.draw(r).axes


def test_circle_has_the_margin_it_says():
    for g in mistake_bound.MARGINS:
        X, y = mistake_bound.circle(g)
        np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1)
        assert np.min(y * (X @ [0.6, 0.8])) == np.float64(g) or abs(np.min(y * (X @ [0.6, 0.8])) - g) < 1e-12
