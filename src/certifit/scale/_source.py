"""Where the rows are: files, tables in memory, Dask collections; each in partitions that can be read on their own.

A partition is a small record that any process can turn into blocks of rows (`Block`): columns of numbers as float64
with one row of the array a column of the table. Every partition must have the columns and types of the first one.
What cannot be read is rejected in one sentence that names the file.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from certifit._arrow import pa, pacsv, pq
from certifit._errors import need
from certifit._types import Array
from certifit.certificates.sums import Block
from certifit.exceptions import TableError

_FORMATS = {".parquet": "parquet", ".pq": "parquet", ".arrow": "ipc", ".feather": "ipc", ".ipc": "ipc", ".csv": "csv"}
_LARGE = 192 << 20  # bytes of a Parquet file beyond which its row groups become partitions of their own
_WHOLE = 64 << 20  # bytes of a row group up to which its columns are read whole
_BATCH = 1 << 14  # rows of a block, unless a memory budget asks for fewer


@dataclass(frozen=True)
class Plan:
    """Which columns to read, and how many rows at a time."""

    numbers: tuple[str, ...]
    words: tuple[str, ...] = ()
    target: str | None = None
    weight: str | None = None
    offset: str | None = None
    exposure: str | None = None
    rows: int = _BATCH
    kinds: tuple[tuple[str, str], ...] = ()
    """Kind of each column, as in the first partition: "number", "word" or "other"."""

    @property
    def columns(self) -> list[str]:
        """Everything that is read."""
        return list(dict.fromkeys([*self.numbers, *self.words, *self.apart.values()]))

    @property
    def apart(self) -> dict[str, str]:
        """What the columns that are no features are for, and their names."""
        named = {"target": self.target, "weight": self.weight, "offset": self.offset, "exposure": self.exposure}
        return {use: name for use, name in named.items() if name is not None}

    @property
    def shifted(self) -> bool:
        """Whether rows have offsets."""
        return self.offset is not None or self.exposure is not None

    def without_features(self) -> Plan:
        """The same for the target, the weights and the offsets alone."""
        return replace(self, numbers=(), words=())


@dataclass(frozen=True)
class NamedColumns:
    """Which columns a caller names: the target, the features (None: all others), weights, offsets, exposures."""

    target: str | None = None
    features: Sequence[str] | None = None
    weight: str | None = None
    offset: str | None = None
    exposure: str | None = None


@contextmanager
def reading(name: str) -> Iterator[None]:
    """TableError, with the name and the first line of the reason, for whatever cannot be read inside."""
    try:
        yield
    except (pa.ArrowException, OSError, EOFError) as error:
        reason = str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
        raise TableError(f"{name} cannot be read: {reason}") from error


class Partition:
    """Some rows of the table, under a name."""

    name: str

    def batches(self, plan: Plan) -> Iterator[pa.RecordBatch]:
        """Arrow record batches of the planned columns."""
        raise NotImplementedError

    def blocks(self, plan: Plan) -> Iterator[Block]:
        """The rows in blocks; TableError, with the name, for whatever cannot be read."""
        with reading(self.name):
            for batch in self.batches(plan):
                if batch.num_rows:
                    yield _block(batch, plan, self.name)

    def ends(self, columns: Sequence[str]) -> tuple[int, dict[str, tuple[float, float]]] | None:
        """Rows, and the smallest and largest number of columns, where the file itself tells; None where it does not."""
        return None

    def size(self) -> float:
        """Bytes, where they are known."""
        return np.inf

    def mark(self) -> Any:
        """Something that changes when the rows are changed, as far as that can be told without reading them."""
        return None


@dataclass(frozen=True)
class FilePart(Partition):
    """A file, or some row groups of a Parquet file."""

    path: str
    format: str
    groups: tuple[int, ...] | None = None

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.path if self.groups is None else f"{self.path}, row groups {self.groups[0]} to {self.groups[-1]}"

    def size(self) -> float:
        return float(self.mark()[0])

    def mark(self) -> Any:
        try:
            found = os.stat(self.path)
        except OSError as error:
            raise TableError(f"{self.path} cannot be read: {error.strerror}") from error
        return found.st_size, found.st_mtime_ns

    def batches(self, plan: Plan) -> Iterator[pa.RecordBatch]:
        read = {"parquet": self._parquet, "ipc": self._ipc, "csv": self._csv}[self.format]
        return read(plan)

    def _parquet(self, plan: Plan) -> Iterator[pa.RecordBatch]:
        facts = pq.read_metadata(self.path)
        groups = list(range(facts.num_row_groups)) if self.groups is None else list(self.groups)
        most = max((facts.row_group(g).total_byte_size for g in groups), default=0)
        # Whole column chunks are read quickest; a small buffer keeps the memory independent of the size of row groups.
        buffer = 0 if most <= _WHOLE else 1 << 20
        with pq.ParquetFile(self.path, metadata=facts, buffer_size=buffer, pre_buffer=False) as file:
            check_schema(file.schema_arrow, plan, self.name)
            yield from file.iter_batches(plan.rows, row_groups=groups, columns=plan.columns, use_threads=False)

    def _ipc(self, plan: Plan) -> Iterator[pa.RecordBatch]:
        with pa.OSFile(self.path) as raw, pa.ipc.open_file(raw) as file:
            check_schema(file.schema, plan, self.name)
            for k in range(file.num_record_batches):
                yield from _cut(file.get_batch(k).select(plan.columns), plan.rows)

    def _csv(self, plan: Plan) -> Iterator[pa.RecordBatch]:
        kinds = dict(plan.kinds)
        types = {c: pa.float64() if kinds.get(c) == "number" else pa.string() for c in plan.columns}
        convert = pacsv.ConvertOptions(column_types=types, include_columns=plan.columns, strings_can_be_null=True)
        read = pacsv.ReadOptions(use_threads=False, block_size=1 << 20)
        with pacsv.open_csv(self.path, read_options=read, convert_options=convert) as file:
            for batch in file:
                yield from _cut(batch, plan.rows)

    def schema(self) -> pa.Schema:
        """The Arrow schema of the file."""
        with reading(self.path):
            if self.format == "parquet":
                return pq.read_schema(self.path)
            if self.format == "ipc":
                with pa.OSFile(self.path) as raw, pa.ipc.open_file(raw) as file:
                    return file.schema
            with pacsv.open_csv(self.path, read_options=pacsv.ReadOptions(block_size=1 << 20)) as file:
                return file.schema

    def ends(self, columns: Sequence[str]) -> tuple[int, dict[str, tuple[float, float]]] | None:
        if self.format != "parquet":
            return None
        facts = _facts(self.path)
        place = {facts.schema.column(j).path: j for j in range(facts.num_columns)}
        rows, found = 0, dict[str, tuple[float, float]]()
        for g in range(facts.num_row_groups) if self.groups is None else self.groups:
            group = facts.row_group(g)
            rows += group.num_rows
            for name in columns:
                part = group.column(place[name]).statistics if name in place else None
                if part is None or not part.has_min_max or isinstance(part.min, (str, bytes)):
                    return None
                low, high = found.get(name, (np.inf, -np.inf))
                found[name] = min(low, float(part.min)), max(high, float(part.max))
        return rows, found


@dataclass(frozen=True)
class TablePart(Partition):
    """Rows of an Arrow table in memory."""

    table: Any
    name: str

    def size(self) -> float:
        return float(self.table.nbytes)

    def batches(self, plan: Plan) -> Iterator[pa.RecordBatch]:
        check_schema(self.table.schema, plan, self.name)
        yield from self.table.select(plan.columns).to_batches(plan.rows)


def kind_of(type_: pa.DataType) -> str:
    """ "number", "word" or "other" for an Arrow type."""
    t = pa.types
    if t.is_dictionary(type_):
        return kind_of(type_.value_type)
    if t.is_integer(type_) or t.is_floating(type_) or t.is_boolean(type_) or t.is_decimal(type_):
        return "number"
    return "word" if t.is_string(type_) or t.is_large_string(type_) or t.is_string_view(type_) else "other"


def check_schema(schema: pa.Schema, plan: Plan, name: str) -> None:
    """TableError unless the planned columns are there with their kinds."""
    for column, kind in plan.kinds:
        if column not in plan.columns:
            continue
        if len(schema.get_all_field_indices(column)) > 1:
            raise TableError(f"{name} has more than one column {column!r}: names must differ.")
        at = schema.get_field_index(column)
        if at < 0:
            raise TableError(f"{name} has no column {column!r}, which the first partition has.")
        found = kind_of(schema.field(at).type)
        if found != kind:
            said = [f"{k}s".replace("words", "strings") for k in (found, kind)]
            raise TableError(f"{name}: column {column!r} contains {said[0]}, but {said[1]} in the first partition.")


def _cut(batch: pa.RecordBatch, rows: int) -> Iterator[pa.RecordBatch]:
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)


def _block(batch: pa.RecordBatch, plan: Plan, name: str) -> Block:
    X = np.empty((len(plan.numbers), batch.num_rows))
    for j, column in enumerate(plan.numbers):
        X[j] = _numbers(batch.column(column))
    words = tuple(_words(batch.column(column)) for column in plan.words)
    y = None if plan.target is None else _target(batch.column(plan.target), name)
    weight = None if plan.weight is None else _weights(batch.column(plan.weight), name)
    return Block(X, y, words, name, weight, _offsets(batch, plan, name))


def _offsets(batch: Any, plan: Plan, name: str) -> Array | None:
    """What is added to every score: the offset, and the logarithm of the exposure."""
    found = [] if plan.offset is None else [_numbers(batch.column(plan.offset))]
    if plan.exposure is not None:
        exposure = _numbers(batch.column(plan.exposure))
        if not np.all(exposure > 0.0):
            raise TableError(f"{name}: an exposure is missing, or not positive.")
        found.append(np.log(exposure))
    if not found:
        return None
    total = found[0] if len(found) == 1 else found[0] + found[1]
    if not np.all(np.isfinite(total)):
        raise TableError(f"{name}: an offset is missing or not finite.")
    return total


def _weights(column: pa.Array, name: str) -> Array:
    weight = _numbers(column)
    if not (np.all(np.isfinite(weight)) and np.all(weight >= 0.0)):
        raise TableError(f"{name}: a weight is missing, negative or not finite.")
    return weight


def _decoded(column: pa.Array) -> pa.Array:
    """The values themselves, of a column that stores each of them once."""
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _numbers(column: pa.Array) -> Array:
    """Numbers as float64; missing ones as NaN."""
    column = _decoded(column)
    if pa.types.is_decimal(column.type) or pa.types.is_boolean(column.type):
        column = column.cast(pa.float64())
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=float)


def _words(column: pa.Array) -> Array:
    return np.asarray(_decoded(column).to_numpy(zero_copy_only=False), dtype=object)


def _target(column: pa.Array, name: str) -> Array:
    if column.null_count:
        raise TableError(f"{name}: the target is missing in {column.null_count} rows.")
    if kind_of(column.type) == "word":
        return _words(column).astype(str)

    if pa.types.is_boolean(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=bool)
    if pa.types.is_integer(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    return _numbers(column)


@dataclass(frozen=True)
class Source:
    """A table in partitions, and the kinds of its columns as the first partition has them."""

    parts: tuple[Partition, ...]
    kinds: tuple[tuple[str, str], ...]
    truths: frozenset[str] = frozenset()
    """Columns of truth values, which are numbers too."""

    def truth(self, column: str) -> str:
        """ "boolean" for a column of truth values, else "numeric"."""
        return "boolean" if column in self.truths else "numeric"

    @classmethod
    def of(cls, data: Any, partitions: int | None = None) -> Source:
        """From paths or patterns of files, a folder, an Arrow table, a data frame or a Dask collection.

        Parameters
        ----------
        data : path, pattern, list of them, pyarrow.Table, data frame, mapping, dask.dataframe or dask.array
        partitions : int, default=None
            Into how many a table in memory is cut.
        """
        need("pyarrow", "scale")
        if isinstance(data, Source):
            return data
        module = type(data).__module__.split(".")[0]
        if module.startswith("dask"):
            from certifit.scale._dask import partitions_of

            return cls(*partitions_of(data))
        if isinstance(data, (str, os.PathLike)) or (
            isinstance(data, (list, tuple)) and data and all(isinstance(p, (str, os.PathLike)) for p in data)
        ):
            return cls.files([data] if isinstance(data, (str, os.PathLike)) else list(data))
        return cls.table(data, partitions or 1)

    @classmethod
    def table(cls, data: Any, partitions: int) -> Source:
        """A table in memory, cut into so many partitions."""
        if isinstance(data, dict):
            data = pa.table(data)
        elif not isinstance(data, pa.Table):
            data = pa.Table.from_pandas(data, preserve_index=False) if hasattr(data, "iloc") else pa.table(data)
        edges = np.linspace(0, data.num_rows, partitions + 1).astype(int)
        parts = tuple(TablePart(data.slice(a, b - a), f"partition {k}") for k, (a, b) in enumerate(pairwise(edges)))
        return cls(parts, kinds_of(data.schema), truths_of(data.schema))

    @classmethod
    def files(cls, patterns: Sequence[str | os.PathLike[str]]) -> Source:
        """Files by name or pattern; a folder means all files in it that can be read."""
        paths = list(dict.fromkeys(p for pattern in patterns for p in _expanded(os.fspath(pattern))))
        parts: list[Partition] = []
        for path in paths:
            parts.extend(_file_parts(path))
        first = parts[0]
        assert isinstance(first, FilePart)
        schema = first.schema()
        return cls(tuple(parts), kinds_of(schema), truths_of(schema))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(name for name, _ in self.kinds)

    @property
    def size(self) -> float:
        """Bytes of all partitions, as far as that is known without reading them; infinite where it is not."""
        return sum(part.size() for part in self.parts)

    def plan(self, ask: NamedColumns, rows: int | None = None, words: bool = False) -> Plan:
        """What to read: all columns of numbers but the target, weights and offsets, or the named ones.

        Parameters
        ----------
        ask : NamedColumns
        rows : int or None
            Rows of a block.
        words : bool, default=False
            Whether columns of strings are wanted too; otherwise they are rejected.
        """
        named = {"weights": ask.weight, "offsets": ask.offset, "exposures": ask.exposure}
        kinds, apart = dict(self.kinds), [c for c in (ask.target, *named.values()) if c is not None]
        for name in [*(ask.features or []), *apart]:
            if name not in kinds:
                raise TableError(f"There is no column {name!r}; there are {', '.join(map(repr, self.columns[:12]))}.")
        for use, name in named.items():
            if name is not None and (apart.count(name) > 1 or kinds[name] != "number"):
                raise TableError(f"Column {name!r} cannot be the {use}: name a separate numeric column.")
        chosen = [c for c in (ask.features if ask.features is not None else self.columns) if c not in apart]
        for name in chosen:
            if kinds[name] == "other" or (kinds[name] == "word" and not words):
                what = "strings" if kinds[name] == "word" else "neither numbers nor strings"
                raise TableError(
                    f"Column {name!r} contains {what}: choose other columns with features=, or encode it first."
                )
        numbers = tuple(c for c in chosen if kinds[c] == "number")
        words_too = tuple(c for c in chosen if kinds[c] == "word")
        return Plan(numbers, words_too, ask.target, ask.weight, ask.offset, ask.exposure, rows or _BATCH, self.kinds)


def kinds_of(schema: pa.Schema) -> tuple[tuple[str, str], ...]:
    """Names and kinds of the columns."""
    return tuple((schema.field(j).name, kind_of(schema.field(j).type)) for j in range(len(schema)))


def truths_of(schema: pa.Schema) -> frozenset[str]:
    """Names of the columns of truth values."""
    return frozenset(f.name for f in schema if pa.types.is_boolean(f.type))


def _expanded(pattern: str) -> list[str]:
    if os.path.isdir(pattern):
        found = sorted(str(p) for p in Path(pattern).iterdir() if p.suffix.lower() in _FORMATS)
    elif os.path.exists(pattern):
        found = [pattern]
    else:
        found = sorted(glob.glob(pattern))
    if not found:
        raise TableError(f"There is no file {pattern!r}.")
    return found


def _facts(path: str) -> Any:
    """What a Parquet file notes about its row groups."""
    with reading(path):
        return pq.read_metadata(path)


def _file_parts(path: str) -> list[Partition]:
    suffix = Path(path).suffix.lower()
    if suffix not in _FORMATS:
        raise TableError(f"{path} has an unknown format: {', '.join(sorted(_FORMATS))} can be read in partitions.")
    if _FORMATS[suffix] != "parquet" or os.path.getsize(path) <= _LARGE:
        return [FilePart(path, _FORMATS[suffix])]
    facts = _facts(path)
    parts, group, size = list[Partition](), list[int](), 0
    for g in range(facts.num_row_groups):
        group.append(g)
        size += facts.row_group(g).total_byte_size
        if size >= _LARGE // 2 or g == facts.num_row_groups - 1:
            parts.append(FilePart(path, "parquet", tuple(group)))
            group, size = [], 0
    return parts
