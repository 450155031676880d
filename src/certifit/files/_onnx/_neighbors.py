"""Nearest neighbours by brute force, in the exact order of certifit's own search.

Rough distances pick all rows that could be among the nearest k (a bound on their rounding says which); for these
few the distance is computed again to some 60 digits, as a sum of four doubles. Equal ones come by row number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from certifit._types import Array, BaseEstimator
from certifit.exceptions import ExportError
from certifit.files._onnx._answer import largest, values
from certifit.files._onnx._graph import DOUBLE, INT64, Answer, Graph

_EXACT = ("euclidean", "manhattan", "chebyshev")
_EPS = 2.0**-53
_SPLIT = 2.0**27 + 1.0
_PARTS = 4  # doubles that a distance is the sum of: some 60 digits


def classifier(g: Graph, model: BaseEstimator, x: str) -> Answer:
    """Shares of the classes among the neighbours."""
    if model.outputs_2d_:
        raise ExportError("A KNeighborsClassifier for several outputs cannot be exported: fit one model per output.")
    votes = _mean(g, model, x, np.eye(len(model.classes_))[model._codes[:, 0]])
    return Answer(code=largest(g, votes), shares=votes, classes=model.classes_)


def regressor(g: Graph, model: BaseEstimator, x: str) -> Answer:
    """Mean of the neighbours' values."""
    return values(g, _mean(g, model, x, model._values), model._flat)


def _mean(g: Graph, model: BaseEstimator, x: str, table: Array) -> str:
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


def _weights(g: Graph, model: BaseEstimator, distances: str, chosen: str) -> str:
    """The weights of `certifit.neighbors`, zero for candidates that are not chosen."""
    if model.weights is None or model.weights == "uniform":
        return g.numbers_of(chosen)
    nearest = g("ReduceMin", distances, [1], keepdims=1)
    if model.weights == "distance":
        at_zero = g("Equal", distances, 0.0)
        relative = g("Div", nearest, g("Where", at_zero, 1.0, distances))
        w = g("Where", g("Equal", nearest, 0.0), g.numbers_of(at_zero), relative)
    else:
        h = float(model.bandwidth_)
        less, more = g("Div", g("Sub", distances, nearest), h), g("Div", g("Add", distances, nearest), h)
        w = g("Exp", g("Mul", g("Mul", less, more), -0.5))
    return g("Where", chosen, w, 0.0)


def _nearest(g: Graph, x: str, points: Array, metric: Any, k: int) -> tuple[str, str, str]:
    """Candidates: row numbers, reduced distances, and whether they are among the nearest k, each (n, m)."""
    rough, slack = _rough(g, x, points, metric)
    kth = g("Gather", g.several("TopK", 2, rough, [k], largest=0)[0], [k - 1], axis=1)
    near = g("LessOrEqual", rough, g("Add", kth, g("Mul", 2.0, g("Add", slack, g("Mul", kth, slack_share(points))))))
    count = g("ReduceMax", g("Concat", _count(g, near), [[k]], axis=0), keepdims=0)
    count = g("Reshape", count, [1])
    some = g.several("TopK", 2, rough, count, largest=0, sorted=0)[1]
    some = g.several("TopK", 2, some, count, largest=0)[0]  # by row number, so that equals stay in that order
    keys = _settled(g, x, g("Gather", points, some, axis=0), metric)
    return some, keys[0], _smallest(g, keys, k)


def _count(g: Graph, truth: str) -> str:
    return g("ReduceSum", g("Cast", truth, to=INT64), [1], keepdims=1)


def _smallest(g: Graph, keys: list[str], k: int) -> str:
    """Which k entries of each row come first by the first key, equals by the next, then by place; (n, m) of truth."""
    chosen, open_ = g("Less", keys[0], -np.inf), g("GreaterOrEqual", keys[0], -np.inf)
    left = g("Sub", k, _count(g, chosen))
    for key in keys:
        ordered = g.several("TopK", 2, g("Where", open_, key, np.inf), [k], largest=0)[0]
        last = g("GatherElements", ordered, g("Sub", left, 1), axis=1)
        surely = g("And", open_, g("Less", key, last))
        chosen, open_ = g("Or", chosen, surely), g("And", open_, g("Equal", key, last))
        left = g("Sub", left, _count(g, surely))
    place = g("CumSum", g("Cast", open_, to=INT64), np.array(1))
    return g("Or", chosen, g("And", open_, g("LessOrEqual", place, left)))


