"""Certify any clustering: what it costs, what small changes would gain, how far from the best it is at most."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from certifit import certificates
from certifit._types import Array, Matrix, Weights
from certifit.certificates import Certificate, Data
from certifit.cluster._kmeans import cheap_bound, searched_bound
from certifit.cluster._lloyd import ClusterRows


def certify_clusters(
    labels_or_centres: Any, X: Matrix, sample_weight: Weights = None, *, time_budget: float = 0.0
) -> Certificate:
    """How good is this k-means clustering? Its cost, what small changes would gain, and the distance to the best one.

    Parameters
    ----------
    labels_or_centres : array-like of shape (n_samples,) or (n_clusters, n_features), or fitted model
        A label for each row (numbers or strings; centres are the means), or centres (each row belongs to the nearest).
        For a model with ``cluster_centers_`` these are certified; for one with only ``labels_``, the labels.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    sample_weight : array-like of shape (n_samples,), default=None
    time_budget : float ≥ 0, default=0.0
        Seconds to search for a better lower bound; 0 uses only cheap bounds.

    Returns
    -------
    Certificate
        ``value``, ``bound``, ``gap``, ``excess``, and the gain from reassigning rows, moving centres and moving one
        row.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> certify_clusters(["a", "a", "b", "b"], X).excess < 1e-9
    True
    >>> round(certify_clusters([[0.0], [11.0]], X).excess, 6)           # centres that are not means
    1.0
    >>> certify_clusters([0, 1, 1, 1], X).move_gain > 1
    True
    """
    data = Data.of(X, None, sample_weight)
    _check(data)
    given = labels_or_centres
    if hasattr(given, "cluster_centers_") or hasattr(given, "labels_"):
        given = getattr(given, "cluster_centers_", None)
        given = labels_or_centres.labels_ if given is None else given
    labels, centres = _both(np.asarray(given), data)
    cost = ClusterRows(data.X, data.weights)
    cost.labels = labels.astype(np.int32)
    if time_budget > 0:
        found = searched_bound(data, labels, len(centres), cost.value(centres), time_budget)
    else:
        found = cheap_bound(data, labels, len(centres))
    return certificates.issue("clustering", data, {"labels": labels, "centres": centres} | found)


def _check(data: Data) -> None:
    X = data.X
    if X.ndim != 2 or X.dtype == object or not X.shape[0] or not X.shape[1]:
        raise ValueError("X must be a table of numbers with two dimensions.")
    values = X.data if scipy.sparse.issparse(X) else X
    if not data.shapes_agree():
        raise ValueError(f"sample_weight must contain one number for each of the {X.shape[0]} rows of X.")
    if not (np.all(np.isfinite(values)) and np.all(np.isfinite(data.weights))):
        raise ValueError("X or sample_weight contains NaN or infinity: replace or drop it first.")
    if np.any(data.weights < 0) or not np.any(data.weights > 0):
        raise ValueError("sample_weight must not be negative, nor zero for every row.")


def _both(given: Array, data: Data) -> tuple[Array, Array]:
    """Labels 0..k − 1 and centres, whichever of them was given."""
    n, d = data.X.shape
    if given.ndim == 2:
        centres = given.astype(float)
        if centres.shape[1] != d or not len(centres) or not np.all(np.isfinite(centres)):
            raise ValueError(f"Centres must be finite numbers, {d} columns each as X has; these are {given.shape}.")
        rows = ClusterRows(data.X, data.weights)
        rows.start()
        rows.assign(np.ascontiguousarray(centres), None)
        return rows.labels.astype(np.int64), centres
    if given.shape != (n,):
        raise ValueError(f"Give one label for each of the {n} rows of X, or centres as a table with {d} columns.")
    names, labels = np.unique(given, return_inverse=True)
    rows = ClusterRows(data.X, data.weights)
    rows.labels = labels.astype(np.int32)
    sums, total = rows.sums(len(names))
    some = total > 0
    # A cluster without weight costs nothing wherever its centre is.
    centres = np.where(some[:, None], sums / np.where(some, total, 1.0)[:, None], 0.0)
    return labels.astype(np.int64), centres
