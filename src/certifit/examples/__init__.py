"""Worked examples: each module tells its story through ``run(say=print)`` and shows it with ``draw(numbers)``."""
