"""What is summed over rows that every fold treats alike: the n-sized work of `smooth_folds`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from certifit._types import Array
from certifit.losses import Binomial, Logistic, Loss
from certifit.parallel import side_by_side

_BLOCK = 131_072  # numbers per block of scores: what stays in cache
_TINY = 1e-30  # curvatures below it are dropped: products of denormal numbers are slow


@dataclass(frozen=True)
class CellRows:
    """Centred and scaled columns, ones last, sorted by cell."""

    A: Array
    y: Array
    s: Array | None
    loss: Loss
    ends: Array

    def weighed(self, values: Array, part: slice) -> Array:
        """Values (..., rows) times the weights."""
        return values if self.s is None else np.multiply(values, self.s[part], out=values)

    def every(self, step: int) -> CellRows:
        """Every step-th row, with larger weights."""
        keep = slice(None, None, step)
        s = np.full(len(self.y[keep]), float(step)) if self.s is None else step * self.s[keep]
        return CellRows(np.ascontiguousarray(self.A[keep]), self.y[keep], s, self.loss, -(-self.ends // step))

    def tasks(self) -> list[tuple[int, int, int]]:
        """(cell, first row, end): pieces for the threads, the same for any number of them."""
        found = []
        for c, (low, high) in enumerate(zip(self.ends[:-1], self.ends[1:])):
            parts = max(1, min(8, (high - low) // 2048))
            edges = np.linspace(low, high, parts + 1).astype(int).tolist()
            found += [(c, a, b) for a, b in itertools.pairwise(edges) if b > a]
        return found


def _blocks(low: int, high: int, width: int) -> Iterator[slice]:
    size = int(np.clip(_BLOCK // max(width, 1), 128, 2048))
    return (slice(i, min(i + size, high)) for i in range(low, high, size))


@dataclass(frozen=True)
class Anchor:
    """A point with everything known there, by cell."""

    theta: Array
    z: Array  # (n,)
    value: Array  # (cells,)
    g: Array  # (cells, p)
    H: Array  # (cells, p, p)
    bend: Array  # (cells,): sums of the curvatures


def values(rows: CellRows, theta: Array) -> Array:
    """Sums of the losses at one point, by cell."""
    with np.errstate(over="ignore", invalid="ignore"):
        value = rows.weighed(rows.loss.value_slope(rows.A @ theta, rows.y)[0], slice(None))
    return np.array([value[i:j].sum() for i, j in itertools.pairwise(rows.ends)])


def look(rows: CellRows, theta: Array) -> Anchor:
    """Values, gradients and Hessians of the losses at one point."""
    cells, p = len(rows.ends) - 1, len(theta)
    z = np.empty(len(rows.y))

    def work(task: tuple[int, int, int]) -> tuple[float, Array, Array, float]:
        total, g, H, bend = 0.0, np.zeros(p), np.zeros((p, p)), 0.0
        for part in _blocks(*task[1:], p):
            A, y = rows.A[part], rows.y[part]
            t = z[part] = A @ theta
            with np.errstate(over="ignore", invalid="ignore"):
                value, slope = rows.loss.value_slope(t, y)
                h = rows.weighed(rows.loss.curvature(t, y), part)
            h[~(h >= _TINY)] = 0.0
            B = A * np.sqrt(h)[:, None]
            total += float(rows.weighed(value, part).sum())
            g += rows.weighed(slope, part) @ A
            H += B.T @ B
            bend += float(h.sum())
        return total, g, H, bend

    tasks = rows.tasks()
    sums = np.zeros(cells), np.zeros((cells, p)), np.zeros((cells, p, p)), np.zeros(cells)
    for (c, _, _), found in zip(tasks, side_by_side(work, tasks)):
        for total, part in zip(sums, found):
            total[c] += part
    return Anchor(theta, z, *sums)


def evaluate(rows: CellRows, theta: Array, z: Array, anchor: Array, used: Array) -> tuple[Array, Array]:
    """Gradients (cells, m, p) of the losses at m points at once, and how far scores (cells, m) are from the anchors'.

    ``anchor`` (m,) is sorted; ``used`` (m, cells) tells which cells matter to which point.
    """
    cells, (m, p) = len(rows.ends) - 1, theta.shape
    columns = [np.flatnonzero(used[:, c]) for c in range(cells)]
    spans = [_spans(anchor[k]) for k in columns]

    def work(task: tuple[int, int, int]) -> tuple[Array, Array]:
        c, low, high = task
        points = theta[columns[c]]
        G, r = np.zeros((len(points), p)), np.zeros(len(points))
        for part in _blocks(low, high, len(points)):
            A = rows.A[part]
            Z = points @ A.T
            for a, i, j in spans[c]:
                D = Z[i:j] - z[a, part]
                np.maximum(r[i:j], np.maximum(D.max(axis=1), -D.min(axis=1)), out=r[i:j])
            with np.errstate(over="ignore"):
                G += rows.weighed(_slopes(rows.loss, Z, rows.y[part]), part) @ A
        return G, r

    G, R = np.zeros((cells, m, p)), np.zeros((cells, m))
    tasks = [t for t in rows.tasks() if len(columns[t[0]])]
    for (c, _, _), (g, r) in zip(tasks, side_by_side(work, tasks)):
        G[c, columns[c]] += g
        R[c, columns[c]] = np.maximum(R[c, columns[c]], r)
    return G, R


def longest(rows: CellRows, T: Array) -> float:
    """max ‖x̃ᵢT‖ over the rows."""

    def work(task: tuple[int, int, int]) -> float:
        return max(float(np.square(rows.A[part] @ T).sum(axis=1).max()) for part in _blocks(*task[1:], T.shape[1]))

    return float(np.sqrt(max(side_by_side(work, rows.tasks()), default=0.0)))


def _spans(anchor: Array) -> list[tuple[int, int, int]]:
    """(number, begin, end) of each run of equal numbers."""
    edges = np.flatnonzero(np.diff(anchor, prepend=-1, append=-1))
    return [(int(anchor[i]), int(i), int(j)) for i, j in itertools.pairwise(edges)]


def _slopes(loss: Loss, Z: Array, y: Array) -> Array:
    """dL/dz, in place where an exponential is all it takes."""
    if isinstance(loss, Logistic):
        Z *= y
        np.exp(Z, out=Z)
        Z += 1.0
        return np.divide(-y, Z, out=Z)
    if isinstance(loss, Binomial):
        np.negative(Z, out=Z)
        np.exp(Z, out=Z)
        Z += 1.0
        np.reciprocal(Z, out=Z)
        return np.subtract(Z, y, out=Z)
    return loss.slope(Z, y)
