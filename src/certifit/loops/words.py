"""Words of 64 bits folded into lanes, with a look for infinities and NaN, in one read of memory.

See `certifit.design._fingerprint` for what the numbers mean. A float is infinite or NaN when all bits of its exponent
are ones: then, and only then, does adding the lowest of them carry into the bit of the sign, which was cleared. The OR
of all those sums has that bit set as soon as one of them has. Two float32 share a word and do not disturb each other.
"""

from __future__ import annotations

import numpy as np
from numba import uint64

from certifit.loops._jit import njit


@njit(nogil=True)
def fold_blocks(words, lanes, depth, odd, exponent, lowest, prints):
    """Fingerprints of consecutive blocks of lanes·depth words into ``prints``; returns the OR of the carries."""
    sums = np.zeros(lanes, dtype=np.uint64)
    carries = uint64(0)
    at = 0
    for block in range(prints.shape[0]):
        sums[:] = 0
        for _ in range(depth):
            line = words[at : at + lanes]
            for lane in range(lanes):
                word = line[lane]
                sums[lane] += word
                carries |= (word & exponent) + lowest
            at += lanes
        total = uint64(0)
        for lane in range(lanes):
            total += ((sums[lane] >> uint64(31)) ^ sums[lane]) * odd[lane]
        prints[block] = total
    return carries


def warm() -> None:
    """Compile the loop, for arrays that may be written to and for those that may not."""
    words, bits = np.zeros(2, dtype=np.uint64), np.uint64(0)
    for writable in (True, False):
        words.flags.writeable = writable
        fold_blocks(words, 2, 1, np.ones(2, dtype=np.uint64), bits, bits, np.empty(1, dtype=np.uint64))
