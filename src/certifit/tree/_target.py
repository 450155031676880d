"""The target of a tree: classes or values with weights; in fixed point for the loops; summed up per node."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from certifit._types import Array
from certifit.design import OVERFLOW
from certifit.loops import tree_growing as loops
from certifit.loops.tree_walking import add_up, merge_moments
from certifit.tree._structure import Tree, sums_per_node

CRITERIA = {
    "gini": loops.GINI,
    "entropy": loops.ENTROPY,
    "log_loss": loops.ENTROPY,
    "squared_error": loops.SQUARED,
    "absolute_error": loops.ABSOLUTE,
}
_TABLE_LIMIT = 1 << 24  # longest table of n log2 n


class WeightedTarget:
    """What a tree is to predict: class codes, or values; with weights."""

    codes: Array | None
    y: Array | None
    weight: Array | None

    @property
    def n(self) -> int:
        return len(self.codes if self.codes is not None else self.y)  # type: ignore[arg-type]

    @property
    def total(self) -> float:
        return float(self.n) if self.weight is None else float(self.weight.sum())

    def used(self) -> Array:
        """Numbers of the rows that have any weight."""
        return np.arange(self.n) if self.weight is None else np.flatnonzero(self.weight > 0)

    def rows(self, keep: Array) -> Self:
        """Some of the rows."""
        parts = {name: getattr(self, name) for name in ("codes", "y", "weight")}
        return replace(self, **{name: v[keep] for name, v in parts.items() if v is not None})  # type: ignore[type-var]


@dataclass(frozen=True)
class TreeTarget(WeightedTarget):
    """One target, which the compiled loops know."""

    codes: Array | None
    n_classes: int
    y: Array | None
    weight: Array | None


@dataclass(frozen=True)
class Scaled:
    """Weights and targets in fixed point, and what one raw unit of gain is worth."""

    weights: Array
    targets: Array
    values: Array
    whole: bool
    unit_weights: bool
    weight_scale: float
    gain_unit: float
    table: Array


def _are_whole(w: Any, limit: float) -> bool:
    return bool(np.all(w == np.rint(w)) and w.sum() < limit)


def fixed_point(target: TreeTarget, criterion: int) -> Scaled:
    """Weights and targets as integers that add up exactly (see `loops.tree_growing`)."""
    n, w = target.n, target.weight
    unit = w is None or bool(np.all(w == 1.0))
    limit = _TABLE_LIMIT if criterion == loops.ENTROPY else 2**31
    whole = unit or _are_whole(w, limit)
    weight_scale = 1.0
    if unit:
        weights = np.ones(n, dtype=np.int64)
    elif whole:
        weights = np.asarray(w).astype(np.int64)
    else:
        size = float(np.log2(target.total))
        if not abs(size) < 900.0:
            raise ValueError(OVERFLOW)
        weight_scale = 2.0 ** (60 - int(np.ceil(size)))
        weights = np.maximum(np.rint(np.asarray(w) * weight_scale), 1.0).astype(np.int64)
    table = np.zeros(1, dtype=np.int64)
    targets, values, gain_unit = np.zeros(1, dtype=np.int64), np.zeros(1), 1.0 / weight_scale
    if criterion == loops.ENTROPY and whole:
        counts = np.arange(int(target.total) + 1, dtype=float)
        counts[2:] *= np.log2(counts[2:])
        counts[:2] = 0.0
        scale = 2.0 ** (60 - max(1, int(np.ceil(np.log2(counts[-1] + 2.0)))))
        table, gain_unit = np.rint(counts * scale).astype(np.int64), 1.0 / scale
    if target.y is not None:
        size = int(np.frexp(np.abs(target.y).max())[1])
        values = np.ldexp(target.y, -size)  # within ±1: no overflow below
        weight = np.ones(n) if w is None else w
        centred = values - np.average(values, weights=weight)
        mass = float((weight * np.abs(centred)).sum())
        shift = 60 - int(np.frexp(mass)[1]) if mass > 0 else 0
        if whole:
            targets = weights * np.rint(np.ldexp(centred, shift)).astype(np.int64)
        else:
            targets = np.rint(np.ldexp(weight * centred, shift)).astype(np.int64)
        with np.errstate(over="ignore"):
            scale = np.ldexp(weight_scale, 2 * (size - shift))
            gain_unit = float(scale) if criterion == loops.SQUARED else float(np.ldexp(1.0, size)) / weight_scale
        if criterion == loops.ABSOLUTE:
            values = centred
    return Scaled(weights, targets, values, whole, unit, weight_scale, gain_unit, table)


def fill(shape: Tree, leaf_of: Array, target: TreeTarget, criterion: str) -> Tree:
    """The tree with impurity, weight and value of every node, from the rows in its leaves."""
    parent = shape.parent
    if target.codes is not None:
        k = target.n_classes
        flat = np.bincount(leaf_of * k + target.codes, target.weight, minlength=len(parent) * k)
        sums = flat.reshape(len(parent), k)
        sums = np.ascontiguousarray(sums, dtype=float)
        add_up(parent, sums)
        weight = sums.sum(axis=1)
        shares = sums / weight[:, None]
        if CRITERIA[criterion] == loops.GINI:
            impurity = 1.0 - (shares * shares).sum(axis=1)
        else:
            logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
            impurity = -(shares * logs).sum(axis=1)
        impurity = np.where(sums.max(axis=1) == weight, 0.0, np.maximum(impurity, 0.0))
        return replace(shape, impurity=impurity, weighted_n_node_samples=weight, value=shares[:, None, :])
    y = np.asarray(target.y)
    if CRITERIA[criterion] == loops.ABSOLUTE:
        return _fill_absolute(shape, leaf_of, target)
    weight = sums_per_node(parent, leaf_of, [target.weight])[:, 0]
    w = np.ones(len(y)) if target.weight is None else target.weight
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(leaf_of, w * y, minlength=len(parent)) / np.bincount(leaf_of, w, minlength=len(parent))
    mean = np.where(shape.is_leaf, mean, 0.0)
    # A second pass takes the rounding out of the means, and makes those of equal values exact.
    own = np.where(shape.is_leaf, weight, 1.0)
    mean = mean + np.bincount(leaf_of, w * (y - mean[leaf_of]), minlength=len(parent)) / own
    spread = np.bincount(leaf_of, w * (y - mean[leaf_of]) ** 2, minlength=len(parent))
    merge_moments(shape.children_left, shape.children_right, weight, mean, spread)
    return replace(shape, impurity=spread / weight, weighted_n_node_samples=weight, value=mean[:, None, None].copy())


def _fill_absolute(shape: Tree, leaf_of: Array, target: TreeTarget) -> Tree:
    """Medians and mean absolute deviations of every node."""
    y, w = np.asarray(target.y), np.ones(target.n) if target.weight is None else target.weight
    order = np.lexsort((y, leaf_of))
    rows: list[Array] = [np.zeros(0, dtype=np.int64)] * shape.node_count
    ends = np.searchsorted(leaf_of[order], np.arange(shape.node_count + 1))
    centre, impurity, weight = (
        np.zeros(shape.node_count),
        np.zeros(shape.node_count),
        np.zeros(shape.node_count),
    )
    for node in range(shape.node_count - 1, -1, -1):
        if shape.children_left[node] < 0:
            rows[node] = order[ends[node] : ends[node + 1]]
        else:
            rows[node] = np.concatenate([rows[shape.children_left[node]], rows[shape.children_right[node]]])
        values, mass = y[rows[node]], w[rows[node]]
        centre[node] = weighted_median(values, mass)
        weight[node] = mass.sum()
        impurity[node] = (mass * np.abs(values - centre[node])).sum() / weight[node]
    return replace(shape, impurity=impurity, weighted_n_node_samples=weight, value=centre[:, None, None])


def weighted_median(values: Array, weights: Array) -> float:
    """The middle value; midway between two when the weight divides evenly."""
    order = np.argsort(values, kind="stable")
    v, mass = values[order], np.cumsum(weights[order])
    half = 0.5 * mass[-1]
    i = int(np.searchsorted(mass, half))
    if mass[i] == half and i + 1 < len(v):
        return float(v[i] / 2.0 + v[i + 1] / 2.0)
    return float(v[i])
