"""How a study is laid out: rows that belong together, an order in time, weights, the class that matters.

Columns with such a role are read from the table and are no features. With groups, all rows of a group are held out
together; with time, every fold is predicted by models of earlier rows only, so that the first rows are never held out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, TimeSeriesSplit

from certifit import resampling
from certifit._arrow import pa
from certifit._types import Array
from certifit.design import Fold
from certifit.exceptions import OptionError, TableError
from certifit.files import Target, _cells
from certifit.study._facts import Facts
from certifit.study._judge import Measure, measure_for, measure_named, rarest
from certifit.study._kinds import find_kind
from certifit.study._threshold import Rule


@dataclass(frozen=True)
class Design:
    """What was asked: columns by their role, the positive class, the metric.

    Attributes
    ----------
    groups, time, weights : str or None
        Columns: rows with equal cells are held out together; training rows are older; how much a row counts.
    positive : str or None
        The class to find, of two; the rarer one when None.
    metric : str or None
        Name of the score that decides.
    costs : (false alarm, miss) or None
    require : str or None
        What the threshold must reach, such as "recall >= 0.95".

    Examples
    --------
    >>> Design(groups="patient").roles()
    {'patient': 'says which rows belong together (--groups)'}
    """

    groups: str | None = None
    time: str | None = None
    weights: str | None = None
    positive: str | None = None
    metric: str | None = None
    costs: tuple[float, float] | None = None
    require: str | None = None

    def __post_init__(self) -> None:
        if self.groups is not None and self.time is not None:
            raise OptionError("--groups and --time cannot be combined: choose the one that matters more.")
        if self.costs is not None and self.require is not None:
            raise OptionError("--costs and --require cannot be combined: each of them sets the threshold.")
        if self.require is not None:
            Rule.read(self.require)

    def roles(self) -> dict[str, str]:
        """Columns that are no features, and why."""
        said = {
            self.groups: "says which rows belong together (--groups)",
            self.time: "orders the rows (--time)",
            self.weights: "says how much a row counts (--weights)",
        }
        return {name: why for name, why in said.items() if name is not None}

    def read(self, facts: Facts) -> Roles:
        """The columns with a role as numbers, the positive class and the measure."""
        cells = facts.table.column
        positive = _positive(facts.target, facts.y, self.positive)
        if positive is None and (self.costs is not None or self.require is not None):
            raise OptionError(
                "--costs and --require set a threshold between two classes; this target does not have two."
            )
        if self.metric is None:
            measure = measure_for(facts.task, facts.y)
        else:
            measure = measure_named(self.metric, facts.task, facts.y, positive)
        return Roles(
            measure,
            None if self.groups is None else _groups(cells(self.groups)),
            None if self.time is None else _times(self.time, cells(self.time)),
            None if self.weights is None else _weights(self.weights, cells(self.weights)),
            positive,
        )


@dataclass(frozen=True)
class Roles:
    """A design read off a table: one entry per row with a target."""

    measure: Measure
    groups: Array | None = None
    time: Array | None = None
    weights: Array | None = None
    positive: Any = None


def _positive(target: Target, y: Array, asked: str | None) -> Any:
    if target.task != "classification":
        if asked is not None:
            raise OptionError("--positive names a class; this target has none (it holds numbers).")
        return None
    labels = target.labels()
    if asked is None:
        return rarest(y) if len(labels) == 2 else None
    if len(labels) != 2:
        raise OptionError(f"--positive is for two classes; {target.name!r} has {len(labels)}.")
    named = [c for c in labels if str(c) == asked.strip()]
    if not named:
        raise OptionError(f"There is no class {asked!r} in {target.name!r}; there are: {', '.join(map(str, labels))}.")
    return named[0]


def _groups(cells: pa.ChunkedArray) -> Array:
    """A number for each group; a row whose cell is empty is a group of its own."""
    words = np.array(["" if w is None else str(w) for w in cells.to_pylist()])
    codes = np.unique(words, return_inverse=True)[1].astype(np.int64)
    alone = words == ""
    codes[alone] = codes.max(initial=-1) + 1 + np.arange(alone.sum())
    return codes


def _times(name: str, cells: pa.ChunkedArray) -> Array:
    values, bad = _cells.numbers(cells)
    if _cells.is_dated(cells) or bad.any():
        found = find_kind(name, cells)
        if found.column is None or found.column.kind != "date":
            raise TableError(f"--time {name!r} holds neither dates nor numbers.")
        values, bad = found.column.read(cells)
    return _complete(f"--time {name!r}", values, bad)


def _weights(name: str, cells: pa.ChunkedArray) -> Array:
    values = _complete(f"--weights {name!r}", *_cells.numbers(cells))
    if values.min() < 0 or not np.any(values > 0):
        raise TableError(f"--weights {name!r} holds negative numbers or only zeros.")
    return values


def _complete(what: str, values: Array, bad: Array) -> Array:
    lost = int(np.sum(bad | ~np.isfinite(values)))
    if lost:
        raise TableError(f"{what} has {lost} cell{'s' * (lost > 1)} without a number or date: fill or remove the rows.")
    return values


# -- folds --------------------------------------------------------------------------------------------
def designed_folds(roles: Roles, y: Array, classes: bool, asked: int | None, seed: int) -> tuple[tuple[Fold, ...], int]:
    """Outer folds by groups or time, and the number of inner ones."""
    count = asked or (10 if len(y) <= 2_000 else 5)
    inner = 3 if len(y) > 20_000 else 5
    if roles.groups is not None:
        known = len(np.unique(roles.groups))
        if known < 2 or (asked is not None and asked > known):
            raise TableError(f"{asked or 2} folds are too many: there are {known} groups.")
        split = group_folds(y, roles.groups, classes, min(count, known), seed)
        inner = min(inner, max(known - 1, 2))
    else:
        assert roles.time is not None
        split = time_folds(y, roles.time, classes, min(count, max(len(y) // 10, 2)))
    if len(split) < 2:
        what = "--groups" if roles.groups is not None else "--time"
        raise TableError(f"{what} leaves fewer than two folds in which every class can be learned and evaluated.")
    return split, inner


def group_folds(y: Array, groups: Array, classes: bool, folds: int, seed: int) -> tuple[Fold, ...]:
    """Folds that never part the rows of a group (classes spread as evenly as the groups allow)."""
    kind: Callable[..., Any] = StratifiedGroupKFold if classes else GroupKFold
    splitter = kind(folds, shuffle=True, random_state=seed)
    split = resampling.folds(np.zeros((len(y), 1)), y, splitter, classifier=classes, groups=groups)
    return _usable(split, y, classes)


def time_folds(y: Array, time: Array, classes: bool, folds: int) -> tuple[Fold, ...]:
    """Blocks in order of time, each predicted from all rows before it; rows of one moment are never parted."""
    order = np.argsort(time, kind="stable")
    blocks = resampling.folds(np.zeros((len(y), 1)), y, TimeSeriesSplit(folds))
    starts = np.unique([time[order[test[0]]] for _, test in blocks])
    ends = np.append(starts[1:], np.inf)
    split = [(np.flatnonzero(time < a), np.flatnonzero((time >= a) & (time < b))) for a, b in zip(starts, ends)]
    return _usable(split, y, classes)


def _usable(split: list[Fold], y: Array, classes: bool) -> tuple[Fold, ...]:
    """Folds whose training rows have every class, and whose held-out rows can be scored."""
    every = len(np.unique(y))
    found = []
    for train, test in split:
        if classes:
            labels, counts = np.unique(y[train], return_counts=True)
            good = len(labels) == every and counts.min() >= 2 and len(np.unique(y[test])) >= 2
        else:
            good = len(train) >= 5 and len(test) >= 2 and np.ptp(y[test]) > 0 and np.ptp(y[train]) > 0
        if good:
            found.append((train, test))
    return tuple(found)
