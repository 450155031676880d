"""Trees whose splits have as many branches as a column has values (ID3), with an exact proof of every split.

With integer counts the column of the largest information gain can be found without rounding: Σ_g n_g H(g) is the
logarithm of Π n_g^{n_g} / Π c^c over the counts c of the classes in the groups g, so two columns are compared by
comparing products of integers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import log2
from typing import Any

import numpy as np

from certifit._trace import Trace, TraceRow
from certifit._types import Array, MatrixLike, VectorLike
from certifit.tree._columns import columns_of, frame_names, is_frame


@dataclass(frozen=True)
class MultiwayNode:
    """A node: the labels of its rows, and its split, with one branch for each value.

    Attributes
    ----------
    counts : dict
        Label → number of rows.
    column : int or None
        The column of the split; None in a leaf.
    branches : dict
        Value → `MultiwayNode`.

    Examples
    --------
    >>> MultiwayNode({"yes": 3, "no": 2}).answer
    'yes'
    """

    counts: dict[Any, int]
    column: int | None = None
    branches: dict[Any, MultiwayNode] = field(default_factory=dict)

    @property
    def answer(self) -> Any:
        """The most common label (the first one in case of ties)."""
        return max(self.counts, key=lambda label: self.counts[label])


@dataclass(frozen=True)
class MultiwayTree:
    """A tree of multiway splits, from `id3`.

    Attributes
    ----------
    root : MultiwayNode
    names : list of str
        Of the columns.
    max_depth : int or None
    trace : Trace
        Every column that a node compared, with its information gain in bits.

    Examples
    --------
    >>> tree = id3([["sun", "dry"], ["sun", "wet"], ["rain", "dry"], ["rain", "wet"], ["fog", "wet"]],
    ...            ["yes", "yes", "no", "no", "yes"], feature_names=["sky", "air"])
    >>> print(tree)
    sky = sun: yes (2)
    sky = rain: no (2)
    sky = fog: yes (1)
    >>> tree.predict([["rain", "wet"], ["snow", "dry"]]).tolist()
    ['no', 'yes']
    """

    root: MultiwayNode
    names: list[str]
    max_depth: int | None
    trace: Trace = field(repr=False, compare=False)

    def predict(self, X: MatrixLike) -> Array:
        """The prediction of each row's leaf; an unseen value gets the node's most common label.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
        """
        rows = _rows(X)
        if len(rows) and len(rows[0]) != len(self.names):
            raise ValueError(f"X has {len(rows[0])} columns; the tree was grown on {len(self.names)}.")
        return np.array([self._leaf(row).answer for row in rows])

    def _leaf(self, row: Sequence[Any]) -> MultiwayNode:
        node = self.root
        while node.column is not None and row[node.column] in node.branches:
            node = node.branches[row[node.column]]
        return node

    def __str__(self) -> str:
        return "\n".join(self._lines(self.root, "")) or f"{self.root.answer} ({sum(self.root.counts.values())})"

    def _lines(self, node: MultiwayNode, indent: str) -> Iterator[str]:
        for value, child in node.branches.items():
            head = f"{indent}{self.names[node.column or 0]} = {value}"
            if child.column is None:
                yield f"{head}: {child.answer} ({sum(child.counts.values())})"
            else:
                yield head
                yield from self._lines(child, indent + "|   ")

    def verify(self, X: MatrixLike, y: VectorLike) -> bool:
        """Check in integers that counts are right and that no column gains more at any node.

        Parameters
        ----------
        X, y :
            The data.
        """
        rows, labels = _rows(X), np.asarray(y).tolist()
        if len(rows) != len(labels) or any(len(row) != len(self.names) for row in rows):
            return False
        stack = [(self.root, list(range(len(rows))), frozenset[int](), 0)]
        while stack:
            node, here, used, depth = stack.pop()
            if not here or dict(Counter(labels[i] for i in here)) != node.counts:
                return False
            open_ = [] if depth == self.max_depth else [j for j in range(len(self.names)) if j not in used]
            best = _best(rows, labels, here, open_)
            if node.column is None:
                if node.branches or best is not None:
                    return False  # a split that gains something was left out
                continue
            if node.column not in open_ or best is None:
                return False
            if _spread(rows, labels, here, node.column) > _spread(rows, labels, here, best):
                return False
            parts = _divide(rows, here, node.column)
            if set(parts) != set(node.branches):
                return False
            stack += [(node.branches[v], part, used | {node.column}, depth + 1) for v, part in parts.items()]
        return True


def id3(
    X: MatrixLike, y: VectorLike, *, max_depth: int | None = None, feature_names: Sequence[str] | None = None
) -> MultiwayTree:
    """Grow a tree by Quinlan's ID3: at each node the column of largest information gain, one branch for each value.

    A column is used at most once on a path. A node becomes a leaf when its labels agree, when no column is left
    that gains anything, or at ``max_depth``. `DecisionTreeClassifier` makes splits with two branches instead, takes
    numbers, weights and missing values, and is pruned.

    Parameters
    ----------
    X : array-like or data frame of shape (n, d)
        Categories: strings, numbers or booleans, compared for equality.
    y : array-like of shape (n,)
        Labels.
    max_depth : int ≥ 0, default=None
        Largest number of splits on a path.
    feature_names : sequence of str, default=None
        None takes those of a data frame, or x[0], x[1], …

    Returns
    -------
    MultiwayTree
        ``verify(X, y)`` proves in exact arithmetic that no other column gains more at any node.

    References
    ----------
    Quinlan (1986), Induction of decision trees. Machine Learning 1.

    Examples
    --------
    >>> tree = id3([["a"], ["b"], ["c"]], [0, 0, 1])
    >>> tree.predict([["c"]]).tolist(), tree.verify([["a"], ["b"], ["c"]], [0, 0, 1]), round(tree.trace[0].gain, 3)
    ([1], True, 0.918)
    """
    rows, labels = _rows(X), np.asarray(y).tolist()
    if not rows or len(rows) != len(labels) or np.asarray(y).ndim != 1:
        raise ValueError(f"X and y must contain the same number of rows, at least one: {len(rows)} and {len(labels)}.")
    if max_depth is not None and max_depth < 0:
        raise ValueError(f"max_depth must not be negative, got {max_depth}.")
    d = len(rows[0])
    names = list(map(str, frame_names(X))) if is_frame(X) else [f"x[{j}]" for j in range(d)]
    names = names if feature_names is None else list(feature_names)
    if len(names) != d:
        raise ValueError(f"feature_names names {len(names)} columns; X has {d}.")
    steps: list[TraceRow] = []

    def grow(here: list[int], used: frozenset[int], depth: int, where: str) -> MultiwayNode:
        counts = dict(Counter(labels[i] for i in here))
        open_ = [] if depth == max_depth else [j for j in range(d) if j not in used]
        best = _best(rows, labels, here, open_)
        for j in open_ if len(counts) > 1 else []:
            own: dict[str, Any] = {"node": where, "depth": depth, "rows": len(here), "split": names[j]}
            own |= {"gain": _gain(rows, labels, here, j), "chosen": j == best}
            steps.append(TraceRow(len(steps), **own))
        if best is None:
            return MultiwayNode(counts)
        parts = _divide(rows, here, best)
        ways = {v: f"{'' if where == 'root' else where + ', '}{names[best]} = {v}" for v in parts}
        return MultiwayNode(
            counts, best, {v: grow(part, used | {best}, depth + 1, ways[v]) for v, part in parts.items()}
        )

    return MultiwayTree(grow(list(range(len(rows))), frozenset(), 0, "root"), names, max_depth, Trace(steps))


def _rows(X: MatrixLike) -> list[tuple[Any, ...]]:
    """X as rows of plain values."""
    if is_frame(X):
        return list(zip(*(np.asarray(c, dtype=object).tolist() for c in columns_of(X))))
    return [tuple(row) for row in np.asarray(X, dtype=object).tolist()]


def _divide(rows: list[tuple[Any, ...]], here: list[int], j: int) -> dict[Any, list[int]]:
    parts: dict[Any, list[int]] = {}
    for i in here:
        parts.setdefault(rows[i][j], []).append(i)
    return parts


def _spread(rows: list[tuple[Any, ...]], labels: list[Any], here: list[int], j: int) -> Fraction:
    """2 to the power of Σ_g n_g H(g), exactly."""
    top = below = 1
    for part in _divide(rows, here, j).values():
        top *= len(part) ** len(part)
        for count in Counter(labels[i] for i in part).values():
            below *= count**count
    return Fraction(top, below)


def _best(rows: list[tuple[Any, ...]], labels: list[Any], here: list[int], open_: list[int]) -> int | None:
    """The first column of the largest gain; None where none gains anything."""
    if len({labels[i] for i in here}) < 2:
        return None
    whole = Fraction(len(here) ** len(here))
    for count in Counter(labels[i] for i in here).values():
        whole /= count**count
    found = [(_spread(rows, labels, here, j), j) for j in open_]
    least = min(found, default=None)
    return None if least is None or least[0] >= whole else least[1]


def _gain(rows: list[tuple[Any, ...]], labels: list[Any], here: list[int], j: int) -> float:
    def bits(part: list[int]) -> float:
        return sum(c * log2(len(part) / c) for c in Counter(labels[i] for i in part).values())

    return (bits(here) - sum(bits(part) for part in _divide(rows, here, j).values())) / len(here)
