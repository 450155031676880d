r"""Densities: bounds of a kernel estimate at given points, and the heights of a histogram.

f(x) = Σ sᵢ K(‖x − xᵢ‖/h) / (Σs · c_d h^d), K falling, c_d the integral of K over the space. The claim lower ≤ f ≤ upper
is checked by the direct sum over all rows with rounding bounds, knowing nothing of the tree that found the bounds.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from certifit._types import Array
from certifit.certificates._ball import UNIT, Ball, ball
from certifit.certificates._data import Data, Evidence, Figures, Rigor
from certifit.certificates._record import Check, Kind, Proof, equal, register, upper
from certifit.certificates._schema import FINITE, NUMBER, TEXT, WHOLE
from certifit.certificates.clustering import dense_rows

_PI = Ball(np.pi, 2e-16)
KERNELS = ("gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine")
NORMS = ("euclidean", "manhattan", "chebyshev")


def ball_volume(d: int) -> Ball:
    """Volume of the unit ball in d dimensions: V_d = 2π/d · V_{d−2}."""
    volume = Ball(1.0) if d % 2 == 0 else Ball(2.0)
    for k in range(2 + d % 2, d + 1, 2):
        volume = volume * _PI * 2.0 / float(k)
    return volume


def kernel_integral(kernel: str, d: int) -> Ball:
    """The integral of K(‖u‖) over d dimensions."""
    if kernel == "gaussian":
        total = Ball(1.0)
        for _ in range(d):
            total = total * _PI * 2.0
        return ball(np.sqrt(total))
    V = ball_volume(d)
    if kernel == "tophat":
        return V
    if kernel == "epanechnikov":
        return V * 2.0 / (d + 2.0)
    if kernel == "linear":
        return V / (d + 1.0)
    total = V * float(d)
    if kernel == "exponential":
        for k in range(1, d):
            total = total * float(k)
        return total
    if kernel != "cosine":
        raise ValueError(f"there is no kernel {kernel!r}")
    # ∫ r^m cos(πr/2) = 2/π − m(m−1)(2/π)² ∫ r^(m−2) cos(πr/2), m = d − 1; for m = 1 the lower end adds −(2/π)².
    a = Ball(2.0) / _PI
    m = (d - 1) % 2
    integral = a - a * a if m else a
    for k in range(m + 2, d, 2):
        integral = a - a * a * integral * float(k * (k - 1))
    return total * integral


def kernel_values(kernel: str, u: Ball) -> Ball:
    """K(u) for u ≥ 0, as balls; K falls, so the ends of u give the ends of K."""
    low, high = np.maximum(u.lower, 0.0), u.upper
    with np.errstate(all="ignore"):
        least, most = _formula(kernel, high), _formula(kernel, low)
    slack = 1e-14 if kernel in ("gaussian", "exponential") else 1e-15
    room = 0.0 if kernel in ("gaussian", "exponential") else 1e-15
    # exp of t is off by a few units times |t|, because its argument is rounded; the smallest floats by more.
    grow = 1.0 + slack * (1.0 + np.minimum(high * high, 1e3))
    least = np.where(np.isfinite(least), np.maximum(least / grow - room, 0.0), 0.0)
    return Ball.between(np.where(least < 1e-300, 0.0, least), np.where(most > 0, most * grow + room + 1e-300, 0.0))


def _formula(kernel: str, u: Array) -> Array:
    inside = u < 1.0
    if kernel == "gaussian":
        return np.exp(-0.5 * u * u)
    if kernel == "exponential":
        return np.exp(-u)
    v = np.minimum(u, 1.0)
    shapes = {
        "tophat": np.ones_like(v),
        "epanechnikov": 1.0 - v * v,
        "linear": 1.0 - v,
        "cosine": np.cos(0.5 * np.pi * v),
    }
    return np.where(inside, np.maximum(shapes[kernel], 0.0), 0.0)


def distances(X: Array, x: Array, norm: str) -> Ball:
    """Distances of rows to one point."""
    gap = abs(Ball(X) - Ball(x))
    if norm == "manhattan":
        return gap.sum(axis=1)
    if norm == "chebyshev":
        return Ball.between(np.maximum(gap.lower, 0.0).max(axis=1), gap.upper.max(axis=1))
    if norm != "euclidean":
        raise ValueError(f"there is no distance {norm!r}")
    return ball(np.sqrt(gap.square().sum(axis=1)))


def direct_density(data: Data, x: Array, kernel: str, bandwidth: float, norm: str) -> Ball:
    """f(x) by the sum over all rows."""
    X, s = dense_rows(data.X, slice(None)), data.weights
    if not (np.all(np.isfinite(s)) and np.all(s >= 0) and np.any(s > 0)):
        raise ValueError("weights are finite, not negative, and not all zero")
    u = distances(X, x, norm) / Ball(bandwidth)
    total = (kernel_values(kernel, u) * Ball(s)).sum()
    scale = kernel_integral(kernel, X.shape[1]) * Ball(s).sum()
    for _ in range(X.shape[1]):
        scale = scale * bandwidth
    return total / scale


@register
class KernelEstimate(Kind):
    """Claim: the density estimate at these points lies between these bounds.

    Evidence: ``points`` (m, d), ``lower`` and ``upper`` (m,), ``kernel``, ``bandwidth``, ``metric``.
    """

    name = "kernel-density"
    theorem = "the sum over all rows, with rounding bounds"
    needs: ClassVar = {
        "points": FINITE, "lower": FINITE, "upper": FINITE, "kernel": TEXT, "bandwidth": NUMBER, "metric": TEXT,
    }  # fmt: skip

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        points = np.atleast_2d(np.asarray(evidence["points"], dtype=float))
        low, high = (np.asarray(evidence[name], dtype=float) for name in ("lower", "upper"))
        h, kernel, norm = float(evidence["bandwidth"]), evidence["kernel"], evidence["metric"]
        if points.shape[1] != data.X.shape[1] or low.shape != (len(points),) or high.shape != low.shape or not low.size:
            raise ValueError("at least one point, and one lower and one upper bound for each")
        if not (h > 0 and np.isfinite(h) and kernel in KERNELS and norm in NORMS):
            raise ValueError("a positive bandwidth, a known kernel and a known distance")
        sums = [direct_density(data, x, kernel, h, norm) for x in points]
        # A density is not negative, whatever rounding says.
        certain = all(bool(a <= max(f.lower, 0.0)) and bool(f.upper <= b) for a, f, b in zip(low, sums, high))
        width = max(
            (float(b - a) / float(b) * (1.0 + 4 * UNIT) if b > 0 else 0.0 for a, b in zip(low, high)), default=0.0
        )
        figures = {"points": equal(len(points)), "kernel": equal(kernel), "bandwidth": equal(h), "width": upper(width)}
        return Proof(figures, (Check("the sum over all rows lies between the bounds", certain),))

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        norm, scale = evidence["metric"], ""
        if norm != "euclidean":
            scale = f", by {norm} distance but divided by the constant of the euclidean one,"
        return (
            f"At {figures['points']} points the density with the {figures['kernel']} kernel and bandwidth "
            f"{figures['bandwidth']:.4g}{scale} is known to within {figures['width']:.1e} of its value."
        )


@register
class HistogramHeights(Kind):
    """Claim: these heights are the shares of the rows per volume, the likeliest density that is constant on the cells.

    Evidence: ``edges`` (all edges one after another), ``bins`` (cells per column), ``heights`` (cells, flat).
    """

    name = "histogram"
    theorem = "counts maximise the likelihood of a density that is constant on cells"
    needs: ClassVar = {"edges": FINITE, "bins": WHOLE, "heights": FINITE}

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        edges, shape = split_edges(evidence)
        X, s = dense_rows(data.X, slice(None)), data.weights
        if X.shape[1] != len(edges) or not (np.all(s >= 0) and np.all(np.isfinite(s)) and np.any(s > 0)):
            raise ValueError("edges for each column, weights not negative and not all zero")
        counts, volume, inside = cell_counts(X, s, edges)
        heights = np.asarray(evidence["heights"], dtype=float)
        if heights.shape != counts.shape or not np.all(np.isfinite(heights)):
            raise ValueError("one finite height for each cell")
        with np.errstate(all="ignore"):
            expected = counts / (s.sum() * volume)
        full = counts > 0
        # Within these sizes sums of positive numbers and products lose no more than n + d units; beyond them more.
        clear = bool(np.all((expected[full] > 1e-290) & (expected[full] < 1e290) & (volume[full] > 1e-290)))
        off = np.max(np.abs(heights - expected)[full] / expected[full], initial=0.0) if clear else np.inf
        error = float(off) + (2.0 * len(X) + len(shape) + 8.0) * UNIT
        same = error <= 1e-9 and bool(np.all(heights[~full] == 0))
        figures = {"cells": equal(len(counts)), "outside": equal(int((~inside).sum())), "error": upper(error)}
        return Proof(figures, (Check("each height is the share of its rows per volume", same, f"off by {error:.1e}"),))

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        outside = f" ({figures['outside']} rows lie in none)" if figures["outside"] else ""
        return (
            f"The heights of the {figures['cells']} cells{outside} are the fractions of rows per volume to within "
            f"{figures['error']:.0e} of each; with exactly these heights no density that is constant on these cells "
            "gives the rows in them a higher likelihood."
        )


def cell_counts(X: Array, s: Array, edges: list[Array]) -> tuple[Array, Array, Any]:
    """Weight of the rows in each cell, its volume, and whether each row has a cell."""
    cell, inside = cells(X, edges)
    volume = np.ones(())
    for e in edges:
        volume = np.multiply.outer(volume, np.diff(e))
    return np.bincount(cell[inside], s[inside], volume.size), volume.ravel(), inside


def split_edges(evidence: Evidence) -> tuple[list[Array], list[int]]:
    """Edges of each column, increasing, and the numbers of cells."""
    flat, shape = np.asarray(evidence["edges"], dtype=float), [int(b) for b in evidence["bins"]]
    if any(b < 1 for b in shape) or len(flat) != sum(b + 1 for b in shape) or not np.all(np.isfinite(flat)):
        raise ValueError("one edge more than cells for each column")
    edges = np.split(flat, np.cumsum([b + 1 for b in shape])[:-1])
    if any(np.any(np.diff(e) <= 0) for e in edges):
        raise ValueError("edges increase")
    return edges, shape


def cells(X: Array, edges: list[Array]) -> tuple[Array, Any]:
    """Number of the cell of each row, and whether it has one; a row on an edge belongs above, on the last one below."""
    number, inside = np.zeros(len(X), dtype=np.int64), np.ones(len(X), dtype=bool)
    for j, e in enumerate(edges):
        at = np.searchsorted(e, X[:, j], side="right") - 1
        at[X[:, j] == e[-1]] = len(e) - 2
        inside &= (at >= 0) & (at < len(e) - 1)
        number = number * (len(e) - 1) + np.clip(at, 0, len(e) - 2)
    return number, inside
