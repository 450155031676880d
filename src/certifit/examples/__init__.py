"""Worked examples: each module tells its story through ``run(say=print)`` and shows it with ``draw(numbers)``."""

from certifit.examples._catalogue import GROUPS, draw, names, run, told
from certifit.examples._script import notebook, script

__all__ = ["GROUPS", "draw", "names", "notebook", "run", "script", "told"]
