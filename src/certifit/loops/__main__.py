"""``python -m certifit.loops``, or ``certifit warm``: compile every loop once, so that the cache is full.

A loop module with a function ``warm()`` is asked to call its loops on a few numbers of each dtype it serves.
"""

from __future__ import annotations

import importlib
import pkgutil
import time

from certifit import loops
from certifit.loops._tiers import Switch


def main() -> None:
    """Compile what is not in the cache yet, and say how long it took."""
    Switch.always = True
    start = time.perf_counter()
    count = 0
    for info in pkgutil.iter_modules(loops.__path__):
        if info.name.startswith("_"):
            continue
        warm = getattr(importlib.import_module(f"certifit.loops.{info.name}"), "warm", None)
        if warm is not None:
            warm()
            count += 1
    print(f"compiled loops ready: {count} files in {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
