"""What a study looks like in the terminal."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
from rich.table import Table as Grid

from certifit.cli._interrupt import raise_if_interrupted


class Screen:
    """Two columns: what is being done, and what came of it; a bar while models are compared."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(highlight=False, emoji=False)
        self.bar: Progress | None = None
        self.task: Any = None
        self.start, self.left = 0.0, float("inf")

    def __enter__(self) -> Screen:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def say(self, what: str, text: str) -> None:
        """One line, wrapped under itself."""
        raise_if_interrupted()
        if what == "comparing":
            self.line(what, text)
            self._begin()
            return
        self._end()
        if what == "reading" and "rows" not in text:
            return  # the file name, said again with its contents a moment later
        self.line(what, text)

    def line(self, what: str, text: str) -> None:
        """Print a label and its text."""
        grid = Grid.grid(padding=(0, 1))
        grid.add_column(width=12, no_wrap=True)
        grid.add_column(overflow="fold")
        grid.add_row(f"  [bold]{what}[/bold]", escape(text))
        self.console.print(grid)

    def _begin(self) -> None:
        self.bar = Progress(
            TextColumn("  {task.fields[name]:<24.24}"),
            BarColumn(bar_width=24),
            TaskProgressColumn(),
            TextColumn("{task.fields[left]}"),
            console=self.console,
            transient=True,
            auto_refresh=False,  # by a thread; without one this process can be copied
        )
        self.bar.start()
        self.start, self.left = time.monotonic(), float("inf")
        self.task = self.bar.add_task("", total=None, name="", left="")

    def progress(self, done: int, total: int, name: str) -> None:
        """Move the bar."""
        raise_if_interrupted()
        if self.bar is not None:
            spent = time.monotonic() - self.start
            # One time that only falls: what an expensive model adds is not promised away before.
            self.left = min(self.left, spent / max(done, 1) * (total - done)) if 4 * done > total else self.left
            shown = "" if self.left == float("inf") else f"about {_clock(self.left)} left"
            self.bar.update(self.task, completed=done, total=total, name=name, left=shown, refresh=True)

    def _end(self) -> None:
        if self.bar is not None:
            self.bar.stop()
            self.bar = None


def _clock(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
