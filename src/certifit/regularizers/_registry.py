"""Regularizers by name."""

from __future__ import annotations

from typing import Any

from certifit.regularizers._base import Regularizer
from certifit.regularizers._joint import ColumnNorms
from certifit.regularizers._norms import L1, ElasticMix, NonNegative, PNorm, SquaredL2, Zero

_REGULARIZERS: dict[str, type[Regularizer]] = {
    cls.name: cls for cls in (Zero, SquaredL2, L1, PNorm, ElasticMix, NonNegative, ColumnNorms)
}


def regularizer_names() -> list[str]:
    """Names that `get_regularizer` knows.

    Examples
    --------
    >>> "l1" in regularizer_names()
    True
    """
    return sorted(_REGULARIZERS)


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
    if spec is None:
        return Zero()
    name, params = (spec, {}) if isinstance(spec, str) else (spec["name"], dict(spec.get("params", {})))
    if name not in _REGULARIZERS:
        raise ValueError(f"Unknown regularizer {name!r}; choose one of {', '.join(regularizer_names())}.")
    if name == NonNegative.name:
        params["base"] = get_regularizer(params.get("base", "none"))
    return _REGULARIZERS[name](**params)


def regularizer_spec(regularizer: Regularizer) -> dict[str, Any]:
    """Name and parameters, as JSON can hold them.

    Parameters
    ----------
    regularizer : Regularizer

    Examples
    --------
    >>> from certifit.regularizers import L1
    >>> regularizer_spec(L1())["name"]
    'l1'
    """
    return {"name": regularizer.name, "params": regularizer.params()}
