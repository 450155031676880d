"""The values of a certificate in Python's and NumPy's own types, and in JSON's words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from certifit._types import Array, Record
from certifit.certificates._data import Evidence

_DEEP = 200  # lists within lists; kernels built from kernels need the most


def plain(v: Any, depth: int = 0) -> Any:
    """The same value in Python's and NumPy's own types, arrays read-only; anything else is rejected."""
    if depth > _DEEP:
        raise TypeError(f"a certificate holds lists within lists {_DEEP} deep, no deeper")
    if v is None or type(v) in (bool, int, float, str):
        return v
    if isinstance(v, np.ndarray):
        return _frozen(v, depth)
    if isinstance(v, np.generic):
        return plain(np.generic.item(v))
    if isinstance(v, str):
        return str.__str__(v)  # not str(v), which asks the other class
    if isinstance(v, (int, float)):
        return int.__int__(v) if isinstance(v, int) else float.__float__(v)
    if isinstance(v, (list, tuple)):
        parts = [plain(x, depth + 1) for x in v]
        return tuple(parts) if isinstance(v, tuple) else parts
    if isinstance(v, Mapping):
        return {str.__str__(k): plain(x, depth + 1) for k, x in v.items()}
    raise TypeError(f"a certificate holds numbers, words, lists and arrays, not {type(v).__name__}")


def _frozen(v: Array, depth: int = 0) -> Array:
    """A read-only array of NumPy's own class: floats as float64, objects as plain values."""
    settled = v.dtype.kind in "biuU" or v.dtype == np.float64
    if settled and type(v) is np.ndarray and not v.flags.writeable:
        return v
    copy: Array = np.array(v, dtype=float) if v.dtype.kind == "f" else np.array(v)
    if copy.dtype.kind == "O":
        copy.ravel()[:] = [plain(x, depth + 1) for x in copy.ravel()] if copy.ndim else plain(copy.item(), depth + 1)
    copy.flags.writeable = False
    return copy


def to_json(v: Any) -> Any:
    """NumPy and non-finite values in JSON's words."""
    if isinstance(v, np.ndarray):
        return {"array": to_json(v.tolist()), "dtype": str(v.dtype), "shape": list(v.shape)}
    if isinstance(v, np.generic):
        return to_json(v.item())
    if isinstance(v, (list, tuple)):
        return [to_json(x) for x in v]
    if isinstance(v, float) and not math.isfinite(v):
        return {"float": repr(v)}
    return v


def to_python(v: Any) -> Any:
    """The inverse of `to_json`."""
    if isinstance(v, dict) and "array" in v:
        array = np.array(to_python(v["array"]), dtype=v["dtype"] if v["dtype"] != "object" else object)
        return _frozen(array.reshape(v["shape"]))
    if isinstance(v, dict) and set(v) == {"float"}:
        return float(v["float"])
    if isinstance(v, list):
        return [to_python(x) for x in v]
    return v


def tidy(evidence: Evidence) -> Record:
    """Evidence in plain types, without the fields that are None."""
    return {k: plain(v) for k, v in evidence.items() if v is not None}
