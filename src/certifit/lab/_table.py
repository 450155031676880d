"""A person's own table as points of a scene: two columns, or the first two principal components.

Numbers are taken as they are, in their own units. Dates become days since the first of them, rows with gaps are left
out, and both are said. What cannot be shown is rejected in one sentence that names what can.
"""

from __future__ import annotations

import base64
import binascii
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np

from certifit._types import Array
from certifit.exceptions import CertifitError
from certifit.lab._scene import LabError, Scene

if TYPE_CHECKING:
    from certifit.files import Table

ENDINGS = (".csv", ".tsv", ".txt", ".parquet", ".arrow", ".feather", ".xlsx", ".xls", ".ods")
CLASSES = 8  # colours that can be told apart
_GAPS = 0.3  # a component leaves out columns with more gaps than this share


@dataclass(frozen=True)
class LabTable:
    """A table with what each column holds.

    Examples
    --------
    >>> from certifit.files import Table
    >>> LabTable.of(Table.of({"age": [3, 4], "sex": ["f", "m"]})).kinds
    {'age': 'number', 'sex': 'category'}
    """

    table: Table
    kinds: Mapping[str, str]  # column to "number", "date", "category" or "nothing"
    values: Mapping[str, Array]  # column to its numbers or days, nan where there is a gap

    @classmethod
    def of(cls, table: Table) -> LabTable:
        """Look at the cells of every column."""
        found = {name: _look(table.column(name)) for name in table.columns}
        values = {name: v for name, (_, v) in found.items() if v is not None}
        return cls(table, {name: kind for name, (kind, _) in found.items()}, values)

    def described(self) -> dict[str, object]:
        """What the page offers for a choice."""
        columns = [{"name": name, "kind": kind} for name, kind in self.kinds.items()]
        return {"columns": columns, "rows": self.table.rows, "notes": list(self.table.notes)}

    def numbers(self, name: str) -> tuple[Array, str]:
        """A column as floats with nan for gaps, and its axis in words."""
        kind = self._has(name)
        if kind in ("category", "nothing"):
            numeric = [n for n, k in self.kinds.items() if k in ("number", "date")]
            offer = f"choose one of {', '.join(numeric[:6])}" if numeric else "this table has no column of numbers"
            raise LabError(f"{name} holds {'categories' if kind == 'category' else 'nothing'}: {offer}.")
        values = self.values[name]
        if kind == "number":
            return values, name
        first = float(np.nanmin(values))
        return values - first, f"{name} (days since {np.datetime64(int(first), 'D')})"

    def labels(self, name: str) -> list[str | None]:
        """A column as words, None for gaps."""
        from certifit.files import _cells

        self._has(name)
        return list(_cells.stripped(self.table.column(name)).to_pylist())

    def _has(self, name: object) -> str:
        if not isinstance(name, str) or name not in self.kinds:
            raise LabError(f"There is no column {str(name)[:60]!r} in this table.")
        return self.kinds[name]


def _look(column: Any) -> tuple[str, Array | None]:
    """What a column holds, with its values where they are numbers or days."""
    from certifit.files import _cells

    if column.null_count == len(column) or _cells.stripped(column).null_count == len(column):
        return "nothing", None
    coded, present = _cells.matches(column, "code")
    values, words = _cells.numbers(column)
    if not words.any() and 2 * coded <= present:
        return "number", values
    for pattern in _cells.DATES:
        days, words = _cells.days(column, pattern)
        if not words.any():
            return "date", days
    return "category", None


def look(name: object, data: Any, rows: int) -> LabTable:
    """A table from its bytes (in base64) and the ending of its name; nothing on this computer is opened by name.

    Examples
    --------
    >>> text = base64.b64encode(b"age,ill\\n30,no\\n61,yes\\n").decode()
    >>> look("patients.csv", text, 100).described()["columns"]
    [{'name': 'age', 'kind': 'number'}, {'name': 'ill', 'kind': 'category'}]
    """
    from certifit.files import read_table

    ending = PurePosixPath(name).suffix.lower() if isinstance(name, str) else ""
    if ending not in ENDINGS:
        raise LabError(f"A table is one of {', '.join(ENDINGS)}.")
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, TypeError, ValueError):
        raise LabError("The table did not arrive whole: load it again.") from None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"table{ending}"
        file.write_bytes(content)
        try:
            table = read_table(file)
        except CertifitError as error:
            raise LabError(str(error).replace(str(file), "The table")) from None
    if table.rows > rows:
        raise LabError(f"The table has {table.rows} rows; the lab takes {rows} (certifit study takes more).")
    return LabTable.of(table)


