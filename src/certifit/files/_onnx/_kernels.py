"""Kernel machines: Gram matrices by plain operators, votes of pairs, calibrated probabilities."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse

from certifit._types import Array
from certifit.files._errors import ExportError
from certifit.files._onnx._answer import by_sign, largest, softmax, values
from certifit.files._onnx._graph import Answer, Graph


def svc(g: Graph, model: Any, x: str) -> Answer:
    """Decisions of all pairs, their votes, and (if asked for) probabilities."""
    V = _dense(model.support_vectors_)
    record, shift = _record(model), model._shift
    if shift is not None:
        x, V = g("Sub", x, shift), V - shift
    pairs = g("Add", g("MatMul", _gram(g, record, x, V), model._columns), model.intercept_)
    classes, k = model.classes_, len(model.classes_)
    if k == 2:
        answer = by_sign(g, pairs, classes)
        code, scores, columns = answer.code, answer.scores, g("Mul", pairs, np.array([[-0.5, 0.5]]))
    else:
        votes, columns = _votes(g, pairs, k)
        code = largest(g, columns if model.break_ties else votes)
        scores = pairs if model.decision_function_shape == "ovo" else columns
    shares = _calibrated(g, columns, model._slope, str(code), k) if model.probability else None
    return Answer(code=code, scores=scores, shares=shares, classes=classes)


def machine(g: Graph, model: Any, x: str) -> Answer:
    """One machine, or one per class, on shared support vectors."""
    K = _gram(g, _record(model), x, _dense(model.support_vectors_))
    dual = np.atleast_2d(np.asarray(model.dual_coef_, dtype=float))
    scores = g("Add", g("MatMul", K, np.ascontiguousarray(dual.T)), np.atleast_1d(model.intercept_).astype(float))
    return by_sign(g, scores, model.classes_)


def ridge(g: Graph, model: Any, x: str) -> Answer:
    """Kernel values with the training rows times coefficients."""
    K = _gram(g, _record(model), x, _dense(model.X_fit_))
    dual = np.asarray(model.dual_coef_, dtype=float)
    return values(g, g("MatMul", K, dual.reshape(len(dual), -1)), dual.ndim == 1)


def _dense(V: Any) -> Array:
    return np.asarray(V.toarray() if scipy.sparse.issparse(V) else V, dtype=float)


def _record(model: Any) -> list[Any]:
    record = model.kernel_.record()
    if record is None or record[0] == "precomputed":
        raise ExportError(
            f"{type(model).__name__} with a {'function as' if record is None else 'precomputed'} kernel cannot be "
            "exported to ONNX; linear, poly, rbf and sigmoid kernels, their sums and products can."
        )
    return list(record)


def _gram(g: Graph, record: list[Any], x: str, V: Array) -> str:
    """Kernel values of the rows of x with the rows of V, by the kernel's record."""
    name, *rest = record
    if name in ("sum", "product"):
        return g("Add" if name == "sum" else "Mul", _gram(g, rest[0], x, V), _gram(g, rest[1], x, V))
    if name == "scaled":
        return g("Mul", _gram(g, rest[1], x, V), float(rest[0]))
    if name == "normalized":
        lengths = g("Mul", g("Sqrt", _own(g, rest[0], x)), np.sqrt(_own_values(rest[0], V))[None])
        return g("Div", _gram(g, rest[0], x, V), lengths)
    products = g("MatMul", x, np.ascontiguousarray(V.T))
    if name == "rbf":
        lengths = g("Add", g("ReduceSum", g("Mul", x, x), [1], keepdims=1), np.sum(V * V, axis=1))
        square = g("Max", g("Sub", lengths, g("Mul", products, 2.0)), 0.0)
        return g("Exp", g("Mul", square, -float(rest[0])))
    return _of_products(g, name, rest, products)


def _of_products(g: Graph, name: str, numbers: list[Any], products: str) -> str:
    if name == "linear":
        return products
    if name == "polynomial":
        degree, offset, gamma = numbers
        return _power(g, g("Add", g("Mul", products, float(gamma)), float(offset)), int(degree))
    if name == "sigmoid":
        return g("Tanh", g("Add", g("Mul", products, float(numbers[0])), float(numbers[1])))
    raise ExportError(f"The kernel {name!r} cannot be exported to ONNX.")


def _power(g: Graph, base: str, degree: int) -> str:
    """By squaring, as `certifit.kernels` does it."""
    result = base
    for bit in bin(degree)[3:]:
        result = g("Mul", result, result)
        if bit == "1":
            result = g("Mul", result, base)
    return result


def _own(g: Graph, record: list[Any], x: str) -> str:
    """k(x, x) for the rows of x, (n, 1)."""
    name, *rest = record
    if name in ("sum", "product"):
        return g("Add" if name == "sum" else "Mul", _own(g, rest[0], x), _own(g, rest[1], x))
    if name == "scaled":
        return g("Mul", _own(g, rest[1], x), float(rest[0]))
    square = g("ReduceSum", g("Mul", x, x), [1], keepdims=1)
    if name in ("rbf", "normalized"):
        return g("Exp", g("Mul", square, 0.0))
    return _of_products(g, name, rest, square)


def _own_values(record: list[Any], V: Array) -> Array:
    from certifit.kernels import rebuild

    return np.asarray(rebuild(record).diagonal(V), dtype=float)


def _votes(g: Graph, pairs: str, k: int) -> tuple[str, str]:
    """Votes for each class, and votes with confidences below one vote added (scikit-learn's ovr decision)."""
    found = list(combinations(range(k), 2))
    wins, losses = np.zeros((len(found), k)), np.zeros((len(found), k))
    for p, (i, j) in enumerate(found):
        wins[p, i] = losses[p, j] = 1.0
    won = g.numbers_of(g("Greater", pairs, 0.0))
    votes = g("Add", g("MatMul", won, wins), g("MatMul", g("Sub", 1.0, won), losses))
    strict = g.numbers_of(g("Less", pairs, 0.0))
    counted = g("Add", g("MatMul", strict, losses), g("MatMul", g("Sub", 1.0, strict), wins))
    sure = g("MatMul", pairs, wins - losses)
    share = g("Div", sure, g("Mul", 3.0, g("Add", g("Abs", sure), 1.0)))
    return votes, g("Add", counted, share)


def _calibrated(g: Graph, columns: str, slope: float, code: str, k: int) -> str:
    """softmax(slope · scores), the largest given to the predicted class."""
    p = softmax(g, g("Mul", columns, float(slope)))
    number = np.arange(k)[None]
    ours = g("Equal", g("Unsqueeze", code, [1]), number)
    top = g("Equal", g("Unsqueeze", largest(g, p), [1]), number)
    most = g("ReduceMax", p, [1], keepdims=1)
    other = g("ReduceSum", g("Where", ours, p, 0.0), [1], keepdims=1)
    return g("Where", ours, most, g("Where", top, other, p))
