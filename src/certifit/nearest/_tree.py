"""The k-d tree: layout, build and search on threads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from certifit._types import Array
from certifit.loops import neighbors_leaves
from certifit.loops import neighbors_tree as loops
from certifit.parallel import ranges, side_by_side

_LANES = neighbors_leaves.PAIR  # rows of a leaf are padded to a multiple of this: whole registers, no remainder loop


@dataclass(frozen=True)
class Walk:
    """What a search walks: where queries belong, boxes in blocks of siblings, and row numbers (see the loop)."""

    axis: Array
    cut: Array
    boxes: Array
    below: Array
    fan: int
    ids: Array

    @classmethod
    def of(cls, axis: Array, cut: Array, box: Array, rows: Array, starts: Array, width: int) -> Walk:
        """From the boxes of a tree of halves, node i above 2i + 1 and 2i + 2: three of its levels make one layer."""
        wide, d = neighbors_leaves.WIDE, box.shape[2]
        level, made = (len(starts) - 1).bit_length() - 1, 0
        blocks: list[Array] = []
        below: list[Array] = []
        while True:
            nodes = box[2**level - 1 : 2 ** (level + 1) - 1]
            count = -(-len(nodes) // wide)
            padded = np.full((count * wide, 2, d), np.inf)
            padded[: len(nodes)] = nodes
            below.append(made - len(blocks[-1]) + wide * np.arange(count) if blocks else np.full(count, -1))
            blocks.append(padded.reshape(count, wide, 2, d).transpose(0, 2, 3, 1))
            made += count
            if len(nodes) <= wide:
                break
            level -= 3
        boxes = np.ascontiguousarray(np.concatenate(blocks))
        ids = np.full((len(starts) - 1, width), len(rows))
        ids[np.arange(width) < np.diff(starts)[:, None]] = rows
        return cls(axis, cut, boxes, np.concatenate(below), len(nodes), ids.ravel())


@dataclass(frozen=True)
class KDTree:
    """Rows in leaves, and a tree above them; without one the leaves, in the order of the data, are scanned one and
    all.
    """

    leaves: Array
    rows: Array
    starts: Array
    walk: Walk | None = None

    @classmethod
    def build(cls, X: Array, leaf_size: int, n_threads: int) -> KDTree:
        """Split at medians of the widest feature until leaves hold at most ``leaf_size`` rows."""
        n, d = X.shape
        levels = max(0, int(np.ceil(np.log2(n / leaf_size))))
        inner = 2**levels - 1
        P, rows = X.copy(), np.arange(n)
        box, axis, cut = np.empty((2 * inner + 1, 2, d)), np.empty(inner, np.int64), np.empty(inner)
        top = min(levels, int(np.ceil(np.log2(2 * n_threads))) if n > 2000 else 0)
        for level in [*range(top), top]:  # the top level by level, then each subtree as a whole
            first, parts, bottom = 2**level - 1, _halved(n, level), inner if level == top else 2 ** (level + 1) - 1

            def grow(i: int, first: int = first, parts: Array = parts, bottom: int = bottom) -> None:
                loops.grow(P, rows, box, axis, cut, first + i, parts[i], parts[i + 1], bottom)

            side_by_side(grow, range(2**level), n_threads)
        starts = _halved(n, levels)
        leaves = _packed(P, starts)
        return cls(leaves, rows, starts, Walk.of(axis, cut, box, rows, starts, leaves.shape[2]))

    @classmethod
    def list(cls, X: Array, leaf_size: int) -> KDTree:
        """No tree: all leaves are looked at."""
        n = len(X)
        starts = np.append(np.arange(0, n, leaf_size), n)
        return cls(_packed(X, starts), np.arange(n), starts)

    def query(
        self, Q: Array, k: int, w: Array, code: int, p: float, group_q: Array, group_x: Array, n_threads: int
    ) -> tuple[Array, Array]:
        """Reduced distances and row numbers of the nearest k (k ≤ rows that the query may meet, else n
        fills up).
        """
        values, found = np.empty((len(Q), k)), np.empty((len(Q), k), np.int64)
        if self.walk is None:
            side_by_side(
                lambda s: loops.scan(
                    Q, *s, self.leaves, self.rows, self.starts, w, code, p, group_q, group_x, values, found
                ),
                ranges(len(Q), 8 * n_threads),
                n_threads,
            )
            return values, found
        # Rounding is monotone except in the power function, which is granted 4 ulp on either side.
        trust = 1.0 - 1e-13 if code == 3 else 1.0
        code = neighbors_leaves.UNWEIGHTED if code == 0 and np.all(w == 1.0) else code
        walk = self.walk
        order, cuts, homes, width = self._groups(walk, Q, k, n_threads)
        side_by_side(
            lambda s: neighbors_leaves.search(
                Q, order, cuts, homes, width, *s, self.leaves, walk.ids, walk.boxes, walk.below, walk.fan, w, code, p,
                trust, group_q, group_x, len(self.rows), values, found,
            ), ranges(len(homes), 8 * n_threads), n_threads,
        )  # fmt: skip
        return values, found

    def _groups(self, walk: Walk, Q: Array, k: int, n_threads: int) -> tuple[Array, Array, Array, int]:
        """Queries ordered by the leaf they fall into, cut into groups that share enough leaves to hold k
        rows.
        """
        leaf_of = np.empty(len(Q), np.int64)
        side_by_side(lambda s: loops.locate(Q, walk.axis, walk.cut, leaf_of, *s), ranges(len(Q), n_threads), n_threads)
        n_leaves = len(self.starts) - 1
        # NumPy sorts two-byte integers by counting.
        order = np.argsort(leaf_of.astype(np.uint16) if n_leaves <= 1 << 16 else leaf_of, kind="stable")
        width, least = 1, int(np.diff(self.starts).min())
        while width < n_leaves and width * least < k + 4:
            width *= 2
        homes = np.arange(0, n_leaves, width)
        cuts = np.append(0, np.cumsum(np.add.reduceat(np.bincount(leaf_of, minlength=n_leaves), homes)))
        return order, cuts, homes, width


def _packed(P: Array, starts: Array) -> Array:
    """Leaves feature by feature."""
    width = -(-int(np.diff(starts).max()) // _LANES) * _LANES
    leaves = np.empty((len(starts) - 1, P.shape[1], width))
    loops.pack(P, starts, leaves)
    return leaves


def _halved(n: int, levels: int) -> Array:
    """Where the parts begin after halving 0..n ``levels`` times, as the loop halves."""
    starts = np.array([0, n])
    for _ in range(levels):
        finer = np.empty(2 * len(starts) - 1, np.int64)
        finer[0::2], finer[1::2] = starts, (starts[:-1] + starts[1:]) >> 1
        starts = finer
    return starts
