"""A fitted tree as arrays over its nodes: the splits, and what each node holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from certifit._types import Array
from certifit.loops.tree_walking import Questions, add_up, apply, paths
from certifit.parallel import by_ranges

ROWS_PER_THREAD = 50_000  # fewer rows than this are not worth a second thread


@dataclass(frozen=True)
class Tree:
    """The nodes of a tree, children after their parent, with scikit-learn's names.

    Attributes
    ----------
    children_left, children_right : int array
        −1 in a leaf.
    feature, threshold : arrays
        Column of the split (−2 in a leaf) and threshold: x ≤ threshold goes left. ``inf`` asks whether the
        value is known at all; NaN marks a categorical split, whose left-going categories are
        ``left_categories``.
    missing_go_to_left : uint8 array
        Where a missing value (or a category never seen in the node) goes.
    n_classes : int array
        Classes of each target; 1 for values.
    impurity, n_node_samples, weighted_n_node_samples, value : arrays
        What the node holds; ``value`` has shape (nodes, targets, classes) with class shares, or (nodes, targets, 1).
    group, bits : arrays
        Row of ``bits`` with the categories that go left (−1: numeric split).
    """

    n_features: int
    n_classes: Array
    children_left: Array
    children_right: Array
    feature: Array
    threshold: Array
    missing_go_to_left: Array
    group: Array
    bits: Array
    impurity: Array
    n_node_samples: Array
    weighted_n_node_samples: Array
    value: Array
    n_outputs: int = 1
    classifies: bool = False

    @property
    def max_n_classes(self) -> int:
        """The most classes of any target."""
        return int(self.n_classes.max())

    @property
    def capacity(self) -> int:
        """Room for nodes: all of it is used."""
        return self.node_count

    @property
    def node_count(self) -> int:
        return len(self.children_left)

    @property
    def is_leaf(self) -> Array:
        return self.children_left < 0

    @property
    def n_leaves(self) -> int:
        return int(np.count_nonzero(self.is_leaf))

    @property
    def parent(self) -> Array:
        """Parent of each node, −1 for the root."""
        out = np.full(self.node_count, -1)
        inner = np.flatnonzero(~self.is_leaf)
        out[self.children_left[inner]] = inner
        out[self.children_right[inner]] = inner
        return out

    @property
    def depths(self) -> Array:
        """Depth of each node; the root has depth 0."""
        out = np.zeros(self.node_count, dtype=np.int64)
        level = np.array([0])
        depth = 0
        while len(level):
            out[level] = depth
            level = level[~self.is_leaf[level]]
            level = np.concatenate([self.children_left[level], self.children_right[level]])
            depth += 1
        return out

    @property
    def max_depth(self) -> int:
        return int(self.depths.max())

    @property
    def splits(self) -> Questions:
        """The arrays that decide which way a row goes, for the loops."""
        return Questions(
            self.children_left,
            self.children_right,
            self.feature,
            self.threshold,
            self.missing_go_to_left,
            self.group,
            self.bits,
        )

    def left_categories(self, node: int) -> Array:
        """Codes of the categories that go left at a categorical split."""
        row = self.bits[self.group[node]]
        places = np.arange(64 * len(row))
        return np.flatnonzero((row[places >> 6] >> (places & 63)) & 1)

    def apply(self, X: Any) -> Array:
        """The leaf of each row."""
        X = X.toarray() if scipy.sparse.issparse(X) else X
        out = np.empty(len(X), dtype=np.int64)
        q = self.splits
        by_ranges(lambda a, b: apply(X[a:b], q, out[a:b]), len(X), ROWS_PER_THREAD)
        return out

    def predict(self, X: Array) -> Array:
        """``value`` of each row's leaf, shape (rows, classes or 1)."""
        return self.value[self.apply(X), 0, :]

    def decision_path(self, X: Any) -> scipy.sparse.csr_matrix:
        """Which nodes each row passes, as a sparse matrix of ones."""
        X = X.toarray() if scipy.sparse.issparse(X) else X
        starts = np.zeros(len(X) + 1, dtype=np.int64)
        paths(X, self.splits, starts, np.zeros(0, dtype=np.int64))
        nodes = np.zeros(starts[-1], dtype=np.int64)
        paths(X, self.splits, starts, nodes)
        ones = np.ones(len(nodes), dtype=np.intp)
        return scipy.sparse.csr_matrix((ones, nodes, starts), shape=(len(X), self.node_count))

    def compute_feature_importances(self, normalize: bool = True) -> Array:
        """Total impurity decrease per column, as fractions of their sum."""
        inner = np.flatnonzero(~self.is_leaf)
        mass = self.weighted_n_node_samples * self.impurity
        fall = mass[inner] - mass[self.children_left[inner]] - mass[self.children_right[inner]]
        out = np.bincount(self.feature[inner], np.maximum(fall, 0.0), minlength=self.n_features)
        out = out / self.weighted_n_node_samples[0]
        total = out.sum()
        return np.asarray(out / total if normalize and total > 0 else out)

    def pruned(self, asks: Array) -> Tree:
        """The tree in which only the nodes marked in ``asks`` are still split."""
        asks = asks & ~self.is_leaf
        kept = np.zeros(self.node_count, dtype=bool)
        kept[0] = True
        # Children come after their parent, so one level at a time settles who is still there.
        level = np.array([0])
        while len(level):
            level = level[asks[level]]
            level = np.concatenate([self.children_left[level], self.children_right[level]])
            kept[level] = True
        place = np.cumsum(kept) - 1
        inner = asks[kept]
        nodes = np.flatnonzero(kept)

        def child(of: Array) -> Array:
            return np.where(inner, place[of[nodes]], -1)

        return Tree(
            n_features=self.n_features,
            n_classes=self.n_classes,
            children_left=child(self.children_left),
            children_right=child(self.children_right),
            feature=np.where(inner, self.feature[nodes], -2),
            threshold=np.where(inner, self.threshold[nodes], -2.0),
            missing_go_to_left=np.where(inner, self.missing_go_to_left[nodes], 0).astype(np.uint8),
            group=np.where(inner, self.group[nodes], -1),
            bits=self.bits,
            impurity=self.impurity[nodes],
            n_node_samples=self.n_node_samples[nodes],
            weighted_n_node_samples=self.weighted_n_node_samples[nodes],
            value=self.value[nodes],
            n_outputs=self.n_outputs,
            classifies=self.classifies,
        )


def sums_per_node(parent: Array, leaf_of: Array, columns: list[Any]) -> Array:
    """Σ of each column over the rows of each node (None stands for ones)."""
    out = np.empty((len(parent), len(columns)))
    for k, column in enumerate(columns):
        out[:, k] = np.bincount(leaf_of, column, minlength=len(parent))
    add_up(parent, out)
    return out
