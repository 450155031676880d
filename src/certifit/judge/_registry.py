"""Who can be judged: a table from class names to functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from certifit._types import BaseEstimator
from certifit.certificates import Certificate, Data
from certifit.certificates._data import Rigor

_HOMES = {"daal4py": "sklearnex", "onedal": "sklearnex"}

Reader = Callable[[Any, Data, Rigor], Certificate]
READERS: dict[str, Reader] = {}
TRUE_READERS: dict[str, Reader] = {}
FOREIGN: dict[str, Reader] = {}
"""Models of other libraries that need a reader of their own; ours of the same names prove themselves."""


def reads(*names: str, table: dict[str, Reader] = READERS) -> Callable[[Reader], Reader]:
    """Register a function that judges models of these class names: by their own objective unless a table is given."""

    def keep(function: Reader) -> Reader:
        table.update(dict.fromkeys(names, function))
        return function

    return keep


def model_name(model: BaseEstimator) -> str | None:
    """How a verdict calls somebody else's model; None for ours."""
    home = type(model).__module__.split(".")[0]
    return None if home == "certifit" else f"{_HOMES.get(home, home)} {type(model).__name__}"
