"""Pruning: the nested sequence of trees by weakest links, and ways to choose one of them.

The cost of a tree is Σ over its leaves of (fraction of the weight × impurity) + α × number of leaves. For
every α one smallest tree costs least; these trees are nested (Breiman et al. 1984, chapter 3), so one
number per node says it all: node t is split in the tree for α exactly when α < ``collapse[t]``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from certifit._types import Array
from certifit.loops.tree_walking import add_losses, apply_many, weakest_links
from certifit.parallel import by_ranges
from certifit.tree._growing import Grown, Sorted, grow
from certifit.tree._structure import ROWS_PER_THREAD, Tree
from certifit.tree._target import TreeTarget


@dataclass(frozen=True)
class PruningSequence:
    """Every tree that cost-complexity pruning can give, in one record."""

    tree: Tree  # as grown
    alphas: Array  # rising; for alphas[i] ≤ α < alphas[i + 1] the pruned tree is the i-th
    n_leaves: Array  # of each tree
    impurities: Array  # total leaf impurity of each tree
    collapse: Array  # α from which on a node is a leaf (−1 for the leaves of the grown tree)

    def at(self, alpha: float) -> Tree:
        """The smallest tree of least cost for this α."""
        return self.tree.pruned(self.collapse > alpha)

    def leaves(self, X: Array, alphas: npt.ArrayLike) -> Array:
        """leaves[i, g]: the node of the grown tree in which row i ends when pruned at alphas[g]."""
        alphas = np.asarray(alphas, dtype=float)
        order = np.argsort(alphas, kind="stable")
        rising = alphas[order]
        out = np.empty((len(X), len(alphas)), dtype=np.int64)
        q, collapse = self.tree.splits, self.collapse
        by_ranges(lambda a, b: apply_many(X[a:b], q, collapse, rising, out[a:b]), len(X), ROWS_PER_THREAD)
        back = np.empty_like(out)
        back[:, order] = out
        return back

    def predict(self, X: Array, alphas: npt.ArrayLike) -> Array:
        """Prediction of each row (class code, or value) for each α, shape (rows, alphas)."""
        value = self.tree.value[:, 0, :]
        answer = np.argmax(value, axis=1) if self.tree.classifies else value[:, 0]
        return answer[self.leaves(X, alphas)]

    def losses(self, X: Array, target: TreeTarget, alphas: Array, criterion: str) -> Array:
        """Σ weight × loss and Σ weight × loss² on some rows for each of the rising alphas, (2, alphas).

        The loss is 1 for a wrong class, |y − value| for the absolute error, (y − value)² else.
        """
        value = self.tree.value[:, 0, :]
        weight = np.ones(target.n) if target.weight is None else target.weight
        if target.codes is not None:
            guess, y, kind = np.argmax(value, axis=1).astype(float), target.codes.astype(float), 0
        else:
            guess, y, kind = (
                value[:, 0].copy(),
                np.asarray(target.y),
                1 if criterion == "absolute_error" else 2,
            )
        out = np.zeros((2, len(alphas) + 1))
        add_losses(X, self.tree.splits, self.collapse, alphas, guess, y, weight, kind, out)
        return np.cumsum(out, axis=1)[:, :-1]


def sequence_of(tree: Tree) -> PruningSequence:
    """The whole pruning sequence of a grown tree."""
    room = int((tree.node_count - 1) // 2) + 1
    alphas, leaves, costs = np.zeros(room), np.zeros(room, dtype=np.int64), np.zeros(room)
    share = tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    count, collapse = weakest_links(
        tree.children_left, tree.children_right, share * tree.impurity, alphas, leaves, costs
    )
    return PruningSequence(tree, alphas[:count], leaves[:count], costs[:count], collapse)


@dataclass(frozen=True)
class Choice:
    """How α was chosen: candidates, their cross-validated error with its standard error, and the pick."""

    alphas: Array
    n_leaves: Array
    cv_error: Array
    cv_se: Array
    best: int
    chosen: int

    @property
    def alpha(self) -> float:
        return float(self.alphas[self.chosen])


def candidates(sequence: PruningSequence) -> Array:
    """One α inside the interval of each tree: the geometric mean of its ends (Breiman et al., 3.4)."""
    a = sequence.alphas
    return np.append(np.sqrt(a[:-1] * a[1:]), a[-1])


def choose_by_cv(
    X: Array, columns: Sorted, target: TreeTarget, settings_for: Any, sequence: PruningSequence, folds: Any
) -> Choice:
    """α by cross-validation and the one-standard-error rule.

    Each fold grows one tree (its columns are filtered from those already sorted) and answers every α at once.
    The chosen α is the largest whose error is within one standard error of the least.
    """
    alphas = candidates(sequence)
    weight = np.ones(target.n) if target.weight is None else target.weight
    sums = np.zeros((2, len(alphas)))
    for train, test in folds:
        part = target.rows(np.sort(train))
        settings = settings_for(part)
        fold = sequence_of(grow(columns.rows(np.sort(train)), part, settings).tree)
        sums += fold.losses(X[test], target.rows(test), alphas, settings.criterion)
    total = weight.sum()
    error = sums[0] / total
    spread = sums[1] - total * error**2  # Σ w (loss − error)²
    se = np.sqrt(np.maximum(spread, 0.0)) / total
    best = int(np.argmin(error))
    chosen = int(np.flatnonzero(error <= error[best] + se[best])[-1])
    return Choice(alphas, sequence.n_leaves, error, se, best, chosen)


def reduced_error(tree: Tree, X: Array, target: TreeTarget) -> Array:
    """Which nodes keep their split: those whose subtree errs less on the validation rows than they would.

    Bottom up; on equal errors the smaller tree stays (Quinlan 1987).
    """
    path = tree.decision_path(X).tocoo()
    weight = np.ones(target.n) if target.weight is None else target.weight
    value = tree.value[:, 0, :]
    if target.codes is not None:
        loss = (np.argmax(value, axis=1)[path.col] != target.codes[path.row]).astype(float)
    else:
        loss = (value[path.col, 0] - np.asarray(target.y)[path.row]) ** 2
    as_leaf = np.bincount(path.col, weight[path.row] * loss, minlength=tree.node_count)
    asks = ~tree.is_leaf
    cost = as_leaf.copy()
    for node in range(tree.node_count - 1, -1, -1):
        if asks[node]:
            below = cost[tree.children_left[node]] + cost[tree.children_right[node]]
            if below < as_leaf[node]:
                cost[node] = below
            else:
                asks[node] = False
    parent = tree.parent
    for node in range(1, tree.node_count):  # below a leaf nothing is asked
        asks[node] &= asks[parent[node]]
    return asks


def prune(grown: Grown, alpha: float) -> tuple[Tree, Array]:
    """The tree pruned at α, and which nodes of the grown tree still ask."""
    asks = sequence_of(grown.tree).collapse > alpha if alpha > 0 else ~grown.tree.is_leaf
    return grown.tree.pruned(asks), asks
