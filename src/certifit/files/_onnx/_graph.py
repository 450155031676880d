"""A graph under construction: operators by name, constants where an input is no name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from certifit._types import Array

OPSET, ML_OPSET, IR = 18, 5, 10  # what onnxruntime 1.20 reads
DOUBLE, INT64 = TensorProto.DOUBLE, TensorProto.INT64
TYPES = {"f": TensorProto.DOUBLE, "i": TensorProto.INT64, "b": TensorProto.BOOL, "O": TensorProto.STRING}


@dataclass(frozen=True)
class Answer:
    """Names of results in the graph: ``value`` of a regression; or ``code`` (class number), ``scores``, ``shares``.

    ``scores`` is what `decision_function` returns, ``shares`` what `predict_proba` does; ``flat`` says that there is
    one value per row.
    """

    value: str | None = None
    code: str | None = None
    scores: str | None = None
    shares: str | None = None
    classes: Array | None = None
    flat: bool = True


@dataclass
class Graph:
    """Nodes and constants so far. Inputs of operators are names; anything else becomes a constant.

    Floats and arrays of floats are float64 constants, integers int64, words strings.
    """

    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)
    numbers: Any = field(default_factory=count)
    trees: bool = False

    def __call__(self, operator: str, *inputs: Any, **attributes: Any) -> str:
        """Add an operator with one output; returns the name of that."""
        if operator not in ("Mul", "Div") or all(isinstance(i, str) or _harmless(i) for i in inputs):
            return self.several(operator, 1, *inputs, **attributes)[0]
        # onnxruntime folds a product with one number into a neighbouring MatMul, and rounds it to single precision
        # there. A maximum of one argument changes nothing and keeps the two apart.
        apart = [self.several("Max", 1, i)[0] if isinstance(i, str) else i for i in inputs]
        return self.several("Max", 1, self.several(operator, 1, *apart, **attributes)[0])[0]

    def several(self, operator: str, outputs: int, *inputs: Any, domain: str = "", **attributes: Any) -> list[str]:
        """Add an operator with several outputs; returns their names."""
        names = [self._fresh(operator.lower()) for _ in range(outputs)]
        given = [i if isinstance(i, str) else self.constant(i) for i in inputs]
        self.nodes.append(helper.make_node(operator, given, names, domain=domain, **attributes))
        self.trees = self.trees or domain == "ai.onnx.ml"
        return names

    def constant(self, value: Any) -> str:
        """The name of a constant."""
        name = self._fresh("c")
        self.constants.append(numpy_helper.from_array(plain(value), name))
        return name

    def joined(self, parts: Sequence[str]) -> str:
        """Columns side by side."""
        return parts[0] if len(parts) == 1 else self("Concat", *parts, axis=1)

    def numbers_of(self, truth: str) -> str:
        """True and false as 1.0 and 0.0."""
        return self("Cast", truth, to=DOUBLE)

    def named(self, name: str, value: str) -> None:
        """Give a value the name of an output."""
        self.nodes.append(helper.make_node("Identity", [value], [name]))

    @staticmethod
    def answer(**results: Any) -> Answer:
        """What a converter hands back: so that one outside this folder needs the graph alone."""
        return Answer(**results)

    def body(self) -> Graph:
        """A graph for the inside of a loop: its names differ from those out here."""
        return Graph(numbers=self.numbers)

    def closed(self, inputs: Sequence[tuple[str, Any]], outputs: Sequence[tuple[str, Any]]) -> Any:
        """The finished graph; inputs and outputs as (name, (type, shape)), where loops need no shape."""
        ins, outs = ([helper.make_tensor_value_info(n, *_typed(t)) for n, t in side] for side in (inputs, outputs))
        return helper.make_graph(self.nodes, "certifit", ins, outs, self.constants)

    def _fresh(self, word: str) -> str:
        return f"{word}_{next(self.numbers)}"


def _harmless(value: Any) -> bool:
    """Whether a factor is an array, or a number that single precision has exactly, as its inverse."""
    array = plain(value)
    return array.size != 1 or array.dtype.kind != "f" or abs(float(np.frexp(array.item())[0])) in (0.0, 0.5)


def _typed(kind: Any) -> tuple[Any, Any]:
    return kind if isinstance(kind, tuple) else (kind, None)


def plain(value: Any) -> Array:
    """A constant as ONNX has it: float64, int64, bool, or words."""
    array = np.asarray(value)
    if array.dtype.kind in "US":
        return array.astype(object)
    kinds: dict[str, Any] = {"f": np.float64, "i": np.int64, "u": np.int64, "b": np.bool_, "O": object}
    return np.ascontiguousarray(array.astype(kinds[array.dtype.kind])).reshape(array.shape)


def model_of(graph: Graph, inputs: Sequence[tuple[str, Any]], outputs: Sequence[tuple[str, Any]]) -> onnx.ModelProto:
    """The graph as a checked ONNX model."""
    sets = [helper.make_opsetid("", OPSET)]
    if graph.trees:
        sets.append(helper.make_opsetid("ai.onnx.ml", ML_OPSET))
    model = helper.make_model(graph.closed(inputs, outputs), opset_imports=sets, ir_version=IR)
    onnx.checker.check_model(model)
    return model
