"""Columns that depend on one another, decided exactly."""

from __future__ import annotations

import math
from collections.abc import Collection
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse

from certifit._types import Array, Matrix
from certifit.certificates._ball import quotient

_CLOSE = 1e-6  # how near a number must be to 0 or a power of two to be tried as one
_ENTRIES = 1 << 24  # entries of X up to which a factorisation is tried


def plain_fraction(x: Any) -> Fraction:
    """A rational of either kind as Python's own."""
    return x if isinstance(x, Fraction) else Fraction(int(x.p), int(x.q))


def rational_of(x: Fraction) -> Array:
    """Python's fraction as an entry of an exact ball."""
    out = np.empty((), dtype=object)
    out[()] = quotient(x.numerator, x.denominator)
    return out


def bits(H: list[list[Fraction]], q: list[Fraction]) -> int:
    """How long the numbers of a system are."""
    return max((max(abs(v.numerator), v.denominator).bit_length() for row in [*H, q] for v in row), default=0)


def excess(H: list[list[Fraction]], q: list[Fraction], held: Collection[int] = ()) -> tuple[Fraction | None, int]:
    """qᵀH⁺q and the rank of a positive semi-definite H; None where q is not in its range.

    Elimination without fractions (Bareiss) of the lower triangle of [[H, q], [qᵀ, 0]], after scaling each row and
    column by a power of two; a pivot of zero has a row of zeros, because H is semi-definite. What is left in the
    corner, over the last pivot, is −qᵀH⁺q.

    The coordinates ``held`` may only grow: any μ ≥ 0 may be added to q there. They are left out, with the μ that makes
    Hx = q + μ for an x that is zero there, except those whose μ would be negative: their row of q is positive when all
    others are eliminated, and then they are eliminated too. (The rank is that of what was eliminated.)

    Examples
    --------
    >>> one = Fraction(1)
    >>> excess([[one, one], [one, one]], [3 * one, 3 * one])
    (Fraction(9, 1), 1)
    """
    p = len(q)
    whole = math.lcm(*(v.denominator for row in [*H, q] for v in row))
    M = [[int(v * whole) for v in H[i][: i + 1]] for i in range(p)] + [[*(int(v * whole) for v in q), 0]]
    last, rank, rest = 1, 0, set(range(p))
    while turn := [k for k in sorted(rest) if k not in held] or [k for k in sorted(rest) if M[p][k] > 0]:
        k = turn[0]
        rest.remove(k)
        held = [j for j in held if j != k]
        column = {i: M[max(i, k)][min(i, k)] for i in (*sorted(rest), p)}
        pivot = M[k][k]
        if pivot == 0:
            if column[p] != 0:
                return None, rank
            continue
        for i, a in column.items():
            for j in column:
                if j <= i:
                    M[i][j] = (pivot * M[i][j] - a * column[j]) // last
        last, rank = pivot, rank + 1
    return Fraction(-M[p][p], last) / whole, rank


def spanning_columns(X: Matrix, weights: Array, fit_intercept: bool) -> Array | None:
    """Columns that, with the constant one, span all others exactly; None where that is not found.

    A pivoted QR of the scaled columns guesses which ones, and how the others are made of them; the guess is believed
    only if each coefficient is 0 or ± a power of two and the sums, rounded correctly (`math.fsum`), are zero in every
    row that has weight. Copies, sums of indicator columns and empty columns are found in this way.
    """
    n, d = X.shape
    if n * d > _ENTRIES:
        return None
    A = (X.toarray() if scipy.sparse.issparse(X) else np.asarray(X))[weights > 0.0]
    level = np.frexp(np.abs(A).max(axis=0, initial=0.0))[1]
    B = np.ldexp(A, -level)
    ones = np.ones((len(A), 1 if fit_intercept else 0))
    centred = B - B.mean(axis=0) if fit_intercept and len(B) else B
    if not (np.all(np.isfinite(centred)) and len(A)):
        return None
    R, order = scipy.linalg.qr(centred, mode="r", pivoting=True, check_finite=False)
    size = np.abs(np.diag(R))
    rank = int(np.sum(size > 1e-11 * size.max(initial=0.0)))
    kept, rest = np.sort(order[:rank]), np.sort(order[rank:])
    base = np.hstack([A[:, kept], ones])
    scaled = np.hstack([B[:, kept], ones])
    steps = np.append(level[kept], np.zeros(ones.shape[1], dtype=int))
    for j in rest:
        guess = np.linalg.lstsq(scaled, B[:, j], rcond=None)[0] if scaled.shape[1] else np.zeros(0)
        parts = _products(base, np.ldexp(guess, level[j] - steps))
        if parts is None or any(math.fsum(row) != 0.0 for row in np.column_stack([parts, -A[:, j]]).tolist()):
            return None
    return kept


def _products(base: Array, guess: Array) -> Array | None:
    """Columns times coefficients that are 0 or ± powers of two, without rounding; None where that is not so."""
    size = np.abs(guess)
    with np.errstate(all="ignore"):
        near = np.where(
            size > _CLOSE * max(float(size.max(initial=0.0)), 1e-300), np.exp2(np.round(np.log2(size))), 0.0
        )
    coefficients = np.sign(guess) * near
    if not np.all(np.abs(coefficients - guess) <= _CLOSE * (size + size.max(initial=0.0))):
        return None
    parts = base * coefficients
    with np.errstate(all="ignore"):
        same = np.where(near > 0.0, parts / np.where(near > 0.0, coefficients, 1.0) == base, True)
    return parts if np.all(same) and np.all(np.isfinite(parts)) else None
