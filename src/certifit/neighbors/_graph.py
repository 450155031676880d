"""Graphs of neighbours as sparse matrices."""

from __future__ import annotations

from typing import Any

from certifit._types import Matrix, Record
from certifit.neighbors._base import Search
from certifit.neighbors._nearest import NearestNeighbors


def _searcher(X: Any, asked: Record) -> tuple[Any, bool]:
    """A search over X, or X itself where it is one already; whether it was fitted here."""
    if not isinstance(X, Search):
        return NearestNeighbors(**asked).fit(X), True
    for name in ("metric", "p", "metric_params"):
        if asked[name] != getattr(X, name):
            raise ValueError(f"Got {asked[name]} for {name}, while the estimator has {getattr(X, name)} for the same.")
    return X, False


def _queries(search: Search, include_self: bool | str, mode: str) -> Any:
    """The training rows as queries that count themselves, or None: as rows that do not."""
    if include_self == "auto":
        include_self = mode == "connectivity"
    return search._index.X if include_self else None


def kneighbors_graph(
    X: Matrix,
    n_neighbors: int,
    *,
    mode: str = "connectivity",
    metric: Any = "minkowski",
    p: float = 2,
    metric_params: Record | None = None,
    include_self: bool | str = False,
    n_jobs: int | None = None,
) -> Any:
    """The graph from each row to its nearest k rows.

    Aᵢⱼ = 1, or d(xᵢ, xⱼ), where j is one of the k rows nearest to i, equal distances by lower row number.

    Parameters
    ----------
    X : array-like of shape (n, n_features), or a fitted search of this module
    n_neighbors : int ≥ 1
    mode : {"connectivity", "distance"}, default="connectivity"
    metric, p, metric_params, n_jobs :
        As in `NearestNeighbors`.
    include_self : bool or "auto", default=False
        Whether a row counts as its own neighbour; "auto": in mode="connectivity" only.

    Returns
    -------
    CSR matrix of shape (n, n)

    Examples
    --------
    >>> kneighbors_graph([[0.0], [3.0], [1.0]], 1).toarray().tolist()
    [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    asked = {"metric": metric, "p": p, "metric_params": metric_params}
    search, ours = _searcher(X, {**asked, "n_neighbors": n_neighbors, "n_jobs": n_jobs})
    queries = _queries(search, include_self, mode)
    return search.kneighbors_graph(queries, None if ours else n_neighbors, mode=mode)


def radius_neighbors_graph(
    X: Matrix,
    radius: float,
    *,
    mode: str = "connectivity",
    metric: Any = "minkowski",
    p: float = 2,
    metric_params: Record | None = None,
    include_self: bool | str = False,
    n_jobs: int | None = None,
) -> Any:
    """The graph from each row to all rows within a radius.

    Aᵢⱼ = 1, or d(xᵢ, xⱼ), where d(xᵢ, xⱼ) ≤ radius.

    Parameters
    ----------
    X : array-like of shape (n, n_features), or a fitted `NearestNeighbors`
    radius : float ≥ 0
    mode, metric, p, metric_params, include_self, n_jobs :
        As in `kneighbors_graph`.

    Returns
    -------
    CSR matrix of shape (n, n)

    Examples
    --------
    >>> radius_neighbors_graph([[0.0], [3.0], [1.0]], 2.0, mode="distance").toarray().tolist()
    [[0.0, 0.0, 1.0], [0.0, 0.0, 2.0], [1.0, 2.0, 0.0]]
    """
    asked = {"metric": metric, "p": p, "metric_params": metric_params}
    search, ours = _searcher(X, {**asked, "radius": radius, "n_jobs": n_jobs})
    queries = _queries(search, include_self, mode)
    return search.radius_neighbors_graph(queries, None if ours else radius, mode=mode)
