"""Fingerprints of data: one number that tells whether an array was changed since.

An array is read as words w of 64 bits in the order in which they lie in memory, a block of 2¹⁶ at a time. A block is
folded into k lanes, sₗ = w[l] + w[l + k] + w[l + 2k] + ..., and its fingerprint is Σ mix(sₗ) cₗ with fixed odd numbers
c, all modulo 2⁶⁴; blocks are joined in their order. So

- a change of one word always changes a lane, and with it the fingerprint, but for an accident of 1 in 2⁴⁰ or less;
- moving words from place to place does too, unless both places lie in the same lane of the same block. The number of
  lanes k is prime to the length of a line (a row, or a column in Fortran order) and so large that two lines of a block
  never fall on the same lanes; where lines are longer than k, a second folding with k' prime to k tells their places.

This is no defence against somebody who looks for a collision: certificates carry a SHA-256 for that. It costs a part of
one pass over memory, where SHA-256 would cost more than a fit.
"""

from __future__ import annotations

import hashlib
from functools import cache
from math import gcd
from typing import Any

import numpy as np
import scipy.sparse

from certifit._types import Array
from certifit.parallel import ranges, side_by_side

_BLOCK = 1 << 16  # words: half a megabyte stays in the second-level cache
_DEPTH = 32  # words of one lane: the more, the less is left to multiply
_PART = 16  # blocks that one thread takes at a time


@cache
def _odd(n: int) -> Array:
    """Fixed odd numbers, as good as random."""
    return np.random.default_rng(0x5EED).integers(0, 2**64, size=n, dtype=np.uint64) | np.uint64(1)


def _weigh(sums: Array) -> np.uint64:
    """Σ mix(s) c: high bits are mixed into low ones, for the low bits of round floats are all zero."""
    return np.add.reduce((sums ^ (sums >> np.uint64(31))) * _odd(_BLOCK)[: len(sums)])


def _lanes(line: int) -> list[int]:
    """How many lanes to fold a block into, for lines of so many words."""
    k = -(-_BLOCK // max(1, min(_DEPTH, line)))
    while gcd(k, line) > 1:
        k += 1
    if line <= k:
        return [k]
    other = k + 1
    while gcd(other, k) > 1 or gcd(other, line) > 1:
        other += 1
    return [k, other]


def _fold(words: Array, lanes: list[int]) -> np.uint64:
    """The fingerprint of one block."""
    total = np.uint64(len(words))
    for k in lanes:
        whole = len(words) // k * k
        if whole <= k:
            total = _join(total, _weigh(words))
        else:
            sums = np.add.reduce(words[:whole].reshape(-1, k), axis=0)
            total = _join(_join(total, _weigh(sums)), _weigh(words[whole:]))
    return total


def _join(first: np.uint64, second: np.uint64) -> np.uint64:
    """One number from two, in this order (splitmix64)."""
    z = (int(first) * 0x9E3779B97F4A7C15 + int(second) + 0xD1B54A32D192ED03) & (2**64 - 1)
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & (2**64 - 1)
    return np.uint64(z ^ z >> 31)


def _bytes(b: bytes) -> np.uint64:
    return np.uint64(int.from_bytes(hashlib.blake2b(b, digest_size=8).digest(), "little"))


def _as_words(A: Array) -> tuple[Array, int, int]:
    """The numbers of A as they lie in memory, how many of them make a word, and how many words make a line."""
    lines = A if A.flags.c_contiguous else A.T if A.flags.f_contiguous else np.ascontiguousarray(A)
    flat = lines.reshape(-1)
    if A.itemsize not in (1, 2, 4, 8):  # labels that are words, for one
        flat = flat.view(np.uint8)
    line = lines.shape[-1] * A.itemsize // 8 if A.ndim > 1 else 1
    return flat, 8 // flat.itemsize, max(1, line)


def _array(A: Array) -> tuple[np.uint64, bool]:
    """Fingerprint of a dense array, and whether its sum is a finite float."""
    shape = _bytes(repr((A.shape, A.dtype.str)).encode())
    if A.dtype == object:
        return _join(shape, _bytes("\0".join(map(repr, A.ravel())).encode())), False
    flat, per_word, line = _as_words(A)
    size, lanes, floats = _BLOCK * per_word, _lanes(line), flat.dtype.kind == "f"
    whole = len(flat) // per_word * per_word
    words = flat[:whole].view(np.uint64)

    def part(edges: tuple[int, int]) -> tuple[list[np.uint64], float]:
        prints, total = [], 0.0
        for b in range(*edges):
            if floats:
                total += float(np.add.reduce(flat[b * size : (b + 1) * size]))
            prints.append(_fold(words[b * _BLOCK : (b + 1) * _BLOCK], lanes))
        return prints, total

    blocks = -(-len(words) // _BLOCK)
    parts = ranges(blocks, -(-blocks // _PART))
    with np.errstate(all="ignore"):
        found = side_by_side(part, parts) if len(parts) > 1 else [part(parts[0])]
        total = sum(t for _, t in found) + (float(flat[whole:].sum()) if floats else 0.0)
    answer = _join(shape, _bytes(flat[whole:].tobytes()))
    for prints, _ in found:
        for p in prints:
            answer = _join(answer, p)
    return answer, bool(floats and np.isfinite(total))


def look(X: Array) -> tuple[int, bool]:
    """The fingerprint of a dense array, and whether its numbers have a finite sum, in one pass.

    Parameters
    ----------
    X : array

    Examples
    --------
    >>> look(np.array([1.0, np.nan]))[1], look(np.array([1.0, 2.0]))[1]
    (False, True)
    """
    found, finite = _array(X)
    return int(_join(np.uint64(1), found)), finite


def fingerprint(part: object) -> int:
    """One number for an array, sparse matrix, data frame or list (or None).

    Parameters
    ----------
    part : array-like, sparse matrix, data frame or None

    Examples
    --------
    >>> X = np.arange(6.0).reshape(3, 2)
    >>> before = fingerprint(X)
    >>> X[[0, 2]] = X[[2, 0]]
    >>> fingerprint(X) == before
    False
    """
    arrays = _arrays(part)
    answer = np.uint64(len(arrays))
    for A in arrays:
        answer = _join(answer, _array(A)[0])
    return int(answer)


def _arrays(part: Any) -> list[Array]:
    if part is None:
        return []
    if scipy.sparse.issparse(part):
        part = part if part.format in ("csr", "csc") else part.tocsr()
        return [np.asarray(part.shape), part.indptr, part.indices, part.data]
    if hasattr(part, "columns") and hasattr(part, "__getitem__"):  # columns of a data frame have types of their own
        return [np.asarray(part[name]) for name in getattr(part, "column_names", part.columns)]
    return [np.asarray(part)]
