"""Preprocessing steps: from a matrix to a matrix."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from certifit._types import Array, BaseEstimator
from certifit.exceptions import ExportError
from certifit.files._dates import parts as calendar_parts
from certifit.files._onnx._graph import Graph


def standard(g: Graph, step: BaseEstimator, x: str) -> str:
    """(x − mean) / scale, in the order in which it was fitted."""
    if step.with_mean:
        x = g("Sub", x, step.mean_)
    return g("Div", x, step.scale_) if step.with_std else x


def min_max(g: Graph, step: BaseEstimator, x: str) -> str:
    """x · scale + min, cut when asked."""
    x = g("Add", g("Mul", x, step.scale_), step.min_)
    low, high = step.feature_range
    return g("Max", g("Min", x, float(high)), float(low)) if step.clip else x


def max_abs(g: Graph, step: BaseEstimator, x: str) -> str:
    """x / scale."""
    return g("Div", x, step.scale_)


def robust(g: Graph, step: BaseEstimator, x: str) -> str:
    """(x − centre) / scale."""
    if step.with_centering:
        x = g("Sub", x, step.center_)
    return g("Div", x, step.scale_) if step.with_scaling else x


def impute(g: Graph, step: BaseEstimator, x: str) -> str:
    """Missing values filled with what was learnt."""
    fills = np.asarray(step.statistics_)
    if step.add_indicator or fills.dtype.kind not in "fiu" or not np.isnan(float(step.missing_values)):
        raise ExportError("A SimpleImputer is exported to ONNX for numbers with NaN as missing and no indicator only.")
    kept = np.flatnonzero(~np.isnan(fills.astype(float)))
    x = x if len(kept) == len(fills) else g("Gather", x, kept, axis=1)
    return g("Where", g("IsNaN", x), fills[kept].astype(float), x)


def polynomial(g: Graph, step: BaseEstimator, x: str) -> str:
    """Products of columns, as many factors as the highest degree has (ones fill up)."""
    powers = np.asarray(step.powers_)
    factors = [np.repeat(np.arange(powers.shape[1]), p) for p in powers]
    degree = max(1, max(len(f) for f in factors))
    padded = np.array([[*f, *[powers.shape[1]] * (degree - len(f))] for f in factors], dtype=np.int64)
    ones = pad(g, x, 1.0)
    out = g("Gather", ones, padded[:, 0], axis=1)
    for k in range(1, degree):
        out = g("Mul", out, g("Gather", ones, padded[:, k], axis=1))
    return out


def pad_ones(g: Graph, step: BaseEstimator, x: str) -> str:
    """(x, value)."""
    return pad(g, x, float(step.value))


def pad(g: Graph, x: str, value: float) -> str:
    """x with a constant column behind it."""
    return g("Pad", x, [0, 0, 0, 1], value)


def select(g: Graph, step: BaseEstimator, x: str) -> str:
    """Some of the columns."""
    return g("Gather", x, np.flatnonzero(step.get_support()), axis=1)


def components(g: Graph, step: BaseEstimator, x: str) -> str:
    """(x − mean) Uᵀ, whitened when asked."""
    x = g("MatMul", g("Sub", x, step.mean_), np.ascontiguousarray(step.components_.T))
    if not step.whiten:
        return x
    scale = np.sqrt(step.explained_variance_)
    return g("Div", x, np.maximum(scale, np.finfo(scale.dtype).eps))


def additive(g: Graph, step: BaseEstimator, x: str) -> str:
    """Ramps of each column between its knots, and products of those of pairs."""
    own = [ramp for j, t in enumerate(step.knots_) for ramp in _ends(j, t)]
    parts = [_ramps(g, x, own)] if own else []
    both = [(p, q) for i, j, s, t in step.pairs_ for p in _ends(i, s) for q in _ends(j, t)]
    if both:
        parts.append(g("Mul", _ramps(g, x, [p for p, _ in both]), _ramps(g, x, [q for _, q in both])))
    return g.joined(parts)


_Ramp = tuple[int, float, float]  # a column, and the knots between which its value climbs from 0 to 1


def _ends(j: int, knots: Array) -> list[_Ramp]:
    return [(j, a, b) for a, b in pairwise(knots)]


def _ramps(g: Graph, x: str, ramps: list[_Ramp]) -> str:
    columns, low, high = (np.array(part) for part in zip(*ramps))
    climbed = g("Div", g("Sub", g("Gather", x, columns, axis=1), low), high - low)
    return g("Min", g("Max", climbed, 0.0), 1.0)


def columns_of_table(g: Graph, step: BaseEstimator, x: str) -> str:
    """The features that a study makes of a table: filled numbers, marks of gaps, levels."""
    if step.gaps:
        return _columns_with_gaps(g, step, x)
    x = _with_dates(g, step, x)
    parts = []
    if len(step.kept_):
        numbers = g("Gather", x, step.kept_, axis=1)
        filled = g("Where", g("IsNaN", numbers), step.fill_, numbers)
        parts.append(g("Div", g("Sub", filled, step.centre_), step.scale_))
    if len(step.marked_):
        parts.append(g.numbers_of(g("IsNaN", g("Gather", x, step.marked_, axis=1))))
    if len(step.level_column_):
        cells = g("Gather", x, step.level_column_, axis=1)
        known = np.array([len(step.categories_[j]) for j in step.level_column_])
        gap: Array = (step.level_ == known) & (step.level_column_ < len(step.names))
        on = g("Or", g("And", g("IsNaN", cells), gap), g("And", g("Equal", cells, step.level_), ~gap))
        parts.append(g.numbers_of(on))
    return g.joined(parts)


_SIGNS = {"+": "Add", "-": "Sub", "*": "Mul"}


def _with_dates(g: Graph, step: BaseEstimator, x: str) -> str:
    """The columns, and behind them the parts of dates; those of a missing date are missing."""
    if not step.parts_:
        return x
    found: dict[int, dict[str, str]] = {}
    columns = [x]

    def arithmetic(sign: str, a: str, b: Any, *sides: str) -> str:
        if sign == "<=":
            return g("Where", g("LessOrEqual", a, b), *sides)
        return g("Floor", g("Div", a, b)) if sign == "//" else g(_SIGNS[sign], a, b)

    for j, part in step.parts_:
        days = g("Gather", x, [j], axis=1)
        gone = g("IsNaN", days)
        if j not in found:
            found[j] = calendar_parts(arithmetic, g("Where", gone, 0.0, days))
        columns.append(g("Where", gone, np.nan, found[j][part]))
    return g.joined(columns)


def _columns_with_gaps(g: Graph, step: BaseEstimator, x: str) -> str:
    """The same with one feature per column: scaled numbers, numbers of levels, gaps left open."""
    place = {int(j): i for i, j in enumerate(step.kept_)}
    parts = []
    for j, kind in enumerate(step.kinds):
        cells = g("Gather", x, [j], axis=1)
        if kind == "category":
            levels = step.level_[step.level_column_ == j]
            known = g.numbers_of(g("Equal", cells, levels[None] if len(levels) else np.array([[-2.0]])))
            parts.append(g("Where", g("Greater", g("ReduceSum", known, [1], keepdims=1), 0.0), cells, np.nan))
        elif j in place:
            i = place[j]
            parts.append(g("Div", g("Sub", cells, float(step.centre_[i])), float(step.scale_[i])))
        else:
            parts.append(g("Where", g("IsNaN", cells), 0.0, g("Mul", cells, 0.0)))
    return g.joined(parts)


_FUNCTIONS = {"sqrt": "Sqrt", "reciprocal": "Reciprocal", "abs": "Abs", "exp": "Exp", "log": "Log"}


def transforms(g: Graph, step: BaseEstimator, x: str) -> str:
    """Functions of single columns."""
    parts = []
    for j, name in step.plan_:
        part = g("Gather", x, [int(j)], axis=1)
        if name == "square":
            part = g("Mul", part, part)
        elif name in _FUNCTIONS:
            part = g(_FUNCTIONS[name], part)
        elif name != "identity":
            raise ExportError(
                f"The transform {name!r} cannot be exported to ONNX (it has no such function in double precision); "
                "log, sqrt, reciprocal, square, abs and exp can."
            )
        parts.append(part)
    return g.joined(parts)
