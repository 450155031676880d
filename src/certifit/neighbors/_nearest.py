"""Neighbours without labels: the nearest k rows, and all rows within a radius."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from sklearn.utils.validation import validate_data

from certifit._sklearn import Interval, KNeighborsMixin, RadiusNeighborsMixin
from certifit._types import Array, Matrix, Record
from certifit.neighbors._base import KINDS, Search, Searcher, dense, refuse_zeros, rows_of


class NearestNeighbors(KNeighborsMixin, RadiusNeighborsMixin, Search):
    """The nearest training rows of a query, in exact order, with a proof for every query.

    The k rows i with the smallest d(x, xᵢ), equal distances by lower row number (`kneighbors`); or all rows with
    d(x, xᵢ) ≤ r (`radius_neighbors`).

    Parameters
    ----------
    n_neighbors : int ≥ 1, default=5
    radius : float ≥ 0, default=1.0
        r of `radius_neighbors`.
    algorithm, leaf_size, metric, p, metric_params, n_jobs :
        As in `KNeighborsClassifier`.

    Attributes
    ----------
    algorithm_, effective_metric_, effective_metric_params_, n_samples_fit_, n_features_in_, feature_names_in_ :
        As in `KNeighborsClassifier`.
    certificate_ : Certificate
        The stored rows are the training rows; `certificate_for` proves the neighbours of queries.

    Notes
    -----
    Rows within a radius are found by their computed distances: at a distance of r up to rounding the answer is that
    of double precision.

    Examples
    --------
    >>> model = NearestNeighbors(n_neighbors=2).fit([[0.0], [1.0], [2.5]])
    >>> model.kneighbors([[1.6]])[1].tolist(), model.radius_neighbors([[1.6]], radius=0.7)[1][0].tolist()
    ([[1, 2]], [1])
    >>> model.certificate_for([[1.6]]).holds
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Search._parameter_constraints,
        "n_neighbors": Searcher._parameter_constraints["n_neighbors"],
        "radius": [Interval(Real, 0, None, closed="both"), None],
    }
    kneighbors = Search.kneighbors
    kneighbors_graph = Search.kneighbors_graph

    def __init__(
        self,
        *,
        n_neighbors: int | None = 5,
        radius: float | None = 1.0,
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: Any = "minkowski",
        p: float | None = 2,
        metric_params: Record | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def fit(self, X: Matrix, y: Any = None) -> NearestNeighbors:
        """Store the rows and prepare the search.

        Parameters
        ----------
        X : array-like of shape (n, n_features), or (n, n) distances if metric="precomputed"
        y : ignored

        Returns
        -------
        self
        """
        self._validate_params()
        given = isinstance(self.metric, str) and self.metric == "precomputed"
        if given:
            refuse_zeros(X)
        X = validate_data(self, rows_of(X), dtype=KINDS, order="C", accept_sparse="csr")
        self._y_given = None
        self._store(dense(X, given), "none", None)
        return self

    def radius_neighbors(
        self, X: Matrix = None, radius: float | None = None, return_distance: bool = True, sort_results: bool = False
    ) -> Any:
        """All training rows within a radius of each query.

        Parameters
        ----------
        X : array-like of queries, or None: the training rows, none of which is its own neighbour
        radius : float ≥ 0, or one for each query, default=None
            None: as the constructor says.
        return_distance : bool, default=True
        sort_results : bool, default=False
            Whether each list goes by distance (equal ones by row number) rather than by row number.

        Returns
        -------
        distances, indices : arrays of shape (n_queries,) of arrays, or indices alone
        """
        if sort_results and not return_distance:
            raise ValueError("return_distance must be True if sort_results is True.")
        lengths, values, rows = self._within(X, self.radius if radius is None else radius, sort_results)
        ends = np.cumsum(lengths)[:-1]
        found = _ragged(np.split(rows, ends))
        return (_ragged(np.split(values, ends)), found) if return_distance else found

    def _within(self, X: Matrix, radius: Any, by_distance: bool) -> tuple[Array, Array, Array]:
        """How many rows each query has, and distances and numbers of all of them, one query after the other."""
        Q, own, _ = self._queries(X)
        radii = np.broadcast_to(np.asarray(np.nan if radius is None else radius, dtype=float), len(Q))
        if not np.all(radii >= 0):
            raise ValueError(f"radius must be a number at least 0; got {radius!r}.")
        lengths, values, rows = [], [], []
        for first, D in self._index.blocks(Q):
            inside = radii[first : first + len(D), None] >= D
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
        return tuple(np.concatenate(part) for part in (lengths, values, rows))  # type: ignore[return-value]

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
        if mode not in ("connectivity", "distance"):
            raise ValueError(f'Unsupported mode, must be one of "connectivity", or "distance" but got "{mode}" instead')
        lengths, values, rows = self._within(X, self.radius if radius is None else radius, sort_results)
        data = np.ones(len(rows)) if mode == "connectivity" else values
        starts = np.concatenate([[0], np.cumsum(lengths)])
        return scipy.sparse.csr_matrix((data, rows, starts), shape=(len(lengths), self.n_samples_fit_))


def _ragged(parts: list[Array]) -> Array:
    """Arrays of unlike lengths in one array of objects."""
    out = np.empty(len(parts), dtype=object)
    out[:] = parts
    return out
