"""XᵀX, XᵀR and column sums in one read of dense rows, side by side on the cores.

Large ones by a compiled loop that packs rows and multiplies them in tiles of the processor's registers; small ones, and
rows that do not lie one after the other, by NumPy, in blocks that stay in a core's cache. NumPy calls syrk for BᵀB,
which does half the work of a product. (SciPy's BLAS lets only one thread at a time do that.)
"""

from __future__ import annotations

import math
import threading

import numpy as np

from certifit._types import Array
from certifit.parallel import ranges, side_by_side, sum_over_rows

_NUMBERS = 1 << 18  # numbers of one block: with smaller ones threads wait for each other at the interpreter's lock
_LARGE = 1 << 29  # products of two numbers from which on the compiled loop is worth the time it may take to compile
_WIDE = 1024  # columns up to which its blocks stay in a cache
_ROWS = 128  # of a packed block: enough that adding its tiles to the sums costs little
_PARTS = (
    16  # of the rows, summed on their own; how many depends on the shape alone, so that rounding is always the same
)
_WORTH = 1 << 25  # products that are worth the buffers of a part
_TALL = 256  # rows that are worth its sums: these are as wide as X, and touched twice
_PACKED = 1 << 17  # numbers of a packed block, at most: half of a second-level cache
_NO_PRINTS = (*[np.ones(_ROWS, np.uint64)] * 2, np.empty(0, np.uint64))


