"""The data: kinds, missing cells, twins, imbalance, columns that leak the target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from certifit._arrow import pa
from certifit._types import Array
from certifit.exceptions import OptionError
from certifit.files import Column, Schema, Table, TableError, Target, _cells
from certifit.study._kinds import SHORT, Found, find_kind, text
from certifit.study._leaks import alone

_LEAK = 0.995  # a single column that predicts this well (accuracy, or R² beyond it) leaks the target
_LEAK_R2 = 0.999
_FEW_CLASSES = 10


@dataclass(frozen=True)
class Facts:
    """A table ready for comparison, and everything a reader should know about it.

    Attributes
    ----------
    table, schema : Table, Schema
    found : tuple of Found
        What each column turned out to be.
    X, y : array
        The table as numbers, and the target.
    twins : array
        Groups of equal rows.
    leaks, notes : tuple
        Columns that leak the target; remarks.
    unlabelled : int ≥ 0
        Rows without a target.

    Examples
    --------
    >>> from certifit.study import examine
    >>> facts = examine({"x": np.sin(np.arange(30.0)), "y": np.cos(np.arange(30.0))}, "y")
    >>> facts.X.shape[0], facts.unlabelled
    (30, 0)
    """

    table: Table
    found: tuple[Found, ...]
    schema: Schema
    X: Array
    y: Array
    twins: Array  # for each row the number of the first row equal to it
    leaks: tuple[tuple[str, float], ...] = ()
    notes: tuple[str, ...] = field(default=())
    unlabelled: int = 0

    @property
    def target(self) -> Target:
        """The column to predict."""
        assert self.schema.target is not None
        return self.schema.target

    @property
    def task(self) -> str:
        """ "classification", "regression" or "counts"."""
        return self.target.task

    @property
    def duplicates(self) -> int:
        """Rows that equal an earlier one."""
        return int(np.sum(self.twins != np.arange(len(self.twins))))

    @property
    def missing(self) -> int:
        """Missing cells among the columns used."""
        return int(np.isnan(self.X).sum())

    def shares(self) -> dict[str, int]:
        """Rows per class."""
        labels, counts = np.unique(self.y, return_counts=True)
        return {str(a): int(b) for a, b in zip(labels, counts)}


def examine(
    data: Any,
    target: str,
    task: str | None = None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    categories: Sequence[str] = (),
    roles: Mapping[str, str] = MappingProxyType({}),
) -> Facts:
    """Look at a table and its target and say what they are.

    Parameters
    ----------
    data : path, data frame, mapping of columns, or Table
    target : str
        The column to predict.
    task : {"classification", "regression", "counts"}, default=None
        Found from the target when None.
    drop, keep, categories : sequences of str
        Columns to drop; to keep although they look like identifiers or leak the target; to take as
        categories although they hold numbers.
    roles : mapping, default={}
        Columns that are not features, with the reason.

    Returns
    -------
    Facts

    Examples
    --------
    >>> facts = examine({"dose": np.sin(np.arange(30.0)), "ill": ["yes", "no", "no"] * 10}, "ill")
    >>> facts.task, facts.X.shape
    ('classification', (30, 1))
    """
    table = Table.of(data)
    _check_names(table, target, drop, keep, categories, tuple(roles))
    if target in roles:
        raise OptionError(f"The column {target!r} is the target: it cannot have another role.")
    notes = list(table.notes)
    aim = _target(table, target, task, notes)
    y, labelled = aim.read(table.column(target))
    if not labelled.all():
        lost = int((~labelled).sum())
        notes.append(f"{lost} row{'s' * (lost > 1)} without a target {'are' if lost > 1 else 'is'} dropped")
        table, y = table.take(np.flatnonzero(labelled)), y[labelled]
    _refuse_hopeless(y, aim)
    found = [
        Found(name, None, roles[name]) if name in roles else _look(table, name, drop, keep, categories)
        for name in table.columns
        if name != target
    ]
    for f in found:
        notes.extend(f.notes)
    columns = tuple(c for f in found for c in f.columns)
    X = Schema(columns).read(table).X
    leaks = _find_leaks(columns, X, y, aim, keep)
    kept = [j for j, c in enumerate(columns) if c.name not in dict(leaks)]
    if not kept:
        given = dict(leaks)
        why = "; ".join(f"{f.name}: {'leaks the target' if f.name in given else f.kind}" for f in found[:5])
        hint = " (--keep COLUMN uses it anyway)" if given or any(f.why for f in found) else ""
        raise TableError(f"No column is left to predict from: {why}{hint}.")
    dropped = tuple((f.name, f.why) for f in found if not f.columns)
    dropped += tuple((name, "leaks the target") for name, _ in leaks)
    schema = Schema(tuple(columns[j] for j in kept), aim, dropped)
    X = np.ascontiguousarray(X[:, kept])
    return Facts(table, tuple(found), schema, X, y, _twins(table), leaks, tuple(notes), int((~labelled).sum()))


def _check_names(table: Table, target: str, *lists: Sequence[str]) -> None:
    for name in (target, *(n for names in lists for n in names)):
        if name not in table.columns:
            close = ", ".join(repr(c) for c in table.columns[:8]) + (", ..." if len(table.columns) > 8 else "")
            hint = f" ({table.notes[-1]})" if len(table.columns) == 1 and table.notes else ""
            raise OptionError(f"There is no column {name!r}; the table has {close}{hint}.")
    if len(table.columns) < 2:
        hint = f" ({table.notes[-1]})" if table.notes else ""
        raise TableError(f"The table has only one column: there is nothing to predict the target from{hint}.")


def _look(table: Table, name: str, drop: Sequence[str], keep: Sequence[str], categories: Sequence[str]) -> Found:
    if name in drop:
        return Found(name, None, "dropped as asked")
    found = find_kind(name, table.column(name), name in categories)
    if found.columns or name not in keep or found.distinct < 2:
        return found
    if found.why == SHORT:
        return text(name, table.column(name), found.missing, found.distinct)
    values, bad = _cells.numbers(table.column(name))  # an identifier or free text that is to be used all the same
    if not bad.any() and not np.isnan(values).all():
        return Found(name, Column(name, "number"), found.why, found.missing, found.distinct)
    return find_kind(name, table.column(name), as_category=True)


def _target(table: Table, name: str, task: str | None, notes: list[str]) -> Target:
    """The target's task: as asked, or by what its cells are."""
    found = find_kind(name, table.column(name), as_category=task == "classification")
    if found.distinct < 2:
        kind = "has only one class" if found.distinct == 1 else "is empty"
        raise TableError(f"The target {name!r} {kind}: there is nothing to learn.")
    numbers, bad = _cells.numbers(table.column(name), bool(found.column and found.column.comma))
    numeric = not bad.any() and not _cells.is_dated(table.column(name)) and _no_codes(table.column(name))
    if task is None and found.column is not None and found.column.kind == "date":
        raise TableError(
            f"The target {name!r} holds dates: predict a number made from them (days since a start, say), or take "
            "them as classes with --task classification."
        )
    if task in ("regression", "counts"):
        if not numeric:
            raise TableError(f"The target {name!r} contains strings, not numbers: use --task classification.")
        if task == "counts" and (np.nanmin(numbers) < 0 or np.any(numbers % 1 > 0)):
            raise TableError(
                f"The target {name!r} does not consist of counts (integers from 0): use --task regression."
            )
        return Target(name, task, comma=bool(found.column and found.column.comma))  # type: ignore[arg-type]
    if task == "classification" or not numeric:
        present = numbers[~np.isnan(numbers)]
        whole = numeric and not np.any(present % 1) and bool(np.all(np.abs(present) < 2.0**53))
        return _classes(table, name, whole)
    return _numeric_target(table, name, numbers[~np.isnan(numbers)], found, notes)