def slack_share(points: Array) -> float:
    """Relative error of a sum of that many rounded terms, generously."""
    return float(8.0 * (points.shape[1] + 8) * _EPS)


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
    inside = body.closed([(i, DOUBLE) for i in ("sum", "query", "point", "weight")], [("sum_out", DOUBLE)])
    shape = g("Concat", g("Shape", x, start=0, end=1), [len(points)], axis=0)
    start, columns = g("Expand", 0.0, shape), np.ascontiguousarray(points.T)
    return g("Scan", start, g("Transpose", x), columns, w, body=inside, num_scan_inputs=3), g.constant([[0.0]])


# -- numbers as sums of doubles (Dekker 1971, Knuth; Shewchuk 1997) ---------------------------------------
def _two_sum(g: Graph, a: str, b: str) -> tuple[str, str]:
    """a + b without error."""
    s = g("Add", a, b)
    t = g("Sub", s, a)
    return s, g("Add", g("Sub", a, g("Sub", s, t)), g("Sub", b, t))


def _halves(g: Graph, a: str) -> tuple[str, str]:
    c = g("Mul", a, _SPLIT)
    high = g("Sub", c, g("Sub", c, a))
    return high, g("Sub", a, high)


def _two_product(g: Graph, a: str, b: str) -> list[str]:
    """a · b without error."""
    p = g("Mul", a, b)
    (ah, al), (bh, bl) = _halves(g, a), _halves(g, b)
    e = g("Sub", g("Mul", ah, bh), p)
    return [p, g("Add", g("Add", e, g("Add", g("Mul", ah, bl), g("Mul", al, bh))), g("Mul", al, bl))]


def _add(g: Graph, total: list[str], term: str) -> list[str]:
    """A sum in parts, and one more term; only the last part rounds."""
    out = []
    for part in total[:-1]:
        part, term = _two_sum(g, part, term)
        out.append(part)
    return [*out, g("Add", total[-1], term)]


def _tidy(g: Graph, parts: list[str]) -> list[str]:
    """The same sum with each part the rounded rest of the parts before: equal sums get equal parts."""
    for _ in range(2):
        carry, low = parts[-1], []
        for part in reversed(parts[:-1]):
            carry, rest = _two_sum(g, part, carry)
            low.append(rest)
        parts = [carry, *reversed(low)]
    return parts


def _terms(g: Graph, x: str, rows: str, metric: Any) -> list[str]:
    """(n, m, d): numbers whose sum is exactly the term of a column in the reduced distance."""
    s, e = _two_sum(g, g("Unsqueeze", x, [1]), g("Neg", rows))
    if metric.name == "euclidean":
        terms = [*_two_product(g, s, s), *_two_product(g, g("Add", s, s), e), *_two_product(g, e, e)]
    else:
        sign = g("Sign", s)
        terms = [g("Mul", s, sign), g("Mul", e, sign)]
    if metric.weights is None:
        return terms
    w = g.constant(np.asarray(metric.weights, dtype=float))
    return [part for t in terms for part in _two_product(g, t, w)]


def _settled(g: Graph, x: str, rows: str, metric: Any) -> list[str]:
    """Reduced distances of queries (n, d) to their candidates (n, m, d), each as a sum of parts (n, m)."""
    terms = _terms(g, x, rows, metric)
    totals, names = [f"total_{i}" for i in range(_PARTS)], [f"term_{i}" for i in range(len(terms))]
    body = g.body()
    now = totals if metric.name != "chebyshev" else [body("Sub", t, t) for t in totals]
    for name in names:
        now = _add(body, now, name)
    now = _tidy(body, now)
    if metric.name == "chebyshev":
        now = _larger(body, totals, now)
    for name, value in zip(totals, now):
        body.named(f"{name}_out", value)
    inside = body.closed([(n, DOUBLE) for n in (*totals, *names)], [(f"{n}_out", DOUBLE) for n in totals])
    start = [g("Expand", 0.0, g("Shape", rows, start=0, end=2))] * _PARTS
    options: dict[str, Any] = {"num_scan_inputs": len(terms), "scan_input_axes": [2] * len(terms)}
    return g.several("Scan", _PARTS, *start, *terms, body=inside, **options)


def _larger(g: Graph, first: list[str], second: list[str]) -> list[str]:
    """The larger of two sums in parts."""
    wins = g("Greater", second[-1], first[-1])
    for a, b in reversed(list(zip(first[:-1], second[:-1]))):
        wins = g("Or", g("Greater", b, a), g("And", g("Equal", b, a), wins))
    return [g("Where", wins, b, a) for a, b in zip(first, second)]
