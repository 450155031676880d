"""scikit-learn's names under ours: looked up when they are first asked for, and never copied.

A module of ours passes on the public names that it does not define itself (`pass_on`); a module that we do not have is
scikit-learn's own (`Passed`), so that a script works after ``sklearn`` has become ``certifit`` in its imports.
`origin` says who wrote a thing.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import MappingProxyType, ModuleType
from typing import Any

from certifit._later import Later

MODULES = (
    "base", "calibration", "callback", "cluster", "compose", "covariance", "cross_decomposition",
    "discriminant_analysis", "dummy", "ensemble", "experimental", "feature_extraction", "feature_selection",
    "frozen", "gaussian_process", "impute", "inspection", "isotonic", "kernel_approximation", "manifold",
    "mixture", "multioutput", "neural_network", "pipeline", "random_projection", "semi_supervised", "utils",
)  # fmt: skip
"""scikit-learn's public modules that are passed on whole, unless a folder of ours has the name."""

TOP = ("clone", "config_context", "get_config", "set_config", "show_versions")
"""scikit-learn's functions at the top of the package."""


def public_names(module: ModuleType) -> list[str]:
    """What a module of scikit-learn offers: its ``__all__``, else the public names that it defines."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    here = module.__name__
    return [n for n, v in vars(module).items() if not n.startswith("_") and getattr(v, "__module__", None) == here]


def later(here: str, home: Mapping[str, str]) -> Callable[[str], Any]:
    """``__getattr__`` of a module whose names are those of others: each is imported when it is first asked for.

    Examples
    --------
    >>> later("certifit.metrics", {"tau": "math"})("tau") > 6.28
    True
    """

    def find(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {here!r} has no attribute {name!r}")
        thing = getattr(importlib.import_module(home[name]), name)
        vars(sys.modules[here])[name] = thing  # the next look-up is Python's own
        return thing

    return find


def pass_on(
    here: str, there: str, home: Mapping[str, str] = MappingProxyType({})
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a module that has its own names and all public ones of another.

    ``home`` are names that another module of ours has written, with that module: scikit-learn keeps them under this
    one.

    Examples
    --------
    >>> import certifit.metrics
    >>> find, names = pass_on("certifit.metrics", "sklearn.metrics")
    >>> find("accuracy_score")([0, 1], [0, 1]), "hamming_loss" in names()
    (1.0, True)
    """

    own = later(here, home)

    def find(name: str) -> Any:
        if name not in home and not name.startswith("_"):
            theirs = importlib.import_module(there)
            thing = getattr(theirs, name, None)
            inside = isinstance(thing, ModuleType) and thing.__name__ == f"{there}.{name}"
            if inside or name in public_names(theirs):
                thing = getattr(theirs, name)  # an experimental name says here how to enable it
                vars(sys.modules[here])[name] = thing  # the next look-up is Python's own
                return thing
        return own(name)

    def names() -> list[str]:
        return sorted({*sys.modules[here].__all__, *public_names(importlib.import_module(there))})

    return find, names


class Passed:
    """Finds ``certifit.x`` where only ``sklearn.x`` exists, and hands over scikit-learn's module itself.

    A file of ours with that name comes first. It stands before Python's finder of files, which would load a second copy
    of what lies inside a package of scikit-learn.

    Examples
    --------
    >>> import sklearn.pipeline
    >>> import certifit.pipeline
    >>> certifit.pipeline is sklearn.pipeline
    True
    """

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """The specification of a module of scikit-learn under our name; None for a module that it does not have."""
        first, *rest = name.split(".")
        if first != "certifit" or not rest or (len(rest) == 1 and rest[0] not in MODULES):
            return None
        parent = getattr(sys.modules.get(name.rpartition(".")[0]), "__name__", first)
        if parent.startswith("certifit") and (rest[-1][0] == "_" or PathFinder.find_spec(name, path) is not None):
            return None
        try:
            theirs = importlib.util.find_spec(".".join(["sklearn", *rest]))
        except ModuleNotFoundError:  # a folder that only we have
            return None
        if theirs is None:
            return None
        loader: Any = self  # not derived from importlib.abc.Loader, whose import would cost more than all of this
        return ModuleSpec(name, loader, is_package=theirs.submodule_search_locations is not None)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """scikit-learn's module; not a copy, so that its classes exist once."""
        theirs = importlib.import_module(spec.name.replace("certifit", "sklearn", 1))
        spec.loader_state = theirs.__spec__
        return theirs

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is left to run; the module keeps the specification it was found by."""
        if module.__spec__ is not None:
            module.__spec__ = module.__spec__.loader_state


def install() -> None:
    """Let scikit-learn's modules be found under our name, and load without what they hardly use (once)."""
    if not any(isinstance(finder, Passed) for finder in sys.meta_path):
        finders: list[Any] = [Passed(), Later()]
        sys.meta_path[:0] = finders


def origin(thing: Any) -> str:
    """The package that a class, function, module or object comes from: "certifit", "scikit-learn" or another one.

    Every public name of scikit-learn's modules can be imported from certifit. Some are certifit's own and have a
    certificate, the others are re-exported from scikit-learn unchanged.

    Parameters
    ----------
    thing : class, function, module or any object

    Returns
    -------
    str

    Examples
    --------
    >>> from certifit.linear_model import HuberRegressor, Ridge
    >>> origin(Ridge()), origin(HuberRegressor)
    ('certifit', 'scikit-learn')
    """
    if isinstance(thing, ModuleType):
        module = thing.__name__
    else:
        module = getattr(thing if hasattr(thing, "__name__") else type(thing), "__module__", None) or "builtins"
    package: str = module.split(".")[0]
    return "scikit-learn" if package == "sklearn" else package
