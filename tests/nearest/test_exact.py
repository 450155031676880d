"""Where floats cannot tell: the order is that of the real numbers, against fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certifit.nearest import _exact
from certifit.nearest._metrics import Metric
from certifit.nearest._search import Index

# Numbers whose squares vanish, overflow, or differ in their last digits only.
ODD = [0.0, 5e-324, 1e-310, 1e-170, 1e-130, 1.0, 1.0 + 2**-52, 1.0 - 2**-53, 3.0, 1e155, 1e300]
rows = st.lists(st.lists(st.sampled_from(ODD + [-v for v in ODD]), min_size=2, max_size=2), min_size=2, max_size=7)


def truth(X, q, metric):
    """Rows in exact order, by fractions."""

    def key(x):
        xs, qs = [Fraction(v) for v in x], [Fraction(v) for v in q]
        if metric.name == "cosine":
            s, size = sum(a * b for a, b in zip(xs, qs)), sum(a * a for a in xs)
            return Fraction(0) if size == 0 else (-1 if s > 0 else 1) * s * s / size
        gaps = [abs(a - b) for a, b in zip(xs, qs)]
        return max(gaps) if metric.name == "chebyshev" else sum(g ** int(metric.p) for g in gaps)

    return sorted(range(len(X)), key=lambda i: (key(X[i]), i))


@pytest.mark.parametrize(
    "metric", [Metric(), Metric("manhattan", 1.0), Metric("chebyshev"), Metric("minkowski", 3.0), Metric("cosine")],
    ids=lambda m: m.name,
)  # fmt: skip
@given(rows, st.data())
def test_the_order_is_that_of_the_real_numbers(metric, table, data):
    X = np.array(table)
    q = np.array([data.draw(st.sampled_from(table))]) if data.draw(st.booleans()) else np.array([table[0]]) / 3.0
    k = data.draw(st.integers(1, len(X)))
    distances, found = Index(X, metric).query(q, k)
    assert found[0].tolist() == truth(X, q[0], metric)[:k]
    assert np.all(np.diff(distances[0]) >= 0)


@pytest.mark.parametrize("metric", ["cosine", "minkowski"])
def test_nearly_equal_rows_are_told_apart(metric):
    rng = np.random.default_rng(0)
    for _ in range(20):
        base = rng.normal(size=3)
        X = base + rng.integers(-3, 4, size=(30, 3)) * 2.0**-53
        m = Metric(metric, 3.0 if metric == "minkowski" else 2.0)
        q = base + rng.normal(size=3) * 1e-9
        assert Index(X, m).query(q[None], 10)[1][0].tolist() == truth(X, q, m)[:10]


def test_groups_are_left_out_and_missing_places_filled():
    X = np.array([[1e300], [1e-300], [2e300], [0.0]])
    distances, found = Index(X, Metric()).query(X, 3, np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]))
    assert found.tolist() == [[2, 3, 4], [3, 2, 4], [0, 1, 4], [1, 0, 4]]
    assert np.isinf(distances[:, 2]).all()
    np.testing.assert_allclose(distances[:, 0], [1e300, 1e-300, 1e300, 1e-300])


def test_roots_of_numbers_beyond_the_floats():
    assert _exact._root(Fraction(10) ** 602, 2) == pytest.approx(1e301)
    assert _exact._root(Fraction(1, 10**900), 3) == pytest.approx(1e-300)
    assert _exact._root(Fraction(10) ** 700, 2) == math.inf
    assert _exact._root(Fraction(0), 2) == 0.0


def test_ordinary_numbers_raise_no_doubt(monkeypatch):
    rng = np.random.default_rng(1)
    X, Q = rng.normal(size=(200, 3)), rng.normal(size=(50, 3))

    def never(*_):
        raise AssertionError("redone without need")

    monkeypatch.setattr(_exact.ExactOrder, "redo", never)
    for metric in (Metric(), Metric("cosine"), Metric("minkowski", 3.0)):
        Index(np.vstack([X, X[:5]]), metric).query(Q, 4)
