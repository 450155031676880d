"""Worked examples: each module tells its story through ``run(say=print)`` and shows it with ``draw(numbers)``."""

from certifit.examples._catalogue import draw, names, run, told

__all__ = ["draw", "names", "run", "told"]
