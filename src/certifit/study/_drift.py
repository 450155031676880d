"""Is a table the one that a model was fitted to, and have its columns changed since then?

A model file remembers digests of (up to 2 000 of) its training rows, and a sketch of each column: quantiles of numbers,
shares of levels. New rows are compared with the sketch: a number by the largest distance between the two distribution
functions at the remembered quantiles (each an exact two-sample binomial comparison), a category by its shares.
Drift is what chance explains in fewer than 1 % of tables, over all columns together.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import scipy.stats

from certifit._types import Array, Named, Record
from certifit.files import Column, Schema, Table, TableModel

_REMEMBERED = 2_000
_MARKS = np.linspace(0.05, 0.95, 19)
_SURE = 0.01  # chance of any false alarm
_LEVELS = 30


def remember(X: Array, y: Array, schema: Schema, seed: int) -> Record:
    """What a model file keeps of its training rows."""
    rows = np.sort(np.random.default_rng(seed).permutation(len(y))[:_REMEMBERED])
    sketch = [_sketch(X[:, j], column) for j, column in enumerate(schema.columns)]
    return {"seen": sorted(_digests(X[rows], y[rows])), "rows": len(y), "sketch": sketch}


def _digests(X: Array, y: Array) -> list[str]:
    """A short digest of each row with its answer."""
    plain = np.where(np.isnan(X), -1.5e300, X) + 0.0
    return [
        hashlib.blake2b(row.tobytes() + str(label).encode(), digest_size=6).hexdigest() for row, label in zip(plain, y)
    ]


def seen_before(model: TableModel, table: Table, X: Array, y: Array) -> list[str]:
    """A warning when the rows, or many of them, were in the training table."""
    about = model.about
    same = bool(about.get("data_digest")) and about["data_digest"] == table.digest
    known = about.get("training") or {}
    often = 0.0
    if known.get("seen"):
        often = float(np.mean(np.isin(_digests(X, y), known["seen"]))) * known["rows"] / len(known["seen"])
    if same or (often > 0.9 and len(y) >= 0.9 * known.get("rows", np.inf)):
        return [
            "this is the training table: these figures are too optimistic (see the study for figures on held-out rows)"
        ]
    if often > 0.05:
        return [
            f"about {100 * min(often, 1.0):.0f} % of the rows were in the training table: figures are too optimistic"
        ]
    return []


def _sketch(x: Array, column: Column) -> Record:
    seen = x[~np.isnan(x)]
    out: dict[str, Any] = {"n": len(x), "missing": int(np.isnan(x).sum())}
    if column.text:  # one of hundreds of words: comparing them all would hide what happens to the other columns
        return out
    if column.kind == "category":
        counts = np.bincount(seen[seen >= 0].astype(int), minlength=len(column.categories))
        top = np.argsort(-counts, kind="stable")[:_LEVELS]
        return out | {"levels": {column.categories[int(c)]: int(counts[c]) for c in top}}
    if not len(seen):
        return out
    marks = np.unique(np.quantile(seen, _MARKS, method="inverted_cdf"))
    return out | {"marks": marks.tolist(), "below": [int(np.sum(seen <= m)) for m in marks]}


def drifted(model: TableModel, X: Array) -> list[str]:
    """One line for each column whose new cells are not distributed as in the training table."""
    known = (model.about.get("training") or {}).get("sketch") or []
    if len(known) != len(model.schema.columns) or len(X) < 20:
        return []
    looks = [_looks(X[:, j], c, s) for j, (c, s) in enumerate(zip(model.schema.columns, known))]
    bar = _SURE / max(sum(len(look) for look in looks), 1)
    lines = []
    for column, look in zip(model.schema.columns, looks):
        if look:
            p, words = min(look)
            if p < bar:
                lines.append(f"drifted: {column.name}: {words}")
    return lines


def _looks(x: Array, column: Column, sketch: Named) -> list[tuple[float, str]]:
    """p-values of all comparisons of one column, with what they would mean."""
    n, m = int(sketch["n"]), len(x)
    missing = np.isnan(x)
    found = []
    if sketch["missing"] or missing.any():
        found.append(_compare(sketch["missing"], n, int(missing.sum()), m, "missing in {new} of rows, was {old}"))
    there, now = n - int(sketch["missing"]), int(m - missing.sum())
    if there == 0 or now == 0:
        return found
    if column.kind == "category":
        levels = dict(sketch.get("levels", {}))
        counts = {name: int(np.sum(x == column.categories.index(name))) for name in levels}
        for name, count in levels.items():
            found.append(_compare(count, there, counts[name], now, f"{name} in {{new}} of rows, was {{old}}"))
        others = "levels other than the common ones in {new} of rows, was {old}"
        found.append(_compare(there - sum(levels.values()), there, now - sum(counts.values()), now, others))
        return found
    for mark, below in zip(sketch.get("marks", []), sketch.get("below", [])):
        shown = str(np.datetime64(int(mark), "D")) if column.kind == "date" else f"{mark:.4g}"
        words = f"at most {shown} in {{new}} of rows, was {{old}}"
        found.append(_compare(below, there, int(np.sum(x[~missing] <= mark)), now, words))
    return found


def _compare(a: int, n: int, b: int, m: int, words: str) -> tuple[float, str]:
    """Fisher's exact test (chi-square for many rows) that two shares are equal."""
    if n * m == 0:
        return 1.0, words
    table = np.array([[a, n - a], [b, m - b]])
    if n + m <= 5_000:
        p = float(scipy.stats.fisher_exact(table)[1])
    elif 0 in table.sum(axis=0):
        p = 1.0
    else:
        p = float(scipy.stats.chi2_contingency(table)[1])
    return p, words.format(new=f"{100 * b / m:.0f} %", old=f"{100 * a / n:.0f} %")
