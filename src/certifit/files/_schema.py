"""What a table must look like to be fed to a model: names, kinds, categories, target.

A schema turns any table into one float64 matrix, row by row and without looking at other rows: numbers as they
are, dates as days since 1970, booleans as 0 and 1, categories as their position in a fixed list, texts as 0 and 1 for
words that they lack or have; NaN stands for "missing" and −1 for a category the list does not know. Everything that
learns from rows (medians, scales, which categories get a column) happens later, inside the folds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal

import numpy as np

from certifit._arrow import pa
from certifit._types import Array, Named, Record
from certifit.exceptions import TableError
from certifit.files import _cells
from certifit.files._read import Table
from certifit.files._text import presence

Kind = Literal["number", "boolean", "category", "date"]
Task = Literal["classification", "regression", "counts"]


@dataclass(frozen=True)
class Column:
    """One input column: its name, kind, and what is needed to read its cells.

    Attributes
    ----------
    name, kind : str
    categories : tuple of str
        Of a categorical column, in order.
    pattern : str
        Of dates.
    comma : bool
        Whether numbers have a decimal comma.
    text : str
        The table's column of text, if this one says whether a text has a word; it is named after that word.
    bucket, buckets : int ≥ 0
        Words are hashed into so many buckets; which of them this column is about.

    Examples
    --------
    >>> Column("ward", "category", categories=("north", "south")).categories
    ('north', 'south')
    """

    name: str
    kind: Kind
    categories: tuple[str, ...] = ()
    pattern: str = ""
    comma: bool = False
    text: str = ""
    bucket: int = 0
    buckets: int = 0

    @property
    def source(self) -> str:
        """The table's column that is read."""
        return self.text or self.name

    def read(self, cells: pa.ChunkedArray) -> tuple[Array, Array]:
        """Cells as float64, and a mask of those that could not be understood.

        Parameters
        ----------
        cells : Arrow array
        """
        if self.kind == "number":
            return _cells.numbers(cells, self.comma)
        if self.text:
            return presence(cells, self.buckets)[:, [self.bucket]].toarray()[:, 0], np.zeros(len(cells), dtype=bool)
        if self.kind == "boolean":
            return _cells.booleans(cells)
        if self.kind == "date":
            return _cells.days(cells, self.pattern)
        return _cells.codes(cells, self.categories)


@dataclass(frozen=True)
class Target:
    """The column to predict: name, task, and for classes their labels (``numeric`` when they are numbers).

    Attributes
    ----------
    name, task : str
    classes : tuple of str
    numeric, comma : bool
        Whether labels are numbers; whether numbers have a decimal comma.

    Examples
    --------
    >>> Target("disease", "classification", classes=("no", "yes")).classes
    ('no', 'yes')
    """

    name: str
    task: Task
    classes: tuple[str, ...] = ()
    numeric: bool = False
    comma: bool = False

    def read(self, cells: pa.ChunkedArray) -> tuple[Array, Array]:
        """Labels or values, and a mask of the rows that have one.

        Parameters
        ----------
        cells : Arrow array
        """
        if self.task != "classification" or self.numeric:
            values, _ = _cells.numbers(cells, self.comma)
            whole = self.task == "classification"
            present = ~np.isnan(values)
            return (np.where(present, values, 0).astype(np.int64) if whole else values), present
        words = _cells.stripped(cells).to_pylist()
        present = np.array([w is not None for w in words])
        return np.array([w if w is not None else "" for w in words], dtype=str), present

    def labels(self) -> Array:
        """The classes in sorted order, as the model sees them."""
        return np.array([int(c) for c in self.classes]) if self.numeric else np.array(self.classes)


