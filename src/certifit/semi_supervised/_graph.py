"""The graph of rows: weights between them, as scikit-learn defines them, without the diagonal."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import NearestNeighbors

from certifit._types import Array, Matrix
from certifit.certificates.harmonic import CUT
from certifit.nearest import Index, Metric

_DIRECT = 1 << 24  # entries of the cube of differences up to which distances are taken by differences


def rbf(X: Matrix, Z: Matrix, gamma: float) -> Array:
    """exp(−γ‖x − z‖²) for every row of X and of Z; below `CUT` it counts as zero."""
    if not (scipy.sparse.issparse(X) or scipy.sparse.issparse(Z)) and X.shape[0] * Z.shape[0] * X.shape[1] <= _DIRECT:
        squares = ((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2)
    else:
        squares = euclidean_distances(X, Z, squared=True)
    with np.errstate(under="ignore"):
        W = np.exp(-gamma * squares)
    W[W < CUT] = 0.0
    return np.asarray(W)


def neighbors(X: Matrix, k: int, n_jobs: int | None) -> Array:
    """The nearest k − 1 other rows of each row, which is the first of its own neighbours."""
    n = X.shape[0]
    if k > n:
        raise ValueError(
            f"n_neighbors={k} is more than there are rows (n_samples = {n}): choose a smaller one, or kernel='rbf'."
        )
    if k == 1:
        return np.empty((n, 0), dtype=int)
    if scipy.sparse.issparse(X):
        found = NearestNeighbors(n_neighbors=k - 1, n_jobs=n_jobs).fit(X).kneighbors(return_distance=False)
    else:
        rows = np.arange(n)
        found = _index(X, n_jobs).query(X, k - 1, rows, rows)[1]
    return np.sort(found, axis=1)


def nearest(X: Matrix, Z: Matrix, k: int, n_jobs: int | None) -> Array:
    """The nearest k rows of X to each row of Z."""
    if scipy.sparse.issparse(X) or scipy.sparse.issparse(Z):
        search = NearestNeighbors(n_neighbors=k, algorithm="brute", n_jobs=n_jobs).fit(X)  # trees: dense only
        return np.asarray(search.kneighbors(Z, return_distance=False))
    return _index(X, n_jobs).query(Z, k)[1]


def _index(X: Array, n_jobs: int | None) -> Index:
    """Our search, which orders dense rows exactly; sparse ones stay sparse in scikit-learn's."""
    return Index(X, Metric("euclidean"), n_jobs=n_jobs)


def linked(lists: Array) -> Any:
    """The sparse matrix with a one for every neighbour."""
    n, k = lists.shape
    return scipy.sparse.csr_matrix((np.ones(n * k), lists.ravel(), np.arange(n + 1) * k), shape=(n, n))


def given(kernel: Any, X: Matrix) -> Any:
    """What a user's function says, checked."""
    W: Any = kernel(X, X)
    n = X.shape[0]
    sparse = scipy.sparse.issparse(W)
    W = W.tocsr().astype(float) if sparse else np.array(W, dtype=float)
    if W.shape != (n, n):
        raise ValueError(f"The kernel must return one weight for each pair of rows: shape {(n, n)}, not {W.shape}.")
    values = W.data if sparse else W
    if not np.all(np.isfinite(values)) or np.any(values < 0):
        raise ValueError("The kernel must return finite weights that are not negative.")
    if not sparse:
        np.fill_diagonal(W, 0.0)
        W[W < CUT] = 0.0
        return W
    entries = W.tocoo()
    entries.sum_duplicates()
    kept = (entries.row != entries.col) & (entries.data >= CUT)
    found = entries.data[kept], (entries.row[kept], entries.col[kept])
    return scipy.sparse.csr_matrix(found, shape=(n, n))
