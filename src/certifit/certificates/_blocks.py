"""Tables taken in blocks of rows that a cache holds."""

from __future__ import annotations

ENTRIES = 1 << 16  # of a block of rows: with a copy or two it stays in the cache of a core


def rows_of_block(width: int) -> int:
    return max(1, ENTRIES // max(1, width))


def row_blocks(n: int, width: int, least: int = 1) -> list[slice]:
    """n rows of ``width`` numbers in blocks that a cache holds: a pass over a large table then costs one reading.

    ``least`` are the fewest rows of a block, where a short one costs more than what leaves the cache.
    """
    step = max(least, rows_of_block(width))
    return [slice(i, min(n, i + step)) for i in range(0, n, step)]
