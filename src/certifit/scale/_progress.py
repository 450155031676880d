"""Progress of a pass: rows so far, rows per second, time left."""

from __future__ import annotations

import sys
from typing import Any

from certifit._errors import need


class Bars:
    """Calls of a `Job` that draw one bar for each pass, on the error stream."""

    def __init__(self) -> None:
        need("rich", "cli")

    def __call__(self, task: str, rows: int | None) -> Bar:
        return Bar(task, rows)


class Bar:
    """One pass: called with the rows of every partition that is done."""

    def __init__(self, task: str, rows: int | None, file: Any = None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns: list[Any] = [TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[speed]}")]
        screen = Console(file=file or sys.stderr)
        # Where nobody sees it move, a bar would leave nothing but an empty line.
        self.bars = Progress(
            *columns, TimeRemainingColumn(), console=screen, transient=True, disable=not screen.is_terminal
        )
        self.task = self.bars.add_task(task or "reading", total=rows, speed="")
        self.bars.start()

    def __call__(self, rows: int) -> None:
        self.bars.advance(self.task, rows)
        task = self.bars.tasks[0]
        seconds = task.elapsed or 0.0
        speed = f"{task.completed:,.0f} rows, {task.completed / seconds:,.0f} a second" if seconds > 0.0 else ""
        self.bars.update(self.task, speed=speed)

    def close(self) -> None:
        """Take the bar away."""
        self.bars.stop()
