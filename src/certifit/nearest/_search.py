"""The search: which rows are nearest, in exact order.

Order: by distance, equal distances by lower row number. For the euclidean, manhattan and chebyshev distances
the order is that of the real numbers which the floats stand for: where double precision cannot tell two
distances apart they are compared exactly. So it is for cosine and whole-power Minkowski distances as far as a limit on
that work allows (`_exact`); for other distances it is the order of the computed numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from certifit._types import Array, Record
from certifit.loops import neighbors_brute, neighbors_order, neighbors_tree
from certifit.nearest import _integers
from certifit.nearest._brute import BruteForce, Queries
from certifit.nearest._exact import ExactOrder
from certifit.nearest._metrics import Metric, function_block
from certifit.nearest._tree import KDTree
from certifit.parallel import Answer, ranges, side_by_side, threads

_NONE = np.empty(0, np.int64)
_ENTRIES = 1 << 22  # distances held at a time where whole rows of them are needed
_SAFE = 2.0**480  # squares and their errors neither overflow nor vanish inside 1/_SAFE.._SAFE


class Index:
    """Rows prepared for searching; for ``precomputed`` the distances between them (queries then bring their own).

    ``leaf_size`` is the most rows in a leaf of the tree, ``scale`` a power of two to multiply all numbers by while
    searching; None: as the rows need it.
    """

    def __init__(
        self,
        X: Array,
        metric: Metric,
        algorithm: str = "auto",
        leaf_size: int = 30,
        n_jobs: int | None = None,
        scale: float | None = None,
    ) -> None:
        self.X = owned(X)
        self._settings = {
            "metric": metric,
            "algorithm": algorithm,
            "leaf_size": leaf_size,
            "n_jobs": n_jobs,
            "scale": scale,
        }
        self.metric = metric
        self.n_jobs = n_jobs
        self.method = choose_method(algorithm, metric, *self.X.shape)
        self._scale = _tame(self.X) if scale is None and metric.name != "precomputed" else scale or 1.0
        self._points, self._plain = self._prepared()
        self._weights = np.ones(self._points.shape[1]) if self._plain.weights is None else owned(self._plain.weights)
        self._tree: KDTree | None = None
        self._brute = BruteForce(self._points, self._weights)
        self._columns: Array | None = None
        if self.method == "kd_tree":
            self._tree = KDTree.build(self._points, leaf_size, threads(n_jobs))
        elif self._plain.name in ("manhattan", "chebyshev", "minkowski"):
            self._tree = KDTree.list(self._points, 64)

    def __getstate__(self) -> Record:
        """Only what was given: the rest is made again, in this process's memory."""
        return {"X": self.X, "settings": self._settings}

    def __setstate__(self, state: Record) -> None:
        self.__init__(state["X"], **state["settings"])  # type: ignore[misc]

    def _prepared(self) -> tuple[Array, Metric]:
        """The points that the search runs on and the distance it uses there: cosine becomes euclidean."""
        if self.metric.name == "cosine":
            return unit_rows(self.X, self.metric.weights, 0), Metric("euclidean")
        return (self.X if self._scale == 1.0 else self.X * self._scale), self.metric

    def query(self, Q: Array, k: int, group_q: Array = _NONE, group_x: Array = _NONE) -> tuple[Array, Array]:
        """Distances and row numbers of the nearest k rows of another group, nearest first.

        Where a query may meet fewer than k rows, the rest is filled by inf and n.
        """
        Q = owned(Q)
        name = self.metric.name
        if name in ("precomputed", "function"):
            return self._from_blocks(Q, k, group_q, group_x)
        if name == "cosine":
            searched = unit_rows(Q, self.metric.weights, 1)
        elif np.max(np.abs(Q), initial=0.0) * self._scale >= _SAFE:
            return self._far_out(Q, k, group_q, group_x)
        else:
            searched = Q if self._scale == 1.0 else Q * self._scale
        values, found = self._search(searched, k, group_q, group_x)
        asked = Queries(Q, k, group_q, group_x, threads(self.n_jobs))
        doubtful = self._exact.doubtful(asked, searched, values, found)
        values, found = self._finished(values, found, k)
        if np.any(doubtful):
            self._exact.redo(asked, doubtful, values, found)
        return values, found

    def _finished(self, values: Array, found: Array, k: int) -> tuple[Array, Array]:
        """The first k, as distances."""
        distances, rows = np.empty((len(values), k)), np.empty((len(values), k), np.int64)

        def work(share: tuple[int, int]) -> None:
            s = slice(*share)
            rows[s] = found[s, :k]
            if self.metric.name == "cosine":
                distances[s] = np.minimum(values[s, :k] / 2.0, 2.0)
            else:
                distances[s] = self.metric.rooted(values[s, :k])
                if self._scale != 1.0:
                    distances[s] /= self._scale

        self._on_threads(work, len(values))
        return distances, rows

    def _on_threads(self, work: Callable[[tuple[int, int]], Answer], n: int) -> list[Answer]:
        return side_by_side(work, ranges(n, 4 * threads(self.n_jobs)), threads(self.n_jobs))

    @cached_property
    def _exact(self) -> ExactOrder:
        return ExactOrder(self.X, self.metric, self._points)

    def _far_out(self, Q: Array, k: int, group_q: Array, group_x: Array) -> tuple[Array, Array]:
        """Queries so large that squares would overflow: the same search on a smaller scale."""
        return Index(self.X, self.metric, "brute", n_jobs=self.n_jobs, scale=_tame(Q)).query(Q, k, group_q, group_x)

    # -- searching ----------------------------------------------------------------------------------
    def _search(self, Q: Array, k: int, group_q: Array, group_x: Array) -> tuple[Array, Array]:
        """Reduced distances of the nearest k + 1 (or all there are), the first k in exact order: widened where the last
        place is undecided, then settled. Cosine and Minkowski distances come as computed (see `_exact`).
        """
        values, found = self._raw(Q, min(k + 1, len(self._points)), group_q, group_x)
        if self.metric.name in ("minkowski", "cosine"):
            return values, found
        band = 2.1 * (Q.shape[1] + 6) * 2.0**-53
        if values.shape[1] > k:
            self._widen(Q, k, band, values, found, group_q, group_x)
        self._settle(Q, band, values, found)
        return values, found

    def _widen(
        self, Q: Array, k: int, band: float, values: Array, found: Array, group_q: Array, group_x: Array
    ) -> None:
        """Where the (k+1)-th is as near as rounding can tell, take in all that are, and order them
        exactly.
        """
        n, wide = len(self._points), k + 1

        def undecided(share: tuple[int, int]) -> Array:
            v, last = values[slice(*share)], found[slice(*share), k]
            return share[0] + np.flatnonzero((v[:, k] <= v[:, k - 1] * (1.0 + band)) & (last < n))

        open_ = np.concatenate(self._on_threads(undecided, len(Q)))
        if len(open_) and self.exact_arithmetic(Q):
            return  # rounding made no error, so equal is equal and the lower row number came first
        while len(open_):
            wide = min(n, 2 * wide + 8)
            still = []
            for first in range(0, len(open_), max(1, _ENTRIES // wide)):
                part = open_[first : first + max(1, _ENTRIES // wide)]
                own = group_q[part] if len(group_q) else group_q
                more, which = self._raw(Q[part], wide, own, group_x)
                done = (more[:, -1] > more[:, k - 1] * (1.0 + band)) | (which[:, -1] == n) | (wide == n)
                some, rows = np.ascontiguousarray(more[done]), np.ascontiguousarray(which[done])
                self._settle(Q[part[done]], band, some, rows)
                values[part[done]], found[part[done]] = some[:, : k + 1], rows[:, : k + 1]
                still.append(part[~done])
            open_ = np.concatenate(still)

    def exact_arithmetic(self, Q: Array) -> bool:
        """Whether every distance is computed without rounding: smallish integers, unit weights."""
        if not np.all(self._weights == 1.0):
            return False
        for A in (self._points, Q):
            if np.max(np.abs(A), initial=0.0) ** 2 * 4 * A.shape[1] >= 2.0**53 or not np.array_equal(A, np.rint(A)):
                return False
        return True

    def _settle(self, Q: Array, band: float, values: Array, found: Array) -> None:
        def work(share: tuple[int, int]) -> None:
            s = slice(*share)
            parts = np.empty(24 * Q.shape[1] + 64)
            neighbors_order.settle(
                Q[s], self._points, self._weights, self._plain.code, band, values[s], found[s], parts
            )

        self._on_threads(work, len(Q))

    def _raw(self, Q: Array, k: int, group_q: Array, group_x: Array) -> tuple[Array, Array]:
        """Nearest k in the order of double precision."""
        count = threads(self.n_jobs)
        if self._tree is not None:
            m = self._plain
            return self._tree.query(Q, k, self._weights, m.code, m.p, group_q, group_x, count)
        return self._brute.query(Queries(Q, k, group_q, group_x, count))

    def _from_blocks(self, Q: Array, k: int, group_q: Array, group_x: Array) -> tuple[Array, Array]:
        """Distances that are given, or made by the user's function, one block of queries at a time."""
        values, found = np.empty((len(Q), k)), np.empty((len(Q), k), np.int64)
        for first, D in self.blocks(Q):
            neighbors_brute.pick(D, first, group_q, group_x, values, found)
        return values, found

    def blocks(self, Q: Array) -> Any:
        """(first query, distances to every row) for block after block of queries; memory stays bounded."""
        Q = owned(Q)
        step = max(1, _ENTRIES // max(1, len(self.X)))
        for first in range(0, len(Q), step):
            yield first, self._all_distances(Q[first : first + step])

    def _all_distances(self, Q: Array) -> Array:
        if self.metric.name == "precomputed":
            return Q
        if self.metric.name == "function":
            return function_block(self.metric, Q, self.X)
        s = min(_tame(self.X), _tame(Q))
        cosine = self.metric.name == "cosine"
        if cosine:
            Q, s = unit_rows(Q, self.metric.weights, 1), 1.0
        if self._columns is None or s != 1.0:
            columns = np.ascontiguousarray((self._points if cosine else self.X * s).T)[None]
            self._columns = columns if s == 1.0 else None
        else:
            columns = self._columns
        out = np.empty((len(Q), len(self.X)))
        m = self._plain
        Q = Q if s == 1.0 else Q * s
        side_by_side(
            lambda i: neighbors_tree.distances(Q[slice(*i)], columns, self._weights, m.code, m.p, out[slice(*i)]),
            ranges(len(Q), 2 * threads(self.n_jobs)),
            threads(self.n_jobs),
        )
        return out / 2.0 if cosine else m.rooted(out) / s


def owned(A: Array) -> Array:
    """Contiguous, double, writeable: the one kind of array the loops are compiled for."""
    A = np.ascontiguousarray(A, dtype=float)
    return A if A.flags.writeable else A.copy()


def _tame(A: Array) -> float:
    """A power of two (products with it are exact) that brings A to where squares neither overflow nor
    vanish.
    """
    largest = float(np.max(np.abs(A), initial=0.0))
    if largest == 0.0 or 1 / _SAFE < largest < _SAFE:
        return 1.0
    return float(2.0 ** min(1000.0, -np.floor(np.log2(largest))))  # 2¹⁰⁰⁰ is enough, and no more than a float holds


def unit_rows(X: Array, weights: Array | None, side: int) -> Array:
    """Rows on the unit sphere, where half the squared distance is the cosine distance.

    Two further columns keep a zero row at distance 1 from everything. Dividing by the largest entry first
    makes parallel rows equal to the last bit.
    """
    X = X if weights is None else X * np.sqrt(weights)
    largest = np.max(np.abs(X), axis=1, keepdims=True)
    zero = largest == 0.0
    X = X / np.where(zero, 1.0, largest)
    X = X / np.where(zero, 1.0, np.sqrt(np.einsum("ij,ij->i", X, X))[:, None])
    extra = np.zeros((len(X), 2))
    extra[:, side] = zero[:, 0]
    return np.hstack([X, extra])


def choose_method(algorithm: str, metric: Metric, n: int, d: int) -> str:
    """The search that ``algorithm="auto"`` stands for; sizes measured on two cores (see benchmarks knn-low,
    knn-high).

    A tree pays where its boxes exclude most leaves: few features, many rows. The faster brute force in whole
    numbers puts that off to about five times as many rows with each feature; the one in floats to twice as many.
    Without the shortcut of a product (other metrics than the euclidean) a tree pays longer.
    """
    asked = algorithm
    if algorithm == "ball_tree":
        boxes = metric.name not in ("precomputed", "function", "cosine")
        algorithm = "kd_tree" if boxes else "brute"
    if metric.name in ("precomputed", "function", "cosine"):
        if algorithm == "kd_tree" and not (metric.by_name or hasattr(metric.function, "pairwise")):
            raise ValueError(f"algorithm='kd_tree' cannot search by a {metric.name} metric; use 'brute' or 'auto'.")
        return "brute"
    if metric.name == "minkowski" and metric.p < 1:
        if asked != "auto" and asked != "brute":
            raise ValueError(
                f'algorithm="{asked}" does not support 0 < p < 1 for the Minkowski metric. To resolve this problem '
                'either set p >= 1 or algorithm="brute".'
            )
        return "brute"
    if algorithm != "auto":
        return algorithm
    if metric.name == "euclidean":
        return "kd_tree" if d <= 8 and n >= (8 * 5**d if _integers.AVAILABLE else 200 * 2**d) else "brute"
    return "kd_tree" if d <= 20 else "brute"
