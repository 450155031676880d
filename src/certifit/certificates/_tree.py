"""Fingerprints of data that lie in several places: a leaf for each partition, and a tree over the leaves.

A leaf is the SHA-256 of the columns of a partition, each hashed on its own, so that it does not matter in which
blocks the rows were read. The root is the hash over the leaves in the order of their digests (a Merkle tree with
separate marks for leaves and nodes): it does not depend on the order in which the partitions are listed, and a
change can be traced to its partition.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from certifit._types import Array
from certifit.certificates._data import Data


class Leaf(NamedTuple):
    """How many rows a partition has, and their SHA-256."""

    rows: int
    digest: str


Rows = tuple[Array, Array | None, tuple[Array, ...], Array | None, Array | None]
"""Columns of numbers (d, m), the target, columns of words, weights, offsets."""


def leaf_of(parts: Iterable[Rows]) -> Leaf:
    """The leaf of a partition from its blocks."""
    hashes: list[Any] = []
    rows = 0
    for X, y, words, weight, offset in parts:
        apart = [(mark, v) for mark, v in ((b"weight", weight), (b"offset", offset)) if v is not None]
        columns = [*X, *([] if y is None else [y]), *words, *(v for _, v in apart)]
        if not hashes:
            hashes = [hashlib.sha256() for _ in columns]
            for h, (mark, _) in zip(hashes[len(hashes) - len(apart) :], apart):  # so that they are no other column
                h.update(mark)
        rows += X.shape[1]
        for h, column in zip(hashes, columns):
            h.update(_bytes(column))
    whole = hashlib.sha256(b"leaf" + str(rows).encode())
    for h in hashes:
        whole.update(h.digest())
    return Leaf(rows, whole.hexdigest())


def _bytes(column: Array) -> Any:
    """Canonical bytes: floats with one zero, words with their lengths."""
    if column.dtype.kind in "biuf":
        return np.ascontiguousarray(np.asarray(column, dtype="<f8") + 0.0).data
    return b"".join(
        b"-:" if v is None else b"%d:" % len(word) + word
        for v, word in ((v, json.dumps(str(v)).encode()) for v in column)
    )


@dataclass(frozen=True)
class HashTree:
    """The leaves of all partitions by name, and the root over them.

    Examples
    --------
    >>> a, b = ("first", Leaf(2, "00")), ("second", Leaf(3, "01"))
    >>> HashTree((a, b)).root == HashTree((b, a)).root, HashTree((a, b)).rows
    (True, 5)
    """

    leaves: tuple[tuple[str, Leaf], ...]

    @property
    def rows(self) -> int:
        """Rows of all partitions."""
        return sum(leaf.rows for _, leaf in self.leaves)

    @property
    def root(self) -> str:
        """The hash over all leaves, in the order of their digests."""
        level = [bytes.fromhex(leaf.digest) for leaf in sorted(leaf for _, leaf in self.leaves)]
        level.sort()
        while len(level) > 1:
            pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
            level = [hashlib.sha256(b"node" + p[0] + p[1]).digest() if len(p) == 2 else p[0] for p in pairs]
        top = level[0] if level else b""
        return hashlib.sha256(b"root" + str(self.rows).encode() + top).hexdigest()

    def in_order(self, names: Iterable[str]) -> HashTree:
        """The same leaves in the order of these names."""
        leaves = dict(self.leaves)
        return HashTree(tuple((name, leaves[name]) for name in names if name in leaves))

    def to_list(self) -> list[list[Any]]:
        """The leaves in JSON's words."""
        return [[name, leaf.rows, leaf.digest] for name, leaf in self.leaves]

    @classmethod
    def from_list(cls, record: Any) -> HashTree | None:
        """The tree of a record that `to_list` wrote; None for anything else."""
        if not isinstance(record, (list, tuple)):
            return None
        found = []
        for row in record:
            if not isinstance(row, (list, tuple)) or [type(v) for v in row] != [str, int, str]:
                return None
            name, rows, digest = row
            if rows < 1 or len(digest) != 64 or any(c not in "0123456789abcdef" for c in digest):
                return None
            found.append((name, Leaf(rows, digest)))
        return cls(tuple(found))

    def matches(self, data: Data) -> bool:
        """Whether a table in memory holds these partitions one after another."""
        start = 0
        for _, leaf in self.leaves:
            part = slice(start, start + leaf.rows)
            X = data.X[part].toarray() if scipy.sparse.issparse(data.X) else data.X[part]
            y, weight, offset = (None if v is None else v[part] for v in (data.y, data.sample_weight, data.offset))
            if X.dtype == object or leaf_of([(X.T, y, (), weight, offset)]) != leaf:
                return False
            start += leaf.rows
        return bool(start == data.X.shape[0])

    def changes(self, other: HashTree) -> list[str]:
        """What is different in the other tree, found now: one phrase a partition, none when all are the same."""
        if self.root == other.root:
            return []
        mine, its = dict(self.leaves), dict(other.leaves)
        shared = set(mine) & set(its)
        if not shared:
            return ["none of the partitions has the name that it had"]
        changed = [f"{name} was changed" for name in sorted(shared) if mine[name] != its[name]]
        gone = [f"{name} is missing" for name in sorted(set(mine) - shared)]
        new = [f"{name} is new" for name in sorted(set(its) - shared)]
        return changed + gone + new