def choose_columns(table: LabTable, choice: object, scene: Scene, limit: int) -> dict[str, object]:
    """Points of a scene from two columns, or from all of them by principal components.

    Examples
    --------
    >>> from certifit.files import Table
    >>> from certifit.lab import catalogue
    >>> table = LabTable.of(Table.of({"a": [1.0, 2.0, None], "b": [0.5, 0.25, 1.0], "c": ["u", "v", "v"]}))
    >>> found = choose_columns(table, {"x": "a", "y": "b", "target": "c"}, catalogue()[0], 100)
    >>> found["points"], found["classes"], found["notes"]
    ([[1.0, 0.5, 0], [2.0, 0.25, 1]], ['u', 'v'], ['1 row with missing values skipped.'])
    """
    if not isinstance(choice, dict):
        raise LabError("Choose two columns.")
    notes: list[str] = []
    target = choice.get("target") or None
    words = table.labels(target) if target is not None and len(scene.labels) > 1 else None
    if len(scene.labels) > 1 and words is None and scene.labels[0] == "A":
        raise LabError("Choose the column that holds the classes.")
    if choice.get("components"):
        plane, axes = _components(table, target, notes)
    else:
        pairs = [table.numbers(str(choice.get(side))) for side in ("x", "y")]
        plane, axes = np.column_stack([p[0] for p in pairs]), [p[1] for p in pairs]
    whole = np.all(np.isfinite(plane), axis=1)
    if words is not None:
        whole &= np.array([w is not None for w in words])
    if (lost := int(np.sum(~whole))) > 0:
        notes.append(f"{lost} row{'s' if lost > 1 else ''} with missing values skipped.")
    rows = np.flatnonzero(whole)
    if len(rows) > limit:
        notes.append(f"{limit} of {len(rows)} rows, evenly spaced: the lab draws no more.")
        rows = rows[np.linspace(0, len(rows) - 1, limit).round().astype(int)]
    codes, classes = _coded(words, rows, target, scene)
    points = [[float(plane[r, 0]), float(plane[r, 1]), int(k)] for r, k in zip(rows, codes)]
    if not points:
        raise LabError("No row of the table has a value in both columns.")
    return {"points": points, "axes": axes, "classes": classes, "notes": notes}


def _coded(words: list[str | None] | None, rows: Array, target: str | None, scene: Scene) -> tuple[Array, list[str]]:
    """Labels as numbers, and what they are called."""
    if words is None:
        return np.zeros(len(rows), dtype=int), []
    classes = sorted({str(words[r]) for r in rows})
    most = CLASSES if scene.many else len(scene.labels)
    if len(classes) > most:
        raise LabError(f"{target} has {len(classes)} different values; this scene takes at most {most} classes.")
    place = {word: k for k, word in enumerate(classes)}
    return np.array([place[str(words[r])] for r in rows], dtype=int), classes


def _components(table: LabTable, target: str | None, notes: list[str]) -> tuple[Array, list[str]]:
    """The first two principal components of all columns but the target, each divided by its standard deviation."""
    import certifit as cf

    columns: list[Array] = []
    for name, kind in table.kinds.items():
        if name == target or kind == "nothing":
            continue
        if kind == "category":
            words = table.labels(name)
            values = sorted({w for w in words if w is not None})
            if len(values) > 20:
                notes.append(f"{name} skipped: {len(values)} different words.")
                continue
            own = [np.array([np.nan if w is None else float(w == v) for w in words]) for v in values[1:]]
        else:
            own = [table.numbers(name)[0]]
        if any(np.mean(np.isnan(c)) > _GAPS for c in own):
            notes.append(f"{name} skipped: it has too many missing values.")
            continue
        columns += [c for c in own if np.nanstd(c) > 0]
    if len(columns) < 2:
        raise LabError("Principal components need two columns that vary.")
    M = np.column_stack(columns)
    whole = np.all(np.isfinite(M), axis=1)
    Z = (M - M[whole].mean(axis=0)) / M[whole].std(axis=0)
    model = cf.decomposition.PCA(2).fit(Z[whole])
    plane = np.full((len(M), 2), np.nan)
    plane[whole] = model.transform(Z[whole])
    kept = 100 * model.explained_variance_ratio_.sum()
    notes.append(
        f"Principal components of {len(columns)} columns, each divided by its standard deviation ({kept:.0f} % kept)."
    )
    return plane, ["component 1", "component 2"]
