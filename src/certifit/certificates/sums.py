r"""Sums over rows that do not depend on the order of the rows, or on who added which of them.

A floating-point sum depends on the order of its terms. Here every number is first cut into digits of 21 bits on a grid
that belongs to its column,

.. math:: \tilde x = \sum_{k<K} s_k\,2^{e - 21(k+1)}, \qquad |s_k| < 2^{21}\ \text{whole}, \qquad
          |x - \tilde x| < 2^{e - 21K},

and products of digits are added: integers below 2⁵³, in which a matrix product of 2048 rows makes no rounding
error whatever the order. Totals are kept as integers of 96 bits. So :math:`\sum_i \tilde a_i\tilde b_i` is known
exactly, is the same for every partitioning, and differs from :math:`\sum_i a_i b_i` by no more than a stated radius.

A number beyond the grid of its column raises the grid by a multiple of 21 bits: digits are places of a fixed
numeral, so sums that were begun on a lower grid lose their last digit and are what they would have been on the
higher one.

A *statistic* is a sum of such a kind: `Statistic.of` a partition, `Statistic.merge` of two, `Statistic.finish`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse

from certifit._types import Array, Named
from certifit.certificates._ball import ETA, UNIT, Ball, quotient, rationals, to_float
from certifit.certificates._data import Data, Evidence, Rigor
from certifit.certificates._record import Kind, Proof
from certifit.certificates._tree import HashTree, Leaf, Rows, leaf_of

WIDTH = 21  # bits of a digit: 2·21 + 11 = 53, so that 2048 products of two digits add up without rounding
ROWS = 1 << (53 - 2 * WIDTH)
_BLOCK = 1 << 14  # rows of a table in memory that are taken at a time
_WEIGHT = 3  # digits of weights
_LOW = 32  # bits of the lower half of a total
_LEAST, _MOST = -900, 1000  # exponents of grids; smaller numbers count as zero, larger ones are refused


@dataclass(frozen=True)
class Block:
    """Some rows, in columns: ``X`` (d, m) with one row a column of the table, and what goes with them."""

    X: Array
    y: Array | None = None
    words: tuple[Array, ...] = ()
    """Columns that are not numbers, one array each."""
    part: str = ""
    """The name of the partition that the rows are from."""
    weight: Array | None = None
    """Weights of the rows, finite and not negative."""
    offset: Array | None = None
    """What is added to the score of each row, finite."""

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.X.shape[1])

    def pieces(self, size: int) -> Iterator[Block]:
        """The same rows in blocks of at most ``size``."""
        for start in range(0, self.rows, size):
            part = slice(start, start + size)
            yield self.take(part)

    def take(self, rows: Any) -> Block:
        """Some of the rows."""
        y, weight, offset = (None if v is None else v[rows] for v in (self.y, self.weight, self.offset))
        return Block(self.X[:, rows], y, tuple(w[rows] for w in self.words), self.part, weight, offset)


class Statistic(ABC):
    """A sum over rows that can be taken apart: of any partition, merged in any order, and finished once."""

    @abstractmethod
    def add(self, block: Block) -> None:
        """Take in some rows."""

    @abstractmethod
    def merge(self, other: Self) -> Self:
        """Take in the rows of another statistic of the same question; returns itself."""

    @abstractmethod
    def finish(self) -> Any:
        """The answer."""

    def of(self, blocks: Iterable[Block]) -> Self:
        """The statistic of one partition; this one must still be empty, and stays so."""
        found = deepcopy(self)
        for block in blocks:
            found.add(block)
        return found


@dataclass(frozen=True)
class Grid:
    """Where the digits of columns begin: x is taken as x − ``centre``, which is below 2^``exponent`` in size."""

    centre: Array
    exponent: Array

    @classmethod
    def of(cls, low: Array, high: Array) -> Grid:
        """The grid of columns between these ends: numbers about the middle need the fewest digits."""
        with np.errstate(over="ignore"):
            centre = np.where(np.isfinite(low) & np.isfinite(high), low * 0.5 + high * 0.5, 0.0)
            reach = np.maximum(high - centre, centre - low)
        return cls(centre, np.clip(np.frexp(np.where(np.isfinite(reach), reach, 0.0))[1], _LEAST, _MOST).astype(int))

    def shift(self, X: Array) -> Array:
        """X minus the centre, rounded once; one row a column."""
        return X - self.centre[:, None]


@dataclass
class Side:
    """One factor of the products: its grid, how many digits it is cut into, and how far entries may be off."""

    exponent: Array
    digits: int
    rounding: float = 0.0
    """Error of the entries as they come, relative to the largest of their column."""
    whole: Array | bool = False
    """Columns whose entries are few integers, of which no digit is cut off."""
    largest: Array = field(init=False)

    def __post_init__(self) -> None:
        self.exponent = np.array(self.exponent, dtype=int)
        self.largest = np.zeros(len(self.exponent))

    def needed(self, M: Array) -> tuple[Array, Array]:
        """Largest entries, and the exponents on which these columns can be written; ValueError for NaN and infinity."""
        size = np.maximum(M.max(axis=1, initial=0.0), -M.min(axis=1, initial=0.0)) + 0.0  # no −0, whatever the order
        if not np.all(np.isfinite(size)):
            raise NotFiniteError(int(np.flatnonzero(~np.isfinite(size))[0]))
        short = np.where(size > 0.0, np.frexp(size)[1] - self.exponent, 0)  # zeros fit on every grid
        return size, self.exponent + WIDTH * np.maximum(0, -(-short // WIDTH))

    def slices(self, M: Array) -> Array:
        """The digits of every entry, (digits · columns, rows), as floats."""
        out = np.empty((self.digits, *M.shape))
        left = np.multiply(M, np.ldexp(1.0, WIDTH - self.exponent)[:, None])
        for k in range(self.digits):
            np.trunc(left, out=out[k])
            if k + 1 < self.digits:
                left -= out[k]
                left *= 2.0**WIDTH
        return out.reshape(self.digits * len(M), -1)

    def error(self) -> Array:
        """How far an entry that was added can be from the one that was meant."""
        cut = np.ldexp(1.0, self.exponent - WIDTH * self.digits)
        exact = self.whole | (self.largest == 0.0)
        return np.where(exact, 0.0, (cut + self.rounding * self.largest) * (1.0 + 4 * UNIT))


class NotFiniteError(ValueError):
    """A column holds NaN or an infinite number; ``column`` says which."""

    def __init__(self, column: int) -> None:
        super().__init__(f"column {column} holds a number that is missing or not finite")
        self.column = column


class Products:
    """Σ aᵢbᵢᵀ over rows, exactly (see the module docstring); with one side, Σ aᵢaᵢᵀ.

    Examples
    --------
    >>> x = np.array([[0.1, 0.2, 0.3, 1e9]])
    >>> there, back = (Products(Side(np.array([30]), 3)) for _ in range(2))
    >>> there.add(x)
    >>> for part in (x[:, 2:], x[:, :2]):
    ...     back.add(part)
    >>> bool(there.values()[0, 0] == back.values()[0, 0])
    True
    """

    def __init__(self, a: Side, b: Side | None = None) -> None:
        self.a, self.b = a, b
        right = b or a
        shape = (a.digits, len(a.exponent), right.digits, len(right.exponent))
        self.high, self.low = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        self.rows = 0

    def add(self, A: Array, B: Array | None = None) -> None:
        """Take in rows: A (p, m), and B (q, m) for a product of two sides."""
        for start in range(0, A.shape[1], ROWS):
            part = slice(start, start + ROWS)
            left = self._cut(self.a, A[:, part], self._raise_a)
            right = left if self.b is None or B is None else self._cut(self.b, B[:, part], self._raise_b)
            self.take(left @ right.T, A[:, part].shape[1])

    def take(self, total: Array, rows: int) -> None:
        """Take in the sums of products of digits, integers, of so many rows."""
        whole = total.astype(np.int64).reshape(self.high.shape)
        self.high += whole >> _LOW
        self.low += whole & ((1 << _LOW) - 1)
        self.rows += rows

    def _cut(self, side: Side, M: Array, lift: Any) -> Array:
        size, exponent = side.needed(M)
        if np.any(exponent > side.exponent):
            lift(exponent)
        side.largest = np.maximum(side.largest, size)
        return side.slices(M)

    def _raise_a(self, exponent: Array) -> None:
        """Sums on a higher grid: every digit moves down by whole places, and the last ones are lost."""
        places = (exponent - self.a.exponent) // WIDTH
        self.high, self.low = (_moved(part, places) for part in (self.high, self.low))
        self.a.exponent = exponent
        if self.b is None:
            swapped = (2, 3, 0, 1)
            self.high, self.low = (
                _moved(part.transpose(swapped), places).transpose(swapped) for part in (self.high, self.low)
            )

    def _raise_b(self, exponent: Array) -> None:
        assert self.b is not None
        places, swapped = (exponent - self.b.exponent) // WIDTH, (2, 3, 0, 1)
        self.high, self.low = (
            _moved(part.transpose(swapped), places).transpose(swapped) for part in (self.high, self.low)
        )
        self.b.exponent = exponent

    def merge(self, other: Products) -> Products:
        """Take in the rows of another such sum."""
        other = deepcopy(other)
        for mine, its in ((self, other), (other, self)):
            if np.any(its.a.exponent > mine.a.exponent):
                mine._raise_a(np.maximum(mine.a.exponent, its.a.exponent))
            if mine.b is not None and its.b is not None and np.any(its.b.exponent > mine.b.exponent):
                mine._raise_b(np.maximum(mine.b.exponent, its.b.exponent))
        self.high, self.low = self.high + other.high, self.low + other.low
        self.high, self.low = self.high + (self.low >> _LOW), self.low & ((1 << _LOW) - 1)
        self.a.largest = np.maximum(self.a.largest, other.a.largest)
        if self.b is not None and other.b is not None:
            self.b.largest = np.maximum(self.b.largest, other.b.largest)
        self.rows += other.rows
        return self

    def _whole(self) -> tuple[Array, Array]:
        """Sums as integers, and the exponents of their units."""
        right = self.b or self.a
        total = self.high.astype(object) * (1 << _LOW) + self.low.astype(object)
        K, L = self.a.digits, right.digits
        found = np.zeros((len(self.a.exponent), len(right.exponent)), dtype=object)
        for k in range(K):
            for m in range(L):
                found = found + total[k, :, m] * (1 << (WIDTH * (K - 1 - k + L - 1 - m)))
        return found, np.add.outer(self.a.exponent - WIDTH * K, right.exponent - WIDTH * L)

    def exact(self) -> Array:
        """The sums of the cut numbers as rationals, (p, q)."""
        whole, unit = self._whole()
        out = np.empty(whole.shape, dtype=object)
        out.ravel()[:] = [
            quotient(int(n) << max(int(e), 0), 1 << max(-int(e), 0)) for n, e in zip(whole.ravel(), unit.ravel())
        ]
        return out

    def values(self) -> Array:
        """The sums as floats, each rounded once."""
        return np.asarray(to_float(self.exact()), dtype=float)

    def radius(self) -> Array:
        """How far the sums can be from those of the numbers that were meant."""
        right = self.b or self.a
        a, b, outer = self.a.error(), right.error(), np.multiply.outer
        with np.errstate(over="ignore"):  # an infinite radius proves nothing, as it should
            wrong = outer(a, right.largest) + outer(self.a.largest, b) + outer(a, b)
            return self.rows * (wrong * (1.0 + 16 * UNIT) + ETA) * (1.0 + 16 * UNIT)

    def balls(self) -> Ball:
        """The sums of the numbers that were meant, as error-bounded floats."""
        values = self.values()
        return Ball(values, (self.radius() + UNIT * np.abs(values)) * (1.0 + 8 * UNIT) + ETA)


class Mass:
    """The weight of every class: integers where rows count equally, exact sums of the weights where not.

    Examples
    --------
    >>> mass = Mass(2, None)
    >>> mass.add(np.array([0, 1, 1]), None)
    >>> mass.finish().mid.tolist()
    [1.0, 2.0]
    """

    def __init__(self, classes: int, weight_exponent: int | None) -> None:
        self.counts = np.zeros(classes, dtype=np.int64)
        one = Side(np.ones(1, dtype=int), 1, 0.0, True)
        exponent = None if weight_exponent is None else np.full(classes, weight_exponent)
        self.sums = None if exponent is None else Products(Side(exponent, _WEIGHT), one)

    def add(self, codes: Array, weight: Array | None) -> None:
        """Take in rows by the number of their class."""
        self.counts += np.bincount(codes, minlength=len(self.counts))
        if self.sums is not None and weight is not None:
            mine = (np.arange(len(self.counts))[:, None] == codes) * weight
            self.sums.add(mine, np.ones((1, len(codes))))

    def merge(self, other: Mass) -> Mass:
        """Take in the rows of another such sum."""
        self.counts = self.counts + other.counts
        if self.sums is not None and other.sums is not None:
            self.sums.merge(other.sums)
        return self

    def exact(self) -> tuple[Array, Array]:
        """The weights as rationals, and how far they can be off."""
        if self.sums is None:
            return rationals(self.counts.astype(float)), np.zeros(len(self.counts))
        return self.sums.exact()[:, 0], self.sums.radius()[:, 0]

    def finish(self) -> Ball:
        """The weights as error-bounded floats."""
        if self.sums is None:
            return Ball(self.counts.astype(float))
        return self.sums.balls().reshape(-1)


def weights_in(block: Block) -> Array:
    """The weights of a block; ValueError unless they are finite and not negative."""
    weight = np.asarray(block.weight, dtype=float)
    if weight.shape != (block.rows,) or not (np.all(np.isfinite(weight)) and np.all(weight >= 0.0)):
        raise ValueError("weights are finite and not negative, one per row")
    return weight


def weight_grid(evidence: Evidence) -> int | None:
    """The exponent of the weights' grid that the evidence names; None for rows that count equally."""
    found = evidence.get("weight_exponent")
    if found is None:
        return None
    if found != int(found) or not -1000 <= found <= 1000:
        raise ValueError("the exponent of the weights is an integer between −1000 and 1000")
    return int(found)


