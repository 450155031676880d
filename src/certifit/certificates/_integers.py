"""Exact linear algebra on floats, which are integers times powers of two.

Columns are brought to integers by one power of two each (`Dyadic`); everything after that is Python's unbounded
integers (python-flint's when it is installed: the same numbers, faster). One primitive answers all questions of
rank, null space and solution: the row-reduced form `reduced`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from certifit._types import Array


@cache
def _fmpz_mat() -> Any:
    """python-flint's matrices of integers, loaded on first use (optional, for speed only)."""
    try:
        from flint import fmpz_mat
    except ImportError:
        return None
    return fmpz_mat


class Dyadic:
    """The columns of a float matrix as integers: column j is ``A[:, j] · 2^(common − level[j])``.

    ``level[j]`` makes the largest entry of column j about one; ``common`` makes every entry an integer.

    Examples
    --------
    >>> d = Dyadic(np.array([[0.5, 8.0], [0.25, 0.0]]))
    >>> d.rows(np.array([0, 1])).tolist()
    [[2, 2], [1, 0]]
    """

    def __init__(self, A: Array) -> None:
        self.A = A
        _, exponent = np.frexp(np.abs(A).max(axis=0, initial=0.0))
        self.level = exponent.astype(np.int64)
        lowest = np.array([_lowest_exponent(A[:, j]) for j in range(A.shape[1])], dtype=np.int64)
        self.common = int(max(0, np.max(self.level - lowest, initial=0)))

    def rows(self, index: Array) -> Array:
        """The chosen rows as an object array of Python integers."""
        mantissa, exponent = _parts(self.A[index])
        shift = np.where(mantissa == 0, 0, exponent + self.common - self.level)
        if np.all(shift < 8):  # 55 bits and 8 more still fit a machine word
            return (mantissa << np.maximum(shift, 0)).astype(object)
        return np.asarray(mantissa.astype(object) << shift.astype(object))


def _parts(A: Array) -> tuple[Array, Array]:
    """A = mantissa · 2^exponent with odd (or zero) 64-bit mantissas."""
    fraction, exponent = np.frexp(A)
    mantissa = np.ldexp(fraction, 53).astype(np.int64)
    _, zeros = np.frexp((mantissa & -mantissa).astype(float))
    zeros = np.where(mantissa == 0, 0, zeros - 1).astype(np.int64)
    return mantissa >> zeros, exponent.astype(np.int64) - 53 + zeros


def _lowest_exponent(column: Array) -> int:
    mantissa, exponent = _parts(column)
    return int(exponent[mantissa != 0].min()) if np.any(mantissa) else 0


def reduced(M: Array) -> tuple[Array, int, list[int]]:
    """Row-reduced form over the integers: (R, den, pivots), where R/den is the reduced row echelon form.

    Fraction-free Gauss-Jordan elimination (Bareiss): every division is exact.

    Examples
    --------
    >>> R, den, pivots = reduced(np.array([[2, 4], [1, 3]], dtype=object))
    >>> (R[:, 0] * 1 == np.array([den, 0])).all(), pivots
    (np.True_, [0, 1])
    """
    A = np.array(M, dtype=object)
    if A.size and _fmpz_mat() is not None:
        return _reduced_by_flint(A)
    den, pivots = 1, list[int]()
    for j in range(A.shape[1]):
        r = len(pivots)
        filled = [i for i in range(r, A.shape[0]) if A[i, j] != 0]
        if not filled:
            continue
        i = min(filled, key=lambda i: abs(A[i, j]))
        A[[r, i]] = A[[i, r]]
        pivot, row, factors = A[r, j], A[r].copy(), A[:, j].copy()
        A = (A * pivot - np.multiply.outer(factors, row)) // den
        A[r] = row
        den = pivot
        pivots.append(j)
    return A, den, pivots


def _reduced_by_flint(A: Array) -> tuple[Array, int, list[int]]:
    R, den, rank = _fmpz_mat()([[int(v) for v in row] for row in A]).rref()
    out = np.empty(A.shape, dtype=object)
    out.ravel()[:] = [int(v) for v in R.entries()]
    pivots = [next(j for j in range(A.shape[1]) if out[i, j] != 0) for i in range(rank)]
    return out, int(den), pivots


def null_space(M: Array) -> Array:
    """Integer vectors (as rows) that span {v : M v = 0}."""
    R, den, pivots = reduced(M)
    free = [j for j in range(M.shape[1]) if j not in set(pivots)]
    out = np.zeros((len(free), M.shape[1]), dtype=object)
    for row, j in zip(out, free):
        row[j] = den
        for i, k in enumerate(pivots):
            row[k] = -R[i, j]
    return out


def annihilates(A: Dyadic, null: Array) -> bool:
    """Whether every row of A is orthogonal to every given integer vector (exactly)."""
    return all(first_violation(A, v) is None for v in null)


def first_violation(A: Dyadic, v: Array) -> int | None:
    """The first row of A that is not orthogonal to the integer vector v, or None."""
    used = np.flatnonzero(v != 0)
    size = max((abs(int(x)).bit_length() for x in v), default=0)
    for start in range(0, len(A.A), 4096):
        block = A.rows(np.arange(start, min(start + 4096, len(A.A))))[:, used]
        bits = max((int(b).bit_length() for b in np.abs(block).max(axis=0)), default=0) if block.size else 0
        if bits + size + len(used).bit_length() < 62:  # machine integers cannot overflow
            product = block.astype(np.int64) @ v[used].astype(np.int64)
        else:
            product = block @ v[used]
        wrong = np.flatnonzero(product != 0)
        if len(wrong):
            return start + int(wrong[0])
    return None


def as_floats(numerators: Array, scale: int | None = None) -> Array:
    """Integers divided by 2^scale, each correctly rounded (by default so that the largest is about one)."""
    ints = [int(v) for v in np.ravel(numerators)]
    bits = max((abs(v).bit_length() for v in ints), default=0) if scale is None else scale
    unit = 1 << max(bits, 0)
    out = np.array([v / unit for v in ints], dtype=float)
    return out.reshape(np.shape(numerators))


def to_words(integers: Any) -> list[str]:
    """Integers as hexadecimal words, which JSON can hold whatever their size."""
    return [hex(int(v)) for v in np.ravel(integers)]


def from_words(words: Array) -> Array:
    """The inverse of `to_words`."""
    out = np.empty(len(words), dtype=object)
    out[:] = [int(w, 16) for w in words]
    return out
