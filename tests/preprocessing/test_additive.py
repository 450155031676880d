"""Additive features: thermometers between quantiles, shapes that add up, pairs that matter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from certifit.linear_model import Ridge
from certifit.preprocessing import AdditiveBasis


@given(arrays(float, (30, 2), elements=st.floats(-1e6, 1e6, width=32)), st.integers(1, 20))
def test_features_climb_with_their_column(X, steps):
    basis = AdditiveBasis(steps).fit(X)
    Z = basis.transform(X)
    assert Z.shape == (30, len(basis.get_feature_names_out()))
    assert np.all((Z >= 0.0) & (Z <= 1.0))
    at = 0
    for j, t in enumerate(basis.knots_):
        order, k = np.argsort(X[:, j], kind="stable"), len(t) - 1
        assert np.all(np.diff(Z[order, at : at + k], axis=0) >= 0.0)
        at += k


def test_the_shapes_add_up_to_the_model():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=200), rng.integers(0, 3, 200), rng.random(200) < 0.5])
    y = np.abs(X[:, 0]) + X[:, 1] * (X[:, 1] - 1.0) - X[:, 2]
    basis = AdditiveBasis(12).fit(X)
    model = Ridge(alpha=0.01).fit(basis.transform(X), y)
    assert model.score(basis.transform(X), y) > 0.995  # no line in these columns comes near
    total = model.intercept_ + sum(np.interp(X[:, j], *shape) for j, shape in enumerate(basis.shapes(model.coef_)))
    assert total == pytest.approx(model.predict(basis.transform(X)))


@pytest.mark.parametrize("labels", [False, True])
def test_the_pair_that_matters_is_found(labels):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 6))
    y = X[:, 4] + 2.0 * X[:, 1] * X[:, 3] + 0.3 * rng.normal(size=600)
    target = np.where(y > 0, "high", "low") if labels else y
    basis = AdditiveBasis(8, pairs=3).fit(X, target)
    assert (1, 3) in [(i, j) for i, j, _, _ in basis.pairs_]
    assert any("×" in name for name in basis.get_feature_names_out())
    noise = AdditiveBasis(8, pairs=3).fit(X, rng.permutation(target))
    assert len(noise.pairs_) <= 1  # chance finds nothing, or next to nothing


def test_limits_and_refusals():
    X = np.random.default_rng(2).normal(size=(100, 30))
    assert AdditiveBasis(50, most=120).fit_transform(X).shape[1] == 120
    assert AdditiveBasis(50, most=1).fit_transform(X).shape[1] == 90  # three steps of each column at least
    with pytest.raises(ValueError, match="chosen by the target"):
        AdditiveBasis(pairs=2).fit(X)


def test_pairs_with_columns_of_yes_and_no_are_found():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(500, 5))
    X[:, 2:] = X[:, 2:] > 0
    y = X[:, 0] * X[:, 2] + 3.0 * X[:, 3] * X[:, 4] + 0.1 * rng.normal(size=500)
    basis = AdditiveBasis(8, pairs=2).fit(X, y)
    assert [(i, j) for i, j, _, _ in basis.pairs_] == [(0, 2), (3, 4)]


def test_a_later_pair_is_told_by_what_earlier_ones_leave():
    """Copies of a column make many pairs that explain the same: they must not fill all places."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(800, 4))
    y = 3.0 * X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + 0.1 * rng.normal(size=800)
    copies = np.column_stack([X, X[:, :2] + 0.01 * rng.normal(size=(800, 2))])
    basis = AdditiveBasis(8, pairs=4).fit(copies, y)
    assert (2, 3) in [(i, j) for i, j, _, _ in basis.pairs_]


def test_products_are_limited():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(600, 4))
    y = np.prod(X, axis=1) + X[:, 0] * X[:, 1] + X[:, 1] * X[:, 2] + X[:, 2] * X[:, 3]
    basis = AdditiveBasis(8, pairs=6, products=60).fit(X, y)
    assert len(basis.pairs_) == 2
    assert basis.transform(X).shape[1] == 4 * 8 + 2 * 25
