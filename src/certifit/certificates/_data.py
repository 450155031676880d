"""The data that a certificate speaks about, and their fingerprint."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse

from certifit._types import Array, Matrix, Record, VectorLike
from certifit.certificates._ball import Ball, rationals
from certifit.certificates._blocks import row_blocks

Rigor = Literal["float", "exact"]

Evidence: TypeAlias = Mapping[str, Any]
"""What a re-check needs besides the data: numbers, words, lists and arrays by name."""

Figures: TypeAlias = Mapping[str, Any]
"""What a certificate states: numbers and words by name."""
_MINUS_ZERO = -(2**63)  # the bytes of −0.0 as an integer: there is no smaller one
_DENSE = 1 << 27  # entries that a sparse matrix may have to be compared with dense rows


@dataclass(frozen=True)
class Data:
    """X, y, weights and offset in canonical form: float64 rows (or sorted CSR), labels as given.

    Attributes
    ----------
    X : (n, d) array or CSR matrix
    y, sample_weight, offset : array or None

    Examples
    --------
    >>> a = Data.of([[1, 2]], [3])
    >>> a.digest() == Data.of(np.array([[1.0, 2.0]]), np.array([3.0])).digest()
    True
    """

    X: Matrix
    y: Array | None = None
    sample_weight: Array | None = None
    offset: Array | None = None

    @classmethod
    def of(cls, X: Matrix, y: Any = None, sample_weight: Any = None, offset: Any = None) -> Data:
        """Canonical form of arrays, sparse matrices, lists and data frames.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
        y : array-like of shape (n,) or (n, t), default=None
        sample_weight, offset : array-like of shape (n,), default=None
        """

        def vector(v: Any) -> Array | None:
            return None if v is None else np.ascontiguousarray(v, dtype=float)

        return cls(_matrix(X), None if y is None else _labels(y), vector(sample_weight), vector(offset))

    @cached_property
    def weights(self) -> Array:
        """Sample weights, ones when none were given."""
        if self.sample_weight is not None:
            return self.sample_weight
        ones = np.ones(self.X.shape[0])
        ones.flags.writeable = False  # made once for all who ask
        return ones

    @cached_property
    def total(self) -> Ball:
        """The sum of the weights."""
        return Ball(float(self.X.shape[0])) if self.sample_weight is None else Ball(self.sample_weight).sum()

    def weighed(self, x: Ball) -> Ball:
        """The numbers x, one a row, times the weights."""
        return x if self.sample_weight is None else x * self.sample_weight

    def real_targets(self) -> Array:
        """y as numbers; strings are rejected, even those that spell a number."""
        y = self.y
        if y is None or not (y.dtype.kind in "biuf" or all(isinstance(v, (int, float)) for v in y.ravel().tolist())):
            raise ValueError("the targets are not numbers")
        return np.asarray(y, dtype=float)

    def facts(self) -> Record:
        """How many rows and columns, and whether there are weights and offsets."""
        rows, columns = self.X.shape if self.X.ndim == 2 else (len(self.X), 0)
        given = {"weights": self.sample_weight is not None, "offset": self.offset is not None}
        return {"rows": int(rows), "columns": int(columns), **given}

    def shapes_agree(self) -> bool:
        """Whether every part has as many rows as X."""
        n = self.X.shape[0]
        return all(p is None or len(p) == n for p in (self.y, self.sample_weight, self.offset))

    def as_in(self, digest: str | None) -> Data | None:
        """These data, dense or sparse as in the digest; None if the numbers differ."""
        if not self.shapes_agree():
            return None
        if self.digest() == digest:
            return self
        if self.X.dtype == object or self.X.ndim != 2:
            return None
        if not scipy.sparse.issparse(self.X):
            other = replace(self, X=scipy.sparse.csr_matrix(self.X))
        elif self.X.shape[0] * self.X.shape[1] <= _DENSE:
            other = replace(self, X=self.X.toarray())
        else:
            return None
        return other if other.digest() == digest else None

    def digest(self) -> str:
        """SHA-256 of the canonical bytes."""
        h = hashlib.sha256()
        for name, part in (("X", self.X), ("y", self.y), ("w", self.sample_weight), ("o", self.offset)):
            h.update(f"{name}:".encode())
            if part is not None:
                h = _fed(h, part)
        return h.hexdigest()

    def numbers(self, rigor: Rigor) -> tuple[Any, Ball]:
        """X for products and y as a ball, at the asked rigour.

        Parameters
        ----------
        rigor : {"float", "exact"}
            Error-bounded floats, or rationals.
        """
        if rigor == "exact":
            return rationals(self.X), Ball(rationals(np.asarray(self.y, dtype=float)))
        return self.X, Ball(np.asarray(self.y, dtype=float))


def _matrix(X: Matrix) -> Matrix:
    if scipy.sparse.issparse(X):
        X = X.tocsr().astype(float)
        if not X.has_canonical_format or not np.all(X.data):
            X = X.copy()
            X.sum_duplicates()
            X.eliminate_zeros()
        return X
    X = np.asarray(X)
    if X.dtype.kind in "biuf":
        return np.ascontiguousarray(X, dtype=float)
    try:
        return np.ascontiguousarray(X.astype(float))
    except (TypeError, ValueError):  # columns of words: kept as they are
        return np.asarray(X, dtype=object)


def _labels(y: VectorLike) -> Array:
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.dtype.kind in "iu" and y.size and max(abs(int(y.min())), abs(int(y.max()))) > 2**53:
        return y  # as floats, labels that differ could become equal
    return np.ascontiguousarray(y, dtype=float) if y.dtype.kind in "biuf" else y


def _fed(h: Any, part: Any) -> Any:
    """The hash of what h has read and of this array or sparse matrix."""
    if scipy.sparse.issparse(part):
        h.update(f"csr{part.shape}".encode())
        for array, kind in ((part.indptr, "<i8"), (part.indices, "<i8"), (part.data, "<f8")):
            h.update(np.ascontiguousarray(array, dtype=kind).data)
    elif part.dtype.kind == "f":
        h.update(f"f{part.shape}".encode())
        return _fed_floats(h, part)
    else:
        h.update(f"o{part.shape}".encode())
        h.update(json.dumps([_word(v) for v in part.ravel()]).encode())
    return h


def _fed_floats(h: Any, part: Array) -> Any:
    """Adding 0.0 turns −0.0 into 0.0: equal numbers have equal bytes.

    A block of rows is hashed as it is, and looked at while the cache still holds it. One that has a −0.0 is hashed once
    more, without it; where there is one there may be many, so that the blocks after it are not tried as they are.
    """
    plain = part.dtype == np.dtype("<f8") and part.flags.c_contiguous
    for at in row_blocks(len(part), math.prod(part.shape[1:])):
        rows = part[at]
        if plain:
            before = h.copy()
            h.update(rows.data)
            if rows.view("<i8").min(initial=0) != _MINUS_ZERO:
                continue
            h, plain = before, False
        h.update(np.add(rows, 0.0, dtype="<f8", order="C").data)
    return h


def _word(v: object) -> list[str]:
    if isinstance(v, (int, np.integer)) and abs(int(v)) > 2**53:
        return ["number", str(int(v))]
    if isinstance(v, (bool, np.bool_, int, np.integer, float, np.floating)):
        return ["number", repr(float(v))]
    return ["word", str(v)]


def _listed(v: Any) -> Any:
    """Arrays inside lists and records, for JSON."""
    if isinstance(v, np.ndarray):
        return v.tolist()
    raise TypeError(f"evidence holds numbers, words, lists and arrays, not {type(v).__name__}")


def digest_evidence(evidence: Evidence) -> str:
    """SHA-256 of coefficients, multipliers and whatever else the proof uses."""
    h = hashlib.sha256()
    for key in sorted(evidence):
        h.update(f"{key}:".encode())
        value = evidence[key]
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            h = _fed(h, np.asarray(value, dtype=float))
        elif isinstance(value, np.ndarray):
            h = _fed(h, value)
        else:
            h.update(json.dumps(value, sort_keys=True, default=_listed).encode())
    return h.hexdigest()
