"""Blocks of a Gram matrix, fast, for solvers that touch a part of it at a time.

Kernels of inner products come as one matrix product of padded factors followed by one function applied in place:
for the radial kernel the exponent −γ‖x‖² − γ‖z‖² + 2γ xᵀz is itself the inner product of
(√2γ x, −γ‖x‖², 1) and (√2γ z, 1, −γ‖z‖²). Buffers stay small and are reused: fresh memory for every block would cost
as much as the exponentials.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from certifit._types import Array, Matrix
from certifit.kernels import RBF, Function, Kernel, Linear, Polynomial, Precomputed, Sigmoid, rows
from certifit.parallel import side_by_side

_SPARSE = 4  # columns of a matrix for each one asked for, beyond which they are picked one by one
_CHUNK = 1 << 21  # entries of one buffer: 8 MB in single precision
_MANY = 2000  # points from which on tiles are worth compiling
_STRIPS = 8  # of a whole matrix: what lies below its diagonal is copied from above


def _halves(work: Callable[[int, int], Any], rows: int, entries: int) -> list[Any]:
    """``work(start, stop)`` for both halves of the rows, side by side where it pays.

    The halves are the same whether or not they run side by side, so values do not depend on it.
    """
    halves = [(0, rows // 2), (rows // 2, rows)]
    if entries < 1 << 18 or rows < 2:
        return [work(*half) for half in halves]
    return side_by_side(lambda half: work(*half), halves)


class Blocks(ABC):
    """A Gram matrix of n points, by blocks.

    Examples
    --------
    >>> from certifit.kernels import Linear
    >>> X = np.array([[1.0], [2.0]])
    >>> isinstance(blocks(Linear(), X), Blocks)
    True
    """

    n: int
    dtype: Any

    @abstractmethod
    def block(self, i: Array, j: Array, room: Array | None = None) -> Array:
        """K[i][:, j], to be read only: it may be the whole matrix itself.

        Parameters
        ----------
        i, j : array of int
            Which rows and columns.
        room : array of this precision, default=None
            Memory of at least so many numbers that the answer may take; new memory costs as much as the numbers.
        """

    def whole(self) -> Array:
        """All of K, to be read only."""
        every = np.arange(self.n)
        return self.block(every, every)

    @abstractmethod
    def take(self, i: Array) -> Blocks:
        """The Gram matrix of some of the points.

        Parameters
        ----------
        i : array of int
            Which points.
        """

    @abstractmethod
    def diagonal(self) -> Array:
        """K[k, k] for every point."""

    @abstractmethod
    def combine(self, i: Array, weights: Array, at: Array | None = None) -> Array:
        """Σₖ weightsₖ K[iₖ, :] in double precision.

        Parameters
        ----------
        i : array of int
            Which rows.
        weights : array
            One weight per row.
        at : array of int, default=None
            The points asked for, all of them by default.
        """


class FactorBlocks(Blocks):
    """Kernels of the form function(left @ right.T), the function in place."""

    def __init__(self, left: Array, right: Array, function: Any, diagonal: Array) -> None:
        self.left, self.right, self.function, self._diagonal = left, right, function, diagonal
        self.n, self.dtype = len(left), left.dtype

    def take(self, i: Array) -> FactorBlocks:
        return FactorBlocks(self.left[i], self.right[i], self.function, self._diagonal[i])

    def diagonal(self) -> Array:
        return self._diagonal

    def block(self, i: Array, j: Array, room: Array | None = None) -> Array:
        left, right = self.left[i], self.right[j].T
        K = self._room(len(i), len(j), room)

        def fill(start: int, stop: int) -> None:
            part = K[start:stop]
            np.dot(left[start:stop], right, out=part)
            if self.function is not None:
                self.function(part)

        _halves(fill, len(i), K.size)
        return K

    def _room(self, rows: int, columns: int, room: Array | None) -> Array:
        if room is None:
            return np.empty((rows, columns), self.dtype)
        return room[: rows * columns].reshape(rows, columns)

    def whole(self) -> Array:
        """All of K, which is symmetric: hardly more than half of it is computed."""
        K, ends = np.empty((self.n, self.n), self.dtype), np.linspace(0, self.n, _STRIPS + 1).astype(int)

        def fill(start: int, stop: int) -> None:
            part = K[start:stop, start:]
            np.matmul(self.left[start:stop], self.right[start:].T, out=part)
            if self.function is not None:
                self.function(part)
            K[stop:, start:stop] = part[:, stop - start :].T

        strips = [(a, b) for a, b in pairwise(ends) if b > a]
        side_by_side(lambda strip: fill(*strip), strips)
        return K

    def combine(self, i: Array, weights: Array, at: Array | None = None) -> Array:
        left, w = self.left[i], weights.astype(self.dtype)
        chosen = self.right if at is None else self.right[at]
        if self.function is None:
            return np.asarray(chosen @ (w @ left), dtype=float)
        right, n = chosen.T, len(chosen)
        step = max(1, _CHUNK // max(1, n))

        def add(start: int, stop: int) -> Array:
            total = np.zeros(n)
            buffer = np.empty((min(step, stop - start), n), self.dtype)
            for k in range(start, stop, step):
                end = min(k + step, stop)
                K = buffer[: end - k]
                np.dot(left[k:end], right, out=K)
                if self.function is not None:
                    self.function(K)
                total += w[k:end] @ K
            return total

        first, second = _halves(add, len(i), len(i) * n)
        return np.asarray(first + second)


class RadialBlocks(FactorBlocks):
    """exp(left @ right.T) in tiles of registers (`certifit.loops.radial`): of sums, no matrix is ever in memory."""

    def __init__(self, left: Array, right: Array, function: Any, diagonal: Array) -> None:
        from certifit.loops import radial  # loads Numba: only for what is large

        super().__init__(left, right, function, diagonal)
        self.loops = radial

    def take(self, i: Array) -> RadialBlocks:
        return RadialBlocks(self.left[i], self.right[i], self.function, self._diagonal[i])

    @cached_property
    def _panels(self) -> Array:
        return self.loops.panels(self.right)

    def block(self, i: Array, j: Array, room: Array | None = None) -> Array:
        K, panels = self._room(len(i), len(j), room), self.loops.panels(self.right[j])

        def fill(start: int, stop: int) -> None:
            self.loops.radial_block(self.loops.padded(self.left[i[start:stop]]), panels, K[start:stop])

        _halves(fill, len(i), K.size)
        return K

    def combine(self, i: Array, weights: Array, at: Array | None = None) -> Array:
        rows, w = self.loops.padded(self.left[i]), self.loops.padded(weights.astype(self.dtype))
        panels = self._panels if at is None else self.loops.panels(self.right[at])
        total, wide = np.zeros(self.n if at is None else len(at)), panels.shape[2]

        def add(start: int, stop: int) -> None:
            self.loops.radial_sums(rows, w, panels[start:stop], total[start * wide : stop * wide])

        _halves(add, len(panels), len(i) * len(total))
        return total


class MatrixBlocks(Blocks):
    """A Gram matrix that is there in full, or that of some of its points."""

    def __init__(self, K: Array, points: Array | None = None) -> None:
        self.K, self.points, self.dtype = K, points, K.dtype
        self.n = len(K) if points is None else len(points)

    def _at(self, i: Array) -> Array:
        return i if self.points is None else self.points[i]

    def block(self, i: Array, j: Array, room: Array | None = None) -> Array:
        i, j = self._at(i), self._at(j)
        every = len(i) == len(j) == len(self.K) and np.array_equal(i, j) and bool(np.all(np.diff(i) == 1))
        return self.K if every else self.K.take(i, axis=0).take(j, axis=1)

    def take(self, i: Array) -> Blocks:
        return MatrixBlocks(self.K, self._at(i))

    def diagonal(self) -> Array:
        return np.diagonal(self.K)[self._at(np.arange(self.n))].astype(float)

    def combine(self, i: Array, weights: Array, at: Array | None = None) -> Array:
        there = self.points if at is None else self._at(at)
        w, i = weights.astype(self.dtype), self._at(i)
        if there is not None and _SPARSE * len(there) < len(self.K):
            return np.asarray(w @ self.K[np.ix_(i, there)], dtype=float)
        total = np.asarray(w @ self.K[i], dtype=float)  # whole rows lie together in memory
        return total if there is None else total[there]


class WholeBlocks(MatrixBlocks):
    """A Gram matrix computed once and kept: for few points, whose blocks are asked for again and again.

    Examples
    --------
    >>> from certifit.kernels import Linear
    >>> WholeBlocks(blocks(Linear(), np.array([[1.0], [2.0]]))).block(np.array([0]), np.array([1]))
    array([[2.]])
    """

    def __init__(self, gram: Blocks) -> None:
        super().__init__(gram.whole())
        self.gram = gram

    def combine(self, i: Array, weights: Array, at: Array | None = None) -> Array:
        linear = isinstance(self.gram, FactorBlocks) and self.gram.function is None  # two products with few columns
        return self.gram.combine(i, weights, at) if linear else super().combine(i, weights, at)


class TwiceBlocks(Blocks):
    """Every point twice: points i and n + i are the same (the two sides of a tube, say).

    Examples
    --------
    >>> TwiceBlocks(MatrixBlocks(np.array([[2.0]]))).combine(np.array([0, 1]), np.array([1.0, -3.0])).tolist()
    [-4.0, -4.0]
    """

    def __init__(self, once: Blocks) -> None:
        self.once, self.n, self.dtype = once, 2 * once.n, once.dtype

    def block(self, i: Array, j: Array, room: Array | None = None) -> Array:
        return self.once.block(i % self.once.n, j % self.once.n, room)

    def take(self, i: Array) -> Blocks:
        return self.once.take(i % self.once.n)

    def diagonal(self) -> Array:
        return np.tile(self.once.diagonal(), 2)

    def combine(self, i: Array, weights: Array, at: Array | None = None) -> Array:
        total = np.bincount(i % self.once.n, weights, self.once.n)
        used = np.flatnonzero(total)
        if at is not None:
            return self.once.combine(used, total[used], at % self.once.n)
        return np.tile(self.once.combine(used, total[used]), 2)


class KernelBlocks(Blocks):
    """Any kernel on any rows; whole rows are kept, the least recently used given up, under a memory limit."""

    def __init__(self, kernel: Kernel, X: Matrix, dtype: npt.DTypeLike, memory: float) -> None:
        self.kernel, self.X, self.n, self.dtype = kernel, X, X.shape[0], dtype
        self.memory = memory
        self.room = max(2, int(memory / (self.n * np.dtype(dtype).itemsize)))
        self._kept: OrderedDict[int, Array] = OrderedDict()

    def take(self, i: Array) -> Blocks:
        return KernelBlocks(self.kernel, self.X[i], self.dtype, self.memory)

    def diagonal(self) -> Array:
        return np.asarray(self.kernel.diagonal(self.X), dtype=float)

    def _rows(self, i: Array) -> Array:
        missing = np.array([k for k in i if k not in self._kept], dtype=int)
        fresh = {}
        if len(missing):
            K = np.asarray(self.kernel.gram(self.X[missing], self.X), dtype=self.dtype)
            fresh = {int(k): K[r] for r, k in enumerate(missing)}
        out = np.empty((len(i), self.n), self.dtype)
        for r, k in enumerate(i):
            out[r] = fresh[k] if k in fresh else self._kept[k]
        for k in map(int, i):
            if k in self._kept:
                self._kept.move_to_end(k)
            else:
                self._kept[k] = fresh[k].copy()
        while len(self._kept) > self.room:
            self._kept.popitem(last=False)
        return out

    def block(self, i: Array, j: Array, room: Array | None = None) -> Array:
        # Rows at hand are cut; for the rest only the block is computed, unless whole rows would be asked soon.
        return np.asarray(self.kernel.gram(self.X[i], self.X[j]), dtype=self.dtype)

    def combine(self, i: Array, weights: Array, at: Array | None = None) -> Array:
        n = self.n if at is None else len(at)
        total = np.zeros(n)
        step = max(1, min(self.room, _CHUNK // max(1, n)))
        for k in range(0, len(i), step):
            some = i[k : k + step]
            total += weights[k : k + step].astype(self.dtype) @ (
                self._rows(some) if at is None else self.block(some, at)
            )
        return total


def _many(n: int) -> bool:
    """Whether the compiled loop pays for so many points, and this processor has the instructions for it."""
    if n < _MANY:
        return False
    from certifit.loops._vectors import LANES  # loads Numba: only for what is large

    return LANES > 0


def _exp(K: Array) -> None:
    np.exp(K, out=K)


def _tanh(K: Array) -> None:
    np.tanh(K, out=K)


def _power(degree: int) -> Any:
    def function(K: Array) -> None:
        base = K.copy()
        for bit in bin(degree)[3:]:
            np.multiply(K, K, out=K)
            if bit == "1":
                np.multiply(K, base, out=K)

    return function


def _padded(X: Array, scale: float, left: Any, right: Any, dtype: npt.DTypeLike) -> tuple[Array, Array]:
    n, d = X.shape
    A, B = np.empty((n, d + 2), dtype), np.empty((n, d + 2), dtype)
    root = np.sqrt(abs(scale))
    A[:, :d] = X * root
    B[:, :d] = A[:, :d] if scale >= 0 else -A[:, :d]
    A[:, d], A[:, d + 1] = left, 1.0
    B[:, d], B[:, d + 1] = 1.0, right
    return A, B


def blocks(kernel: Kernel, X: Matrix, dtype: npt.DTypeLike = np.float64, memory: float = 2e8) -> Blocks:
    """The Gram matrix of X by blocks; ``memory`` (bytes) limits what is kept of kernels that are slow to compute.

    Parameters
    ----------
    kernel : Kernel
    X : array or sparse matrix of shape (n, d)
    dtype : dtype, default=float64
    memory : float > 0, default=2e8
        Bytes.

    Examples
    --------
    >>> b = blocks(RBF(gamma=0.5), np.array([[0.0], [2.0]]))
    >>> b.combine(np.array([0]), np.array([1.0])).round(6).tolist()
    [1.0, 0.135335]
    """
    if isinstance(kernel, Precomputed):
        return MatrixBlocks(np.ascontiguousarray(X, dtype=dtype))
    X = rows(X)
    if scipy.sparse.issparse(X) or not isinstance(kernel, (Linear, Polynomial, RBF, Sigmoid)):
        # What fits is computed once; a user's function is called once in any case, as scikit-learn does.
        if isinstance(kernel, Function) or X.shape[0] ** 2 * np.dtype(dtype).itemsize <= memory:
            return MatrixBlocks(np.asarray(kernel.gram(X, X), dtype=dtype))
        return KernelBlocks(kernel, X, dtype, memory)
    diagonal = np.asarray(kernel.diagonal(X), dtype=float)
    if isinstance(kernel, RBF):
        X = X - X.mean(axis=0)  # distances stay, cancellation shrinks
        square = -kernel.gamma * np.einsum("ij,ij->i", X, X)
        factors = _padded(X, 2.0 * kernel.gamma, square, square, dtype)
        return (RadialBlocks if _many(len(X)) else FactorBlocks)(*factors, _exp, diagonal)
    if isinstance(kernel, Linear):
        A = np.ascontiguousarray(X, dtype=dtype)
        return FactorBlocks(A, A, None, diagonal)
    function = _tanh if isinstance(kernel, Sigmoid) else _power(int(kernel.degree))
    return FactorBlocks(*_padded(X, kernel.gamma, kernel.offset, 0.0, dtype), function, diagonal)