class Fingerprint(Statistic):
    """The SHA-256 of every partition, as leaves of a tree."""

    def __init__(self) -> None:
        self.leaves: dict[str, Leaf] = {}

    def of(self, blocks: Iterable[Block]) -> Fingerprint:
        """One leaf: of the rows of one partition, whatever blocks they come in."""
        return self.beside([], blocks)[0]

    def beside(self, others: list[Statistic], blocks: Iterable[Block]) -> tuple[Fingerprint, list[Statistic]]:
        """The leaf of a partition, and what other statistics make of the same rows."""
        mine, found, name = Fingerprint(), [deepcopy(other) for other in others], ""

        def parts() -> Iterator[Rows]:
            nonlocal name
            for block in blocks:
                name = block.part
                for other in found:
                    other.add(block)
                yield block.X, block.y, block.words, block.weight, block.offset

        leaf = leaf_of(parts())
        mine.leaves[name] = leaf
        return mine, found

    def add(self, block: Block) -> None:
        raise TypeError("a fingerprint is taken of whole partitions: use of()")

    def merge(self, other: Fingerprint) -> Fingerprint:
        self.leaves.update(other.leaves)
        return self

    def finish(self) -> HashTree:
        return HashTree(tuple((name, leaf) for name, leaf in sorted(self.leaves.items()) if leaf.rows))


