"""The k-d tree: layout, build and search on threads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from certifit._types import Array
from certifit.loops import neighbors_tree as loops
from certifit.parallel import ranges, side_by_side

_LANES = 16  # rows of a leaf are padded to a multiple of this: whole vector registers, no remainder loop


@dataclass(frozen=True)
class KDTree:
    """A k-d tree; with ``flat`` only its leaves, in the order of the data, to be scanned one and all."""

    leaves: Array
    rows: Array
    starts: Array
    box: Array
    axis: Array
    cut: Array
    flat: bool = False

    @classmethod
    def build(cls, X: Array, leaf_size: int, n_threads: int) -> KDTree:
        """Split at medians of the widest feature until leaves hold at most ``leaf_size`` rows."""
        n, d = X.shape
        levels = max(0, int(np.ceil(np.log2(n / leaf_size))))
        inner = 2**levels - 1
        P, rows = X.copy(), np.arange(n)
        box, axis, cut = np.empty((2 * inner + 1, 2, d)), np.empty(inner, np.int64), np.empty(inner)
        top = min(levels, int(np.ceil(np.log2(2 * n_threads))) if n > 2000 else 0)
        loops.grow(P, rows, box, axis, cut, 0, 0, n, 2**top - 1)
        parts = _halved(n, top)
        side_by_side(
            lambda i: loops.grow(P, rows, box, axis, cut, 2**top - 1 + i, parts[i], parts[i + 1], inner),
            range(2**top),
            n_threads,
        )
        return cls._packed(P, rows, _halved(n, levels), box, axis, cut)

    @classmethod
    def list(cls, X: Array, leaf_size: int) -> KDTree:
        """No tree: all leaves are looked at."""
        n, d = X.shape
        starts = np.append(np.arange(0, n, leaf_size), n)
        none = np.empty(0, np.int64)
        return cls._packed(X, np.arange(n), starts, np.empty((0, 2, d)), none, np.empty(0), flat=True)

    @classmethod
    def _packed(
        cls, P: Array, rows: Array, starts: Array, box: Array, axis: Array, cut: Array, flat: bool = False
    ) -> KDTree:
        width = -(-int(np.diff(starts).max()) // _LANES) * _LANES
        leaves = np.empty((len(starts) - 1, P.shape[1], width))
        loops.pack(P, starts, leaves)
        return cls(leaves, rows, starts, box, axis, cut, flat)

    def query(
        self, Q: Array, k: int, w: Array, code: int, p: float, group_q: Array, group_x: Array, n_threads: int
    ) -> tuple[Array, Array]:
        """Reduced distances and row numbers of the nearest k (k ≤ rows that the query may meet, else n
        fills up).
        """
        values, found = np.empty((len(Q), k)), np.empty((len(Q), k), np.int64)
        if self.flat:
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
        order, cuts, homes, width = self._groups(Q, k, n_threads)
        side_by_side(
            lambda s: loops.search( Q, order, cuts, homes, width, *s, self.leaves, self.rows, self.starts,
            self.box, w, code, p, trust, group_q, group_x, values, found, ), ranges(len(homes), 8 *
            n_threads), n_threads,
        )  # fmt: skip
        return values, found

    def _groups(self, Q: Array, k: int, n_threads: int) -> tuple[Array, Array, Array, int]:
        """Queries ordered by the leaf they fall into, cut into groups that share enough leaves to hold k
        rows.
        """
        leaf_of = np.empty(len(Q), np.int64)
        side_by_side(lambda s: loops.locate(Q, self.axis, self.cut, leaf_of, *s), ranges(len(Q), n_threads), n_threads)
        n_leaves = len(self.starts) - 1
        # NumPy sorts two-byte integers by counting.
        order = np.argsort(leaf_of.astype(np.uint16) if n_leaves <= 1 << 16 else leaf_of, kind="stable")
        width, least = 1, int(np.diff(self.starts).min())
        while width < n_leaves and width * least < k + 4:
            width *= 2
        home = leaf_of[order] // width
        cuts = np.concatenate(([0], np.flatnonzero(np.diff(home)) + 1, [len(Q)]))
        return order, cuts, home[cuts[:-1]] * width, width


def _halved(n: int, levels: int) -> Array:
    """Where the parts begin after halving 0..n ``levels`` times, as the loop halves."""
    starts = np.array([0, n])
    for _ in range(levels):
        finer = np.empty(2 * len(starts) - 1, np.int64)
        finer[0::2], finer[1::2] = starts, (starts[:-1] + starts[1:]) >> 1
        starts = finer
    return starts
