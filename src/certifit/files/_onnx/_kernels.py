"""Kernel machines: Gram matrices by plain operators, votes of pairs, calibrated probabilities."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import scipy.sparse

from certifit._types import Array, BaseEstimator, Matrix
from certifit.exceptions import ExportError
from certifit.files._onnx._answer import by_sign, largest, softmax, values
from certifit.files._onnx._graph import Answer, Graph
from certifit.files._onnx._symbols import gram


def svc(g: Graph, model: BaseEstimator, x: str) -> Answer:
    """Decisions of all pairs, their votes, and (if asked for) probabilities."""
    pairs = _expansion(g, model, x)
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


def tube(g: Graph, model: BaseEstimator, x: str) -> Answer:
    """Kernel values with the support vectors times coefficients, and the offset."""
    return values(g, _expansion(g, model, x), True)


def _expansion(g: Graph, model: BaseEstimator, x: str) -> str:
    """Scores of all columns of coefficients."""
    V = _dense(model.support_vectors_)
    if model._shift is not None:
        x, V = g("Sub", x, model._shift), V - model._shift
    return g("Add", g("MatMul", _values(g, model, x, V), model._columns), model.intercept_)


def machine(g: Graph, model: BaseEstimator, x: str) -> Answer:
    """One machine, or one per class, on shared support vectors."""
    K = _values(g, model, x, _dense(model.support_vectors_))
    dual = np.atleast_2d(_dense(model.dual_coef_))
    scores = g("Add", g("MatMul", K, np.ascontiguousarray(dual.T)), np.atleast_1d(model.intercept_).astype(float))
    return by_sign(g, scores, model.classes_)


def ridge(g: Graph, model: BaseEstimator, x: str) -> Answer:
    """Kernel values with the training rows times coefficients."""
    K = _values(g, model, x, _dense(model.X_fit_))
    dual = np.asarray(model.dual_coef_, dtype=float)
    return values(g, g("MatMul", K, dual.reshape(len(dual), -1)), dual.ndim == 1)


def _dense(V: Matrix) -> Array:
    return np.asarray(V.toarray() if scipy.sparse.issparse(V) else V, dtype=float)


def _values(g: Graph, model: BaseEstimator, x: str, V: Array) -> str:
    """Kernel values of the rows of x with the rows of V, by the kernel's own formula."""
    record, name = model.kernel_.record(), type(model).__name__
    if record is None or record[0] == "precomputed":
        raise ExportError(
            f"{name} with a {'function as' if record is None else 'precomputed'} kernel cannot be exported to ONNX; "
            "linear, poly, rbf and sigmoid kernels, their sums and products, and registered ones can."
        )
    return gram(g, model.kernel_, x, V, f"{name} with the kernel {record[0]!r}")


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
