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


class Nodes(NamedTuple):
    """The tree, one slot per node in preorder with gaps (a subtree of m rows owns 2m − 1 slots)."""

    n_rows: Array
    n_left: Array  # rows that go left; 0 for a leaf
    feature: Array
    low: Array  # ranks on either side of the threshold; high = MISSING: "is it known at all?"
    high: Array
    missing_left: Array
    gain: Array
    seed: Array
    bits: Array  # (slots, words): the categories that go left
    drawn: Array  # (slots, d): columns looked at, when only some are
    leaf_of: Array  # (n,) slot of the leaf of each row


class Scratch(NamedTuple):
    """Room to work in, one per thread."""

    side: Array  # (n,) uint8, shared: rows of distinct nodes never meet
    spare: Array  # (n,) int64
    total: Array  # (K,) int64: the node's weight per class
    left: Array  # (K,) int64
    tally: Any  # (categories + 1, K + 2) int64: class weights, rows, code; None where no column is categorical
    order: Array  # (categories + 1,) int64
    columns: Array  # (d,) int64: a permutation to draw from
    chosen: Array  # (bit words,) int64: the grouping of the best split so far
    trial: Array  # (bit words,) int64
    kept: Array  # (bit words,) int64
    tree: Any  # (2, n + 1) float64: Fenwick sums of the absolute error; None for every other criterion
    costs: Array  # (2, n + 1) float64
    local: Array  # (n,) int64: place of a row in the node's order of y


def room(n: int, n_classes: int, d: int, categories: int, absolute: bool, side: Array | None = None) -> Scratch:
    """Room for one thread to work in, for n rows and d columns of at most so many categories."""
    k, bit_words = max(n_classes, 2), max(1, -(-categories // 64))
    m = n if absolute else 0
    return Scratch(
        side=np.zeros(n, np.uint8) if side is None else side,
        spare=np.empty(n, np.int64),
        total=np.zeros(k, np.int64),
        left=np.zeros(k, np.int64),
        tally=np.zeros((categories + 1, k + 2), np.int64) if categories > 0 else None,
        order=np.zeros(categories + 1, np.int64),
        columns=np.zeros(d, np.int64),
        chosen=np.zeros(bit_words, np.int64),
        trial=np.zeros(bit_words, np.int64),
        kept=np.zeros(bit_words, np.int64),
        tree=np.zeros((2, m + 1)) if absolute else None,
        costs=np.zeros((2, m + 1)),
        local=np.zeros(m, np.int64),
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
