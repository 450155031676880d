"""What the growing loop works on: columns sorted once, the rules, the nodes, and room to work in.

Row i of ``words`` is column i in sorted order, one 64-bit word per training row: rank of the value
<< 32 | row. A missing value has the rank `MISSING`, so it stands last.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from certifit._types import Array
from certifit.loops._jit import njit
from certifit.loops._tiers import tiered

MISSING = 2**31 - 1


class Sample(NamedTuple):
    """What is learnt from: sorted columns, coded target, fixed-point weights, and the table of n log2 n."""

    words: Array  # (d, n) int64; one more row in order of y for the absolute error
    sizes: Array  # (d,) int64: 0 for a numeric column, else its number of categories
    codes: Array  # (n,) int32 classes (zeros in regression)
    targets: Array  # (n,) int64: weight × target in fixed point (regression)
    values: Array  # (n,) float64 centred target (regression)
    weights: Array  # (n,) int64: weight in fixed point
    table: Array  # n log2 n in fixed point, when weights are whole numbers
    steps: Array  # table[i+1] − table[i]


class Rules(NamedTuple):
    """When to stop, and what a good split is."""

    criterion: int
    n_classes: int
    whole: bool  # weights are whole numbers with a sum below 2**31
    unit_weights: bool  # all weights are 1
    max_depth: int
    min_split: int
    min_leaf: int
    min_weight: float
    min_gain: float
    max_features: int


# Rows of `Nodes.numbers`
N_ROWS, N_LEFT, FEATURE, LOW, HIGH, MISSING_LEFT, SEED = range(7)


class Nodes(NamedTuple):
    """The tree, one slot per node in preorder with gaps (a subtree of m rows owns 2m − 1 slots).

    All whole numbers stand in one array, because every array of a tuple makes each call longer to compile.
    """

    numbers: Array  # (7, slots) int64, see the properties
    gain: Array
    bits: Array  # (slots, words): the categories that go left
    drawn: Array  # (slots, d): columns looked at, when only some are
    leaf_of: Array  # (n,) slot of the leaf of each row

    @property
    def n_rows(self) -> Array:
        """The rows of each node; 0 where a slot is empty."""
        return self.numbers[N_ROWS]

    @property
    def n_left(self) -> Array:
        """Rows that go left; 0 for a leaf."""
        return self.numbers[N_LEFT]

    @property
    def feature(self) -> Array:
        """The column of each split."""
        return self.numbers[FEATURE]

    @property
    def low(self) -> Array:
        """The rank below the threshold."""
        return self.numbers[LOW]

    @property
    def high(self) -> Array:
        """The rank above the threshold; `MISSING`: "is it known at all?"."""
        return self.numbers[HIGH]

    @property
    def missing_left(self) -> Array:
        """1 where missing values go left."""
        return self.numbers[MISSING_LEFT]

    @property
    def seed(self) -> Array:
        """What the columns of a node are drawn with."""
        return self.numbers[SEED]


class Groups(NamedTuple):
    """Room for categorical columns."""

    tally: Array  # (categories + 1, K + 2) int64: class weights, rows, code
    shares: Array  # (categories + 1,) float64: what the categories are ordered by
    order: Array  # (categories + 1,) int64
    chosen: Array  # (bit words,) int64: the grouping of the best split so far
    trial: Array  # (bit words,) int64
    kept: Array  # (bit words,) int64


class Deviations(NamedTuple):
    """Room for the absolute error."""

    tree: Array  # (2, n + 1) float64: Fenwick sums
    costs: Array  # (2, n + 1) float64
    local: Array  # (n,) int64: place of a row in the node's order of y


class Scratch(NamedTuple):
    """Room to work in, one per thread."""

    side: Array  # (n,) uint8, shared: rows of distinct nodes never meet
    spare: Array  # (n,) int64
    total: Array  # (K,) int64: the node's weight per class
    left: Array  # (K,) int64
    columns: Array  # (d,) int64: a permutation to draw from
    groups: Any  # `Groups`; None where no column is categorical
    deviations: Any  # `Deviations`; None for every other criterion

    @property
    def chosen(self) -> Array:
        """The grouping of the best split so far, empty where no column is categorical."""
        return np.zeros(0, np.int64) if self.groups is None else self.groups.chosen


def room(n: int, n_classes: int, d: int, categories: int, absolute: bool, side: Array | None = None) -> Scratch:
    """Room for one thread to work in, for n rows and d columns of at most so many categories."""
    k, bit_words = max(n_classes, 2), max(1, -(-categories // 64))
    groups = Groups(
        tally=np.zeros((categories + 1, k + 2), np.int64),
        shares=np.zeros(categories + 1),
        order=np.zeros(categories + 1, np.int64),
        chosen=np.zeros(bit_words, np.int64),
        trial=np.zeros(bit_words, np.int64),
        kept=np.zeros(bit_words, np.int64),
    )
    return Scratch(
        side=np.zeros(n, np.uint8) if side is None else side,
        spare=np.empty(n, np.int64),
        total=np.zeros(k, np.int64),
        left=np.zeros(k, np.int64),
        columns=np.arange(d),
        groups=groups if categories > 0 else None,
        deviations=Deviations(np.zeros((2, n + 1)), np.zeros((2, n + 1)), np.zeros(n, np.int64)) if absolute else None,
    )


@tiered(lambda order, column, known, words, values: 1e-6 * len(order))
@njit(nogil=True, error_model="numpy")
def rank_words(order: Array, column: Array, known: int, words: Array, values: Array) -> Any:
    """Words of one column from its sorted order, and the value of each rank; returns how many there are."""
    rank = np.int64(-1)
    for i in range(len(order)):
        row = order[i]
        if i >= known:
            words[i] = (np.int64(MISSING) << 32) | row
            continue
        if i == 0 or column[row] != column[order[i - 1]]:
            rank += 1
            values[rank] = column[row]
        words[i] = (rank << 32) | row
    return rank + 1


@tiered(lambda words, place, out: 8e-7 * words.size)
@njit(nogil=True, error_model="numpy")
def keep_rows(words: Array, place: Array, out: Array) -> None:
    """The words of some of the rows, renumbered by ``place`` (−1: left out); ranks stay."""
    for f in range(words.shape[0]):
        j = 0
        for i in range(words.shape[1]):
            row = place[words[f, i] & MISSING]
            if row >= 0:
                out[f, j] = (words[f, i] >> 32 << 32) | row
                j += 1


def warm() -> None:
    """Compile both loops for the types in use."""
    words = np.empty((1, 2), np.int64)
    for dtype in (np.float32, np.float64):
        column = np.array([1.0, 2.0], dtype)
        rank_words(np.arange(2), column, 2, words[0], column.copy())
    keep_rows(words, np.arange(2), words.copy())
