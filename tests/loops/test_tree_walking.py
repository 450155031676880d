"""Walks, sums and weakest links against plain Python."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certifit.loops import tree_walking as loops
from certifit.tree._growing import Settings, grow, sort_columns
from certifit.tree._pruning import sequence_of
from certifit.tree._target import TreeTarget


def grown_tree(seed, n=25, d=2, classes=3):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, size=(n, d)).astype(float)
    y = rng.integers(0, classes, n)
    return X, grow(sort_columns(X, np.zeros(d, int)), TreeTarget(y, classes, None, None), Settings("gini")).tree


def prunings(tree, node=0):
    """The leaf sets of all prunings of a subtree."""
    yield (node,)
    if tree.children_left[node] >= 0:
        for a, b in itertools.product(
            prunings(tree, int(tree.children_left[node])), prunings(tree, int(tree.children_right[node]))
        ):
            yield a + b


@given(st.integers(0, 10_000))
def test_weakest_links_give_the_smallest_cheapest_pruning(seed):
    _, tree = grown_tree(seed, n=9)
    cost = tree.weighted_n_node_samples / tree.weighted_n_node_samples[0] * tree.impurity
    every = [(sum(cost[list(leaves)]), len(leaves)) for leaves in prunings(tree)]
    sequence = sequence_of(tree)
    grid = [*sequence.alphas, *(sequence.alphas[:-1] + sequence.alphas[1:]) / 2, 1.0]
    for alpha in grid:
        alpha = alpha * (1 + 1e-9)
        least = min(c + alpha * k for c, k in every)
        pruned = sequence.at(alpha)
        leaves = pruned.is_leaf
        share = pruned.weighted_n_node_samples[leaves] / pruned.weighted_n_node_samples[0]
        paid = (share * pruned.impurity[leaves]).sum() + alpha * leaves.sum()
        assert paid == pytest.approx(least, abs=1e-12)
        assert leaves.sum() == min(k for c, k in every if c + alpha * k <= least + 1e-12)


@given(st.integers(0, 10_000))
def test_one_walk_serves_every_alpha(seed):
    X, tree = grown_tree(seed)
    sequence = sequence_of(tree)
    grid = np.concatenate([[sequence.alphas[-1] + 1], sequence.alphas])  # unsorted on purpose
    leaves = sequence.leaves(X, grid)
    for g, alpha in enumerate(grid):
        pruned = sequence.at(alpha)
        assert np.allclose(tree.value[leaves[:, g]], pruned.value[pruned.apply(X)])


@given(st.integers(0, 10_000), st.sampled_from(["gini", "squared_error", "absolute_error"]))
def test_losses_of_every_alpha_are_those_of_the_predictions(seed, criterion):
    rng = np.random.default_rng(seed)
    X, w = rng.integers(0, 6, size=(30, 2)).astype(float), rng.random(30)
    codes, y = (rng.integers(0, 3, 30), None) if criterion == "gini" else (None, rng.normal(size=30))
    target = TreeTarget(codes, 3 if codes is not None else 0, y, w)
    sequence = sequence_of(grow(sort_columns(X[:20], np.zeros(2, int)), target.rows(np.arange(20)),
                                Settings(criterion)).tree)  # fmt: skip
    grid = np.sort(np.concatenate([sequence.alphas, rng.random(5) * 0.1]))
    guess = sequence.predict(X, grid)
    miss = guess != codes[:, None] if codes is not None else np.abs(guess - y[:, None])
    miss = miss**2 if criterion == "squared_error" else miss.astype(float)
    sums = sequence.losses(X, target, grid, criterion)
    assert sums[0] == pytest.approx(w @ miss, abs=1e-9)
    assert sums[1] == pytest.approx(w @ miss**2, abs=1e-9)


def test_add_up_and_moments():
    X, tree = grown_tree(1)
    ones = np.bincount(tree.apply(X), minlength=tree.node_count).astype(float)[:, None]
    loops.add_up(tree.parent, ones)
    assert np.array_equal(ones[:, 0], tree.n_node_samples)
    y = np.random.default_rng(0).normal(size=len(X))
    leaf = tree.apply(X)
    count = np.bincount(leaf, minlength=tree.node_count).astype(float)
    with np.errstate(invalid="ignore"):
        mean = np.nan_to_num(np.bincount(leaf, y, minlength=tree.node_count) / count)
    spread = np.bincount(leaf, (y - mean[leaf]) ** 2, minlength=tree.node_count)
    loops.merge_moments(tree.children_left, tree.children_right, count, mean, spread)
    assert mean[0] == pytest.approx(y.mean())
    assert spread[0] == pytest.approx(((y - y.mean()) ** 2).sum())


def test_paths_hold_the_ancestors():
    X, tree = grown_tree(2)
    path = tree.decision_path(X)
    for row, leaf in enumerate(tree.apply(X)):
        node, way = int(leaf), []
        while node >= 0:
            way.append(node)
            node = int(tree.parent[node])
        assert sorted(way) == sorted(path[row].indices.tolist())


def test_warm_compiles():
    loops.warm()
