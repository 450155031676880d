"""The command line. Nothing heavy is imported before a command needs it."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``certifit ARGUMENTS`` and return the exit code.

    0: done, and every claim that was asked about holds. 1: a claim does not hold, or the data or model were
    refused. 2: the command line itself is wrong.
    """
    from certifit._errors import need
    from certifit.exceptions import MissingExtraError

    try:
        need("cyclopts", "cli")
        need("rich", "cli")
    except MissingExtraError as error:
        print(error, file=sys.stderr)
        return 2
    from certifit.cli._run import run

    return run(list(sys.argv[1:] if arguments is None else arguments))
