"""Tables taken in blocks of rows that a cache holds."""

from __future__ import annotations

import numpy as np

from certifit._types import Array

ENTRIES = 1 << 16  # of a block of rows: with a copy or two it stays in the cache of a core


_MANY, _LARGE, _PAGE = 1 << 17, 1 << 19, 1 << 21  # numbers of a mebibyte, and of four; the bytes of a large page


def places(count: int, n: int) -> Array:
    """``count`` rows of n numbers, not set to anything, in one piece of memory.

    Memory that is taken anew costs as much as what is computed in it, page by page. From four mebibytes on NumPy asks
    for large pages, which cost a tenth of that where they are whole; what is not written to costs nothing.
    """
    size = count * n
    if size < _MANY:
        return np.empty((count, n))
    room = np.empty(max(size, _LARGE) + _PAGE // 8)
    start = -room.__array_interface__["data"][0] % _PAGE // 8
    return room[start : start + size].reshape(count, n)


def rows_of_block(width: int) -> int:
    return max(1, ENTRIES // max(1, width))


def row_blocks(n: int, width: int, least: int = 1) -> list[slice]:
    """n rows of ``width`` numbers in blocks that a cache holds: a pass over a large table then costs one reading.

    ``least`` are the fewest rows of a block, where a short one costs more than what leaves the cache.
    """
    step = max(least, rows_of_block(width))
    return [slice(i, min(n, i + step)) for i in range(0, n, step)]
