"""Brute force by blocks of matrix products, with the proof that no neighbour is lost to cancellation.

Centre c (the mean, as a float vector), weights w, a power of two s: x′ = s√w(x − c) in real numbers, x̂ its
value in the working precision with unit u (2⁻²⁴ or 2⁻⁵³), A = ‖x̂‖, B = ‖q̂‖. A subtraction is exact up to
one rounding of its *result*, so centring loses nothing however far from zero the data lie. Then, with 2AB ≤
A² + B²:

- rounding the data (|x̂ − x′| ≤ κu|x′| for every feature): |‖x̂−q̂‖² − ‖x′−q′‖²| ≤ 4κu(1 + 3κu)(A² + B²);
- the product in any order, fused or not: |g − 2x̂·q̂| ≤ γ_d (A² + B²), γ_d = du/(1 − du);
- the norm, computed in double and rounded: |n − A²| ≤ νu A²;
- the difference lo = fl(n − g): 2.3u(A² + B²).

κ = 1.01, ν = 1.1 in single and κ = 6, ν = d + 3 in double precision. The sum is at most ε(A² + B²) with
ε = 1.05u(d + 8), or 1.05u(2d + 32), as long as du ≤ 1/100. Underflow adds at most `_TINY` to each part (the
scale s brings the largest number to about 1).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from certifit._types import Array
from certifit.loops import neighbors_brute as loops
from certifit.loops import neighbors_integers
from certifit.loops._tiers import Tiered
from certifit.nearest import _integers
from certifit.nearest._integers import Integers
from certifit.nearest._tree import KDTree
from certifit.parallel import side_by_side

_TINY = 1e-36
_BLOCK_Q, _BLOCK_X = 512, 512  # 1 MB of single precision: stays in the second-level cache
_FIRST_X = 4096  # the first block is wider: it sets the limit that the others are sifted by
_FAR = 2.0**30  # queries farther out, in units of the data's spread, leave the range of single precision
_ENTRIES = 1 << 20  # distances held at a time
_PILOT = 64  # queries tried in a cheap arithmetic before all are
_FEW = 8  # at least so many rows for each neighbour wanted, or nearly all are candidates anyway


@dataclass(frozen=True)
class Brute:
    """The rows, ready for products in one precision."""

    X: Array
    w: Array
    centre: Array
    scale: float
    hat: Array
    norms: Array
    e_x: Array
    epsilon: float

    @classmethod
    def prepare(cls, X: Array, w: Array, real: type) -> Brute:
        """Centre, scale and round the rows; norms and their error bounds."""
        d = X.shape[1]
        u = 2.0**-24 if real is np.float32 else 2.0**-53
        epsilon = 1.05 * u * (d + 8 if real is np.float32 else 2 * d + 32)
        centre = X.mean(axis=0)
        moved = X - centre
        if np.any(w != 1.0):
            moved *= np.sqrt(w)
        largest = float(np.max(np.abs(moved), initial=0.0))
        scale = 2.0 ** -np.ceil(np.log2(largest)) if 1e-150 < largest < 1e150 else 1.0  # and its square
        hat = (moved * scale).astype(real)
        squares = np.einsum("ij,ij->i", hat, hat, dtype=float)
        norms = (squares * (1.0 - epsilon) - d * _TINY).astype(real)
        # 6u more than twice ε: the additions lo + e_x + e_q are rounded too.
        e_x = (squares * (2.0 * epsilon + 6.0 * u) + d * _TINY).astype(real)
        return cls(X, w, centre, scale, hat, norms, e_x, epsilon)

    def far(self, Q: Array) -> Array:
        """Which queries lie too far out for the product."""
        reach = _FAR / self.scale
        if np.max(np.abs(Q), initial=0.0) + np.max(np.abs(self.centre)) < reach / np.sqrt(np.max(self.w)):
            return np.zeros(len(Q), dtype=bool)  # one pass over the data says so nearly always
        return np.asarray(np.max(np.abs(Q - self.centre) * np.sqrt(self.w), axis=1, initial=0.0) > reach)

    def query(self, asked: Queries) -> tuple[Array, Array, int]:
        """Reduced distances and row numbers of the nearest k, and how many candidates had to be settled."""
        Q, k, group_q, group_x = asked.Q, asked.k, asked.group_q, asked.group_x
        real = self.hat.dtype
        u = float(np.finfo(real).eps) / 2
        shift, e_q = np.empty(len(Q)), np.empty(len(Q), real)
        root = np.sqrt(self.w) * self.scale
        values, found = np.empty((len(Q), k)), np.empty((len(Q), k), np.int64)
        most = 2 * self.e_x.max()
        edges = [0, *range(_FIRST_X, len(self.X), _BLOCK_X), len(self.X)]
        spans = list(pairwise(edges))

        def block(first: int) -> int:
            n_q = min(_BLOCK_Q, len(Q) - first)
            part = slice(first, first + n_q)
            hat = ((Q[part] - self.centre) * root).astype(real)
            shift[part] = np.einsum("ij,ij->i", hat, hat, dtype=float)
            e_q[part] = shift[part] * (2.0 * self.epsilon + 6.0 * u) + Q.shape[1] * _TINY
            hat *= 2  # exact
            capacity = 2 * k + 64
            heap, limit = np.full((n_q, k), np.inf, real), np.full(n_q, np.inf, real)
            rows, lows = np.empty((n_q, capacity), np.int32), np.empty((n_q, capacity), real)
            lanes = np.empty(128, real)
            counts, spent = np.zeros(n_q, np.int64), np.zeros(n_q, np.int64)
            G = np.empty((n_q, _BLOCK_X), real)
            for start, stop in spans:
                n_x = stop - start
                G_now = G if n_x <= _BLOCK_X else np.empty((n_q, n_x), real)
                np.matmul(hat, self.hat[start:stop].T, out=G_now[:, :n_x])
                loops.sift(
                    G_now, n_q, n_x, first, start, self.norms, self.e_x, e_q, shift, self.scale**2,
                    4 * self.epsilon, most, lanes, Q, self.X, self.w, group_q, group_x, heap, limit, rows,
                    lows, counts, spent, values, found,
                )  # fmt: skip
            left = loops.keep(n_q, limit, rows, lows, counts)
            loops.settle(Q, first, self.X, self.w, rows, counts, values, found)
            return int(left) + int(spent.sum())

        settled = sum(side_by_side(block, range(0, len(Q), _BLOCK_Q), asked.n_threads))
        return values, found, settled


@dataclass(frozen=True)
class Queries:
    """What is searched for: the nearest k rows of each query, those of its own group left out."""

    Q: Array
    k: int
    group_q: Array
    group_x: Array
    n_threads: int

    def __len__(self) -> int:
        return len(self.Q)

    def those(self, which: Array | slice) -> Queries:
        """Some of the queries."""
        own = self.group_q[which].copy() if len(self.group_q) else self.group_q
        return replace(self, Q=np.ascontiguousarray(self.Q[which]), group_q=own)

    @property
    def pilot(self) -> Queries:
        """About `_PILOT` of them, to try a cheap arithmetic on."""
        return self.those(slice(None, None, max(1, len(self) // _PILOT)))


# A search by NumPy alone, for small tables where nothing is compiled yet: it stands in for the scan in integers.
_scan = Tiered(
    neighbors_integers.scan if _integers.AVAILABLE else loops.sift,
    lambda n_q, n, d: 1e-9 * n_q * n * (100 + 4 * d),
)


class BruteForce:
    """All rows looked at, in the cheapest arithmetic that tells enough of them apart; a pilot says which."""

    def __init__(self, X: Array, w: Array) -> None:
        self.X, self.w = X, w

    @cached_property
    def whole(self) -> Integers:
        return Integers.prepare(self.X, self.w)

    @cached_property
    def single(self) -> Brute:
        return Brute.prepare(self.X, self.w, np.float32)

    @cached_property
    def double(self) -> Brute:
        return Brute.prepare(self.X, self.w, np.float64)

    @cached_property
    def rows(self) -> KDTree:
        return KDTree.list(self.X, 64)

    def query(self, asked: Queries) -> tuple[Array, Array]:
        """Reduced distances and row numbers: integers where these tell enough, the rest in floats."""
        if not _scan.pays(len(asked), *self.X.shape):
            return self._in_numpy(asked)
        if not _integers.AVAILABLE or _FEW * asked.k > len(self.X):
            return self._in_floats(asked)
        if len(asked) > 4 * _PILOT and np.mean(self.whole.query(asked.pilot)[2]) > 1 / 8:
            return self._in_floats(asked)
        values, found, open_ = self.whole.query(asked)
        if np.any(open_):
            values[open_], found[open_] = self._in_floats(asked.those(open_))
        return values, found

    def _in_numpy(self, asked: Queries) -> tuple[Array, Array]:
        """All distances, sorted: the same sums in the same order as in the loops, so the same bits."""
        values, found = np.empty((len(asked), asked.k)), np.empty((len(asked), asked.k), np.int64)
        step = max(1, _ENTRIES // len(self.X))
        for first in range(0, len(asked), step):
            part = slice(first, first + step)
            D = np.zeros((len(asked.Q[part]), len(self.X)))
            for x, q, w in zip(self.X.T, asked.Q[part].T, self.w):
                gap = x - q[:, None]
                D += w * (gap * gap)
            if len(asked.group_q):
                own = asked.group_q[part, None]
                D[(own >= 0) & (own == asked.group_x)] = np.inf
            rows = np.argsort(D, axis=1, kind="stable")[:, : asked.k]
            values[part] = np.take_along_axis(D, rows, axis=1)
            found[part] = np.where(np.isinf(values[part]), len(self.X), rows)
        return values, found

    def _in_floats(self, asked: Queries) -> tuple[Array, Array]:
        """Single precision where that tells enough rows apart, else double; far queries by direct differences."""
        far = self.single.far(asked.Q)
        if np.any(far):
            values = np.empty((len(asked), asked.k))
            found = np.empty((len(asked), asked.k), np.int64)
            for part, search in ((far, self._by_differences), (~far, self._in_floats)):
                if np.any(part):
                    values[part], found[part] = search(asked.those(part))
            return values, found
        if len(asked) > 4 * _PILOT or "double" in self.__dict__:
            settled = self.single.query(asked.pilot)[2]
            if settled > 4 * len(asked.pilot) * (asked.k + 8):
                return self.double.query(asked)[:2]
        return self.single.query(asked)[:2]

    def _by_differences(self, asked: Queries) -> tuple[Array, Array]:
        return self.rows.query(asked.Q, asked.k, self.w, 0, 2.0, asked.group_q, asked.group_x, asked.n_threads)
