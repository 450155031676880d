"""Read a table: CSV, TSV, Parquet, Arrow, Excel.

Cells of text formats stay text here: ``01234`` keeps its zero, and what a column means is decided with all of
its rows in view (`certifit.study`), not from the first few.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from certifit._arrow import pa, pacsv, pq
from certifit._errors import need
from certifit._types import Matrix
from certifit.exceptions import TableError

_TEXT = {".csv", ".tsv", ".tab", ".txt", ".data"}
_ARROW = {".arrow", ".feather", ".ipc"}
_EXCEL = {".xlsx", ".xls", ".xlsb", ".ods", ".xlsm"}
_SAMPLE = 1 << 16


@dataclass(frozen=True)
class Table:
    """Named columns (an Arrow table) and what was noticed while reading them.

    Attributes
    ----------
    arrow : pyarrow.Table
    source, digest : str
        Where it came from, and the SHA-256 of that.
    notes : tuple of str
        What was noticed while reading.

    Examples
    --------
    >>> Table.of({"a": [1, 2], "b": ["x", "y"]}).columns
    ('a', 'b')
    """

    arrow: Any
    source: str = ""
    digest: str = ""
    notes: tuple[str, ...] = field(default=())

    @classmethod
    def of(cls, data: Any) -> Table:
        """A table from a path, a mapping of columns, or a pandas, polars or pyarrow table.

        Parameters
        ----------
        data : path, mapping of columns, or data frame
        """
        need("pyarrow", "tables")

        if isinstance(data, cls):
            return data
        if isinstance(data, (str, os.PathLike)):
            return read_table(data)
        if isinstance(data, dict):
            data = pa.table({str(k): pa.array(_plain(v), from_pandas=True) for k, v in data.items()})
        elif not isinstance(data, pa.Table):
            data = _from_frame(data)
        return cls(_named(data, []).combine_chunks(), "a table in memory")

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.arrow.column_names)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.arrow.num_rows)

    def column(self, name: str) -> Any:
        """One column as a single Arrow array.

        Parameters
        ----------
        name : str
        """
        column = self.arrow.column(name)
        return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks or [_empty(column.type)])

    def take(self, rows: Matrix) -> Table:
        """The table of these rows."""
        return Table(self.arrow.take(rows), self.source, self.digest, self.notes)


def _empty(kind: Any) -> Any:
    return pa.array([], type=kind)


def _plain(values: Any) -> Any:
    import numpy as np

    array = np.asarray(values)
    return [str(v) for v in array] if array.dtype.kind == "U" else values


def _from_frame(data: Any) -> pa.Table:
    if hasattr(data, "to_arrow"):  # polars
        return data.to_arrow()
    if hasattr(data, "iloc"):  # pandas
        return pa.Table.from_pandas(data, preserve_index=False)
    if hasattr(data, "__arrow_c_stream__"):
        return pa.table(data)
    raise TableError(
        f"A table is a file, a data frame or a mapping of columns; got {type(data).__name__}: "
        "give arrays as {'name': values, ...}."
    )


def read_table(path: str | os.PathLike[str], sheet: int | str = 0) -> Table:
    r"""Read a file into a `Table`, by its ending.

    Parameters
    ----------
    path : path
        ``.csv``, ``.tsv``, ``.txt`` (also gzipped), ``.parquet``, ``.arrow``, ``.feather``, ``.xlsx``, ``.xls``,
        ``.ods``. Text may be UTF-8, UTF-16 or Latin-1 (Windows-1252), with comma, semicolon, tab or bar
        between cells, and with line breaks inside quoted cells.
    sheet : int ≥ 0 or str, default=0
        Which sheet of a workbook.

    Returns
    -------
    Table

    Raises
    ------
    TableError
        With what is wrong and where, in one sentence.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "t.csv"
    >>> _ = file.write_bytes("zip;città\n01234;Forlì\n".encode("latin-1"))
    >>> read_table(file).arrow.to_pylist()
    [{'zip': '01234', 'città': 'Forlì'}]
    """
    need("pyarrow", "tables")
    import hashlib

    path = Path(path)
    if path.is_dir():
        raise TableError(f"{path} is a folder: name the file in it.")
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise TableError(f"There is no file {path}.") from None
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror or error}.") from None
    digest = hashlib.sha256(data).hexdigest()
    endings = [s.lower() for s in path.suffixes]
    if endings and endings[-1] == ".gz":
        try:
            data, endings = gzip.decompress(data), endings[:-1]
        except (OSError, EOFError) as error:
            raise TableError(f"{path} is not a whole gzip file: {error}.") from None
    ending = endings[-1] if endings else ""
    notes: list[str] = []
    arrow = _named(_parse(data, ending, path, sheet, notes), notes).combine_chunks()
    if arrow.num_rows == 0:
        raise TableError(f"{path} has column names but no rows.")
    return Table(arrow, str(path), digest, tuple(notes))


def _parse(data: bytes, ending: str, path: Path, sheet: int | str, notes: list[str]) -> pa.Table:
    if not data:
        raise TableError(f"{path} is empty.")
    try:
        if ending == ".parquet":
            return pq.read_table(io.BytesIO(data))
        if ending in _ARROW:
            return _read_arrow(data)
        if ending in _EXCEL:
            return _read_excel(data, sheet)
        if ending in _TEXT or not ending:
            return _read_text(data, ending, notes)
    except pa.ArrowInvalid as error:
        raise TableError(f"{path} cannot be read: {_first_sentence(error)}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise TableError(f"{path} cannot be read: {_first_sentence(error)}") from None
    known = ", ".join(sorted(_TEXT | _ARROW | _EXCEL | {".parquet"}))
    raise TableError(f"{path}: files ending in {ending!r} are not known; known are {known}.")


def _first_sentence(error: Exception) -> str:
    text = "".join(c for c in " ".join(str(error).split()) if c.isprintable())
    return (text[:200] + " ...") if len(text) > 200 else text.rstrip(".") + "."


def _read_arrow(data: bytes) -> pa.Table:
    try:
        return pa.ipc.open_file(io.BytesIO(data)).read_all()
    except pa.ArrowInvalid:
        try:
            return pa.ipc.open_stream(io.BytesIO(data)).read_all()
        except (pa.ArrowInvalid, OSError):
            raise TableError("The file holds no Arrow table: is its ending right?") from None


def _read_excel(data: bytes, sheet: int | str) -> pa.Table:
    need("fastexcel", "tables")
    import fastexcel

    try:
        return pa.table(fastexcel.read_excel(data).load_sheet(sheet))
    except fastexcel.FastExcelError as error:
        raise TableError(f"The workbook cannot be read: {_first_sentence(error)}") from None


def _read_text(data: bytes, ending: str, notes: list[str]) -> pa.Table:
    encoding = _encoding(data)
    if encoding == "cp1252":
        notes.append("the file is not UTF-8 and was read as Latin-1 (Windows-1252)")
    text = data.decode(encoding, errors="replace" if encoding == "cp1252" else "strict")
    if "\0" in text[:_SAMPLE]:
        raise TableError("The file holds binary data, not text: is its ending right?")
    delimiter = "\t" if ending in (".tsv", ".tab") else _delimiter(text[:_SAMPLE])
    header = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
    if not any(cell.strip() for cell in header):
        raise TableError("The first line must contain the column names; it is empty.")
    if len(header) == 1:
        notes.append("the file has one column only (separators that are known: comma, semicolon, tab, bar, blank)")
    # Made-up names: the file's own may repeat, and every cell is to stay text.
    names = [f"c{j}" for j in range(len(header))]
    source = pa.BufferReader(text.encode("utf-8"))

    def cells(threads: bool) -> Any:
        source.seek(0)
        return pacsv.read_csv(
            source,
            read_options=pacsv.ReadOptions(column_names=names, skip_rows=0, use_threads=threads, block_size=1 << 24),
            parse_options=pacsv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=pacsv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.large_string()), strings_can_be_null=False, check_utf8=False
            ),
        )

    try:
        whole = cells(threads=True)
    except pa.ArrowInvalid:
        whole = cells(threads=False)  # raises again, and now says in which row
    return whole.slice(1).rename_columns(header)


def _encoding(data: bytes) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8-sig"


def _delimiter(sample: str) -> str:
    """The separator that splits most of the first lines into as many (> 1) cells as the first; a blank if no other."""
    best, most = ",", 0.0
    for mark in (",", ";", "\t", "|", " "):
        if mark == " " and most:
            break
        try:
            rows = [len(r) for r in csv.reader(io.StringIO(sample, newline=""), delimiter=mark) if r][:50]
        except csv.Error:
            continue
        width = rows[0] if rows else 1
        share = rows.count(width) / max(len(rows), 1)
        if width > 1 and share * min(width, 20) > most and (mark != " " or share > 0.9):
            best, most = mark, share * min(width, 20)
    return best


def _named(table: pa.Table, notes: list[str]) -> pa.Table:
    """Every column has a name of its own."""
    names: list[str] = []
    for j, name in enumerate(table.column_names):
        clean = " ".join(str(name).split()) or f"column {j + 1}"
        unique, count = clean, 1
        while unique in names:
            count += 1
            unique = f"{clean} ({count})"
        if count > 1:
            notes.append(f"two columns are called {clean!r}: the later one is {unique!r} here")
        names.append(unique)
    return table.rename_columns(names)
