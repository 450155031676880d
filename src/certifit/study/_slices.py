"""Where a model fails: errors by slice of the table, with intervals that hold together.

An error is a wrong class, or a prediction off by more than most are (the 80 % quantile of the absolute errors). A slice
is a level of a category, a third of a number's range, or rows where a cell is missing. The share of errors in each
slice has an exact binomial interval, wide enough for all slices to hold together with 95 % (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from certifit import metrics
from certifit._types import Array, Record
from certifit.files import Column

_ROWS = 20  # in a slice, at least
_LEVELS = 12
_MOST = 200


def errors_of(y: Array, said: Array, classes: bool) -> tuple[Array, float | None]:
    """Which rows count as errors, and for numbers the size from which an error counts."""
    if classes:
        return y != said, None
    size = np.abs(y - said)
    bar = float(np.quantile(size, 0.8))
    return size > bar, bar


def slices(
    X: Array, columns: Sequence[Column], wrong: Array, size: Array | None = None, least: int = _ROWS
) -> list[Record]:
    """The share of errors in every slice of at least ``least`` rows, worst first.

    X is a table as its schema reads it; ``size`` are absolute errors, whose mean is told as well.

    Examples
    --------
    >>> X = np.repeat([[0.0], [1.0]], 50, axis=0)
    >>> wrong = np.arange(100) < 30
    >>> found = slices(X, [Column("ward", "category", ("north", "south"))], wrong)
    >>> [(s["name"], s["share"], s["differs"]) for s in found]
    [('ward = north', 0.6, True), ('ward = south', 0.0, True)]
    """
    parts = [
        (column.name, name, rows)
        for j, column in enumerate(columns)
        if not column.text  # hundreds of words would leave every slice an interval that says nothing
        for name, rows in _parts(X[:, j], column)
        if least <= rows.sum() < len(wrong)
    ][:_MOST]
    level = 1.0 - 0.05 / max(len(parts), 1)
    overall = float(wrong.mean())
    found = []
    for column, name, rows in parts:
        hits = metrics.share(int(wrong[rows].sum()), int(rows.sum()))
        limits = hits.interval(level)
        row: dict[str, Any] = {"column": column, "name": name, "rows": int(rows.sum()), "share": float(hits)}
        row |= {"interval": [limits.low, limits.high], "differs": bool(overall < limits.low or overall > limits.high)}
        found.append(row | ({"mean": float(size[rows].mean())} if size is not None else {}))
    return sorted(found, key=lambda row: (-row["interval"][0], -row["share"]))


def _parts(x: Array, column: Column) -> Iterator[tuple[str, Array]]:
    missing = np.isnan(x)
    if column.kind == "category":
        counts = np.bincount(x[~missing & (x >= 0)].astype(int), minlength=len(column.categories))
        for c in np.argsort(-counts, kind="stable")[:_LEVELS]:
            yield f"{column.name} = {column.categories[int(c)]}", x == c
        if (x == -1).any():
            yield f"{column.name}: a level not seen in training", x == -1
    elif column.kind == "boolean":
        yield f"{column.name} = yes", x == 1
        yield f"{column.name} = no", x == 0
    else:
        yield from _thirds(x, missing, column)
    if missing.any():
        yield f"{column.name} is missing", missing


def _thirds(x: Array, missing: Array, column: Column) -> Iterator[tuple[str, Array]]:
    seen = x[~missing]
    if not len(seen) or seen.min() == seen.max():
        return
    low, high = np.quantile(seen, [1 / 3, 2 / 3])
    values = np.unique(seen)

    def shown(v: float) -> str:
        return str(np.datetime64(int(np.floor(v)), "D")) if column.kind == "date" else _plain(v)

    if len(values) <= 3:
        yield from ((f"{column.name} = {shown(v)}", x == v) for v in values)
        return
    yield f"{column.name} ≤ {shown(low)}", ~missing & (x <= low)
    if low < high:
        yield f"{shown(low)} < {column.name} ≤ {shown(high)}", ~missing & (x > low) & (x <= high)
    yield f"{column.name} > {shown(high)}", ~missing & (x > high)


def _plain(v: float) -> str:
    """Four digits; whole numbers and thousands without an exponent.

    Examples
    --------
    >>> _plain(27_043.6), _plain(-0.51234), _plain(3e-7), _plain(6.02e23)
    ('27040', '−0.5123', '3e−07', '6.02e+23')
    """
    short = f"{v:.4g}"
    whole = "e+" in short and abs(v) < 1e9
    return (f"{float(short):.0f}" if whole else short).replace("-", "−")
