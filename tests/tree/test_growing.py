"""Growing: the split of the root is the best of all, found by trying every one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certifit.tree._growing import Settings, grow, resolve, sort_columns
from certifit.tree._target import TreeTarget


def gini(y):
    p = np.bincount(y) / len(y)
    return len(y) * (1.0 - (p**2).sum())


def best_gain(X, y):
    """The largest gain of any split, by trying all of them."""
    best = 0.0
    for column in X.T:
        values = np.unique(column)
        for t in (values[1:] + values[:-1]) / 2:
            left = column <= t
            best = max(best, gini(y) - gini(y[left]) - gini(y[~left]))
    return best / len(y)


@given(st.integers(0, 2**32 - 1), st.integers(4, 25))
def test_the_first_question_is_the_best_one(seed, n):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 6, (n, 3)).astype(float), rng.integers(0, 2, n)
    grown = grow(sort_columns(X, np.zeros(3, dtype=int)), TreeTarget(y, 2, None, None), Settings("gini", max_depth=1))
    assert grown.gain[0] == pytest.approx(best_gain(X, y), abs=1e-12)
    if not grown.tree.is_leaf[0]:
        left = X[:, grown.tree.feature[0]] <= grown.tree.threshold[0]
        assert np.array_equal(grown.leaf_of == grown.tree.children_left[0], left)


def test_sorting_once_serves_any_subset_of_the_rows():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(80, 4)), rng.integers(0, 3, 80)
    keep = np.flatnonzero(rng.uniform(size=80) < 0.6)
    columns = sort_columns(X, np.zeros(4, dtype=int))
    shared = grow(columns.rows(keep), TreeTarget(y, 3, None, None).rows(keep), Settings("entropy"))
    alone = grow(sort_columns(X[keep], np.zeros(4, dtype=int)), TreeTarget(y[keep], 3, None, None), Settings("entropy"))
    for name in ("feature", "children_left", "children_right"):
        np.testing.assert_array_equal(getattr(shared.tree, name), getattr(alone.tree, name))
    # A threshold may lie midway between other neighbours when more values are known; the division is the same.
    np.testing.assert_array_equal(shared.leaf_of, alone.leaf_of)


def test_best_first_takes_the_largest_gains():
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(120, 3)), rng.integers(0, 2, 120)
    columns = sort_columns(X, np.zeros(3, dtype=int))
    few = grow(columns, TreeTarget(y, 2, None, None), Settings("gini", max_leaf_nodes=5))
    assert few.tree.n_leaves == 5
    last = few.tree.node_count - 1  # the pair that was made last: what is left elsewhere gains no more
    for leaf in set(np.unique(few.leaf_of)) - {last - 1, last}:
        rows = few.leaf_of == leaf
        assert best_gain(X[rows], y[rows]) * rows.mean() <= few.gain[few.tree.parent[last]] + 1e-12


def test_shares_become_counts():
    params = {
        "criterion": "gini", "max_depth": None, "min_samples_split": 0.25, "min_samples_leaf": 0.1,
        "min_weight_fraction_leaf": 0.2, "min_impurity_decrease": 0.0, "max_leaf_nodes": None, "max_features": "sqrt",
    }  # fmt: skip
    s = resolve(params, n=50, d=16, weight=100.0, seed=1)
    assert (s.min_samples_leaf, s.min_samples_split, s.min_weight_leaf, s.max_features) == (5, 13, 20.0, 4)
    assert resolve({**params, "max_features": 0.5, "max_depth": 3}, 50, 16, 1.0, 0).max_features == 8
