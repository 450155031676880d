"""From a command line to an exit code: what goes wrong becomes one sentence."""

from __future__ import annotations

import os
import sys

from cyclopts import CycloptsError, RepeatArgumentError, UnusedCliTokensError

from certifit.cli._app import app
from certifit.cli._commands import print_remark
from certifit.cli._errors import UsageError
from certifit.exceptions import CertifitError, OptionError


def run(arguments: list[str]) -> int:
    """Parse, run, and turn what went wrong into one sentence and an exit code."""
    try:
        if not arguments:
            app.help_print([])
            return 0
        code = app(arguments, exit_on_error=False, print_error=False, result_action="return_value")
        return int(code or 0)
    except CycloptsError as error:
        print_remark(_plain(error))
        return 2
    except CertifitError as error:
        print_remark(str(error))
        return 2 if isinstance(error, (UsageError, OptionError)) else 1
    except BrokenPipeError:  # somebody closed the pipe (head): not our error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if os.environ.get("CERTIFIT_TRACE"):
            raise
        print_remark(f"{error.filename or 'a file'}: {error.strerror or error}.")
        return 1
    except Exception as error:
        if os.environ.get("CERTIFIT_TRACE"):
            raise
        text = " ".join(str(error).split())[:300]
        print_remark(f"{type(error).__name__}: {text} (CERTIFIT_TRACE=1 shows where)")
        return 1


def _plain(error: CycloptsError) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, UnusedCliTokensError):
        left = ", ".join(repr(token) for token in error.unused_tokens or ())
        text = f"No option takes {left}. Several names are separated by commas and quoted: --models 'ridge,lasso'."
    elif isinstance(error, RepeatArgumentError):
        option = text.split()[1] if text.startswith("Parameter ") else "An option"
        text = f"{option} is given more than once. Several names are separated by commas: --models 'ridge,lasso'."
    return f"{text} (see certifit --help)"
