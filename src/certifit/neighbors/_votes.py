"""From neighbours to answers: weights, class shares, means; for one k or for every k at once.

Weights of a neighbour at distance d: ``uniform`` 1; ``distance`` 1/d (rows at distance zero, if any, count
alone); ``gaussian`` exp(−d²/2h²), computed relative to the nearest so that they never all vanish; or the
user's function.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from certifit._types import Array


def weigh(distances: Array, weights: Any, bandwidth: float | None) -> Array | None:
    """Weights of shape ``distances``; None for uniform ones. Infinite distances (no neighbour) weigh
    nothing.
    """
    if weights is None or (isinstance(weights, str) and weights == "uniform"):
        return None
    if callable(weights):
        return np.asarray(weights(distances), dtype=float)
    if weights == "distance":
        nearest = np.min(distances, axis=1, keepdims=True)
        zero = nearest == 0.0
        # Relative to the nearest: 1/d of a tiny d would overflow.
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = nearest / distances
        return np.where(zero, (distances == 0.0).astype(float), np.where(np.isinf(distances), 0.0, relative))
    assert bandwidth is not None
    nearest = np.min(distances, axis=1, keepdims=True)
    out = (distances - nearest) / bandwidth
    out *= (distances + nearest) / bandwidth
    out *= -0.5
    return np.asarray(np.exp(out, out=out))


def refuse_all_zero(weights: Array | None) -> None:
    """One clear sentence instead of 0/0."""
    if weights is None:
        return
    total = weights.sum(axis=1)
    if np.any(total == 0.0) or not np.all(np.isfinite(total)):
        raise ValueError(
            "All neighbors of some sample is getting zero weights. Please modify 'weights' to avoid this case if you "
            "are using a user-defined function. Weights must also be finite numbers."
        )


def shares(codes: Array, n_classes: int, weights: Array | None) -> Array:
    """Share of every class in each line of neighbours' class codes."""
    m, k = codes.shape
    out = np.zeros((m, n_classes))
    lines = np.arange(m)
    for i in range(k):
        out[lines, codes[:, i]] += 1.0 if weights is None else weights[:, i]
    out /= out.sum(axis=1, keepdims=True)
    return out


def means(values: Array, weights: Array | None) -> Array:
    """(Weighted) mean of each line of neighbours' values, shape (queries, outputs)."""
    if weights is None:
        return np.asarray(values.mean(axis=1))
    return np.asarray(np.einsum("qk,qko->qo", weights, values) / weights.sum(axis=1)[:, None])
