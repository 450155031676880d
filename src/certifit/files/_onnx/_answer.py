"""How scores become classes, probabilities and values."""

from __future__ import annotations

from typing import Any

import numpy as np

from certifit._types import Array
from certifit.files._onnx._graph import INT64, Answer, Graph


def affine(g: Graph, x: str, coef: Any, intercept: Any) -> str:
    """x Wᵀ + b, one column per row of W."""
    W = np.atleast_2d(np.asarray(coef, dtype=float))
    b = np.broadcast_to(np.asarray(intercept, dtype=float), (len(W),))
    return g("Add", g("MatMul", x, np.ascontiguousarray(W.T)), b)


def values(g: Graph, columns: str, flat: bool) -> Answer:
    """Predictions of a regression: (n, t), or (n,) when there is one target."""
    return Answer(value=column(g, columns) if flat else columns, flat=flat)


def column(g: Graph, scores: str) -> str:
    """(n, 1) as (n,)."""
    return g("Squeeze", scores, [1])


def largest(g: Graph, scores: str) -> str:
    """The number of the largest entry of each row, the first of equals."""
    return g("ArgMax", scores, axis=1, keepdims=0)


def by_sign(g: Graph, scores: str, classes: Array, limit: float = 0.0) -> Answer:
    """Two classes: the second where the score exceeds the limit; more: the largest score."""
    if len(classes) > 2:
        return Answer(code=largest(g, scores), scores=scores, classes=classes)
    flat = column(g, scores)
    return Answer(code=g("Cast", g("Greater", flat, float(limit)), to=INT64), scores=flat, classes=classes)


def sigmoid(g: Graph, z: str) -> str:
    """1/(1 + e^−z)."""
    return g("Div", 1.0, g("Add", 1.0, g("Exp", g("Neg", z))))


def softmax(g: Graph, joint: str) -> str:
    """e^zᵢ / Σ e^zⱼ along rows, relative to the largest."""
    top = g("ReduceMax", joint, [1], keepdims=1)
    e = g("Exp", g("Sub", joint, top))
    return g("Div", e, g("ReduceSum", e, [1], keepdims=1))
