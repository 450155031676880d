"""What a model file may hold: a fixed list, checked before anything in the file is turned into an object.

The list is made of names in this file and of the estimators that certifit's families export; nothing in a
model file can add to it. Node types that call functions or constructors by name are not allowed at all.
"""

from __future__ import annotations

import importlib
import inspect
import io
import json
import zipfile
from functools import cache
from typing import Any

from certifit.files._container import refuse_bombs
from certifit.files._errors import ModelFileError

_FAMILIES = (
    "linear_model",
    "svm",
    "kernel_ridge",
    "glm",
    "multiclass",
    "tree",
    "neighbors",
    "naive_bayes",
    "bayes",
    "decomposition",
    "preprocessing",
    "kernels",
    "losses",
    "regularizers",
)
# Records inside fitted estimators that no family exports.
_PARTS = {
    "certifit._trace.Trace",
    "certifit.certificates._record.Certificate",
    "certifit.certificates.local.Neighbourhood",
    "certifit.certificates.softmax.SoftmaxStability",
    "certifit.linear_model._voted.Ballot",
    "certifit.naive_bayes._statistics.ClassCounts",
    "certifit.naive_bayes._statistics.ClassMoments",
    "certifit.naive_bayes._statistics.MixedStatistics",
    "certifit.neighbors._metrics.Metric",
    "certifit.neighbors._search.Index",
    "certifit.solvers.least_squares.Factor",
    "certifit.study._baseline.ConstantClassifier",
    "certifit.study._baseline.ConstantRegressor",
    "certifit.study._encoder.TableEncoder",
    "certifit.svm._pegasos._Walk",
    "certifit.tree._columns.Columns",
    "certifit.tree._structure.Tree",
}
_OTHERS = {
    "sklearn.pipeline.Pipeline",
}
_PLAIN = {
    *(f"builtins.{t}" for t in ("bool", "bytes", "dict", "float", "int", "list", "set", "slice", "str", "tuple")),
    *(
        f"numpy.{t}"
        for t in (
            "ndarray",
            "dtype",
            "bool",
            "bool_",
            "float16",
            "float32",
            "float64",
            "int8",
            "int16",
            "int32",
            "int64",
            "intp",
            "uint8",
            "uint16",
            "uint32",
            "uint64",
            "str_",
        )
    ),
    "scipy.sparse._csr.csr_matrix",
    "scipy.sparse._csr.csr_array",
    "scipy.sparse._csc.csc_matrix",
    "scipy.sparse._csc.csc_array",
}
_NODES = {
    "DictNode",
    "DTypeNode",
    "JsonNode",
    "ListNode",
    "NdArrayNode",
    "ObjectNode",
    "SetNode",
    "SliceNode",
    "SparseMatrixNode",
    "TupleNode",
    "TypeNode",
}


@cache
def allowed() -> frozenset[str]:
    """Full names of every class a model file may hold."""
    ours: set[str] = set()
    for family in _FAMILIES:
        try:
            module: Any = importlib.import_module(f"certifit.{family}")
        except ModuleNotFoundError as error:
            if error.name != f"certifit.{family}":
                raise
            continue
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            if inspect.isclass(thing) and thing.__module__.startswith("certifit."):
                ours.add(f"{thing.__module__}.{thing.__qualname__}")
    return frozenset(ours | _PARTS | _OTHERS)


def refuse_strangers(skops_file: bytes, where: str) -> None:
    """Raise unless every node of a skops file is of an allowed type; reads JSON only and builds nothing."""
    try:
        with zipfile.ZipFile(io.BytesIO(skops_file)) as archive:
            refuse_bombs(archive, len(skops_file), where)
            schema = json.loads(archive.read("schema.json"))
    except ModelFileError:
        raise
    except Exception as error:  # a broken or hostile archive fails in many ways: deep nesting, lying sizes, bad bytes
        raise ModelFileError(f"{where}: its model part cannot be read ({type(error).__name__}): refused.") from None
    known = allowed() | _PLAIN
    todo = [schema]
    while todo:
        item = todo.pop()
        if isinstance(item, dict):
            if "__loader__" in item:
                _check(item, known, where)
            todo.extend(item.values())
        elif isinstance(item, list):
            todo.extend(item)


def _check(node: dict[str, Any], known: frozenset[str], where: str) -> None:
    loader = node["__loader__"]
    name = f"{node.get('__module__')}.{node.get('__class__')}"
    if loader not in _NODES or name not in known:
        raise ModelFileError(
            f"{where} holds {name} (as {loader}), which is not on certifit's list of what a model may be made of: "
            "refused, and nothing in it was run."
        )
