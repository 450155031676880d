"""Fingerprints of data: one number that tells whether an array was changed since.

An array is read as words w of 64 bits in the order in which they lie in memory, and these as lines of equal length: the
rows, or a fixed number of words where rows are short, long, or not made of whole words. Lines come in blocks of 128
(the last may be shorter). Let u = w mod 2³² and v = w >> 32 be the halves of a word, and a, c (of 32 bits) and b fixed
odd numbers. Every place j of a line has a sum over the lines i of a block, sⱼ = Σ aᵢ uᵢⱼ + cᵢ vᵢⱼ, and the print of the
block is Σⱼ mix(sⱼ) bⱼ, all modulo 2⁶⁴. The prints of all blocks, in their order, and what is left after the last line
are hashed with BLAKE2. So

- a change of one half of a word always changes its sum, since |aΔu| < 2⁶⁴, and a change of both does unless aΔu + cΔv
  is a multiple of 2⁶⁴: true of a handful of the 2⁶⁶ pairs (Δu, Δv). The print changes with the sum, but for an accident
  of 1 in 2⁴⁰ or less;
- so does moving a word to another place of a line, or to another block. Two words that change places within a block,
  at the same place of two lines, change a sum by (aᵢ − aₖ)(u − u′) + (cᵢ − cₖ)(v − v′): the same again, with other
  numbers. Round floats, whose low halves are all zero, always show it.

This is no defence against somebody who looks for a collision: certificates carry a SHA-256 for that. It costs about one
pass over memory, where SHA-256 would cost more than a fit: a compiled loop, or NumPy for what is small.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse

from certifit._types import Array
from certifit.parallel import side_by_side, tapering

_LINES = 128  # of a block: as many as the loop that takes XᵀX along packs at a time
_LINE = 256  # words of a line where it is not a row
_ROW = (48, 1024)  # words of a row that is a line: shorter ones are slow to fold, longer ones fill a cache with sums
_LARGE = 1 << 20  # words from which on the compiled loop is worth the time it may take to compile
_LOADED = 1 << 14  # words from which on it is worth calling once it is there: the labels beside a large X
_SIGNS = {8: (1 << 63, 0x7FF << 52, 1 << 52), 4: (0x80000000_80000000, 0x7F800000_7F800000, 0x00800000_00800000)}
_PART = 1 << 21  # words that one thread takes at a time, at most
_LEAST = 1 << 18  # and at least: with fewer, threads wait for the interpreter's lock
_PIECE = 1 << 16  # words that stay in the second-level cache while two loops read them, one after the other

Beside = Callable[..., Any]  # takes the number of a part of an array, and some rows of it: first, last


@cache
def _odd() -> tuple[Array, Array]:
    """The fixed odd numbers, as good as random: for every line of a block (two halves) and word of the longest line."""
    numbers = np.random.default_rng(0x5EED).integers(0, 2**64, size=_LINES + max(_ROW), dtype=np.uint64)
    return numbers[:_LINES] | np.uint64(1 << 32 | 1), numbers[_LINES:] | np.uint64(1)


def _prints(blocks: Array) -> Array:
    """The print of each block (b, r, k) of words."""
    (of_line, of_word), low, half = _odd(), np.uint64(2**32 - 1), np.uint64(32)
    words, lows = blocks >> half, blocks & low
    words *= (of_line >> half)[: blocks.shape[1], None]
    lows *= (of_line & low)[: blocks.shape[1], None]
    words += lows
    sums = np.add.reduce(words, axis=1)
    mixed = sums >> np.uint64(31)
    mixed ^= sums
    mixed *= of_word[: blocks.shape[2]]
    return np.asarray(np.add.reduce(mixed, axis=1))


def _fold(lines: Array) -> Array:
    """The prints of lines (n, k) of words, a block at a time."""
    whole = len(lines) // _LINES * _LINES
    full = lines[:whole].reshape(-1, _LINES, lines.shape[1])
    return np.concatenate([_prints(full), _prints(lines[None, whole:])[: len(lines) > whole]])


def _number(*parts: bytes) -> int:
    """One number from bytes, in this order."""
    return int.from_bytes(hashlib.blake2b(b"".join(parts), digest_size=8).digest(), "little")


def _as_lines(A: Array) -> tuple[Array, Array, Array]:
    """The numbers of A as they lie in memory, the words of whole lines of them, and the numbers that are left."""
    rows = A if A.flags.c_contiguous else A.T if A.flags.f_contiguous else np.ascontiguousarray(A)
    flat = rows.reshape(-1)
    if A.itemsize not in (1, 2, 4, 8):  # labels that are words, for one
        flat = flat.view(np.uint8)
    length, odd = divmod(rows.shape[-1] * A.itemsize if A.ndim > 1 else 0, 8)
    length = length if _ROW[0] <= length <= _ROW[1] and not odd else _LINE
    count = flat.nbytes // (8 * length)
    numbers = count * length * 8 // flat.itemsize
    return flat, flat[:numbers].view(np.uint64).reshape(count, length), flat[numbers:]


def _array(A: Array, finite: bool, beside: Beside | None = None, folds: bool = False) -> tuple[int, bool]:
    """Fingerprint of a dense array, and (if asked) whether its numbers are all seen to be finite; see `look`."""
    shape = repr((A.shape, A.dtype.str)).encode()
    if A.dtype == object:
        return _number(shape, "\0".join(map(repr, A.ravel())).encode()), False
    flat, lines, rest = _as_lines(A)
    floats = finite and flat.dtype.kind == "f" and flat.itemsize in _SIGNS
    count, length = lines.shape
    compiled = lines.size >= (_LOADED if "certifit.loops.gram" in sys.modules else _LARGE)

    def rows(first: int, last: int) -> tuple[int, int]:
        """The rows of A that end in these lines, or in what is left after the last line."""
        ends = [line * length * 8 // (A.itemsize * A.shape[1]) for line in (first, last)]
        return ends[0], len(A) if last == count else ends[1]

    def part(edges: tuple[int, int]) -> tuple[bytes, bool]:
        first, last = edges[0] * _LINES, min(edges[1] * _LINES, count)
        if compiled:
            other = None if beside is None else lambda a, b, *more: beside(edges[0], *rows(first + a, first + b), *more)
            return _compiled(lines[first:last], flat.itemsize, other, folds and length * 8 == A.itemsize * A.shape[1])
        if beside is not None:
            beside(edges[0], *rows(first, last))
        numbers = lines[first:last].reshape(-1).view(flat.dtype)
        return _fold(lines[first:last]).tobytes(), bool(np.isfinite(np.add.reduce(numbers))) if floats else False

    blocks, size = -(-count // _LINES), _LINES * length
    with np.errstate(all="ignore"):
        if lines.size > _PART:
            found = side_by_side(part, tapering(blocks, -(-_PART // size), -(-_LEAST // size)))
        else:
            found = [part((0, blocks))]
        fine = bool(np.isfinite(rest.sum())) if floats else False
    answer = _number(shape, rest.tobytes(), *(prints for prints, _ in found))
    return answer, floats and fine and all(fine for _, fine in found)


def _compiled(
    lines: Array, itemsize: int, beside: Callable[..., Any] | None = None, folds: bool = False
) -> tuple[bytes, bool]:
    """The same prints by the compiled loop, and whether the words, taken as floats, are all finite.

    The loop ``beside``, where there is one, reads them, too: it takes the prints along if it ``folds``, or is called
    for every piece of the lines before that is folded.
    """
    from certifit.loops.gram import fold_lines  # loads Numba: only for what is large

    blocks = -(-len(lines) // _LINES)
    prints = np.empty(blocks, dtype=np.uint64)
    if folds and beside is not None:
        finite = beside(0, len(lines), (*_odd(), prints))
        return prints.tobytes(), finite
    sign, exponent, lowest = (np.uint64(bits) for bits in _SIGNS.get(itemsize, (0, 0, 0)))
    piece, carries = max(1, blocks if beside is None else _PIECE // (_LINES * lines.shape[1])), 0
    for block in range(0, max(1, blocks), piece):
        first, last = block * _LINES, min((block + piece) * _LINES, len(lines))
        if beside is not None:
            beside(first, last)
        carries |= int(fold_lines(lines[first:last], *_odd(), exponent, lowest, prints[block : block + piece]))
    return prints.tobytes(), bool(sign) and not carries & int(sign)


def look(X: Array, beside: Beside | None = None, folds: bool = False) -> tuple[int, bool]:
    """The fingerprint of a dense array, and whether all its numbers are seen to be finite, in one pass.

    ``beside`` is another loop that reads the rows of X (then a matrix in C order), called with the number of a part of
    X, and the first row of some rows in it and the one after the last. Together these are all rows; those of one part
    come in order, from one thread, a piece at a time that is then still in the cache. Where it ``folds``, it takes the
    prints along, and says whether the numbers are finite (see `GramBeside.take`): rows that are lines are then read
    once.

    Examples
    --------
    >>> look(np.array([1.0, np.nan]))[1], look(np.array([1.0, 2.0]))[1]
    (False, True)
    """
    found, finite = _array(X, True, beside, folds)
    return _number(found.to_bytes(8, "little")), finite


def fingerprint(part: object) -> int:
    """One number for an array, sparse matrix, data frame or list (or None).

    Examples
    --------
    >>> X = np.arange(6.0).reshape(3, 2)
    >>> before = fingerprint(X)
    >>> X[[0, 2]] = X[[2, 0]]
    >>> fingerprint(X) == before
    False
    """
    return _number(*(_array(A, finite=False)[0].to_bytes(8, "little") for A in _arrays(part)))


def _arrays(part: Any) -> list[Array]:
    if part is None:
        return []
    if scipy.sparse.issparse(part):
        part = part if part.format in ("csr", "csc") else part.tocsr()
        return [np.asarray(part.shape), part.indptr, part.indices, part.data]
    if hasattr(part, "columns") and hasattr(part, "__getitem__"):  # columns of a data frame have types of their own
        return [np.asarray(part[name]) for name in getattr(part, "column_names", part.columns)]
    return [np.asarray(part)]
