"""``python -m certifit.loops``: compile every loop once, so that the cache is full (``certifit warm`` uses all cores).

A loop module with a function ``warm()`` is asked to call its loops on a few numbers of each dtype it serves. Loops call
only loops of their own file: files can be compiled side by side.
"""

from __future__ import annotations

import importlib
import pkgutil
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from certifit import loops
from certifit.loops._tiers import Switch


def files() -> list[str]:
    """The modules with compiled loops, large ones first because they take longest."""
    folder = Path(loops.__path__[0])
    names = [info.name for info in pkgutil.iter_modules(loops.__path__) if not info.name.startswith("_")]
    return sorted(names, key=lambda name: -(folder / f"{name}.py").stat().st_size)


def fill(name: str) -> bool:
    """Compile what is not in the cache yet of one module; False where there is nothing to compile."""
    Switch.always = True
    warm = getattr(importlib.import_module(f"certifit.loops.{name}"), "warm", None)
    if warm is not None:
        warm()
    return warm is not None


def main(each: Callable[[Callable[[str], bool], list[str]], Iterable[bool]] = map) -> None:
    """Compile everything, by a map of one's own or one module after another, and say how long it took."""
    start = time.perf_counter()
    count = sum(each(fill, files()))
    print(f"compiled loops ready: {count} files in {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
