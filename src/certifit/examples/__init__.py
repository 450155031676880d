"""Worked examples: each module explains itself with ``run(say=print)`` and draws its figure with ``draw(numbers)``."""

from certifit.examples._catalogue import GROUPS, draw, names, run, told
from certifit.examples._script import notebook, script

__all__ = ["GROUPS", "draw", "names", "notebook", "run", "script", "told"]
