"""Targets in fixed point, and what nodes hold: against sums in plain NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certifit.tree import DecisionTreeClassifier, DecisionTreeRegressor
from certifit.tree._target import CRITERIA, TreeTarget, fixed_point, weighted_median

RNG = np.random.default_rng(4)
X = RNG.normal(size=(150, 3))
Y = X[:, 0] ** 2 + RNG.normal(size=150)
W = RNG.uniform(0.2, 3.0, 150)
WEIGHTS = st.lists(st.tuples(st.floats(-1e3, 1e3), st.integers(1, 4)), min_size=1, max_size=12)


@given(WEIGHTS)
def test_the_weighted_median_is_that_of_the_repeated_values(pairs):
    values, weights = (np.array(v, dtype=float) for v in zip(*pairs))
    middle = weighted_median(values, weights)
    assert middle == pytest.approx(np.median(np.repeat(values, weights.astype(int))), abs=1e-12)


@pytest.mark.parametrize("weight", [None, W, np.rint(W) + 1.0])
def test_fixed_point_keeps_weights_and_centred_targets(weight):
    target = TreeTarget(None, 0, Y, weight)
    scaled = fixed_point(target, CRITERIA["squared_error"])
    w = np.ones(len(Y)) if weight is None else weight
    np.testing.assert_allclose(scaled.weights / scaled.weight_scale, w, rtol=1e-12)
    centred = w * (Y - np.average(Y, weights=w))
    unit = np.sqrt(scaled.gain_unit / scaled.weight_scale)  # one raw unit of a target
    np.testing.assert_allclose(scaled.targets * unit, centred, atol=1e-12)
    assert abs(int(scaled.targets.sum())) <= 1e-12 * float(np.abs(scaled.targets).sum())  # rounding only


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_nodes_hold_shares_and_impurity_of_their_rows(criterion):
    labels = RNG.integers(0, 3, len(X))
    model = DecisionTreeClassifier(criterion=criterion, max_depth=3).fit(X, labels, sample_weight=W)
    passed = np.asarray(model.decision_path(X).toarray(), dtype=bool)
    for node, rows in enumerate(passed.T):
        p = np.bincount(labels[rows], W[rows], minlength=3) / W[rows].sum()
        expected = 1 - (p**2).sum() if criterion == "gini" else -(p[p > 0] * np.log2(p[p > 0])).sum()
        np.testing.assert_allclose(model.tree_.value[node, 0], p, atol=1e-12)
        assert model.tree_.impurity[node] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_nodes_hold_centre_and_spread_of_their_rows(criterion):
    model = DecisionTreeRegressor(criterion=criterion, max_depth=3).fit(X, Y)
    passed = np.asarray(model.decision_path(X).toarray(), dtype=bool)
    for node, rows in enumerate(passed.T):
        y = Y[rows]
        centre = y.mean() if criterion == "squared_error" else np.median(y)
        spread = y.var() if criterion == "squared_error" else np.abs(y - centre).mean()
        assert model.tree_.value[node, 0, 0] == pytest.approx(centre, abs=1e-12)
        assert model.tree_.impurity[node] == pytest.approx(spread, abs=1e-12)
