"""Basis functions: small objects that turn rows into features and can be pickled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from certifit._types import Array, Matrix


@dataclass(frozen=True)
class Powers:
    """1, x, x², … of every column (no products of columns).

    Parameters
    ----------
    degree : int ≥ 1
    constant : bool, default=False
        Whether the column of ones is among them (then fit without an offset).

    Examples
    --------
    >>> from certifit.bayes import Powers
    >>> Powers(2, constant=True)(np.array([[2.0], [3.0]])).tolist()
    [[1.0, 2.0, 4.0], [1.0, 3.0, 9.0]]
    """

    degree: int
    constant: bool = False

    def __call__(self, X: Matrix) -> Array:
        X = np.asarray(X, dtype=float)
        ones = [np.ones((len(X), 1))] if self.constant else []
        return np.hstack(ones + [X**k for k in range(1, self.degree + 1)])


@dataclass(frozen=True)
class Bumps:
    """Gaussian bumps exp(−‖x − c‖²/(2 width²)) around given centres.

    Parameters
    ----------
    centres : tuple
        One number (or tuple of numbers) per bump.
    width : float > 0, default=1.0

    Examples
    --------
    >>> from certifit.bayes import Bumps
    >>> Bumps((0.0, 1.0))(np.array([[0.0]])).round(4).tolist()
    [[1.0, 0.6065]]
    """

    centres: tuple[Any, ...]
    width: float = 1.0

    def __call__(self, X: Matrix) -> Array:
        X = np.asarray(X, dtype=float)
        C = np.asarray(self.centres, dtype=float).reshape(len(self.centres), -1)
        squares = ((X[:, None, :] - C[None, :, :]) ** 2).sum(axis=2)
        return np.asarray(np.exp(-squares / (2.0 * self.width**2)))
