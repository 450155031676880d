"""The command line. Nothing heavy is imported before a command needs it."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

from certifit.cli._interrupt import raise_if_interrupted, remembering_interrupts

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``certifit ARGUMENTS`` and return the exit code.

    0: done, and every claim that was asked about holds. 1: a claim does not hold, or the data or model were
    refused. 2: the command line itself is wrong. 130: interrupted (Ctrl-C), also while modules are still loading.
    """
    try:
        with remembering_interrupts():
            code = _main(arguments)
            if code:
                raise_if_interrupted()  # an import that was interrupted may have failed for another stated reason
            return code
    except KeyboardInterrupt:
        print("certifit: interrupted; every file is either unchanged or complete.", file=sys.stderr)
        return 130


def _main(arguments: Sequence[str] | None) -> int:
    from certifit._errors import need
    from certifit.exceptions import MissingExtraError

    try:
        need("cyclopts", "cli")
        need("rich", "cli")
    except MissingExtraError as error:
        print(error, file=sys.stderr)
        return 2
    from certifit._copies import allowed
    from certifit.cli._run import run

    raise_if_interrupted()  # these imports may have swallowed it
    if arguments is not None:
        return run(list(arguments))
    gc.set_threshold(50_000)  # imports make many objects that stay: looking through them again and again takes a tenth
    with allowed():  # this process is the command's own
        return run(sys.argv[1:])