def _no_codes(cells: pa.ChunkedArray) -> bool:
    return not _cells.is_text(cells) or _cells.matches(cells, "code")[0] == 0


def _numeric_target(table: Table, name: str, values: Array, found: Found, notes: list[str]) -> Target:
    levels, counts = np.unique(values, return_counts=True)
    whole = not np.any(values % 1)
    if whole and (len(levels) == 2 or (len(levels) <= _FEW_CLASSES and counts.min() >= 0.02 * len(values))):
        if len(levels) > 2:
            notes.append(
                f"the target has {len(levels)} different integers: taken as classes (--task counts or "
                "--task regression to take them as numbers)"
            )
        return _classes(table, name, True)
    comma = bool(found.column and found.column.comma)
    if whole and levels[0] >= 0 and np.mean(values) < 50 and len(levels) <= 0.5 * len(values):
        notes.append("the target holds integers from 0: taken as counts (--task regression otherwise)")
        return Target(name, "counts", comma=comma)
    return Target(name, "regression", comma=comma)


def _classes(table: Table, name: str, whole: bool) -> Target:
    probe = Target(name, "classification", numeric=whole)
    labels, present = probe.read(table.column(name))
    found = np.unique(labels[present])
    return Target(name, "classification", tuple(str(c) for c in found), whole)


