"""All rows within a radius: the search, its graph and its proof."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from certifit._sklearn import Interval, RadiusNeighborsMixin
from certifit._types import Array, Matrix
from certifit.certificates import Certificate, Data, issue
from certifit.certificates.neighbors import Space
from certifit.neighbors._base import Search, refuse_mode

_GIVEN = ("function", "precomputed")
_LOST = 1e-150  # squares of smaller differences may vanish


class WithinRadius(RadiusNeighborsMixin, Search):
    """The search within a radius; leaves add parameters and answers."""

    radius: float | None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Search._parameter_constraints,
        "radius": [Interval(Real, 0, None, closed="both"), None],
    }

    def radius_neighbors(
        self, X: Matrix = None, radius: float | None = None, return_distance: bool = True, sort_results: bool = False
    ) -> Any:
        """All training rows within a radius of each query.

        A row counts if its distance, as a real number, is at most the radius: if rounding leaves this open, it is
        decided in rational numbers (except for Minkowski distances whose power is not an integer).

        Parameters
        ----------
        X : array-like of queries, or None: the training rows, none of which is its own neighbour
        radius : float ≥ 0, or one for each query, default=None
            None: as the constructor says.
        return_distance : bool, default=True
        sort_results : bool, default=False
            Whether each list is sorted by distance (ties by row number) rather than by row number.

        Returns
        -------
        distances, indices : arrays of shape (n_queries,) of arrays, or indices alone
        """
        if sort_results and not return_distance:
            raise ValueError("return_distance must be True if sort_results is True.")
        lengths, values, rows = self._within(X, radius, sort_results)
        ends = np.cumsum(lengths)[:-1]
        found = ragged(np.split(rows, ends))
        return (ragged(np.split(values, ends)), found) if return_distance else found

    def radius_neighbors_graph(
        self, X: Matrix = None, radius: float | None = None, mode: str = "connectivity", sort_results: bool = False
    ) -> Any:
        """The (weighted) graph from queries to all rows within a radius as a sparse matrix.

        Parameters
        ----------
        X, radius, sort_results :
            As in `radius_neighbors`.
        mode : {"connectivity", "distance"}, default="connectivity"

        Returns
        -------
        CSR matrix of shape (n_queries, n_samples_fit)
        """
        refuse_mode(mode)
        lengths, values, rows = self._within(X, radius, sort_results)
        data = np.ones(len(rows)) if mode == "connectivity" else values
        starts = np.concatenate([[0], np.cumsum(lengths)])
        return scipy.sparse.csr_matrix((data, rows, starts), shape=(len(lengths), self.n_samples_fit_))

    def certificate_within(self, X: Matrix, radius: float | None = None) -> Certificate:
        """Proof that the rows within a radius of these queries are exactly those found.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features), or None
            Queries; None: the training rows, each without itself.
        radius : float ≥ 0, default=None
            None: as the constructor says.

        Returns
        -------
        Certificate
            ``evidence["indices"]`` are the rows, one query after the other, ``evidence["counts"]`` how many each has.
        """
        metric = self._index.metric
        if metric.name in _GIVEN:
            raise ValueError(
                f"Distances of a {metric.name} metric are used as given: nothing can be proved about them."
            )
        Q, own, _ = self._queries(X)
        counts, _, rows = self._within(X, radius, False)
        evidence = {
            "queries": np.asarray(Q, dtype=float),
            "radius": float(self._radii(radius, 1)[0]),
            "indices": rows,
            "counts": counts,
            "own": own if X is None else None,
        }
        return issue("radius-neighbors", Data.of(self._index.X, self._y_given), evidence | metric.evidence)

    # -- searching ----------------------------------------------------------------------------------
    def _radii(self, radius: Any, m: int) -> Array:
        """One radius for each of m queries."""
        given = self.radius if radius is None else radius
        radii = np.broadcast_to(np.asarray(np.nan if given is None else given, dtype=float), m)
        if not np.all(radii >= 0):
            raise ValueError(f"radius must be a number at least 0; got {given!r}.")
        return radii

    def _within(self, X: Matrix, radius: Any, by_distance: bool) -> tuple[Array, Array, Array]:
        """How many rows each query has, and distances and numbers of all of them, one query after the other."""
        Q, own, _ = self._queries(X)
        radii = self._radii(radius, len(Q))
        empty = np.empty(0, np.int64)
        lengths, values, rows = [empty], [np.empty(0)], [empty]
        for first, D, inside in self._inside(Q, radii):
            if len(own):
                at = np.arange(len(D))
                inside[at, first + at] = False
            lines, columns = np.nonzero(inside)
            near = D[lines, columns]
            if by_distance:
                order = np.lexsort((columns, near, lines))
                columns, near = columns[order], near[order]
            lengths.append(np.count_nonzero(inside, axis=1))
            values.append(near)
            rows.append(columns)
        return np.concatenate(lengths), np.concatenate(values), np.concatenate(rows)

    def _inside(self, Q: Array, radii: Array) -> Iterator[tuple[int, Array, Array]]:
        """(first query, distances, whether they are within the radius) for block after block of queries."""
        metric, index = self._index.metric, self._index
        slack = 4 * (index.X.shape[1] + 64 + metric.p * (metric.name == "minkowski")) * 2.0**-53
        for first, D in index.blocks(Q):
            r = radii[first : first + len(D), None]
            inside = r >= D
            if metric.name not in _GIVEN:
                width = slack if metric.name == "cosine" else slack * r + _LOST
                lines, columns = np.nonzero((np.abs(D - r) <= width) & np.isfinite(r))
                if len(lines):
                    inside[lines, columns] = self._settled(Q[first:], lines, columns, D, r)
            yield first, D, inside

    def _settled(self, Q: Array, lines: Array, columns: Array, D: Array, radii: Array) -> Array:
        """The exact answers where distance and radius agree up to rounding."""
        index, metric = self._index, self._index.metric
        power = {"euclidean": 2, "manhattan": 1, "chebyshev": 1}.get(metric.name)
        pairs = D[lines, columns], radii[lines, 0]
        if power is not None and index.exact_arithmetic(Q[: len(D)]):  # few different integers: ask once for each
            reduced = np.rint(pairs[0] ** power)
            kinds, which = np.unique(np.stack([reduced, pairs[1]]), axis=1, return_inverse=True)
            answers = [Fraction(v) <= Fraction(r) ** power for v, r in kinds.T.tolist()]
            return np.array(answers)[which.ravel()]
        space = Space(index.X, metric.name, metric.p, metric.weights)
        found = [
            space.within(np.asarray(Q[i], dtype=float), int(j), float(radii[i, 0])) for i, j in zip(lines, columns)
        ]
        by_rounding = pairs[0] <= pairs[1]
        return np.array([near if f is None else f for f, near in zip(found, by_rounding)])


def ragged(parts: list[Array]) -> Array:
    """Arrays of unlike lengths in one array of objects."""
    out = np.empty(len(parts), dtype=object)
    out[:] = parts
    return out