def gram_pass(
    X: Array,
    R: Array | None = None,
    weights: Array | None = None,
    shift: Array | None = None,
    rough: bool = False,
) -> tuple[Array, Array, Array]:
    """(X − c)ᵀS(X − c), (X − c)ᵀSR and Σ sᵢ(xᵢ − c) for dense rows, in double precision.

    Parameters
    ----------
    X : (n, d) array of float64 or float32
    R : (n, t) array, default=None
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
    narrow = rough and weights is None and shift is None and X.dtype == np.float32
    if compiled_loop_suits(X):
        return compiled_gram(X, right, weights, shift, np.float32 if narrow else np.float64)
    if narrow:
        return _narrow(X, right)

    def work(rows: slice) -> tuple[Array, Array, Array]:
        A = X[rows].astype(float, copy=False) if shift is None else np.subtract(X[rows], shift, dtype=float)
        if weights is None:
            return A.T @ A, A.T @ right[rows], np.ones(len(A)) @ A
        B, s = A * np.sqrt(weights[rows, None]), weights[rows]
        return B.T @ B, A.T @ (right[rows] * s[:, None]), s @ A

    return sum_over_rows(work, (n, d), max(64, _NUMBERS // max(1, d)))


def many_products(n: int, d: int) -> bool:
    """Whether the compiled loop pays for (n, d) rows, and this processor has the instructions for it.

    Examples
    --------
    >>> many_products(3, 3)
    False
    """
    if n * d**2 < _LARGE or d > _WIDE:
        return False
    from certifit.loops._vectors import LANES  # loads Numba: only for what is large

    return LANES > 0


def compiled_loop_suits(X: Array) -> bool:
    """Whether rows are many enough for the compiled loop, and lie as it reads them.

    Examples
    --------
    >>> compiled_loop_suits(np.eye(3))
    False
    """
    return X.flags.c_contiguous and X.dtype in (np.float64, np.float32) and many_products(*X.shape)


class GramSum:
    """(X − c)ᵀS(X − c | R | 1) summed over rows that come in parts, by the compiled loop.

    ``dtype`` is the precision in which a block of rows is multiplied; float32 suits rows of float32, and is rough.
    ``room`` is memory for the sums (see `rooms`).

    Examples
    --------
    >>> total = GramSum(np.array([1.0]), 1, False)
    >>> _ = total.add(np.array([[1.0], [3.0]]), np.array([[1.0], [2.0]]), np.empty(0))
    >>> [part.item() for part in total.parts()]
    [4.0, 4.0, 2.0]
    """

    def __init__(
        self, shift: Array, targets: int, weighted: bool, dtype: type = np.float64, room: Array | None = None
    ) -> None:
        from certifit.loops.gram import gram_rows, panels

        count, panel, width = panels(len(shift) + targets + 1, dtype == np.float32)
        shape = count, max(16, min(_ROWS, _PACKED // width)), panel
        self.shift, self.targets = read_only(shift.astype(dtype, copy=False)), targets
        self._loop = gram_rows
        self.sums = _aligned(np.float64, width, width) if room is None else room
        self._left = _aligned(dtype, *shape)
        self._right = _aligned(dtype, *shape) if weighted else self._left

    @staticmethod
    def rooms(count: int, columns: int) -> list[Array]:
        """Memory for the sums of so many, with so many columns of X and R together: one piece is faster to touch."""
        from certifit.loops.gram import panels

        width = panels(columns + 1)[2]
        return list(_aligned(np.float64, count, width, width))

    def add(self, X: Array, R: Array, weights: Array, folding: tuple[Array, ...] = _NO_PRINTS) -> None:
        """Take more rows (n, d), C-ordered, in either precision; ``weights`` of length 0 means ones.

        ``folding`` is the odd numbers of lines and of words, and the room for prints, as in the loop `fold_lines` with
        the rows of X as lines.
        """
        given = *map(read_only, (X, R, weights)), self.shift, self._left, self._right, self.sums
        self._loop(*given, *folding)

    def whole(self) -> Array:
        """(X − c | R | 1)ᵀS(X − c | R | 1): a view of the sums."""
        from certifit.loops.gram import symmetric

        return symmetric(self.sums, len(self.shift), self._left.shape[2], self.targets)

    def parts(self) -> tuple[Array, Array, Array]:
        """(X − c)ᵀS(X − c), (X − c)ᵀSR and (X − c)ᵀS1."""
        found, d = self.whole(), len(self.shift)
        return found[:d, :d].copy(), found[:d, d:-1].copy(), found[:d, -1].copy()


class GramBeside:
    """The sums of `gram_pass` for rows that come by a piece at a time, from any thread and in any order (see `look`).

    X is one that `compiled_loop_suits`; ``dtype`` as in `GramSum`.

    Examples
    --------
    >>> sums = GramBeside(np.array([[1.0], [3.0]]), np.array([[1.0], [2.0]]))
    >>> sums.take(1, 1, 2), sums.take(0, 0, 1)
    (True, True)
    >>> [part.item() for part in sums.parts()]
    [10.0, 7.0, 4.0]
    """

    def __init__(
        self, X: Array, R: Array, shift: Array | None = None, dtype: type = np.float64, weights: Array | None = None
    ) -> None:
        self.X, self.R = X, np.ascontiguousarray(R, dtype=float)
        self.shift, self.dtype = np.zeros(X.shape[1]) if shift is None else shift, dtype
        self.weights = np.empty(0) if weights is None else np.ascontiguousarray(weights, dtype=float)
        self._lock, self._total, self._upto = threading.Lock(), self._empty(), 0
        self._waiting: dict[int, tuple[int, GramSum]] = {}  # pieces by their first row, until those before are added
        self._free: list[GramSum] = []

    def take(self, part: int, first: int, last: int, folding: tuple[Array, ...] = _NO_PRINTS) -> bool:
        """Rows first to last of X (which part of X they are does not matter), with ``folding`` as in `GramSum.add`.

        True where their numbers are seen to be finite: then the sums of their squares are, unless these overflow.
        """
        mine = self._begin()
        mine.add(self.X[first:last], self.R[first:last], self.weights[first:last], folding)
        finite = bool(np.isfinite(np.add.reduce(mine.sums.diagonal())))
        self._end(first, last, mine)
        return finite

    def _begin(self) -> GramSum:
        """Sums of zero, in memory that was used before where there is some: fresh pages cost more than adding up."""
        with self._lock:
            if self._free:
                return self._free.pop()
        return self._empty()

    def _end(self, first: int, last: int, sums: GramSum) -> None:
        """Add up the pieces in the order of their rows: what is added to what does not depend on threads."""
        if first == last:
            return
        with self._lock, np.errstate(over="ignore", invalid="ignore"):  # shows in the result
            self._waiting[first] = last, sums
            while self._upto in self._waiting:
                self._upto, ready = self._waiting.pop(self._upto)
                self._total.sums += ready.sums
                ready.sums.fill(0.0)
                self._free.append(ready)

    def _empty(self) -> GramSum:
        return GramSum(self.shift, self.R.shape[1], len(self.weights) > 0, self.dtype)

    def parts(self) -> tuple[Array, Array, Array]:
        """As `gram_pass`, once all rows were there."""
        return self._total.parts()


def _aligned(dtype: type, *shape: int) -> Array:
    """Zeros that begin where a line of the cache begins: a vector that lies across two of them is loaded twice."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    memory = np.zeros(size + 64, np.uint8)
    first = -memory.ctypes.data % 64
    return memory[first : first + size].view(dtype).reshape(shape)


def read_only(A: Array) -> Array:
    """The same array: for Numba those that can be written to are another type, for which it would compile again.

    Examples
    --------
    >>> read_only(np.ones(1)).flags.writeable
    False
    """
    view = A.view()
    view.flags.writeable = False
    return view


def compiled_gram(
    X: Array, R: Array | None, weights: Array | None, shift: Array | None, dtype: type = np.float64
) -> tuple[Array, Array, Array]:
    """`gram_pass` by the compiled loop: rows, right-hand sides and ones are columns of one product."""
    sums = GramBeside(X, np.empty((len(X), 0)) if R is None else R, shift, dtype, weights)
    n, d = X.shape
    parts = ranges(n, max(1, min(_PARTS, n * d**2 // _WORTH, n // _TALL)))
    side_by_side(lambda rows: sums.take(0, *rows), parts)
    return sums.parts()


def _narrow(X: Array, R: Array) -> tuple[Array, Array, Array]:
    """In single precision, a block at a time."""
    n, d = X.shape
    small, one = R.astype(X.dtype), np.ones(n, X.dtype)

    def work(rows: slice) -> tuple[Array, Array, Array]:
        A = X[rows]
        return (A.T @ A).astype(float), (A.T @ small[rows]).astype(float), (one[: len(A)] @ A).astype(float)

    return sum_over_rows(work, (n, d), max(64, _NUMBERS // max(1, d)))
