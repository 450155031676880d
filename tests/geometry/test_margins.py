"""Margins of points and sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import certifit as cf


@given(st.integers(0, 10**6), st.floats(0.01, 100))
def test_geometric_margin_is_the_signed_distance(seed, factor):
    rng = np.random.default_rng(seed)
    w, b, X = rng.normal(size=3), float(rng.normal()), rng.normal(size=(6, 3))
    y = rng.choice([-1, 1], 6)
    m = cf.margins(X, y, w, b)
    foot = X - np.outer(m.geometric * y, w / np.linalg.norm(w))  # walking that far ends on the hyperplane
    np.testing.assert_allclose(foot @ w + b, 0, atol=1e-10)
    scaled = cf.margins(X, y, factor * w, factor * b)
    np.testing.assert_allclose(scaled.geometric, m.geometric)
    np.testing.assert_allclose(scaled.functional, factor * m.functional)
    assert m.set_geometric == m.geometric.min() == m.geometric[m.nearest]
    assert m.separates == bool(np.all(y * (X @ w + b) > 0))
    assert "margin of the set" in str(m)


def test_labels_of_several_kinds_and_one_point():
    X = np.array([[2.0], [-1.0]])
    expected = [2.0, 1.0]
    for y in ([1, -1], [1, 0], [True, False], ["yes", "no"], [7, 3]):
        np.testing.assert_array_equal(cf.margins(X, y, [1.0], 0.0).functional, expected)
    assert cf.margins([0.0, 0.0], -1, [3.0, 4.0], 5.0).set_geometric == -1.0


def test_many_classes_take_the_closest_rival():
    W, b = np.array([[0.0], [1.0], [-1.0]]), np.zeros(3)
    m = cf.margins([[2.0], [-2.0], [0.5]], [1, 2, 0], W, b)
    np.testing.assert_allclose(m.functional, [2.0, 2.0, -0.5])
    np.testing.assert_allclose(m.geometric, [2.0, 2.0, -0.5])


def test_agrees_with_separability():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    y = X @ [1.0, 2.0] > 0.3
    s = cf.separability(X, y)
    assert cf.margins(X, y, s.w, s.b).set_geometric == pytest.approx(s.margin, rel=1e-9)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (([0.0, 0.0], 1.0, [[1.0, 2.0]], [1]), "not define a hyperplane"),
        (([1.0], 1.0, [[1.0, 2.0]], [1]), "shape"),
        (([1.0], 0.0, [[1.0], [2.0]], ["a", "a"]), "two labels"),
        (([1.0], np.nan, [[1.0]], [1]), "finite"),
        ((np.ones((3, 1)), np.zeros(3), [[1.0]], [1]), "labels"),
    ],
)
def test_bad_input(arguments, says):
    w, b, X, y = arguments
    with pytest.raises(ValueError, match=says):
        cf.margins(X, y, w, b)


def test_the_old_order_works_with_a_warning():
    with pytest.warns(FutureWarning, match="X and y first"):
        old = cf.margins([3.0, 4.0], -5.0, [[3.0, 4.0], [0.0, 0.0]], [1, -1])
    assert old.set_geometric == cf.margins([[3.0, 4.0], [0.0, 0.0]], [1, -1], [3.0, 4.0], -5.0).set_geometric == 1.0
