"""Nearest neighbours by brute force, in the exact order of certifit's own search.

Rough distances pick all rows that could be among the nearest k (a bound on their rounding says which); for these
few the distance is computed again to about 32 digits, as a sum of two doubles. Equal ones come by row number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto

from certifit._types import Array
from certifit.files._errors import ExportError
from certifit.files._onnx._answer import Answer, largest, values
from certifit.files._onnx._graph import Graph

_EXACT = ("euclidean", "manhattan", "chebyshev")
_EPS = 2.0**-53
_SPLIT = 2.0**27 + 1.0
_SAME = 1.5 * 2.0**-43  # low parts are compared in steps of 2^-95 of the distance
Pair = tuple[str, str]  # a number as the sum of two doubles, the second at most half an ulp of the first


def classifier(g: Graph, model: Any, x: str) -> Answer:
    """Shares of the classes among the neighbours."""
    if model.outputs_2d_:
        raise ExportError("A KNeighborsClassifier for several outputs cannot be exported: fit one model per output.")
    votes = _mean(g, model, x, np.eye(len(model.classes_))[model._codes[:, 0]])
    return Answer(code=largest(g, votes), shares=votes, classes=model.classes_)


def regressor(g: Graph, model: Any, x: str) -> Answer:
    """Mean of the neighbours' values."""
    return values(g, _mean(g, model, x, model._values), model._flat)


def _mean(g: Graph, model: Any, x: str, table: Array) -> str:
    """The weighted mean of the neighbours' rows of ``table``."""
    metric, points = model._index.metric, np.asarray(model._index.X, dtype=float)
    if metric.name not in _EXACT:
        raise ExportError(
            f"Nearest neighbours by the {metric.name} distance cannot be exported to ONNX in the same order; the "
            "euclidean, manhattan and chebyshev distances can."
        )
    if callable(model.weights):
        raise ExportError("A function as weights cannot be exported to ONNX; 'uniform', 'distance', 'gaussian' can.")
    k = len(points) if model.n_neighbors is None else int(model.n_neighbors)
    rows, reduced, chosen = _nearest(g, x, points, metric, k)
    distances = g("Sqrt", reduced) if metric.name == "euclidean" else reduced
    w = _weights(g, model, distances, chosen)
    total = g("ReduceSum", w, [1], keepdims=1)
    held = g("Gather", table, rows, axis=0)
    return g("Div", g("ReduceSum", g("Mul", held, g("Unsqueeze", w, [2])), [1], keepdims=0), total)


def _weights(g: Graph, model: Any, distances: str, chosen: str) -> str:
    """The weights of `certifit.neighbors`, zero for places that are not chosen."""
    if model.weights is None or model.weights == "uniform":
        return g("Cast", chosen, to=TensorProto.DOUBLE)
    nearest = g("ReduceMin", distances, [1], keepdims=1)
    if model.weights == "distance":
        at_zero = g("Equal", distances, 0.0)
        relative = g("Div", nearest, g("Where", at_zero, 1.0, distances))
        w = g("Where", g("Equal", nearest, 0.0), g("Cast", at_zero, to=TensorProto.DOUBLE), relative)
    else:
        h = float(model.bandwidth_)
        less, more = g("Div", g("Sub", distances, nearest), h), g("Div", g("Add", distances, nearest), h)
        w = g("Exp", g("Mul", g("Mul", less, more), -0.5))
    return g("Where", chosen, w, 0.0)


def _nearest(g: Graph, x: str, points: Array, metric: Any, k: int) -> tuple[str, str, str]:
    """Row numbers, reduced distances and whether they count, each (n, 2k); k count in every row."""
    rough, slack = _rough(g, x, points, metric)
    kth = _last(g, g.several("TopK", 2, rough, [k], largest=0)[0], k)
    near = g("LessOrEqual", rough, g("Add", kth, g("Mul", 2.0, g("Add", slack, g("Mul", kth, slack_share(points))))))
    count = g("ReduceMax", g("ReduceSum", g("Cast", near, to=7), [1], keepdims=0), keepdims=0)
    count = g("Max", g("Reshape", count, [1]), [k])
    some = g.several("TopK", 2, rough, count, largest=0, sorted=0)[1]
    some = g.several("TopK", 2, some, count, largest=0)[0]  # by row number, so that equals stay in that order
    high, low = _settled(g, x, g("Gather", points, some, axis=0), metric)
    first, where_first = g.several("TopK", 2, high, [k], largest=0)
    kth = _last(g, first, k)
    surely = g("Less", first, kth)
    left = g("Sub", k, g("ReduceSum", g("Cast", surely, to=7), [1], keepdims=1))
    same = g("Mul", high, _SAME)
    steps = g("Sub", g("Add", same, low), same)
    where_tied = g.several("TopK", 2, g("Where", g("Equal", high, kth), steps, np.inf), [k], largest=0)[1]
    places = g("Concat", where_first, where_tied, axis=1)
    chosen = g("Concat", surely, g("Less", np.arange(k)[None], left), axis=1)
    return g("GatherElements", some, places, axis=1), g("GatherElements", high, places, axis=1), chosen


