"""From the words that estimators use (``kernel="rbf", gamma="scale"``) to a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from certifit._types import Array, Matrix
from certifit.kernels._base import Kernel
from certifit.kernels._kernels import RBF, Function, Linear, Polynomial, Precomputed, Sigmoid

_ROUNDING = 1e-14
TOO_LARGE = (
    "The dual coefficients or intercepts are not finite: X holds numbers too large to square. "
    "Divide its columns by their size first."
)
NAMES = ("linear", "poly", "rbf", "sigmoid", "precomputed")


def scale_gamma(X: Matrix, weights: Array | None = None) -> float:
    """1 / (columns · variance of all entries), the variance weighted by rows; 1 when it is zero.

    Parameters
    ----------
    X : (n, d) array or CSR matrix
    weights : (n,) array, default=None

    Examples
    --------
    >>> scale_gamma(np.array([[0.0], [2.0]]))
    1.0
    """
    n, d = X.shape
    w = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
    w = w / w.sum()
    with np.errstate(over="ignore", invalid="ignore"):
        if scipy.sparse.issparse(X):
            mean = float(w @ np.asarray(X.sum(axis=1)).ravel()) / d
            square = float(w @ np.asarray(X.multiply(X).sum(axis=1)).ravel()) / d
            variance = np.maximum(0.0, square - mean * mean)
        else:
            mean = float(w @ X.sum(axis=1)) / d
            variance = float(w @ np.square(X - mean).sum(axis=1)) / d
    if not np.isfinite(variance):
        raise ValueError(TOO_LARGE)
    # Equal numbers differ from their mean by its rounding: that is no variance.
    return 1.0 / (d * float(variance)) if variance**0.5 > _ROUNDING * abs(mean) else 1.0


def choose(
    kernel: Any, gamma: Any, degree: int, coef0: float, X: Matrix, weights: Array | None = None
) -> tuple[Kernel, float]:
    """The kernel object, and γ as a number.

    Parameters
    ----------
    kernel : str, Kernel or callable
    gamma : float, "scale" or "auto"
    degree : int
    coef0 : float
    X : (n, d) array or CSR matrix
    weights : (n,) array, default=None

    Examples
    --------
    >>> choose("rbf", "auto", 3, 0.0, np.zeros((5, 4)))
    (RBF(gamma=0.25), 0.25)
    """
    if gamma == "scale":
        number = scale_gamma(X, weights) if kernel in ("rbf", "poly", "sigmoid") else 1.0
    else:
        number = 1.0 / X.shape[1] if gamma in ("auto", None) else float(gamma)
    if isinstance(kernel, Kernel):
        return kernel, number
    if callable(kernel):
        return Function(kernel), number
    made: dict[str, Any] = {
        "linear": Linear,
        "precomputed": Precomputed,
        "rbf": lambda: RBF(gamma=number),
        "poly": lambda: Polynomial(degree=int(degree), offset=float(coef0), gamma=number),
        "sigmoid": lambda: Sigmoid(gamma=number, offset=float(coef0)),
    }
    return made[kernel](), number
