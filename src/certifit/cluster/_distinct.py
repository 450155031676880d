"""Rows in a form that does not depend on their order or on how copies are written: different ones, sorted, weighted.

A weight of w and w copies, in any order, then lead to the same start, the same moves and the same clusters.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import scipy.sparse

from certifit._types import Array, Matrix


def distinct_rows(X: Matrix, weights: Array) -> tuple[Matrix, Array, Array]:
    """Different rows of positive weight in a fixed order, their weights, and where each row went (−1: no weight)."""
    live = np.flatnonzero(weights > 0)
    order = live[_sorted(X[live] if len(live) < X.shape[0] else X)]
    rows = X[order]
    new = np.ones(len(order), dtype=bool)
    if scipy.sparse.issparse(X):
        keys = _keys(rows)
        new[1:] = [a != b for a, b in pairwise(keys)]
    else:
        new[1:] = rows[1:, 0] != rows[:-1, 0]
        same = np.flatnonzero(~new[1:])  # only rows that agree in the first column need a closer look
        new[same + 1] = np.any(rows[same + 1] != rows[same], axis=1)
    group = np.cumsum(new) - 1
    place = np.full(X.shape[0], -1, dtype=np.int64)
    place[order] = group
    count = int(group[-1]) + 1
    return (rows if count == len(order) else rows[new]), np.bincount(group, weights[order], count), place


def _keys(X: Matrix) -> list[tuple[bytes, bytes]]:
    X = X.tocsr()
    X.sort_indices()
    X.eliminate_zeros()
    ends = zip(X.indptr[:-1], X.indptr[1:])
    return [(X.indices[a:b].tobytes(), X.data[a:b].tobytes()) for a, b in ends]


def _sorted(X: Matrix) -> Array:
    """An order of the rows that depends on their contents alone."""
    if scipy.sparse.issparse(X):
        keys = _keys(X.copy())
        return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)
    order = np.argsort(X[:, 0], kind="stable")
    first = X[order, 0]
    tied = np.zeros(len(order), dtype=bool)
    tied[1:] = first[1:] == first[:-1]
    tied[:-1] |= tied[1:]
    if tied.any():  # later columns decide among equals; those stand together, so sorting them in place is enough
        at = np.flatnonzero(tied)
        rows = order[at]
        order[at] = rows[np.lexsort(X[rows].T[::-1])]
    return order
