"""Neighbours without labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from certifit._sklearn import KNeighborsMixin
from certifit._types import Matrix, Record, VectorLike
from certifit.neighbors._base import Search, Searcher
from certifit.neighbors._within import WithinRadius


@dataclass(kw_only=True, eq=False, repr=False)
class NearestNeighbors(KNeighborsMixin, WithinRadius):
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
        The stored rows are the training rows; `certificate_for` and `certificate_within` prove the neighbours of
        queries.

    Examples
    --------
    >>> model = NearestNeighbors(n_neighbors=2).fit([[0.0], [1.0], [2.5]])
    >>> model.kneighbors([[1.6]])[1].tolist(), model.radius_neighbors([[1.6]], radius=0.7)[1][0].tolist()
    ([[1, 2]], [1])
    >>> model.certificate_for([[1.6]]).holds, model.certificate_within([[1.6]], radius=0.7).holds
    (True, True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **WithinRadius._parameter_constraints,
        "n_neighbors": Searcher._parameter_constraints["n_neighbors"],
    }
    kneighbors = Search.kneighbors
    kneighbors_graph = Search.kneighbors_graph

    n_neighbors: int | None = 5
    radius: float | None = 1.0
    algorithm: str = "auto"
    leaf_size: int = 30
    metric: Any = "minkowski"
    p: float | None = 2
    metric_params: Record | None = None
    n_jobs: int | None = None

    def fit(self, X: Matrix, y: VectorLike | None = None) -> NearestNeighbors:
        """Store the rows, (n, n) distances with metric="precomputed"; y is ignored."""
        self._validate_params()
        rows = self._read_rows(X)
        self._y_given = None
        self._store(rows, "none", None)
        return self
