"""Judging lists of nearest rows that were found by hand or by another library."""

from __future__ import annotations

from typing import Any

import numpy as np

from certifit._types import MatrixLike, Record, VectorLike
from certifit.certificates import Certificate, Data, issue


def certify_neighbors(
    indices: MatrixLike,
    X: MatrixLike,
    queries: MatrixLike | None = None,
    *,
    metric: str = "euclidean",
    p: float | None = None,
    feature_weights: VectorLike | None = None,
) -> Certificate:
    """Are these the nearest rows to each query, nearest first?

    Parameters
    ----------
    indices : array-like of shape (m, k)
        For each query the numbers of k rows of X, counted from 0.
    X : array-like of shape (n, d)
    queries : array-like of shape (m, d), default=None
        None: the rows of X, each without itself.
    metric : {"euclidean", "manhattan", "chebyshev", "minkowski", "cosine"}, default="euclidean"
    p : float > 0, default=None
        The power of "minkowski".
    feature_weights : array-like of shape (d,), ≥ 0, default=None

    Returns
    -------
    Certificate
        ``holds`` is False, with the query, where another row is nearer; ``diagnose(X)`` then tries common mistakes.

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [3.0, 0.0], [2.0, 2.0]])
    >>> certify_neighbors([[0, 2]], X, [[0.9, 0.9]]).holds
    True
    >>> wrong = certify_neighbors([[1]], X, [[0.9, 0.2]])
    >>> wrong.holds, [slip.name for slip in wrong.diagnose(X)]
    (False, ['other distance', 'counted from 1'])
    """
    rows = np.atleast_2d(np.asarray(indices))
    data = Data.of(np.asarray(X, dtype=float))
    Q = data.X if queries is None else np.atleast_2d(np.asarray(queries, dtype=float))
    if rows.dtype.kind not in "iuf" or rows.shape[0] != len(Q) or not rows.size:
        raise ValueError(f"indices must contain a line of row numbers for each of the {len(Q)} queries.")
    if Q.shape[1:] != data.X.shape[1:]:
        raise ValueError(f"Queries must have {data.X.shape[1]} columns, as X has.")
    evidence: Record = {"queries": Q, "indices": rows, "metric": metric}
    more: dict[str, Any] = {"p": p, "weights": feature_weights, "own": np.arange(len(Q)) if queries is None else None}
    evidence |= {name: value if name == "p" else np.asarray(value) for name, value in more.items() if value is not None}
    return issue("neighbors", data, evidence)
