"""Rows and folds by a keyed hash of the row's own values: the same whatever the partitions, the engine and the order.

The hash is a mixing function of 64 bits (splitmix64) over the bits of the numbers of a row (or of an ``id`` column
alone). Equal rows have equal hashes; they are told apart by nothing, and so stay together in a fold.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from certifit._types import Array
from certifit.certificates.sums import Block, NotFiniteError, Statistic

_STEP = np.uint64(0x9E3779B97F4A7C15)


def _mixed(h: Array) -> Array:
    """The finaliser of splitmix64."""
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(h ^ (h >> np.uint64(31)))


def _bits(column: Array) -> Array:
    """64 bits of every value: of the number itself, or of the SHA-256 of a word."""
    if column.dtype.kind in "biuf":
        return (np.asarray(column, dtype=np.float64) + 0.0).view(np.uint64)
    known: dict[Any, int] = {}
    for value in column.tolist():
        if value not in known:
            known[value] = int.from_bytes(hashlib.sha256(repr(value).encode()).digest()[:8], "little")
    return np.array([known[v] for v in column.tolist()], dtype=np.uint64)


def row_hashes(block: Block, seed: int, by: int | None = None) -> Array:
    """A hash of 64 bits, with ``seed`` as key, for every row: of all columns and the target, or of column ``by`` alone.

    Examples
    --------
    >>> block = Block(np.array([[1.0, 2.0, 1.0]]))
    >>> h = row_hashes(block, 0)
    >>> bool(h[0] == h[2]), bool(h[0] == h[1])
    (True, False)
    """
    columns = [*block.X, *([] if block.y is None else [block.y]), *block.words]
    if by is not None:
        columns = [columns[by]]
    with np.errstate(over="ignore"):
        h = np.full(block.rows, _mixed(np.array([seed % (1 << 64)], dtype=np.uint64) + _STEP)[0])
        for column in columns:
            h = _mixed(h * _STEP + _mixed(_bits(column) + _STEP))
    return h


class Sample(Statistic):
    """The rows with the smallest hashes (see `row_hashes`), in the order of these.

    ``finite``: whether to refuse numbers that are missing or not finite.
    """

    def __init__(self, rows: int, seed: int, by: int | None = None, finite: bool = False) -> None:
        self.rows, self.seed, self.by, self.finite = rows, seed, by, finite
        self.seen = 0
        self.kept: list[tuple[Array, Block]] = []

    def add(self, block: Block) -> None:
        self.seen += block.rows
        if self.finite and not np.all(np.isfinite(block.X)):
            raise NotFiniteError(int(np.flatnonzero(~np.isfinite(block.X).all(axis=1))[0]))
        h = row_hashes(block, self.seed, self.by)
        self.kept.append((h, block))
        if sum(len(part) for part, _ in self.kept) > 2 * self.rows + (1 << 15):
            self._shrink()

    def _shrink(self) -> None:
        if not self.kept:
            return
        h = np.concatenate([part for part, _ in self.kept])
        X = np.concatenate([block.X for _, block in self.kept], axis=1)
        y = None if self.kept[0][1].y is None else np.concatenate([np.asarray(b.y) for _, b in self.kept])
        words = tuple(np.concatenate(parts) for parts in zip(*(b.words for _, b in self.kept)))
        # Equal hashes are equal rows but for a chance of 2^−64: the values themselves settle the order of the others.
        ties = [*X[::-1], h] if len(X) else [h]
        best = np.lexsort(ties)[: self.rows]
        weight = None if self.kept[0][1].weight is None else np.concatenate([b.weight for _, b in self.kept])
        self.kept = [(h[best], Block(X, y, words, weight=weight).take(best))]

    def merge(self, other: Sample) -> Sample:
        self.kept = [*self.kept, *other.kept]
        self.seen += other.seen
        self._shrink()
        return self

    def finish(self) -> tuple[Block | None, int]:
        self._shrink()
        return (self.kept[0][1] if self.kept else None), self.seen