@dataclass(frozen=True)
class Reading:
    """A table as numbers, and what could not be used.

    Attributes
    ----------
    X : (n, columns) array
    unseen, unreadable : mapping
        Column → number of cells with a new category, or that could not be read.
    ignored : tuple of str
        Columns that the schema does not use.

    Examples
    --------
    >>> Reading(np.zeros((2, 1)), unseen={"ward": 1}).unseen["ward"]
    1
    """

    X: Array
    unseen: Mapping[str, int] = field(default_factory=dict)
    unreadable: Mapping[str, int] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()

    def remarks(self) -> list[str]:
        """Remarks on how the table was read, one sentence each."""
        said = [
            f"{count} cell{'s' * (count > 1)} of {name!r} hold{'s' * (count == 1)} a category that was not there at "
            "the fit: counted as none of the known ones."
            for name, count in self.unseen.items()
        ]
        said += [
            f"{count} cell{'s' * (count > 1)} of {name!r} could not be read: counted as missing."
            for name, count in self.unreadable.items()
        ]
        return said


@dataclass(frozen=True)
class Schema:
    """Input columns, target, and the columns of the study's table that are not used.

    Attributes
    ----------
    columns : tuple of Column
    target : Target or None
    dropped : tuple of (name, reason)
    weights : str
        The column that weights the rows of the fit; empty when all count alike.

    Examples
    --------
    >>> schema = Schema((Column("age", "number"), Column("sex", "category", ("f", "m"))))
    >>> schema.read(Table.of({"sex": ["m", "f", "x"], "age": ["31", "NA", "7"]})).X
    array([[31.,  1.], [nan,  0.], [ 7., -1.]])
    """

    columns: tuple[Column, ...]
    target: Target | None = None
    dropped: tuple[tuple[str, str], ...] = ()
    weights: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the input columns, in order."""
        return tuple(c.name for c in self.columns)

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the table's columns that are read, in order, each once."""
        return tuple(dict.fromkeys(c.source for c in self.columns))

    def read(self, table: Table) -> Reading:
        """The table as a float64 matrix; a missing column is rejected, other columns are ignored."""
        have = set(table.columns)
        absent = [name for name in self.sources if name not in have]
        if absent:
            shown = ", ".join(repr(a) for a in absent[:5]) + (" and more" if len(absent) > 5 else "")
            raise TableError(
                f"The table lacks {len(absent)} column{'s' * (len(absent) > 1)} the model was fitted on: {shown}. "
                "Add them (cells may be empty)."
            )
        X = np.empty((table.rows, len(self.columns)))
        unseen: dict[str, int] = {}
        unreadable: dict[str, int] = {}
        for name in dict.fromkeys(c.text for c in self.columns if c.text):  # every text is taken apart once
            own = [j for j, c in enumerate(self.columns) if c.text == name]
            found = presence(table.column(name), self.columns[own[0]].buckets)
            X[:, own] = found[:, [self.columns[j].bucket for j in own]].toarray()
        for j, column in enumerate(self.columns):
            if column.text:
                continue
            X[:, j], bad = column.read(table.column(column.name))
            if bad.any():
                (unseen if column.kind == "category" else unreadable)[column.name] = int(bad.sum())
        expected = {*self.sources, *(name for name, _ in self.dropped), *([self.target.name] if self.target else [])}
        return Reading(X, unseen, unreadable, tuple(c for c in table.columns if c not in expected))

    def labels(self, table: Table) -> tuple[Array, Array]:
        """The target of a table, and a mask of the rows that have one."""
        if self.target is None:
            raise TableError("This model file names no target column.")
        if self.target.name not in table.columns:
            raise TableError(f"The table has no column {self.target.name!r} (the target).")
        return self.target.read(table.column(self.target.name))

    def row_weights(self, table: Table) -> Array | None:
        """Weights of a table's rows, where the model was fitted with some."""
        if not self.weights:
            return None
        if self.weights not in table.columns:
            raise TableError(f"The table has no column {self.weights!r}, which weights the rows of this model.")
        return _cells.numbers(table.column(self.weights))[0]

    def to_dict(self) -> Record:
        """The certificate as a dictionary that can be written as JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, record: Named) -> Schema:
        """The schema of a record made by `to_dict`."""
        columns = tuple(Column(**{**c, "categories": tuple(c["categories"])}) for c in record["columns"])
        target = record.get("target")
        if target is not None:
            target = Target(**{**target, "classes": tuple(target["classes"])})
        dropped = tuple((str(a), str(b)) for a, b in record.get("dropped", ()))
        return cls(columns, target, dropped, str(record.get("weights", "")))
