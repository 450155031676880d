"""What the graph takes in: one matrix, or (for tables with words in them) one input per column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto

from certifit.exceptions import ExportError
from certifit.files._cells import MISSING
from certifit.files._onnx._graph import DOUBLE, Graph

_TYPES = {"float64": TensorProto.DOUBLE, "float32": TensorProto.FLOAT}
Inputs = list[tuple[str, Any]]


def matrix(g: Graph, width: int, kind: str) -> tuple[Inputs, str]:
    """One input X of ``width`` columns; single precision is widened first."""
    described = ("X", (_TYPES[kind], ["n", width]))
    return [described], "X" if kind == "float64" else g("Cast", "X", to=DOUBLE)


def of_schema(g: Graph, schema: Any, kind: str) -> tuple[Inputs, str]:
    """The columns of a study's table, each (n, 1): words for categories, numbers for all else (NaN: missing)."""
    inputs, parts = [], []
    for c in schema.columns:
        if c.text:
            raise ExportError(f"Text ({c.text!r}) cannot be exported: fit without it (--drop {c.text!r}).")
        inputs.append((c.name, (TensorProto.STRING if c.kind == "category" else _TYPES[kind], ["n", 1])))
        if c.kind == "category":
            gaps = [w for w in MISSING if w not in c.categories]
            code = _codes(g, c.name, c.categories, gaps)
            parts.append(g("Where", g("Equal", code, -2.0), np.nan, code))
        else:
            parts.append(g("Cast", c.name, to=DOUBLE))
    return _without_twins(inputs), g.joined(parts)


def has_words(columns: Any) -> bool:
    """Whether a tree asks about words."""
    return any(c is not None and any(isinstance(v, str) for v in c) for c in columns.categories)


def of_tree(g: Graph, columns: Any, kind: str) -> tuple[Inputs, str]:
    """The columns of a tree that asks about words, each (n, 1); words become their position (NaN: never seen)."""
    inputs, parts = [], []
    for j, categories in enumerate(columns.categories):
        name = f"x{j}" if columns.names is None else str(columns.names[j])
        words = categories is not None and all(isinstance(v, str) for v in categories)
        if not words and categories is not None and any(isinstance(v, str) for v in categories):
            raise ExportError(f"Column {name!r} mixes strings and numbers: convert it to strings to export the tree.")
        inputs.append((name, (TensorProto.STRING if words else _TYPES[kind], ["n", 1])))
        if words:
            code = _codes(g, name, categories, [])
            parts.append(g("Where", g("Less", code, 0.0), np.nan, code))
        else:
            parts.append(g.numbers_of(name))
    return _without_twins(inputs), g.joined(parts)


def _codes(g: Graph, name: str, categories: Sequence[str], gaps: Sequence[str]) -> str:
    """Words as positions in the list; −1 for unknown ones, −2 for those that mean "missing"."""
    places = [*range(len(categories)), *[-2] * len(gaps)]
    attributes = {"keys_strings": [*categories, *gaps], "values_int64s": places, "default_int64": -1}
    found = g.several("LabelEncoder", 1, name, domain="ai.onnx.ml", **attributes)[0]
    return g.numbers_of(found)


def _without_twins(inputs: Inputs) -> Inputs:
    names = [name for name, _ in inputs]
    twins = sorted({n for n in names if names.count(n) > 1 or not n})
    if twins:
        raise ExportError(f"Inputs of an ONNX graph need distinct names; {twins[0]!r} is empty or occurs twice.")
    return inputs
