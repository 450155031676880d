"""What a study says about its data: in one line, in remarks, and column by column for the record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from certifit._types import Array, Record
from certifit.study._facts import Facts

_RARE = 0.1


def plural(count: int, word: str, words: str | None = None) -> str:
    return f"{count} {word if count == 1 else words or word + 's'}"


def summary(facts: Facts) -> str:
    """The table in one line."""
    kinds = Counter({c.source: "text" if c.text else c.kind for c in facts.schema.columns}.values())
    words = {"number": "numbers", "category": "categories", "boolean": "booleans", "date": "dates", "text": "texts"}
    parts = ", ".join(f"{n} {words[k] if n > 1 else k}" for k, n in kinds.most_common())
    missing = f", {plural(facts.missing, 'missing cell')}" if facts.missing else ""
    return f"{len(facts.y)} rows, {plural(len(facts.schema.sources), 'column')} ({parts}){missing}"


def remarks(facts: Facts) -> list[str]:
    """What a reader must know about the data, one sentence each."""
    told = [f"{name!r} leaks the target ({score:.3f} on its own): dropped" for name, score in facts.leaks]
    leaked = dict(facts.leaks)
    told += [f"{name!r} is not used: {why}" for name, why in facts.schema.dropped if name not in leaked]
    told += list(facts.notes)
    if facts.duplicates:
        told.append(
            f"{plural(facts.duplicates, 'row')} equal{'s' * (facts.duplicates == 1)} an earlier one in every column: "
            "kept in the same fold"
        )
    if facts.task == "classification":
        shares = facts.shares()
        rarest = min(shares, key=lambda k: shares[k])
        if shares[rarest] < _RARE * len(facts.y):
            told.append(
                f"class {rarest!r} is rare ({plural(shares[rarest], 'row')}, {shares[rarest] / len(facts.y):.1%}): "
                "accuracy alone would mislead"
            )
    return told


def describe(facts: Facts) -> Record:
    """The data as the record holds them."""
    used = {c.source: j for j, c in enumerate(facts.schema.columns)}
    columns = []
    for f in facts.found:
        row: dict[str, Any] = {"name": f.name, "kind": f.kind, "missing": f.missing, "distinct": f.distinct}
        row["used"] = f.name in used
        if f.name in used and f.column is not None:
            x = facts.X[:, used[f.name]]
            row |= _spread(x, f.column.kind, f.column.categories)
        elif f.words and f.name in used:
            row["levels"] = _words(facts, f.name)
        elif f.columns:
            row["why"] = "leaks the target"
        else:
            row["why"] = f.why
        columns.append(row)
    out = {
        "source": facts.table.source,
        "sha256": facts.table.digest,
        "rows": len(facts.y),
        "summary": summary(facts),
        "remarks": remarks(facts),
        "columns": columns,
        "target": facts.target.name,
        "missing_cells": facts.missing,
        "duplicates": facts.duplicates,
        "leaks": [{"name": n, "alone": s} for n, s in facts.leaks],
    }
    if facts.task == "classification":
        return out | {"shares": facts.shares()}
    low, middle, high = (float(v) for v in np.quantile(facts.y, [0.0, 0.5, 1.0]))
    counts, edges = np.histogram(facts.y, bins=min(30, max(8, len(np.unique(facts.y)))))
    histogram = {"counts": counts.tolist(), "edges": [float(f"{e:.6g}") for e in edges]}
    return out | {"target_range": [low, middle, high], "target_histogram": histogram}


def _words(facts: Facts, name: str) -> list[list[Any]]:
    """The commonest words of a text, with the number of rows that have them."""
    own = [(c, j) for j, c in enumerate(facts.schema.columns) if c.text == name]
    return [[c.name.removeprefix(f"{name}: "), int(facts.X[:, j].sum())] for c, j in own[:4]]


def _spread(x: Array, kind: str, categories: Sequence[str]) -> Record:
    seen = x[~np.isnan(x)]
    if kind == "category":
        counts = np.bincount(seen[seen >= 0].astype(int), minlength=len(categories))
        top = np.argsort(-counts, kind="stable")[:4]
        return {"levels": [[categories[int(t)], int(counts[t])] for t in top]}
    if not len(seen):
        return {}
    marks = np.quantile(seen, [0.0, 0.5, 1.0])
    if kind == "date":
        return {"range": [str(np.datetime64(int(day), "D")) for day in np.floor(marks)]}
    return {"range": [float(v) for v in marks]}
