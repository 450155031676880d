"""What the columns of a table are: numbers, yes/no, or categories; and their coding as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from certifit._types import Array, Matrix


@dataclass(frozen=True)
class Columns:
    """The kind of each column, and the categories of the categorical ones (in code order)."""

    names: tuple[str, ...] | None
    kinds: tuple[str, ...]
    categories: tuple[tuple[Any, ...] | None, ...]

    @property
    def sizes(self) -> Array:
        """Number of categories per column, 0 for numbers and booleans."""
        return np.array([0 if c is None else max(1, len(c)) for c in self.categories], dtype=np.int64)

    def name(self, j: int) -> str:
        return f"x[{j}]" if self.names is None else self.names[j]

    def encode(self, X: Matrix) -> Array:
        """X as floats: codes for categories, NaN for what is missing or was never seen in training."""
        parts = columns_of(X)
        out = np.empty((len(parts[0]), len(parts)))
        for j, (part, categories) in enumerate(zip(parts, self.categories)):
            if categories is None:
                out[:, j] = _numbers(part, self.name(j))
            else:
                code = {c: float(i) for i, c in enumerate(categories)}
                out[:, j] = [code.get(_key(v), np.nan) for v in part]
        return out


def plain(names: tuple[str, ...] | None, d: int, booleans: bool = False) -> Columns:
    """Columns of an array: all numbers (or all yes/no)."""
    return Columns(names, ("boolean" if booleans else "numeric",) * d, (None,) * d)


def is_frame(X: Matrix) -> bool:
    """Whether X is a table with named, typed columns (pandas, polars, pyarrow)."""
    return hasattr(X, "column_names") or (hasattr(X, "columns") and hasattr(X, "dtypes"))


def frame_names(X: Matrix) -> list[Any]:
    return list(X.column_names) if hasattr(X, "column_names") else list(X.columns)


def columns_of(X: Matrix) -> list[Array]:
    """The columns of a table or array, each as a NumPy array."""
    if is_frame(X):
        return [np.asarray(X[name]) for name in frame_names(X)]
    X = np.asarray(X, dtype=object) if not isinstance(X, np.ndarray) else X
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D array instead. Reshape your data so that each sample is one row."
        )
    return [X[:, j] for j in range(X.shape[1])]


def learn(X: Matrix, categorical_features: Any, names: tuple[str, ...] | None) -> Columns:
    """Find out what the columns are; ``categorical_features`` adds to what the types say."""
    parts = columns_of(X)
    chosen = _chosen(categorical_features, parts, names)
    kinds: list[str] = []
    categories: list[tuple[Any, ...] | None] = []
    for j, part in enumerate(parts):
        by_type = is_frame(X) and _is_categorical(X[frame_names(X)[j]], part)
        if j in chosen or (by_type and isinstance(categorical_features, str)):
            kinds.append("categorical")
            found = {_key(v) for v in part} - {None}
            categories.append(tuple(sorted(found, key=lambda v: (isinstance(v, str), v))))
        else:
            kinds.append("boolean" if part.dtype.kind == "b" else "numeric")
            categories.append(None)
    return Columns(names, tuple(kinds), tuple(categories))


def _chosen(which: Any, parts: list[Array], names: tuple[str, ...] | None) -> set[int]:
    """Places of the columns named in ``categorical_features`` (mask, places or names)."""
    if which is None or isinstance(which, str):
        return set()
    which = np.asarray(which)
    d = len(parts)
    if which.dtype.kind == "b":
        if which.shape != (d,):
            raise ValueError(f"categorical_features as a mask has one entry per column: {d}, not {which.shape}.")
        return set(np.flatnonzero(which).tolist())
    if which.dtype.kind in "iu":
        if which.size and not (which.min() >= 0 and which.max() < d):
            raise ValueError(f"categorical_features holds column numbers from 0 to {d - 1}; got {which.tolist()}.")
        return set(which.tolist())
    if names is None:
        raise ValueError("categorical_features holds names, but X has no column names: give column numbers.")
    unknown = [v for v in which.tolist() if v not in names]
    if unknown:
        raise ValueError(f"categorical_features names {unknown[0]!r}, which is not a column of X.")
    return {names.index(v) for v in which.tolist()}


def _is_categorical(column: Any, part: Array) -> bool:
    kind = str(column.dtype if hasattr(column, "dtype") else column.type).lower()
    if kind.startswith(("category", "categorical", "enum", "dictionary")):
        return True
    return part.dtype.kind in "OUS" and any(isinstance(v, str) for v in part)


def _key(v: Any) -> Any:
    """A category as a plain value: a word or a float; None when missing."""
    if v is None or type(v).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(v, str):
        return str(v)
    try:
        number = float(v)
    except (TypeError, ValueError):
        return str(v)
    return None if np.isnan(number) else number


def _numbers(part: Array, name: str) -> Array:
    if part.dtype.kind in "biuf":
        return part.astype(float)
    try:
        return np.array([np.nan if _key(v) is None else float(v) for v in part])
    except (TypeError, ValueError):
        word = next(v for v in part if isinstance(_key(v), str))
        raise ValueError(
            f"Column {name} holds {word!r}, where a number is needed: could not convert "
            "string to float. Name the column in categorical_features, or give a data frame."
        ) from None
