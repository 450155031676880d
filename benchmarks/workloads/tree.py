"""A classification tree of 100 000 rows by 20 columns, grown by entropy until every leaf is pure."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness import Entry

WHAT = "100 000 × 20, entropy, to purity"
GOAL = "≥ 3× scikit-learn, same splits"


def data(n: int = 100_000, d: int = 20, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Noisy labels; single-precision numbers, so that scikit-learn's rounding of X changes nothing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32)
    score = X[:, :5].sum(axis=1) + X[:, 5] * X[:, 6] + rng.normal(size=n)
    return X, (score > 0).astype(int)


def agreement(ours: Any, theirs: Any) -> str:
    """How many nodes, walking both trees from the root, divide the same rows the same way."""
    a, b = ours.tree_, theirs.tree_
    same, differ, stack = 0, 0, [(0, 0)]
    while stack:
        i, j = stack.pop()
        if a.children_left[i] < 0 and b.children_left[j] < 0:
            continue
        if a.feature[i] == b.feature[j] and a.threshold[i] == b.threshold[j]:
            same += 1
            stack += [(a.children_left[i], b.children_left[j]), (a.children_right[i], b.children_right[j])]
        else:
            differ += 1  # equal gains: the first column wins here, a random one there
    return f"{same} splits the same from the root on, {differ} ties broken otherwise"


def entries() -> list[Entry]:
    from sklearn.tree import DecisionTreeClassifier as Peer

    from certifit.tree import DecisionTreeClassifier

    X, y = data()

    def ours() -> Any:
        return DecisionTreeClassifier(criterion="entropy").fit(X, y)

    def peer() -> Any:
        return Peer(criterion="entropy", random_state=0).fit(X, y)

    return [
        Entry("certifit", ours, kind="ours", repeats=5, note=agreement(ours(), peer())),
        Entry("scikit-learn", peer, repeats=3),
    ]
