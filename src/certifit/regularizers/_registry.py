"""Regularizers by name."""

from __future__ import annotations

from typing import Any

from certifit._registry import Class, Registry
from certifit.regularizers._base import Regularizer

REGULARIZERS: Registry[Regularizer] = Registry(
    "regularizer", Regularizer, "it is convex and that its value, prox and conjugate are those of one function"
)


def register(cls: Class) -> Class:
    """Class decorator: make a regularizer known by its ``name``, to estimators and to certificates.

    The class is a frozen dataclass (its fields are its parameters) or has no parameters. A certificate that uses a
    regularizer which is not certifit's own says so in ``assumes``.

    Parameters
    ----------
    cls : subclass of Regularizer
        With a ``name`` that no other regularizer has.

    Returns
    -------
    type
        The class itself.

    Examples
    --------
    >>> import numpy as np
    >>> @register
    ... class Largest(Regularizer):                     # R(w) = max |wⱼ|, whose dual norm is the 1-norm
    ...     name = "doc_largest"
    ...     def value(self, w): return np.abs(w).max()
    ...     def conjugate(self, v): return 0.0
    ...     def gauge(self, v): return np.abs(v).sum()
    ...     def prox(self, w, step):
    ...         size = np.sort(np.abs(w))[::-1]
    ...         if size.sum() <= step: return np.zeros_like(w)
    ...         cuts = (np.cumsum(size) - step) / np.arange(1, len(w) + 1)
    ...         return np.clip(w, -cuts.max(), cuts.max())
    >>> get_regularizer("doc_largest").prox(np.array([3.0, 1.0]), 1.0)
    array([2., 1.])
    """
    return REGULARIZERS.register(cls)


def regularizer_names() -> list[str]:
    """Names that `get_regularizer` knows.

    Examples
    --------
    >>> "l1" in regularizer_names()
    True
    """
    return REGULARIZERS.names()


def get_regularizer(spec: str | Regularizer | dict[str, Any] | None) -> Regularizer:
    """The regularizer of that name (or that record of name and parameters; or the regularizer itself).

    Parameters
    ----------
    spec : str, Regularizer, dict or None
        A name of `regularizer_names`, a regularizer, or what `regularizer_spec` returned; None is no penalty.

    Examples
    --------
    >>> get_regularizer("l1").name
    'l1'
    """
    if isinstance(spec, Regularizer):
        return spec
    record: dict[str, Any] = spec if isinstance(spec, dict) else {"name": spec or "none"}
    # A parameter that is itself a regularizer (of a constraint around it) is stored by name and parameters.
    params = {k: get_regularizer(v) if k == "base" else v for k, v in record.get("params", {}).items()}
    return REGULARIZERS.find(record["name"])(**params)


def regularizer_spec(regularizer: Regularizer) -> dict[str, Any]:
    """Name and parameters, as JSON can hold them; refused for a regularizer that is not registered.

    Parameters
    ----------
    regularizer : Regularizer

    Examples
    --------
    >>> from certifit.regularizers import L1
    >>> regularizer_spec(L1())["name"]
    'l1'
    """
    return {"name": REGULARIZERS.name_of(regularizer), "params": regularizer.params()}
