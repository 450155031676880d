"""Importing a model without pandas and SciPy's statistics, which scikit-learn loads at its start and hardly uses.

``sklearn.utils.fixes`` imports both for one function each, and that is half of the time it takes to import any
estimator. While that one file runs, a stand-in takes the place of each; afterwards the name is free again, so that
whoever imports pandas gets pandas, and scikit-learn's use of its own copy of the name loads the real module.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

_FILE = "sklearn.utils.fixes"
_LATER = ("scipy.stats", "pandas")


class StandIn(ModuleType):
    """Has the attributes of the module of its name, which it imports when it is first asked for one.

    Examples
    --------
    >>> StandIn("math").floor(2.5)
    2
    """

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


class Later:
    """Finds and loads ``sklearn.utils.fixes`` as Python does, with stand-ins for what it hardly uses."""

    def __init__(self, loader: Any = None):
        self.loader = loader

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """The file's own specification, run by us; None for every other name."""
        spec = PathFinder.find_spec(name, path) if name == _FILE else None
        if spec is None or spec.loader is None:
            return None
        loader: Any = Later(spec.loader)
        spec.loader = loader
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Python's usual module."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Run the file; it keeps no trace of this."""
        module.__loader__ = self.loader
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader
        standing = [StandIn(name) for name in _LATER if name not in sys.modules and importlib.util.find_spec(name)]
        sys.modules |= {one.__name__: one for one in standing}
        try:
            self.loader.exec_module(module)
        finally:
            for one in standing:
                if sys.modules.get(one.__name__) is one:
                    del sys.modules[one.__name__]
