"""Which formulas a certificate uses that are not certifit's own: they are assumed, and the certificate says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from certifit._registry import Registry
from certifit.certificates._data import Evidence
from certifit.kernels._base import KERNELS, named_in
from certifit.losses._registry import LOSSES
from certifit.regularizers._registry import REGULARIZERS

_NAMED: dict[str, Registry[Any]] = {"loss": LOSSES, "regularizer": REGULARIZERS, "base": REGULARIZERS}


def assumed(evidence: Evidence) -> tuple[str, ...]:
    """A sentence for each loss, regularizer or kernel in the evidence that a user has registered.

    Evidence names formulas under the keys "loss", "regularizer" (a name, a record of name and parameters, or a list
    of these) and "kernel" (a record), at any depth.
    """
    found: list[str] = []
    todo = list(evidence.items())
    while todo:
        key, value = todo.pop()
        if key == "kernel" and isinstance(value, (list, tuple)) and value:
            found += KERNELS.assumptions(named_in(value))
        elif isinstance(value, (list, tuple)):
            todo += [(key, v) for v in value if isinstance(v, (str, Mapping))]
        elif key in _NAMED and isinstance(value, (str, Mapping)):
            name = value if isinstance(value, str) else value.get("name")
            found += _NAMED[key].assumptions([str(name)])
        if isinstance(value, Mapping):
            todo += value.items()
    return tuple(sorted(set(found)))
