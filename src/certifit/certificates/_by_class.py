"""Sums over the rows of each class, with rounding bounds: what proofs of counts, means and variances begin with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse

from certifit._types import Array, Matrix
from certifit.certificates._ball import ETA, UNIT, Ball, ball, rationals
from certifit.certificates._data import Data, Rigor
from certifit.certificates._row_sums import sum_slack

_ROWS = 4096  # rows recounted at a time: bounds the length of every sum, and the memory
_ENTRIES = 1 << 15  # and entries: with a copy they stay in the cache of a core
_VERY_FEW = 4  # classes up to which products with one vector a class are faster than with a matrix of so few rows
_FEW = 32  # classes up to which a dense table of who is in which is faster than a sparse one


def class_codes(y: Array | None, classes: Array) -> Array:
    """Index of each label in ``classes``; −1 for a label that is not among them: the word "1" is not the number 1."""
    if y is None:
        raise ValueError("labels are needed")
    place = {_label(c): k for k, c in enumerate(np.asarray(classes).tolist())}
    numbers = y.ndim == 1 and y.dtype.kind in "biuf" and y.dtype.itemsize <= 8
    if numbers and len(classes) <= _FEW:
        return _compared(y, place)
    values, which = np.unique(y, return_inverse=True) if numbers else (y, slice(None))  # each value is looked up once
    return np.array([place.get(_label(v), -1) for v in values.tolist()], dtype=int)[which]


def _compared(y: Array, place: dict[float | str, int]) -> Array:
    """The same for numbers and few classes: comparing all labels with every class takes less time than sorting them."""
    codes = np.empty(len(y), dtype=int)
    for start in range(0, len(y), _ROWS):
        values = y[start : start + _ROWS].astype(float)
        found = np.zeros(len(values), dtype=np.int8)
        for label, k in place.items():
            if not isinstance(label, str):
                found += (values == label).view(np.int8) * np.int8(k + 1)
        codes[start : start + _ROWS] = found
    codes -= 1
    return codes


def _label(v: object) -> float | str:
    return float(v) if isinstance(v, (bool, int, float)) else str(v)


def present_classes(codes: Array) -> Array:
    """The numbers of the classes that occur."""
    return np.unique(codes[codes >= 0])


def dense_blocks(X: Matrix, rigor: Rigor, entries: int = _ENTRIES) -> Iterator[tuple[slice, Array]]:
    """Dense blocks of rows (exact rationals when asked)."""
    step = min(_ROWS, max(256, entries // max(1, X.shape[1])))
    for start in range(0, X.shape[0], step):
        rows = slice(start, min(start + step, X.shape[0]))
        block = X[rows].toarray() if scipy.sparse.issparse(X) else X[rows]
        yield rows, rationals(block) if rigor == "exact" else np.asarray(block, dtype=float)


def class_totals(data: Data, codes: Array, K: int, rigor: Rigor) -> Ball:
    """The weight of every class."""
    if data.sample_weight is None and rigor != "exact":
        return Ball(np.bincount(codes + 1, minlength=K + 1)[1:])  # codes begin at −1, which is no class
    w = rationals(data.weights) if rigor == "exact" else data.weights
    parts = [Ball(w[codes == c]).sum() for c in range(K)]
    return Ball(np.array([p.mid for p in parts]), np.array([p.rad for p in parts]))


def deviation_sums(
    data: Data, values: Any, present: Array | None, codes: Array, theta: Array, rigor: Rigor
) -> tuple[Ball, Ball, Ball]:
    """Per class and column: weight W, Σw(x − θ) and Σw(x − θ)², cells with ``present`` False left out."""
    K, d = theta.shape
    if present is None and rigor != "exact":
        return _float_deviations(data, values, codes, theta)
    zero = rationals(np.zeros(d)) if rigor == "exact" else np.zeros(d)
    sums = [[Ball(zero)] * 3 for _ in range(K)]
    for rows, block in dense_blocks(values, rigor):
        weight = data.weights[rows][:, None]
        weight = np.broadcast_to(weight, block.shape) if present is None else weight * present[rows]
        for c in present_classes(codes[rows]):
            mine = codes[rows] == c
            w = ball(weight[mine], like=sums[c][0])
            t = Ball(block[mine]) - ball(theta[c], like=sums[c][0])
            wt = w * t
            sums[c] = [total + part.sum(axis=0) for total, part in zip(sums[c], (w, wt, wt * t))]
    stack = [[row[k] for row in sums] for k in range(3)]
    W, r1, r2 = (
        Ball(np.array([b.mid for b in s]), np.array([np.broadcast_to(b.rad, b.mid.shape) for b in s])) for s in stack
    )
    return W, r1, r2


def _float_deviations(data: Data, values: Any, codes: Array, theta: Array) -> tuple[Ball, Ball, Ball]:
    """The same sums by products with the table of who is in which class, in one read of the rows.

    Σw|t| ≤ √(Σw Σwt²) bounds the rounding of Σwt, so that no absolute values are added up.
    """
    (K, d), n = theta.shape, len(codes)
    first, second, longest, blocks, room = np.zeros((K, d)), np.zeros((K, d)), 0, 0, np.empty((0, d))
    for rows, block in dense_blocks(values, "float", 2 * _ENTRIES):
        mine, weight = codes[rows], None if data.sample_weight is None else data.sample_weight[rows]
        if mine.min() < 0:
            block, weight = block[mine >= 0], None if weight is None else weight[mine >= 0]
            mine = mine[mine >= 0]
        member = _members(mine, weight, K)
        room = room if len(room) >= len(mine) else np.empty((len(mine), d))
        T = theta.take(mine, axis=0, out=room[: len(mine)], mode="clip")  # in place; no number is out of range
        np.subtract(block, T, out=T)
        first += _totals(member, T)
        np.square(T, out=T)
        second += _totals(member, T)
        longest, blocks = max(longest, _most(mine)), blocks + 1
    whole = class_totals(data, codes, K, "float")
    slack, W = sum_slack(longest + blocks), whole.upper[:, None]
    tiny = ETA * (n + W)
    size = np.sqrt(W) * np.sqrt(second * (1.0 + 2 * slack) + tiny) * (1.0 + 16 * UNIT)
    full = (np.broadcast_to(part[:, None], (K, d)) for part in (whole.mid, np.broadcast_to(whole.rad, (K,))))
    return Ball(*full), Ball(first, slack * size + tiny), Ball(second, slack * second + tiny)


def value_sums(data: Data, codes: Array, K: int, cells: Any, width: int) -> Ball:
    """Per class the sums of w times the cells (rows, width) that ``cells`` makes of a block, in one read of the rows.

    By products with the table of who is in which class. Where no cell is negative, as counts are, the sums themselves
    bound their rounding.
    """
    sums, sizes, longest, blocks = np.zeros((K, width)), np.zeros((K, width)), 0, 0
    for rows, block in dense_blocks(data.X, "float"):
        mine, weight = codes[rows], None if data.sample_weight is None else data.sample_weight[rows]
        table = cells(block, rows)
        if mine.min() < 0:
            table, weight = table[mine >= 0], None if weight is None else weight[mine >= 0]
            mine = mine[mine >= 0]
        member = _members(mine, weight, K)
        part = _totals(member, table)
        sums += part
        sizes += part if table.min(initial=0.0) >= 0.0 else _totals(member, np.abs(table))
        longest, blocks = max(longest, _most(mine)), blocks + 1
    slack, tiny = sum_slack(longest + blocks), ETA * (len(codes) + class_totals(data, codes, K, "float").upper)
    return Ball(sums, slack * sizes + tiny[:, None])


def _most(codes: Array) -> int:
    """The most rows of one class: as many terms have the longest sum, for adding a zero rounds nothing."""
    return int(np.bincount(codes, minlength=1).max())


def _totals(member: Any, table: Array) -> Array:
    """The weighted sums of the rows of each class."""
    few = isinstance(member, np.ndarray) and len(member) <= _VERY_FEW
    return np.stack([w @ table for w in member]) if few else np.asarray(member @ table)


def _members(codes: Array, weight: Array | None, K: int) -> Any:
    """The table (K, rows) with the weight of a row at its class; sparse where classes are many."""
    if K > _FEW:
        data = np.ones(len(codes)) if weight is None else weight
        return scipy.sparse.csr_matrix((data, codes, np.arange(len(codes) + 1)), shape=(len(codes), K)).T
    found = (codes == np.arange(K)[:, None]).astype(float)
    return found if weight is None else found * weight
