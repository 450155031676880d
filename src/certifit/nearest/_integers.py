"""Brute force in integers: which rows can be among the nearest, by the triangle inequality.

Centre c (the mean, as a float vector), weights w, a power of two s: x′ = s√w(x − c) in real numbers, x̂ the
nearest integers; s brings the longest x̂ to at most 2¹⁴. A query q̂ shorter than 2¹⁵ has |x̂·q̂| < 2²⁹ and
all its features fit in 16 bits, so products and sums of the scan are *exact* in 32 bits and D̂ = ‖x̂ − q̂‖
is known without error. The true distance, times s, differs from D̂ by at most ρ = ‖x′ − x̂‖ + ‖q′ − q̂‖. So a row
whose D̂ exceeds the k-th smallest D̂ by more than 2ρ is certainly not among the nearest k; all others are
candidates, whose distances are computed from differences of the data as given, in double precision.

ρ is computed with the largest ‖x′ − x̂‖ of any row, plus `_ROUNDING`: x′ is known to a relative 4·2⁻⁵³ of at
most 2¹⁵ in each feature, a difference to half a unit in its last place, so 10⁻⁸√d covers both many times over.

Where one feature or one row is so large that all others round to nothing there are too many candidates. Such
queries, and those farther out than 2¹⁵, are left *open*.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from certifit._types import Array
from certifit.loops import neighbors_brute as candidates
from certifit.loops import neighbors_integers as loops
from certifit.parallel import side_by_side

if TYPE_CHECKING:
    from certifit.nearest._brute import Queries

AVAILABLE: bool = loops.AVAILABLE
_LONGEST, _FAR = 2.0**14, 2.0**15 - 1.0
_ROUNDING = 1e-8
_BLOCK_Q = 480  # a multiple of every tile's height
_CHUNK = 1 << 20  # bytes of rows that stay in the second-level cache
_NEVER = 2**31 - 1


@dataclass(frozen=True)
class Integers:
    """The rows as integers, in panels."""

    X: Array
    w: Array
    centre: Array
    root: Array
    panels: Array
    starts: Array
    error: float

    @classmethod
    def prepare(cls, X: Array, w: Array) -> Integers:
        """Centre, scale and round the rows."""
        n, d = X.shape
        centre = X.mean(axis=0)
        moved = X - centre
        root = np.sqrt(w)
        if np.any(root != 1.0):
            moved *= root
        longest = float(np.sqrt(np.max(np.einsum("ij,ij->i", moved, moved))))
        # √d/2 for the rounding to integers; a length of zero or below all scales stays zero.
        scale = 2.0 ** np.floor(np.log2((_LONGEST - np.sqrt(d)) / longest)) if longest > 1e-280 else 1.0
        moved *= scale
        hat, squares, error = _rounded(moved)
        height = loops.WIDE * loops.LANES
        full = -(-n // height) * height
        starts = np.full(full, loops.NOWHERE, np.int32)
        starts[:n] = -((squares + 1) // 2)
        padded = np.zeros((full, hat.shape[1]), np.int16)
        padded[:n] = hat
        pairs = padded.view(np.int32).reshape(full // loops.LANES, loops.LANES, -1)
        panels = np.ascontiguousarray(pairs.transpose(0, 2, 1)).reshape(len(pairs), -1)
        return cls(X, w, centre, root * scale, panels, starts, float(error.max()))

    def query(self, asked: Queries) -> tuple[Array, Array, Array]:
        """Reduced distances and row numbers of the nearest k, and which queries are left open."""
        Q, k, group_q, group_x, n_threads = asked.Q, asked.k, asked.group_q, asked.group_x, asked.n_threads
        values, found = np.empty((len(Q), k)), np.empty((len(Q), k), np.int64)
        open_ = np.zeros(len(Q), dtype=bool)
        if len(group_x):
            group_x = np.append(group_x, np.full(len(self.starts) - len(group_x), -1))
        share = -(-len(Q) // (n_threads * loops.TALL)) * loops.TALL
        step = min(_BLOCK_Q, max(loops.TALL, share))

        def block(first: int) -> None:
            part = slice(first, min(first + step, len(Q)))
            rows, counts = self._scan(Q[part], first, k, group_q, group_x)
            candidates.settle(Q, first, self.X, self.w, rows, counts, values, found)
            open_[part] = counts < 0

        side_by_side(block, range(0, len(Q), step), n_threads)
        return values, found, open_

    def _scan(self, Q: Array, first: int, k: int, group_q: Array, group_x: Array) -> tuple[Array, Array]:
        """Candidates of one block of queries, and how many there are (−1: open)."""
        n_q = len(Q)
        full = -(-n_q // loops.TALL) * loops.TALL
        with np.errstate(over="ignore"):
            moved = (Q - self.centre) * self.root
        far = ~(np.einsum("ij,ij->i", moved, moved) < (_FAR - np.sqrt(Q.shape[1])) ** 2)
        moved[far] = 0.0
        hat, squares, error = _rounded(moved)
        queries = np.zeros((full, hat.shape[1]), np.int16)
        queries[:n_q] = hat
        bounds = np.full(full, _NEVER, np.int32)
        bounds[:n_q] = np.where(far, _NEVER, loops.NOWHERE + 1)
        lengths, widths = np.zeros(full), np.zeros(full)
        lengths[:n_q], widths[:n_q] = squares, 2.0 * (error + self.error)
        counts = np.zeros(full, np.int64)
        counts[:n_q][far] = -1
        capacity, width = 2 * k + 64, loops.WIDE * loops.LANES
        rows, scores = np.empty((full, capacity), np.int32), np.empty((full, capacity), np.int32)
        wanted = -(-2 * k // width)  # blocks of lanes: twice as many lanes as neighbours
        n_first = _first_look(k, *self.X.shape) // width * loops.WIDE
        n_first = n_first if n_first >= 2 * wanted * loops.WIDE else 0
        n_chunk = max(1, _CHUNK // (self.panels.itemsize * self.panels.shape[1] * loops.WIDE)) * loops.WIDE
        loops.scan(
            queries.view(np.int32), full, first, self.panels, hat.shape[1] // 2, self.starts, lengths, widths,
            group_q, group_x, n_first, n_chunk, np.empty((loops.TALL, wanted * width), np.int32),
            np.empty((loops.TALL, width), np.int32), np.zeros(loops.TALL, np.uint32),
            np.full((full, k), loops.NOWHERE, np.int32), bounds, rows, scores, counts,
        )  # fmt: skip
        return rows[:n_q], counts[:n_q]


def _first_look(k: int, n: int, d: int) -> int:
    """How many rows to score twice, the first time only to set bounds: measured, where it pays for itself.

    A row less that reaches its bound saves about as much as the scores of 50 to 300 rows cost, by dimension.
    """
    return min(n // 2, 5000 * k // (15 + d))


def _rounded(moved: Array) -> tuple[Array, Array, Array]:
    """Integers (an even number of columns), their exact squared lengths, and a bound on what was lost."""
    n, d = moved.shape
    whole = np.rint(moved)
    squares = np.einsum("ij,ij->i", whole, whole)  # below 2³¹: no rounding
    moved -= whole
    error = np.sqrt(np.einsum("ij,ij->i", moved, moved)) + _ROUNDING * np.sqrt(d)
    hat = np.zeros((n, d + d % 2), np.int16)
    hat[:, :d] = whole
    return hat, squares, error
