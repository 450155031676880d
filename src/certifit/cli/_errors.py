"""A command line that cannot be meant."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from certifit.exceptions import CertifitError

_SHOWN = 12  # names of columns in a message


class UsageError(CertifitError):
    """Wrong usage: exit code 2."""


def existing(path: str | Path) -> Path:
    """The path, where there is such a file."""
    if not Path(path).exists():
        raise UsageError(f"There is no file {path}.")
    return Path(path)


def no_column(name: str, columns: Sequence[str], place: object = "", hint: str = "") -> UsageError:
    """The error of a column that is not there: which are, and which one may be meant.

    Examples
    --------
    >>> print(no_column("wagge", ["age", "wage"], "pay.csv"))
    There is no column 'wagge' in pay.csv; there are: age, wage. Did you mean 'wage'?
    """
    more = f" and {len(columns) - _SHOWN} more" if len(columns) > _SHOWN else ""
    meant = [f" Did you mean {close!r}?" for close in get_close_matches(name, columns, 1)]
    where = f" in {place}" if place else ""
    return UsageError(
        f"There is no column {name!r}{where}; there are: {', '.join(columns[:_SHOWN])}{more}{hint}.{''.join(meant)}"
    )