def _refuse_hopeless(y: Array, aim: Target) -> None:
    if len(y) < 10:
        raise TableError(f"Only {len(y)} rows have a target: a study needs at least 10.")
    if aim.task != "classification":
        if np.ptp(y) == 0:
            raise TableError(f"The target {aim.name!r} is always {y[0]:g}: there is nothing to learn.")
        most = float(np.abs(y).max())
        spread = most * float(np.std(y / most))
        if most > 1e150 or spread < 1e-150:
            what = f"reaches {most:.0e}" if most > 1e150 else f"varies by {spread:.0e} only"
            raise TableError(f"The target {aim.name!r} {what}: squares of such numbers overflow; rescale it.")
        return
    labels, counts = np.unique(y, return_counts=True)
    if len(labels) < 2:
        raise TableError(f"The target {aim.name!r} has only one class ({labels[0]}): there is nothing to learn.")
    if len(labels) > 100 or len(labels) > len(y) / 3:
        raise TableError(
            f"The target {aim.name!r} has {len(labels)} classes in {len(y)} rows: is it the right column? "
            "(--task regression for numbers)"
        )
    if counts.min() < 3:
        raise TableError(
            f"Class {labels[counts.argmin()]!s} of {aim.name!r} has {counts.min()} row{'s' * int(counts.min() > 1)}: "
            "every class needs at least 3; remove or merge it."
        )


def _find_leaks(
    columns: Sequence[Column], X: Array, y: Array, aim: Target, keep: Sequence[str]
) -> tuple[tuple[str, float], ...]:
    """Columns that predict the target nearly perfectly all by themselves."""
    if len(y) < 30:
        return ()
    classes = aim.task == "classification"
    bar = _LEAK if classes else _LEAK_R2
    if classes and np.unique(y, return_counts=True)[1].max() / len(y) > _LEAK - 0.02:
        return ()  # one class nearly always: a guess alone would pass the bar
    scores = [(c.name, alone(X[:, j], y, c.kind == "category", classes)) for j, c in enumerate(columns)]
    return tuple((name, score) for name, score in scores if score >= bar and name not in keep)


def _twins(table: Table) -> Array:
    """For each row the first row with the same cells in every column of the file, identifiers included."""
    codes = np.empty((table.rows, len(table.columns)), dtype=np.int64)
    for j, name in enumerate(table.columns):
        cells = table.column(name)
        cells = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
        coded = _cells.stripped(cells) if _cells.is_text(cells) else cells
        coded = coded.dictionary_decode() if pa.types.is_dictionary(coded.type) else coded
        if pa.types.is_nested(coded.type):  # no order and no equality to speak of: every row its own
            return np.arange(table.rows)
        indices = coded.dictionary_encode(null_encoding="encode")
        indices = indices.combine_chunks() if isinstance(indices, pa.ChunkedArray) else indices
        codes[:, j] = indices.indices.to_numpy(zero_copy_only=False)
    packed = np.ascontiguousarray(codes).view(np.dtype((np.void, 8 * codes.shape[1]))).ravel()
    _, first, inverse = np.unique(packed, return_index=True, return_inverse=True)
    return np.asarray(first[inverse])
