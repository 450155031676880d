"""Formulas that were written for arrays write a graph: the same lines give the numbers and the export.

A `Symbol` stands for a value of the graph. NumPy's operators and ufuncs on it add nodes, so that `certifit.kernels`
and the links of `certifit.losses` are exported by being called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from certifit._types import Array, Matrix
from certifit.exceptions import ExportError
from certifit.files._onnx._answer import sigmoid
from certifit.files._onnx._graph import Graph
from certifit.kernels import Arithmetic

_OPERATORS = {
    "absolute": "Abs",
    "add": "Add",
    "divide": "Div",
    "exp": "Exp",
    "log": "Log",
    "maximum": "Max",
    "minimum": "Min",
    "multiply": "Mul",
    "negative": "Neg",
    "power": "Pow",
    "sqrt": "Sqrt",
    "subtract": "Sub",
    "tanh": "Tanh",
}


def _expm1(g: Graph, z: str) -> str:
    """e^z − 1 without cancellation: (u − 1)·z/log u with u = e^z as it is rounded (Kahan)."""
    u = g("Exp", z)
    less = g("Sub", u, 1.0)
    tiny, gone = g("Equal", u, 1.0), g("Equal", u, 0.0)
    logs = g("Log", g("Where", g("Or", tiny, gone), 0.5, u))
    return g("Where", tiny, z, g("Where", gone, -1.0, g("Div", g("Mul", less, z), logs)))


_COMPOSED: dict[str, Callable[[Graph, str], str]] = {
    "expm1": _expm1,
    "square": lambda g, z: g("Mul", z, z),
}


class Symbol(NDArrayOperatorsMixin):
    """A value of the graph, (n, d) or (n,), under NumPy's operators and ufuncs."""

    shape = (1, 1)  # of one row: what a formula makes for a row alone is broadcast to all

    def __init__(self, g: Graph, name: str) -> None:
        self.g, self.name = g, name

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Symbol:
        given = [i.name if isinstance(i, Symbol) else np.asarray(i, dtype=float) for i in inputs]
        name = ufunc.__name__
        if method != "__call__" or options or (name not in _OPERATORS and name not in _COMPOSED):
            raise TypeError(f"{name} has no counterpart in ONNX in double precision")
        if name in _COMPOSED:
            return Symbol(self.g, _COMPOSED[name](self.g, str(given[0])))
        return Symbol(self.g, self.g(_OPERATORS[name], *given))

    def sigmoid(self) -> Symbol:
        """1/(1 + e^−z)."""
        return Symbol(self.g, sigmoid(self.g, self.name))

    def reshape(self, *shape: int) -> Symbol:
        """The same numbers in another shape."""
        return Symbol(self.g, self.g("Reshape", self.name, list(shape)))


class Symbols(Arithmetic):
    """Inner products and squared norms of rows of which some are symbols."""

    def products(self, X: Matrix, Z: Matrix) -> Any:
        """Inner products of symbolic rows with given ones."""
        if not isinstance(X, Symbol):
            return super().products(X, Z)
        return Symbol(X.g, X.g("MatMul", X.name, np.ascontiguousarray(np.asarray(Z, dtype=float).T)))

    def squares(self, X: Matrix) -> Any:
        """Squared norms of the rows."""
        if not isinstance(X, Symbol):
            return super().squares(X)
        return Symbol(X.g, X.g("ReduceSum", X.g("Mul", X.name, X.name), [1], keepdims=0))


def written(g: Graph, x: str, formula: Callable[[Symbol], Any], what: str) -> str:
    """The name of ``formula(x)`` in the graph; what it cannot say is rejected in one sentence about ``what``."""
    try:
        return str(formula(Symbol(g, x)).name)
    except TypeError:  # of a symbol, or of a function of SciPy's that takes numbers only
        raise ExportError(
            f"{what} cannot be exported to ONNX: its formula has no counterpart there in double precision."
        ) from None


def gram(g: Graph, kernel: Any, x: str, V: Array, what: str) -> str:
    """Kernel values of the rows of x with the rows of V."""
    return written(g, x, lambda X: kernel.gram(X, V, Symbols()), what)
