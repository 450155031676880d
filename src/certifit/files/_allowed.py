"""What a model file may hold: a fixed list, checked before anything in the file is turned into an object.

The list is made of the names in this file and of what the table of families says; a user who registers a loss,
regularizer or kernel adds that class, and nothing in a model file can add to it. Node types that call functions or
constructors by name are not allowed at all.
"""

from __future__ import annotations

import importlib
import inspect
import io
import json
import zipfile
from functools import cache

from certifit._types import Record
from certifit.exceptions import ModelFileError
from certifit.families import FAMILIES
from certifit.files._container import refuse_bombs
from certifit.kernels._base import KERNELS
from certifit.losses._registry import LOSSES
from certifit.regularizers._registry import REGULARIZERS

_NEAREST = {"certifit.nearest._metrics.Metric", "certifit.nearest._search.Index"}
_OTHERS = {"certifit._certified.Held", "certifit._trace.Trace", "sklearn.pipeline.Pipeline", *_NEAREST}
_BUILTINS = ("bool", "bytes", "dict", "float", "int", "list", "set", "slice", "str", "tuple")
_KINDS = ("bool", "bool_", "float16", "float32", "float64", "int8", "int16", "int32", "int64", "intp", "str_")
_PLAIN = {
    *(f"builtins.{t}" for t in _BUILTINS),
    *(f"numpy.{t}" for t in ("ndarray", "dtype", *_KINDS, "uint8", "uint16", "uint32", "uint64")),
    *(f"scipy.sparse._{t}.{t}_{kind}" for t in ("csr", "csc") for kind in ("matrix", "array")),
}
_JSON = ("Dict", "Json", "List", "Set", "Slice", "Tuple")
_NODES = {f"{t}Node" for t in (*_JSON, "DType", "NdArray", "Object", "SparseMatrix", "Type")}


@cache
def _own() -> frozenset[str]:
    """Classes that the families export, and the parts that fitted models of theirs are made of."""
    found = {f"certifit.{family.folder}.{part}" for family in FAMILIES for part in family.parts}
    for family in FAMILIES:
        module = importlib.import_module(f"certifit.{family.folder}") if family.stored else None
        things = [getattr(module, name) for name in getattr(module, "__all__", ())]
        found |= {_full(t) for t in things if inspect.isclass(t) and t.__module__.startswith("certifit.")}
    return frozenset(found | _OTHERS)


def allowed() -> frozenset[str]:
    """Full names of every class a model file may hold: certifit's, and formulas that this process has registered."""
    added = [*LOSSES.classes(), *REGULARIZERS.classes(), *KERNELS.classes()]
    return _own() | {_full(cls) for cls in added}


def trusted() -> list[str]:
    """`allowed` and the plain types: what skops is told, after `refuse_strangers` has seen every node."""
    return sorted(allowed() | _PLAIN)


def _full(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


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


def _check(node: Record, known: frozenset[str], where: str) -> None:
    loader = node["__loader__"]
    name = f"{node.get('__module__')}.{node.get('__class__')}"
    if loader not in _NODES or name not in known:
        raise ModelFileError(
            f"{where} holds {name} (as {loader}), which is not on certifit's list of what a model may be made of: "
            "refused, and nothing in it was run."
        )
