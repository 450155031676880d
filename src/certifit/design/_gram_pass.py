"""XᵀX, XᵀR and column sums in one read of dense rows: blocks that stay in a core's cache, side by side on the cores.

NumPy calls syrk for BᵀB, which does half the work of a product. (SciPy's BLAS lets only one thread at a time do that.)
"""

from __future__ import annotations

import numpy as np

from certifit._types import Array
from certifit.parallel import sum_over_rows

_NUMBERS = 1 << 18  # numbers of one block: with smaller ones threads wait for each other at the interpreter's lock


def gram_pass(
    X: Array,
    R: Array | None = None,
    weights: Array | None = None,
    shift: Array | None = None,
    rough: bool = False,
) -> tuple[Array, Array, Array]:
    """(X − c)ᵀS(X − c), (X − c)ᵀR and Σ sᵢ(xᵢ − c) for dense rows, in double precision.

    Parameters
    ----------
    X : (n, d) array of float64 or float32
    R : (n, t) array, default=None
        Already weighted.
    weights : (n,) array, default=None
        Diagonal of S.
    shift : (d,) array, default=None
        c; zero when None.
    rough : bool, default=False
        Whether blocks of float32 rows are multiplied in single precision: twice as fast, with six digits or so. Only
        their sums are in double precision.

    Examples
    --------
    >>> gram, cross, sums = gram_pass(np.array([[1.0], [3.0]]), np.array([[1.0], [2.0]]), shift=np.array([1.0]))
    >>> gram.item(), cross.item(), sums.item()
    (4.0, 4.0, 2.0)
    """
    n, d = X.shape
    right = np.empty((n, 0)) if R is None else R
    ones = np.ones(n) if weights is None else weights

    def narrow(rows: slice) -> tuple[Array, Array, Array]:
        A = X[rows]
        return (A.T @ A).astype(float), (A.T @ small[rows]).astype(float), (one[: len(A)] @ A).astype(float)

    def work(rows: slice) -> tuple[Array, Array, Array]:
        A = X[rows].astype(float, copy=False) if shift is None else np.subtract(X[rows], shift, dtype=float)
        B = A if weights is None else A * np.sqrt(weights[rows, None])
        return B.T @ B, A.T @ right[rows], ones[rows] @ A

    block = max(64, _NUMBERS // max(1, d))
    if rough and weights is None and shift is None and X.dtype == np.float32:
        small, one = right.astype(X.dtype), np.ones(n, X.dtype)
        return sum_over_rows(narrow, (n, d), block)
    return sum_over_rows(work, (n, d), block)
