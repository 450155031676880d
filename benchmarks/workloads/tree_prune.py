"""The pruning penalty of a tree by ten-fold cross-validation and the one-standard-error rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness import Entry
from benchmarks.workloads.tree import data

WHAT = "α by 10-fold CV, 20 000 × 20"
GOAL = "≥ 3× each fold's sequence once, by hand in scikit-learn"


def by_hand(X: np.ndarray, y: np.ndarray) -> Any:
    """One tree per fold; its nested trees are read off the path that `cost_complexity_pruning_path` walks.

    Every candidate α needs the fold's tree pruned at α: the node in which a row ends is found by walking up
    its decision path to the first node that is a leaf at that α, with the α of each node from the weakest
    links.
    """
    from sklearn.model_selection import StratifiedKFold
    from sklearn.tree import DecisionTreeClassifier

    full = DecisionTreeClassifier(criterion="entropy", random_state=0)
    alphas = np.unique(full.cost_complexity_pruning_path(X, y).ccp_alphas.clip(0))
    grid = np.append(np.sqrt(alphas[:-1] * alphas[1:]), alphas[-1])
    losses = np.zeros((len(y), len(grid)))
    for train, test in StratifiedKFold(10).split(X, y):
        tree = DecisionTreeClassifier(criterion="entropy", random_state=0).fit(X[train], y[train]).tree_
        collapse = _collapse(tree)
        answer = np.argmax(tree.value[:, 0], axis=1)
        path = tree.decision_path(X[test])
        for i, row in enumerate(test):
            nodes = path.indices[path.indptr[i] : path.indptr[i + 1]]
            # collapse falls along the way: the leaf at α is the first node with collapse ≤ α.
            first = np.searchsorted(-collapse[nodes], -grid, side="left")
            losses[row] = answer[nodes[first]] != y[row]
    error = losses.mean(axis=0)
    se = losses.std(axis=0) / np.sqrt(len(y))
    best = int(np.argmin(error))
    alpha = float(grid[error <= error[best] + se[best]].max())
    return DecisionTreeClassifier(criterion="entropy", random_state=0, ccp_alpha=alpha).fit(X, y)


def _collapse(tree: Any) -> np.ndarray:
    """The α at which each node becomes a leaf, by scanning for the weakest link."""
    left, right = tree.children_left, tree.children_right
    n = tree.node_count
    cost = tree.impurity * tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    parent = np.full(n, -1)
    inner = left >= 0
    parent[left[inner]] = parent[right[inner]] = np.flatnonzero(inner)
    size, branch = np.ones(n), cost.copy()
    for t in range(n - 1, -1, -1):
        if inner[t]:
            size[t] = size[left[t]] + size[right[t]]
            branch[t] = branch[left[t]] + branch[right[t]]
    collapse = np.where(inner, np.inf, -1.0)
    worth = np.where(inner, (cost - branch) / np.maximum(size - 1, 1), np.inf)
    alpha = 0.0
    while np.isinf(collapse[0]):
        t = int(np.argmin(worth))
        alpha = max(alpha, float(worth[t]))
        stack, lost, gained = [t], size[t] - 1, cost[t] - branch[t]
        while stack:
            v = stack.pop()
            if np.isinf(collapse[v]):
                collapse[v], worth[v] = alpha, np.inf
                stack += [left[v], right[v]]
        size[t], branch[t] = 1, cost[t]
        up = parent[t]
        while up >= 0:
            size[up] -= lost
            branch[up] += gained
            worth[up] = (cost[up] - branch[up]) / max(size[up] - 1, 1)
            up = parent[up]
    return collapse


def entries() -> list[Entry]:
    from certifit.tree import DecisionTreeClassifier

    X, y = data(20_000)

    def ours() -> Any:
        return DecisionTreeClassifier(criterion="entropy", pruning="cv").fit(X, y)

    def peer() -> Any:
        return by_hand(X, y)

    mine, other = ours(), peer()
    leaves = f"{mine.get_n_leaves()} leaves at α = {mine.ccp_alpha_:.3g}"
    theirs = f"{other.get_n_leaves()} leaves at α = {other.ccp_alpha:.3g}"
    return [
        Entry("certifit", ours, kind="ours", repeats=5, note=leaves),
        Entry("scikit-learn by hand", peer, repeats=3, note=theirs),
    ]
