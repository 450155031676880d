"""certifit lab."""

from __future__ import annotations

import contextlib
import webbrowser
from pathlib import Path

from certifit.cli._commands import say
from certifit.cli._errors import UsageError, existing, no_column
from certifit.lab import serve


def lab(data: str | None, target: str | None, port: int, browser: bool) -> int:
    """Check the table, start the server, say where it is."""
    if not 0 <= port <= 65535:
        raise UsageError("--port must be between 0 and 65535.")
    if data is None and target is not None:
        raise UsageError("--target names a column of a table: name the table, too.")
    path = None if data is None else Path(data)
    if path is not None:
        _check(path, target)

    def ready(address: str) -> None:
        say(f"The lab is at {address}")
        say("Ctrl-C ends it.")
        if browser:
            webbrowser.open(address)

    with contextlib.suppress(KeyboardInterrupt):  # Ctrl-C is how it ends
        serve(path, target, port=port, ready=ready)
    return 0


def _check(path: Path, target: str | None) -> None:
    """Refuse here what the page would refuse, before a browser opens."""
    from certifit.files import read_table

    columns = read_table(existing(path)).columns
    if target is not None and target not in columns:
        raise no_column(target, columns, path)
