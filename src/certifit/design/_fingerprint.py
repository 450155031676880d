"""Fingerprints of data: one number that tells whether an array was changed since.

An array is read as words w of 64 bits in the order in which they lie in memory, a block of k·m at a time. A block is
folded into k lanes, sₗ = w[l] + w[l + k] + w[l + 2k] + ..., and its fingerprint is Σ mix(sₗ) cₗ with fixed odd numbers
c, all modulo 2⁶⁴; those of all blocks, in their order, are hashed with BLAKE2. So

- a change of one word always changes a lane, and with it the fingerprint, but for an accident of 1 in 2⁴⁰ or less;
- moving words from place to place does too, unless both places lie in the same lane of the same block. The number of
  lanes k is a prime greater than the length of a line (a row, or a column in Fortran order), and a block has at most k
  lines, so that no two words of a line and no two lines of a block fall on the same lanes; where lines are too long for
  that, a second folding with another prime tells their places.

This is no defence against somebody who looks for a collision: certificates carry a SHA-256 for that. It costs about one
pass over memory, where SHA-256 would cost more than a fit: a compiled loop, or NumPy for what is small.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import scipy.sparse

from certifit._types import Array
from certifit.parallel import ranges, side_by_side

_PRIMES = (2053, 4099, 8209, 16411)  # lanes; with the first two, sums stay in the first-level cache
_DEPTH = 64  # words of one lane: the more, the less is left to multiply
_LARGE = 1 << 20  # words from which on the compiled loop is worth the time it may take to compile
_LOADED = 1 << 14  # words from which on it is worth calling once it is there: the labels beside a large X
_SIGNS = {8: (1 << 63, 0x7FF << 52, 1 << 52), 4: (0x80000000_80000000, 0x7F800000_7F800000, 0x00800000_00800000)}
_PART = 1 << 20  # words that one thread takes at a time: with fewer, threads wait for the interpreter's lock
_SHARES = 4  # the number of parts is a multiple of it, so that two or four threads have the same to do
_PIECE = 1 << 16  # words that stay in the second-level cache while two loops read them, one after the other

Beside = Callable[[int, int, int], None]  # takes the number of a part of an array, and some rows of it: first, last
Fold = Callable[..., int]


@cache
def _odd(n: int) -> Array:
    """Fixed odd numbers, as good as random."""
    return np.random.default_rng(0x5EED).integers(0, 2**64, size=n, dtype=np.uint64) | np.uint64(1)


def _weigh(sums: Array) -> Array:
    """Σ mix(s) c of every row: high bits are mixed into low ones, for the low bits of round floats are all zero."""
    mixed = sums >> np.uint64(31)
    mixed ^= sums
    mixed *= _odd(_PRIMES[-1])[: sums.shape[-1]]
    return np.asarray(np.add.reduce(mixed, axis=-1))


def _lanes(line: int) -> list[int]:
    """How many lanes to fold a block into, for lines of so many words: one prime, or two where lines are long."""
    above = [k for k in _PRIMES if k > line]
    return above[:1] or [k for k in _PRIMES if line % k][:2]


def _fold(words: Array, k: int, depth: int) -> Array:
    """The fingerprints of consecutive blocks of k·depth words, and of what is left over, if anything."""
    if not len(words):
        return words
    blocks = len(words) // (k * depth)
    whole = blocks * k * depth
    rows = (len(words) - whole) // k
    rest = whole + rows * k
    folded = [_weigh(np.add.reduce(words[:whole].reshape(blocks, depth, k), axis=1))] if blocks else []
    if rows:
        folded.append(_weigh(np.add.reduce(words[whole:rest].reshape(1, rows, k), axis=1)))
    if rest < len(words):
        folded.append(_weigh(words[None, rest:]))
    return np.concatenate(folded)


def _number(*parts: bytes) -> int:
    """One number from bytes, in this order."""
    return int.from_bytes(hashlib.blake2b(b"".join(parts), digest_size=8).digest(), "little")


def _as_words(A: Array) -> tuple[Array, int, int]:
    """The numbers of A as they lie in memory, how many of them make a word, and how many words make a line."""
    lines = A if A.flags.c_contiguous else A.T if A.flags.f_contiguous else np.ascontiguousarray(A)
    flat = lines.reshape(-1)
    if A.itemsize not in (1, 2, 4, 8):  # labels that are words, for one
        flat = flat.view(np.uint8)
    line = lines.shape[-1] * A.itemsize // 8 if A.ndim > 1 else 1
    return flat, 8 // flat.itemsize, max(1, line)


def _array(A: Array, finite: bool, beside: Beside | None = None, fold: Fold | None = None) -> tuple[int, bool]:
    """Fingerprint of a dense array, and (if asked) whether its numbers are all seen to be finite; see `look`."""
    shape = repr((A.shape, A.dtype.str)).encode()
    if A.dtype == object:
        return _number(shape, "\0".join(map(repr, A.ravel())).encode()), False
    flat, per_word, line = _as_words(A)
    lanes, depth = _lanes(line), min(_DEPTH, line)
    floats = finite and flat.dtype.kind == "f" and flat.itemsize in _SIGNS
    whole = len(flat) // per_word * per_word
    words = flat[:whole].view(np.uint64)
    block = lanes[0] * depth
    blocks = len(words) // block

    def part(edges: tuple[int, int]) -> tuple[bytes, bool]:
        first, last = edges[0] * block, len(words) if edges[1] == blocks else edges[1] * block

        def other_loop(start: int, stop: int) -> None:
            """Let the rows that end in these words of this part be read by the other loop."""
            if beside is not None:
                ends = ((first + at) * per_word // A.shape[1] for at in (start, stop))
                beside(edges[0], next(ends), len(A) if first + stop == len(words) else next(ends))

        if compiled and fold is not None:
            ends = first * per_word // A.shape[1], len(A) if last == len(words) else last * per_word // A.shape[1]
            return _compiled(words[first:last], lanes, depth, flat.itemsize, partial(fold, edges[0], *ends))
        if compiled:
            piece = len(words) if beside is None else _PIECE
            return _compiled(words[first:last], lanes, depth, flat.itemsize, None, piece, other_loop)
        other_loop(0, last - first)
        sums = np.add.reduce(flat[first * per_word : last * per_word]) if floats else 0.0
        return b"".join(_fold(words[first:last], k, depth).tobytes() for k in lanes), bool(np.isfinite(sums))

    compiled = len(words) >= (_LOADED if "certifit.loops.gram" in sys.modules else _LARGE)
    parts = _SHARES * -(-len(words) // (_SHARES * _PART)) if len(words) > _PART else 1
    with np.errstate(all="ignore"):
        found = side_by_side(part, ranges(blocks, parts)) if parts > 1 else [part((0, blocks))]
        rest = bool(np.isfinite(flat[whole:].sum())) if floats else False
    answer = _number(shape, flat[whole:].tobytes(), *(prints for prints, _ in found))
    return answer, floats and rest and all(fine for _, fine in found)


def _compiled(
    words: Array,
    lanes: list[int],
    depth: int,
    itemsize: int,
    fold: Callable[..., int] | None,
    piece: int = 0,
    before: Callable[[int, int], None] | None = None,
) -> tuple[bytes, bool]:
    """The same prints by the compiled loop, and whether the words, taken as floats, are all finite.

    Another loop reads them, too: within ``fold``, or called as ``before`` for every piece of them before it is folded.
    """
    from certifit.loops.gram import fold_blocks  # loads Numba: only for what is large

    sign, exponent, lowest = (np.uint64(bits) for bits in _SIGNS.get(itemsize, (0, 0, 0)))
    prints, fine = [], True
    for k in lanes:
        block, blocks = k * depth, len(words) // (k * depth)
        folded = np.empty(blocks, dtype=np.uint64)
        how = k, depth, _odd(_PRIMES[-1]), exponent, lowest
        both, carries = k == lanes[0], 0
        if both and fold is not None:
            carries = fold(words[: blocks * block], *how, folded)
        else:
            for first, last in ranges(blocks, blocks * block // max(piece, 1)) if blocks else []:
                if both and before is not None:
                    before(first * block, last * block)
                carries |= int(fold_blocks(words[first * block : last * block], *how, folded[first:last]))
        rest = words[blocks * block :]
        if both and before is not None:
            before(blocks * block, len(words))
        fine = not carries & int(sign) and bool(np.isfinite(rest.view(f"f{itemsize}").sum())) if sign else False
        prints += [folded.tobytes(), _fold(rest, k, depth).tobytes()]
    return b"".join(prints), fine


def look(X: Array, beside: Beside | None = None, fold: Fold | None = None) -> tuple[int, bool]:
    """The fingerprint of a dense array, and whether all its numbers are seen to be finite, in one pass.

    ``beside`` is another loop that reads the rows of X (then a matrix in C order), called with the number of a part of
    X, and the first row of some rows in it and the one after the last. Together these are all rows; those of one part
    come in order, from one thread, a piece at a time that is then still in the cache. ``fold`` is the same in one
    compiled loop with the fingerprints, for all rows of a part: it takes the arguments of ``beside`` and those of the
    loop `fold_blocks`, and returns what that returns. It is called in place of ``beside`` where X is large enough for
    compiled loops.

    Examples
    --------
    >>> look(np.array([1.0, np.nan]))[1], look(np.array([1.0, 2.0]))[1]
    (False, True)
    """
    found, finite = _array(X, True, beside, fold)
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