def slack_share(points: Array) -> float:
    """Relative error of a sum of that many rounded terms, generously."""
    return 8.0 * (points.shape[1] + 8) * _EPS


def _last(g: Graph, values: str, k: int) -> str:
    return g("Gather", values, [k - 1], axis=1)


def _rough(g: Graph, x: str, points: Array, metric: Any) -> tuple[str, str]:
    """Reduced distances to all points in plain double precision, and a bound on their absolute error, (n, 1)."""
    w = np.ones(points.shape[1]) if metric.weights is None else np.asarray(metric.weights, dtype=float)
    if metric.name == "euclidean":
        centre, root = points.mean(axis=0), np.sqrt(w)
        P = (points - centre) * root
        z = g("Mul", g("Sub", x, centre), root)
        lengths, own = np.sum(P * P, axis=1), g("ReduceSum", g("Mul", z, z), [1], keepdims=1)
        products = g("MatMul", z, np.ascontiguousarray(-2.0 * P.T))
        size = g("Add", own, float(lengths.max()))
        return g("Add", g("Add", own, lengths), products), g("Mul", size, slack_share(points))
    body = g.body()
    apart = body("Abs", body("Mul", body("Sub", body("Unsqueeze", "query", [1]), "point"), "weight"))
    body.named("sum_out", body("Add" if metric.name == "manhattan" else "Max", "sum", apart))
    double = TensorProto.DOUBLE
    inside = body.closed([(i, double) for i in ("sum", "query", "point", "weight")], [("sum_out", double)])
    shape = g("Concat", g("Shape", x, start=0, end=1), [len(points)], axis=0)
    start, columns = g("Expand", 0.0, shape), np.ascontiguousarray(points.T)
    return g("Scan", start, g("Transpose", x), columns, w, body=inside, num_scan_inputs=3), g.constant([[0.0]])


# -- numbers as sums of two doubles (Dekker 1971, Knuth) ------------------------------------------------
def _two_sum(g: Graph, a: str, b: str) -> Pair:
    """a + b without error."""
    s = g("Add", a, b)
    t = g("Sub", s, a)
    return s, g("Add", g("Sub", a, g("Sub", s, t)), g("Sub", b, t))


def _halves(g: Graph, a: Any) -> Pair:
    c = g("Mul", a, _SPLIT)
    high = g("Sub", c, g("Sub", c, a))
    return high, g("Sub", a, high)


def _two_product(g: Graph, a: Any, b: Any) -> Pair:
    """a · b without error."""
    p = g("Mul", a, b)
    (ah, al), (bh, bl) = _halves(g, a), _halves(g, b)
    e = g("Sub", g("Mul", ah, bh), p)
    return p, g("Add", g("Add", e, g("Add", g("Mul", ah, bl), g("Mul", al, bh))), g("Mul", al, bl))


def _settled(g: Graph, x: str, rows: str, metric: Any) -> Pair:
    """Reduced distances of queries (n, d) to their candidates (n, m, d) as pairs (n, m)."""
    high, low = _two_sum(g, g("Unsqueeze", x, [1]), g("Neg", rows))
    if metric.name == "euclidean":
        square, rest = _two_product(g, high, high)
        cross = g("Mul", g("Mul", high, low), 2.0)
        high, low = square, g("Add", rest, g("Add", cross, g("Mul", low, low)))
    else:
        sign = g("Sign", high)
        high, low = g("Mul", high, sign), g("Mul", low, sign)
    if metric.weights is not None:
        w = g.constant(np.asarray(metric.weights, dtype=float))
        high, rest = _two_product(g, high, w)
        low = g("Add", rest, g("Mul", low, w))
    high, low = _two_sum(g, high, low)
    body = g.body()
    if metric.name == "chebyshev":
        above, level = body("Greater", "term", "high"), body("Equal", "term", "high")
        new = body("Where", above, "term", "high")
        rest = body("Where", above, "part", body("Where", level, body("Max", "part", "low"), "low"))
    else:
        s, e = _two_sum(body, "high", "term")
        new, rest = _two_sum(body, s, body("Add", e, body("Add", "low", "part")))
    body.named("high_out", new)
    body.named("low_out", rest)
    double = TensorProto.DOUBLE
    inside = body.closed(
        [(i, double) for i in ("high", "low", "term", "part")], [(o, double) for o in ("high_out", "low_out")]
    )
    start = g("Expand", 0.0, g("Shape", rows, start=0, end=2))
    found = g.several("Scan", 2, start, start, high, low, body=inside, num_scan_inputs=2, scan_input_axes=[2, 2])
    return found[0], found[1]
