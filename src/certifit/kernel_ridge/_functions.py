"""Kernels that are somebody else's code: scikit-learn's by name, and functions of two rows or of two tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.metrics.pairwise import pairwise_kernels

from certifit._types import Array, Matrix

THEIRS = ("additive_chi2", "chi2", "cosine", "laplacian")
_PROBE = 3  # rows on which a function shows whether it takes rows or tables


class Named:
    """One of scikit-learn's kernels by name, as a function of two tables."""

    def __init__(self, name: str, gamma: float | None, **more: Any) -> None:
        self.name, self.arguments = name, more if gamma is None else {"gamma": gamma, **more}

    def __call__(self, X: Matrix, Z: Matrix) -> Array:
        return np.asarray(pairwise_kernels(X, Z, metric=self.name, filter_params=True, **self.arguments))


class OfRows:
    """A function of two rows as one of two tables."""

    def __init__(self, function: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
        self.function, self.arguments = function, dict(arguments)

    def __call__(self, X: Matrix, Z: Matrix) -> Array:
        return np.asarray(pairwise_kernels(X, Z, metric=self.function, **self.arguments))


class OfTables:
    """A function of two tables with further arguments."""

    def __init__(self, function: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
        self.function, self.arguments = function, dict(arguments)

    def __call__(self, X: Matrix, Z: Matrix) -> Any:
        return self.function(X, Z, **self.arguments)


def as_table_function(function: Callable[..., Any], arguments: Mapping[str, Any], X: Matrix) -> Callable[..., Any]:
    """The function of two tables that a user's function stands for.

    It is tried on a few rows. What gives one number for two rows is a function of rows, as scikit-learn takes it; if
    it also gives the same values for two tables at once, it is called that way, which is faster.

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> least = as_table_function(lambda a, b: np.minimum(a, b).sum(), {}, X)
    >>> type(least).__name__, least(X, X[:1]).ravel().tolist()
    ('OfRows', [3.0, 3.0, 3.0])
    >>> type(as_table_function(lambda A, B: A @ B.T, {}, X)).__name__
    'OfTables'
    """
    whole = OfTables(function, arguments)
    some = X[:_PROBE]
    rows = some.toarray() if scipy.sparse.issparse(some) else np.asarray(some)
    try:
        by_rows = np.array([[float(function(a, b, **arguments)) for b in rows[:2]] for a in rows])
    except Exception:  # whatever a stranger's function raises: it does not take rows
        return whole
    try:
        at_once = np.asarray(whole(rows, rows[:2]), dtype=float)
        agree = at_once.shape == by_rows.shape and len(rows) > 1 and np.allclose(at_once, by_rows)
    except Exception:
        agree = False
    return whole if agree else OfRows(function, arguments)
