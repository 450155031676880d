"""How far points lie from a hyperplane, on the right side or the wrong one."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from certifit._types import Array, Matrix, VectorLike

__all__ = ["Margins", "margins"]


@dataclass(frozen=True)
class Margins:
    """Functional and geometric margins, of each point and of the set.

    Attributes
    ----------
    functional, geometric : ndarray of shape (n,)
        y(w·x + b), and that over ‖w‖: the signed distance from the hyperplane.
    set_functional, set_geometric : float
        The smallest of them: the margin of the data set.
    nearest : int
        The row with the smallest geometric margin.

    Examples
    --------
    >>> m = margins([[3.0, 4.0], [0.0, 0.0]], [1, -1], [3.0, 4.0], -5.0)
    >>> m.set_geometric, m.nearest, m.separates
    (1.0, 1, True)
    """

    functional: Array
    geometric: Array

    @property
    def set_functional(self) -> float:
        """The smallest functional margin."""
        return float(self.functional.min())

    @property
    def set_geometric(self) -> float:
        """The smallest geometric margin: that of the data set."""
        return float(self.geometric.min())

    @property
    def nearest(self) -> int:
        """The row with the smallest geometric margin."""
        return int(np.argmin(self.geometric))

    @property
    def separates(self) -> bool:
        """Whether every point lies strictly on its own side (in floats; `separability` proves it)."""
        return self.set_functional > 0

    def __str__(self) -> str:
        return (
            f"margin of the set: functional {self.set_functional:.6g}, geometric {self.set_geometric:.6g} "
            f"(row {self.nearest}); {int(np.sum(self.functional <= 0))} of {len(self.functional)} points are not "
            "strictly on their side"
        )


def margins(X: Matrix, y: VectorLike, w: Any, b: Any) -> Margins:
    """Functional margin y(w·x + b) and geometric margin y(w·x + b)/‖w‖ of every point and of the set.

    Parameters
    ----------
    X : array-like of shape (n, d), or (d,) for one point
    y : array-like of shape (n,), or one label
        Two labels: −1/+1, 0/1, or any two, the second in sorted order being the positive side. With K weight
        vectors: K labels in sorted order, and the margin of a point is the smallest of
        (w_y − w_k)·x + b_y − b_k (over ‖w_y − w_k‖) among the classes k ≠ y.
    w : array-like of shape (d,), or (K, d) for K > 2 classes
        Weights, not all zero.
    b : float, or array-like of shape (K,)
        Offset; 0 through the origin.

    Returns
    -------
    Margins

    Examples
    --------
    >>> import certifit as cf
    >>> m = cf.margins([[3.0, 4.0], [0.0, 0.0]], [1, -1], [3.0, 4.0], -5.0)
    >>> m.functional, m.geometric, m.set_geometric
    (array([20.,  5.]), array([4., 1.]), 1.0)
    """
    if np.ndim(X) == 1 and np.ndim(w) == 2:  # the order before version 0.1: w, b, X, y
        warnings.warn("margins takes X and y first: margins(X, y, w, b).", FutureWarning, stacklevel=2)
        X, y, w, b = w, b, X, y
    W, offset = np.asarray(w, dtype=float), np.asarray(b, dtype=float)
    points = np.atleast_2d(np.asarray(X, dtype=float))
    labels = np.atleast_1d(np.asarray(y))
    if W.ndim == 2 and len(W) == 1:
        W, offset = W[0], offset.reshape(-1)[0]
    if points.ndim != 2 or W.shape[-1:] != points.shape[1:] or labels.shape != points.shape[:1] or not len(points):
        raise ValueError(
            f"w has shape {W.shape}, X {points.shape} and y {labels.shape}: they must be (d,), (n, d) and (n,), n ≥ 1."
        )
    if not (np.all(np.isfinite(W)) and np.all(np.isfinite(offset)) and np.all(np.isfinite(points))):
        raise ValueError("w, b and X must be finite numbers.")
    if W.ndim == 1:
        functional = _signs(labels) * (points @ W + float(offset.reshape(-1)[0] if offset.ndim else offset))
        return Margins(functional, functional / _length(W))
    return _many(W, offset, points, labels)


def _signs(labels: Array) -> Array:
    seen = np.unique(labels)
    if labels.dtype.kind in "biuf":
        numbers = labels.astype(float)
        if np.all(np.isin(numbers, (-1.0, 1.0))):
            return numbers
        if np.all(np.isin(numbers, (0.0, 1.0))):
            return 2.0 * numbers - 1.0
    if len(seen) != 2:
        raise ValueError(f"y must contain two labels, or be among −1/+1 or 0/1; it holds {seen.tolist()}.")
    return np.where(labels == seen[1], 1.0, -1.0)


def _length(w: Array) -> Any:
    size = np.linalg.norm(w, axis=-1)
    if np.any(size == 0):
        raise ValueError("w is zero (or equal for two classes): it does not define a hyperplane.")
    return size


def _many(W: Array, b: Array, X: Array, labels: Array) -> Margins:
    classes, index = np.unique(labels, return_inverse=True)
    if len(classes) != len(W) or b.shape != (len(W),):
        raise ValueError(f"{len(W)} weight vectors need as many offsets and labels; y holds {len(classes)} labels.")
    n = np.arange(len(X))
    scores = X @ W.T + b
    functional = scores[n, index][:, None] - scores
    between = W[:, None, :] - W[None, :, :] + np.eye(len(W))[:, :, None]  # the diagonal is not used
    geometric = functional / _length(between)[index]
    functional[n, index] = geometric[n, index] = np.inf
    return Margins(functional.min(axis=1), geometric.min(axis=1))
