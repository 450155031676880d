"""Running a worked example as a reader would."""

from typing import Any


def told(example: Any) -> Any:
    """Its numbers; it has said something, and all its pictures have a label at the side, or share one."""
    lines: list[str] = []
    numbers = example.run(say=lines.append)
    figure = example.draw(numbers)
    assert lines
    first = figure.axes[0]
    assert all(ax.get_ylabel() or ax.get_shared_y_axes().joined(ax, first) for ax in figure.axes)
    return numbers
