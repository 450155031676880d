"""The columns a coordinate solver is working on, and their Gram matrix."""

from __future__ import annotations

import numpy as np

from certifit._types import Array
from certifit.design import Block, CentredColumns, powers_of_two

_ROOM = 2048


class WorkingSet:
    """Gathered columns in the order they came, scaled to norm one, with a Gram matrix that grows with them."""

    whole = False

    def __init__(self, columns: CentredColumns) -> None:
        self.columns = columns
        self.which = np.zeros(0, dtype=np.intp)
        self.member = np.zeros(columns.shape[1], dtype=bool)
        self.block: Block | None = None
        self.scale = np.zeros(0)
        self.gram = np.zeros((0, 0))

    @property
    def size(self) -> int:
        return len(self.which)

    def missing(self, which: Array) -> Array:
        return which[~self.member[which]]

    def include(self, which: Array) -> None:
        """Add columns that are not there yet."""
        which = self.missing(which)
        if len(which) == 0:
            return
        m, fresh = self.size, self.columns.gather(which)
        k = m + len(which)
        if k > len(self.gram):
            # Memory that is not touched costs nothing: the first buffer is roomy, so that most fits never copy it.
            larger = np.empty((max(k, 2 * len(self.gram), min(_ROOM, len(self.member))),) * 2)
            larger[:m, :m] = self.gram[:m, :m]
            self.gram = larger
        if self.block is not None:
            across = self.block.cross(fresh)
            self.gram[:m, m:k] = across
            self.gram[m:k, :m] = across.T
        self.gram[m:k, m:k] = fresh.cross(fresh)
        self.block = fresh if self.block is None else self.block.join(fresh)
        self.which = np.concatenate([self.which, which])
        self.member[which] = True
        self.scale = self.block.scale

    def product(self, W: Array) -> Array:
        """A w for scaled coefficients."""
        if self.block is None:
            return np.zeros((self.columns.shape[0], *W.shape[1:]))
        return self.block.product(W)

    def correlate(self, R: Array) -> Array:
        """Scaled Aᵀ r of the columns here."""
        return np.zeros((0, *R.shape[1:])) if self.block is None else self.block.correlate(R)

    def restrict(self, Q: Array, R: Array) -> Array:
        """`correlate` of R, given the correlations Q of every column (raw units); Q is corrected in place.

        The gathered columns are centred, so that their correlations are better where means dwarf spreads.
        """
        q = self.correlate(R)
        Q[self.which] = q * self.scale[:, None]
        return q

    def raw(self, w: Array) -> Array:
        """All d coefficients in the units of X."""
        out = np.zeros(self.columns.shape[1])
        out[self.which] = w / self.scale
        return out

    def scaled(self, raw: Array) -> Array:
        """The coefficients of the columns here, in their scaled units."""
        return raw[self.which] * self.scale


class FullSet(WorkingSet):
    """All columns: the Gram matrix comes from one pass, and the columns are never gathered."""

    whole = True

    def __init__(self, columns: CentredColumns, gram: Array, scale: Array) -> None:
        self.columns = columns
        self.which = np.arange(columns.shape[1])
        self.member = np.ones(columns.shape[1], dtype=bool)
        self.gram, self.scale = gram, scale

    @classmethod
    def of(cls, columns: CentredColumns, gram: Array) -> FullSet:
        """From the Gram matrix of weighted, centred columns."""
        scale = powers_of_two(np.sqrt(np.maximum(np.diag(gram), 0.0)))
        return cls(columns, np.ascontiguousarray(gram / scale / scale[:, None]), scale)

    def product(self, W: Array) -> Array:
        return self.columns.product(W / (self.scale if W.ndim == 1 else self.scale[:, None]))

    def correlate(self, R: Array) -> Array:
        return self.columns.correlate(R) / (self.scale if R.ndim == 1 else self.scale[:, None])

    def restrict(self, Q: Array, R: Array) -> Array:
        return Q / self.scale[:, None]


def full_set(columns: CentredColumns, y: Array) -> FullSet | None:
    """All columns with their Gram matrix; None where means dwarf spreads (gathered columns are then safer)."""
    weights = None if columns.root is None else columns.root**2
    moments = columns.design.moments(np.asarray(y, dtype=float)[:, None], weights, columns.mean is not None)
    spread = np.diag(moments.gram)
    if not np.all(np.isfinite(moments.gram)) or np.any(moments.total * moments.mean**2 > 1e8 * spread):
        return None
    return FullSet.of(columns, moments.gram)
