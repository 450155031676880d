"""Kinds of certificates by name; their files are imported when a kind is first looked up, since a fit needs none."""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING

from certifit._registry import discover

if TYPE_CHECKING:
    from certifit.certificates._record import Kind

KINDS: dict[str, Kind] = {}


def register(kind: type[Kind]) -> type[Kind]:
    """Class decorator: make a kind known to `issue` and `verify`."""
    KINDS[kind.name] = kind()
    return kind


@cache
def _discovered() -> None:
    discover("certifit.certificates", importlib.import_module("certifit.certificates").__path__)


def known() -> dict[str, Kind]:
    """All kinds by name: those in files of this folder, and those that were registered elsewhere."""
    _discovered()
    return KINDS


def kinds() -> list[str]:
    """Names of the registered kinds.

    Examples
    --------
    >>> "separability" in kinds(), len(kinds()) > 15
    (True, True)
    """
    return sorted(known())


def kind_named(name: str) -> Kind:
    """The kind of this name."""
    if name not in known():
        raise ValueError(f"Unknown kind of certificate {name!r}; known are {', '.join(kinds())}.")
    return known()[name]
