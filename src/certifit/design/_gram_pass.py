"""XᵀX, XᵀR and column sums in one read of dense rows: blocks that stay in a core's cache, side by side on the cores.

BLAS adds each block to the sums of its range of rows (syrk: half the work of a product, and nothing is copied).
Single-precision rows are multiplied in double precision unless the caller can mend what single precision loses.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dsyrk, ssyrk

from certifit._types import Array
from certifit.parallel import by_stripes

_NUMBERS = 1 << 17  # numbers of one block: a megabyte, half of a usual second-level cache


def gram_pass(
    X: Array,
    R: Array | None = None,
    weights: Array | None = None,
    shift: Array | None = None,
    single: bool = False,
) -> tuple[Array, Array, Array]:
    """(X − c)ᵀS(X − c), (X − c)ᵀR and Σ sᵢ(xᵢ − c) for dense rows.

    Parameters
    ----------
    X : (n, d) array of float64 or float32
    R : (n, t) array, default=None
        Already weighted.
    weights : (n,) array, default=None
        Diagonal of S.
    shift : (d,) array, default=None
        c; zero when None.
    single : bool, default=False
        Whether single-precision rows may be multiplied as they are: off by about 1e-7 of the sums, in half the time.

    Examples
    --------
    >>> gram, cross, sums = gram_pass(np.array([[1.0], [3.0]]), np.array([[1.0], [2.0]]), shift=np.array([1.0]))
    >>> gram.item(), cross.item(), sums.item()
    (4.0, 4.0, 2.0)
    """
    n, d = X.shape
    right = np.empty((n, 0)) if R is None else R
    real = X.dtype if single and X.dtype == np.float32 else np.dtype(float)
    origin = None if shift is None else shift.astype(real)
    rows = max(64, _NUMBERS // max(1, d))

    def stripe(first: int, last: int) -> tuple[Array, Array, Array]:
        square, gram = np.zeros((d, d), real, order="F"), np.zeros((d, d))
        cross, sums = np.zeros((d, right.shape[1])), np.zeros(d)
        fresh = origin is not None or X.dtype != real or not X.flags.c_contiguous
        room = np.empty((min(rows, last - first), d), real) if fresh else None
        for i in range(first, last, rows):
            part = slice(i, min(i + rows, last))
            A = X[part]
            if room is not None:
                room = room[: len(A)]
                A = np.subtract(A, origin, out=room, dtype=real) if origin is not None else _copied(A, room)
            ones = np.ones(len(A), real) if weights is None else weights[part].astype(real, copy=False)
            # Two thin products: faster than one with the columns side by side.
            cross += A.T @ right[part].astype(real, copy=False)
            sums += ones @ A
            if weights is not None:
                A = A * np.sqrt(ones)[:, None]
            if real == np.float32:  # sums of many blocks would lose digits
                gram += ssyrk(1.0, A.T, c=square, beta=0.0, overwrite_c=1)
            else:
                square = dsyrk(1.0, A.T, c=square, beta=1.0, overwrite_c=1)
        return gram if real == np.float32 else square, cross, sums

    gram, cross, sums = by_stripes(stripe, (n, d))
    return np.triu(gram) + np.triu(gram, 1).T, cross, sums


def _copied(A: Array, room: Array) -> Array:
    np.copyto(room, A)
    return room
