"""The split search and the growing loop against a few lines of plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certifit.loops import tree_growing as loops
from certifit.loops import tree_sample
from certifit.loops.tree_sample import MISSING
from certifit.tree._growing import Settings, grow, sort_columns
from certifit.tree._target import TreeTarget


def impurity(y, w, criterion):
    """Weight × impurity."""
    if not len(y):
        return 0.0
    if criterion == "squared_error":
        return float((w * (y - np.average(y, weights=w)) ** 2).sum())
    if criterion == "absolute_error":
        return min(float((w * np.abs(y - c)).sum()) for c in y)
    p = np.array([w[y == c].sum() for c in np.unique(y)]) / w.sum()
    return float(w.sum() * ((1 - (p * p).sum()) if criterion == "gini" else -(p * np.log2(p)).sum()))


def best_gain(X, y, w, criterion, min_leaf=1):
    """The best gain of any split, by trying them all."""
    best, whole = -np.inf, impurity(y, w, criterion)
    for column in X.T:
        lost = np.isnan(column)
        for value in np.unique(column[~lost]):
            for send in (False, True):
                left = np.where(lost, send, column <= value)
                if min_leaf <= left.sum() <= len(y) - min_leaf:
                    parts = [impurity(y[s], w[s], criterion) for s in (left, ~left)]
                    best = max(best, whole - sum(parts))
    return best / w.sum()


@st.composite
def problems(draw):
    seed, n, d = draw(st.integers(0, 2**32 - 1)), draw(st.integers(2, 30)), draw(st.integers(1, 4))
    rng = np.random.default_rng(seed)
    X = rng.integers(0, draw(st.sampled_from([2, 5, 1000])), size=(n, d)).astype(float)
    if draw(st.booleans()):
        X[rng.random(X.shape) < 0.2] = np.nan
    weights = [None, rng.integers(1, 4, n).astype(float), rng.random(n) + 0.1]
    return X, rng, draw(st.sampled_from(weights))


@given(problems(), st.sampled_from(["gini", "entropy", "squared_error", "absolute_error"]), st.integers(1, 3))
def test_every_node_asks_the_best_question(problem, criterion, min_leaf):
    X, rng, w = problem
    n = len(X)
    classes = criterion in ("gini", "entropy")
    y = rng.integers(0, 3, n) if classes else np.round(rng.normal(size=n), 1)
    target = TreeTarget(y if classes else None, 3 if classes else 0, None if classes else y, w)
    settings = Settings(criterion, min_samples_split=2 * min_leaf, min_samples_leaf=min_leaf)
    grown = grow(sort_columns(X, np.zeros(X.shape[1], int)), target, settings)
    weight = np.ones(n) if w is None else w
    path = grown.tree.decision_path(X).toarray().astype(bool)
    assert np.array_equal(grown.tree.apply(X), grown.leaf_of)
    for node in range(grown.tree.node_count):
        rows = path[:, node]
        share = weight[rows].sum() / weight.sum()
        best = best_gain(X[rows], y[rows], weight[rows], criterion, min_leaf) * share
        if grown.tree.children_left[node] >= 0:
            assert grown.gain[node] == pytest.approx(best, abs=1e-9)
        else:
            pure = len(np.unique(y[rows])) == 1
            assert pure or rows.sum() < 2 * min_leaf or best == -np.inf


def test_threads_change_no_choice(monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(9000, 6))
    X[rng.random(X.shape) < 0.02] = np.nan
    y = rng.integers(0, 4, 9000)
    trees = []
    for threads in (1, 2, 5):
        monkeypatch.setattr("certifit.tree._growing.threads", lambda threads=threads: threads)
        grown = grow(sort_columns(X, np.zeros(6, int)), TreeTarget(y, 4, None, None), Settings("entropy"))
        trees.append(grown.tree)
    for other in trees[1:]:
        assert np.array_equal(trees[0].feature, other.feature)
        assert np.array_equal(trees[0].threshold, other.threshold)
        assert np.array_equal(trees[0].value, other.value)


def test_keep_rows_equals_sorting_again():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    keep = np.sort(rng.choice(50, 30, replace=False))
    some, again = sort_columns(X, np.zeros(3, int)).rows(keep), sort_columns(X[keep], np.zeros(3, int))
    assert np.array_equal(some.words & MISSING, again.words & MISSING)


def test_mix_spreads():
    seen = {loops.mix(i) for i in range(1000)}
    assert len(seen) == 1000
    assert min(seen) >= 0


def test_warm_compiles():
    loops.warm()
    tree_sample.warm()