class SumKind(Kind):
    """A kind of certificate whose proof needs sums over the rows and nothing else of the data.

    The sums can be taken wherever the rows are: `statistic` says which, `conclude` is the proof. In memory, `prove`
    does both.
    """

    weighted: ClassVar[bool] = False
    """Whether rows may have weights; where they have, ``weight_exponent`` of the evidence is the grid of these."""
    shifted: ClassVar[bool] = False
    """Whether rows may have offsets."""

    @abstractmethod
    def statistic(self, evidence: Evidence) -> Statistic:
        """The sums that the proof needs, of no rows yet; the evidence has been checked for its form."""

    @abstractmethod
    def conclude(self, found: Any, evidence: Evidence) -> Proof:
        """What follows from the finished statistic."""

    def recognise(self, data: Data, digests: Named) -> Data | None:
        """These rows, if they are the partitions one after another in the order of the certificate."""
        tree = HashTree.from_list(digests.get("partitions"))
        if not data.shapes_agree() or tree is None:
            return data.as_in(digests.get("data"))
        same = tree.root == digests.get("data") and tree.rows == data.X.shape[0] and tree.matches(data)
        return data if same else None

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        if data.offset is not None and not self.shifted:
            raise ValueError("these sums know no offsets of rows")
        if data.sample_weight is not None and not self.weighted:
            raise ValueError("these sums know no weights of rows")
        return self.conclude(self.statistic(evidence).of(blocks_of(data)).finish(), evidence)


def blocks_of(data: Data) -> Iterator[Block]:
    """The rows of a table in memory."""
    for start in range(0, data.X.shape[0], _BLOCK):
        part = slice(start, start + _BLOCK)
        rows = data.X[part].toarray() if scipy.sparse.issparse(data.X) else data.X[part]
        y, weight, offset = (None if v is None else v[part] for v in (data.y, data.sample_weight, data.offset))
        yield Block(np.ascontiguousarray(rows.T), y, weight=weight, offset=offset)


def _moved(lanes: Array, places: Array) -> Array:
    """Digits of the first axis moved down by so many places for each column of the second."""
    out = np.zeros_like(lanes)
    for k in range(len(lanes)):
        for at in range(k, len(lanes)):
            here = places == at - k
            out[at, here] = lanes[k, here]
    return out
