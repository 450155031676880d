"""The refusal when an optional package is absent, and old spellings of options."""

from __future__ import annotations

import importlib.util
import warnings
from typing import TypeVar

from certifit.exceptions import MissingExtraError

Option = TypeVar("Option")


def need(module: str, extra: str) -> None:
    """Raise a kind error when an optional module is absent."""
    if importlib.util.find_spec(module) is None:
        raise MissingExtraError(f"This needs {module}: install it with  pip install 'certifit[{extra}]'.")


_RENAMED = {"0-1": "zero_one"}


def respelled(parameter: str, value: Option) -> Option:
    """The value of an option; an old spelling ("one-se", "0-1") becomes the new one, with a warning.

    Anything but text with a hyphen is returned as it is.

    Examples
    --------
    >>> respelled("rule", "one_se")
    'one_se'
    """
    if not isinstance(value, str) or "-" not in value:
        return value
    new = _RENAMED.get(value, value.replace("-", "_"))
    warnings.warn(f"{parameter}={value!r} is now spelled {new!r}.", FutureWarning, stacklevel=3)
    return type(value)(new)
