"""The arrays of a tree: walking, counting and cutting agree with a plain recursion."""

import numpy as np
import pytest

from certifit.tree import DecisionTreeClassifier
from certifit.tree._structure import sums_per_node

RNG = np.random.default_rng(3)
X = RNG.normal(size=(200, 4))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)


@pytest.fixture(scope="module")
def tree():
    return DecisionTreeClassifier(max_depth=5).fit(X, Y).tree_


def walk(tree, x):
    """The nodes that one row passes, by the definition."""
    path = [0]
    while tree.children_left[path[-1]] >= 0:
        node = path[-1]
        down = tree.children_left if x[tree.feature[node]] <= tree.threshold[node] else tree.children_right
        path.append(int(down[node]))
    return path


def test_leaves_and_paths_are_those_of_a_plain_walk(tree):
    rows = X[:40]
    assert tree.apply(rows).tolist() == [walk(tree, x)[-1] for x in rows]
    passed = np.asarray(tree.decision_path(rows).toarray(), dtype=bool)
    assert [np.flatnonzero(p).tolist() for p in passed] == [sorted(walk(tree, x)) for x in rows]


def test_parents_depth_and_counts(tree):
    inner = np.flatnonzero(~tree.is_leaf)
    for node in inner:
        assert tree.parent[tree.children_left[node]] == tree.parent[tree.children_right[node]] == node
    assert tree.max_depth == max(len(walk(tree, x)) for x in X) - 1
    assert tree.n_leaves == tree.node_count - len(inner)


def test_sums_of_a_node_are_those_of_the_rows_that_pass_it(tree):
    weight = RNG.uniform(0.5, 2.0, len(X))
    sums = sums_per_node(tree.parent, tree.apply(X), [None, weight])
    paths = [walk(tree, x) for x in X]
    for node in range(tree.node_count):
        inside = np.array([node in p for p in paths])
        np.testing.assert_allclose(sums[node], [inside.sum(), weight[inside].sum()])


def test_a_cut_tree_stops_where_it_was_cut(tree):
    asks = ~tree.is_leaf
    cut = int(tree.children_left[0] if not tree.is_leaf[tree.children_left[0]] else tree.children_right[0])
    asks[cut] = False
    small = tree.pruned(asks)
    assert small.node_count < tree.node_count
    for x in X[:40]:
        whole = walk(tree, x)
        stop = whole.index(cut) if cut in whole else len(whole) - 1
        np.testing.assert_array_equal(small.value[walk(small, x)[-1]], tree.value[whole[stop]])
