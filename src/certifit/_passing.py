"""scikit-learn's names under ours: looked up when they are first asked for, and never copied."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any


def pass_on(here: str, there: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a module that has its own names and all public ones of another.

    Parameters
    ----------
    here : str
        The module that passes names on. A name that it defines itself is its own.
    there : str
        The module whose names are passed on; imported on first use only.

    Examples
    --------
    >>> import certifit.metrics
    >>> find, names = pass_on("certifit.metrics", "sklearn.metrics")
    >>> find("accuracy_score")([0, 1], [0, 1]), "hamming_loss" in names()
    (1.0, True)
    """

    def find(name: str) -> Any:
        if not name.startswith("_"):
            theirs = importlib.import_module(there)
            thing = getattr(theirs, name, None)
            inside = isinstance(thing, ModuleType) and thing.__name__ == f"{there}.{name}"
            if inside or name in theirs.__all__:
                vars(sys.modules[here])[name] = thing  # the next look-up is Python's own
                return thing
        raise AttributeError(f"module {here!r} has no attribute {name!r}")

    def names() -> list[str]:
        return sorted({*sys.modules[here].__all__, *importlib.import_module(there).__all__})

    return find, names
