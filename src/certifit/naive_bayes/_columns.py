"""A table of mixed columns as numbers: floats for numeric columns, category numbers for all others.

Data frames (pandas, polars, pyarrow) are read column by column through narwhals, so that a column's own type says
what it is. Arrays of objects are judged by their values. Missing cells (None, NaN, NA) become NaN or −1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from certifit._types import Array, Matrix
from certifit.certificates.counts import cell_word

ColumnKind = Literal["numeric", "boolean", "categorical"]


@dataclass(frozen=True)
class Table:
    """Validated rows: numeric columns (n, a) with NaN, discrete columns (n, b) with −1 where missing."""

    numbers: Array
    categories: Array

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.numbers), self.numbers.shape[1] + self.categories.shape[1]

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, rows: Matrix) -> Table:
        return Table(self.numbers[rows], self.categories[rows])


def is_frame(X: Matrix) -> bool:
    """Whether X is a data frame rather than an array or a list."""
    return not isinstance(X, (np.ndarray, list, tuple)) and (
        hasattr(X, "__dataframe__") or hasattr(X, "iloc") or hasattr(X, "column_names")
    )


def columns_of(X: Matrix) -> tuple[list[Array], list[ColumnKind | None]]:
    """Columns as arrays, with the kind their type implies (None: look at the values)."""
    if not is_frame(X):
        X = np.asarray(X)
        kind: ColumnKind | None = "numeric" if X.dtype.kind in "iuf" else "boolean" if X.dtype.kind == "b" else None
        return [X[:, j] for j in range(X.shape[1])], [kind] * X.shape[1]
    try:
        import narwhals as nw
    except ImportError:  # without narwhals, the values decide
        raw = np.asarray(X, dtype=object)
        return [raw[:, j] for j in range(raw.shape[1])], [None] * raw.shape[1]
    frame = nw.from_native(X, eager_only=True)
    arrays, kinds = [], []
    for series in frame.iter_columns():
        arrays.append(_series_values(series))
        kinds.append(_kind_of_type(series.dtype, series.name))
    return arrays, kinds


def _series_values(series: Any) -> Array:
    if series.null_count() == 0 and series.dtype.is_numeric():
        return np.asarray(series.to_numpy())
    out = np.empty(len(series), dtype=object)
    out[:] = series.to_list()
    return out


def _kind_of_type(dtype: Any, name: str) -> ColumnKind | None:
    import narwhals as nw

    if dtype.is_numeric():
        return "numeric"
    if dtype == nw.Boolean:
        return "boolean"
    if dtype.is_temporal():
        raise ValueError(f"Column {name!r} contains dates or times: convert them to numbers or strings first.")
    return None if dtype == nw.Object else "categorical"


def kind_of_values(column: Array) -> ColumnKind:
    """What a column of objects holds: truth values, numbers, or anything else."""
    values = [v for v in column if cell_word(v) is not None]
    if values and all(isinstance(v, (bool, np.bool_)) for v in values):
        return "boolean"
    if all(isinstance(v, (int, float, np.integer, np.floating)) and not isinstance(v, bool) for v in values):
        return "numeric"
    return "categorical"


def choose_kinds(
    columns: list[Array],
    kinds: Sequence[ColumnKind | None],
    names: Sequence[Any] | None,
    asked: dict[ColumnKind, Any],
) -> list[ColumnKind]:
    """The kind of every column: what the user asked for, else its type, else its values."""
    chosen: dict[int, ColumnKind] = {}
    for kind, wanted in asked.items():
        for name in () if wanted is None else wanted:
            j = _position(name, names, len(columns))
            if j in chosen and chosen[j] != kind:
                raise ValueError(f"Column {name!r} is listed as both {chosen[j]} and {kind}.")
            chosen[j] = kind
    return [chosen.get(j) or kinds[j] or kind_of_values(c) for j, c in enumerate(columns)]


def _position(name: Any, names: Sequence[Any] | None, d: int) -> int:
    if isinstance(name, (int, np.integer)) and not isinstance(name, bool):
        if -d <= name < d:
            return int(name) % d
        raise ValueError(f"There is no column {name}: the table has {d} columns.")
    if names is not None and name in list(names):
        return list(names).index(name)
    raise ValueError(f"There is no column {name!r} in the table.")


def as_numbers(column: Array, label: Any) -> Array:
    """A numeric column as floats, NaN where missing; infinities and words are rejected."""
    if column.dtype.kind in "iufb":
        values = column.astype(float)
    else:
        try:
            values = np.array([np.nan if cell_word(v) is None else float(v) for v in column], dtype=float)
        except (TypeError, ValueError) as error:
            raise ValueError(f"Column {label!r} is numeric but holds something else: {error}.") from error
    if np.isinf(values).any():
        row = int(np.flatnonzero(np.isinf(values))[0])
        raise ValueError(f"Input X contains infinity or a value too large (row {row}, column {label!r}).")
    return values


def category_words(column: Array) -> list[str]:
    """The distinct values of a column by name: numbers in order, then words in order."""
    if column.dtype.kind in "iufb":
        return [repr(float(v)) for v in np.unique(column[column == column])]
    words = {cell_word(v) for v in column} - {None}
    numbers = {cell_word(v) for v in column if isinstance(v, (bool, np.bool_, int, float, np.number))} - {None}
    first = sorted((w for w in numbers if w is not None), key=float)
    return first + sorted(w for w in words if w is not None and w not in numbers)


def as_codes(column: Array, words: list[str]) -> Array:
    """Category numbers of a column; −1 for a missing or unknown value."""
    place: dict[Any, int] = {w: k for k, w in enumerate(words)}
    if column.dtype.kind in "iufb":
        distinct, inverse = np.unique(column, return_inverse=True)
        codes = np.array([place.get(cell_word(v), -1) for v in distinct.tolist()], dtype=np.int64)
        return codes[inverse.reshape(-1)]
    return np.array([place.get(cell_word(v), -1) for v in column], dtype=np.int64)
