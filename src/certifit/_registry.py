"""Classes that are known by a name: certifit's own, and those that users add.

Losses, regularizers, kernels and kinds of certificates are each kept in one `Registry`. A class is made known by a
decorator on the class itself; `discover` imports every file of a folder, so that a new class is a new file and
nothing else.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
from collections.abc import Iterable, Mapping
from typing import Any, Generic, TypeVar, cast

from certifit._types import Record

T = TypeVar("T")
Class = TypeVar("Class", bound=type)
_OWN = "certifit."


class Registry(Generic[T]):
    """Classes by the name that each carries as ``name``.

    Those defined in certifit are *built in*. A user's class may take any name that is free; a claim that uses it states
    as an assumption (`assumptions`) what nobody but its author has checked: ``trust``.

    ``what`` such a class is called in messages ("loss"), ``base`` the interface that it implements, ``absent`` the name
    that ``build(None)`` stands for, if any.

    Examples
    --------
    >>> class Shape: name = ""
    >>> shapes: Registry[Shape] = Registry("shape", Shape, "it has the area it states")
    >>> @shapes.register
    ... class Square(Shape): name = "square"
    >>> shapes.names(), shapes.find("square") is Square
    (['square'], True)
    """

    def __init__(self, what: str, base: type, trust: str, absent: str | None = None) -> None:
        self.what, self.base, self.trust, self.absent = what, base, trust, absent
        self._classes: dict[str, Any] = {}

    def register(self, cls: Class) -> Class:
        """Class decorator: make a class known by its ``name``, to estimators, certificates and model files.

        The class is a frozen dataclass, whose fields are its parameters, or has no parameters. A certificate that uses
        a class which is not certifit's own says so in ``assumes``; one that names an unknown class does not verify.

        Parameters
        ----------
        cls : type
            Derived from `Loss`, `Regularizer` or `Kernel`, with a ``name`` that no other class has.

        Returns
        -------
        type
            The class itself.

        Examples
        --------
        >>> import numpy as np
        >>> from certifit import losses
        >>> @losses.register
        ... class Huber(losses.Loss):
        ...     name, targets, smooth, curvature_bound = "doc_huber", "real", True, 1.0
        ...     def value(self, z, y):
        ...         far = np.abs(z - y)
        ...         return np.minimum(far, 1.0) * (far - 0.5 * np.minimum(far, 1.0))
        ...     def slope(self, z, y): return np.clip(z - y, -1.0, 1.0)
        ...     def curvature(self, z, y): return (np.abs(z - y) < 1.0) * 1.0
        ...     def conjugate(self, u, y): return u * y + 0.5 * np.square(u)
        ...     def domain(self, y): return -np.ones_like(y), np.ones_like(y)
        >>> losses.get_loss("doc_huber").value(np.array([0.5, 3.0]), np.zeros(2))
        array([0.125, 2.5  ])
        """
        if not (isinstance(cls, type) and issubclass(cls, self.base)):
            raise TypeError(f"A {self.what} is a class derived from {self.base.__name__}, not {cls!r:.80}.")
        if inspect.isabstract(cls):
            raise TypeError(
                f"{cls.__name__} does not define {', '.join(sorted(getattr(cls, '__abstractmethods__', ())))}."
            )
        name = getattr(cls, "name", None)
        if not isinstance(name, str) or not name:
            raise TypeError(f"{cls.__name__} needs a name, such as  name = {cls.__name__.lower()!r}.")
        if "__init__" in vars(cls) and "__dataclass_fields__" not in vars(cls):
            # Its parameters could not be written down, and a certificate would speak of another formula.
            raise TypeError(f"{cls.__name__} takes parameters: make it a dataclass, so that they can be stored.")
        known = self._classes.get(name)
        if known is not None and _home(known) != _home(cls):  # the same class may be defined again, as in a notebook
            raise ValueError(f"There is a {self.what} {name!r} already ({_home(known)}): choose another name.")
        self._classes[name] = cls
        return cls

    def names(self) -> list[str]:
        """All known names, sorted.

        Examples
        --------
        >>> from certifit import losses, regularizers
        >>> "hinge" in losses.loss_names(), "l1" in regularizers.regularizer_names()
        (True, True)
        """
        return sorted(self._classes)

    def build(self, spec: str | T | Mapping[str, Any] | None) -> T:
        """The loss or regularizer of that name (or of that record of name and parameters; or the object itself).

        Parameters
        ----------
        spec : str, object, mapping or None
            A known name, a loss or regularizer, or a record of its name and parameters; None is no penalty.

        Examples
        --------
        >>> from certifit import losses, regularizers
        >>> losses.get_loss("hinge").name, regularizers.get_regularizer({"name": "l2", "params": {"factor": 0.5}})
        ('hinge', SquaredL2(factor=0.5, prior=None))
        """
        if isinstance(spec, self.base):
            return cast("T", spec)
        spec = self.absent if spec is None else spec
        record: Mapping[str, Any] = spec if isinstance(spec, Mapping) else {"name": spec}
        # A parameter that is a thing of this sort itself is stored by name and parameters, too.
        params = {k: self.build(v) if isinstance(v, Mapping) else v for k, v in record.get("params", {}).items()}
        return self.find(record["name"])(**params)

    def spec(self, thing: T) -> Record:
        """Name and parameters, for JSON; raises an error for a class that is not registered.

        Parameters
        ----------
        thing : Loss or Regularizer

        Examples
        --------
        >>> from certifit import losses, regularizers
        >>> losses.loss_spec(losses.Hinge()), regularizers.regularizer_spec(regularizers.ElasticMix(0.25))
        ({'name': 'hinge', 'params': {}}, {'name': 'elastic', 'params': {'l1_ratio': 0.25}})
        """
        if not self.knows(thing):
            raise ValueError(
                f"{type(thing).__name__} is not a registered {self.what}: put @register above the class, so that a "
                "certificate can name it."
            )
        inner = {k: self.spec(cast("T", v)) if isinstance(v, self.base) else v for k, v in fields_of(thing).items()}
        return {"name": getattr(thing, "name", ""), "params": inner}

    def classes(self) -> list[type[T]]:
        """All classes, in the order in which they were made known."""
        return list(self._classes.values())

    def find(self, name: str) -> type[T]:
        """The class of that name."""
        if name not in self._classes:
            raise ValueError(
                f"Unknown {self.what} {name!r}; choose one of {', '.join(self.names())}, or add your own class "
                "with register."
            )
        cls: type[T] = self._classes[name]
        return cls

    def built_in(self, name: str) -> bool:
        """Whether the class of that name is certifit's own."""
        return self.find(name).__module__.startswith(_OWN)

    def knows(self, thing: T) -> bool:
        """Whether ``thing`` can be rebuilt from its name: its very class is registered under it."""
        return self._classes.get(getattr(thing, "name", "")) is type(thing)

    def assumptions(self, names: Iterable[str]) -> tuple[str, ...]:
        """What a claim that uses these assumes: a sentence for each that is known, and not built in."""
        strange = [n for n in dict.fromkeys(names) if n in self._classes and not self.built_in(n)]
        return tuple(
            f"the {self.what} {n!r} ({_home(self.find(n))}) is not certifit's own: taken on trust that {self.trust}"
            for n in strange
        )


def fields_of(thing: object) -> Record:
    """Parameters of a dataclass by name, in order; none for a class without parameters."""
    if not dataclasses.is_dataclass(thing):
        return {}
    return {f.name: _plain(getattr(thing, f.name)) for f in dataclasses.fields(thing)}


def discover(package: str, path: Iterable[str]) -> None:
    """Import every module of a package, so that the classes in them are known."""
    for module in pkgutil.iter_modules(path):
        importlib.import_module(f"{package}.{module.name}")


def _home(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _plain(value: Any) -> Any:
    """NumPy's numbers as Python's, and tuples as lists: what JSON can hold."""
    if isinstance(value, tuple):
        return [_plain(v) for v in value]
    return value.item() if hasattr(value, "item") and not getattr(value, "shape", True) else value
