"""What an additive model adds for each column: its shapes, strongest first, and the pairs that act together.

A shape is the column's part of the score: piecewise linear between the knots of a number, one value for each level of a
category. Its mean over the rows of the table is 0, so that shapes of different columns compare.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from certifit._types import Array, BaseEstimator, Pipeline, Record
from certifit.preprocessing import AdditiveBasis
from certifit.study._calendar import PARTS
from certifit.study._encoder import TableEncoder
from certifit.study._plan import Work

_MOST = 40  # shapes in a record
_CLASSES = 4  # lines in a picture


def shapes(pipeline: Pipeline, work: Work) -> Record | None:
    """The shapes of an additive model as a record holds them; None for other models."""
    steps = [step for _, step in pipeline.steps]
    coef = getattr(steps[-1], "coef_", None)
    if len(steps) != 3 or not isinstance(steps[0], TableEncoder) or not isinstance(steps[1], AdditiveBasis):
        return None
    encoder, basis = steps[0], steps[1]
    table = np.atleast_2d(np.asarray(coef, dtype=float))
    flip = len(table) == 1 and work.classes is not None and work.positive == work.classes[0]
    table = -table if flip else table
    Z = encoder.transform(work.X)
    found = [*_numbers(encoder, basis, table, Z), *_levels(encoder, basis, table, Z)]
    found.sort(key=lambda shape: (-shape["spread"], shape["column"]))
    labels = [""] if len(table) == 1 else [str(c) for c in getattr(steps[-1], "classes_", range(len(table)))]
    return {
        "about": _about(steps[-1], work),
        "labels": labels[:_CLASSES],
        "shapes": found[:_MOST],
        "pairs": _pairs(encoder, basis, table, Z),
    }


def _about(model: BaseEstimator, work: Work) -> str:
    """What a shape is counted in."""
    assert work.schema.target is not None
    name = work.schema.target.name
    if hasattr(model, "smearing_"):
        return f"log of {name}"
    if work.task == "counts":
        return f"log of the expected {name}"
    if work.classes is None:
        return name
    return f"log-odds of {work.positive}" if len(work.classes) == 2 else "score of the class"


def _numbers(encoder: TableEncoder, basis: AdditiveBasis, table: Array, Z: Array) -> list[Record]:
    """Shapes of numbers, dates and booleans: values at the knots, less their mean over the rows."""
    parts = [basis.shapes(row) for row in table]
    made = []
    for i, j in enumerate(encoder.kept_):
        knots = parts[0][i][0]
        if len(knots) < 2:
            continue
        own = [np.interp(Z[:, i], knots, p[i][1]) for p in parts]
        values = [p[i][1] - part.mean() for p, part in zip(parts, own)]
        at = [float(f"{v:.6g}") for v in knots]
        rows = [float(f"{v:.6g}") for v in np.quantile(Z[:, i], np.linspace(0, 1, 21))]
        shape = _shape(encoder.names_[j], encoder.kinds_[j], at, values, max(float(np.std(part)) for part in own))
        made.append(shape | {"rows": rows, "names": _names(encoder, int(j))})
    return made


def _shape(column: str, kind: str, at: list[Any], add: Any, spread: float) -> Record:
    """As a record holds it; values in five digits."""
    lines = [[float(f"{v:.5g}") for v in line] for line in add[:_CLASSES]]
    return {"column": column, "kind": kind, "at": at, "add": lines, "rows": [], "spread": float(spread), "names": []}


def _names(encoder: TableEncoder, j: int) -> list[str]:
    """What the values of a part of a date are called (months, weekdays); nothing for other columns."""
    known = encoder.n_features_in_
    return [] if j < known else list(PARTS[encoder.parts_[j - known][1]])


def _levels(encoder: TableEncoder, basis: AdditiveBasis, table: Array, Z: Array) -> list[Record]:
    """Shapes of categories, and of marks of missing cells: one value a level."""
    steps = [max(len(t) - 1, 0) for t in basis.knots_]
    first = np.concatenate([[0], np.cumsum(steps)])
    k = len(encoder.kept_)
    groups: dict[str, list[tuple[str, int]]] = {}
    for i, j in enumerate(encoder.marked_, start=k):
        groups.setdefault(f"{encoder.names_[j]} is missing", []).append(("yes", i))
    for i, (j, v) in enumerate(zip(encoder.level_column_, encoder.level_), start=k + len(encoder.marked_)):
        known = encoder.categories_[j]
        word = "(missing)" if int(v) == len(known) else known[int(v)]
        groups.setdefault(encoder.names_[j], []).append((word, i))
    made = []
    for column, levels in groups.items():
        used = [(word, i) for word, i in levels if steps[i] == 1]
        if not used:
            continue
        at = [i for _, i in used]
        gains = table[:, first[at]]  # (lines, levels)
        own = Z[:, at] @ gains.T
        rest = "no" if column.endswith(" is missing") else "(others)"
        words = [*(word for word, _ in used), rest]
        values = np.column_stack([gains, np.zeros(len(gains))]) - own.mean(axis=0)[:, None]
        if rest == "(others)" and not np.any(Z[:, at].sum(axis=1) == 0):
            words, values = words[:-1], values[:, :-1]
        order = np.argsort(-values[0], kind="stable")
        at_levels = [words[o] for o in order]
        made.append(_shape(column, "category", at_levels, values[:, order], own.std(axis=0).max()))
    return made


def _pairs(encoder: TableEncoder, basis: AdditiveBasis, table: Array, Z: Array) -> list[Record]:
    """Pairs of columns that add something together, with the spread of it over the rows."""
    names = [str(n) for n in encoder.get_feature_names_out()]
    at = sum(max(len(t) - 1, 0) for t in basis.knots_)
    features = basis.transform(Z)
    made: dict[tuple[str, str], Array] = {}
    for i, j, s, t in basis.pairs_:
        size = (len(s) - 1) * (len(t) - 1)
        part = features[:, at : at + size] @ table[:, at : at + size].T
        made[names[i], names[j]] = made.get((names[i], names[j]), 0.0) + part
        at += size
    found = [{"columns": list(pair), "spread": float(part.std(axis=0).max())} for pair, part in made.items()]
    return sorted(found, key=lambda row: -row["spread"])
